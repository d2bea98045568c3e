"""What the notebook shows of a folder, of labels, and of a comparison."""

from collections.abc import Iterable, Sequence
from statistics import fmean

from course_lib.evaluation.compare import ALL, Comparison, Outcome
from course_lib.evaluation.documents import Corpus
from course_lib.evaluation.labelling import Labelling
from course_lib.evaluation.questions import SHAPES, UNSORTED, Question, same_text
from course_lib.evaluation.summary import Decision, Number, line
from course_lib.learn.look import Shown, card, escape, mark, paragraph, table

# --- The folder -----------------------------------------------------------------------------------------------------


def unread_table(corpus: Corpus) -> str:
    """Return what was not read, each with its reason, as HTML."""
    if not corpus.unread:
        return paragraph("Every file was read.", "retrieved")
    rows = [[mark("missed", one.name), escape(one.why)] for one in corpus.unread]
    return table(["Not read, or only in part", "Why"], rows)


def read_in_all(corpus: Corpus) -> str:
    """Return how much was read, as a sentence."""
    documents, sections = _counted(len(corpus.documents), "document"), _counted(len(corpus.sections), "section")
    return f"{documents} {'was' if len(corpus.documents) == 1 else 'were'} read, in {sections}."


def show_unread(corpus: Corpus) -> Shown:
    """Return what could not be read, and what was passed over."""
    passed = [one for one in corpus.remarks if "no structure" not in one]
    return Shown(card("", paragraph(read_in_all(corpus)), unread_table(corpus), *map(paragraph, passed)))


def show_outlines(corpus: Corpus, lines: int = 60) -> Shown:
    """Return each document's table of contents to open, or the verdict where there is none to go by."""
    return Shown(card("", *outlines_html(corpus, lines)))


def outlines_html(corpus: Corpus, lines: int = 60) -> list[str]:
    """Return the same as pieces of HTML, one for each document."""
    pieces = []
    for one in corpus.documents:
        if one.outline.verdict is not None:
            pieces.append(f"<p><b>{escape(one.name)}</b></p>{paragraph(one.outline.verdict, 'missed')}")
            continue
        toc = one.outline.toc().splitlines()
        cut = [f"… {len(toc) - lines} more"] if len(toc) > lines else []
        listed = escape("\n".join([*toc[:lines], *cut]))
        pieces.append(
            f"<details><summary><b>{escape(one.name)}</b>: {len(toc)} headings</summary><pre>{listed}</pre></details>"
        )
    return pieces


# --- Labels ---------------------------------------------------------------------------------------------------------


def show_sorting(labelling: Labelling, ours: Iterable[Question]) -> Shown:
    """Return the learner's shapes beside the course's; the course's are shown for questions that are sorted."""
    shapes = {same_text(question.text): question.shape for question in ours}
    rows, alike = [], 0
    for question in labelling.questions:
        theirs = shapes.get(same_text(question.text), "")
        if question.shape == UNSORTED:
            rows.append([escape(question.text), "not sorted yet", ""])
            continue
        same = question.shape == theirs
        alike += same
        rows.append([escape(question.text), mark("retrieved" if same else "missed", question.shape), escape(theirs)])
    done = sum(row[1] != "not sorted yet" for row in rows)
    said = f"{done} of {len(rows)} are sorted, {alike} of them as we did."
    return Shown(card("", paragraph(said), table(["Question", "Yours", "Ours"], rows)))


# --- A comparison ---------------------------------------------------------------------------------------------------


def found(comparison: Comparison, system: str, shape: str = ALL) -> tuple[int, int]:
    """Return for how many questions what was needed was found, and on how many that was measured."""
    verdicts = [one.found for one in comparison.of(system, shape) if one.found is not None]
    return sum(verdicts), len(verdicts)


