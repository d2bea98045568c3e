"""The engines lab: one plain search in five engines, what each makes of a text, and what that does to hit rates."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

from course_lib.bm25 import Document
from course_lib.corpora import DATA, error_codes, language_reference, support_kb
from course_lib.engines import (
    BM25S,
    ENGINES,
    FTS5,
    POSTGRES,
    RANK_BM25,
    READY,
    TANTIVY,
    Engine,
    EngineError,
    available,
    open_engines,
    postgres_server,
    rank_bm25,
)
from course_lib.learn.exercises import Exercise, call, describe
from course_lib.learn.lesson import Lesson
from course_lib.learn.look import Shown, card, escape, paragraph, table
from course_lib.learn.predictions import Option, Prediction, Question
from course_lib.metrics import hit_at_k, hit_rate_at_k

# --- Predictions, in the order of the notebook ---------------------------------------------------------------------

KEPT = Question(
    key="kept",
    text="Each of the five cuts the text “E-4471” into words before it counts anything. Which of them keep the code as "
    "one word, hyphen included? Tick all.",
    options=(
        Option(FTS5, "Its tokenizer knows letters and digits. A hyphen is neither, so it ends a word."),
        Option(
            RANK_BM25,
            "It brings no analyzer at all, and its quick start cuts at spaces; a comma would stay on as well.",
        ),
        Option(BM25S, "It drops words of one character, so “4471” is all that is left, and it says nothing about it."),
        Option(TANTIVY, "It cuts at everything that is no letter or digit, as FTS5 does."),
        Option(
            POSTGRES,
            "Its parser knows numbers, addresses and file names, and it takes a hyphen before digits for a minus sign.",
        ),
    ),
    right=list,
    result="kept_whole",
    lesson_learned="Nobody who bought BM25 chose this. The analyzer comes with the engine, and it decides what a word "
    "is before any formula counts one.",
    pick=None,
)

APOSTROPHE = Question(
    key="apostrophe",
    text="Three of the five have a query language of their own: FTS5's MATCH, tantivy's parser, PostgreSQL's "
    "to_tsquery. A customer's question goes in as it was typed: “What's wrong with O'Brien's till?”. What do those "
    "that run here do?",
    options=(
        Option("read it as words", "that is what a search box does, but these are languages, and a sentence is none."),
        Option(
            "find nothing", "a strict AND would find nothing; it does not come to that, because nothing is searched."
        ),
        Option("all refuse it"),
    ),
    right=lambda refused: ["all refuse it" if all(refused.values()) else "read it as words"],
    result="refused",
    lesson_learned="An error at an apostrophe is the good case: somebody notices. Build the query from the analyzer's "
    "words, or quote them, in every engine; never pass on what was typed.",
)

CHINESE = Question(
    key="chinese",
    text="An article is titled 终端屏幕保持黑色 (the terminal's screen stays black). A customer searches for 屏幕 "
    "(screen), two characters out of the middle of that title. Which of the engines that run here find the article?",
    options=(
        Option("all of them", "every one of them stores Unicode, but storing characters is not cutting words."),
        Option(
            "those that know Unicode",
            "FTS5, tantivy and PostgreSQL do know that these are letters, and that is why they join them to one word.",
        ),
        Option("none of them"),
    ),
    right=lambda found: ["none of them" if not any(found.values()) else "those that know Unicode"],
    result="found_chinese",
    lesson_learned="Text without spaces needs an analyzer that cuts it: by characters at Unicode's word boundaries "
    "(Elasticsearch's standard analyzer), by a dictionary, or by trigrams from three characters on.",
)

SPLIT = Question(
    key="split",
    text="FTS5 is replaced by rank_bm25, set up as its quick start shows it: texts are cut at spaces. The formula has "
    "the same name. For how many of the 120 questions with an exact code does the right entry come first now?",
    options=(
        Option("100 or more", "the formulas are near relatives, and that is true; but they count different words now."),
        Option(
            "60 to 99",
            "punctuation looks like a detail; yet the code is free of it on both sides, question and entry, for only "
            "about half of the questions, and some of those lose to an entry that shares other words.",
        ),
        Option("fewer than 60"),
    ),
    right=lambda count: ["100 or more" if count >= 100 else "60 to 99" if count >= 60 else "fewer than 60"],
    result="first_with_spaces",
    lesson_learned="“E-4471:” in a title and “E-4471?” in a question are two different words to an engine that cuts "
    "at spaces. The change of engine was a change of analyzer.",
)

NO_IDF = Question(
    key="no_idf",
    text="PostgreSQL keeps the code's number (as -4471, on both sides alike), drops stop words and joins word forms. "
    "Its ts_rank goes by how often the question's words stand in a row. For how many of the 120 does the right entry "
    "come first?",
    options=(
        Option(
            "100 or more",
            "the decisive word is there and it matches; but ts_rank does not know that it is the decisive one.",
        ),
        Option("60 to 99", "the entry does hold one word more than its rivals, yet a rival with a word twice wins."),
        Option("fewer than 60"),
    ),
    right=lambda count: ["100 or more" if count >= 100 else "60 to 99" if count >= 60 else "fewer than 60"],
    result="first_in_postgres",
    lesson_learned="Without IDF a code that stands in one entry weighs as much as “error”, which stands in most. The "
    "analyzer was fine here; this time it is the formula.",
)

# --- The inputs that part the engines --------------------------------------------------------------------------------

CODE, APOSTROPHES, HAN = "E-4471", "What's wrong with O'Brien's till?", "屏幕"
INPUTS = {CODE: "kb-102", APOSTROPHES: "lab-1", HAN: "lab-2"}  # what is asked -> the article that answers it


def lab_documents() -> list[Document]:
    """Return the eight support articles, one with a typographic apostrophe, and one in Chinese."""
    return [
        *support_kb.documents(),
        ("lab-1", "O’Brien’s till", "Ask at the counter for the key to O’Brien’s till."),
        ("lab-2", "终端屏幕保持黑色", "请按住电源键十五秒。"),
    ]


@dataclass(frozen=True)
class Reading:
    """What one engine did to one text: its words, what its query language objects to, the ids that it found."""

    terms: tuple[str, ...]
    refused: str | None
    found: tuple[str, ...]


Readings = Mapping[str, Mapping[str, Reading]]  # engine -> text -> reading


def readings(engines: Mapping[str, Engine]) -> dict[str, dict[str, Reading]]:
    """Return what each engine does to each of `INPUTS`."""
    return {name: {text: read(engine, text) for text in INPUTS} for name, engine in engines.items()}


def read(engine: Engine, text: str) -> Reading:
    """Return what one engine does to one text."""
    refused = engine.refuses(text) if engine.refuses else None
    return Reading(tuple(engine.terms(text)), refused, tuple(hit.id for hit in engine.search(text, 3)))


def show_readings(found: Readings, text: str) -> Shown:
    """Return a table for one text: the words, what the query language says, and the articles found."""
    rows = [
        [escape(name), *(escape(part) for part in _in_words(by_text[text], INPUTS[text]))]
        for name, by_text in found.items()
    ]
    headers = ["Engine", "Words", "Its own query language", "Finds"]
    return Shown(card(f"{text}  (answer: {INPUTS[text]})", table(headers, rows)))


def _in_words(reading: Reading, answer: str) -> tuple[str, str, str]:
    language = "has none" if reading.refused is None else reading.refused or "takes it"
    ids = ", ".join(reading.found) or "nothing"
    return " | ".join(reading.terms) or "none", language, f"{ids}{'' if answer in reading.found else ' (missed)'}"


def kept_in_one(found: Readings) -> list[str]:
    """Return the engines that keep the code as one word."""
    return [name for name, by_text in found.items() if by_text[CODE].terms == (CODE,)]


def refusals(found: Readings) -> dict[str, bool]:
    """Return, for each engine with a query language, whether it refuses the sentence with apostrophes."""
    sentences = {name: by_text[APOSTROPHES].refused for name, by_text in found.items()}
    return {name: bool(refused) for name, refused in sentences.items() if refused is not None}


def finds_chinese(found: Readings) -> dict[str, bool]:
    """Return, for each engine, whether it finds the Chinese article."""
    return {name: INPUTS[HAN] in by_text[HAN].found for name, by_text in found.items()}


# --- The labelled questions ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Slice:
    """One slice of labelled questions over one set of documents."""

    name: str
    documents: tuple[Document, ...]
    texts: tuple[str, ...]
    gold: tuple[tuple[str, ...], ...]


Run = Mapping[str, Sequence[Sequence[str]]]  # slice -> for each question the ids found, best first

EXACT = "codes, exact"
SWAPPED = "PostgreSQL's words, rank_bm25's formula"
K = 3


@cache
def slices() -> tuple[Slice, ...]:
    """Return the labelled questions that have an answer, by slice: support articles, codes, Python's reference."""
    articles = tuple(support_kb.documents())
    codes = tuple((entry.id, entry.title, entry.body) for entry in error_codes.error_codes())
    reference = tuple((text.id, text.title, text.body) for text in language_reference.sections())
    support = [(f"support, {q.slice}", q.text, q.gold) for q in support_kb.labelled_questions()]
    by_code = [(f"codes, {q.slice}", q.text, q.gold) for q in error_codes.code_questions() if q.gold]
    python = [
        (f"Python, {q.slice}", q.text, language_reference.gold_sections(q))
        for q in language_reference.reference_questions()
        if q.gold
    ]
    grouped = ((articles, support), (codes, by_code), (reference, python))
    return tuple(found for documents, rows in grouped for found in _by_slice(documents, rows))


