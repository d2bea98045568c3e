"""The pure parts of the benchmarks. What they measure belongs to a machine and is not tested."""

import re

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import __main__ as command_line
from benchmarks import encoder_probe, encoders, machine, notebooks
from benchmarks.figures import beside, median, p95, pss_mb, ratio, table

ROLLUP = """55d0c2a00000-7ffd5a1fe000 ---p 00000000 00:00 0                          [rollup]
Rss:              102400 kB
Pss:               50000 kB
Pss_Dirty:         41000 kB
Private_Clean:      1000 kB
"""
MEASURED = st.lists(st.floats(0, 1e6), min_size=1, max_size=60)


@pytest.mark.parametrize(
    ("values", "expected"),
    [(range(1, 101), 95), (range(1, 51), 48), (range(1, 21), 19), (range(1, 20), 19), ([7], 7), ([3, 1, 2], 3)],
)
def test_p95_is_the_nearest_rank(values: range | list[int], expected: float) -> None:
    assert p95(list(values)) == expected


@given(MEASURED)
def test_p95_is_a_measured_value_that_95_percent_do_not_exceed(values: list[float]) -> None:
    found = p95(values)
    assert found in values
    assert sum(value <= found for value in values) >= 0.95 * len(values)
    assert sum(value < found for value in values) < 0.95 * len(values)


def test_p95_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="no values"):
        p95([])


def test_the_median_ignores_the_order() -> None:
    assert median([9, 1, 5]) == 5
    assert median([4, 1, 2, 3]) == 2.5


def test_pss_is_read_from_its_own_line_in_millions_of_bytes() -> None:
    assert pss_mb(ROLLUP) == pytest.approx(51.2)


def test_a_text_without_pss_is_refused() -> None:
    with pytest.raises(ValueError, match="Pss"):
        pss_mb("Rss:  1 kB\nPss_Dirty:  2 kB\n")


def test_a_ratio_by_nothing_is_left_open() -> None:
    assert ratio(90, 60) == "1.5 ×"
    assert ratio(1, 0) == "–"


def test_an_aim_is_kept_up_to_its_limit() -> None:
    assert beside(190, 190) == "190 (aim ≤ 190)"
    assert beside(190.2, 190) == "190 (aim ≤ 190, missed)"


def test_a_table_aligns_its_columns() -> None:
    lines = table(["name", "ms"], [["a long name", "1"], ["b", "200"]]).splitlines()
    assert lines == ["name         ms", "-----------  ---", "a long name  1", "b            200"]


def test_a_row_of_another_width_is_refused() -> None:
    with pytest.raises(ValueError, match="zip"):
        table(["name", "ms"], [["only one"]])


def test_the_machine_is_told_without_a_name() -> None:
    assert re.fullmatch(r"\d+ cores, Python [\w.+]+, \w+", machine.facts())
    assert machine.shown_mb(None) == machine.NO_MEMORY


def test_a_plain_notebook_loads_the_encoder_itself() -> None:
    cells = [nbformat.v4.new_code_cell("encoder = load_encoder(agreement.VECTORS)\nencoder")]  # type: ignore[no-untyped-call]
    plain = notebooks.plain_version(nbformat.v4.new_notebook(cells=cells))  # type: ignore[no-untyped-call]
    assert plain is not None
    first, second, third = plain.cells[0].source.splitlines()
    assert first == "from sentence_transformers import SentenceTransformer"
    assert second.startswith("encoder = SentenceTransformer(")
    assert third == "encoder"


def test_a_notebook_without_an_encoder_has_no_plain_version() -> None:
    assert notebooks.plain_version(notebooks.only_numpy()) is None


def test_a_memory_that_cannot_be_measured_is_said_in_words() -> None:
    unknown = notebooks.Run(1, 2, None)
    assert notebooks.row("name", unknown, unknown)[3] == machine.NO_MEMORY


def test_the_questions_are_short_and_all_different() -> None:
    questions = encoder_probe.short_questions()
    assert len(set(questions)) == encoder_probe.QUESTIONS
    assert max(len(question.split()) for question in questions) <= 10


def test_texts_of_the_corpora_are_compared_and_not_too_many() -> None:
    assert 50 <= len(encoders.corpus_texts()) <= encoders.MOST_TEXTS


def test_the_command_line_lists_and_refuses(capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main([]) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in command_line.NAMES)
    with pytest.raises(SystemExit):
        command_line.main(["nothing"])
    assert "there is no benchmark 'nothing'" in capsys.readouterr().err
