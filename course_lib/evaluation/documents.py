"""A folder of documents as sections and chunks, and a list of what could not be read.

A section is what an outline calls a leaf, or a page of a long one: every character of a document is in exactly one. A
chunk is a piece of one section, so that what was found can be named by its section, whichever system found it.
"""

import os
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from itertools import pairwise
from pathlib import Path

from course_lib.navigation.documents import read
from course_lib.navigation.outline import CHARACTERS_A_PAGE, Outline
from course_lib.navigation.tree import Leaf

LONG = 6000  # characters of a section that is still one place to look at: two pages
CHUNK = 1200  # characters: about 250 tokens, which the dense encoder still reads to the end
SEPARATOR = " > "
GENERATOR = '<meta name="generator" content="course_lib.evaluation">'  # what a report of a comparison is known by


@dataclass(frozen=True)
class Document:
    """A document that was read: its name (the path within the folder) and its outline."""

    name: str
    outline: Outline


@dataclass(frozen=True)
class Section:
    """A leaf of an outline, or a page of one. `id` is document#node, `path` the titles above it, its own last."""

    id: str
    path: tuple[str, ...]
    text: str
    document: str = ""
    node: str = ""


@dataclass(frozen=True)
class Chunk:
    """A piece of a section: its own id, the section's, the heading path, and the text."""

    id: str
    section: str
    path: tuple[str, ...]
    text: str

    @property
    def with_path(self) -> str:
        """The text with its heading path in front."""
        return f"{SEPARATOR.join(self.path)}\n{self.text}"


@dataclass(frozen=True)
class Unread:
    """A file that could not be read, or only in part, and why, in a sentence."""

    name: str
    why: str