def _by_slice(documents: tuple[Document, ...], rows: list[tuple[str, str, tuple[str, ...]]]) -> Iterator[Slice]:
    for name in dict.fromkeys(row[0] for row in rows):
        mine = [row for row in rows if row[0] == name]
        yield Slice(name, documents, tuple(row[1] for row in mine), tuple(row[2] for row in mine))


def run(make: Callable[[Sequence[Document]], Engine]) -> Run:
    """Put every labelled question to the engine that `make` builds over its documents; keep the best `K` ids."""
    engines = {id(part.documents): part.documents for part in slices()}
    built = {key: make(documents) for key, documents in engines.items()}
    return {part.name: _ask(built[id(part.documents)], part) for part in slices()}


def _ask(engine: Engine, part: Slice) -> list[list[str]]:
    return [[hit.id for hit in engine.search(text, K)] for text in part.texts]


def first(one: Run, name: str = EXACT) -> int:
    """Return for how many questions of a slice an answer comes first."""
    part = next(part for part in slices() if part.name == name)
    return sum(hit_at_k(ids, gold, 1) for ids, gold in zip(one[name], part.gold, strict=True))


def show_rates(runs: Mapping[str, Run], k: int = 1) -> Shown:
    """Return hit rate@k for each slice and engine, with the 95 % interval below it and n beside it."""
    rows = []
    for part in slices():
        rates = [hit_rate_at_k(one[part.name], part.gold, k) for one in runs.values()]
        cells = [f"{rate.value:.2f}<br>{rate.low:.2f}–{rate.high:.2f}" for rate in rates]
        rows.append([escape(part.name), str(len(part.texts)), *cells])
    headers = ["Slice", "n", *runs]
    under = paragraph(f"Hit rate@{k}, and below it the 95 % interval.")
    return Shown(card("", table(headers, rows, numbers=range(1, len(headers))), under))


