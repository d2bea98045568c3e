"""What a heading calls itself: "ARTICLE IV - FEES" is article 4, "7.3 Late payment" is section 7.3.

Headings and references spell the same place in many ways. Both are read into one form here, so that "Article IV",
"Article 4" and "article four" meet.
"""

import re
from dataclasses import dataclass
from typing import Literal

Kind = Literal["article", "section", "attachment"]

ATTACHMENTS = ("Exhibit", "Schedule", "Annex", "Annexure", "Appendix", "Attachment", "Addendum")
ARTICLES = ("Article", "Chapter", "Part")
SECTIONS = ("Section", "Clause", "Paragraph")
WORDS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
WORDS += [
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
]

_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
_DECIMAL = r"\d{1,3}(?:\.(?!000)\d{1,3}){0,5}"  # 10.000 is an amount
_ATTACHED = r"(?:\d{1,3}(?:\.\d{1,3}){0,3}|[IVXL]{1,6}|[A-Z]{1,2})(?:-[A-Z0-9]{1,3})?(?:\([a-z0-9]{1,3}\)){0,2}"
_ARTICLE = rf"(?:\d{{1,3}}|[IVXLC]{{1,7}}|{'|'.join(form for word in WORDS for form in (word.title(), word.upper()))})"


def _either_case(names: tuple[str, ...]) -> str:
    return "|".join(form for name in names for form in (name, name.upper()))


_AFTER = r"(?![\w(])[ \t]*(?P<rest>.*)"
_HEADINGS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("attachment", re.compile(rf"(?P<word>{_either_case(ATTACHMENTS)})[ \t]+(?P<number>{_ATTACHED}){_AFTER}")),
    ("article", re.compile(rf"(?P<word>{_either_case(ARTICLES)})[ \t]+(?P<number>{_ARTICLE}){_AFTER}")),
    (
        "section",
        re.compile(
            rf"(?P<word>{_either_case(SECTIONS[:2])}|§)?[ \t]*(?P<number>{_DECIMAL})(?!\d|\.\d|[a-z/%])(?P<rest>.*)"
        ),
    ),
    ("section", re.compile(r"(?P<word>)(?P<number>[IVX]{1,6})(?P<rest>\.[ \t]+.*)")),
)
_GOES_ON = "of|and|or|through|above|below|hereof|hereto|herein|shall|will|is|are|was|were|has|have|may|but|percent"
_SEPARATOR = re.compile(r"[ \t]*(?:[.:)]|[-\u2013\u2014]+)*[ \t]*")


@dataclass(frozen=True)
class Label:
    """How a heading begins: its kind, the word and number as printed ("ARTICLE", "IV"), and the rest of its line."""

    kind: Kind
    word: str
    number: str
    rest: str

    @property
    def printed(self) -> str:
        """Word and number: "ARTICLE IV", "7.3"."""
        return f"{self.word} {self.number}".strip()

    @property
    def key(self) -> tuple[int | str, ...]:
        """The number in the form that all its spellings share."""
        return key(self.number)


def roman(text: str) -> int | None:
    """Return the value of a Roman numeral below 400, None for anything else ("IIII" is none).

    >>> roman("IV"), roman("xii"), roman("IIII")
    (4, 12, None)
    """
    if not re.fullmatch(r"c{0,3}(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})", text.lower()) or not text:
        return None
    values = [_ROMAN[letter] for letter in text.lower()]
    return sum(-value if value < after else value for value, after in zip(values, [*values[1:], 0], strict=True))


def key(number: str) -> tuple[int | str, ...]:
    """Return a printed number in the form that all its spellings share.

    A Roman numeral of one letter stays a letter beside others, as in Exhibit C; I, V and X are numbers.

    >>> key("7.03"), key("IV"), key("FOUR"), key("A-1"), key("10.2(a)")
    ((7, 3), (4,), (4,), ('a', 1), (10, 2, 'a'))
    """
    parts: list[int | str] = []
    for part in re.findall(r"[^\W_]+", number.lower()):
        value = WORDS.index(part) + 1 if part in WORDS else roman(part) if part not in ("c", "l") else None
        parts.append(int(part) if part.isdecimal() else value or part)
    return tuple(parts)


def label_of(line: str) -> Label | None:
    """Return how a heading line begins, None where it begins like a sentence.

    What follows the number must be nothing, a separator or a capital: "Section 7.3 of this Agreement" is the middle of
    a sentence. A small letter is let pass behind "7.3.1" alone. A number alone on its line is a page number.

    >>> label_of("ARTICLE IV - FEES")
    Label(kind='article', word='ARTICLE', number='IV', rest='FEES')
    >>> label_of("Section 7.3 of this Agreement applies."), label_of("12")
    (None, None)
    """
    line = line.strip()
    for kind, pattern in _HEADINGS:
        if found := pattern.match(line):
            rest = _SEPARATOR.sub("", found["rest"], count=1)
            label = Label(kind, found["word"] or "", found["number"], rest.strip())
            return label if _begins_a_heading(label, found["rest"]) else None
    return None


def _begins_a_heading(label: Label, after: str) -> bool:
    if label.rest[:1].islower():
        sentence_goes_on = re.match(rf"(?:{_GOES_ON})\b", label.rest) is not None
        return label.kind == "section" and not label.word and "." in label.number and not sentence_goes_on
    if label.rest and not (label.rest[0].isupper() or label.rest[0] in "\"'“‘[(*_<$#"):
        return False
    if after[:1] in (",", ";") or (after[:1] == "-" and label.kind == "section"):  # a list goes on; Form 10-K
        return False
    if label.kind == "section" and not label.word and "." not in label.number:
        return bool(label.rest) and (after[:1] in ".)" or after[:2].isspace() or len(label.rest) <= 60)
    return True
