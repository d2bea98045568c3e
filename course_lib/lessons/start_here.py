"""The opening notebook: the rate that lived in Schedule B."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from course_lib.corpora import agreement
from course_lib.dense import DenseIndex, load_encoder
from course_lib.learn.exercises import Exercise, call, describe
from course_lib.learn.explorer import Choice, Control, Explorer, Slider, Text
from course_lib.learn.lesson import Lesson
from course_lib.learn.look import Accent, Shown, card, escape, mark, paragraph, table
from course_lib.learn.predictions import Option, Question
from course_lib.retrieval import Hit, Outcome, outcome, rank_of

# --- Predictions, in the order of the notebook ---------------------------------------------------------------------

NEARER = Question(
    key="nearer",
    text="A tenant asks “When must we pay the bill?”. Which text does the encoder place nearer to that question?",
    options=(
        Option(
            "Invoices are due 30 days after the invoice date.",
            "it shares no telling word with the question, which is why a keyword habit passes it over.",
            short="invoices",
        ),
        Option(
            "The duck cleaned its bill in the pond.",
            "it shares the word “bill”, and a search that matches words would take it; "
            "an encoder reads the word together with its neighbours.",
            short="duck",
        ),
    ),
    right=lambda cosines: ["invoices" if cosines[0] > cosines[1] else "duck"],
    result="cosines",
    lesson_learned="An encoder places texts by what they are about, and the words may differ. Keep that in mind: it is "
    "the strength of the classic pipeline, and in a moment it is what misleads it.",
)

TOP_THREE = Question(
    key="top3",
    text="“How much interest do we owe if we pay an invoice 20 days late?” Tick the three sections that the pipeline "
    "puts into the prompt.",
    options=tuple(
        Option(f"{number} {title}", why, short=number)
        for number, title, why in (
            ("1", "Definitions", "it defines Fees, but the question speaks of an invoice and of being late."),
            ("2", "Services", "it says what is delivered, and money does not come up in it."),
            ("3", "Service levels", "it speaks of credits that the provider pays, the other direction of money."),
            ("4", "Customer data", "“30 days” is in it, but about deletion."),
            ("5", "Confidentiality", "nothing in it is about payment."),
            ("6", "Term and renewal", "it is full of periods and days, but about renewing."),
            ("7.1", "Invoicing", ""),
            ("7.2", "Disputed invoices", ""),
            ("7.3", "Late payment", ""),
            ("8", "Suspension", "it is about paying late, and it came close: only what follows is not interest."),
            ("9.1", "Termination for convenience", "it has a notice period in days, and nothing about paying."),
            ("9.2", "Termination for cause", "it has days in it, but about curing a breach."),
            ("A", "Schedule A: Service levels", "it has percentages of Fees in it, but about availability."),
            (
                "B",
                "Schedule B: Rates and charges",
                "you know that the rate stands there. The encoder only sees a list of charges: storage, "
                "reinstatement, overdue amounts; an invoice paid late resembles 7.1 to 7.3 more.",
            ),
        )
    ),
    right=list,
    result="top6",
    lesson_learned="The three sections that sound most like the question are all about invoices. One of them, 7.3, "
    "names the place where the answer stands; none of them holds it.",
    pick=3,
)

SCHEDULE_B = Question(
    key="schedule_b",
    text="And Schedule B, where the interest rate stands: at which place of the fourteen does it come?",
    options=(
        Option("1st", "it holds the answer, and that is not what is measured: resemblance to the question is."),
        Option("2nd or 3rd", "that would be enough to reach the prompt, and it is what the design counts on."),
        Option("4th to 6th"),
        Option("7th or lower", "a list of charges has little of the question in it, but overdue amounts do count."),
    ),
    right=lambda rank: [place_of(rank)],
    result="top6",
    lesson_learned="The text that answers a question need not resemble it. Here the question resembles the pointer "
    "(7.3), and the pointer's target is somewhere else.",
)

POOL_OF_FIFTY = Question(
    key="pool50",
    text="A colleague raises the pool to 50 and leaves the cut-off at 3. What is the name of Schedule B's failure now?",
    options=(
        Option("not retrieved", "it was, while the pool was 3; with 50 places all fourteen sections are in the pool."),
        Option("ranked out"),
        Option("no failure: it is in the prompt", "a larger pool lets it in, but three still go on to the prompt."),
    ),
    right=lambda name: [name if name != "in the prompt" else "no failure: it is in the prompt"],
    result="name_at_50",
    lesson_learned="The two names call for different repairs: not retrieved asks for another way to find candidates, "
    "ranked out for a better order or a higher cut-off.",
)


def place_of(rank: int | None) -> str:
    """Return the option of the question on Schedule B that `rank` (from 1, None = never returned) falls into."""
    if rank is None or rank > 6:
        return "7th or lower"
    return "1st" if rank == 1 else "2nd or 3rd" if rank <= 3 else "4th to 6th"


# --- The exercise --------------------------------------------------------------------------------------------------

NAMES: tuple[Outcome, ...] = ("not retrieved", "ranked out", "in the prompt")

CASES: tuple[tuple[int | None, int, int], ...] = (
    (4, 3, 3),
    (4, 50, 3),
    (2, 50, 3),
    (3, 50, 3),
    (50, 50, 3),
    (51, 50, 3),
    (2, 1, 3),
    (None, 50, 3),
)


def judge_name_the_failure(function: Any) -> str | None:
    """Try the learner's function on cases in and around both limits; see `Exercise.judge`."""
    for rank, pool, k in CASES:
        found = call(function, rank, pool, k)
        asked = f"With rank = {rank}, pool = {pool}, k = {k} it returned {describe(found)}."
        if not isinstance(found, str) or found not in NAMES:
            return f"{asked} That is not one of the three names: {', '.join(NAMES)}."
        if found != outcome(rank, pool, k):
            return f"{asked} {_question_to_ask(rank, pool, k)}"
    return None


