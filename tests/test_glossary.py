"""The glossary has every term that a notebook defines, in order, and leads to the notebook that explains it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tools.source import NOTEBOOKS, ROOT, lesson_module, read_source, source_names

GLOSSARY = ROOT / "docs" / "glossary.md"
ENTRY = re.compile(
    r"^## ([^\n]+)\n\n(.+?)\n\nSee \[`(\w+)`\]\(\.\./notebooks/(\w+)\.ipynb\)\.$", re.MULTILINE | re.DOTALL
)
# Bold words that stress something and define nothing; sentences (with a stop or a question mark) do not either.
STRESSED = {
    "in which order you would try things",
    "no structure", "titles that lie", "a wrong first turn", "an answer that stands everywhere", "many documents",
    "a different path each time", "heading paths are enough", "following references pays", "navigation loses",
}  # fmt: skip


@dataclass(frozen=True)
class Entry:
    """A term, what it means, and the notebook that explains it."""

    term: str
    text: str
    notebook: str


def entries() -> list[Entry]:
    return [Entry(term, text, notebook) for term, text, _, notebook in ENTRY.findall(GLOSSARY.read_text("utf-8"))]


def in_bold() -> Iterator[tuple[str, str]]:
    """Give each word or phrase in bold, in lower case, with its notebook; sentences are left out."""
    for name in sorted(source_names(), key=lambda name: (name.startswith("lab_"), name)):
        for cell in read_source(NOTEBOOKS / "source" / f"{name}.py").cells:
            if cell.cell_type == "markdown":
                found = re.findall(r"\*\*([^*]+)\*\*", cell.source)
                yield from ((" ".join(one.split()).casefold(), name) for one in found if one[-1] not in ".?")


def covers(term: str, bold: str) -> bool:
    """Whether an entry explains a word in bold: the word itself, its singular, or a phrase that begins with it."""
    term = term.casefold()
    return term in (bold, bold.removesuffix("s")) or term.startswith(f"{bold} ")


def words_of(notebook: str) -> str:
    """Return all that a notebook and its lesson say, in one line."""
    package = ROOT.joinpath(*lesson_module(notebook).split("."))
    lesson = sorted(package.rglob("*.py")) if package.is_dir() else [package.with_suffix(".py")]
    texts = [path.read_text(encoding="utf-8") for path in [NOTEBOOKS / "source" / f"{notebook}.py", *lesson]]
    return re.sub(r'[\s#"]+', " ", "\n".join(texts)).casefold()


def test_every_heading_is_an_entry_with_a_text_and_a_link() -> None:
    headings = re.findall(r"^## (.+)$", GLOSSARY.read_text("utf-8"), re.MULTILINE)
    assert [one.term for one in entries()] == headings
    assert len(headings) > 60


def test_the_terms_stand_in_alphabetical_order_and_once() -> None:
    terms = [one.term.casefold() for one in entries()]
    assert terms == sorted(set(terms))


def test_every_term_that_a_notebook_defines_in_bold_is_in_the_glossary() -> None:
    terms = [one.term for one in entries()]
    lacking = [f"{bold} ({name})" for bold, name in in_bold() if not any(covers(term, bold) for term in terms)]
    assert [one for one in lacking if one.rsplit(" (", 1)[0] not in STRESSED] == []


def test_what_is_called_stressed_is_still_in_bold_somewhere() -> None:
    assert STRESSED - {bold for bold, _ in in_bold()} == set()


def test_a_term_that_is_defined_in_bold_leads_to_the_notebook_that_defines_it() -> None:
    bolds = list(in_bold())
    for one in entries():
        defined_in = [name for bold, name in bolds if bold == one.term.casefold()]
        defined_in = defined_in or [name for bold, name in bolds if covers(one.term, bold)]
        assert one.notebook in (defined_in or [one.notebook])[:1], one.term


def test_the_notebook_of_an_entry_exists_and_uses_the_term() -> None:
    said = {name: words_of(name) for name in {one.notebook for one in entries()}}
    assert all((NOTEBOOKS / f"{name}.ipynb").is_file() for name in said)
    assert [one.term for one in entries() if one.term.casefold() not in said[one.notebook]] == []


def test_an_entry_is_one_or_two_sentences() -> None:
    sentences = {one.term: len(re.findall(r"[.?](?=\s|$)", one.text)) for one in entries()}
    assert {term: n for term, n in sentences.items() if n not in (1, 2)} == {}
    assert "!" not in GLOSSARY.read_text("utf-8")


def test_both_names_of_a_link_are_the_same() -> None:
    assert all(shown == target for _, _, shown, target in ENTRY.findall(GLOSSARY.read_text("utf-8")))


def test_a_bold_word_meets_its_singular_and_a_phrase_that_begins_with_it_and_nothing_else() -> None:
    assert covers("description", "descriptions")
    assert covers("Linear engine", "linear")
    assert covers("BM25", "bm25")
    assert not covers("pool", "cut-off")
    assert not covers("parting", "part")
