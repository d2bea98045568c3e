"""One visual language for everything a learner sees: cards, tables, marks.

Colours come from JupyterLab's theme variables, with fallbacks for other places, so that light and dark both read
well. The three accents have a contrast of at least 3:1 on white and on near-black, and each comes with a symbol and
a word: colour never carries a meaning alone.
"""

from collections.abc import Iterable, Sequence
from html import escape as _escape
from html.parser import HTMLParser
from typing import Literal, TypeAlias

Accent: TypeAlias = Literal["gold", "retrieved", "missed", "plain"]

SYMBOLS: dict[Accent, str] = {"gold": "★", "retrieved": "●", "missed": "○", "plain": ""}

STYLE = """<style>
.vr{max-width:760px;box-sizing:border-box;color:var(--jp-content-font-color1,inherit);line-height:1.45;
 font-family:var(--jp-content-font-family,system-ui,sans-serif);font-size:14px;overflow-wrap:anywhere}
.vr-card{border:1px solid var(--jp-border-color1,#8a8a8a);border-radius:6px;padding:10px 14px;margin:4px 0}
.vr-title{font-weight:600;margin:0 0 4px}
.vr p{margin:4px 0}
.vr.vr-card table{border-collapse:collapse;table-layout:auto;margin:6px 0;font-size:13px;width:100%}
.vr.vr-card tbody tr,.vr.vr-card tbody tr:hover{background:transparent}
.vr.vr-card th,.vr.vr-card td{text-align:left;padding:2px 10px 2px 0;background:transparent;vertical-align:top;
 border:0;border-bottom:1px solid var(--jp-border-color2,#8886);white-space:normal;max-width:none}
.vr.vr-card td.vr-num,.vr.vr-card th.vr-num{text-align:right;font-variant-numeric:tabular-nums}
.vr code,.vr pre{white-space:pre-wrap;overflow-wrap:anywhere;background:transparent;color:inherit}
.vr-gold,.vr-retrieved,.vr-missed{border-left:4px solid;padding-left:6px}
.vr.vr-card .vr-num{white-space:nowrap}.vr-picture{overflow-x:auto}
.vr.vr-card th,.vr.vr-card td{overflow-wrap:break-word}
.vr.vr-card .widget-checkbox label,.vr.vr-card .widget-label-basic,.vr.vr-card .widget-radio-box label{
 white-space:normal;height:auto;line-height:1.4}
.vr-gold{border-color:#b07d00}.vr-retrieved{border-color:#3b7dd8}.vr-missed{border-color:#d0524f}
</style>"""

# Only where there are controls: stored outputs have none. The theme's own sign of the focus is a thin pale line.
CONTROLS_STYLE = """<style>
.vr.vr-card :focus-visible{outline:2px solid currentColor!important;outline-offset:1px}
.vr.vr-card .widget-checkbox,.vr.vr-card .widget-checkbox label,.vr.vr-card .widget-radio-box label{overflow:visible}
</style>"""


def escape(text: object) -> str:
    """Return `text` as HTML that shows it and does nothing else; lone surrogates become the replacement character."""
    return _escape(str(text).encode("utf-8", "replace").decode("utf-8"))


def card(title: str, *body: str, styled: bool = True) -> str:
    """Return a thin card: a plain-text title and HTML pieces below it.

    The classes tell MathJax to leave the text alone, so that `$x$` in a document stays `$x$`.
    """
    heading = f'<p class="vr-title">{escape(title)}</p>' if title else ""
    inside = f'<div class="vr vr-card tex2jax_ignore mathjax_ignore">{heading}{"".join(body)}</div>'
    return STYLE + inside if styled else inside


def paragraph(text: str, accent: Accent = "plain") -> str:
    """Return plain text as a paragraph, with the accent's symbol in front of it."""
    return f"<p>{mark(accent, text)}</p>"


def mark(accent: Accent, word: str) -> str:
    """Return a word with an accent: its colour as a bar, its symbol, and the word itself."""
    if accent == "plain":
        return escape(word)
    return f'<span class="vr-{accent}">{SYMBOLS[accent]} {escape(word)}</span>'


def table(headers: Sequence[str], rows: Iterable[Sequence[str]], numbers: Sequence[int] = ()) -> str:
    """Return a table. Headers are plain text, cells are HTML; `numbers` are the columns to set right-aligned."""

    def line(tag: str, cells: Sequence[str]) -> str:
        kind = ['class="vr-num"' if column in numbers else "" for column in range(len(cells))]
        return "<tr>" + "".join(f"<{tag} {k}>{c}</{tag}>" for k, c in zip(kind, cells, strict=True)) + "</tr>"

    head = line('th scope="col"', [escape(header) for header in headers]).replace('</th scope="col">', "</th>")
    return f"<table><thead>{head}</thead><tbody>{''.join(line('td', row) for row in rows)}</tbody></table>"


def to_text(html: str) -> str:
    """Return what an HTML fragment says, for places that show no HTML: a line per paragraph or table row."""
    reader = _TextReader()
    reader.feed(html)
    reader.close()
    lines = (" ".join(line.split()) for line in "".join(reader.parts).split("\n"))
    return "\n".join(line for line in lines if line)


class _TextReader(HTMLParser):
    """Collects text. A picture is read by its label, and what is inside it (as inside a style) is passed over."""

    BREAKS = frozenset({"p", "div", "tr", "li", "h3", "table", "pre", "br", "summary"})

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self.inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in {"style", "svg"}:
            self.inside = tag
            self.parts.append(dict(attrs).get("aria-label") or "")
        elif not self.inside:
            self.parts.append("\n" if tag in self.BREAKS else "  " if tag in {"td", "th"} else "")

    def handle_endtag(self, tag: str) -> None:
        if tag == self.inside:
            self.inside = ""
        elif not self.inside:
            self.parts.append("\n" if tag in self.BREAKS else "")

    def handle_data(self, data: str) -> None:
        if not self.inside:
            self.parts.append(data.replace("\n", " "))


class Shown:
    """Something a cell shows: HTML where a notebook draws it, the same words as text everywhere else."""

    def __init__(self, html: str) -> None:
        self.html = html

    def _repr_html_(self) -> str:
        return self.html

    def __repr__(self) -> str:
        return to_text(self.html)