@dataclass(frozen=True)
class Corpus:
    """What a folder held. `sections` and `chunks` are in the order of the documents."""

    documents: tuple[Document, ...]
    sections: tuple[Section, ...]
    chunks: tuple[Chunk, ...]
    unread: tuple[Unread, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def state(self) -> str:
        """A hash of what was read: results of an earlier run count only for the same texts."""
        whole = sha256()
        for chunk in self.chunks:
            whole.update(f"{chunk.id}\0{chunk.text}\0".encode("utf-8", "surrogatepass"))
        return whole.hexdigest()[:16]

    @property
    def pages(self) -> int:
        """How many pages the documents have that know their pages."""
        return sum(len(document.outline.page_starts) for document in self.documents)


class FolderError(ValueError):
    """A folder of documents that cannot be used; the message says why."""


def read_folder(
    folder: Path,
    chunk: int = CHUNK,
    *,
    leave_out: Iterable[Path] = (),
    told: Callable[[str], None] | None = None,
    reader: Callable[[Path], Outline] | None = None,
) -> Corpus:
    """Read every file below `folder`, or one file, in the order of the names.

    `told` is called with each name before it is read. What cannot be read is in `unread` with the reason, hidden files
    are named in `remarks`: nothing is left out in silence, but for the files in `leave_out` and reports of earlier
    comparisons. Raises FolderError where there is nothing there or nothing could be read.
    """
    if not folder.exists():
        raise FolderError(f"There is no folder {folder}. Give the path of a folder of documents.")
    root, unread, hidden = folder if folder.is_dir() else folder.parent, list[Unread](), list[str]()
    documents = list[Document]()
    apart = {path.resolve() for path in leave_out}
    for path in _files(folder, unread, hidden):
        name = path.relative_to(root).as_posix()
        if path.resolve() in apart or _is_our_report(path):
            continue
        if told:
            told(name)
        outline = _outline(path, name, reader or read_document, unread)
        if outline is not None:
            documents.append(Document(name, outline))
    if not documents:
        said = "".join(f"\n  {one.name}: {one.why}" for one in unread)
        raise FolderError(f"{folder} holds no document that could be read.{said}")
    remarks = [f"Hidden files were passed over: {', '.join(hidden[:5])}, {len(hidden)} in all."] if hidden else []
    return corpus_of(documents, chunk, unread, remarks)


def _files(folder: Path, unread: list[Unread], hidden: list[str]) -> list[Path]:
    """Return the files to read, in the order of their names; what is hidden or closed goes into the other lists."""
    if folder.is_file():
        return [folder]
    found = []

    def closed(error: OSError) -> None:
        name = Path(error.filename).relative_to(folder).as_posix() if error.filename else "?"
        unread.append(Unread(name, f"The folder cannot be opened ({error.strerror})."))

    for at, folders, files in os.walk(folder, onerror=closed):
        here = Path(at)
        names = [*files, *(name for name in folders if (here / name).is_symlink())]
        found += [here / name for name in names if not _is_hidden(name)]
        hidden += [(here / name).relative_to(folder).as_posix() for name in [*files, *folders] if _is_hidden(name)]
        folders[:] = [name for name in folders if not _is_hidden(name)]
    hidden.sort()
    return sorted(found, key=lambda path: path.as_posix())


def _is_hidden(name: str) -> bool:
    return name.startswith((".", "~$"))


def _is_our_report(path: Path) -> bool:
    """Say whether a file is a report of an earlier comparison: it holds the questions with their answers."""
    if path.suffix.lower() not in (".html", ".htm") or not path.is_file():
        return False
    with path.open("rb") as file:
        return GENERATOR.encode() in file.read(1000)


def _outline(path: Path, name: str, reader: Callable[[Path], Outline], unread: list[Unread]) -> Outline | None:
    if path.is_symlink():
        unread.append(Unread(name, "It is a link, and links are not followed: put the file itself into the folder."))
        return None
    try:
        outline = reader(path)
    except Exception as error:  # a damaged file may fail anywhere inside a reader
        unread.append(Unread(name, str(error) or type(error).__name__))
        return None
    if not outline.document.strip():
        unread.append(Unread(name, "It holds no text. If it is a scan, it needs text recognition first."))
        return None
    if blank := blank_pages(outline):
        unread.append(Unread(name, blank))
    return outline


def corpus_of(
    documents: Iterable[Document], chunk: int = CHUNK, unread: Iterable[Unread] = (), remarks: Iterable[str] = ()
) -> Corpus:
    """Return documents with their sections and chunks. Raises ValueError for a chunk below 100 characters."""
    if chunk < 100:
        raise ValueError(f"chunk is {chunk}, and a size of at least 100 characters is needed")
    listed = tuple(documents)
    sections = tuple(section for document in listed for section in sections_of(document))
    chunks = tuple(piece for section in sections for piece in chunks_of(section, chunk))
    flat = (f"{one.name} has no structure to go by: {one.outline.verdict}" for one in listed if one.outline.verdict)
    return Corpus(listed, sections, chunks, tuple(unread), (*remarks, *flat))


def sections_of(document: Document) -> list[Section]:
    """Return the leaves of a document's outline that hold text, with the titles above them.

    A leaf of more than two pages, and a document without structure, is cut by its pages, else into stretches of 3,000
    characters: were it one section, whatever was found in it would be right.
    """
    outline, found = document.outline, list[Section]()
    for leaf in outline.leaves():
        titles = [node.title for node in (*outline.parents(leaf.id), outline.node(leaf.id))]
        path = (document.name, *(titles if outline.verdict is None else []))
        for part, start, end in _parts(outline, leaf):
            text = outline.document[start:end].strip()
            if text:
                name = leaf.id if outline.verdict is None else ""
                id = f"{document.name}#{'/'.join(filter(None, (name, part)))}"
                found.append(Section(id, path, text, document.name, leaf.id))
    return found


def _parts(outline: Outline, leaf: Leaf) -> Iterator[tuple[str, int, int]]:
    """Give a leaf as it is, or page after page ("p3"), or piece after piece where there are no pages ("part3")."""
    if leaf.end - leaf.start <= LONG and outline.verdict is None:
        yield "", leaf.start, leaf.end
        return
    pages = [(f"p{n}", start) for n, start in enumerate(outline.page_starts, start=1)]
    inside = [(name, start) for name, start in pages if leaf.start < start < leaf.end]
    if pages:
        first = max(bisect_right(outline.page_starts, leaf.start), 1)
        cuts = [(f"p{first}", leaf.start), *inside]
    else:
        starts = _cuts(outline.document[leaf.start : leaf.end], CHARACTERS_A_PAGE)
        cuts = [(f"part{n}", leaf.start + start) for n, start in enumerate(starts, start=1)]
    for (name, start), (_, end) in pairwise([*cuts, ("", leaf.end)]):
        yield name, start, end


def chunks_of(section: Section, size: int = CHUNK) -> list[Chunk]:
    """Return a section in pieces of at most `size` characters, cut between paragraphs, else sentences, else words.

    >>> fees = Section("a#1", ("Fees",), "Due now.\\n\\nInterest runs. It is 12 %.")
    >>> [piece.text for piece in chunks_of(fees, size=16)]
    ['Due now.', 'Interest runs.', 'It is 12 %.']
    """
    cuts = [*_cuts(section.text, size), len(section.text)]
    pieces = [piece for start, end in pairwise(cuts) if (piece := section.text[start:end].strip())]
    ids = [section.id if len(pieces) == 1 else f"{section.id}/{number}" for number in range(1, len(pieces) + 1)]
    return [Chunk(id, section.id, section.path, text) for id, text in zip(ids, pieces, strict=True)]


_ENDS = (re.compile(r"\n\s*\n"), re.compile(r"(?<=[.;:?!])\s|\n"), re.compile(r"\s"))


def _cuts(text: str, size: int) -> Iterator[int]:
    """Give where each piece begins: where a paragraph ends in the second half of the piece before, else a sentence,
    else a word, else anywhere."""
    start = 0
    yield start
    while len(text) - start > size:
        ends = (_last_end(pattern, text, start + size // 2, start + size) for pattern in _ENDS)
        start = next((end for end in ends if end), start + size)
        yield start


def _last_end(pattern: re.Pattern[str], text: str, low: int, high: int) -> int:
    return max((found.end() for found in pattern.finditer(text, low, high)), default=0)


# --- One document -----------------------------------------------------------------------------------------------------


READ = (".pdf", ".docx", ".md", ".markdown", ".html", ".htm", ".txt", ".text", ".json")


def read_document(path: Path) -> Outline:
    """Read one document as an outline. Raises an exception whose text says why, where that is not possible."""
    if path.suffix.lower() not in READ:
        ending = repr(path.suffix) if path.suffix else "a name without an ending"
        raise ValueError(f"There is no reader for {ending}; there is one for {', '.join(READ)}.")
    if path.suffix.lower() not in (".pdf", ".docx") and _is_binary(path):
        raise ValueError("It is no text: it holds NUL bytes.")
    return read(path)


def _is_binary(path: Path) -> bool:
    with path.open("rb") as file:
        head = file.read(8192)
    return b"\0" in head and not head.startswith((b"\xff\xfe", b"\xfe\xff"))


def blank_pages(outline: Outline) -> str:
    """Return a sentence on the pages that hold no text, or "": they are pictures, and no search finds them."""
    bounds = pairwise([*outline.page_starts, len(outline.document)])
    blank = [str(n) for n, (start, end) in enumerate(bounds, start=1) if not outline.document[start:end].strip()]
    if not blank:
        return ""
    shown = ", ".join(blank[:10]) + (f" and {len(blank) - 10} more" if len(blank) > 10 else "")
    return f"{len(blank)} of {len(outline.page_starts)} pages hold no text and were not read: {shown}."
