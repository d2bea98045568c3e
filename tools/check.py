"""Checks what was built, by reading it.

    python -m tools.check

Prints one finding per line, "path: cell n: sentence", and exits 1 when there are any. Each check is a
function from a notebook (and what else it needs) to a list of "cell n: sentence". nbval compares outputs.
"""

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from html.parser import HTMLParser
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from tools.first_cell import FIRST_CELL
from tools.source import NOTEBOOKS, lesson_solutions, read_source, source_names, tags

LONGEST_CELL = 15  # lines
BLANK = "____"
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
WIDGET_STATE = "application/vnd.jupyter.widget-state+json"
# Characters that are drawn as coloured pictures. Plain symbols such as ★ ● ○ → × ✓ ✗ are not among them.
EMOJI = re.compile(
    "[\U0001f000-\U0001faff\ufe0f\u231a\u231b\u23e9-\u23f3\u25fd\u25fe\u2614\u2615\u2648-\u2653\u267f\u2693\u26a0\u26a1"
    "\u26aa\u26ab\u26bd\u26be\u26c4\u26c5\u26ce\u26d4\u26ea\u26f2-\u26fd\u2705\u270a-\u270d\u2728\u274c\u274e"
    "\u2753-\u2757\u2763\u2764\u2795-\u2797\u27b0\u27bf\u2b1b\u2b1c\u2b50\u2b55]"
)
EXCLAMATION = re.compile(r"""[\w)\]"'”’*_`]!+[)"'”’*_]*(?:\s|$)""")
MARKDOWN_IMAGE = re.compile(r"!\[([^\]]*)\][(\[]")

Cells = Iterator[tuple[int, NotebookNode]]


# --- walking through a notebook ---


def numbered(nb: NotebookNode, cell_type: str = "") -> Cells:
    """(number from 1, cell) of all cells, or of those of one type."""
    for number, cell in enumerate(nb.cells, start=1):
        if cell_type in ("", cell.cell_type):
            yield number, cell


def output_texts(cell: NotebookNode, mime: str) -> Iterator[str]:
    """The outputs of a cell in one mime type."""
    for output in cell.get("outputs", []):
        if mime in output.get("data", {}):
            yield output.data[mime]


def errors_of(cell: NotebookNode) -> list[str]:
    """The error outputs of a cell, each as "ValueError: what it said"."""
    outputs = cell.get("outputs", [])
    return [f"{o.ename}: {o.evalue}" for o in outputs if o.output_type == "error"]


# --- what was executed ---


def execution_order(nb: NotebookNode) -> list[str]:
    """Code cells must carry the counts 1..n: nbval passes a cell without a count, and outputs, uncompared."""
    found = []
    for expected, (number, cell) in enumerate(numbered(nb, "code"), start=1):
        count = cell.execution_count
        if count != expected:
            found.append(f"cell {number}: has execution count {count}, not {expected}; build it again.")
    return found


def error_outputs(nb: NotebookNode) -> list[str]:
    """No cell may store an error."""
    cells = numbered(nb, "code")
    return [f"cell {number}: stores the error {error}." for number, cell in cells for error in errors_of(cell)]


def widget_callback_errors(nb: NotebookNode) -> list[str]:
    """Errors that widget callbacks left in the widget state of an executed notebook; running hides them.

    Looks into Output widgets, and into HTML widgets for the mark of an explorer's render that raised.
    """
    found = []
    for widget in nb.metadata.get("widgets", {}).get(WIDGET_STATE, {}).get("state", {}).values():
        for output in widget["state"].get("outputs", []):
            if output.get("output_type") == "error":
                found.append(f"notebook: a widget callback raised {output['ename']}: {output['evalue']}.")
        if widget["model_name"] == "HTMLModel" and has_error_mark(widget["state"].get("value", "")):
            found.append(f"notebook: a widget shows a render that raised: {widget['state']['value']}")
    return found


def rendered_errors(nb: NotebookNode) -> list[str]:
    """No stored HTML may carry the mark of an explorer's render that raised."""
    return [
        f"cell {number}: shows a render that raised (its HTML has data-error=)."
        for number, cell in numbered(nb, "code")
        if any(has_error_mark(html) for html in output_texts(cell, "text/html"))
    ]


