"""Each check refuses its small bad notebook with the right sentence and lets the tricky good one pass."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat import NotebookNode

from tools import check
from tools.build import build
from tools.first_cell import FIRST_CELL

code = nbformat.v4.new_code_cell
markdown = nbformat.v4.new_markdown_cell


def notebook(*cells: NotebookNode | str) -> NotebookNode:
    """A notebook with a title and the first cell before the given cells; a string is a code cell."""
    rest = [code(cell) if isinstance(cell, str) else cell for cell in cells]
    return nbformat.v4.new_notebook(cells=[markdown("# A claim"), code(FIRST_CELL), *rest])


def as_executed(nb: NotebookNode) -> NotebookNode:
    """The notebook with execution counts 1..n."""
    for count, cell in enumerate((c for c in nb.cells if c.cell_type == "code"), start=1):
        cell.execution_count = count
    return nb


def showing(mime: str, content: str) -> NotebookNode:
    """An executed notebook whose cell 3 has one output."""
    output = nbformat.v4.new_output("display_data", data={mime: content})
    return as_executed(notebook(code("show()", outputs=[output])))


def solution(source: str) -> NotebookNode:
    return code(source, metadata={"tags": ["solution"]})


def test_a_minimal_good_notebook_passes_everything() -> None:
    good = notebook(markdown("## A second claim\n\nProse."), "1 + 1")
    assert check.check_learner(good, good, []) == []
    assert check.check_solved(as_executed(good)) == []


# --- 1, 2, 3, 10: what was executed ---


@pytest.mark.parametrize("count", [None, 1, 3])
def test_a_solved_notebook_that_was_not_executed_from_1_to_n_is_refused(count: int | None) -> None:
    nb = as_executed(notebook("x = 1"))
    nb.cells[2].execution_count = count
    assert check.check_solved(nb) == [f"cell 3: has execution count {count}, not 2; build it again."]


def test_an_error_output_is_refused() -> None:
    error = nbformat.v4.new_output("error", ename="ValueError", evalue="boom", traceback=[])
    nb = as_executed(notebook(code("f()", outputs=[error])))
    assert check.check_solved(nb) == ["cell 3: stores the error ValueError: boom."]


def test_a_stored_widget_view_is_refused() -> None:
    nb = showing(check.WIDGET_VIEW, "{}")
    assert check.check_solved(nb) == ["cell 3: stores a widget view; build it again."]


def test_stored_widget_state_is_refused() -> None:
    nb = as_executed(notebook())
    nb.metadata["widgets"] = {check.WIDGET_STATE: {"state": {}}}
    assert check.check_solved(nb) == ["notebook: stores metadata.widgets; build it again."]


@pytest.mark.parametrize("fields", [{"execution_count": 1}, {"outputs": [nbformat.v4.new_output("stream", text="x")]}])
def test_a_learner_notebook_with_outputs_or_counts_is_refused(fields: dict[str, object]) -> None:
    nb = notebook(code("f()", **fields))
    sentence = "cell 3: a learner notebook has no outputs and no execution counts; build it again."
    assert check.check_learner(nb, nb, []) == [sentence]


# --- 4: solutions ---

DOUBLE = "def double(x):\n    return 2 * x  # twice"


def test_a_solution_cell_in_a_learner_notebook_is_refused() -> None:
    nb = notebook(solution("x = 1"))
    assert check.check_learner(nb, nb, []) == ["cell 3: is tagged solution; build the learner notebook again."]


@pytest.mark.parametrize("line", ["    return 2 * x  # twice", "# return 2 * x  # twice"])
def test_a_line_of_a_lessons_solution_is_refused_also_behind_a_comment_mark(line: str) -> None:
    source = notebook("def double(x):\n    return ____")
    nb = notebook(f"def double(x):\n{line}\n    return ____")
    found = check.check_learner(nb, source, [DOUBLE])
    assert found == ["cell 3: shows a line of a solution: return 2 * x  # twice"]


def test_a_line_of_a_solution_cell_of_the_source_is_refused() -> None:
    source = notebook(solution('predict("top3", answer="7.3")'))
    nb = notebook('predict("top3", answer="7.3")')
    found = check.check_learner(nb, source, [])
    assert found == ['cell 3: shows a line of a solution: predict("top3", answer="7.3")']


def test_a_solution_whose_tag_was_forgotten_in_the_source_is_refused() -> None:
    nb = notebook(DOUBLE)
    found = check.check_learner(nb, nb, [DOUBLE])
    assert found == ["cell 3: holds a whole solution; tag it solution in the source."]


def test_a_line_that_the_exercise_shares_with_its_solution_may_stand() -> None:
    nb = notebook("def double(x):\n    return ____", "x = 1")
    source = notebook("def double(x):\n    return ____", solution(DOUBLE), "x = 1")
    assert check.check_learner(nb, source, [DOUBLE, "x = 1"]) == []


# --- 5: pictures ---

NO_ALT = 'an <img> without alt text (decoration: alt="" with role="presentation").'
NO_LABEL = 'an <svg> without aria-label (decoration: aria-hidden="true").'


@pytest.mark.parametrize("html", ["<img src='x.png'>", "<IMG alt=''\n src='x.png'/>", "<p><img alt='  '></p>"])
def test_an_img_without_alt_text_is_refused_in_markdown_and_in_outputs(html: str) -> None:
    assert check.images_without_alt(notebook(markdown(html))) == [f"cell 3: {NO_ALT}"]
    assert check.images_without_alt(showing("text/html", html)) == [f"cell 3: {NO_ALT}"]


def test_an_svg_without_a_label_is_refused_in_markdown_and_in_outputs() -> None:
    html = "<div><svg role='img' width='9'></svg></div>"
    assert check.images_without_alt(notebook(markdown(html))) == [f"cell 3: {NO_LABEL}"]
    assert check.images_without_alt(showing("text/html", html)) == [f"cell 3: {NO_LABEL}"]


def test_a_markdown_image_without_alt_text_is_refused() -> None:
    found = check.images_without_alt(notebook(markdown("See ![](x.png) and ![alt](y.png).")))
    assert found == ["cell 3: a markdown image without alt text: write ![what it shows](file)."]


@pytest.mark.parametrize("mime", ["image/png", "image/jpeg", "image/svg+xml"])
def test_a_bare_picture_output_is_refused(mime: str) -> None:
    found = check.images_without_alt(showing(mime, "x"))
    assert found == [f"cell 3: an output of type {mime}; show pictures as <img alt=…> in HTML."]


@pytest.mark.parametrize(
    "text",
    [
        "![alt](x.png)",
        "<img src='x.png' alt='Hits by slice'>",
        "<img alt='' role='presentation' src='line.png'>",
        "<svg aria-label='Hits by slice'></svg> <svg aria-hidden='true'></svg>",
        "Write `![](x.png)` or `<img>`:\n\n```html\n<img src='x.png'>\n```",
    ],
)
def test_pictures_with_a_name_decoration_and_examples_in_code_pass(text: str) -> None:
    assert check.images_without_alt(notebook(markdown(text))) == []


def test_html_shown_as_text_in_an_output_is_no_picture() -> None:
    assert check.images_without_alt(showing("text/html", "<pre>&lt;img src=x&gt;</pre>")) == []


# --- 6, 7: cells ---


def test_a_first_cell_that_was_changed_is_refused() -> None:
    nb = notebook()
    nb.cells[1].source += " "
    assert check.check_both(nb) == ["cell 2: is not the common first cell; build it again."]


def test_a_notebook_without_code_is_refused() -> None:
    nb = nbformat.v4.new_notebook(cells=[markdown("# A claim")])
    assert check.check_both(nb) == ["notebook: has no code cell, so the common first cell is missing; build it again."]


@pytest.mark.parametrize("tags", [[], ["solution"]])
def test_a_cell_of_16_lines_is_refused_blank_lines_and_solutions_included(tags: list[str]) -> None:
    nb = notebook(code("x = 1" + "\n" * 14 + "\ny = 2", metadata={"tags": tags}))
    assert check.check_both(nb) == ["cell 3: has 16 lines, more than 15; split it."]


def test_a_cell_of_15_lines_and_a_long_text_pass() -> None:
    assert check.check_both(notebook("x = 1" + "\n" * 13 + "\ny = 2", markdown("Prose.\n" * 30))) == []


# --- 8: widgets that raised ---

CLICK = """\
import ipywidgets
button, out = ipywidgets.Button(description="Go"), ipywidgets.Output()
def clicked(_):
    with out:
        raise ValueError("boom")
