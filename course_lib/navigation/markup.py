"""Outlines of Markdown and HTML, by a parser of each: what is no heading to a browser is none here."""

import re
from itertools import pairwise
from typing import Any

from course_lib.navigation.formats import HTML, MARKDOWN, Entry, require, structured
from course_lib.navigation.outline import Outline

# --- Markdown ---------------------------------------------------------------------------------------------------

_LINE_END = re.compile(r"\r\n|\r|\n")
_FRONT_MATTER = re.compile(r"---[ \t]*(?:\r\n|\r|\n)(?:[^\r\n]*(?:\r\n|\r|\n)){0,200}?---[ \t]*(?:\r\n|\r|\n|$)")


def read_markdown(text: str, title: str = "") -> Outline:
    """Return the outline of a Markdown text by its headings; "#" inside a code block is none.

    >>> print(read_markdown("# Guide\\n\\nHello.\\n\\n## Set-up\\n\\nRun it.").toc())
    [1] Guide
      [1.1] Set-up
    """
    require(MARKDOWN)
    from markdown_it import MarkdownIt

    if front := _FRONT_MATTER.match(text):  # or its closing rule would make a heading of what it closes
        parsed = re.sub(r"[^\r\n]", " ", front.group()) + text[front.end() :]
    else:
        parsed = text
    markdown = MarkdownIt("commonmark").disable(["inline", "reference"])  # titles alone are read further
    starts = [0, *(found.end() for found in _LINE_END.finditer(text))]
    tokens = markdown.parse(parsed)
    entries = []
    for opening, content in pairwise(tokens):
        if opening.type != "heading_open" or opening.map is None or opening.level:
            continue
        if name := _plain(content.content):
            entries.append(Entry(name, int(opening.tag[1:]), starts[opening.map[0]]))
    return structured(text, entries, title)


def _plain(inline: str) -> str:
    """Return the words of a Markdown title without its marks: "**Fees** and [rates](#r)" is "Fees and rates"."""
    from markdown_it import MarkdownIt

    [parsed] = MarkdownIt("commonmark").parseInline(inline[:1000])
    return " ".join("".join(child.content for child in parsed.children or () if child.type != "html_inline").split())


# --- HTML -------------------------------------------------------------------------------------------------------

_SKIPPED = {"script", "style", "template", "noscript", "head", "svg"}
_INLINE = {
    "a", "abbr", "b", "bdi", "bdo", "cite", "code", "data", "del", "dfn", "em", "font", "i", "img", "ins", "kbd",
    "label", "mark", "q", "s", "samp", "small", "span", "strong", "sub", "sup", "td", "th", "time", "u", "var", "wbr",
}  # fmt: skip


def read_html(html: str, title: str = "") -> Outline:
    """Return the outline of an HTML page by h1 to h6. The document is its text; a table keeps its rows, "a | b".

    >>> outline = read_html("<h1>Fees</h1><table><tr><td>Late</td><td>12%</td></tr></table><h2>Tax</h2><p>None.</p>")
    >>> outline.text("1").splitlines()
    ['Fees', 'Late | 12%', 'Tax', 'None.']
    """
    require(HTML)
    from bs4 import BeautifulSoup

    soup = BeautifulSoup(html, "html.parser")
    text = _Text()
    entries: list[Entry] = []
    pending: list[Any] = [soup]
    while pending:
        item = pending.pop()
        if isinstance(item, str):  # a line break that was waiting behind a block
            text.line() if item == "\n" and type(item) is str else text.add(item)
            continue
        if item.name in _SKIPPED:
            continue
        if item.name in ("td", "th"):
            text.cell()
        elif item.name not in _INLINE:
            text.line()
            pending.append("\n")
        if re.fullmatch(r"h[1-6]", item.name) and (name := " ".join(item.stripped_strings)):
            entries.append(Entry(name, int(item.name[1]), text.length))
        pending += reversed([child for child in item.children if not _is_markup(child)])
    named = soup.title.get_text(strip=True) if soup.title else ""
    return structured(text.text, entries, title or named)


def _is_markup(child: Any) -> bool:
    """Whether a piece of a page is a comment, a doctype or the like: a string that no reader sees."""
    return isinstance(child, str) and type(child).__name__ != "NavigableString"


class _Text:
    """The text of a page while it is read: one line for each block, single spaces."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.length = 0
        self.last = "\n"

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    def put(self, piece: str) -> None:
        if piece:
            self.pieces.append(piece)
            self.length += len(piece)
            self.last = piece[-1]

    def add(self, string: str) -> None:
        words = " ".join(string.split())
        before = " " if self.last not in "\n " and string[:1].isspace() else ""
        after = " " if words and string[-1:].isspace() else ""
        self.put(before + words + after if words else before)

    def line(self) -> None:
        if self.last != "\n":
            self.put("\n")

    def cell(self) -> None:
        if self.last != "\n":
            self.put("| " if self.last == " " else " | ")