def show_changes(before: Run, after: Run, k: int = 1) -> Shown:
    """Return for each slice how many questions were gained and lost between two runs."""
    rows = []
    for part in slices():
        found = _changes(before[part.name], after[part.name], part.gold, k)
        rows.append([escape(part.name), str(len(part.texts)), *map(str, found)])
    return Shown(card("", table(["Slice", "n", "Gained", "Lost"], rows, numbers=range(1, 4))))


def _changes(before: Any, after: Any, gold: Any, k: int) -> tuple[int, int]:
    was = [hit_at_k(ids, wanted, k) for ids, wanted in zip(before, gold, strict=True)]
    now = [hit_at_k(ids, wanted, k) for ids, wanted in zip(after, gold, strict=True)]
    pairs = list(zip(was, now, strict=True))
    return pairs.count((False, True)), pairs.count((True, False))


# --- Every engine that is here -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Everywhere:
    """What every engine that is here did: its runs, its readings, and one sentence for each that is missing."""

    runs: dict[str, Run]
    readings: dict[str, dict[str, Reading]]
    missing: dict[str, str]
    swapped: Run | None = None  # PostgreSQL's words with rank_bm25's formula


def run_everywhere(uri: str | None = None) -> Everywhere:
    """Run all questions and all inputs in every engine that is here.

    `uri` is the address of a PostgreSQL server of your own, in which a temporary table is made. Without it an
    embedded server is started where its packages are, and it has ended when this function returns. Nothing is raised
    for an engine that is missing or does not start.
    """
    missing = {name: said for name, said in available(uri).items() if said != READY}
    with ExitStack() as stack:
        address = None
        if POSTGRES not in missing:
            try:
                address = uri or stack.enter_context(postgres_server())
                return _run_all(address, missing)
            except EngineError as error:
                missing[POSTGRES] = str(error)
        return _run_all(None, missing)


