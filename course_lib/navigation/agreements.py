"""The outline of an agreement that is nothing but text: articles, numbered sections, schedules, exhibits, appendices.

Nothing marks a heading in plain text but its number, and numbers begin many lines that are no headings: lists, wrapped
references, rows of tables, and a printed table of contents, which names every section before it comes. So a number
counts as a section only where it follows from the one before, as it would for a reader: 7.3 after 7.2, 8 after 7.3.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from course_lib.navigation.labels import Label, key, label_of
from course_lib.navigation.outline import Outline, build
from course_lib.navigation.printing import Line, contents_of, lines_of, printed_lines, spans_of
from course_lib.navigation.tree import Heading

LONGEST_WRAPPED = 130  # characters; a longer line is a paragraph by itself, so that what follows is a new one
LONGEST_HEADING = 120  # characters; a heading with its section's text behind it on the same line may be longer
_STOPS = (".", ";", ":", "!", "?", ")", "”", '"')
_INLINE = r"(?<=[.;:\])”\"]\s){number}[. \t]+(?=[A-Z\[\"“])"


@dataclass(frozen=True)
class Candidate:
    """A line that begins as a heading does."""

    line: int
    label: Label

    @property
    def number(self) -> tuple[int | str, ...]:
        """The number as it is compared: (7, 3)."""
        return self.label.key


# --- Candidates -------------------------------------------------------------------------------------------------


def candidates_of(lines: Sequence[Line], left_out: set[int]) -> list[Candidate]:
    """Return the lines that begin like headings and stand like headings."""
    found = []
    widths = sorted(len(line.text) for line in lines)
    full = 0.6 * min(100, widths[len(widths) * 9 // 10]) if widths else 0  # a shorter line ends its paragraph
    for at, line in enumerate(lines):
        label = label_of(line.text[:400]) if at not in left_out else None
        if label and _stands_alone(lines, at, label, left_out, full):
            found.append(Candidate(at, label))
    return found


def _stands_alone(lines: Sequence[Line], at: int, label: Label, left_out: set[int], full: float) -> bool:
    """Whether a line can be a heading where it stands: not the wrapped end of a sentence, and not too long for one."""
    line = lines[at]
    if label.kind != "section" and (len(line.text) > LONGEST_HEADING or line.text.endswith((",", ";"))):
        return False
    if label.kind == "attachment" and re.search(r"\b(?:Exhibit|Schedule|Annex|Appendix) [A-Z0-9]\b", label.rest):
        return False
    before = lines[at - 1].text if at else ""
    above = label_of(before)
    heading_above = before.isupper() or (above is not None and above.kind != "section")
    if line.after_blank or at - 1 in left_out or heading_above:
        return True
    ended = before.endswith((*_STOPS, "; and", "; or", ", and", ", or")) or len(before) > LONGEST_WRAPPED
    return ended or (len(before) < full and not label.rest[:1].islower())


# --- Which of them follow ---------------------------------------------------------------------------------------


@dataclass
class Reader:
    """A reader's place in the document: the attachment they are in, and the last number they saw in it."""

    later: Counter[tuple[int | str, ...]]
    articles: bool
    scope: str = ""
    last: tuple[int, ...] = ()
    refused: tuple[int | str, ...] = ()
    ids: set[str] = field(default_factory=set)

    def takes(self, number: tuple[int | str, ...], label: Label) -> bool:
        """Whether a section of this number can come next."""
        numbers = tuple(part for part in number if isinstance(part, int))
        if len(numbers) != len(number) or not numbers:
            return False
        if label.kind == "section" and not label.word and len(numbers) == 1:
            in_list = self.refused[:-1] == () and self.refused == (numbers[0] - 1,)
            if self.articles or in_list:
                return False
        return follows(self.last, numbers, self.later)


def follows(last: tuple[int, ...], number: tuple[int, ...], later: Counter[tuple[int | str, ...]]) -> bool:
    """Whether `number` comes after `last` as sections do: deeper, next, or next of what lies above.

    A number may be missing in between, but not when it comes later: then this one is a reference, wrapped to the
    beginning of a line.

    >>> [follows((7, 3), number, Counter()) for number in [(7, 4), (8,), (7, 3, 1), (7, 5), (2, 1)]]
    [True, True, True, True, False]
    >>> follows((7, 3), (7, 5), Counter([(7, 4)]))
    False
    """
    shorter = min(len(last), len(number))
    same = next((at for at in range(shorter) if last[at] != number[at]), shorter)
    before = last[same] if same < len(last) else 0
    rest = number[same:]
    if not rest or len(rest) > 2 or (len(rest) == 2 and rest[1] > 1):
        return False
    step = rest[0] - before
    if same == len(last) and rest[0] == 0:
        return len(rest) == 1  # 3.0 opens chapter 3
    if not 1 <= step <= (4 if last else 1):
        return False
    return all(later[(*number[:same], missing)] == 0 for missing in range(before + 1, rest[0]))


