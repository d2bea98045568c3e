"""How well outlines are read from documents that nobody here wrote: agreements as plain text, and PDFs with bookmarks.

    python -m benchmarks.navigation_outline --data FOLDER

FOLDER/contracts holds agreements as .txt, FOLDER/pdf documents as .pdf. Eight agreements of the CUAD collection were
read and labelled by hand: which sections and attachments a careful reader finds, and on which lines the printed table
of contents stands. The labels are ids and line numbers; an agreement without labels is measured without them.
"""

import argparse
import re
import textwrap
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.figures import ratio, table
from benchmarks.machine import facts
from course_lib.navigation.agreements import read_agreement
from course_lib.navigation.documents import decoded, read_pdf
from course_lib.navigation.formats import PAGEINDEX, PDF, READY, available
from course_lib.navigation.outline import Outline
from course_lib.navigation.pdf import from_pageindex, layout_tree, pages_of

AIM_SECTIONS, AIM_REFERENCES = 0.95, 0.90


@dataclass(frozen=True)
class Labels:
    """What a reader finds in one agreement: `sections` in short ("2.1-2.11"), and the lines of the printed contents."""

    sections: str
    contents: tuple[int, int] | None = None


LABELS = {  # by the beginning of the file's name
    "Antares": Labels(
        "1-12 1.1-1.5 2.1-2.10 3.1-3.10 4.1-4.6 5.1-5.5 6.1-6.6 7.1-7.7 8.1-8.6 9.1-9.4 11.1-11.2 12.1-12.8"
        " 12.1#2 12.2#2 12.3#2 12.4#2 12.5#2 A B C D E F G H I J K L"
    ),
    "CHANGEPOINT": Labels(
        "1-14 1.1-1.14 2.1-2.11 3.1-3.3 4.1-4.7 5.1-5.7 6.1-6.4 7.1-7.6 8.1-8.3 11.1-11.3 12.1-12.3 13.1-13.4"
        " 14.1-14.13 A A.1-A.4 B B.1 C D D.1-D.7 E E.1-E.6 F G G.1-G.9 G.1.1 G.2.1-G.2.3 G.3.1-G.3.3 G.4.1-G.4.3"
        " G.5.1-G.5.4 G.6.1-G.6.4 G.7.1-G.7.3 G.8.1-G.8.4 G.9.1-G.9.10 Appendix-A Appendix-A.1-Appendix-A.6"
    ),
    "Dova": Labels(
        "1-13 1.1-1.68 2.1-2.4 2.2.1-2.2.6 2.3.1-2.3.2 2.4.1-2.4.2 3.1-3.5 3.3.1-3.3.16 3.5.1-3.5.2 4.1-4.7 4.1.1-4.1.5"
        " 4.2.1-4.2.2 4.3.1-4.3.11 4.4.1-4.4.2 4.5.1-4.5.3 5.1-5.10 5.3.1-5.3.2 6.1-6.5 6.1.1-6.1.2 6.3.1-6.3.6"
        " 6.5.1-6.5.4 7.1-7.3 8.1-8.4 8.1.1-8.1.2 9.1-9.2 9.1.1-9.1.2 10.1-10.4 10.1.1-10.1.15 10.2.1-10.2.12"
        " 10.4.1-10.4.2 11.1-11.5 12.1-12.6 12.2.1-12.2.7 12.3.1-12.3.2 13.1-13.18 13.6.1-13.6.2 A Schedule-1.65"
        " Schedule-1.65.1-Schedule-1.65.2",
        (27, 237),
    ),
    "Fuelcell": Labels(
        "1-20 1.01 2.01-2.03 3.01-3.02 4.01-4.10 5.01-5.02 6.01-6.04 6.06-6.08 7.01 8.01-8.02 9.01-9.03 10.01-10.04"
        " 11.01-11.04 12.01-12.06 13.01-13.03 13.05 14.01-14.02 15.01 16.01 17.01-17.03 18.01-18.03 19.01-19.02"
        " 20.01-20.12 A B B.1-B.5",
        (19, 19),
    ),
    "ON2": Labels(
        "1-10 1.1-1.15 2.1-2.4 3.1-3.2 5.1-5.3 5.1.1-5.1.5 6.1-6.3 7.1-7.4 8.1-8.2 9.1-9.4 10.1-10.3 10.5-10.14"
        " A A.1-A.8 B"
    ),
    "SPI": Labels("1-10 1.1-1.9 2.1-2.5 3.1-3.2 4.1-4.2 5.1-5.2 6.1-6.4 7.1 8.1 9.1-9.2 10.1-10.15 A B C D D.1-D.4"),
    "TRANSPHORM": Labels(
        "1-11 1.1-1.4 1.6-1.50 2.1-2.2 2.1.1-2.1.7 2.2.1-2.2.2 3.1-3.4 3.3.1-3.3.3 4.1-4.9 4.4.1-4.4.6 4.7.1-4.7.30"
        " 5.1-5.10 5.2.1-5.2.2 5.5.1-5.5.3 6.1-6.3 7.1-7.8 7.1.1-7.1.5 7.3.1-7.3.2 7.5.1-7.5.2 7.6.1-7.6.2 8.1-8.2"
        " 9.1-9.4 9.1.1-9.1.7 9.2.1-9.2.7 9.3.1-9.3.4 9.4.1-9.4.3 10.1-10.2 10.2.1-10.2.3 11.1-11.19 11.3.1-11.3.2"
        " 11.4.1-11.4.3 11.15.1-11.15.7 A A.1-A.3 Appendix-1 Appendix-2",
        (29, 83),
    ),
    "VAPOTHERM": Labels(
        "1-14 1.1-1.3 2.1-2.2 3.1-3.8 4.1-4.7 5.1-5.4 6.1-6.4 7.1-7.4 8.1-8.3 9.1-9.5 10.1-10.6 11.1-11.2 12.1-12.4"
        " 13.1-13.4 13.4.1-13.4.2 14.1-14.14 A-1 A-2 B C D",
        (21, 89),
    ),
}
_RANGE = re.compile(r"(.*?)(\d+)-\1(\d+)")
# An independent count of what should be seen as a reference: a word and what follows it, and nothing subtle.
_PLAIN = re.compile(
    r"\b(?:Section|SECTION|Article|ARTICLE|Paragraph|Exhibit|EXHIBIT|Schedule|SCHEDULE|Appendix|APPENDIX)S?s?"
    r" (?:\d+(?:\.\d+)*|[A-Z]\b|[IVX]+\b)"
)


