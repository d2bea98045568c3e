"""The report of a comparison: one HTML file that needs nothing else, and a CSV with every answer.

Everything that comes from questions, documents, systems and models is shown as text, whatever it holds.
"""

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape as _escape
from pathlib import Path
from secrets import token_hex

from course_lib.evaluation.compare import ALL, Comparison, Outcome
from course_lib.evaluation.documents import GENERATOR
from course_lib.evaluation.questions import QuestionsError, csv_records, find_delimiter, read_text
from course_lib.evaluation.summary import Line, Number, decide, differences, lines, paired_tests

MOST_DIFFERENCES = 100
MOST_CHARACTERS = 600  # of one text in the HTML; the CSV has all of it

# --- Where to -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Written:
    """The two files of a report, and a sentence where they are not the ones that were asked for."""

    html: Path
    csv: Path
    note: str = ""


def write_report(
    comparison: Comparison,
    out: Path,
    *,
    title: str = "Systems side by side",
    facts: Sequence[str] = (),
    warnings: Sequence[str] = (),
    wanted: float = 0.9,
) -> Written:
    """Write the report to `out` (.html) and its CSV beside it. A file that exists is kept: the report goes beside it.

    `facts` say what was compared on, `warnings` what is missing; each is a sentence. Raises OSError where the folder
    cannot be written to.
    """
    page = html_report(comparison, title=title, facts=facts, warnings=warnings, wanted=wanted)
    html, table = free_names(out)
    html.parent.mkdir(parents=True, exist_ok=True)
    write_whole(html, page)
    write_whole(table, csv_report(comparison), mark=True)
    note = f"{out.name} was there already and is kept; this report is {html.name}." if html != out else ""
    return Written(html, table, note)


def free_names(out: Path, also: Callable[[Path], bool] = lambda html: True) -> tuple[Path, Path]:
    """Return names for the HTML and the CSV that no file has yet: report.html, or report-2.html and so on.

    `also` may refuse a name for reasons of its own.
    """
    suffix = out.suffix or ".html"
    for number in range(1, 10_000):
        stem = out.stem if number == 1 else f"{out.stem}-{number}"
        html, table = out.with_name(stem + suffix), out.with_name(stem + ".csv")
        if not html.exists() and not table.exists() and also(html):
            return html, table
    raise FileExistsError(f"{out} and 9,999 files beside it exist: name another file.")


def write_whole(path: Path, text: str, mark: bool = False) -> None:
    """Write a file under another name first, so that nobody sees half of it. `mark` is for spreadsheets' sake."""
    content = text.encode("utf-8", "replace")
    part = path.with_name(f".{path.name[:40]}.{token_hex(4)}.part")
    try:
        with part.open("xb") as file:  # not a temporary file: those are nobody else's to read, whatever the folder says
            file.write(b"\xef\xbb\xbf" + content if mark else content)
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


# --- The CSV --------------------------------------------------------------------------------------------------------

COLUMNS = (
    "question", "shape", "system", "expected", "answer", "right", "how", "gold", "ids", "found", "recall", "ndcg",
    "seconds", "usd", "estimated", "error", "note", "hand",
)  # fmt: skip


def csv_report(comparison: Comparison) -> str:
    """Return a row for each question and system. The column `hand` is yours: write right or wrong into some.

    A text that a spreadsheet would take for a formula gets an apostrophe in front.
    """
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(COLUMNS)
    for outcome in comparison.outcomes:
        writer.writerow([_cell(value) for value in _values(outcome).values()])
    return out.getvalue()


def _values(one: Outcome) -> Mapping[str, object]:
    response, question = one.response, one.question
    return {
        "question": question.text,
        "shape": question.shape,
        "system": one.system,
        "expected": question.expected,
        "answer": None if response is None else response.answer,
        "right": one.right,
        "how": one.how,
        "gold": " | ".join(question.gold),
        "ids": None if response is None or response.ids is None else " | ".join(response.ids),
        "found": one.found,
        "recall": one.recall,
        "ndcg": one.ndcg,
        "seconds": one.seconds,
        "usd": None if response is None else response.usd,
        "estimated": None if response is None else response.estimated,
        "error": one.error,
        "note": "" if response is None else response.note,
        "hand": None,
    }


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float | int):
        return f"{value:.6g}"
    text = str(value).replace("\0", "\ufffd")
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r", "'") else text


