"""Where navigation breaks: titles that lie, models that misbehave, answers that stand everywhere, twenty documents."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from course_lib.corpora import navigation_questions as labelled
from course_lib.learn.look import Shown, card, escape, mark, table
from course_lib.lessons.move3_navigation.tracing import LATE, outline
from course_lib.llm import ModelError
from course_lib.navigation.bill import all_right
from course_lib.navigation.documents import read_agreement
from course_lib.navigation.loop import ANSWER, Run, navigate, read
from course_lib.navigation.models import FIRST_LINES, TITLES, Lexical, document_chooser, lexical_navigator
from course_lib.navigation.outline import Outline, build, from_sections
from course_lib.navigation.tree import Heading

STEPS = 12

# --- Models that misbehave ------------------------------------------------------------------------------------------


def _cut_off() -> ModelError:
    return ModelError(
        "The reply was cut at its limit.", "cut off", for_model="your reply was cut off: write a shorter reason"
    )


SCRIPTS: dict[str, tuple[object, ...]] = {
    "other capitals": (read("7.3"), read("b"), ANSWER),
    "the title in the place of the id": (read("Late payment"), read("7.3"), read("B"), ANSWER),
    "a section that does not exist": (read("7.4"), read("7.3"), read("B"), ANSWER),
    "the same section twice": (read("7.3"), read("7.3"), read("B"), ANSWER),
    "no JSON that fits": ("I would open 7.3.", read("7.3"), read("B"), ANSWER),
    "an answer with nothing read": (ANSWER,),
    "a reply that is cut off": (_cut_off(), read("7.3"), read("B"), ANSWER),
    "a refusal": (read("7.3"), ModelError("The model refused to go on.", "refusal")),
    "a service that is overloaded": (read("7.3"), ModelError("The service is overloaded (529).", "overloaded")),
}


def scripted(said: Sequence[object]) -> Callable[..., Any]:
    """Return a model that says one thing after another, and raises what is an error."""
    script = iter(said)

    def model(question: str, toc: str, evidence: Mapping[str, str], error: str | None = None) -> Any:
        word = next(script)
        if isinstance(word, ModelError):
            raise word
        return word

    return model


def misbehaving() -> dict[str, Run]:
    """Return a run for each script: what a model does wrong, and how the loop bears it."""
    return {name: navigate(LATE, outline(), scripted(said)) for name, said in SCRIPTS.items()}


def show_misbehaving(runs: Mapping[str, Run]) -> Shown:
    """Return for each run what the model was told, what it had read in the end, and how it ended."""
    rows = []
    for name, run in runs.items():
        told = next((step.error for step in run.steps if step.error), None)
        kept = ", ".join(run.evidence) or "nothing"
        accent = mark("retrieved", kept) if list(run.evidence) == ["7.3", "B"] else mark("missed", kept)
        rows.append([escape(name), escape(_short(told or "–")), str(len(run.steps)), accent, escape(run.ending)])
    return Shown(card("", table(["The model sends", "It is told", "Calls", "Evidence", "The run ends"], rows, (2,))))


def _short(text: str, most: int = 90) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


# --- Titles that lie ------------------------------------------------------------------------------------------------

CAP_ID = "36.1"  # the section on the limit of damages


@cache
def _under(title: str) -> Outline:
    """Return the agreement of 400 sections with the limit of damages under `title`, and a summary of that section."""
    made = from_sections(labelled.lying(title), "Outsourcing agreement")
    nodes = (replace(node, summary=labelled.CAP_SUMMARY) if node.id == CAP_ID else node for node in made.nodes)
    return replace(made, nodes=tuple(nodes))


NAVIGATORS = {"titles": TITLES, "first lines": FIRST_LINES, "summaries": Lexical(summaries=True)}


def paths_under(title: str) -> dict[str, list[str]]:
    """Return what three navigators read for the question on damages when their section is called `title`."""
    made = _under(title)
    return {
        name: navigate(labelled.CAP_QUESTION, made, lexical_navigator(made, how), STEPS).path
        for name, how in NAVIGATORS.items()
    }


def show_paths(by_title: Mapping[str, Mapping[str, Sequence[str]]]) -> Shown:
    """Return what each navigator read under each title, the section that is needed marked."""
    rows = []
    for title, paths in by_title.items():
        for at, (name, path) in enumerate(paths.items()):
            found = mark("retrieved", f"read {CAP_ID}") if CAP_ID in path else mark("missed", f"{CAP_ID} not read")
            rows.append([escape(title) if at == 0 else "", escape(name), ", ".join(path), found])
    return Shown(card(labelled.CAP_QUESTION, table(["Its title", "Navigator", "Read", ""], rows)))


# --- A wrong first turn ---------------------------------------------------------------------------------------------


def show_compounding(rates: Sequence[float] = (0.99, 0.95, 0.9, 0.8), steps: Sequence[int] = (1, 2, 3, 5, 8)) -> Shown:
    """Return how often every step is right, for several rates a step and several numbers of steps."""
    rows = [[f"{rate:.0%} of steps right", *(f"{all_right(rate, n):.0%}" for n in steps)] for rate in rates]
    headers = ["All right in …", *(f"{n} step{'' if n == 1 else 's'}" for n in steps)]
    return Shown(card("", table(headers, rows, numbers=range(1, len(headers)))))


# --- Answers that stand everywhere ----------------------------------------------------------------------------------

PERCENTAGES = "List every section that names a percentage."


@cache
def large_outline() -> Outline:
    """Return the agreement of 400 sections and twelve schedules as an outline with its articles."""
    document = labelled.agreement_document()
    return build(document.text, [Heading(*heading) for heading in document.headings], document.title)


def spread_reads() -> tuple[list[str], list[str]]:
    """Return the sections that name a percentage, and those of them that the best offline navigator reads."""
    question = next(q for q in labelled.agreement_questions() if q.text == PERCENTAGES)
    gold = [ids[0] for ids in question.pieces]
    made = large_outline()
    path = navigate(question.text, made, lexical_navigator(made, FIRST_LINES), STEPS).path
    return gold, [id for id in path if id in gold]


# --- Twenty documents -----------------------------------------------------------------------------------------------


@cache
def twenty_outlines() -> Mapping[str, Outline]:
    """Return twenty vendor agreements as outlines, by id: their headings are nearly all the same."""
    return {one.id: read_agreement(one.text, one.vendor) for one in labelled.twenty_documents()}


def show_choices(questions: Sequence[str], k: int = 3) -> Shown:
    """Return which documents a search over titles and contents finds first, for each question."""
    choose = document_chooser(twenty_outlines())
    rows = []
    for question in questions:
        for at, hit in enumerate(choose(question, k)):
            title = twenty_outlines()[hit.id].title
            rows.append([escape(question) if at == 0 else "", hit.id, escape(title), f"{hit.score:.2f}"])
    return Shown(card("", table(["Question", "Document", "Vendor", "Score"], rows, numbers=(3,))))


# --- References in a circle -----------------------------------------------------------------------------------------

CIRCLE = (
    ("7.3", "Late payment", "Interest is due at the rate in Schedule B, see also Section 7.3a."),
    ("B", "Schedule B: Rates", "12% a year, for amounts that are late under Section 7.3."),
)


def circle() -> Outline:
    """Return two sections that refer to each other, one of them also to a section that does not exist."""
    return from_sections(CIRCLE, "In a circle")


def reference_rows(made: Outline) -> list[list[str]]:
    """Return each reference of a document: where it stands, what is printed, where it leads, what is to be said."""
    return [[r.source, r.printed, ", ".join(r.targets) or "nowhere", r.note] for r in made.references]


def show_references(*outlines: Outline) -> Shown:
    """Return the references of several documents, and where each leads."""
    rows = [[escape(o.title), *map(escape, row)] for o in outlines for row in reference_rows(o)]
    return Shown(card("", table(["Document", "In", "Printed", "Leads to", "Note"], rows)))
