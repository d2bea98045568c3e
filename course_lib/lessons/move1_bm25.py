"""Move 1: BM25 as the only retriever, what "found" means, where it is too strict, and what each repair costs."""

import random
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from itertools import accumulate
from math import ceil, inf
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, Protocol

from course_lib.bm25 import (
    ANY_WORD,
    HYPHENATED,
    Index,
    Rules,
    joined,
    phrase,
    term_score,
    words,
)
from course_lib.corpora import language_reference as reference
from course_lib.corpora import support_kb as kb
from course_lib.corpora.nine_languages import foreign_questions
from course_lib.dense import CachedEncoder, DenseIndex, Encoder, dense_top, load_encoder, read_vectors, text_key
from course_lib.learn.chart import Line, Point, line_chart
from course_lib.learn.exercises import Exercise, call, describe
from course_lib.learn.explorer import Choice, Control, Explorer, Slider
from course_lib.learn.lesson import Lesson
from course_lib.learn.look import Shown, card, escape, mark, paragraph, table
from course_lib.learn.predictions import Option, Question
from course_lib.metrics import rate
from course_lib.retrieval import Hit, Retriever

# --- Predictions, in the order of the notebook ---------------------------------------------------------------------

AGAIN_DEPTH = Question(
    key="again_depth",
    text="In the opening, BM25 ranked the agreement for “How much interest do we owe if we pay an invoice 20 days "
    "late?”. Schedule B, where the rate stands, did not come back at any depth. What was missing?",
    options=(
        Option("a word that both of them hold", short="a shared word"),
        Option("a larger k", "it brings back what was ranked out, and a text without a score is in no ranking."),
        Option("shorter sections", "length does move a score, and Schedule B had none that could be moved."),
    ),
    right=lambda shared: ["a larger k" if shared else "a shared word"],
    result="shared_words",
    lesson_learned="This is the price of counting words, and this notebook is about when it is worth paying.",
)

AGAIN_CACHE = Question(
    key="again_cache",
    text="Four questions about one contract come a minute apart, and a cache entry lives for five. The usage line of "
    "each call says: 300 tokens fresh, 0 read, 30,000 written. Every answer is right. Where do you look first?",
    options=(
        Option("at the first lines of the prompt", short="the head of the prompt"),
        Option(
            "at the length of the contract",
            "a text under the provider's minimum is not cached; then nothing would be written either.",
            "the length",
        ),
        Option(
            "nowhere: every answer is right",
            "a broken cache changes no answer, and these calls cost more than the same calls without any cache.",
            "nowhere",
        ),
    ),
    right=lambda reading: [
        {"written, never read": "the head of the prompt", "never written": "the length"}.get(reading, "nowhere")
    ],
    result="reading",
    lesson_learned="Written at each call and never read: something in front of the contract is new each time.",
)

TWICE = Question(
    key="twice",
    text="A document of average length holds the word you ask for twice instead of once; k1 is 1.2. What happens to "
    "the points it gets for that word?",
    options=(
        Option("they stay the same", "a list of documents for each word suggests yes or no, but times are kept too."),
        Option("they grow by less than half", short="less than half"),
        Option("they double", "the word does stand there twice as often; k1 is there so that it does not count twice."),
    ),
    right=lambda ratio: ["they stay the same" if ratio < 1.01 else "less than half" if ratio < 1.5 else "they double"],
    result="twice_ratio",
    lesson_learned="The second mention says less than the first, and the tenth hardly anything: with k1 = 1.2 a word "
    "never gets more than 2.2 times the points of its first mention.",
)

RAW = Question(
    key="raw",
    text="Three questions go into MATCH as they were typed: “What does E-4471 mean?”, “How do I update the firmware?” "
    "and the same without capital and question mark, “how do I update the firmware”. What comes back?",
    options=(
        Option(
            "kb-102 for the first, kb-105 for the other two",
            "these articles are the answers, and most search boxes would find them; but MATCH takes a query language.",
            "an article each time",
        ),
        Option(
            "an error for the first, kb-105 for the other two",
            "the hyphen looks like the only odd sign, but a question mark is no word either, and a blank means AND.",
            "one error",
        ),
        Option("errors for the first two, nothing for the third", short="two errors and nothing"),
        Option(
            "errors for all three",
            "the third holds nothing but words and blanks, and that is a valid query.",
            "three errors",
        ),
    ),
    right=lambda outcomes: [raw_option(outcomes)],
    result="as_typed",
    lesson_learned="Two of the three fail loudly, and the third is the one to worry about: no error, no result, and "
    "an article that was there.",
)


def raw_option(outcomes: Sequence[str]) -> str:
    """Return the option of the question on raw text for what came back: "error", "nothing" or an id, three times."""
    errors, empty = outcomes.count("error"), outcomes.count("nothing")
    if errors == 0:
        return "an article each time"
    return {1: "one error", 2: "two errors and nothing" if empty else "one error"}.get(errors, "three errors")