def headings_of(lines: Sequence[Line], left_out: set[int]) -> list[Heading]:
    """Return the headings of the body and of each attachment, in order."""
    found = candidates_of(lines, left_out)
    attachments = _attachments(found)
    articled = _with_articles(found, attachments)
    later = _counted(found, attachments)
    reader = Reader(later[-1], -1 in articled)
    headings: list[Heading] = []
    for at, candidate in enumerate(found):
        label, number = candidate.label, candidate.number
        if label.kind == "attachment":
            if candidate.line in attachments:
                headings.append(_attachment(lines, candidate, left_out, reader))
                reader.articles, reader.later = candidate.line in articled, later[candidate.line]
            continue
        reader.later[number] -= 1
        if reader.takes(number, label) or _starts_over(reader, found, at):
            reader.last = tuple(part for part in number if isinstance(part, int))
            reader.refused = ()
            headings.append(_section(lines, candidate, left_out, reader))
        else:
            reader.refused = number
    return headings


def _counted(found: Sequence[Candidate], attachments: set[int]) -> dict[int, Counter[tuple[int | str, ...]]]:
    """Return how often each number comes, for each attachment by its line; -1 stands for the body."""
    inside, counts = -1, {-1: Counter[tuple[int | str, ...]]()}
    for candidate in found:
        if candidate.line in attachments:
            inside = candidate.line
            counts[inside] = Counter()
        elif candidate.label.kind != "attachment":
            counts[inside][candidate.number] += 1
    return counts


def _with_articles(found: Sequence[Candidate], attachments: set[int]) -> set[int]:
    """Return which attachments, by their line, are divided into articles; -1 stands for the body."""
    articled, inside = set(), -1
    for candidate in found:
        if candidate.line in attachments:
            inside = candidate.line
        elif candidate.label.kind == "article":
            articled.add(inside)
    return articled


def _starts_over(reader: Reader, found: Sequence[Candidate], at: int) -> bool:
    """Whether the numbers of a chapter begin again, as after a slip of the pen: 12.1 to 12.5, then 12.1 to 12.8."""
    number, last = found[at].number, reader.last
    following = found[at + 1].number if at + 1 < len(found) else ()
    again = len(number) > 1 and len(number) == len(last) and number[:-1] == last[:-1] and number[-1] == 1
    return again and following == (*number[:-1], 2) and bool(re.match(r"[A-Z]\w+[^.]{0,60}\.", found[at].label.rest))


def _attachments(found: Sequence[Candidate]) -> set[int]:
    """Return the lines that open an attachment: not the document's own label at its top, and not a list of exhibits.

    In a list an exhibit is named, others follow, and it comes again; a header on its pages comes again at once. Where
    the sections around a line go on counting, it is the wrapped end of a sentence.
    """
    first = next((one.line for one in found if one.label.kind != "attachment"), -1)
    named = [
        ((one.label.word.lower(), one.label.key), one.line)
        for at, one in enumerate(found)
        if one.label.kind == "attachment" and one.line > first and not _counting_goes_on(found, at)
    ]
    last = {name: at for at, (name, _) in enumerate(named)}
    opening: dict[tuple[str, tuple[int | str, ...]], int] = {}
    for at, (name, line) in enumerate(named):
        again_at_once = at + 1 < len(named) and named[at + 1][0] == name
        if last[name] == at or again_at_once:
            opening.setdefault(name, line)
    return set(opening.values())


def _counting_goes_on(found: Sequence[Candidate], at: int) -> bool:
    """Whether the section after a line is the next of the one before it, and not the first of an attachment."""
    around = []
    for way in (range(at - 1, max(-1, at - 20), -1), range(at + 1, min(len(found), at + 20))):
        numbers = (found[n].number for n in way if found[n].label.kind != "attachment")
        around.append(tuple(part for part in next(numbers, ()) if isinstance(part, int)))
    before, after = around
    return bool(before) and set(after) != {1} and follows(before, after, Counter())


def _attachment(lines: Sequence[Line], candidate: Candidate, left_out: set[int], reader: Reader) -> Heading:
    label = candidate.label
    named = f"{label.word.title()}-{label.number}"
    id = label.number if label.number[0].isalpha() and label.number not in reader.ids else named
    reader.scope, reader.last, reader.refused = id, (), ()
    reader.ids.add(id)
    return Heading(id, _title(lines, candidate, left_out), 1, lines[candidate.line].start)


def _section(lines: Sequence[Line], candidate: Candidate, left_out: set[int], reader: Reader) -> Heading:
    number = ".".join(map(str, reader.last)) if candidate.label.kind == "article" else candidate.label.number
    number = number if number[0].isdecimal() else ".".join(map(str, reader.last))
    id = f"{reader.scope}.{number}" if reader.scope else number
    reader.ids.add(id)
    level = len(reader.last) + (1 if reader.scope else 0)
    return Heading(id, _title(lines, candidate, left_out), level, lines[candidate.line].start)