def read_hand(path: Path) -> dict[tuple[str, str], bool]:
    """Return the verdicts that a person wrote into the column `hand` of a report's CSV, by (system, question).

    Raises QuestionsError, naming the row, for anything but right, wrong, yes, no or an empty cell.
    """
    text, _ = read_text(path)
    delimiter = find_delimiter(text, COLUMNS)
    verdicts: dict[tuple[str, str], bool] = {}
    words = {
        "right": True,
        "yes": True,
        "1": True,
        "true": True,
        "wrong": False,
        "no": False,
        "0": False,
        "false": False,
    }
    for number, row in csv_records(text, delimiter or ",", path.name):
        if "hand" not in row or "system" not in row:
            raise QuestionsError(f"{path.name} has no columns 'system' and 'hand': give the CSV of a report.")
        said = row["hand"].strip().casefold()
        if said and said not in words:
            raise QuestionsError(f"{path.name}: row {number}: hand is {row['hand']!r}; right or wrong is expected.")
        if said:
            verdicts[_text(row["system"]), _text(row["question"])] = words[said]
    return verdicts


def _text(cell: str) -> str:
    return cell[1:] if cell.startswith("'") else cell


# --- The HTML -------------------------------------------------------------------------------------------------------

STYLE = """
:root{color-scheme:light dark;--ink:#1c1c1c;--paper:#fff;--line:#8a8a8a66;--soft:#8881}
@media(prefers-color-scheme:dark){:root{--ink:#e6e6e6;--paper:#161616}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:960px;margin:0 auto;
 padding:16px;overflow-wrap:anywhere}
h1{font-size:1.5em}h2{font-size:1.2em;margin-top:2em}table{border-collapse:collapse;width:100%;font-size:13px}
th,td{text-align:left;vertical-align:top;padding:4px 10px 4px 0;min-width:6.5em;border-bottom:1px solid var(--line)}
caption{text-align:left;font-weight:600;padding:8px 0}.wide{overflow-x:auto}.num{font-variant-numeric:tabular-nums}
svg{max-width:100%;height:auto}details{margin:8px 0}.warn{border-left:4px solid #b07d00;padding-left:8px}
.got{border-left:4px solid #3b7dd8;padding-left:6px}.missed{border-left:4px solid #d0524f;padding-left:6px}
.expected{border-left:4px solid #b07d00;padding-left:6px}
"""
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def escape(text: object) -> str:
    """Return a text as HTML that shows it and does nothing else."""
    shown = "".join(c if c in "\n\t" or ord(c) >= 32 else "\ufffd" for c in str(text))
    return _escape(shown.encode("utf-8", "replace").decode("utf-8"))


def html_report(
    comparison: Comparison,
    *,
    title: str = "Systems side by side",
    facts: Sequence[str] = (),
    warnings: Sequence[str] = (),
    wanted: float = 0.9,
) -> str:
    """Return the page: decision, numbers per shape with plots, paired tests, differences, failures, how it was made."""
    all_lines = lines(comparison)
    sections = [
        _warnings([*_own_warnings(comparison), *warnings]),
        _decisions(comparison, wanted),
        _numbers(comparison, all_lines),
        _tests(comparison),
        _differences(comparison),
        _failures(comparison),
        _method(comparison, facts),
    ]
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f"{GENERATOR}"
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head>\n<body><main><h1>{escape(title)}</h1>\n"
        + "\n".join(section for section in sections if section)
        + "\n</main></body></html>\n"
    )


def _own_warnings(comparison: Comparison) -> list[str]:
    said = [comparison.stopped] if comparison.stopped else []
    failed = sum(bool(one.error) for one in comparison.outcomes)
    if failed:
        said.append(f"{failed} of {len(comparison.outcomes)} results failed; they count as not answered and not found.")
    notes = dict.fromkeys(one.response.note for one in comparison.outcomes if one.response and one.response.note)
    return [*said, *comparison.notes, *list(notes)[:10]]


def _warnings(sentences: Sequence[str]) -> str:
    if not sentences:
        return ""
    return '<section class="warn"><h2>Mind this first</h2>' + _list(sentences) + "</section>"


def _list(sentences: Iterable[str]) -> str:
    return "<ul>" + "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences) + "</ul>"


