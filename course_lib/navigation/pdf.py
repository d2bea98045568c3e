"""Outlines of PDFs (extra `documents`): by bookmarks, else by PageIndex's layout tree (extra `pageindex`).

A bookmark says a page and perhaps how far down; where its title stands on that page is looked up in the text.
"""

import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from course_lib.navigation.agreements import read_agreement
from course_lib.navigation.formats import PAGEINDEX, PDF, DocumentError, Entry, called, missing, require, with_ids
from course_lib.navigation.outline import Outline, build
from course_lib.navigation.tree import Problem


def read_pdf(source: Path | bytes, title: str = "", layout: bool = True) -> Outline:
    """Return the outline of a PDF by its bookmarks, with the pages they point to.

    Where there are none that tell anything, PageIndex's layout tree is taken where it is installed (and `layout` is
    true), then numbered headings in the text, else a verdict. The document is the text of its pages, each ended by a
    form feed; rows of tables are lines of it. Raises DocumentError for a file that is no PDF or is locked, or where
    pypdf is missing.
    """
    reader = _open_pdf(source)
    pages, starts = pages_of(reader)
    document = "".join(pages)
    entries, remarks = bookmarks(reader)
    entries, more = placed(entries, pages, starts)
    remarks += [*more, *_printed_numbers(pages)]
    name = title or _pdf_title(reader)
    by_bookmarks = build(document, with_ids(entries), name, starts, (), remarks)
    if by_bookmarks.verdict is None or not document.strip():
        return by_bookmarks
    if layout and not missing(PAGEINDEX):
        by_layout = from_pageindex(layout_tree(source), pages, name)
        if by_layout.verdict is None:
            return by_layout
    numbered = read_agreement(document, name, starts)
    if numbered.verdict is None:
        return replace(numbered, remarks=tuple(remarks))
    hint = f" {missing(PAGEINDEX)}" if layout and missing(PAGEINDEX) else ""
    return replace(by_bookmarks, verdict=f"{by_bookmarks.verdict}{hint}")


def _open_pdf(source: Path | bytes) -> Any:
    require(PDF)
    from pypdf import PdfReader

    try:
        reader = PdfReader(io.BytesIO(source) if isinstance(source, bytes) else source)
        len(reader.pages)  # a locked or broken file shows here
    except Exception as error:  # pypdf lets through many kinds, its own and Python's
        raise DocumentError(
            f"{called(source)} cannot be read as PDF ({error}). Is it whole, and without password?"
        ) from error
    return reader


def _pdf_title(reader: Any) -> str:
    try:
        return str(reader.metadata.title or "").strip() if reader.metadata else ""
    except Exception:  # a broken information dictionary is no reason not to read the pages
        return ""


def pages_of(reader: Any) -> tuple[list[str], list[int]]:
    """Return the text of each page of pypdf's reader, ended by a form feed, and where each begins in all of them."""
    pages, starts, at = [], [], 0
    for page in reader.pages:
        try:
            text = page.extract_text()
        except Exception:  # one page that cannot be decoded does not cost the others
            text = ""
        pages.append(text.replace("\f", "\n") + "\n\f")
        starts.append(at)
        at += len(pages[-1])
    return pages, starts


def bookmarks(reader: Any) -> tuple[list[Entry], list[Problem]]:
    """Return the bookmarks of pypdf's reader in order, with depth and page, and what is wrong with them."""
    try:
        tree = reader.outline
    except Exception as error:
        return [], [Problem("source", (), f"The bookmarks of this PDF are broken ({error}).")]
    return list(_flat(reader, tree, 1)), []


def _flat(reader: Any, items: Iterable[Any], level: int) -> Iterator[Entry]:
    for item in items:
        if isinstance(item, list):
            yield from _flat(reader, item, level + 1)
        else:
            page, down = _destination(reader, item)
            yield Entry(
                re.sub(r"[\s\0]*[\r\n\t\f\v\0][\s\0]*", " ", str(item.title or "")).strip(), level, 0, page, down
            )


def _destination(reader: Any, item: Any) -> tuple[int | None, float | None]:
    """Return the page of a bookmark (from 1) and the share of it that lies above; None for what is not said."""
    try:
        number = reader.get_destination_page_number(item)
        if number is None or number < 0:
            return None, None
        box = reader.pages[number].mediabox
        down = 1 - (float(item.top) - float(box.bottom)) / float(box.height)
        return number + 1, min(1.0, max(0.0, down))
    except (TypeError, ValueError, ZeroDivisionError):
        return number + 1, None
    except Exception:  # a bookmark to a page that is not there
        return None, None


def placed(entries: Iterable[Entry], pages: Sequence[str], starts: Sequence[int]) -> tuple[list[Entry], list[Problem]]:
    """Give entries with a page their character: where the title stands on that page, or as far down as the entry says.

    An entry without a page in the document is left out and an untitled one is named by what stands there; both are
    said, as is one that points back.
    """
    found: list[Entry] = []
    problems: list[Problem] = []
    for entry in entries:
        if entry.page is None or not 1 <= entry.page <= len(pages):
            where = "no page" if entry.page is None else f"page {entry.page} of {len(pages)}"
            problems.append(Problem("source", (), f"{entry.title!r} points to {where} and is left out."))
            continue
        before = found[-1] if found else None
        if before and before.page and entry.page < before.page:
            told = f"{entry.title!r} on page {entry.page} comes after {before.title!r} on page {before.page}."
            problems.append(Problem("source", (), told))
        floor = before.start - starts[entry.page - 1] if before and before.page == entry.page else 0
        at = _on_page(entry, pages[entry.page - 1], max(0, floor))
        title = entry.title or _named_by(pages[entry.page - 1][at:])
        if not entry.title:
            problems.append(Problem("source", (), f"A bookmark to page {entry.page} has no title; named {title!r}."))
        found.append(replace(entry, title=title, start=starts[entry.page - 1] + at))
    return found, problems