def finds_least(comparison: Comparison, system: str) -> str:
    """Return the shape on which a system finds the smallest share."""
    measured = {shape: found(comparison, system, shape) for shape in comparison.shapes}
    return min((shape for shape in measured if measured[shape][1]), key=lambda s: measured[s][0] / measured[s][1])


def complete(comparison: Comparison, system: str, shape: str) -> int:
    """Return for how many questions of a shape everything that was needed was found."""
    return sum(one.recall == 1 for one in comparison.of(system, shape))


def shapes_table(comparison: Comparison) -> str:
    """Return for each shape and system on how many questions what is needed was found, as HTML."""
    rows = []
    for shape in (*comparison.shapes, ALL):
        cells = [found(comparison, system, shape) for system in comparison.systems]
        most = max((hits / n for hits, n in cells if n), default=0)
        shown = [_cell(hits, n, most, shape) for hits, n in cells]
        rows.append([f"<b>{escape(shape)}</b>" if shape == ALL else escape(shape), *shown])
    return table(["Found", *comparison.systems], rows, numbers=range(1, len(comparison.systems) + 1))


def _cell(hits: int, n: int, most: float, shape: str) -> str:
    if not n:
        return "not measured"
    said = f"{hits} of {n}"
    return mark("gold", said) if shape != ALL and hits and hits / n == most else escape(said)


def show_shapes(comparison: Comparison) -> Shown:
    """Return the table with what its mark means."""
    said = f"k = {comparison.k}. ★ marks the most in a row; a section that is needed was among what came back."
    return Shown(card("Was what is needed found?", shapes_table(comparison), paragraph(said)))


def show_numbers(comparison: Comparison, shape: str) -> Shown:
    """Return the four numbers of each system on one shape; the last one, seconds, is another on each machine."""
    lines = [line(comparison, system, shape) for system in comparison.systems]
    rows = [
        [one.system, one.answers.shown(), f"{one.metric}: {one.retrieval.shown()}", one.usd.shown(), _p95(one.p95)]
        for one in lines
    ]
    headers = ["System", "Answer accuracy", "Retrieval", "USD per 1,000", "p95"]
    return Shown(card(shape, table(headers, [[escape(cell) for cell in row] for row in rows])))


def _p95(p95: Number) -> str:
    return p95.shown() if p95.value is None else f"{1000 * p95.value:.1f} ms"


def show_found(comparison: Comparison, system: str, shape: str) -> Shown:
    """Return for each question of a shape which of the sections needed came, which did not, and what came instead."""
    rows = [_sections(one) for one in comparison.of(system, shape)]
    return Shown(card(f"{system}, {shape}", table(["Question", "Needed", "Came besides"], rows)))


def _sections(one: Outcome) -> list[str]:
    ids = one.response.ids or () if one.response else ()
    needed = [mark("retrieved" if id in ids else "missed", id) for id in one.question.gold]
    besides = [escape(id) for id in ids if id not in one.question.gold]
    return [escape(one.question.text), "<br>".join(needed), "<br>".join(besides) or "nothing"]


def show_answers(comparison: Comparison, system: str, shape: str) -> Shown:
    """Return a system's answers to the questions of a shape beside what was expected."""
    rows = [
        [
            escape(one.question.text),
            mark("gold", one.question.expected or "not said"),
            mark("retrieved" if one.right else "missed", (one.response and one.response.answer) or "no evidence"),
        ]
        for one in comparison.of(system, shape)
    ]
    return Shown(card(f"{system}, {shape}", table(["Question", "Expected", "Answered"], rows)))


def decisions_html(decisions: Sequence[Decision]) -> str:
    """Return the decisions as HTML: for each shape what is taken, why, what it gives up, what to track."""
    pieces = []
    for one in decisions:
        taken = mark("retrieved", one.system) if one.system else mark("missed", "none of these")
        pieces.append(f"<p><b>{escape(one.shape)}</b>: {taken}<br>{escape(f'{one.reason} {one.gives_up}')}<br>")
        pieces.append(f"Track: {escape(one.track)}.</p>")
    return "".join(pieces)