ORED = Question(
    key="ored",
    text="“What does E-4471 mean after an update?” has four content words: e, 4471, mean, update. An article matches "
    "if it holds any of them. Which comes first? Look at the texts above.",
    options=(
        Option(
            "kb-102, firmware signature mismatch",
            "it is about that very code, and 4471 is rare; but so is update, and what counts is how often.",
            "kb-102",
        ),
        Option(
            "kb-103, printer cover open",
            "E-4417 looks much like E-4471, but to an index 4417 and 4471 are two different words.",
            "kb-103",
        ),
        Option("kb-105, installing firmware from USB", "", "kb-105"),
    ),
    right=lambda id: [id],
    result="first_ored",
    lesson_learned="The code is one rare word among others here. What decides is which other rare words the corpus "
    "happens to hold, and that changes with the corpus.",
)

FOUND = Question(
    key="found",
    text="Now with both rules: a code must match, and the best article must hold half of the content words. Which of "
    "these five questions get an article? Tick all.",
    options=(
        Option(
            "What does E-4471 mean after an update?",
            "The code is in kb-102, and coverage is not asked where a code has matched.",
            "E-4471",
        ),
        Option(
            "What does E-9999 mean?",
            "It has the form of a code, and no article holds it: there is nothing left to rank.",
            "E-9999",
        ),
        Option(
            "The screen stays black when I turn it on",
            "kb-104 is about exactly this, and says display and blank: no content word is shared.",
            "black screen",
        ),
        Option(
            "How do I pair the terminal with a Bluetooth printer?",
            "kb-103 holds printer, one content word of several.",
            "Bluetooth",
        ),
        Option(
            "Which thermal paper rolls fit?",
            "kb-108 holds three of the five words that this list of stop words leaves.",
            "paper rolls",
        ),
    ),
    right=list,
    result="answered",
    lesson_learned="Three times no evidence: twice because the answer is not there, once because it is there in other "
    "words. The search cannot tell these apart; somebody who knows the articles has to.",
    pick=None,
)

PARAPHRASES = Question(
    key="paraphrases",
    text="Eight labelled questions: four quote a code, four describe a symptom in the customer's words, as in “the "
    "device is dead every morning”. What does this search do with the four symptoms?",
    options=(
        Option(
            "it answers most of them right",
            "every symptom is described in some article, but in the words of the manual.",
            "mostly right",
        ),
        Option(
            "it answers most of them with a wrong article",
            "a search without the coverage rule would, on a word like “paper”; this one asks for half of the words.",
            "mostly wrong",
        ),
        Option("it finds no evidence for most of them", short="mostly no evidence"),
    ),
    right=lambda tally: [f"mostly {max(vars(tally), key=lambda name: vars(tally)[name]).replace('_', ' ')}"],
    result="symptoms",
    lesson_learned="A silent miss and a confident one cost different things. Which is dearer is a question about your "
    "users, and both have to be counted.",
)

TOO_STRICT = Question(
    key="too_strict",
    text="Four more questions, each with an answer among the articles. For which does the strict search return the "
    "right article first? Tick all.",
    options=(
        Option(
            "difference between E-104 and E-4471?",
            "Both codes have their article, but every code is demanded, and no article holds both.",
            "two codes",
        ),
        Option("E4471", "The same code to a human; the pattern wants a hyphen, and the index has e and 4471.", "E4471"),
        Option(
            "Could you please tell me how I should update the firmware?",
            "Firmware and update are in kb-105; could, please, tell and should count as content as well.",
            "polite",
        ),
        Option(
            "customer card declined with code 65",
            "“Code 65” is no code by the pattern, so words decide, and kb-106 holds four of five.",
            "code 65",
        ),
    ),
    right=list,
    result="strict_right",
    lesson_learned="A rule that is right on its five examples meets people who write differently. Each of these is a "
    "question that a log would list under no evidence.",
    pick=None,
)

FORMATS = Question(
    key="formats",
    text="Five documents write a code in five ways. FTS5 cuts text at everything that is neither letter nor digit. "
    'Which of them does the phrase "E-4471" find? Tick all.',
    options=(
        Option("E-4471", "The phrase is cut just as the document is: e, then 4471.", "E-4471"),
        Option("e 4471", "Capitals do not count, and a blank cuts as a hyphen does.", "e 4471"),
        Option("E4471", "Nothing stands between letter and digits, so it is one word, e4471.", "E4471"),
        Option("E–4471 (a dash)", "A dash is neither letter nor digit, so it cuts as well.", "E–4471"),
        Option("E-44710", "It begins the same, but 44710 is another word than 4471.", "E-44710"),
    ),
    right=list,
    result="spellings",
    lesson_learned="Three spellings are one to the index, and the one without any sign between is another word. Ask "
    "how your engine cuts a code before you ask how it ranks.",
    pick=None,
)

GROWN = Question(
    key="grown",
    text="kb-108 answers “Which thermal paper rolls fit?” and holds three of its four content words. An article on a "
    "wall mount comes in, whose screws “fit” several times, and thirty notes that each use one of the words thermal, "
    "paper, rolls in passing. What becomes of the question?",
    options=(
        Option(
            "nothing changes: coverage does not read the score",
            "coverage is indeed a count of words; but of the words of the top hit, and the score chooses that.",
            "nothing changes",
        ),
        Option(
            "the scores move, and kb-108 is still found",
            "every score does move, and three words against one look safe until they have become common.",
            "still found",
        ),
        Option("it is no longer found", short="no longer found"),
    ),
    right=lambda ids: ["no longer found" if "kb-108" not in ids else "still found"],
    result="after_growth",
    lesson_learned="Coverage outlives growth better than a threshold on the score, and it is no guarantee. Run the "
    "labelled questions again after each large import.",
)

