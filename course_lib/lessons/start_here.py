"""The opening notebook: an assistant that does not find a rate, and what the miss is called."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from course_lib.bm25 import BM25Index
from course_lib.corpora import DATA, agreement
from course_lib.corpora import large_agreement as large
from course_lib.corpora.large_agreement import OneHopQuestion
from course_lib.dense import DenseIndex, load_encoder
from course_lib.learn.chart import Line, Point, line_chart
from course_lib.learn.exercises import Exercise, call, describe
from course_lib.learn.explorer import Choice, Control, Explorer, Slider, Text
from course_lib.learn.lesson import Lesson
from course_lib.learn.look import Accent, Shown, card, escape, mark, paragraph, table
from course_lib.learn.predictions import Option, Question
from course_lib.metrics import hit_rate_at_k
from course_lib.retrieval import Hit, Outcome, Retriever, outcome, rank_of

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


def place_of(rank: int | None) -> str:
    """Return the option of the question on Schedule B that `rank` (from 1, None = never returned) falls into."""
    if rank is None or rank > 6:
        return "7th or lower"
    return "1st" if rank == 1 else "2nd or 3rd" if rank <= 3 else "4th to 6th"


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


BM25_ORDER = Question(
    key="bm25",
    text="The same question goes to BM25, which adds up the words that a text shares with the question and lets rare "
    "words count for more. Which section comes first, and where is Schedule B?",
    options=(
        Option("Schedule B first", "it holds the rate, and BM25 sees words, not answers.", short="B first"),
        Option(
            "7.3 first, Schedule B among the first six",
            "“late” and “overdue” mean the same to you; to BM25 they are two different words.",
            short="B in the first six",
        ),
        Option(
            "7.3 first, Schedule B last of those returned",
            "even the last place needs one shared word, and there is none.",
            short="B last",
        ),
        Option("7.3 first, Schedule B never returned, at any depth", short="B never"),
    ),
    right=lambda ids: [bm25_place(ids)],
    result="bm25_ids",
    lesson_learned="BM25 cannot rank what it cannot match: at no depth, with no cut-off, does Schedule B come back. "
    "With words, too, the question resembles the pointer and not the target.",
)


def bm25_place(ids: Sequence[str]) -> str:
    """Return the option of the question on BM25 that a ranking of section ids falls into."""
    rank = rank_of(ids, "B")
    if rank is None:
        return "B never"
    return "B first" if rank == 1 else "B in the first six" if rank <= 6 else "B last"


FOUND_AT_TEN = Question(
    key="at_ten",
    text="In the small agreement a cut-off of 4 would have done. Now there are 412 sections and 52 questions like the "
    "analyst's. For how many of the 52 does dense retrieval bring the target among its first ten?",
    options=(
        Option("47 or more", "ten places sound generous, and in the small agreement four were enough."),
        Option("30 to 46", "most targets would have to resemble their question, and they are terse lists of values."),
        Option("12 to 29"),
        Option("fewer than 12", "it is not that bad: some schedules do share a subject with the question."),
    ),
    right=lambda found: ["47 or more" if found > 46 else "30 to 46" if found > 29 else share_below(found)],
    result="found_at_10",
    lesson_learned="With more sections, more of them resemble the question, and the target slides down. A cut-off that "
    "fits one document says nothing about the next.",
)


def share_below(found: int) -> str:
    """Return the lower two options of the question on the first ten."""
    return "12 to 29" if found > 11 else "fewer than 12"


FOLLOWED = Question(
    key="followed",
    text="Take the three sections that dense retrieval finds, add those that their texts point to, and stop. For how "
    "many of the 52 questions is the target among them?",
    options=(
        Option("fewer than 26", "it holds for the cut-off alone, but a pointer is an address and not a resemblance."),
        Option("26 to 48", "it would be so if the pointers themselves were hard to find."),
        Option("49 or more"),
    ),
    right=lambda found: ["49 or more" if found > 48 else "26 to 48" if found > 25 else "fewer than 26"],
    result="found_by_following",
    lesson_learned="Nothing about the search has changed. It found the pointer all along, and the document's own "
    "structure leads from there to the answer.",
)


@dataclass(frozen=True)
class System:
    """A retrieval system and what its index stores; `computed` says whether a model computed vectors or weights."""

    name: str
    label: str
    stores: str
    computed: bool
    why: str


SYSTEMS = (
    System(
        "dense",
        "dense retrieval",
        "one vector a chunk, from an encoder",
        True,
        "Change the encoder and every chunk is encoded again: this is the pipeline that you have seen fail.",
    ),
    System(
        "SPLADE",
        "SPLADE: like BM25's index of words, with weights from a neural encoder",
        "a weight a term, from a neural encoder",
        True,
        "It looks like BM25's index, but a model computed the weights: change it and the corpus is encoded again.",
    ),
    System(
        "BM25",
        "BM25 in a search engine",
        "how often each word stands in each text",
        False,
        "Its counts can be laid out as a vector, and still they were counted, not computed by a model.",
    ),
    System(
        "SQL",
        "SQL that a language model writes",
        "rows, as they were entered",
        False,
        "A model at question time is no index: what is stored are the values themselves.",
    ),
    System(
        "contents",
        "a table of contents with summaries that a language model wrote",
        "titles, positions, summaries as text",
        False,
        "A model wrote the summaries, and they are text that somebody reads; no vectors are compared.",
    ),
    System("grep", "grep over the files", "nothing", False, "There is no index at all, so there is nothing to encode."),
    System(
        "long context",
        "the whole document in the prompt",
        "nothing",
        False,
        "Retrieval returns everything; the model reads it at question time.",
    ),
    System(
        "hybrid",
        "hybrid: BM25 and dense, merged",
        "word counts, and one vector a chunk",
        True,
        "One half passes; the other half is an embedding pipeline to build and to run again with every new encoder.",
    ),
)

SORTING = Question(
    key="vectorless",
    text="Apply the test to eight systems: what does the index store, and did a model compute it? Tick the vectorless "
    "ones and leave the others.",
    options=tuple(Option(system.label, system.why, short=system.name) for system in SYSTEMS),
    right=list,
    result="vectorless",
    lesson_learned="Models may be anywhere else: writing the query, choosing the section, writing a summary. The test "
    "looks only at what the index stores.",
    pick=None,
)


def what_indexes_store(systems: Sequence[System] = SYSTEMS) -> Shown:
    """Return the systems with what their index stores, and whether a model computed it."""
    rows = [[escape(s.label), escape(s.stores), "yes" if s.computed else "no"] for s in systems]
    return Shown(card("", table(["System", "What its index stores", "Computed by a model"], rows)))


# --- The map of moves ----------------------------------------------------------------------------------------------

MOVES = (
    (
        "The source is small, and somebody is already designing a chunker.",
        "Move 0: the whole source",
        "move0_long_context",
    ),
    ("People type error codes, clause numbers, product names.", "Move 1: BM25 alone", "move1_bm25"),
    ("The answer is a count, a sum or a value of this morning.", "Move 2: ask the database", "move2_sql"),
    (
        "Long documents with sections; the answer is one reference away.",
        "Move 3: read the contents",
        "move3_navigation",
    ),
    ("Code, settings, logs, changed since last night's index.", "Move 4: search like a developer", "move4_grep"),
    ("You have several of these at once.", "Move 5: choosing", "move5_choosing"),
)


def map_of_moves(notebooks: Path = DATA.parent / "notebooks") -> Shown:
    """Return symptom and move as a table, with a link where the notebook is there."""
    rows = []
    for symptom, move, name in MOVES:
        there = (notebooks / f"{name}.ipynb").is_file()
        link = f'<a href="{name}.ipynb">{escape(move)}</a>' if there else f"{escape(move)} (in preparation)"
        rows.append([escape(symptom), link])
    return Shown(card("Which move for which symptom", table(["Symptom", "Move"], rows)))


# --- The exercises -------------------------------------------------------------------------------------------------

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
    if rank == pool:
        return f"Look at the limit itself: a pool of {pool} has a place for the section that is ranked {pool}th."
    if rank == k:
        return f"Look at the limit itself: a cut-off of {k} passes the section at rank {k} on."
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

POINTER = r"(?:Section|Schedule) (\d+(?:\.\d+)?|[A-Z])\b"


def references(text: str) -> list[str]:
    """Return the ids of the sections and schedules that a text points to, in the order of the text.

    >>> references("at the rate set out in Schedule B, subject to Section 7.2")
    ['B', '7.2']
    """
    return re.findall(POINTER, text)


POINTING_TEXTS: tuple[tuple[str, list[str]], ...] = (
    ("Interest accrues at the rate set out in Schedule B, from the due date.", ["B"]),
    ("Reports follow Section 7.3.", ["7.3"]),
    ("Fees are payable under Section 7. The Service is described in Section 2.", ["7", "2"]),
    ("See Section 14.12 and Schedule K; Section 3.1 applies as well.", ["14.12", "K", "3.1"]),
    ("Invoices are due 30 days after the invoice date.", []),
    ("The parties agree on a Schedule of works for each Section.", []),
)


def judge_references(function: Any) -> str | None:
    """Try the learner's function on texts with and without pointers; see `Exercise.judge`."""
    for text, expected in POINTING_TEXTS:
        found = call(function, text)
        asked = f"For “{text}” it returned {describe(found)}."
        if not isinstance(found, list | tuple):
            return f"{asked} A list of ids is wanted, also for none or one."
        if list(found) != expected:
            return f"{asked} {_what_to_look_at(list(found), expected)}"
    return None


