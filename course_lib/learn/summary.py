"""What the record says: predicted against actual, how far confidence can be trusted, and what to ask again."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from course_lib.learn.chart import Line, Point, line_chart
from course_lib.learn.look import Shown, card, escape, mark, paragraph, table
from course_lib.learn.predictions import CONFIDENCE
from course_lib.learn.record import Event, Record
from course_lib.metrics import Rate, rate


@dataclass(frozen=True)
class Outcome:
    """One question as the record knows it: the first answer, and the result where it was revealed."""

    key: str
    question: str
    answer: tuple[str, ...]
    confidence: str
    after_result: bool
    right: tuple[str, ...] | None

    @property
    def is_right(self) -> bool:
        """Whether the answer named all of the right options and no other."""
        return self.right is not None and set(self.answer) == set(self.right)

    @property
    def is_scored(self) -> bool:
        """Whether it counts: revealed, and answered before the result was there."""
        return self.right is not None and not self.after_result

    @property
    def notebook(self) -> str:
        """The notebook it was asked in, as its key in the record says."""
        return notebook_of(self.key)


def notebook_of(key: str) -> str:
    """Return the notebook that a key of the record belongs to.

    >>> notebook_of("move1_bm25/top3")
    'move1_bm25'
    """
    name, slash, _ = key.partition("/")
    return name if slash and name else "elsewhere"


def outcomes(record: Record) -> list[Outcome]:
    """Return one outcome a question that was answered, in the order of the first answers."""
    return outcomes_in(record.events())


def outcomes_in(events: Sequence[Event]) -> list[Outcome]:
    """Return the outcomes that `events`, oldest first, hold: those of `outcomes` for a record that is not a file."""
    first: dict[str, Event] = {}
    for event in events:
        if event["kind"] == "prediction":
            first.setdefault(event["key"], event)
    revealed = {event["key"]: tuple(event["right"]) for event in events if event["kind"] == "reveal"}
    return [
        Outcome(key, e["question"], tuple(e["answer"]), e["confidence"], e["after_result"], revealed.get(key))
        for key, e in first.items()
    ]


def summary(record: Record) -> Shown:
    """Return the whole record as one card: what to ask again first, and all results folded away behind it."""
    answered = outcomes(record)
    pieces = [*_revisit(answered), *_confidence(answered), _exercises(record), _predictions(answered)]
    notices = [paragraph(text, "missed") for text in (record.notice, record.trouble) if text]
    if not any(pieces):
        pieces = [paragraph("Nothing here yet: your predictions and exercises appear as you make them.")]
    return Shown(card("Your record", *notices, *pieces))


def _predictions(answered: list[Outcome]) -> str:
    rows = [
        [escape(o.question), escape(", ".join(o.answer)), escape(o.confidence), _result(o), _verdict(o)]
        for o in answered
    ]
    if not rows:
        return ""
    inside = table(["Question", "You predicted", "How sure", "Result", ""], rows)
    return f"<details><summary>Predicted against actual ({len(rows)})</summary>{inside}</details>"


def _result(outcome: Outcome) -> str:
    return escape("not run yet" if outcome.right is None else ", ".join(outcome.right))


def _verdict(outcome: Outcome) -> str:
    if outcome.right is None:
        return escape("open")
    if outcome.after_result:
        return escape("answered after the result, not scored")
    return mark("retrieved", "right") if outcome.is_right else mark("missed", "missed")


def _confidence(answered: list[Outcome]) -> list[str]:
    """One line a step of confidence that was used: how many answers, how many of them right."""
    lines = []
    for step in reversed(CONFIDENCE):
        scored = [o for o in answered if o.is_scored and o.confidence == step]
        if scored:
            right = sum(o.is_right for o in scored)
            lines.append(paragraph(f"When you said “{step}”: {right} of {len(scored)} right."))
    return lines


def _exercises(record: Record) -> str:
    """One row an exercise that was tried: attempts, the best outcome, and what help was asked for."""
    titles = {event["key"]: event["title"] for event in record.events("exercise")}
    rows = []
    for key, title in titles.items():
        tried = [event["outcome"] for event in record.events("exercise", key)]
        done = mark("retrieved", "solved") if "right" in tried else mark("missed", "not solved yet")
        helped = [kind for kind in ("hint", "solution") if record.events(kind, key)]
        rows.append([escape(title), str(len(tried)), done, escape(" and ".join(helped) or "none")])
    return table(["Exercise", "Attempts", "State", "Help taken"], rows, numbers=[1]) if rows else ""


def _revisit(answered: list[Outcome]) -> list[str]:
    """The questions that were missed, to be asked again; those answered with the most confidence come first."""
    missed = misses(answered)
    if not missed:
        return []
    asked = "".join(
        f"<li>{escape(o.question)} <details><summary>Show the result</summary>{_result(o)}</details></li>"
        for o in missed
    )
    return [paragraph("Ask yourself again, before you open the result:"), f"<ul>{asked}</ul>"]


def misses(answered: Iterable[Outcome]) -> list[Outcome]:
    """Return the scored questions that were missed, the surest first."""
    missed = [o for o in answered if o.is_scored and not o.is_right]
    return sorted(missed, key=lambda o: -CONFIDENCE.index(o.confidence) if o.confidence in CONFIDENCE else 0)


# --- Across the course ------------------------------------------------------------------------------------------------


# For captions and for first cells that are headers, inside a card.
TABLE_STYLE = """<style>
.vr.vr-card caption{text-align:left;font-weight:600;color:inherit;padding:6px 0 0}.vr.vr-card tbody th{font-weight:400}
</style>"""


def course_summary(record: Record, notebooks: str | None = "") -> Shown:
    """Return the record across all notebooks as one card, with what is long folded away.

    It says how many predictions came out right, how far each step of confidence can be trusted, what to ask again
    and where, and per notebook what was predicted, what came out and which exercises are solved. `notebooks` stands
    before the name of a notebook in a link; with None there are no links.
    """
    answered = outcomes(record)
    pieces = [
        *(said_overall(answered) if answered else []),
        calibration(answered),
        again(answered, notebooks),
        *(folded(f"{name}: predicted against actual", each) for name, each in by_notebook(answered, notebooks)),
        folded("Exercises", exercises_by_notebook(record)),
    ]
    notices = [paragraph(text, "missed") for text in (record.notice, record.trouble) if text]
    if not any(pieces):
        pieces = [paragraph("Nothing here yet: your predictions and exercises appear as you make them.")]
    return Shown(TABLE_STYLE + card("Your course so far", *notices, *pieces))


def folded(title: str, inside: str) -> str:
    """Return HTML behind a line to open it, or nothing for nothing."""
    return f"<details><summary>{escape(title)}</summary>{inside}</details>" if inside else ""


def said_overall(answered: Sequence[Outcome]) -> list[str]:
    """Return, as paragraphs, how many predictions there are, how many were right, and what was not scored."""
    names = {o.notebook for o in answered}
    scored = [o for o in answered if o.is_scored]
    lines = [f"{_count(len(answered), 'prediction')} in {_count(len(names), 'notebook')}."]
    if scored:
        lines.append(f"Right: {share_of(rate(sum(o.is_right for o in scored), len(scored)))}.")
    late = sum(o.after_result and o.right is not None for o in answered)
    not_run = sum(o.right is None for o in answered)
    if late:
        lines.append(f"{late} answered after the result: kept, not scored.")
    if not_run:
        lines.append(f"{not_run} without a result yet.")
    return [paragraph(" ".join(lines))]


def share_of(share: Rate) -> str:
    """Return a share as counts, with its interval.

    >>> share_of(rate(3, 4))
    '3 of 4 (95 % interval 0.30 to 0.95)'
    """
    return f"{round(share.value * share.n)} of {share.n} (95 % interval {share.low:.2f} to {share.high:.2f})"


def confidence_steps(answered: Iterable[Outcome]) -> dict[str, Rate]:
    """Return the share of right answers at each step of confidence that was used, from a guess to sure."""
    scored = [o for o in answered if o.is_scored]
    at_step = {step: [o.is_right for o in scored if o.confidence == step] for step in CONFIDENCE}
    return {step: rate(sum(right), len(right)) for step, right in at_step.items() if right}


def calibration(answered: Iterable[Outcome]) -> str:
    """Return a plot and a table of the share right against how sure the answer was, or "" before the first score."""
    steps = confidence_steps(answered)
    if not steps:
        return ""
    says = "Share right by confidence. " + " ".join(f"When you said “{s}”: {share_of(r)}." for s, r in steps.items())
    points = tuple(Point(CONFIDENCE.index(step) + 1, r.value, r.low, r.high) for step, r in steps.items())
    numbered = ", ".join(f"{number} {step}" for number, step in enumerate(CONFIDENCE, 1))
    chart = line_chart(says, [Line("your answers", points)], f"how sure: {numbered}", "share right")
    picture = chart.partition("<details>")[0]  # its own table knows no words and no n; the one below does
    rows = [
        [escape(s), f"{round(r.value * r.n)} of {r.n}", f"{r.value:.2f}", f"{r.low:.2f} to {r.high:.2f}"]
        for s, r in reversed(steps.items())
    ]
    caption = "How far your confidence can be trusted"
    told = readable_table(caption, ["How sure", "Right", "Share", "95 % interval"], rows, numbers=[1, 2, 3])
    return f"{picture}{told}{paragraph('The band and the last column are wide where there are few answers.')}"


def again(answered: Iterable[Outcome], notebooks: str | None) -> str:
    """Return the missed questions, those answered with “sure” first, each with its notebook and its result to open."""
    items = []
    for o in misses(answered):
        sure = f"{mark('missed', 'sure, and missed')}: " if o.confidence == "sure" else ""
        result = f"{escape('You said ' + ', '.join(o.answer) + ', and it came out as ')}{_result(o)}."
        hidden = f"<details><summary>Show the result</summary>{result}</details>"
        items.append(f"<li>{sure}{escape(o.question)} ({notebook_link(o.notebook, notebooks)}) {hidden}</li>")
    if not items:
        return ""
    return paragraph("Ask yourself again, before you open the result:") + f"<ul>{''.join(items)}</ul>"


def by_notebook(answered: Sequence[Outcome], notebooks: str | None) -> list[tuple[str, str]]:
    """Return each notebook's name and a table of its predictions, in the order in which they were answered."""
    tables = []
    for name in dict.fromkeys(o.notebook for o in answered):
        rows = [
            [escape(o.question), escape(", ".join(o.answer)), escape(o.confidence), _result(o), _verdict(o)]
            for o in answered
            if o.notebook == name
        ]
        headers = ["Question", "You predicted", "How sure", "Result", "Verdict"]
        caption = f"Predicted against actual in {name}"
        link = "" if notebooks is None else f"<p>{notebook_link(name, notebooks)}</p>"
        tables.append((f"{name} ({len(rows)})", link + readable_table(caption, headers, rows)))
    return tables