def written_out(sections: str) -> list[str]:
    """Return the ids that a label stands for.

    >>> written_out("1 2.9-2.11 A A.1-A.2 A-1 6.01-6.02")
    ['1', '2.9', '2.10', '2.11', 'A', 'A.1', 'A.2', 'A-1', '6.01', '6.02']
    """
    ids: list[str] = []
    for part in sections.split():
        found = _RANGE.fullmatch(part)
        if found is None or found.group(1).endswith("-"):
            ids.append(part)
            continue
        before, first, last = found.groups()
        width = len(first) if first.startswith("0") else 0
        ids += [f"{before}{number:0{width}}" for number in range(int(first), int(last) + 1)]
    return ids


def labels_of(path: Path) -> Labels | None:
    """Return the labels of a file that was read by hand."""
    return next((labels for name, labels in LABELS.items() if path.name.startswith(name)), None)


def starts_well(outline: Outline, id: str) -> bool:
    """Whether a node's text begins with its number: a node in the wrong place is no node."""
    number = id.split("#")[0].rpartition(".")[2].removeprefix("Appendix-").removeprefix("Schedule-")
    beginning = outline.text(id)[:40]
    return number in beginning or re.match(r"ARTICLE [IVX]+\b|Article [IVX]+\b", beginning) is not None


def in_contents(outline: Outline, lines: tuple[int, int] | None) -> list[str]:
    """Return the ids of nodes that begin on the lines of the printed table of contents."""
    if lines is None:
        return []
    first, last = (
        sum(len(line) for line in outline.document.splitlines(keepends=True)[:n]) for n in (lines[0] - 1, lines[1])
    )
    return [node.id for node in outline.walk() if first <= node.start < last and node.id != "front"]


def unseen(outline: Outline) -> tuple[int, int]:
    """Return how many plain references stand beside headings and printing, and how many of them were not seen."""
    heads = sorted(node.start for node in outline.walk())
    covered = [(found.start, found.end) for found in outline.references]
    count = missed = 0
    for match in _PLAIN.finditer(outline.document):
        at = match.start()
        if any(first <= at < last for first, last in outline.printing) or any(0 <= at - head < 80 for head in heads):
            continue
        count += 1
        missed += not any(first <= at < last for first, last in covered)
    return count, missed