def _what_to_look_at(found: list[Any], expected: list[str]) -> str:
    """Point at the kind of mistake, never at the ids that are wanted."""
    if any(not isinstance(item, str) for item in found):
        return "Each id is to be a text; findall gives a tuple for each match where the pattern has several groups."
    if any(item.strip(".,;") != item for item in found):
        return "A full stop or a comma of the sentence is not part of an id."
    if any(" " in item for item in found):
        return "Only the id is wanted, without the word in front of it."
    if len(found) < len(expected):
        return "A text may point to a Section as well as to a Schedule, and more than once."
    if len(found) > len(expected):
        return "Not every capital letter is an id: look at what follows it."
    return "An id may have one number or two, such as the second section of the fourteenth article."


FOLLOW_THE_REFERENCE = Exercise(
    key="references",
    title="Follow the reference",
    judge=judge_references,
    right="Your function reads the pointers that the agreement itself gives; no vector and no ranking was needed.",
    hint="One group is enough: (?:Section|Schedule) groups without being returned. Behind it stands either a number, "
    "perhaps with a point and another number, or one capital letter that ends the word.",
    solution=f"""\
import re


def references(text):
    return re.findall(r"{POINTER}", text)
""",
)

# --- The explorer --------------------------------------------------------------------------------------------------