def exercises_by_notebook(record: Record) -> str:
    """Return a table of the exercises that were tried, with their notebooks, or ""."""
    events = record.events()
    titles = {event["key"]: event["title"] for event in events if event["kind"] == "exercise"}
    rows = []
    for key, title in titles.items():
        about = [event for event in events if event["key"] == key]
        tried = [event["outcome"] for event in about if event["kind"] == "exercise"]
        state = mark("retrieved", "solved") if "right" in tried else mark("missed", "not solved yet")
        helped = [kind for kind in ("hint", "solution") if any(event["kind"] == kind for event in about)]
        help_taken = " and ".join(helped) or "none"
        rows.append([escape(title), escape(notebook_of(key)), str(len(tried)), state, escape(help_taken)])
    headers = ["Exercise", "Notebook", "Attempts", "State", "Help taken"]
    return readable_table("Exercises you tried", headers, rows, numbers=[2]) if rows else ""


def notebook_link(name: str, notebooks: str | None) -> str:
    """Return a notebook's name as a link to its file, or as text where it is no plain name or None is given."""
    if notebooks is None or name == "elsewhere" or not re.fullmatch(r"[A-Za-z0-9_]+", name):
        return escape(name)
    return f'<a href="{escape(notebooks)}{name}.ipynb">{name}</a>'


def readable_table(
    caption: str, headers: Sequence[str], rows: Iterable[Sequence[str]], numbers: Sequence[int] = ()
) -> str:
    """Return a table with a caption, and with the first cell of each row as its header, as screen readers want it.

    Caption and headers are plain text, cells are HTML; `numbers` are the columns to set right-aligned.
    """

    def line(cells: Sequence[str], tag: str, scope: str) -> str:
        first = f'<th scope="{scope}">{cells[0]}</th>'
        rest = enumerate(cells[1:], 1)
        aligned = [(' class="vr-num"' if column in numbers else "", cell) for column, cell in rest]
        return f"<tr>{first}{''.join(f'<{tag}{kind}>{cell}</{tag[:2]}>' for kind, cell in aligned)}</tr>"

    head = line([escape(header) for header in headers], 'th scope="col"', "col")
    body = "".join(line(row, "td", "row") for row in rows)
    return f"<table><caption>{escape(caption)}</caption><thead>{head}</thead><tbody>{body}</tbody></table>"


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"
