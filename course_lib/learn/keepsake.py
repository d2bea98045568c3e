"""The page to keep: one HTML file with the learner's own predictions, read on paper or in any browser, offline."""

from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from course_lib.learn.look import escape, paragraph
from course_lib.learn.record import Record, replace_file
from course_lib.learn.summary import (
    again,
    by_notebook,
    calibration,
    exercises_by_notebook,
    outcomes,
    readable_table,
    said_overall,
)

# Text has a contrast of at least 7:1 on its ground and links at least 4.5:1, in light, dark and on paper; the bars of
# the accents have 3:1, and each stands beside a symbol and a word.
PAGE_STYLE = """
:root{color-scheme:light dark;--ink:#1b1b1b;--paper:#fff;--line:#8a8a8a;--link:#0b57d0}
@media(prefers-color-scheme:dark){:root{--ink:#e6e6e6;--paper:#161616;--line:#7d7d7d;--link:#8ab4f8}}
@media print{:root{color-scheme:light;--ink:#000;--paper:#fff;--line:#777;--link:#000}
 .screen{display:none}tr,li,figure{break-inside:avoid}h2,h3,caption{break-after:avoid}}
body{font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:860px;margin:0 auto;
 padding:16px;overflow-wrap:anywhere}
h1{font-size:1.5em}h2{font-size:1.2em;margin-top:2em}h3{font-size:1.05em;margin-top:1.6em}a{color:var(--link)}
table{border-collapse:collapse;width:100%;font-size:14px;margin:8px 0}caption{text-align:left;font-weight:600}
th,td{text-align:left;vertical-align:top;padding:4px 12px 4px 0;border-bottom:1px solid var(--line);
 overflow-wrap:break-word}
tbody th{font-weight:400}th.vr-num,td.vr-num{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
summary{cursor:pointer}:focus-visible{outline:3px solid var(--link);outline-offset:2px}li{margin:6px 0}
svg{max-width:100%;height:auto}.vr-gold,.vr-retrieved,.vr-missed{border-left:4px solid;padding-left:6px}
.vr-gold{border-color:#b07d00}.vr-retrieved{border-color:#3b7dd8}.vr-missed{border-color:#d0524f}
"""


def page_to_keep(
    record: Record,
    target: str | Path,
    cheat_sheet: Sequence[Sequence[str]] = (),
    notebooks: str | None = None,
    replace: bool = False,
) -> str:
    """Write the record as one HTML file that needs nothing else, and say where it is.

    `cheat_sheet` is a table to put on it, as rows of plain text of which the first holds the headings. `notebooks`
    stands before the name of a notebook in a link, such as "" where the page lies beside them; with None there are
    no links. Raises FileExistsError where there is such a file and `replace` is False, FileNotFoundError where there
    is no such folder, and ValueError where the rows of the cheat sheet differ in length.
    """
    target = Path(target)
    if target.is_dir():
        raise FileExistsError(f"{target} is a folder. Name a file in it, such as {target / 'my_course.html'}.")
    if target.exists() and not replace:
        raise FileExistsError(
            f"{target} exists already and was left as it is. Choose another name, or say replace=True."
        )
    if not target.resolve().parent.is_dir():
        raise FileNotFoundError(f"There is no folder {target.resolve().parent}. Make it, or choose another.")
    replace_file(target, keepsake(record, cheat_sheet, notebooks).encode("utf-8"))
    return f"Your page is {target}. Open it in a browser, or print it; it holds your answers and no name."


def keepsake(record: Record, cheat_sheet: Sequence[Sequence[str]] = (), notebooks: str | None = None) -> str:
    """Return the page as HTML. Raises ValueError as `page_to_keep` does."""
    answered = outcomes(record)
    tables = "".join(f"<h3>{escape(name)}</h3>{each}" for name, each in by_notebook(answered, notebooks))
    body = [
        paragraph(_period(record)),
        *(said_overall(answered) if answered else []),
        _section("What being sure was worth", calibration(answered)),
        _section("What to revisit", again(answered, notebooks)),
        _section("Cheat sheet", _cheat_sheet(cheat_sheet)),
        _section("What you predicted, and what came out", tables),
        _section("Your exercises", exercises_by_notebook(record)),
    ]
    return html_page("Vectorless RAG: what you predicted, and what you keep", "\n".join(body))


def html_page(title: str, body: str, style: str = "", script: str = "") -> str:
    """Return a whole HTML page that fetches nothing and runs no script but `script`. `title` is plain text."""
    allowed = f"'sha256-{b64encode(sha256(script.encode('utf-8')).digest()).decode('ascii')}'" if script else "'none'"
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src {allowed}; base-uri 'none'; form-action 'none'"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{escape(title)}</title><style>{PAGE_STYLE}{style}</style></head>\n"
        f"<body><main><h1>{escape(title)}</h1>\n{body}\n</main>{f'<script>{script}</script>' if script else ''}"
        "</body></html>\n"
    )


def _section(title: str, inside: str) -> str:
    return f"<section><h2>{escape(title)}</h2>{inside}</section>" if inside else ""


def _period(record: Record) -> str:
    """Say from when to when the record runs; the day on which the page is made does not matter."""
    days = sorted(event["at"][:10] for event in record.events())
    if not days:
        return "Your record is empty: your predictions and exercises appear here once you make them."
    return f"From your record, {days[0]} to {days[-1]}." if days[0] != days[-1] else f"From your record of {days[0]}."


def _cheat_sheet(rows: Sequence[Sequence[str]]) -> str:
    if not rows:
        return ""
    headings, *others = rows
    for row in others:
        if len(row) != len(headings):
            raise ValueError(
                f"Cells in a row of the cheat sheet: {len(row)} ({', '.join(row)[:80]}). Its headings: "
                f"{len(headings)} ({', '.join(headings)[:80]}). Give each row one cell a heading."
            )
    return readable_table("The course on one page", headings, [[escape(cell) for cell in row] for row in others])