LOOK_ALIKES = Question(
    key="look_alikes",
    text="A catalogue holds 2,000 codes such as E-4471, E-4417 and E-4147, and about twenty of them share each fault. "
    "120 questions quote one code exactly. For what share does MiniLM put the right entry first?",
    options=(
        Option("more than .9", "on eight articles it had all four; but there each fault had one code."),
        Option("about half", "it reads fault and component too, and neither is in most of the questions."),
        Option("less than .2"),
    ),
    right=lambda share: ["more than .9" if share > 0.9 else "about half" if share >= 0.2 else "less than .2"],
    result="dense_share",
    lesson_learned="A vector holds what a text is about. Which of twenty look-alike codes it is about is the one thing "
    "that the digits say and the meaning does not.",
)

REFERENCE = Question(
    key="reference",
    text="79 chapters of a manual, from a few lines to many pages long, and 20 questions that it does not answer, such "
    "as “How do I undo the last git commit?”. On how many does the library's search say: no evidence?",
    options=(
        Option("nearly all", "on the eight articles it caught both; a long chapter holds half of many questions."),
        Option("about half"),
        Option("hardly any", "long chapters hold many words, but rarely both of “git” and “commit”."),
    ),
    right=lambda share: ["nearly all" if share >= 0.85 else "about half" if share >= 0.25 else "hardly any"],
    result="silent_share",
    lesson_learned="The longer a text, the more of any question it covers by chance. A threshold that was set on "
    "eight short articles says nothing about long ones.",
)

FUSION = Question(
    key="fusion",
    text="BM25 and MiniLM are merged by ranks. What does the merged search do with the two questions that no article "
    "answers, E-9999 and the Bluetooth printer?",
    options=(
        Option("no evidence for both", "BM25 says so for both; but it is one of two voices, and the other never does."),
        Option(
            "no evidence for E-9999, an article for the other",
            "the rule on codes is strict, but it binds BM25 alone.",
            "no evidence for one",
        ),
        Option("an article for both"),
    ),
    right=lambda answers: [("no evidence for both", "no evidence for one", "an article for both")[answers]],
    result="answered_by_fusion",
    lesson_learned="The merged search answers more and can no longer say that it found nothing. If that matters, let "
    "BM25 decide about codes first, and merge only the rest.",
)

SPEED = Question(
    key="speed",
    text="50,000 texts, searched in three ways: FTS5, rank_bm25 and exact vector search. The answer is then written by "
    "a language model, which takes 2 seconds. How much of the user's wait is the slowest of the three?",
    options=(
        Option("less than a tenth"),
        Option("about a third", "scanning every text sounds slow, and 50,000 are few for a processor."),
        Option("more than half", "that is how it feels where the search is a call over a network, which is not here."),
    ),
    right=lambda share: ["less than a tenth" if share < 0.1 else "about a third" if share < 0.5 else "more than half"],
    result="share_of_wait",
    lesson_learned="At this size no choice between them is felt. Choose by what is found, by what has to be kept up to "
    "date, and by what can be explained.",
)

NINE = Question(
    key="nine",
    text="27 questions in nine languages quote one of three codes: “Co oznacza E-4471 po aktualizacji?”, "
    "“E-4471というエラーは何ですか？”. The eight articles are English. By its pattern BM25 gets all 27 right. "
    "How many does MiniLM, an English encoder?",
    options=(
        Option(
            "about 3: the English ones",
            "the other words are foreign to it, but the code is there too, and it reads the digits.",
            "3",
        ),
        Option("about half", "it would fit the languages that are near to English, if the code did not count.", "half"),
        Option("20 or more"),
    ),
    right=lambda count: ["3" if count < 7 else "half" if count < 20 else "20 or more"],
    result="codes_right",
    lesson_learned="Three codes among eight articles are easy to tell apart; among 2,000 look-alikes the same encoder "
    "was lost. BM25 needs no language for this part, and does not mind how many codes there are.",
)

# --- Right, wrong, no evidence -------------------------------------------------------------------------------------


class Labelled(Protocol):
    """A question with the slice it belongs to and the ids that answer it; without ids, silence is right."""

    @property
    def text(self) -> str: ...
    @property
    def slice(self) -> str: ...
    @property
    def gold(self) -> tuple[str, ...]: ...


@dataclass(frozen=True)
class Tally:
    """How many questions got a right text among the best k, only wrong ones, or none."""

    right: int = 0
    wrong: int = 0
    no_evidence: int = 0

    @property
    def n(self) -> int:
        """All questions."""
        return self.right + self.wrong + self.no_evidence

    def __str__(self) -> str:
        return f"{self.right} right, {self.wrong} wrong, {self.no_evidence} without evidence, of {self.n}"