RETRIEVERS = ("dense (MiniLM)", "BM25", "BM25 with stemming")


@cache
def agreement_retriever(name: str) -> Retriever:
    """Return one of RETRIEVERS over the agreement. The dense one takes the course's own texts from the vector cache."""
    chunks = {section.id: section.chunk for section in agreement.sections()}
    if name == "dense (MiniLM)":
        return DenseIndex(chunks, load_encoder(agreement.VECTORS)).search
    return BM25Index(chunks, "porter" if name == "BM25 with stemming" else "unicode61").search


def draw_pipeline(question: str, own: str, k: int, pool: int, retriever: str = RETRIEVERS[0]) -> str:
    """Return the ranking for a labelled question, or for the learner's own, with what reaches the prompt."""
    asked = own.strip() or question
    gold = next((q.gold for q in agreement.QUESTIONS if q.text == asked), ())
    hits = agreement_retriever(retriever)(asked, len(agreement.sections()))
    rows = [_row(rank, hit, gold, outcome(rank, pool, k)) for rank, hit in enumerate(hits, start=1)]
    if not rows:
        return verdict(hits, gold, pool, k) + paragraph("No section shares a word with the question: no evidence.")
    return verdict(hits, gold, pool, k) + table(["Rank", "Score", "Section", "", "State"], rows, numbers=[0, 1])


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
        place = f"is at rank {rank}" if rank else "was never returned"
        text = f"{'Schedule' if needed.isalpha() else 'Section'} {needed} {place}: {what}."
        pieces.append(paragraph(text, "retrieved" if what == "in the prompt" else "missed"))
    return "".join(pieces)


def read_sections(*ids: str) -> Shown:
    """Return the named sections of the agreement, title and text, to be read."""
    chosen = [section for section in agreement.sections() if section.id in ids]
    return Shown(card("", *(f"<p><b>{escape(s.id)} {escape(s.title)}</b><br>{escape(s.text)}</p>" for s in chosen)))


def pipeline_explorer(with_bm25: bool = False) -> Explorer:
    """Return the explorer: a question, the cut-off and the pool, and what reaches the prompt; on request also BM25."""
    texts = tuple(question.text for question in agreement.QUESTIONS)
    controls: dict[str, Control] = {
        "question": Choice("Question", texts, texts[0]),
        "own": Text("Or your own", placeholder="Type a question and press Enter"),
        "k": Slider("Cut-off k", 1, 14, 3),
        "pool": Slider("Pool", 1, 50, 3),
    }
    if with_bm25:
        controls = {"retriever": Choice("Retriever", RETRIEVERS, "BM25"), **controls}
    return Explorer("Which sections reach the prompt?", controls, draw_pipeline)