def wrapped(text: str, width: int) -> str:
    """Return a text with its long lines wrapped, as an agreement looks that was typed or taken from a page."""
    lines = (textwrap.wrap(line, width, break_on_hyphens=False) or [""] for line in text.split("\n"))
    return "\n".join("\n".join(line) for line in lines)


# The same agreements set in other ways, so that a rule that fits the one file they came in shows.
SETTINGS: dict[str, Callable[[str], str]] = {
    "as they are": str,
    "wrapped at 76": lambda text: wrapped(text, 76),
    "wrapped at 40": lambda text: wrapped(text, 40),
    "no blank lines": lambda text: re.sub(r"\n\s*\n", "\n", text),
    "76, no blank lines": lambda text: re.sub(r"\n\s*\n", "\n", wrapped(text, 76)),
    "Section 1.1.": lambda text: re.sub(r"(?m)^([ ]*)(\d+\.\d+)[ .]*\s", r"\1Section \2. ", text),
    "Windows line ends": lambda text: text.replace("\n", "\r\n"),
}


def measured(text: str, labels: Labels | None, as_it_is: bool = True) -> Counter[str]:
    """Return the counts for one agreement; lines of the contents are known only for a text that is set as it was."""
    outline = read_agreement(text)
    wanted = written_out(labels.sections) if labels else []
    ids = set(outline.ids()) - {"front"}
    here = [reference for reference in outline.references if not reference.elsewhere]
    plain, missed = unseen(outline)
    return Counter(
        wanted=len(wanted), found=sum(id in ids and starts_well(outline, id) for id in wanted),
        extra=len(ids - set(wanted)) if labels else 0,
        contents=len(in_contents(outline, labels.contents)) if labels and as_it_is else 0,
        here=len(here), resolved=sum(bool(reference.targets) for reference in here),
        noted=sum(bool(reference.note) for reference in here),
        elsewhere=len(outline.references) - len(here), plain=plain, missed=missed,
    )  # fmt: skip


def times(text: str) -> str:
    """Return how long outline and references take, as a multiple of finding the words of the text; best of five."""
    ours = min(_seconds(lambda: read_agreement(text).references) for _ in range(5))
    return ratio(ours, min(_seconds(lambda: re.findall(r"\w+", text)) for _ in range(5)))


def _seconds(run: Callable[[], object]) -> float:
    began = time.perf_counter()
    run()
    return time.perf_counter() - began


def named_right(text: str) -> tuple[int, int]:
    """Return how many references are followed by a title ("12.03 (Failure to Perform)"), and how many lead to it.

    This is the document's own word on where a reference leads, and no label is needed for it. Titles are quoted
    freely, so half of the words must stand in the title of the node or of one that it lies in.
    """
    outline = read_agreement(text)
    count = right = 0
    for reference in outline.references:
        title = re.search(r"\(([A-Z][^()]{4,80})\)?$", text[reference.start : reference.end])
        if title and not reference.elsewhere:
            count += 1
            words = _words(title.group(1))
            nodes = [node for id in reference.targets for node in (outline.node(id), *outline.parents(id))]
            right += any(len(words & _words(node.title)) >= len(words) / 2 for node in nodes)
    return count, right


def _words(title: str) -> set[str]:
    return {word.rstrip("s") for word in re.findall(r"\w+", title.casefold())}


def _cells(counts: Counter[str], labelled: bool) -> list[str]:
    sections = [_share(counts["found"], counts["wanted"]), str(counts["extra"]), str(counts["contents"])]
    references = [_share(counts["resolved"], counts["here"]), str(counts["noted"]), str(counts["elsewhere"])]
    seen = _share(counts["plain"] - counts["missed"], counts["plain"])
    return [*(sections if labelled else ["–"] * 3), *references, seen]


def _share(part: int, of: int) -> str:
    return f"{part}/{of} = {part / of:.1%}" if of else "–"


