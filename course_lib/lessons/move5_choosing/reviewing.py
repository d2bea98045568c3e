"""The design review: what two questions from before compute, and the five sentences of the memo, each put to a test."""

from collections.abc import Mapping, Sequence
from functools import cache

from course_lib.bm25 import Index
from course_lib.choosing.claims import (
    BLUEPRINTS,
    Speed,
    Updates,
    one_metric,
    part_counts,
    speeds,
    updates,
    what_leaves,
)
from course_lib.corpora import repository, tickets
from course_lib.corpora import support_kb as kb
from course_lib.dense import DenseIndex, load_encoder
from course_lib.grep import Memory, grep
from course_lib.learn.look import Shown, card, escape, mark, paragraph, table
from course_lib.metrics import Rate
from course_lib.retrieval import Retriever
from course_lib.tokens import count_tokens

# --- From Moves 2 and 4 --------------------------------------------------------------------------------------------

PATTERNS = ("rate.?limit", "quota|limiter", "throttle|per.?minute")


def rows_that_count(k: int) -> int:
    """Return how many of the five open P1 tickets of Berlin are among the `k` rows nearest to the question."""
    nearest = DenseIndex(tickets.row_texts(), load_encoder(tickets.VECTORS)).search(tickets.QUESTION, k)
    return len(tickets.ids_where("Berlin", "P1", "open") & {hit.id for hit in nearest})


def tokens_of_rows(k: int) -> int:
    """Return the tokens of the `k` rows nearest to the question."""
    nearest = DenseIndex(tickets.row_texts(), load_encoder(tickets.VECTORS)).search(tickets.QUESTION, k)
    return count_tokens("\n".join(hit.text for hit in nearest))


def lines_found() -> dict[str, int]:
    """Return how many lines of the repository each of three patterns for the mail limit finds."""
    code = Memory(repository.files())
    return {pattern: len(grep(code, pattern).matches) for pattern in PATTERNS}


# --- The five sentences --------------------------------------------------------------------------------------------

OWN, LEXICAL, HOSTED = "dense, own encoder", "BM25", "dense, hosted encoder"
A_TENTH = 0.1


@cache
def both_searches() -> Mapping[str, Retriever]:
    """Return BM25 and MiniLM over the eight support articles. The vectors are looked up, and no model is loaded."""
    texts = {article.id: article.chunk for article in kb.articles()}
    return {LEXICAL: Index(kb.documents()).search, OWN: DenseIndex(texts, load_encoder(kb.VECTORS)).search}


def measured_speeds() -> list[Speed]:
    """Return the seconds to an answer: the searches measured now, the model's calls assumed."""
    return speeds(both_searches(), [question.text for question in kb.labelled_questions()])


def saved(lines: Sequence[Speed]) -> float:
    """Return the largest share of the time to an answer that BM25 saves, compared with a design with vectors."""
    total = {line.design: line.total for line in lines}
    return max(1 - total[LEXICAL] / total[name] for name in (OWN, HOSTED))


def show_speeds(lines: Sequence[Speed]) -> Shown:
    """Return a line for each design: calls of a model, seconds in all, and how much of them the search is."""
    rows = [[escape(one.design), str(one.calls), f"{one.total:.1f}", _part(one)] for one in lines]
    headers = ["Design", "Model calls", "Seconds to an answer", "Of them the search"]
    note = f"Against the slower of the two with vectors, BM25 saves {saved(lines):.0%} of the time."
    return Shown(card("", table(headers, rows, numbers=(1, 2, 3)), paragraph(note)))


def _part(one: Speed) -> str:
    if not one.search:
        return "not measured"
    return "under 0.1 %" if one.share < 0.001 else f"{one.share:.1%}"


def show_leaving() -> Shown:
    """Return what leaves the machine in each design, with a provider's model and with one that runs here."""
    leaves = what_leaves()
    rows = [
        [escape(one.name), _kinds(leaves[one.name]), _kinds(leaves[f"{one.name}, model here"])] for one in BLUEPRINTS
    ]
    return Shown(card("", table(["Design", "Leaves with a provider's model", "With a model that runs here"], rows)))


def _kinds(kinds: Sequence[str]) -> str:
    return escape(", ".join(kinds)) if kinds else mark("retrieved", "nothing")


def show_parts() -> Shown:
    """Return the parts that each design has to build and keep."""
    counts = part_counts()
    rows = [
        [escape(one.name), str(counts[one.name]), escape("; ".join(part.name for part in one.parts))]
        for one in BLUEPRINTS
    ]
    return Shown(card("", table(["Design", "Parts", "Which"], rows, numbers=(1,))))


def corrected() -> Updates:
    """Put one article right in both kinds of index, then change analyzer and model, and count the work.

    Until this morning the text of kb-103 stood under kb-102 as well.
    """
    texts = {article.id: article.chunk for article in kb.articles()}
    before = {**texts, "kb-102": texts["kb-103"]}
    question = kb.labelled_questions()[0].text
    return updates(before, "kb-102", texts["kb-102"], question, load_encoder(kb.VECTORS))


def show_updates(done: Updates) -> Shown:
    """Return what two events cost in both kinds of index."""
    lexical, dense = ("found" if one else "not found" for one in done.found)
    rows = [
        ["one article is put right", f"{done.bm25_rows} row written", f"{done.dense_encoded} text encoded"],
        ["and afterwards it is", escape(lexical), escape(dense)],
        [
            "analyzer or model is changed",
            f"{done.new_analyzer_rows} rows written",
            f"{done.new_model_encoded} texts encoded",
        ],
    ]
    return Shown(card("", table(["Event", "BM25", "MiniLM"], rows)))


def one_score(slice_: str | None = None) -> dict[str, Rate]:
    """Return hit rate@1 of both searches on the labelled questions, all eight or those of one slice."""
    asked = [(one.text, one.gold) for one in kb.labelled_questions() if slice_ in (None, one.slice)]
    return one_metric(both_searches(), asked)


def show_scores(by_slice: Mapping[str, Mapping[str, Rate]]) -> Shown:
    """Return hit rate@1 of both searches, a row for each slice."""
    rows = [
        [escape(name), str(rates[LEXICAL].n), f"{rates[LEXICAL].value:.2f}", f"{rates[OWN].value:.2f}"]
        for name, rates in by_slice.items()
    ]
    return Shown(card("", table(["Questions", "n", "BM25, hit rate@1", "MiniLM, hit rate@1"], rows, numbers=(1, 2, 3))))


def borne_out(lines: Sequence[Speed], done: Updates, scores: Mapping[str, Mapping[str, Rate]]) -> list[str]:
    """Return which of the statements of the prediction the five tests bear out."""
    leaves, parts = what_leaves(), part_counts()
    tests = {
        "a tenth faster": saved(lines) > A_TENTH,
        "less leaves": leaves[LEXICAL] != leaves[OWN],
        "fewer parts": parts[LEXICAL] < parts[OWN],
        "one encoding": done.dense_encoded == 1 and all(done.found),
        "one metric": all(set(rates) == {LEXICAL, OWN} for rates in scores.values()),
    }
    return [name for name, holds in tests.items() if holds]