def show_decisions(decisions: Sequence[Decision]) -> Shown:
    """Return the decisions in a card."""
    return Shown(card("", decisions_html(decisions)))


# --- The sentence for the team --------------------------------------------------------------------------------------


def for_the_team(comparison: Comparison, decisions: Sequence[Decision], wanted: float, today: str = "") -> str:
    """Return what to tell the team, made from the results: who takes what, what that finds, what is not known yet.

    `today` names the system that runs now, where it took part.
    """
    blank = [one.shape for one in decisions if not _is_measured(comparison, one.shape)]
    taken: dict[str, list[str]] = {}
    for one in decisions:
        if one.shape not in blank:
            taken.setdefault(one.system or "", []).append(one.shape)
    sizes = sorted(len(comparison.of(comparison.systems[0], shape)) for shape in comparison.shapes)
    sentences = [
        f"We asked {_counted(len(comparison.systems), 'system')} {_counted(len(comparison.questions), 'question')} of "
        f"our own, and wanted "
        f"{100 * wanted:.0f} % of each shape.",
        *(f"{_said(system, today)} {_plural(shapes)}." for system, shapes in taken.items() if system),
        *([f"For {_plural(taken[''])} none of them is good enough."] if "" in taken else []),
        *([f"For {_plural(blank)} nothing was measured."] if blank else []),
        *_together(comparison, decisions, today),
        f"With {_range(sizes)} a shape this is a first look: the choice was made on the questions that it is "
        f"scored on, so we label new ones before we rely on it.",
    ]
    return " ".join(sentences)


def _said(system: str, today: str) -> str:
    return "What runs today stays for" if system == today else f"{system} takes"


def _plural(shapes: Sequence[str]) -> str:
    words = [f"{shape}s" if shape in SHAPES else f"“{shape}”" for shape in shapes]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _range(sizes: Sequence[int]) -> str:
    return _counted(sizes[0], "question") if sizes[0] == sizes[-1] else f"{sizes[0]} to {sizes[-1]} questions"


def _counted(number: int, of: str) -> str:
    return f"{number} {of}" if number == 1 else f"{number} {of}s"


def _is_measured(comparison: Comparison, shape: str) -> bool:
    outcomes = (one for system in comparison.systems for one in comparison.of(system, shape))
    return any(one.found is not None or one.right is not None for one in outcomes)


def _together(comparison: Comparison, decisions: Sequence[Decision], today: str) -> list[str]:
    """Return what the chosen systems find together, beside what runs today and what its answers are worth."""
    parts = [(one.system, one.shape) for one in decisions if one.system]
    counts = [found(comparison, system, shape) for system, shape in parts]
    hits, n = sum(a for a, _ in counts), sum(b for _, b in counts)
    if not n:
        return []
    said = [f"Together these find what is needed for {hits} of their {n} questions{_at(comparison, parts)}."]
    if today in comparison.systems:
        now, asked = found(comparison, today)
        cost = _at(comparison, [(today, shape) for shape in comparison.shapes])
        said.append(f"What runs today finds {now} of {asked}{cost}{_right_now(comparison, today)}.")
    return said


def _at(comparison: Comparison, parts: Sequence[tuple[str, str]]) -> str:
    """Return what 1,000 questions in the mix of these would cost, or "" where one of the costs is not known."""
    asked = [one for system, shape in parts for one in comparison.of(system, shape)]
    costs = [one.response.usd for one in asked if one.response and one.response.usd is not None]
    return f" at USD {1000 * fmean(costs):.2f} per 1,000" if asked and len(costs) == len(asked) else ""


def _right_now(comparison: Comparison, today: str) -> str:
    answers = line(comparison, today).answers
    return (
        "" if answers.value is None else f", and {answers.value * answers.n:.0f} of its {answers.n} answers are right"
    )
