"""Every word that a learner or a maintainer reads is in the dictionary or in our list (tests/spelling_words.txt).

Read are the pages, the notebooks' prose, and in the code the docstrings, the comments and the sentences. What stands
in backticks, tags, formulas and addresses is no prose. The dictionary is the one that pyspellchecker carries; it is
American, so that the British forms which the course uses are in our list.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest
from spellchecker import SpellChecker

from tools.source import NOTEBOOKS, source_names

ROOT = Path(__file__).resolve().parent.parent
WORDS = Path(__file__).with_name("spelling_words.txt")

# A word with apostrophes inside; not a part of a name in code, of a path, or of a word with a piece to be computed.
WORD = re.compile(r"(?<![\w\x00{}./\\@#&=%'’-])[^\W\d_]+(?:['’][^\W\d_]+)*(?![\w\x00{}(\\@=]|[./:][\w/]|['’]\w)")
TWICE = re.compile(r"(?<![\w-])([a-z]+)[ \n]\1(?![\w-])")
NOT_PROSE = re.compile(
    r"```.*?```|~~~.*?~~~|``.*?``|`[^`]*`|\$\$.*?\$\$|\$[^$\n]+\$|<[!/a-zA-Z][^>]*>|\]\([^)]*\)|https?://\S+|&\w+;",
    re.DOTALL,
)
# Lines of CSS, SQL, HTML or Python inside a string: nothing in them is a sentence.
CODE = re.compile(
    r"[{}=|\\]|;\S|->|\w\(|\w_\w|\][\w*+?]|\b[A-Z]{2,} [A-Z]{2,}\b|^\s*(?:>>>|\.\.\.|import|def|class|return|from) "
)
ENGLISH = re.compile(r"[A-Za-z']+")
NAME = re.compile(r"[A-Z]{2,5}|[A-Z]{2,}[a-z]+|.*[a-z][A-Z].*")  # PDF; PDFs, ORed, OSError; PostgreSQL, ValueError
COMMENT = re.compile(r"(?:^|\s)# (?!%%)(.*)$")
DIRECTIVE = re.compile(r"(?:noqa|fmt|type|ruff|pragma|mypy)\b")


def prose(text: str) -> str:
    """The text with everything that is no prose blanked out; lines stay where they are."""
    return NOT_PROSE.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)


def words(text: str) -> Iterator[tuple[int, str]]:
    """Yield (line counted from 0, word) of prose."""
    for number, line in enumerate(prose(text).splitlines()):
        for found in WORD.finditer(line):
            word = found.group().replace("’", "'").removesuffix("'s")
            if len(word) > 2 and ENGLISH.fullmatch(word) and not NAME.fullmatch(word):
                yield number, word


Piece = tuple[str, int, str]


def pages() -> Iterator[Piece]:
    """Yield (file, first line, text) of every Markdown page."""
    folders = [ROOT, *(ROOT / name for name in ("docs", "data", "workshop"))]
    for path in (path for folder in folders for path in sorted(folder.glob("*.md"))):
        yield named(path), 1, path.read_text(encoding="utf-8")


def cells() -> Iterator[Piece]:
    """Yield (file, first line, text) of the notebooks' cells of prose, and of the comments in their code."""
    for name in source_names():
        path = NOTEBOOKS / "source" / f"{name}.py"
        start, block = 1, list[str]()
        for number, line in enumerate([*path.read_text(encoding="utf-8").splitlines(), ""], start=1):
            if line.startswith("#") and not line.startswith("# %%"):
                block.append(line.removeprefix("#").removeprefix(" "))
                continue
            yield named(path), start, "\n".join(block)
            start, block = number + 1, []
            if comment := COMMENT.search(line):
                yield named(path), number, comment.group(1)


def code() -> Iterator[Piece]:
    """Yield (file, line, text) of the sentences, docstrings and comments of the code."""
    folders = ("course_lib", "tools", "benchmarks", "notebooks/source")
    for path in [ROOT / "course.py", *(path for folder in folders for path in sorted((ROOT / folder).rglob("*.py")))]:
        source = path.read_text(encoding="utf-8")
        if path.parent.name != "source":
            yield from ((named(path), line, text) for line, text in comments(source))
        yield from ((named(path), line, text) for line, text in sentences(source))