def stored_widgets(nb: NotebookNode) -> list[str]:
    """No widget view and no widget state is stored: opened elsewhere they show "model not found"."""
    found = ["notebook: stores metadata.widgets; build it again."] if "widgets" in nb.metadata else []
    for number, cell in numbered(nb, "code"):
        if list(output_texts(cell, WIDGET_VIEW)):
            found.append(f"cell {number}: stores a widget view; build it again.")
    return found


def stored_outputs(nb: NotebookNode) -> list[str]:
    """A learner notebook has neither outputs nor execution counts."""
    return [
        f"cell {number}: a learner notebook has no outputs and no execution counts; build it again."
        for number, cell in numbered(nb, "code")
        if cell.outputs or cell.execution_count is not None
    ]


# --- what gives an answer away ---


def telling_lines(text: str) -> set[str]:
    """The lines of a text with at least 8 characters that are not blank, stripped."""
    return {line.strip() for line in text.split("\n") if len("".join(line.split())) >= 8}


def bare_lines(text: str) -> set[str]:
    """The lines of a text, stripped, each also without a comment or quotation mark in front."""
    lines = {line.strip() for line in text.split("\n")}
    return lines | {line.lstrip("#> ") for line in lines}


def leaked_solutions(nb: NotebookNode, source: NotebookNode, solutions: Iterable[str]) -> list[str]:
    """No solution in a learner notebook: no solution cell, no line of one, and no solution as a whole.

    nb: the learner notebook; source: its source; solutions: the solution texts of its lesson. A line that
    the source also has outside its solution cells (a signature, an import) may stand; a cell with all lines of one
    solution may not, since that is a solution cell whose tag was forgotten.
    """
    texts = [*solutions, *(cell.source for cell in source.cells if "solution" in tags(cell))]
    open_cells = [cell.source for cell in source.cells if "solution" not in tags(cell)]
    secret = set().union(*map(telling_lines, texts)) - set().union(*map(telling_lines, open_cells))
    whole = [lines for lines in map(telling_lines, texts) if len(lines) > 1]
    found = []
    for number, cell in numbered(nb):
        leaked = sorted(secret & bare_lines(cell.source))
        if "solution" in tags(cell):
            found.append(f"cell {number}: is tagged solution; build the learner notebook again.")
        elif leaked:
            found.append(f"cell {number}: shows a line of a solution: {leaked[0]}")
        elif any(lines <= bare_lines(cell.source) for lines in whole):
            found.append(f"cell {number}: holds a whole solution; tag it solution in the source.")
    return found


# --- what cells must look like ---


def first_cell(nb: NotebookNode) -> list[str]:
    """The first code cell is the common one."""
    for number, cell in numbered(nb, "code"):
        same = cell.source == FIRST_CELL
        return [] if same else [f"cell {number}: is not the common first cell; build it again."]
    return ["notebook: has no code cell, so the common first cell is missing; build it again."]


def long_cells(nb: NotebookNode) -> list[str]:
    """A code cell has at most LONGEST_CELL lines, blank ones counted."""
    found = []
    for number, cell in numbered(nb, "code"):
        lines = cell.source.count("\n") + 1
        if lines > LONGEST_CELL:
            found.append(f"cell {number}: has {lines} lines, more than {LONGEST_CELL}; split it.")
    return found


# --- blanks that Run All must survive ---


def raising_blanks(nb: NotebookNode) -> list[str]:
    """`____` stands only where running the cell does not touch it.

    That is `name = ____` at cell level, and the bodies of functions that no cell of the notebook calls by
    name (passing the function on, as in `check(f)`, is fine). Cells that are not Python are findings as well.
    """
    found = []
    trees: list[tuple[int, ast.Module]] = []
    for number, cell in numbered(nb, "code"):
        try:
            trees.append((number, parsed(cell.source)))
        except SyntaxError as error:
            found.append(f"cell {number}: is not Python ({error.msg}).")
    unfinished = {name for _, tree in trees for name in functions_with_a_blank(tree)}
    for number, tree in trees:
        if blanks_at_cell_level(tree):
            found.append(f"cell {number}: uses {BLANK} where Run All may raise; write name = {BLANK}.")
        for name in sorted(unfinished & names_called_at_cell_level(tree)):
            found.append(f"cell {number}: calls {name}(), which still holds {BLANK}; pass {name} to a check.")
    return found


