"""Runs over the agreement of fourteen sections: the outline, traces as tables, and the player that replays a run."""

from collections.abc import Mapping, Sequence
from functools import cache

from course_lib.corpora import DATA, agreement
from course_lib.dense import DenseIndex, load_encoder
from course_lib.learn.explorer import Choice, Control, Explorer, Slider
from course_lib.learn.look import Shown, card, escape, mark, paragraph, table
from course_lib.navigation.comparison import node_recall
from course_lib.navigation.loop import Navigator, Run, navigate
from course_lib.navigation.models import careless_model, following, stub_model, titles_of
from course_lib.navigation.outline import Outline, from_sections
from course_lib.navigation.trace import Frame, frames
from course_lib.pricing import Price, load_prices
from course_lib.retrieval import Hit

LATE = agreement.QUESTIONS[0].text
SUSPEND = agreement.QUESTIONS[1].text
DATA_AT_THE_END = agreement.QUESTIONS[2].text
FIVE = tuple(question.text for question in agreement.QUESTIONS)
BUDGET = 6


@cache
def outline() -> Outline:
    """Return the agreement of fourteen sections as an outline, with the ids that it has."""
    return from_sections(((s.id, s.title, s.text) for s in agreement.sections()), "Services agreement")


@cache
def price() -> Price:
    """Return the round prices that this notebook reckons with: the first of data/prices.json."""
    return next(iter(load_prices(DATA / "prices.json").values()))


def dense_top(question: str, k: int) -> list[Hit]:
    """Return the k sections that MiniLM ranks first, as the opening notebook searched them."""
    index = DenseIndex({s.id: s.chunk for s in agreement.sections()}, load_encoder(agreement.VECTORS))
    return index.search(question, k)


# --- Traces as tables ----------------------------------------------------------------------------------------------


def show_traces(traces: Mapping[str, Sequence[Sequence[object]]]) -> Shown:
    """Return traces under one another: for each model its steps as (step, what, detail)."""
    rows = [
        [escape(model) if at == 0 else "", *(escape(cell) for cell in row)]
        for model, steps in traces.items()
        for at, row in enumerate(steps)
    ]
    return Shown(card("", table(["Model", "Call", "What", "Detail"], rows)))


def show_growth(question: str, said: Sequence[str]) -> Shown:
    """Return what a model sees in each call of a loop, given what it says: all of it is sent again every time."""
    rows, evidence = [], list[str]()
    for number, word in enumerate(said, start=1):
        seen = " + ".join(["question", "contents", *(f"text of {id}" for id in evidence)])
        rows.append([str(number), escape(seen), f"<b>{escape(word)}</b>", escape(_does(word))])
        evidence += [word.removeprefix("read ")] if word.startswith("read ") else []
    return Shown(card(question, table(["Call", "What the model sees", "What it writes", "What your code does"], rows)))


def _does(word: str) -> str:
    return f"looks up {word.removeprefix('read ')}, adds its text" if word.startswith("read ") else "ends the loop"


def show_scores(walks: Mapping[str, Sequence[str]]) -> Shown:
    """Return for each labelled question what is needed, what each of two searches had, and its node recall.

    `walks` maps each question's text to the ids that a navigator read; beside it stands dense retrieval with k = 3.
    """
    rows, sums = [], [0.0, 0.0]
    for question in agreement.QUESTIONS:
        pieces = [(id,) for id in question.gold]
        cells = [escape(question.text), ", ".join(question.gold)]
        for at, ids in enumerate((walks[question.text], [hit.id for hit in dense_top(question.text, 3)])):
            recall = node_recall(pieces, frozenset(ids))
            sums[at] += recall
            cells += [", ".join(ids), f"{recall:.2f}"]
        rows.append(cells)
    n = len(agreement.QUESTIONS)
    rows.append([f"<b>mean, n = {n}</b>", "", "", f"<b>{sums[0] / n:.2f}</b>", "", f"<b>{sums[1] / n:.2f}</b>"])
    headers = ["Question", "Needed", "The navigator read", "Recall", "Dense, k = 3", "Recall"]
    return Shown(card("", table(headers, rows, numbers=(3, 5))))