# --- The large agreement -------------------------------------------------------------------------------------------


@cache
def large_retriever(name: str) -> Retriever:
    """Return "dense" or "BM25" over the large agreement; the course's own texts have cached vectors."""
    chunks = {section.id: section.chunk for section in large.large_agreement()}
    return DenseIndex(chunks, load_encoder(large.VECTORS)).search if name == "dense" else BM25Index(chunks).search


BANDS = ((1, 3), (4, 10), (11, 50), (51, 100), (101, 412))


def where_targets_land(rankings: Mapping[str, Sequence[Sequence[str]]], targets: Sequence[str]) -> Shown:
    """Return, for each retriever, how many targets stand in each band of ranks, and how many never came back."""
    ranks = {name: [rank_of(ids, t) for ids, t in zip(lists, targets, strict=True)] for name, lists in rankings.items()}
    rows = []
    for low, high in BANDS:
        counts = [sum(rank is not None and low <= rank <= high for rank in found) for found in ranks.values()]
        rows.append([f"{low} to {high}", *map(str, counts)])
    rows.append(["never returned", *(str(found.count(None)) for found in ranks.values())])
    return Shown(card("", table(["Rank of the target", *ranks], rows, numbers=range(1, len(ranks) + 1))))


def hit_rate_chart(rankings: Mapping[str, Sequence[Sequence[str]]], targets: Sequence[str]) -> Shown:
    """Return hit rate@k of the targets against k, one line a retriever, with 95 % intervals."""
    gold = [[target] for target in targets]
    lines = []
    for name, lists in rankings.items():
        rates = {k: hit_rate_at_k(lists, gold, k) for k in (1, 3, 5, 10, 20, 50, 100, 200, 412)}
        lines.append(Line(name, tuple(Point(k, r.value, r.low, r.high) for k, r in rates.items())))
    says = "Hit rate of the target against the cut-off k. " + " ".join(
        f"{line.name}: {line.points[1].y:.2f} at 3, {line.points[3].y:.2f} at 10, {line.points[6].y:.2f} at 100."
        for line in lines
    )
    n = f"hit rate@k (n = {len(targets)})"
    return Shown(card("How deep the targets lie", line_chart(says, lines, "cut-off k", n, log_x=True)))


def draw_hop(question: str, retriever: str, k: int) -> str:
    """Return the first `k` sections for one of the one-hop questions, with pointer and target marked."""
    asked = next(q for q in large.one_hop_questions() if q.text == question)
    ids = [hit.id for hit in large_retriever(retriever)(question, len(large.large_agreement()))]
    sentences = []
    for name, needed in (("pointer", asked.pointer), ("target", asked.target)):
        rank = rank_of(ids, needed)
        place = f"at rank {rank} of {len(ids)}" if rank else "never returned"
        accent: Accent = "retrieved" if rank and rank <= k else "missed"
        sentences.append(paragraph(f"The {name}, {needed}, is {place}.", accent))
    titles = {section.id: section.title for section in large.large_agreement()}
    gold = {asked.pointer: mark("gold", "pointer"), asked.target: mark("gold", "target")}
    rows = [[str(n), escape(id), escape(titles[id]), gold.get(id, "")] for n, id in enumerate(ids[:k], start=1)]
    return "".join(sentences) + table(["Rank", "Id", "Title", ""], rows, numbers=[0])


def hop_explorer() -> Explorer:
    """Return the explorer over the large agreement: a question, a retriever, the cut-off."""
    texts = tuple(question.text for question in large.one_hop_questions())
    controls: dict[str, Control] = {
        "question": Choice("Question", texts, texts[0]),
        "retriever": Choice("Retriever", ("dense", "BM25"), "dense"),
        "k": Slider("Cut-off k", 1, 20, 10),
    }
    return Explorer("Where do pointer and target land?", controls, draw_hop)


def read_hop(question: OneHopQuestion) -> Shown:
    """Return a one-hop question with the texts of its pointer and its target."""
    by_id = {section.id: section for section in large.large_agreement()}
    pieces = [f"<p><b>{escape(by_id[i].title)}</b> ({escape(i)})<br>{escape(by_id[i].text)}</p>" for i in question.gold]
    return Shown(card(question.text, *pieces))


lesson = Lesson(
    "00_start_here",
    (NEARER, TOP_THREE, SCHEDULE_B, POOL_OF_FIFTY, BM25_ORDER, SORTING, FOUND_AT_TEN, FOLLOWED),
    (NAME_THE_FAILURE, FOLLOW_THE_REFERENCE),
)