def tally(search: Retriever, questions: Iterable[Labelled], k: int = 1) -> Tally:
    """Count what `search` does with the questions at cut-off `k`."""
    return _count((search(question.text, k), question.gold) for question in questions)


def _count(found: Iterable[tuple[Sequence[Hit], Sequence[str]]]) -> Tally:
    states = [_state(hits, gold) for hits, gold in found]
    return Tally(states.count("right"), states.count("wrong"), states.count("no evidence"))


def _state(hits: Sequence[Hit], gold: Sequence[str]) -> str:
    if not hits:
        return "no evidence"
    return "right" if any(hit.id in gold for hit in hits) else "wrong"


def of_slice(questions: Iterable[Labelled], name: str) -> list[Any]:
    """Return the questions of one slice."""
    return [question for question in questions if question.slice == name]


def show_slices(
    searches: Mapping[str, Retriever],
    questions: Sequence[Labelled],
    k: int = 1,
    gold: Callable[[Any], Sequence[str]] = lambda question: question.gold,
) -> Shown:
    """Return a table of slices and retrievers; `gold` gives the right ids where they are not the question's own."""
    rows = []
    for name in dict.fromkeys(question.slice for question in questions):
        asked = [question for question in questions if question.slice == name]
        for who, search in searches.items():
            counts = _count((search(question.text, k), gold(question)) for question in asked)
            rows.append([escape(name), escape(who), *_cells(counts, bool(asked[0].gold), len(asked))])
    return Shown(card("", table([*HEADERS, f"Hit rate@{k} and 95 % interval"], rows, numbers=[2, 3, 4])))


HEADERS = ["Slice", "Search", "right", "wrong", "no evidence"]


def _cells(counts: Tally, has_gold: bool, n: int) -> list[str]:
    """Return the three counts and the hit rate; where nothing can be right, silence is what is wanted."""
    numbers = [str(counts.right) if has_gold else "–", str(counts.wrong), str(counts.no_evidence)]
    if not has_gold:
        return [*numbers, f"silence is right, n = {n}"]
    hit = rate(counts.right, n)
    return [*numbers, f"{hit.value:.2f} ({hit.low:.2f} to {hit.high:.2f}), n = {n}"]


def show_questions(search: Retriever, questions: Iterable[str]) -> Shown:
    """Return each question with what a search finds for it, best first, higher scores being better."""
    rows = [[escape(question), _hits(search(question, 3))] for question in questions]
    return Shown(card("", table(["Question", "Found"], rows)))


def _hits(hits: Sequence[Hit]) -> str:
    return escape(", ".join(f"{hit.id} {hit.score:.3f}" for hit in hits)) if hits else mark("missed", "no evidence")


