"""Building: one source, two notebooks, the same bytes every time, and nothing written when a cell fails."""

import json
import os
import re
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from tools import build as builder
from tools import source as sources
from tools.build import build, execute, finished, learner, rebuilt, solved, storable, with_first_cell
from tools.first_cell import FIRST_CELL
from tools.source import BuildError, read_source, source_names

SOURCE = """\
# %% [markdown]
# # A count is not a top-k question
#
# Someone needs a number.

# %%
2 + 2

# %% tags=["exercise"]
def double(x):
    return ____

# %% tags=["solution"] solves="double"
# The text of the solution comes from the lesson.

# %% tags=["solution"]
answer = "an answer to a prediction"

# %%
2 + 2
"""
SOLUTION = "\ndef double(x):\n    return 2 * x\n"


def solution_for_tests(name: str, key: str) -> str:
    return {("demo", "double"): SOLUTION}[name, key]


@pytest.fixture
def notebooks(tmp_path: Path) -> Path:
    """A course of one notebook, demo."""
    folder = tmp_path / "notebooks"
    (folder / "source").mkdir(parents=True)
    (tmp_path / "course_lib").mkdir()
    (tmp_path / "course_lib" / "places.py").write_text("def prepare() -> None: ...\n", encoding="utf-8")
    (folder / "source" / "demo.py").write_text(SOURCE, encoding="utf-8")
    return folder


def read(path: Path) -> NotebookNode:
    return nbformat.read(path, as_version=4)


def code_notebook(*cells: str) -> NotebookNode:
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])


def outputs_of(source: str, folder: Path) -> list[NotebookNode]:
    return execute(code_notebook(source), folder).cells[0].outputs


def from_text(text: str, folder: Path) -> NotebookNode:
    (folder / "demo.py").write_text(text, encoding="utf-8")
    return read_source(folder / "demo.py")


# --- from a source to two notebooks ---


def test_the_first_cell_stands_behind_the_title(notebooks: Path) -> None:
    for nb in rebuilt("demo", notebooks, solution_for_tests):
        assert [cell.cell_type for cell in nb.cells[:2]] == ["markdown", "code"]
        assert nb.cells[1].source == FIRST_CELL


def test_a_source_that_starts_with_code_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="starts with a markdown cell"):
        with_first_cell(from_text("# %%\nx = 1\n", tmp_path))


def test_a_learner_gets_exercises_and_no_solutions(notebooks: Path) -> None:
    nb, _ = rebuilt("demo", notebooks, solution_for_tests)
    text = "\n".join(cell.source for cell in nb.cells)
    assert "return ____" in text
    assert "an answer" not in text
    assert "comes from the lesson" not in text


def test_the_solved_notebook_takes_a_solution_from_the_lesson_and_leaves_the_exercise_out(
    notebooks: Path,
) -> None:
    _, nb = rebuilt("demo", notebooks, solution_for_tests)
    texts = [cell.source for cell in nb.cells]
    assert SOLUTION.strip("\n") in texts
    assert 'answer = "an answer to a prediction"' in texts
    assert "____" not in "\n".join(texts)


def test_a_solution_that_no_lesson_has_is_named() -> None:
    with pytest.raises(BuildError, match=r"demo: a cell says solves='treble', but the exercises of .* are: none"):
        sources.solution_of("demo", "treble")


def test_a_lesson_module_is_named_without_the_leading_number() -> None:
    assert sources.lesson_module("00_start_here") == "course_lib.lessons.start_here"
    assert sources.lesson_module("move1_bm25") == "course_lib.lessons.move1_bm25"