# --- Titles -----------------------------------------------------------------------------------------------------


def _title(lines: Sequence[Line], candidate: Candidate, left_out: set[int]) -> str:
    """Return a heading's title: the rest of its line up to the first sentence, or the line below a bare label."""
    label = candidate.label
    rest = label.rest or _line_below(lines, candidate.line, left_out)
    if label.kind == "section" and not label.word:
        return shortened(rest) or label.number
    return f"{label.printed}: {shortened(rest)}" if rest else label.printed


def _line_below(lines: Sequence[Line], at: int, left_out: set[int]) -> str:
    below = next((n for n in range(at + 1, min(at + 5, len(lines))) if n not in left_out), None)
    if below is None or label_of(lines[below].text) or len(lines[below].text) > LONGEST_HEADING:
        return ""
    text = lines[below].text
    return "" if text.endswith((",", ";")) or (text.endswith(".") and len(text) > 60) else text


def shortened(text: str, longest: int = 80) -> str:
    """Return the title that a section's first line holds: a quoted term, up to the first stop, or its first words.

    >>> shortened('Late payment. Interest accrues daily.'), shortened('"Fees" means the sums due.')
    ('Late payment', 'Fees')
    """
    text = " ".join(text[:400].split())
    if term := re.match(r"[\"“]([^\"“”]{1,60})[\"”]", text):
        return term.group(1).rstrip(",.")
    stop = re.search(r"(?<=[\w)\]\"”’])(?<!\.[A-Z])(?:[.:](?=\s|$)|\s[-\u2013\u2014]\s)", text)
    title = text[: stop.start()] if stop and stop.start() <= longest else text
    if len(title) <= longest:
        return title
    return title[:60].rsplit(" ", 1)[0].rstrip(",;") + " …"


# --- Sections inside a line -------------------------------------------------------------------------------------


def _missing_inside(text: str, headings: Sequence[Heading]) -> list[Heading]:
    """Return sections that begin in the middle of a line, where a number is missing between two headings: 3.2, 3.4."""
    found = []
    for head, after in pairwise(headings):
        first, second = key(head.id.split("#")[0]), key(after.id.split("#")[0])
        if len(first) == len(second) > 1 and first[:-1] == second[:-1] and second[-1] == _plus(first[-1], 2):
            prefix = after.id.rpartition(".")[0]
            number = f"{prefix}.{_plus(first[-1], 1)}"
            inline = re.compile(_INLINE.format(number=re.escape(number)))
            if inside := inline.search(text, head.start, after.start):
                title = shortened(text[inside.end() : inside.end() + 400])
                found.append(replace(head, id=number, title=title, start=inside.start()))
    return found


def _plus(part: int | str, more: int) -> int | None:
    return part + more if isinstance(part, int) else None


# --- The outline ------------------------------------------------------------------------------------------------


def read_agreement(text: str, title: str = "", page_starts: Sequence[int] = ()) -> Outline:
    """Return the outline of a plain-text agreement, or of any text whose headings are numbered.

    Ids are the numbers as printed ("7.03"); an article has its number in digits ("4" for ARTICLE IV), an attachment
    its letter, or word and number where that is taken or is no letter ("B", "Appendix-A", "Schedule-1.65"), and the
    sections of an attachment have its id in front ("B.2"). Text before the first heading is the node "front".

    >>> outline = read_agreement("1. FEES\\n\\n1.1 Due date. Within 30 days.\\n\\nSCHEDULE B\\n\\nRates\\n\\n12%.")
    >>> print(outline.toc())
    [1] FEES
      [1.1] Due date
    [B] SCHEDULE B: Rates
    """
    lines = lines_of(text)
    printed = printed_lines(lines)
    contents = contents_of(lines, printed)
    left_out = printed | set(range(*contents)) if contents else printed
    headings = headings_of(lines, left_out)
    left_out |= _own_label(lines, headings)
    headings += _missing_inside(text, headings)
    return build(text, headings, title or _title_of(lines, left_out), page_starts, spans_of(lines, left_out))


def _own_label(lines: Sequence[Line], headings: Sequence[Heading]) -> set[int]:
    """Return the lines at the top that say which exhibit of another document this one is."""
    body = min((head.start for head in headings), default=0)
    labels = ((at, label_of(line.text)) for at, line in enumerate(lines) if line.end <= body)
    return {at for at, label in labels if label and label.kind == "attachment" and not label.rest}


def _title_of(lines: Sequence[Line], left_out: set[int]) -> str:
    """Return the first line near the top that says what the document is: "MANUFACTURING AGREEMENT"."""
    top = (line.text for at, line in enumerate(lines[:40]) if at not in left_out and len(line.text) <= 80)
    return next((text for text in top if re.search(r"\b(?:AGREEMENT|Agreement|CONTRACT|LEASE|TERMS)\b", text)), "")