class Readable(Protocol):
    """An article with an id, a title and a text."""

    @property
    def id(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def body(self) -> str: ...


def show_articles(articles: Sequence[Readable] = ()) -> Shown:
    """Return articles to be read, the eight of the knowledge base unless others are given."""
    shown = articles or kb.articles()
    rows = [[nowrap(article.id), escape(article.title), escape(article.body)] for article in shown]
    return Shown(card("", table(["Id", "Title", "Text"], rows)))


def nowrap(text: str) -> str:
    """Return a text as HTML that is not broken across lines."""
    return f'<span style="white-space:nowrap">{escape(text)}</span>'


# --- BM25 on two documents -----------------------------------------------------------------------------------------

AVERAGE = 100
TIMES = (1, 2, 3, 4, 5, 6, 8, 10)


def points(times: int, length: int, k1: float, b: float) -> float:
    """Return what one word adds to a document of `length` words; 2 of 100 documents hold it, 100 words on average."""
    return term_score(times, documents=2, total=100, length=length, average=AVERAGE, k1=k1, b=b)


def draw_bm25(times: int, length: int, k1: int, b: int) -> str:
    """Return two documents' points for one word, and how they grow with the times that it stands there."""
    bend, by_length = k1 / 10, b / 100
    first, second = points(1, AVERAGE, bend, by_length), points(times, length, bend, by_length)
    rows = [["A", "1", str(AVERAGE), f"{first:.2f}"], ["B", str(times), str(length), f"{second:.2f}"]]
    says = "A and B get the same" if abs(first - second) < 0.005 else f"{'A' if first > second else 'B'} comes first"
    lines = [
        Line(f"{size} words", tuple(Point(t, points(t, size, bend, by_length)) for t in TIMES))
        for size in dict.fromkeys((AVERAGE, length))
    ]
    top = 4 * ceil(max(point.y for line in lines for point in line.points) / 4)
    about = f"Points against times, k1 = {bend:g}, b = {by_length:g}: {says}."
    return (
        table(["Document", "times", "words", "points"], rows, numbers=[1, 2, 3])
        + paragraph(f"{says}: {first:.2f} and {second:.2f}.", "retrieved")
        + line_chart(about, lines, "times the word stands in the document", "points", y_max=top)
    )


def bm25_explorer() -> Explorer:
    """Return the refresher's explorer: how often, how long, k1 and b, and which of two documents comes first."""
    controls: dict[str, Control] = {
        "times": Slider("Times in B", 1, 10, 2),
        "length": Slider("Words in B", 20, 500, 300),
        "k1": Slider("k1, in tenths", 0, 30, 12),
        "b": Slider("b, in percent", 0, 100, 75),
    }
    return Explorer("Two documents, one word", controls, draw_bm25)


# --- The explorer of the rules -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Asked:
    """A question of the explorer."""

    slice: str
    text: str
    gold: tuple[str, ...]


def asked_questions() -> tuple[Asked, ...]:
    """Return the eight labelled questions and four of the strict search, two of which no article answers."""
    labelled = [Asked(question.slice, question.text, question.gold) for question in kb.labelled_questions()]
    code, absent, _, printer, rolls = kb.STRICT_SEARCH
    more = [
        Asked("other words beside", code, ("kb-102",)),
        Asked("other words beside", rolls, ("kb-108",)),
        Asked("no answer", absent, ()),
        Asked("no answer", printer, ()),
    ]
    return (*labelled, *more)


def rules_of(coverage: int, identifiers: str, stop_words: str) -> Rules:
    """Return the rules that the explorer's controls stand for; `coverage` is in percent."""
    left_out = kb.stop_words() if stop_words == "left out" else frozenset()
    demanded = "all" if identifiers == "must match" else "off"
    return Rules(left_out, demanded, HYPHENATED, coverage / 100, repeats_from=inf)  # type: ignore[arg-type]


@cache
def plain_index() -> Index:
    """Return the articles' index without joined copies; the rules come with each search."""
    return Index(kb.documents(), copies=False)


def draw_rules(coverage: int, k: int, identifiers: str, stop_words: str) -> str:
    """Return what the search does under these rules, by slice and question by question."""
    rules, questions = rules_of(coverage, identifiers, stop_words), asked_questions()
    found = [plain_index().search(question.text, k, rules) for question in questions]
    rows = []
    for name in dict.fromkeys(question.slice for question in questions):
        pairs = [(hits, asked.gold) for hits, asked in zip(found, questions, strict=True) if asked.slice == name]
        rows.append([escape(name), *_cells(_count(pairs), any(gold for _, gold in pairs), len(pairs))[:3]])
    wrong = sum(_state(hits, asked.gold) == "wrong" for hits, asked in zip(found, questions, strict=True))
    said = paragraph(f"Wrong answers: {wrong} of {len(questions)}.", "missed" if wrong else "retrieved")
    return table(["Slice", "right", "wrong", "no evidence"], rows, numbers=[1, 2, 3]) + said + _each(questions, found)


def _each(questions: Sequence[Asked], found: Sequence[Sequence[Hit]]) -> str:
    """Return every question with what was found for it; silence is right where there is no answer."""
    rows = []
    for asked, hits in zip(questions, found, strict=True):
        state = _state(hits, asked.gold)
        good = state == "right" or (state == "no evidence" and not asked.gold)
        verdict = f'<span style="white-space:nowrap">{mark("retrieved" if good else "missed", state)}</span>'
        rows.append([escape(asked.text), escape(", ".join(hit.id for hit in hits) or "–"), verdict])
    return table(["Question", "Found", ""], rows)


def rules_explorer() -> Explorer:
    """Return the explorer: coverage, cut-off and the two rules, and what they do to each slice."""
    controls: dict[str, Control] = {
        "coverage": Slider("Coverage, in percent", 0, 100, 50),
        "k": Slider("k", 1, 8, 1),
        "identifiers": Choice("Codes", ("must match", "words like any other"), "must match"),
        "stop_words": Choice("Stop words", ("left out", "searched"), "left out"),
    }
    return Explorer("Answered, wrong, silent", controls, draw_rules)


# --- The exercises -------------------------------------------------------------------------------------------------

TRIALS = (
    "What does E-4471 mean after an update?",
    "difference between E-104 and E-4471?",
    "What does E-9999 mean?",
    "How do I update the firmware?",
    "the firmware AND the battery",
    'thermal "paper" rolls (57 mm)',
    "What is NEAR the reader?",
    "why is it?",
    "",
)

REFERENCE_QUERY = """\
def safe_query(question):
    codes = HYPHENATED.findall(question)
    terms = [word for word in words(question) if word not in stop_words]
    if codes:
        return " AND ".join(phrase(code) for code in codes)
    return " OR ".join(phrase(term) for term in terms)
"""


def strict_query(question: str) -> str:
    """Return the exercise's query, as the solution makes it."""
    codes = HYPHENATED.findall(question)
    terms = [word for word in words(question) if word not in kb.stop_words()]
    return " AND ".join(map(phrase, codes)) or " OR ".join(map(phrase, terms))


def judge_safe_query(function: Any) -> str | None:
    """Run the learner's queries over the articles; a query is right if it matches the same articles."""
    for question in TRIALS:
        query = call(function, question)
        asked = f"For “{question}” it returned {describe(query)}"
        if not isinstance(query, str):
            return f'{asked}. A query is a text, and "" where there is nothing to search for.'
        try:
            found, expected = matched(query), matched(strict_query(question))
        except sqlite3.OperationalError as error:
            return f"{asked}, and SQLite refuses that: {error}."
        if found != expected:
            return f"{asked}, which matches {', '.join(sorted(found)) or 'no article'}. {_what_to_ask(question, found)}"
    return None


def matched(query: str) -> set[str]:
    """Return the ids of the articles that an FTS5 query matches; "" matches none. Raises sqlite3.OperationalError."""
    if not query:
        return set()
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute("CREATE VIRTUAL TABLE kb USING fts5(id UNINDEXED, title, body)")
        db.executemany("INSERT INTO kb VALUES (?, ?, ?)", kb.documents())
        return {id for (id,) in db.execute("SELECT id FROM kb WHERE kb MATCH ?", (query.replace("\0", " "),))}


def _what_to_ask(question: str, found: set[str]) -> str:
    """Point at the kind of mistake."""
    codes = HYPHENATED.findall(question)
    if len(codes) > 1:
        return "Two codes are named; the strict search wants an article that holds each of them."
    if codes:
        return "The question names a code. Which articles may count then?"
    if not strict_query(question):
        return "Not one content word is in this question."
    if found < matched(strict_query(question)):
        return "An article that holds one of the content words is missing."
    return "Look for a word in the query that stands in nearly every text."


SAFE_QUERY = Exercise(
    key="safe_query",
    title="A query that any text can become",
    judge=judge_safe_query,
    right="Whatever is typed becomes a valid query: codes are demanded, else any content word will do, and nothing a "
    "user writes is read as syntax.",
    hint='The words in stop_words are left out. " AND ".join(...) over the quoted codes, " OR ".join(...) over the '
    "quoted terms; phrase(...) quotes one of them, and joining nothing gives an empty text.",
    solution=REFERENCE_QUERY,
)

ROUTES: tuple[tuple[str, list[str]], ...] = (
    ("What does E-4471 mean?", ["e4471"]),
    ("Co oznacza E-4471 po aktualizacji?", ["e4471"]),
    ("difference between E-104 and E-4471?", ["e104", "e4471"]),
    ("E4471", ["e4471"]),
    ("terminal sagt e-4417", ["e4417"]),
    ("カードを入れるたびにE-104が出ます", ["e104"]),
    ("Der Bildschirm bleibt schwarz", []),
    ("電源を入れても画面が真っ暗です", []),
    ("Nach 15 Minuten ist der Akku leer", []),
    ("57 mm thermal rolls", []),
    ("Wi-Fi in standby", []),
    ("", []),
)


def judge_route(function: Any) -> str | None:
    """Try the learner's function on questions in several languages, with a code, two, or none."""
    for question, codes in ROUTES:
        found = call(function, question)
        expected = ("code", codes) if codes else ("words", [])
        if isinstance(found, tuple) and len(found) == 2 and found == expected:
            continue
        return f"For “{question}” it returned {describe(found)}. {_where_to_look(found, codes)}"
    return None


def _where_to_look(found: Any, codes: Sequence[str]) -> str:
    if not (isinstance(found, tuple) and len(found) == 2 and isinstance(found[1], list)):
        return "A pair is wanted: the name of the route, and the list of codes."
    if found[0] not in ("code", "words"):
        return "The routes are called “code” and “words”."
    if not codes:
        return "No code is quoted here: a number, or a hyphen, is not enough."
    if len(found[1]) != len(codes):
        return "A code is missing, or there is one too many; look at what stands to the left and right of it."
    if [joined(str(code)) for code in found[1]] == list(codes) and found[1] != codes:
        return "The code was found; give it in the one form that all its spellings share."
    return "The route goes by whether a code is quoted."


ROUTE = Exercise(
    key="route",
    title="Codes first, in any language",
    judge=judge_route,
    right="Three in five questions never meet a translator. Only what your function calls “words” needs a decision.",
    hint="Two patterns are at hand: HYPHENATED wants a hyphen, and a word boundary before and after, which unspaced "
    "Japanese does not have. IDENTIFIER looks at its ASCII neighbours alone. A list is true where it is not empty.",
    solution="""\
def route(question):
    codes = [joined(code) for code in IDENTIFIER.findall(question)]
    return ("code", codes) if codes else ("words", [])
""",
)

# --- Dense search over cached vectors ------------------------------------------------------------------------------


def encoder_for(*caches: Path) -> Encoder:
    """Return MiniLM over several vector caches; the model is loaded for a text that is in none of them."""
    known = {key: row for path in caches for key, row in read_vectors(path).items()}
    return CachedEncoder(known, load_encoder)


def dense_search(texts: Mapping[str, str], *caches: Path) -> Retriever:
    """Return MiniLM's search over `texts`, a mapping from id to text."""
    return DenseIndex(texts, encoder_for(*caches)).search


ENCODE_AT_MOST = 30


def not_cached(texts: Iterable[str], cache_file: Path) -> int:
    """Return how many different texts have no vector in a cache."""
    known = read_vectors(cache_file)
    return sum(text_key(text) not in known for text in set(texts))


def reference_texts(unit: str) -> tuple[reference.ReferenceText, ...]:
    """Return the language reference as "topics" or "sections"."""
    return reference.topics() if unit == "topics" else reference.sections()


@cache
def reference_search(unit: str) -> Retriever:
    """Return the library's BM25 over the language reference."""
    return Index((text.id, text.title, text.body) for text in reference_texts(unit)).search


@cache
def reference_searches(unit: str) -> dict[str, Retriever]:
    """Return BM25 and, where nearly all vectors are at hand, MiniLM over the language reference."""
    texts = {text.id: text.chunk for text in reference_texts(unit)}
    if not_cached(texts.values(), reference.VECTORS) > ENCODE_AT_MOST:
        print("MiniLM is left out: this Python's reference differs, and encoding it would take a minute or more.")
        return {"BM25": reference_search(unit)}
    return {"BM25": reference_search(unit), "MiniLM": dense_search(texts, reference.VECTORS)}


_gold_sections = cache(reference.gold_sections)


def reference_gold(unit: str) -> Callable[[reference.ReferenceQuestion], Sequence[str]]:
    """Return what gives a question's right ids in topics or in sections."""
    return _gold_sections if unit == "sections" else lambda question: question.gold


# --- Abstention ----------------------------------------------------------------------------------------------------

SCORES = tuple(range(12))
COVERAGES = (0.0, 0.26, 0.34, 0.51, 0.61, 0.76, 1.0)
DEMANDED, SCORE_AT_FIFTY = 0.5, 5.0
SIZES = (50, 100, 200, 400)


@dataclass(frozen=True)
class Judged:
    """A question's best hit, whatever the thresholds: is it right, what is its score, what does it cover."""

    slice: str
    right: bool
    score: float
    coverage: float


def judged(texts: Sequence[reference.ReferenceText]) -> list[Judged]:
    """Ask all questions of the reference without any threshold. A code that must match covers the question."""
    index, found = Index((text.id, text.title, text.body) for text in texts), []
    for question in reference.reference_questions():
        best = index.find(question.text, 1, Rules(min_coverage=0))
        score = best.hits[0].score if best.hits else 0.0
        covered = best.coverage if best.coverage is not None else float(bool(best.hits))
        right = bool(best.hits) and best.hits[0].id in _gold_sections(question)
        found.append(Judged(question.slice, right, score, covered))
    index.close()
    return found


def threshold_chart() -> Shown:
    """Return, for both kinds of threshold, the share of unanswerable questions turned away and of right ones kept."""
    found = judged(reference.sections())
    lines = [
        Line("coverage", _trade(found, COVERAGES, lambda one: one.coverage)),
        Line("raw score", _trade(found, SCORES, lambda one: one.score)),
    ]
    says = "Share of the questions without an answer that are turned away, against the share of right answers kept."
    return Shown(card("", line_chart(says, lines, "right answers kept, in percent", "turned away")))


def _trade(found: Sequence[Judged], thresholds: Sequence[float], value: Callable[[Judged], float]) -> tuple[Point, ...]:
    """Return one point for each share of right answers kept: the best share turned away at that price."""
    right = [one for one in found if one.right]
    silent = [one for one in found if one.slice == "no answer"]
    best: dict[int, float] = {}
    for threshold in thresholds:
        kept = round(100 * sum(value(one) >= threshold for one in right) / len(right))
        best[kept] = max(best.get(kept, 0), sum(value(one) < threshold for one in silent) / len(silent))
    return tuple(Point(kept, best[kept]) for kept in sorted(best))


def growth_chart() -> Shown:
    """Return how many unanswerable questions each threshold turns away as sections come in; both are set at 50."""
    mixed = sorted(reference.sections(), key=lambda text: sha256(text.id.encode()).hexdigest())
    by_size = {size: unanswerable(mixed[:size]) for size in (*SIZES, len(mixed))}
    lines = [
        Line("coverage .5", tuple(Point(n, _share(one.coverage < DEMANDED for one in q)) for n, q in by_size.items())),
        Line(
            "score of 5", tuple(Point(n, _share(one.score < SCORE_AT_FIFTY for one in q)) for n, q in by_size.items())
        ),
    ]
    says = "Share of 20 questions without an answer that are turned away, against the number of sections."
    return Shown(card("", line_chart(says, lines, "sections in the index", "turned away", log_x=True)))


def unanswerable(texts: Sequence[reference.ReferenceText]) -> list[Judged]:
    """Return the questions without an answer, asked of some of the sections."""
    return [one for one in judged(texts) if one.slice == "no answer"]


def _share(values: Iterable[bool]) -> float:
    counted = list(values)
    return sum(counted) / len(counted)


# --- Repairs of the paraphrases ------------------------------------------------------------------------------------

SYNONYMS: Mapping[str, Sequence[str]] = {
    "screen": ["display"],
    "black": ["blank", "no image"],
    "tap to pay": ["contactless"],
    "stopped working": ["declined"],
    "dead": ["drains", "battery"],
    "every morning": ["overnight"],
    "stuck": ["jam", "jams"],
    "printing": ["receipt", "cutter"],
}

# What a model might return for: "Rewrite the question as keywords from a card terminal's manual." Written by hand.
REWRITES: Mapping[str, str] = {
    "The screen stays black when I turn it on": "blank display after power-on",
    "tap to pay stopped working": "contactless payments declined",
    "the device is dead every morning": "battery drains overnight",
    "paper gets stuck when printing": "receipt paper jams",
}


def unseen_symptoms() -> list[Asked]:
    """Return the symptoms of the nine languages in English, less the one that is a labelled question cut short."""
    seen = " | ".join(question.text for question in kb.labelled_questions())
    symptoms = {q.english: q.gold for q in foreign_questions() if q.slice == "symptom" and q.english not in seen}
    return [Asked("new symptoms", text, gold) for text, gold in symptoms.items()]


# --- Speed ---------------------------------------------------------------------------------------------------------


MODEL_SECONDS = 2.0


def show_ratios(seconds: Mapping[int, Mapping[str, float]]) -> Shown:
    """Return times as multiples of FTS5's, for each number of texts, with a model's two seconds beside them."""
    ratios = {n: {name: time / times["FTS5"] for name, time in times.items()} for n, times in seconds.items()}
    names = [name for name in next(iter(ratios.values())) if name != "FTS5"]
    rows = [
        [f"{n:,}", *(_short(by_name[name]) for name in names), _short(MODEL_SECONDS / seconds[n]["FTS5"])]
        for n, by_name in ratios.items()
    ]
    lines = [Line(name, tuple(Point(n, by_name[name]) for n, by_name in ratios.items())) for name in ("FTS5", *names)]
    top = 4 * ceil(max(point.y for line in lines for point in line.points) / 4)
    says = "Time of a question as a multiple of FTS5's, against the number of texts."
    chart = line_chart(says, lines, "texts", "times FTS5's time", y_max=top, log_x=True)
    headers = ["Texts", *(f"{name} / FTS5" for name in names), "a model's answer / FTS5"]
    return Shown(card("", table(headers, rows, numbers=range(len(headers))), chart))


def _short(ratio: float) -> str:
    return f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.1f}"