def parsed(source: str) -> ast.Module:
    """The syntax tree of a cell: magic and shell lines dropped, await allowed at cell level as in IPython."""
    lines = ["" if line.startswith(("%", "!")) else line for line in source.split("\n")]
    flags = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    tree = compile("\n".join(lines), "cell", "exec", flags=flags, dont_inherit=True)
    assert isinstance(tree, ast.Module)
    return tree


def is_blank(node: ast.AST) -> bool:
    """True for the name `____`, also as in `learn.____`."""
    return BLANK in (getattr(node, "id", None), getattr(node, "attr", None))


def run_with_the_cell(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes that are evaluated when the cell runs: all but the bodies of functions.

    Default values, annotations and decorators belong to them: they are evaluated at the definition.
    """
    yield node
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        children: list[ast.AST] = [*node.decorator_list, node.args]
    elif isinstance(node, ast.Lambda):
        children = [node.args]
    else:
        children = list(ast.iter_child_nodes(node))
    for child in children:
        yield from run_with_the_cell(child)


def blanks_at_cell_level(tree: ast.Module) -> bool:
    """True when the cell evaluates `____` anywhere but as the whole right side of `name = ____`."""
    nodes = list(run_with_the_cell(tree))
    assignments = [node for node in nodes if isinstance(node, ast.Assign) and len(node.targets) == 1]
    allowed = {id(node.value) for node in assignments if isinstance(node.targets[0], ast.Name)}
    return any(is_blank(node) and id(node) not in allowed for node in nodes)


def functions_with_a_blank(tree: ast.Module) -> set[str]:
    """The names of the functions whose body holds `____`."""
    functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    return {f.name for f in functions if any(is_blank(n) for statement in f.body for n in ast.walk(statement))}


def names_called_at_cell_level(tree: ast.Module) -> set[str]:
    """The plain names that the cell calls while it runs."""
    calls = [node for node in run_with_the_cell(tree) if isinstance(node, ast.Call)]
    return {call.func.id for call in calls if isinstance(call.func, ast.Name)}


# --- pictures ---


class Tags(HTMLParser):
    """Collects the tags of a piece of HTML with their attributes: [("img", {"alt": "…"}), …]."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str]]] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, {key: value or "" for key, value in attrs}))


def has_error_mark(html: str) -> bool:
    """True when any tag has the attribute data-error."""
    return any("data-error" in attributes for _, attributes in Tags(html).found)


def nameless_pictures(html: str) -> list[str]:
    """One sentence for each picture in HTML that a screen reader cannot name."""
    found = []
    for tag, has in Tags(html).found:
        decoration = "alt" in has and has.get("role") == "presentation"
        if tag == "img" and not has.get("alt", "").strip() and not decoration:
            found.append('an <img> without alt text (decoration: alt="" with role="presentation").')
        if tag == "svg" and not has.get("aria-label", "").strip() and has.get("aria-hidden") != "true":
            found.append('an <svg> without aria-label (decoration: aria-hidden="true").')
    return found


def images_without_alt(nb: NotebookNode) -> list[str]:
    """Every picture has alt text, in markdown and in HTML outputs; no output is a picture by itself."""
    found = []
    for number, cell in numbered(nb, "markdown"):
        text = without_code(cell.source)
        if any(not alt.strip() for alt in MARKDOWN_IMAGE.findall(text)):
            found.append(f"cell {number}: a markdown image without alt text: write ![what it shows](file).")
        found += [f"cell {number}: {sentence}" for sentence in nameless_pictures(text)]
    for number, cell in numbered(nb, "code"):
        for html in output_texts(cell, "text/html"):
            found += [f"cell {number}: {sentence}" for sentence in nameless_pictures(html)]
        for mime in {mime for output in cell.outputs for mime in output.get("data", {})}:
            if mime.startswith("image/"):
                found.append(f"cell {number}: an output of type {mime}; show pictures as <img alt=…> in HTML.")
    return found


# --- prose ---


def without_code(markdown: str) -> str:
    """Markdown with fenced blocks, code spans and formulas emptied, so that only prose is left.

    A code span or formula leaves a letter behind, so that "`x`!" still ends in an exclamation mark.
    """
    text = re.sub(r"^(```|~~~).*?^\1[`~]*\s*$", "", markdown, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "x", text, flags=re.DOTALL)
    return re.sub(r"\$\$.*?\$\$|\$[^$\n]+\$", "x", text, flags=re.DOTALL)


def prose(nb: NotebookNode) -> list[str]:
    """No sentence ends in an exclamation mark, and no cell holds an emoji."""
    found = []
    for number, cell in numbered(nb):
        if cell.cell_type == "markdown" and EXCLAMATION.search(without_code(cell.source)):
            found.append(f"cell {number}: a sentence ends in an exclamation mark; end it with a full stop.")
        emoji = EMOJI.search(cell.source)
        if emoji:
            found.append(f"cell {number}: holds an emoji (U+{ord(emoji.group()):04X}); say it in words.")
    return found


def headings(nb: NotebookNode) -> list[str]:
    """Exactly one heading of level 1, and no heading more than one level below the one before."""
    found = []
    previous, titles = 0, 0
    for number, cell in numbered(nb, "markdown"):
        for marks in re.findall(r"^ {0,3}(#{1,6})(?=\s|$)", without_code(cell.source), flags=re.MULTILINE):
            level = len(marks)
            if level > previous + 1:
                found.append(f"cell {number}: a heading of level {level} follows one of level {previous}.")
            previous, titles = level, titles + (level == 1)
    if titles != 1:
        found.append(f"notebook: has {titles} headings of level 1; it needs exactly one.")
    return found


# --- all of it ---


def check_both(nb: NotebookNode) -> list[str]:
    """What a learner notebook and a solved one have in common."""
    checks = (first_cell, long_cells, raising_blanks, images_without_alt, prose, headings, stored_widgets)
    return [finding for check in checks for finding in check(nb)]


def check_learner(nb: NotebookNode, source: NotebookNode, solutions: Iterable[str]) -> list[str]:
    """Everything that is wrong with a learner notebook."""
    return [*check_both(nb), *stored_outputs(nb), *leaked_solutions(nb, source, solutions)]


def check_solved(nb: NotebookNode) -> list[str]:
    """Everything that is wrong with a solved notebook."""
    checks = (execution_order, error_outputs, rendered_errors, widget_callback_errors)
    return check_both(nb) + [finding for check in checks for finding in check(nb)]


def check_name(name: str, notebooks: Path = NOTEBOOKS) -> list[str]:
    """Everything that is wrong with the two notebooks built from one source, as "path: cell n: sentence"."""
    paths = {"learner": notebooks / f"{name}.ipynb", "solved": notebooks / "solved" / f"{name}.ipynb"}
    source = read_source(notebooks / "source" / f"{name}.py")
    found = []
    for kind, path in paths.items():
        shown = path.relative_to(notebooks.parent).as_posix()
        if not path.is_file():
            found.append(f"{shown}: notebook: is missing; run python -m tools.build {name}.")
            continue
        nb = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
        solutions = lesson_solutions(name).values()
        findings = check_learner(nb, source, solutions) if kind == "learner" else check_solved(nb)
        found += [f"{shown}: {finding}" for finding in findings]
    return found


def strays(notebooks: Path = NOTEBOOKS) -> list[str]:
    """Notebooks that no source builds."""
    built = sorted([*notebooks.glob("*.ipynb"), *(notebooks / "solved").glob("*.ipynb")])
    names = source_names(notebooks)
    return [
        f"{path.relative_to(notebooks.parent).as_posix()}: notebook: has no source in notebooks/source."
        for path in built
        if path.stem not in names
    ]


def check_all(notebooks: Path = NOTEBOOKS) -> list[str]:
    """All findings of all notebooks; having no source at all is one."""
    names = source_names(notebooks)
    if not names:
        return ["notebooks/source: notebook: there is no source to check."]
    return [finding for name in names for finding in check_name(name, notebooks)] + strays(notebooks)


def main() -> int:
    """The command line; returns 1 when there are findings."""
    findings = check_all()
    for finding in findings:
        print(finding)
    if not findings:
        print(f"{2 * len(source_names())} notebooks checked, nothing found")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