def agreements(folder: Path) -> str:
    """Measure the plain-text agreements, each and then all of them in other settings, and return the table."""
    texts = {path: decoded(path.read_bytes()) for path in sorted(folder.glob("*.txt"))}
    rows = []
    for path, text in texts.items():
        labels = labels_of(path)
        rows.append([path.name[:18], *_cells(measured(text, labels), bool(labels)), times(text)])
    for name, setting in SETTINGS.items():
        total = Counter[str]()
        for path, text in texts.items():
            total.update(measured(setting(text), labels_of(path), setting is str))
        rows.append([f"all, {name}", *_cells(total, setting is str or total["wanted"] > 0), ""])
    heads = [
        "agreement", f"sections found (aim {AIM_SECTIONS:.0%})", "nodes too many", "from contents",
        f"references resolved (aim {AIM_REFERENCES:.0%})", "inexact", "elsewhere", "plain ones seen", "time",
    ]  # fmt: skip
    counts = [named_right(text) for text in texts.values()]
    said = _share(sum(right for _, right in counts), sum(count for count, _ in counts))
    return f"{table(heads, rows)}\nReferences that name a title, and lead to the node of that title: {said}"


def pdf_rows(path: Path) -> Iterator[list[str]]:
    """Give the rows of one PDF: its bookmarks beside pypdf's own list, and PageIndex's layout tree of it."""
    from pypdf import PdfReader

    began = time.perf_counter()
    outline = read_pdf(path)
    ours = time.perf_counter() - began
    reader = PdfReader(path)
    wanted = list(_bookmarks(reader, reader.outline))
    nodes = [(node.title, node.pages[0] if node.pages else 0) for node in outline.walk()]
    both = sum((Counter(wanted) & Counter(nodes)).values())
    opens = sum(
        _begins_with(outline.document[node.start :], node.title) for node in outline.walk() if node.id != "front"
    )
    count = f"{len(reader.pages)} pages"
    yield [
        path.name[:24],
        count,
        "bookmarks",
        str(len(nodes)),
        _share(both, len(wanted)),
        _share(opens, len(wanted)),
        "1",
    ]
    if available()[PAGEINDEX] != READY:
        return
    pages, _ = pages_of(reader)
    for name, bookmarks in (("PageIndex, bookmarks and layout", True), ("PageIndex, layout alone", False)):
        began = time.perf_counter()
        tree = layout_tree(path, bookmarks)
        seconds = time.perf_counter() - began
        theirs = from_pageindex(tree, pages)
        placed = [(_folded(node.title), node.pages[0] if node.pages else 0) for node in theirs.walk()]
        both = sum((Counter((_folded(title), page) for title, page in wanted) & Counter(placed)).values())
        yield [path.name[:24], count, name, str(len(placed)), _share(both, len(wanted)), "", ratio(seconds, ours)]


def _bookmarks(reader: Any, items: Iterable[Any]) -> Iterator[tuple[str, int]]:
    """Give pypdf's own list: every bookmark's title and page, counted from 1."""
    for item in items:
        if isinstance(item, list):
            yield from _bookmarks(reader, item)
        else:
            yield str(item.title).strip(), reader.get_destination_page_number(item) + 1


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def _begins_with(text: str, title: str) -> bool:
    return re.sub(r"\W", "", text[: len(title) + 40].casefold()).startswith(re.sub(r"\W", "", title.casefold()))


def pdfs(folder: Path) -> str:
    """Measure the PDFs and return the table, or the sentence that says what is missing."""
    if available()[PDF] != READY:
        return available()[PDF]
    rows = [row for path in sorted(folder.glob("*.pdf")) for row in pdf_rows(path)]
    heads = ["document", "size", "tree", "nodes", "bookmarks with page", "begin at their title", "time"]
    note = "" if available()[PAGEINDEX] == READY else f"\nPageIndex is not beside it. {available()[PAGEINDEX]}"
    return table(heads, rows) + note


def report(folder: Path) -> str:
    """Measure a folder of data and return its tables."""
    return f"{agreements(folder / 'contracts')}\n\n{pdfs(folder / 'pdf')}"


def main() -> None:
    """Print the tables for the folder that the command names."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.navigation_outline")
    parser.add_argument("--data", type=Path, required=True, metavar="FOLDER", help="a folder with contracts/ and pdf/")
    print(f"{facts()}\n{report(parser.parse_args().data)}")


if __name__ == "__main__":
    main()
