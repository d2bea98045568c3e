"""What a plain text shows of the paper it was on: lines, page numbers, headers and footers, a table of contents.

All of it stays in the document. But none of it is a heading, and what it names is no reference.
"""

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from course_lib.navigation.labels import key, label_of
from course_lib.navigation.tree import Span

REPEATS = 3  # a line that stands this often is printing: a header, a footer, a notice on each page
_PAGE_NUMBER = re.compile(r"[\W_]*(?:page\s*)?(?:[ivxl]{1,6}|\d{1,4})(?:\s*of\s*\d{1,4})?[\W_]*", re.IGNORECASE)
_CONTENTS = re.compile(r"\s*(?:TABLE\s+OF\s+CONTENTS|Table\s+of\s+Contents|CONTENTS|Contents|INDEX)\b")
_LINE_END = re.compile(r"\r\n|[\r\n\f]")
_FOOTER = re.compile(r"\[(?:Exhibit|Schedule|Annex|Appendix) [A-Z0-9-]+ to\b[^\]]*\]", re.IGNORECASE)
_ENTRY_END = re.compile(r"(?:[.\s\u2026_]*\s|\.{3,})(?:[ivxl]{1,6}|[A-Z]?-?\d{1,4})[\W_]*$")
_WORDED = re.compile(r"\b(?:Article|ARTICLE|Section|SECTION)[ \t]+([IVXLC]+|\d{1,3}(?:\.\d{1,3})*)\b")
_NUMBERED = re.compile(r"(?<![\w.$])\d{1,3}(?:\.\d{1,3})+(?![\w.%])")
_SENTENCE_END = re.compile(r"[.;:,]$")


class Line(NamedTuple):
    """A line of the document: where it begins and ends, its text without blanks around, and what printing it is."""

    start: int
    end: int
    text: str
    after_blank: bool


# --- Lines ------------------------------------------------------------------------------------------------------


def lines_of(text: str) -> list[Line]:
    """Return the lines of a text that are not blank; a line ends at any line end and at a form feed."""
    lines: list[Line] = []
    for found in re.finditer(r"[^\r\n\f]+", text):
        if stripped := found.group().strip():
            between = text[lines[-1].end : found.start()] if lines else "\n\n"
            lines.append(Line(found.start(), found.end(), stripped, len(_LINE_END.findall(between)) > 1))
    return lines


def printed_lines(lines: Sequence[Line]) -> set[int]:
    """Return which lines are the paper's and not the matter's: page numbers, and what stands on page after page."""
    counts = Counter(line.text for line in lines)
    pages = _page_footers(lines)
    repeated = {text for text, count in counts.items() if count >= REPEATS and not _is_bare_label(text)}
    return {
        at
        for at, line in enumerate(lines)
        if line.text in repeated
        or at in pages
        or _PAGE_NUMBER.fullmatch(line.text[:60])
        or _FOOTER.fullmatch(line.text)
    }


def _is_bare_label(text: str) -> bool:
    label = label_of(text)
    return label is not None and label.kind != "section"


def _page_footers(lines: Sequence[Line]) -> set[int]:
    """Return the lines that number the pages of an exhibit: "Exhibit C-2", below the heading "EXHIBIT C"."""
    opened, footers = set(), set()
    for at, line in enumerate(lines):
        label = label_of(line.text.strip("- ")) if len(line.text) <= 40 else None
        if label and label.kind == "attachment" and not label.rest:
            above, _, page = label.number.rpartition("-")
            if page.isdecimal() and (label.word.lower(), above) in opened:
                footers.add(at)
            opened.add((label.word.lower(), label.number))
        elif (label := label_of(line.text)) and label.kind == "attachment":
            opened.add((label.word.lower(), label.number))
    return footers


# --- The printed table of contents ------------------------------------------------------------------------------


def contents_of(lines: Sequence[Line], printed: set[int]) -> tuple[int, int] | None:
    """Return the first line of the printed table of contents and the one behind it, None where none is printed.

    It goes on as long as lines read like entries: they end in a page number, are short, or name sections not named
    before. The body begins with the first number that comes for the second time, or with prose.
    """
    begin = next((at for at, line in enumerate(lines) if _CONTENTS.match(line.text)), None)
    if begin is None or not _lists_sections(lines, begin):
        return None
    seen = set(_named(lines[begin].text))
    end = begin + 1
    for at in range(begin + 1, len(lines)):
        line = lines[at]
        if at in printed or _CONTENTS.match(line.text):
            continue
        named = _named(line.text)
        entry = _ENTRY_END.search(line.text[-60:]) is not None
        if not entry and (seen.intersection(named) or _is_prose(lines, at)):
            break
        seen.update(named)
        end = at + 1 if named or entry else end
    return begin, end


def _named(text: str) -> list[tuple[int | str, ...]]:
    """Return the numbers of all sections that a line of the contents names; several entries may share a line."""
    named = [key(number) for number in (*_WORDED.findall(text), *_NUMBERED.findall(text))]
    if label := label_of(text):
        named.append(label.key if label.kind != "attachment" else (label.word.lower(), *label.key))
    return named


def _lists_sections(lines: Sequence[Line], begin: int) -> bool:
    following = [line.text for line in lines[begin : begin + 30]]
    return sum(len(_WORDED.findall(text)) + (label_of(text) is not None) for text in following) >= REPEATS


def _is_prose(lines: Sequence[Line], at: int) -> bool:
    """Whether a paragraph begins here that no table of contents holds: long or a sentence, without a page number."""
    paragraph = [lines[at].text]
    while at + len(paragraph) < len(lines) and len(paragraph) < 6 and not lines[at + len(paragraph)].after_blank:
        paragraph.append(lines[at + len(paragraph)].text)
    if any(_ENTRY_END.search(text[-60:]) for text in paragraph):
        return False
    length = sum(map(len, paragraph))
    return length > 200 or (length > 80 and _SENTENCE_END.search(paragraph[-1]) is not None)


def spans_of(lines: Sequence[Line], left_out: set[int]) -> list[Span]:
    """Return lines as spans of characters, neighbours joined."""
    spans: list[Span] = []
    for at in sorted(left_out):
        start, end = lines[at].start, lines[at].end
        if spans and spans[-1][1] == start:
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    return spans