WORDS_PER_TEXT, ROUNDS = 80, 20


def race(n: int) -> tuple[dict[str, float], dict[str, float]]:
    """Return the median seconds of a question by way of searching, for rare and for common words, over `n` texts.

    Rare words come from ranks 100 to 5,000 of 30,000, common ones as often as in the texts.
    """
    import numpy as np
    from rank_bm25 import BM25Okapi

    rng, vocabulary = random.Random(0), [f"w{rank}" for rank in range(30_000)]
    zipf = list(accumulate(1 / (rank + 1) for rank in range(len(vocabulary))))
    texts = [rng.choices(vocabulary, cum_weights=zipf, k=WORDS_PER_TEXT) for _ in range(n)]
    rare = [rng.choices(vocabulary[100:5000], k=5) for _ in range(ROUNDS)]
    common = [rng.choices(vocabulary, cum_weights=zipf, k=5) for _ in range(ROUNDS)]
    index = Index(((str(row), "", " ".join(text)) for row, text in enumerate(texts)), copies=False, rules=ANY_WORD)
    scored = BM25Okapi(texts)
    texts.clear()  # before the vectors come: they take 77 MB at 50,000
    vectors = np.random.default_rng(0).standard_normal((n, 384), dtype=np.float32)
    vectors /= np.sqrt(np.einsum("ij,ij->i", vectors, vectors))[:, None]
    ways: dict[str, Callable[[list[str]], object]] = {
        "FTS5": lambda question: index.search(" ".join(question), 10),
        "rank_bm25": lambda question: np.argsort(-scored.get_scores(question))[:10],
        "exact vectors": lambda question: dense_top(vectors[len(question)], vectors, 10),
    }
    times = tuple({name: _median_seconds(way, asked) for name, way in ways.items()} for asked in (rare, common))
    index.close()
    return times[0], times[1]