def _table(caption: str, headers: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; captions and headers are plain text, cells are HTML."""
    head = "".join(f'<th scope="col">{escape(header)}</th>' for header in headers)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f'<div class="wide"><table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _decisions(comparison: Comparison, wanted: float) -> str:
    rows = [
        [
            escape(one.shape),
            escape(one.system or "none of these"),
            escape(one.reason),
            escape(one.gives_up),
            escape(one.track),
        ]
        for one in decide(comparison, wanted)
    ]
    headers = ["Shape", "Take", "Because", "It gives up", "Track"]
    intro = f"<p>For each shape of question, the cheapest system that is right in at least {wanted:.0%} of it.</p>"
    return "<section><h2>What follows</h2>" + intro + _table("", headers, rows) + "</section>"


def _numbers(comparison: Comparison, all_lines: Sequence[Line]) -> str:
    shapes = list(dict.fromkeys(one.shape for one in all_lines))
    pieces = [_shape([one for one in all_lines if one.shape == shape], shape) for shape in shapes]
    said = (
        f"<p>Each number with its 95 % interval and the number of questions n. k = {comparison.k}. "
        "“Not measured” is no zero: the reason stands beside it.</p>"
    )
    return "<section><h2>Four numbers per shape</h2>" + said + "".join(pieces) + "</section>"


def _shape(of_shape: Sequence[Line], shape: str) -> str:
    asked = max((one.asked for one in of_shape), default=0)
    headers = ["System", "Answer accuracy", "Retrieval", "USD per 1,000", "p95 seconds", "Failed"]
    rows = [
        [
            escape(one.system),
            _shown(one.answers),
            f"{escape(one.metric)}<br>{_shown(one.retrieval)}",
            _shown(one.usd) + ("<br>estimated" if one.estimated else ""),
            _shown(one.p95, 3),
            str(one.failed),
        ]
        for one in of_shape
    ]
    plot = dot_plot(of_shape, shape)
    return f"<h3>{escape(shape)} ({asked} questions)</h3>{plot}" + _table("", headers, rows)


def _shown(number: Number, digits: int = 2) -> str:
    return f'<span class="num">{escape(number.shown(digits))}</span>'


# --- The plot -------------------------------------------------------------------------------------------------------

LEFT, WIDTH, ROW, TOP = 190, 640, 34, 24


def dot_plot(of_shape: Sequence[Line], shape: str) -> str:
    """Return two dots a system with their intervals, as inline SVG: ● answers, ■ what was needed was found.

    What the picture says is also its label, so that it can be heard; the table below it holds the same numbers.
    """
    measured = [one for one in of_shape if one.answers.value is not None or one.found.value is not None]
    if not measured:
        return "<p>Nothing to draw: neither answers nor retrieval were measured.</p>"
    height = TOP + ROW * len(measured) + 40
    marks = "".join(_marks(one, TOP + ROW * at) for at, one in enumerate(measured))
    return (
        f'<svg role="img" aria-label="{escape(_label(measured, shape))}" viewBox="0 0 {WIDTH} {height}" '
        f'width="{WIDTH}" font-size="12" font-family="system-ui,sans-serif" fill="currentColor">'
        f"{_axis(height)}{marks}</svg>"
    )


def _label(measured: Sequence[Line], shape: str) -> str:
    said = [f"{one.system}: answers {one.answers.shown()}, found {one.found.shown()}" for one in measured]
    return f"Shares between 0 and 1 for {shape}. " + "; ".join(said) + "."


def _x(share: float) -> float:
    return round(LEFT + share * (WIDTH - LEFT - 20), 1)


def _axis(height: int) -> str:
    pieces = []
    for step in range(5):
        x = _x(step / 4)
        pieces.append(
            f'<line x1="{x}" x2="{x}" y1="{TOP - 10}" y2="{height - 36}" stroke="currentColor" opacity="0.2"/>'
        )
        pieces.append(f'<text x="{x}" y="{height - 20}" text-anchor="middle">{step / 4:g}</text>')
    legend = "● right answers   ■ what was needed was found   the line is the 95 % interval"
    return "".join(pieces) + f'<text x="{LEFT}" y="{height - 4}">{legend}</text>'


def _marks(one: Line, y: int) -> str:
    name = one.system if len(one.system) <= 26 else one.system[:25] + "…"
    pieces = [f'<text x="{LEFT - 10}" y="{y + 8}" text-anchor="end">{escape(name)}</text>']
    if one.answers.value is not None:
        pieces.append(_interval(one.answers, y, "#3b7dd8"))
        pieces.append(f'<circle cx="{_x(one.answers.value)}" cy="{y}" r="5" fill="#3b7dd8"/>')
    if one.found.value is not None:
        pieces.append(_interval(one.found, y + 12, "#b07d00"))
        pieces.append(f'<rect x="{_x(one.found.value) - 4}" y="{y + 8}" width="8" height="8" fill="#b07d00"/>')
    return "".join(pieces)


def _interval(number: Number, y: int, colour: str) -> str:
    low, high = _x(number.low or 0.0), _x(1.0 if number.high is None else number.high)
    return f'<line x1="{low}" x2="{high}" y1="{y}" y2="{y}" stroke="{colour}" stroke-width="2" opacity="0.6"/>'


# --- Details --------------------------------------------------------------------------------------------------------


def _tests(comparison: Comparison) -> str:
    found = [test for shape in (ALL,) for test in paired_tests(comparison, shape)]
    if not found:
        return ""
    headers = ["Compared", "By", "n", "Only the first", "Only the second", "p", "p, all tests together", "Reads as"]
    rows = [
        [
            f"{escape(one.first)} and {escape(one.second)}",
            one.measure,
            str(one.paired.n),
            str(one.paired.only_first),
            str(one.paired.only_second),
            f"{one.paired.p:.3f}",
            f"{one.adjusted:.3f}",
            "more than chance" if one.adjusted < 0.05 else "chance alone could do that",
        ]
        for one in found
    ]
    said = (
        "<p>McNemar's exact test on the questions that only one of the two gets, over all shapes; the second p "
        "accounts for the number of tests (Holm).</p>"
    )
    return "<section><h2>Is the difference more than chance?</h2>" + said + _table("", headers, rows) + "</section>"


def _differences(comparison: Comparison) -> str:
    found = differences(comparison)
    if not found:
        return "<section><h2>Where systems differ</h2><p>On no question.</p></section>"
    rows = [
        [
            escape(cut(one.question.text)),
            escape(one.question.shape),
            one.measure,
            f'<span class="got">✓ got it: {escape(", ".join(one.got))}</span>',
            f'<span class="missed">✗ missed it: {escape(", ".join(one.missed))}</span>',
            _what_came(comparison, one.question.key),
        ]
        for one in found[:MOST_DIFFERENCES]
    ]
    more = f"<p>{len(found) - MOST_DIFFERENCES} more are in the CSV.</p>" if len(found) > MOST_DIFFERENCES else ""
    headers = ["Question", "Shape", "By", "Got it", "Missed it", "What came back"]
    return (
        f"<section><h2>Where systems differ: {len(found)} times</h2>" + _table("", headers, rows) + more + "</section>"
    )


def _what_came(comparison: Comparison, key: str) -> str:
    outcomes = [one for one in comparison.outcomes if one.question.key == key]
    question = outcomes[0].question
    wanted = [f"answer: {question.expected}"] if question.expected else []
    wanted += [f"ids: {', '.join(question.gold)}"] if question.gold else []
    pieces = [f'<p class="expected">★ expected {escape(cut("; ".join(wanted)))}</p>']
    for one in outcomes:
        pieces.append(f"<p>{escape(one.system)}: {escape(cut(_came(one)))}</p>")
    return f"<details><summary>Show</summary>{''.join(pieces)}</details>"


def _came(one: Outcome) -> str:
    if one.response is None:
        return f"failed: {one.error}"
    said = [] if one.response.answer is None else [one.response.answer or "no evidence"]
    ids = [] if one.response.ids is None else [", ".join(one.response.ids) or "no evidence"]
    return "; ".join([*said, *ids]) or "nothing that is compared"


def cut(text: str) -> str:
    """Return a text as far as a table bears it, with the number of characters left out."""
    return (
        text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]} … ({len(text) - MOST_CHARACTERS:,} more)"
    )


def _failures(comparison: Comparison) -> str:
    failed = [one for one in comparison.outcomes if one.error]
    if not failed:
        return ""
    rows = [
        [escape(one.system), escape(cut(one.question.text)), escape(cut(one.error))]
        for one in failed[:MOST_DIFFERENCES]
    ]
    table = _table("", ["System", "Question", "What happened"], rows)
    return f"<section><h2>{len(failed)} failures</h2>{table}</section>"


def _method(comparison: Comparison, facts: Sequence[str]) -> str:
    said = [
        *facts,
        f"{len(comparison.questions)} questions, {len(comparison.systems)} systems, {comparison.parallel} at a time"
        + (f", {comparison.reused} results of an earlier run" if comparison.reused else "")
        + f"; really spent: USD {comparison.usd:.4f}.",
        "Shares: Wilson's interval. Means and money: bootstrap, 2,000 resamples. p95: nearest rank, interval from the "
        "ordered times.",
        "An estimated cost is what an answer would cost at the prices above: 300 tokens of instructions and question, "
        "the evidence as counted, 250 tokens of answer.",
    ]
    if comparison.parallel > 1:
        said.append(f"Times were taken with {comparison.parallel} questions at once, which slows each of them.")
    if comparison.agreement:
        said.append(f"The scoring of answers {comparison.agreement}.")
    elif any(one.right is not None and one.how != "failed" for one in comparison.outcomes):
        said.append("The scoring of answers has not been checked by hand: fill the column `hand` of the CSV for some.")
    return "<section><h2>How this was measured</h2>" + _list(said) + "</section>"