def _question_to_ask(rank: int | None, pool: int, k: int) -> str:
    if rank is None:
        return "A rank of None means that the retriever never returned the section, at any depth."
    if rank in (pool, k):
        return "Look at the limit itself: a pool of 50 has a place for the section that is ranked 50th."
    if pool < k:
        return "The cut-off can only choose from what is in the pool."
    return "Ask the two questions in order: did it enter the pool, and was it among the best k of the pool?"


NAME_THE_FAILURE = Exercise(
    key="name_the_failure",
    title="Name the failure",
    judge=judge_name_the_failure,
    right="Your function tells a pool that is too small from an order that is wrong, also at both limits.",
    hint="Compare the rank with the pool first: a section outside the pool cannot be ranked out. And try None, which "
    "cannot be compared with a number.",
    solution="""\
def name_the_failure(rank, pool, k):
    if rank is None or rank > pool:
        return "not retrieved"
    if rank > k:
        return "ranked out"
    return "in the prompt"
""",
)

# --- The explorer --------------------------------------------------------------------------------------------------


@cache
def agreement_index() -> DenseIndex:
    """Return the agreement, encoded; its own texts come from the vector cache."""
    return DenseIndex({s.id: s.chunk for s in agreement.sections()}, load_encoder(agreement.VECTORS))


def draw_pipeline(question: str, own: str, k: int, pool: int) -> str:
    """Return the ranking for a labelled question, or for the learner's own, with what reaches the prompt."""
    asked = own.strip() or question
    gold = next((q.gold for q in agreement.QUESTIONS if q.text == asked), ())
    hits = agreement_index().search(asked, k=len(agreement.sections()))
    rows = [_row(rank, hit, gold, outcome(rank, pool, k)) for rank, hit in enumerate(hits, start=1)]
    return verdict(hits, gold, pool, k) + table(["Rank", "Cosine", "Section", "", "State"], rows, numbers=[0, 1])


def _row(rank: int, hit: Hit, gold: Sequence[str], state: Outcome) -> list[str]:
    """Return one line of the ranking; only a needed section that does not arrive is marked as missed."""
    title = next(s.title for s in agreement.sections() if s.id == hit.id)
    name = title if title.startswith("Schedule") else f"{hit.id} {title}"
    needed = mark("gold", "needed") if hit.id in gold else ""
    accent: Accent = "retrieved" if state == "in the prompt" else "missed" if needed else "plain"
    return [str(rank), f"{hit.score:.4f}", escape(name), needed, mark(accent, state)]


def verdict(hits: Sequence[Hit], gold: Sequence[str], pool: int, k: int) -> str:
    """Return one sentence a needed section: where it stands and what happened to it."""
    if not gold:
        return paragraph("Your own question has no label, so no failure can be named. Which section would answer it?")
    ids = [hit.id for hit in hits]
    pieces = []
    for needed in gold:
        rank = rank_of(ids, needed)
        what = outcome(rank, pool, k)
        text = f"{'Schedule' if needed.isalpha() else 'Section'} {needed} is at rank {rank}: {what}."
        pieces.append(paragraph(text, "retrieved" if what == "in the prompt" else "missed"))
    return "".join(pieces)


def read_sections(*ids: str) -> Shown:
    """Return the named sections of the agreement, title and text, to be read."""
    chosen = [section for section in agreement.sections() if section.id in ids]
    return Shown(card("", *(f"<p><b>{escape(s.id)} {escape(s.title)}</b><br>{escape(s.text)}</p>" for s in chosen)))


def pipeline_explorer() -> Explorer:
    """Return the explorer: a question, the cut-off and the pool, and what reaches the prompt."""
    texts = tuple(question.text for question in agreement.QUESTIONS)
    controls: dict[str, Control] = {
        "question": Choice("Question", texts, texts[0]),
        "own": Text("Or your own", placeholder="Type a question and press Enter"),
        "k": Slider("Cut-off k", 1, 14, 3),
        "pool": Slider("Pool", 1, 50, 3),
    }
    return Explorer("Which sections reach the prompt?", controls, draw_pipeline)


lesson = Lesson("00_start_here", (NEARER, TOP_THREE, SCHEDULE_B, POOL_OF_FIFTY), (NAME_THE_FAILURE,))