def _median_seconds(way: Callable[[list[str]], object], questions: Sequence[list[str]]) -> float:
    seconds = []
    for question in questions:
        began = perf_counter()
        way(question)
        seconds.append(perf_counter() - began)
    return median(seconds)


# --- Nine languages ------------------------------------------------------------------------------------------------


def show_languages(searches: Mapping[str, Callable[[Any], Sequence[Hit]]], questions: Sequence[Any]) -> Shown:
    """Return, for each language, how many questions each search answers right at rank 1."""
    rows, totals = [], dict.fromkeys(searches, 0)
    for language in dict.fromkeys(question.language for question in questions):
        asked = [question for question in questions if question.language == language]
        counts = {}
        for name, search in searches.items():
            counts[name] = sum(_state(search(question)[:1], question.gold) == "right" for question in asked)
            totals[name] += counts[name]
        rows.append([language, *(f"{count} of {len(asked)}" for count in counts.values())])
    rows.append(["all", *(f"{total} of {len(questions)}" for total in totals.values())])
    return Shown(card("", table(["Language", *searches], rows)))


lesson = Lesson(
    "move1_bm25",
    (
        AGAIN_DEPTH,
        AGAIN_CACHE,
        TWICE,
        RAW,
        ORED,
        FOUND,
        PARAPHRASES,
        TOO_STRICT,
        FORMATS,
        GROWN,
        LOOK_ALIKES,
        REFERENCE,
        FUSION,
        SPEED,
        NINE,
    ),
    (SAFE_QUERY, ROUTE),
)
