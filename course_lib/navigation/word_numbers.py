"""The numbers that Word counts itself: "7.3" stands in no paragraph of an agreement, only a rule to count by.

A paragraph, or its style, names a list (numId) and a level; the list says for each level how it counts and prints:
"%1.%2" with decimals, "Article %1" with Roman numerals. Here they are counted as Word does.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_ROMAN = ((100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))


@dataclass(frozen=True)
class Level:
    """How one level of a list counts and prints: its first number, "decimal" or the like, and "%1.%2"."""

    start: int
    form: str
    text: str
    style: str  # the style that stands for this level, "" for none
    legal: bool  # prints every number in decimals: "4.1" below "Article IV"


class Numbers:
    """Counts through a document: call `of` once for each paragraph, in order."""

    def __init__(self, document: Any) -> None:
        self.lists: dict[str, str] = {}  # numId -> abstract list: several may go on counting in one
        self.levels: dict[str, dict[int, Level]] = {}
        self.counts: dict[str, dict[int, int]] = {}
        for element in _numbering(document):
            if element.tag == f"{_WORD}abstractNum":
                self.levels[element.get(f"{_WORD}abstractNumId")] = dict(_levels(element))
            elif element.tag == f"{_WORD}num":
                self.lists[element.get(f"{_WORD}numId")] = _value(element, "abstractNumId")

    def of(self, paragraph: Any) -> str:
        """Return the number that Word prints before a paragraph, "" for none and for a bullet."""
        list_id, depth = self._place(paragraph)
        levels = self.levels.get(list_id, {})
        if depth not in levels or not levels[depth].text:
            return ""
        counts = self.counts.setdefault(list_id, {})
        counts[depth] = counts.get(depth, levels[depth].start - 1) + 1
        for deeper in [level for level in counts if level > depth]:
            del counts[deeper]
        if levels[depth].form in ("bullet", "none"):
            return ""
        printed = levels[depth].text
        for level in range(depth + 1):
            above = levels.get(level, levels[depth])
            form = "decimal" if levels[depth].legal else above.form
            printed = printed.replace(f"%{level + 1}", written(counts.get(level, above.start), form))
        return printed.strip()

    def _place(self, paragraph: Any) -> tuple[str, int]:
        """Return the list and the level of a paragraph: its own, else those of its style or of the next one below."""
        for properties, style in _chain(paragraph):
            number = properties.find(f"{_WORD}numPr") if properties is not None else None
            if number is not None and _value(number, "numId"):
                list_id = self.lists.get(_value(number, "numId"), "")
                of_style = (depth for depth, level in self.levels.get(list_id, {}).items() if level.style == style)
                return list_id, _whole(_value(number, "ilvl"), next(of_style, 0) if style else 0)
        return "", 0


def _chain(paragraph: Any) -> Iterator[tuple[Any, str]]:
    """Give the properties of a paragraph and then of its styles, each with the id of the style."""
    style = paragraph.style
    yield paragraph._p.find(f"{_WORD}pPr"), style.style_id if style is not None else ""
    while style is not None:
        yield style.element.find(f"{_WORD}pPr"), style.style_id
        style = style.base_style


def _numbering(document: Any) -> list[Any]:
    parts = (link.target_part for link in document.part.rels.values() if link.reltype.endswith("/numbering"))
    return [element for part in parts for element in part.element]


def _levels(abstract: Any) -> Iterator[tuple[int, Level]]:
    for level in abstract.findall(f"{_WORD}lvl"):
        start = _whole(_value(level, "start"), 1)
        form = _value(level, "numFmt") or "decimal"
        legal = level.find(f"{_WORD}isLgl") is not None
        text, style = _value(level, "lvlText"), _value(level, "pStyle")
        yield _whole(level.get(f"{_WORD}ilvl") or "", 0), Level(start, form, text, style, legal)


def _value(element: Any, name: str) -> str:
    found = element.find(f"{_WORD}{name}")
    return str(found.get(f"{_WORD}val") or "") if found is not None else ""


def _whole(text: str, otherwise: int) -> int:
    return int(text) if text.isdecimal() else otherwise


def written(number: int, form: str) -> str:
    """Return a number as Word writes it in one of its forms.

    >>> written(4, "upperRoman"), written(28, "lowerLetter"), written(3, "decimalZero"), written(3, "decimal")
    ('IV', 'bb', '03', '3')
    """
    if form.endswith("Letter"):
        letters = chr(ord("a") + (number - 1) % 26) * ((number - 1) // 26 + 1)
    elif form.endswith("Roman"):
        letters = ""
        for value, roman in _ROMAN:
            letters += roman * (number // value)
            number %= value
    else:
        return f"{number:02}" if form == "decimalZero" else str(number)
    return letters.upper() if form.startswith("upper") else letters