button.on_click(clicked)
button.click()
ipywidgets.VBox([button, out])"""


def test_a_click_callback_that_raised_inside_an_output_widget_is_found_though_the_run_passes() -> None:
    nb = NotebookClient(nbformat.v4.new_notebook(cells=[code(CLICK)])).execute()
    assert check.error_outputs(nb) == []
    assert check.widget_callback_errors(nb) == ["notebook: a widget callback raised ValueError: boom."]


def test_a_callback_that_does_not_raise_is_no_finding() -> None:
    quiet = CLICK.replace('raise ValueError("boom")', 'print("data-error= is only a word here")')
    nb = NotebookClient(nbformat.v4.new_notebook(cells=[code(quiet)])).execute()
    assert check.widget_callback_errors(nb) == []


def test_a_render_that_raised_is_found_in_the_live_widget() -> None:
    cell = "import ipywidgets\nipywidgets.HTML('<p data-error=\"ValueError\">No result</p>')"
    nb = NotebookClient(nbformat.v4.new_notebook(cells=[code(cell)])).execute()
    (finding,) = check.widget_callback_errors(nb)
    assert finding.startswith("notebook: a widget shows a render that raised: <p data-error=")


def test_a_render_that_raised_is_found_in_a_stored_output() -> None:
    nb = showing("text/html", "<p data-error='ValueError'>No result</p>")
    assert check.check_solved(nb) == ["cell 3: shows a render that raised (its HTML has data-error=)."]


def test_html_that_only_speaks_of_errors_passes() -> None:
    assert check.check_solved(showing("text/html", "<p class='data-error'>data-error=</p>")) == []


# --- 9: blanks ---

MAY_RAISE = "cell 3: uses ____ where Run All may raise; write name = ____."


@pytest.mark.parametrize(
    "cell",
    [
        "top = ____ + 1",
        "a = b = ____",
        "a, b = ____",
        "search(____)",
        "____",
        "if ____:\n    pass",
        "hits = [____ for _ in range(3)]",
        "def f(k=____):\n    return k",
        "def f(*, k=____):\n    return k",
        "@____\ndef f():\n    pass",
        "f = lambda k=____: k",
        "class A:\n    k = ____.x",
        "x = learn.____.y",
    ],
)
def test_a_blank_that_running_the_cell_would_touch_is_refused(cell: str) -> None:
    assert check.raising_blanks(notebook(cell)) == [MAY_RAISE]


@pytest.mark.parametrize(
    "cell",
    [
        "from course_lib.learn import ____, check",
        "top = ____",
        "top = learn.____",
        "if True:\n    top = ____",
        "def f(q):\n    hits = search(q, k=____)\n    return ____(hits)\ncheck(f)",
        "def f(q):\n    def g(k=____):\n        return k\n    return g",
        "check(lambda q: ____)",
        "async def f():\n    return ____",
        "class A:\n    def f(self):\n        return ____",
        "'____' != '!'  # ____",
        "%load_ext x\n!ls ____\nawait f()",
    ],
)
def test_a_blank_that_nothing_touches_passes(cell: str) -> None:
    assert check.raising_blanks(notebook(cell)) == []


def test_an_unfinished_function_called_at_cell_level_is_refused_in_any_cell() -> None:
    nb = notebook("def f(q):\n    return ____", "check(f)", "[f(q) for q in questions]")
    found = check.raising_blanks(nb)
    assert found == ["cell 5: calls f(), which still holds ____; pass f to a check."]


def test_an_unfinished_function_called_inside_another_function_passes() -> None:
    assert check.raising_blanks(notebook("def f(q):\n    return ____", "def g(q):\n    return f(q)")) == []


def test_a_cell_that_is_not_python_is_a_finding() -> None:
    (finding,) = check.raising_blanks(notebook("if x\n    y"))
    assert finding.startswith("cell 3: is not Python (")


# --- 11: prose and headings ---

EXCLAIMS = "cell 3: a sentence ends in an exclamation mark; end it with a full stop."


@pytest.mark.parametrize("text", ["Well done!", "Wait! Then run it.", "**Look!** Here.", "(Really!)", "Use `f`!"])
def test_a_sentence_that_ends_in_an_exclamation_mark_is_refused(text: str) -> None:
    assert check.check_both(notebook(markdown(text))) == [EXCLAIMS]


@pytest.mark.parametrize(
    "text",
    ["a != b", "`!ls` and `f!`", "![alt](x.png)", "<!-- a note -->", "$n!$ ways", "```\nHello!\n```", "> [!NOTE]"],
)
def test_other_exclamation_marks_pass(text: str) -> None:
    assert check.check_both(notebook(markdown(text))) == []


def test_code_may_say_not_equal_and_print_what_it_likes() -> None:
    assert check.check_both(notebook('assert "Hello!" != "x"')) == []


@pytest.mark.parametrize(
    ("emoji", "number"),
    [("🎉", "1F389"), ("✅", "2705"), ("⚠️", "26A0"), ("❌", "274C"), ("⭐", "2B50"), ("🇩🇪", "1F1E9")],
)
def test_an_emoji_is_refused_in_prose_and_in_code(emoji: str, number: str) -> None:
    sentence = f"cell 3: holds an emoji (U+{number}); say it in words."
    assert check.check_both(notebook(markdown(f"Done {emoji}"))) == [sentence]
    assert check.check_both(notebook(f"print('{emoji}')")) == [sentence]


def test_plain_symbols_pass() -> None:
    assert check.check_both(notebook(markdown("★ ● ○ → × ≥ – … ✓ ✗ § “quoted” é 中文"))) == []


def test_a_heading_that_skips_a_level_is_refused() -> None:
    found = check.check_both(notebook(markdown("## A\n\n#### B")))
    assert found == ["cell 3: a heading of level 4 follows one of level 2."]


def test_a_second_title_is_refused() -> None:
    assert check.check_both(notebook(markdown("# B"))) == ["notebook: has 2 headings of level 1; it needs exactly one."]


def test_headings_may_go_up_by_any_number_and_a_comment_in_code_is_none() -> None:
    text = "## A\n\n### B\n\n```python\n# a comment\n```\n\n## C\n\n#hashtag"
    assert check.check_both(notebook(markdown(text), "# a comment\nx = 1")) == []


# --- the whole repository ---


@pytest.fixture
def notebooks(tmp_path: Path) -> Path:
    """A course of one good notebook, built and executed."""
    folder = tmp_path / "notebooks"
    (folder / "source").mkdir(parents=True)
    (tmp_path / "course_lib").mkdir()
    (tmp_path / "course_lib" / "places.py").write_text("def prepare() -> None: ...\n", encoding="utf-8")
    source = "# %% [markdown]\n# # A claim\n\n# %%\n1 + 1\n"
    (folder / "source" / "demo.py").write_text(source, encoding="utf-8")
    build("demo", notebooks=folder)
    return folder


def test_a_course_that_was_built_has_no_findings(notebooks: Path) -> None:
    assert check.check_all(notebooks) == []


def test_a_finding_names_path_and_cell(notebooks: Path) -> None:
    path = notebooks / "solved" / "demo.ipynb"
    text = path.read_text(encoding="utf-8").replace('"execution_count": 2', '"execution_count": 3')
    path.write_text(text, encoding="utf-8")
    assert check.check_all(notebooks) == [
        "notebooks/solved/demo.ipynb: cell 3: has execution count 3, not 2; build it again."
    ]


def test_a_missing_notebook_and_one_without_a_source_are_findings(notebooks: Path) -> None:
    (notebooks / "demo.ipynb").rename(notebooks / "stray.ipynb")
    assert check.check_all(notebooks) == [
        "notebooks/demo.ipynb: notebook: is missing; run python -m tools.build demo.",
        "notebooks/stray.ipynb: notebook: has no source in notebooks/source.",
    ]


def test_a_course_without_a_source_is_a_finding(tmp_path: Path) -> None:
    assert check.check_all(tmp_path) == ["notebooks/source: notebook: there is no source to check."]


def test_the_command_line_exits_1_with_findings_and_0_without(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(check, "source_names", lambda: ["a", "b"])
    monkeypatch.setattr(check, "check_all", lambda: ["a.ipynb: cell 1: is odd."])
    assert check.main() == 1
    monkeypatch.setattr(check, "check_all", list)
    assert check.main() == 0
    assert capsys.readouterr().out == "a.ipynb: cell 1: is odd.\n4 notebooks checked, nothing found\n"