def _run_all(uri: str | None, missing: dict[str, str]) -> Everywhere:
    runs: dict[str, dict[str, list[list[str]]]] = {}
    for documents in {id(part.documents): part.documents for part in slices()}.values():
        with open_engines(documents, uri) as engines:
            if POSTGRES in engines:
                engines[SWAPPED] = rank_bm25(documents, engines[POSTGRES].terms)
            for part in slices():
                if part.documents is documents:
                    for name, engine in engines.items():
                        runs.setdefault(name, {})[part.name] = _ask(engine, part)
    with open_engines(lab_documents(), uri) as engines:
        found = readings(engines)
    return Everywhere({name: runs[name] for name in ENGINES if name in runs}, found, missing, runs.get(SWAPPED))


@contextmanager
def base_engines() -> Iterator[dict[str, Engine]]:
    """Yield the two engines that are in the course's environment, over the documents of the lab."""
    with open_engines(lab_documents()) as engines:
        yield {name: engines[name] for name in (FTS5, RANK_BM25)}


def show_available(uri: str | None = None) -> Shown:
    """Return which engines can run here, and what to do about the others."""
    rows = [[escape(name), escape(said)] for name, said in available(uri).items()]
    return Shown(card("", table(["Engine", "Here"], rows)))


def show_swap(everywhere: Everywhere) -> Shown:
    """Return how many exact codes come first by ts_rank, and by BM25 over the very same words."""
    if POSTGRES not in everywhere.runs or everywhere.swapped is None:
        return Shown(card("", paragraph("PostgreSQL did not run here, so there is nothing to compare.")))
    rows = [(POSTGRES, everywhere.runs[POSTGRES]), (SWAPPED, everywhere.swapped)]
    cells = [[escape(name), str(first(one)), str(len(one[EXACT]))] for name, one in rows]
    return Shown(card("", table(["Exact codes", "First", "n"], cells, numbers=(1, 2))))


def show_missing(missing: Mapping[str, str]) -> Shown:
    """Return one sentence for each engine that did not run."""
    lines = [paragraph(f"{name} did not run here: {said}") for name, said in missing.items()]
    return Shown(card("", *(lines or [paragraph("All five ran.")])))


def reveal_where_it_ran(prediction: Prediction, value: object) -> Shown:
    """Reveal a prediction about an engine that may be missing; with None there is one sentence, and it stays open."""
    if value is not None:
        return prediction.reveal(value)
    return Shown(card("", paragraph("This engine did not run here, so the question stays open.")))


# --- The BM25 you may already own ----------------------------------------------------------------------------------