# --- The player ----------------------------------------------------------------------------------------------------


@cache
def known_runs() -> Mapping[str, Run]:
    """Return the runs that the player comes with."""

    def run(question: str, model: Navigator, drop_errors: bool = False) -> Run:
        return navigate(question, outline(), model, BUDGET, drop_errors=drop_errors, price=price())

    return {
        "interest: the stub": run(LATE, stub_model),
        "interest: the careless model": run(LATE, careless_model),
        "interest: careless, errors dropped": run(LATE, careless_model, drop_errors=True),
        "suspension: the stub": run(SUSPEND, stub_model),
        "suspension: one that opens 8": run(SUSPEND, following(["8"])),
    }


def draw_run(run: Run, step: int) -> str:
    """Return a run as it stood behind a step: contents on the left, evidence on the right, tokens and money so far."""
    shown = frames(run)
    at = min(step, len(shown) - 1)
    frame, last = shown[at], at == len(shown) - 1
    left = "".join(f"<div>{_line(id, title, frame, _missed(run, frame, last))}</div>" for id, title in _contents())
    right = "".join(_section(id, text, id in frame.added) for id, text in frame.evidence.items())
    columns = (
        '<div style="display:flex;flex-wrap:wrap;gap:4px 16px;line-height:1.45">'
        f'<div style="flex:1 1 210px"><p><b>Contents</b></p>{left}</div>'
        f'<div style="flex:1 1 230px"><p><b>Evidence</b></p>{right or paragraph("nothing yet")}</div></div>'
    )
    money = "" if frame.usd is None else f", USD {frame.usd:.5f}"
    so_far = paragraph(f"So far: {at} {'call' if at == 1 else 'calls'}, {frame.tokens:,} input tokens{money}.")
    return paragraph(run.question) + _happened(frame, len(run.steps)) + columns + so_far + _ended(run, last)


def _contents() -> list[tuple[str, str]]:
    return list(titles_of(outline().toc()).items())


def _missed(run: Run, frame: Frame, last: bool) -> frozenset[str]:
    """Return what the question needs and a finished run has not read; nothing before the end."""
    gold = next((q.gold for q in agreement.QUESTIONS if q.text == run.question), ())
    return frozenset(gold) - frozenset(frame.evidence) if last else frozenset()


def _line(id: str, title: str, frame: Frame, missed: frozenset[str]) -> str:
    line = f"[{id}] {title}"
    if id in missed:
        return mark("missed", f"{line} (needed, not read)")
    if id in frame.evidence:
        return mark("retrieved", f"{line} ({'read now' if id in frame.added else 'read'})")
    return escape(line)


def _section(id: str, text: str, new: bool) -> str:
    return f"<p>{mark('retrieved' if new else 'plain', f'[{id}]')} {escape(text)}</p>"


def _happened(frame: Frame, steps: int) -> str:
    step = frame.step
    if step is None:
        return paragraph("Before the first call: the model sees the question and the contents.")
    asked = f"{step.action} {', '.join(step.asked)}".strip()
    told = paragraph(f"Your code: {step.error}", "missed") if step.error else ""
    return paragraph(f"Call {step.number} of {steps}. The model: {asked}.") + told


def _ended(run: Run, last: bool) -> str:
    if not last:
        return ""
    return paragraph(f"The run ends: {run.ending}.{' ' + run.gap if run.gap else ''}")


def trace_player(more: Mapping[str, Run] | None = None) -> Explorer:
    """Return the player: a run and a step. `more` are runs of one's own over this agreement, shown first."""
    runs = {**(more or {}), **known_runs()}

    def draw(run: str, step: int) -> str:
        return draw_run(runs[run], step)

    controls: dict[str, Control] = {
        "run": Choice("Run", tuple(runs), next(iter(runs))),
        "step": Slider("Step", 0, max(len(run.steps) for run in runs.values()), 1),
    }
    return Explorer("Replay a run, forward and back", controls, draw)
