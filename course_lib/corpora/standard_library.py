"""Python's own standard library, a real repository that every learner has, and labelled questions about it.

Nothing of the code is kept here: it is read from the running Python, so it differs a little from version to version.
A question names a function, an anchor (a piece of code that stands once in that function, or once in the file where a
constant is set) and the value that the anchor gives; the line numbers are looked up in the running Python. The labels
were written from what a developer wants to know, before any search was tried on them; tests hold them on 3.11 to 3.13.

The functions are a fixed list of about 300 by name: those that the questions are about, and around them documented
public functions of the same and other modules, taken at even distances. So a method that embeds every function has
seconds of work, not minutes, and every method can be scored on the same list.
"""

import ast
import json
import sysconfig
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeAlias

from course_lib.corpora import DATA

LABELS = DATA / "library_questions.json"
VECTORS = DATA / "vectors" / "standard_library.npz"

# What is no library code: installed packages, caches, the library's own tests and demos, an editor, a copy of the
# documentation, and wheels for pip.
NOT_LIBRARY = frozenset(
    [
        *("site-packages", "dist-packages", "__pycache__", "test", "tests", "idlelib", "turtledemo", "lib2to3"),
        *("pydoc_data", "ensurepip", "lib-dynload", "LICENSE.txt"),
    ]
)

Slice: TypeAlias = Literal["named identifier", "named behaviour", "paraphrase", "number behind a constant"]
FunctionNode: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class LibraryFunction:
    """One function or method. Its id is file and qualified name, e.g. "difflib.py:get_close_matches".

    `start` and `end` are its first and last line in the running Python, counted from 1.
    """

    id: str
    file: str
    name: str
    start: int
    end: int
    signature: str
    doc: str
    source: str

    @property
    def summary(self) -> str:
        """File, name, signature and docstring: what its author says of it."""
        return f"{self.file} {self.name}\n{self.signature}\n{self.doc}".strip()

    @property
    def chunk(self) -> str:
        """File and name in front of the whole source, as an index over code stores it."""
        return f"{self.file} {self.name}\n{self.source}"


@dataclass(frozen=True)
class LibraryQuestion:
    """A developer's question, the id of the function it is about, and where the running Python answers it.

    `anchor_file` and `line` are the place of the value: inside the function, or where a constant that the function uses
    is set. `value` is what a right answer must hold. Slices: "named identifier" names the function, "named behaviour"
    uses words of the code, "paraphrase" avoids them, "number behind a constant" needs a second place.
    """

    text: str
    slice: Slice
    gold: str
    file: str
    start: int
    end: int
    anchor: str
    anchor_file: str
    line: int
    value: str


def root() -> Path:
    """Return the folder of the running Python's standard library.

    Raises FileNotFoundError, in a sentence, where Python carries it packed into an archive.
    """
    folder = Path(sysconfig.get_path("stdlib"))
    if not (folder / "difflib.py").is_file():
        raise FileNotFoundError("This Python carries its standard library packed: use one from python.org or conda.")
    return folder


def left_out() -> frozenset[str]:
    """Return the names of files and folders that a search leaves out; about 590 files remain on 3.11.

    To `NOT_LIBRARY` come what the building of this one Python left behind: its settings and the addresses of a machine.
    """
    built = [path.name for pattern in ("config-*", "_sysconfigdata_*") for path in root().glob(pattern)]
    return NOT_LIBRARY | frozenset(built)


@cache
def functions() -> tuple[LibraryFunction, ...]:
    """Return the listed functions that the running Python has, by file and name: all 300 of them on 3.11 to 3.13."""
    listed: dict[str, list[str]] = _labels()["functions"]
    return tuple(one for file, names in listed.items() for one in _of_file(file, names))


def every_function() -> Iterator[LibraryFunction]:
    """Yield the functions of all files that a search covers, listed or not: 14,200 on 3.11, in about three seconds."""
    apart = left_out()
    for path in sorted(root().rglob("*.py")):
        inside = path.relative_to(root())
        if not apart & set(inside.parts):
            with suppress(SyntaxError, UnicodeDecodeError):
                yield from _of_file(inside.as_posix())


@cache
def questions() -> tuple[LibraryQuestion, ...]:
    """Return the labelled questions, slice by slice, with their places in the running Python.

    Raises LookupError, naming the question, where this Python has no such function or anchor.

    >>> questions()[0].gold, questions()[0].value
    ('difflib.py:get_close_matches', '3')
    """
    known = {function.id: function for function in functions()}
    return tuple(_placed(entry, known) for entry in _labels()["questions"])


def cached_texts() -> list[str]:
    """Return every text whose vector is kept in `VECTORS`: the chunks of the listed functions, and the questions.

    The chunk is what an index over code stores: the answers stand in the source, and mostly not in the docstring. The
    file in the repository is made by Python 3.11. On another version the functions that differ are encoded afresh: 25
    of 300 on 3.12.1, 53 on 3.13.0.
    """
    return [*(function.chunk for function in functions()), *(question.text for question in questions())]


def _placed(entry: dict[str, str], known: dict[str, LibraryFunction]) -> LibraryQuestion:
    gold = f"{entry['file']}:{entry['function']}"
    if gold not in known:
        raise LookupError(f"This Python has no {gold}, which the question {entry['question']!r} is about.")
    function, anchor_file = known[gold], entry.get("anchor_file", entry["file"])
    lines = [number for number, line in enumerate(_lines(anchor_file), 1) if entry["anchor"] in line]
    if entry["slice"] != "number behind a constant":
        lines = [number for number in lines if function.start <= number <= function.end]
    if len(lines) != 1:
        raise LookupError(f"{entry['anchor']!r} stands {len(lines)} times where {entry['question']!r} needs it once.")
    return LibraryQuestion(
        entry["question"], entry["slice"], gold, function.file, function.start, function.end,  # type: ignore[arg-type]
        entry["anchor"], anchor_file, lines[0], entry["value"],
    )  # fmt: skip


@cache
def _labels() -> dict[str, Any]:
    return dict(json.loads(LABELS.read_text(encoding="utf-8")))


@cache
def _text(file: str) -> str:
    return (root() / file).read_text(encoding="utf-8")


def _lines(file: str) -> list[str]:
    return _text(file).split("\n")  # never splitlines(): that counts a form feed as the end of a line


def _of_file(file: str, names: list[str] | None = None) -> Iterator[LibraryFunction]:
    """Yield the named functions of a file, or without names all of them; none where there is no such file."""
    if not (root() / file).is_file():
        return
    nodes, lines = dict(_nodes(ast.parse(_text(file)).body)), _lines(file)
    for name in nodes if names is None else names:
        node = nodes.get(name)
        if node is None or node.end_lineno is None:
            continue
        signature = f"{name.rsplit('.', 1)[-1]}({ast.unparse(node.args)})"
        source = "\n".join(lines[node.lineno - 1 : node.end_lineno])
        doc = ast.get_docstring(node) or ""
        yield LibraryFunction(f"{file}:{name}", file, name, node.lineno, node.end_lineno, signature, doc, source)


def _nodes(body: list[ast.stmt], before: str = "") -> Iterator[tuple[str, FunctionNode]]:
    """Yield (qualified name, node) of every function and method; of several under one name the last one counts."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield before + node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from _nodes(node.body, f"{before}{node.name}.")
        elif isinstance(node, ast.If | ast.Try):
            yield from _nodes([*node.body, *node.orelse], before)