@cache
def known_engines() -> dict[str, Any]:
    """Return the dated table of `data/engines.json`."""
    found: dict[str, Any] = json.loads((DATA / "engines.json").read_text(encoding="utf-8"))
    return found


def show_known_engines() -> Shown:
    """Return the dated table: what is scored, the defaults, the analyzer, the licence, what was not checked."""
    rows = []
    for one in known_engines()["engines"]:
        cells = [one["name"], one["bm25"], one["scoring"], f"{one['k1']}; {one['b']}", one["analyzer"], one["licence"]]
        rows.append([escape(cell) for cell in cells])
    headers = ["Engine", "BM25", "Scoring", "k1; b", "Analyzer by default", "Licence"]
    doubts = [f"{one['name']}: {one['not_checked']}" for one in known_engines()["engines"] if one["not_checked"]]
    under = [paragraph(f"As of {known_engines()['as_of']}; sources in data/engines.json."), paragraph("Not checked:")]
    listed = "".join(f"<li>{escape(doubt)}</li>" for doubt in doubts)
    return Shown(card("", table(headers, rows), *under, f"<ul>{listed}</ul>"))


# --- The exercise --------------------------------------------------------------------------------------------------

# before, after, gold, k -> (gained, lost)
CASES: tuple[tuple[Any, Any, Any, int, tuple[int, int]], ...] = (
    ([["a", "x"]], [["a", "y"]], [{"a"}], 1, (0, 0)),
    ([["x", "a"]], [["a", "x"]], [{"a"}], 1, (1, 0)),
    ([["a", "x"]], [["x", "a"]], [{"a"}], 1, (0, 1)),
    ([["a", "x"]], [["x", "a"]], [{"a"}], 2, (0, 0)),
    ([["a", "x"]], [["b", "x"]], [{"a", "b"}], 1, (0, 0)),
    ([["x", "y"]], [["a", "x"]], [{"a", "b"}], 1, (1, 0)),
    ([["a"]], [[]], [{"a"}], 3, (0, 1)),
    ([["x", "y", "a"]], [["x", "a", "y"]], [{"a"}], 2, (1, 0)),
    ([["a"], ["x"], ["x"]], [["x"], ["b"], ["c"]], [{"a"}, {"b"}, {"c"}], 1, (2, 1)),
    ([["a"], ["x"]], [["x"], ["b"]], [{"a"}, {"b"}], 1, (1, 1)),
)


def judge_changed_sides(answer: Any) -> str | None:
    """Judge a function that counts the questions gained and lost between two runs."""
    for before, after, gold, k, expected in CASES:
        found = call(answer, before, after, gold, k)
        if not (isinstance(found, tuple | list) and len(found) == 2):
            return f"It returned {describe(found)}, and two numbers are expected: gained, lost."
        if tuple(found) != expected:
            return (
                f"Before {before}, after {after}, with gold {[sorted(wanted) for wanted in gold]} at k = {k}: it "
                f"returned {describe(tuple(found))}, and that is not what was gained and lost."
            )
    return None


CHANGED_SIDES = Exercise(
    key="changed_sides",
    title="Count what a change of engine gained and lost",
    judge=judge_changed_sides,
    right="This is what to show beside two hit rates: a difference of nothing may be ten gained and ten lost.",
    hint="A question is a hit where at least one of its gold ids is among the first k. Gained is a hit now and none "
    "before; lost is the reverse. `set(wanted) & set(ids[:k])` is empty, and so false, where there is no hit.",
    solution="""\
def changed_sides(before, after, gold, k):
    was = [bool(set(wanted) & set(old[:k])) for old, wanted in zip(before, gold)]
    now = [bool(set(wanted) & set(new[:k])) for new, wanted in zip(after, gold)]
    gained = sum(new and not old for old, new in zip(was, now))
    lost = sum(old and not new for old, new in zip(was, now))
    return gained, lost""",
)

lesson = Lesson("lab_engines", [KEPT, APOSTROPHE, CHINESE, SPLIT, NO_IDF], [CHANGED_SIDES])