def test_a_failing_import_inside_a_lesson_is_not_taken_for_a_missing_lesson(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(module: str) -> None:
        raise ModuleNotFoundError("No module named 'numpy'", name="numpy")

    monkeypatch.setattr("importlib.import_module", broken)
    with pytest.raises(ModuleNotFoundError):
        sources.lesson_solutions("demo")


def test_building_leaves_the_notebook_it_was_given_alone(notebooks: Path) -> None:
    source = read_source(notebooks / "source" / "demo.py")
    before = json.dumps(source)
    finished(learner(with_first_cell(source)), "demo")
    finished(solved(with_first_cell(source), "demo", solution_for_tests), "demo")
    assert json.dumps(source) == before


def test_ids_are_valid_stable_and_numbered_where_a_cell_repeats(notebooks: Path) -> None:
    nb, _ = rebuilt("demo", notebooks, solution_for_tests)
    again, _ = rebuilt("demo", notebooks, solution_for_tests)
    ids = [cell.id for cell in nb.cells]
    assert ids == [cell.id for cell in again.cells]
    assert len(set(ids)) == len(ids)
    twins = [cell.id for cell in nb.cells if cell.source == "2 + 2"]
    assert twins[1] == f"{twins[0]}-2"


def test_an_id_of_a_long_or_odd_name_is_still_valid(notebooks: Path) -> None:
    source = read_source(notebooks / "source" / "demo.py")
    nb = finished(learner(source), "a name with spaces, ümlauts and " + "x" * 80)
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", cell.id) for cell in nb.cells)


def test_a_finished_notebook_has_no_outputs_and_no_counts(tmp_path: Path) -> None:
    (cell,) = finished(execute(code_notebook("1"), tmp_path), "demo").cells
    assert (cell.outputs, cell.execution_count) == ([], None)


def test_only_tags_are_left_of_the_metadata(notebooks: Path) -> None:
    nb, with_solutions = rebuilt("demo", notebooks, solution_for_tests)
    assert nb.metadata == with_solutions.metadata == builder.METADATA
    assert [dict(cell.metadata) for cell in nb.cells if cell.metadata] == [{"tags": ["exercise"]}]


def test_an_innocent_comment_stays_a_comment(tmp_path: Path) -> None:
    nb = from_text("# %%\n# copy the list, then cat the rest\nx = 1\n", tmp_path)
    assert nb.cells[0].source == "# copy the list, then cat the rest\nx = 1"


@pytest.mark.parametrize(
    ("head", "sentence"),
    [
        ('tags=["soluton"]', "cell 1: the tag 'soluton' is not known"),
        ('tags=["solution", "exercise"]', "solution or exercise, not both"),
        ('solves="double"', "solves= belongs on a code cell tagged solution"),
    ],
)
def test_unclear_tags_are_refused(head: str, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(BuildError, match=sentence):
        from_text(f"# %% {head}\nx = 1\n", tmp_path)


def test_a_missing_source_is_one_sentence(notebooks: Path) -> None:
    with pytest.raises(BuildError, match=r"There is no source nothing\.py"):
        rebuilt("nothing", notebooks)


# --- executing ---


def test_a_kernel_is_this_interpreter_in_the_folder_of_the_notebook_with_an_empty_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    learners = tmp_path / "my_record.json"
    monkeypatch.setenv("COURSE_RECORD", str(learners))
    cell = (
        "import json, os, sys\nfrom pathlib import Path\nrecord = Path(os.environ['COURSE_RECORD'])\n"
        "print(json.dumps([sys.executable, os.getcwd(), str(record), os.listdir(record.parent),"
        " os.environ['PYTHONHASHSEED'], sys.flags.utf8_mode]))"
    )
    executable, folder, record, beside, seed, utf8 = json.loads(outputs_of(cell, tmp_path)[0].text)
    assert Path(executable) == Path(sys.executable)
    assert Path(folder).resolve() == tmp_path.resolve()
    assert Path(record) != learners
    assert Path(record).name not in beside
    assert not Path(record).parent.exists()  # removed after the run
    assert (seed, utf8) == ("0", 1)


def test_a_kernel_that_the_user_installed_as_python3_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = tmp_path / "kernels" / "python3"
    spec.mkdir(parents=True)
    broken = {"argv": ["no-such-program", "{connection_file}"], "display_name": "x", "language": "python"}
    (spec / "kernel.json").write_text(json.dumps(broken), encoding="utf-8")
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    assert outputs_of("1", tmp_path)[0].data["text/plain"] == "1"


def test_an_error_stops_with_the_cell_its_source_and_the_error(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match=r"cell 2 raised ZeroDivisionError: division by zero\n1 / 0"):
        execute(code_notebook("x = 1", "1 / 0", "y = 2"), tmp_path)


def test_a_click_callback_that_raises_outside_an_output_widget_stops_too(tmp_path: Path) -> None:
    click = "import ipywidgets\nb = ipywidgets.Button()\nb.on_click(lambda _: 1 / 0)\nb.click()"
    with pytest.raises(BuildError, match="ZeroDivisionError"):
        execute(code_notebook(click), tmp_path)


def test_a_callback_that_raises_inside_an_output_widget_stops_too(tmp_path: Path) -> None:
    cell = "import ipywidgets\nout = ipywidgets.Output()\nwith out:\n    1 / 0"
    with pytest.raises(BuildError, match="a widget callback raised ZeroDivisionError"):
        execute(code_notebook(cell), tmp_path)


def test_a_cell_that_takes_too_long_stops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builder, "CELL_TIMEOUT", 1)
    with pytest.raises(BuildError, match=r"(?s)timed out.*time\.sleep\(30\)"):
        execute(code_notebook("import time\ntime.sleep(30)"), tmp_path)


def test_of_a_widget_output_only_the_view_goes(tmp_path: Path) -> None:
    nb = storable(execute(code_notebook("import ipywidgets\nipywidgets.IntSlider()"), tmp_path))
    assert list(nb.cells[0].outputs[0].data) == ["text/plain"]
    assert "widgets" not in nb.metadata
    assert nb.metadata == builder.METADATA


def test_an_output_that_was_only_a_widget_view_is_kept(tmp_path: Path) -> None:
    view = {builder.WIDGET_VIEW: {"model_id": "m", "version_major": 2, "version_minor": 0}}
    cell = f"from IPython.display import display\ndisplay({view!r}, raw=True)"
    nb = storable(execute(code_notebook(cell), tmp_path))
    assert [output.data for output in nb.cells[0].outputs] == [{}]


def test_what_a_cell_prints_in_pieces_is_stored_as_one_output(tmp_path: Path) -> None:
    cell = "import sys, time\nfor i in range(3):\n    print(i, flush=True)\n    time.sleep(0.2)"
    assert [output.text for output in outputs_of(cell, tmp_path)] == ["0\n1\n2\n"]


# --- files and the command line ---


def test_building_twice_gives_the_same_bytes(notebooks: Path) -> None:
    paths = [notebooks / "demo.ipynb", notebooks / "solved" / "demo.ipynb"]
    build("demo", notebooks=notebooks, solution_of=solution_for_tests)
    first = [path.read_bytes() for path in paths]
    build("demo", notebooks=notebooks, solution_of=solution_for_tests)
    assert [path.read_bytes() for path in paths] == first
    for content in first:
        assert content.endswith(b"}\n")
        assert not content.endswith(b"\n\n")
        assert b"\r" not in content
        assert b'\n "cells"' in content  # one space of indentation


def test_the_solved_notebook_is_executed_from_1_to_n_and_the_learners_is_not(notebooks: Path) -> None:
    build("demo", notebooks=notebooks, solution_of=solution_for_tests)
    done = [cell for cell in read(notebooks / "solved" / "demo.ipynb").cells if cell.cell_type == "code"]
    open_ = [cell for cell in read(notebooks / "demo.ipynb").cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in done] == list(range(1, len(done) + 1))
    assert done[1].outputs[0].data["text/plain"] == "4"
    assert all(cell.execution_count is None and not cell.outputs for cell in open_)


def test_a_failed_run_leaves_both_files_as_they_were(notebooks: Path) -> None:
    build("demo", notebooks=notebooks, solution_of=solution_for_tests)
    paths = [notebooks / "demo.ipynb", notebooks / "solved" / "demo.ipynb"]
    before = [path.read_bytes() for path in paths]
    (notebooks / "source" / "demo.py").write_text(SOURCE + "\n# %%\n1 / 0\n", encoding="utf-8")
    with pytest.raises(BuildError):
        build("demo", notebooks=notebooks, solution_of=solution_for_tests)
    assert [path.read_bytes() for path in paths] == before
    assert not list(notebooks.rglob("*.part"))


def test_without_executing_the_solved_notebook_stays_as_it_was(notebooks: Path) -> None:
    line = build("demo", executing=False, notebooks=notebooks, solution_of=solution_for_tests)
    assert line == "demo: 5 cells for learners, solved left as it was"
    assert (notebooks / "demo.ipynb").is_file()
    assert not (notebooks / "solved" / "demo.ipynb").exists()


def test_the_command_line_prints_one_line_per_notebook(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(builder, "source_names", lambda: ["a", "b"])
    monkeypatch.setattr(builder, "build", lambda name, executing: f"{name}: {executing}")
    assert builder.main(["--no-execute"]) == 0
    assert builder.main(["b"]) == 0
    assert capsys.readouterr().out == "a: False\nb: False\nb: True\n"


def test_the_command_line_exits_1_and_names_the_notebook_that_failed(capsys: pytest.CaptureFixture[str]) -> None:
    assert builder.main(["no_such_notebook"]) == 1
    assert "no_such_notebook: not built." in capsys.readouterr().err


def test_names_come_sorted(notebooks: Path) -> None:
    (notebooks / "source" / "a_first.py").write_text(SOURCE, encoding="utf-8")
    assert source_names(notebooks) == ["a_first", "demo"]


def test_no_test_sees_a_learners_record() -> None:
    assert "course-tests-" in os.environ["COURSE_RECORD"]
    assert not Path(os.environ["COURSE_RECORD"]).exists()