def comments(source: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(source.splitlines(), start=1):
        found = COMMENT.search(line)
        if found and not DIRECTIVE.match(found.group(1)) and not CODE.search(prose(found.group(1))):
            yield number, found.group(1)


def sentences(source: str) -> Iterator[tuple[int, str]]:
    """Yield (line, text) of every string that has a blank in it, its lines of code left out.

    The pieces of an f-string that are computed become a NUL: what touches one is a part of a word.
    """
    top = ast.parse(source)
    inside = {id(part) for node in ast.walk(top) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)}
    for node in ast.walk(top):
        if isinstance(node, ast.JoinedStr):
            text = "".join(str(part.value) if isinstance(part, ast.Constant) else "\0" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside:
            text = node.value
        else:
            continue
        if " " in text.strip():
            yield node.lineno, "\n".join("" if CODE.search(prose(line)) else line for line in text.split("\n"))


def named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def dictionary() -> SpellChecker:
    checker = SpellChecker(language="en", distance=1)
    checker.word_frequency.load_words(WORDS.read_text(encoding="utf-8").split())
    return checker


def misspelt(pieces: Iterable[Piece]) -> list[str]:
    """Return "file:line: word" for every word that is in neither list."""
    found = [(file, first + number, word) for file, first, text in pieces for number, word in words(text)]
    unknown = dictionary().unknown({word for *_, word in found})
    return [f"{file}:{line}: {word}" for file, line, word in found if word.lower() in unknown]


@pytest.mark.parametrize("where", [pages, cells, code])
def test_every_word_is_spelt_as_a_dictionary_has_it(where) -> None:
    pieces = list(where())
    assert pieces
    assert misspelt(pieces) == [], "mend it, or where it is a name or a term put it into tests/spelling_words.txt"


@pytest.mark.parametrize("where", [pages, cells])
def test_no_word_stands_twice_in_a_row(where) -> None:
    twice = [(file, first, found.group()) for file, first, text in where() for found in TWICE.finditer(prose(text))]
    assert twice == []


def test_our_words_are_sorted_and_none_is_in_the_dictionary() -> None:
    ours = WORDS.read_text(encoding="utf-8").split()
    assert ours == sorted(set(ours))
    assert all(word == word.lower() for word in ours)
    known = SpellChecker(language="en")
    assert [word for word in ours if word in known] == [], "the dictionary has these"


@pytest.mark.parametrize("typo", ["recieve", "teh", "seperate", "occured", "retreival", "definately", "untill"])
def test_a_typing_error_is_named_with_its_file_and_line(typo: str) -> None:
    assert misspelt([("a.md", 7, f"One line.\nAnd {typo} on the next.")]) == [f"a.md:8: {typo}"]
    assert misspelt([("a.md", 1, f"That's **{typo}**, “{typo}” and {typo.title()}-like.")]) == [
        f"a.md:1: {typo}",
        f"a.md:1: {typo}",
        f"a.md:1: {typo.title()}",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "`recieve`",
        "[text](recieve.html)",
        "<recieve>",
        "$recieve$",
        "recieve_all",
        "recieve()",
        "a/recieve.py",
        "x=recieve",
    ],
)
def test_names_in_code_are_no_words(text: str) -> None:
    assert misspelt([("a.md", 1, text)]) == []


def test_a_sentence_in_code_is_read_and_a_computed_piece_is_not() -> None:
    source = 'def f(n):\n    """Retruns a thing."""\n    # teh end\n    return f"{n} documnt{n}s and {n}ly recieved"\n'
    pieces = [("a.py", line, text) for read in (sentences, comments) for line, text in read(source)]
    assert sorted(misspelt(pieces)) == ["a.py:2: Retruns", "a.py:3: teh", "a.py:4: recieved"]