def _on_page(entry: Entry, page: str, floor: int) -> int:
    """Return where on a page an entry begins, not before `floor`, where the entry before it does."""
    guess = _line_start(page, round((entry.down or 0) * len(page)))
    words = [re.escape(word) for word in entry.title.split()[:12]]
    hits = re.finditer(r"\s+".join(words), page, re.IGNORECASE) if words else iter(())
    starts = [found.start() for found in hits if found.start() >= floor]
    at_line_start = [at for at in starts if at == 0 or page[at - 1] in "\r\n"]
    nearest = min(at_line_start or starts, key=lambda at: abs(at - guess), default=guess)
    return min(max(nearest, floor), len(page) - 1)


def _line_start(page: str, at: int) -> int:
    return page.rfind("\n", 0, max(0, min(at, len(page) - 2))) + 1


def _named_by(text: str) -> str:
    line = re.search(r"\S[^\r\n\f]{0,59}", text)
    return f"(untitled) {line.group().strip()}" if line else "(untitled)"


def _printed_numbers(pages: Sequence[str]) -> list[Problem]:
    """Say so where the numbers printed on the pages differ from the places of the pages in the file."""
    shifts: Counter[int] = Counter()
    for number, page in enumerate(pages, start=1):
        lines = [line.strip() for line in page.strip().splitlines()] or [""]
        edges = {number for line in (lines[0], lines[-1]) for number in re.findall(r"^\d{1,4}\b|\b\d{1,4}$", line)}
        shifts.update({number - int(printed) for printed in edges})
    shift, count = shifts.most_common(1)[0] if shifts else (0, 0)
    if shift == 0 or count < max(3, len(pages) / 2):
        return []
    told = f"Page {max(1, shift) + 9} of the file is printed as page {max(1, shift) + 9 - shift}"
    return [Problem("source", (), f"{told}, on {count} of {len(pages)} pages. Outlines count pages of the file.")]


# --- PageIndex --------------------------------------------------------------------------------------------------


def layout_tree(source: Path | bytes, bookmarks: bool = True) -> dict[str, Any]:
    """Return PageIndex's tree of a PDF from its layout, made without a model: {"structure": [{"title", …}]}.

    With `bookmarks` it takes those of the file into account, where they seem sound to it.
    Raises DocumentError where the package is missing or cannot read the file.
    """
    require(PAGEINDEX)
    from pageindex import page_index_flash

    try:
        given = io.BytesIO(source) if isinstance(source, bytes) else str(source)
        return dict(page_index_flash(given, summary=False, optimize=False, use_embedded_toc=bookmarks))
    except Exception as error:
        raise DocumentError(f"PageIndex cannot read {called(source)} ({error}).") from error


def from_pageindex(tree: Any, pages: Sequence[str] = (), title: str = "") -> Outline:
    """Return the outline of PageIndex's JSON, with the text of the pages where it is given.

    `tree` is a list of nodes, or an object that holds one as "structure" or "result"; a node has "title",
    "start_index" and "end_index" (pages from 1), perhaps "summary", "text" and "nodes". Without `pages` the document
    is what the nodes bring themselves: text, else summary, else title. Raises DocumentError for anything else.
    """
    holder = tree if isinstance(tree, dict) else {"structure": tree}
    nodes = holder.get("structure", holder.get("result"))
    if not isinstance(nodes, list):
        raise DocumentError('This is no tree of PageIndex: expected a list of nodes, or an object with "structure".')
    told = title or str(holder.get("doc_title") or holder.get("doc_name") or "")
    problems: list[Problem] = []
    entries = list(_pageindex_entries(nodes, 1, problems))
    if not pages:
        return _from_their_own_text(entries, told, problems)
    starts = [0]
    for page in pages[:-1]:
        starts.append(starts[-1] + len(page))
    found, more = placed([entry for entry, _ in entries], pages, starts)
    return build("".join(pages), with_ids(found), told, starts, (), [*problems, *more])


def _pageindex_entries(nodes: Iterable[Any], level: int, problems: list[Problem]) -> Iterator[tuple[Entry, str]]:
    """Give each node of the tree as an entry, with its own text. A node for the pages before the children is none."""
    for node in nodes:
        if not isinstance(node, dict):
            raise DocumentError(f"This is no tree of PageIndex: a node is {type(node).__name__}, expected an object.")
        title = " ".join(str(node.get("title") or "").split())
        first, last = (_whole_number(node.get(name)) for name in ("start_index", "end_index"))
        if first is not None and last is not None and last < first:
            problems.append(Problem("backwards", (), f"{title!r} runs from page {first} back to page {last}."))
        if not title.endswith(" (intro)"):
            summary = node.get("summary") or node.get("prefix_summary")
            text = str(node.get("text") or summary or title)
            yield Entry(title, level, 0, first, None, str(summary) if summary else None), text
        inner = node.get("nodes") or []
        yield from _pageindex_entries(inner if isinstance(inner, list) else [inner], level + 1, problems)


def _whole_number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _from_their_own_text(entries: Sequence[tuple[Entry, str]], title: str, problems: Sequence[Problem]) -> Outline:
    pieces, found, at = [], [], 0
    for entry, text in entries:
        found.append(replace(entry, title=entry.title or "(untitled)", start=at))
        pieces.append(f"{text}\n\n")
        at += len(pieces[-1])
    return build("".join(pieces), with_ids(found), title, (), (), problems)
