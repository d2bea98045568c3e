"""Move 3's measurements: eight systems on two corpora, and the bill with sliders."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache

from course_lib.corpora import language_reference, large_agreement
from course_lib.corpora import navigation_questions as labelled
from course_lib.corpora.navigation_questions import Headed, NavigationQuestion
from course_lib.dense import CachedEncoder, load_encoder, read_vectors
from course_lib.learn.explorer import Control, Explorer, Slider
from course_lib.learn.look import Shown, card, escape, mark, paragraph, table
from course_lib.lessons.move3_navigation.breaking import large_outline
from course_lib.lessons.move3_navigation.tracing import price
from course_lib.metrics import rate
from course_lib.navigation.bill import (
    ROUND_NUMBERS,
    Assumptions,
    Line,
    all_right,
    cheapest,
    chunk_rag,
    navigation,
    whole_document,
    worth_it,
)
from course_lib.navigation.comparison import ALL, Corpus, Row, compare_on
from course_lib.navigation.loop import LONGEST
from course_lib.navigation.models import TITLES, Lexical
from course_lib.navigation.outline import Outline, build
from course_lib.navigation.tree import Heading

# --- The comparison -------------------------------------------------------------------------------------------------

READ_REFERENCE = Lexical(hops=1, definitions=False, titled=True)  # it says "see section TITLE", and defines no terms
LONGEST_TOPIC = 4_000  # characters of one read


@cache
def on_the_agreement() -> tuple[Row, ...]:
    """Return every system by kind of question, on 100 questions over the agreement of 400 sections."""
    document = labelled.agreement_document()
    return _compared(document, large_outline(), labelled.agreement_questions(), TITLES, LONGEST)


@cache
def on_the_reference() -> tuple[Row, ...]:
    """Return every system by kind of question, on the language reference of the running Python."""
    document = labelled.reference_document()
    made = build(document.text, [Heading(*heading) for heading in document.headings], document.title)
    return _compared(document, made, labelled.reference_questions(), READ_REFERENCE, LONGEST_TOPIC)


def _compared(
    document: Headed, made: Outline, questions: Sequence[NavigationQuestion], how: Lexical, longest: int
) -> tuple[Row, ...]:
    known = read_vectors(labelled.VECTORS) | read_vectors(language_reference.VECTORS)
    known |= read_vectors(large_agreement.VECTORS)
    encoder = CachedEncoder(known, load_encoder)
    corpus = Corpus(made, document.chunks, document.inside, questions, encoder, price(), how, longest)
    return tuple(compare_on(corpus))


def _by_system(rows: Sequence[Row]) -> dict[str, dict[str, Row]]:
    found: dict[str, dict[str, Row]] = {}
    for row in rows:
        found.setdefault(row.system, {})[row.kind] = row
    return found


SHORT = {"one section": "section", "a defined term": "term", "spread everywhere": "spread"}


def show_recall(rows: Sequence[Row]) -> Shown:
    """Return node recall by system and kind of question, and over all questions with its 95 % interval."""
    by_system = _by_system(rows)
    first = next(iter(by_system.values()))
    headers = ["System", *(SHORT.get(kind, kind) for kind in first), "95 %"]
    shown = []
    for system, by_kind in by_system.items():
        overall = by_kind[ALL].recall
        values = [_share(row.recall.value) for row in by_kind.values()]
        shown.append([escape(system), *values, f"{overall.low:.2f} to {overall.high:.2f}"])
    each = next(iter(first.values())).recall.n
    title = f"Node recall: {first[ALL].recall.n} questions, {each} of each kind"
    return Shown(card(title, table(headers, shown, numbers=range(1, len(headers)))))


def _share(value: float) -> str:
    """Return a share with two digits, set in bold from 0.9 on: what the question of this section takes as a pass."""
    return f"<b>{value:.2f}</b>" if value >= 0.9 else f"{value:.2f}"


def show_costs(rows: Sequence[Row]) -> Shown:
    """Return what each system costs on average over all questions: reads, tokens, money, model seconds."""
    headers = ["System", "reads", "tokens", "USD", "cached", "seconds", "p95"]
    shown = []
    for system, by_kind in _by_system(rows).items():
        row = by_kind[ALL]
        times = ["measure" if time is None else f"{time:.1f}" for time in (row.seconds, row.p95)]
        money = [f"{row.usd:.2f}", f"{row.usd_cached:.2f}"]
        shown.append([escape(system), f"{row.reads:.1f}", f"{row.tokens:,}", *money, *times])
    title = (
        "Averages over all questions: reads, input tokens, USD per 1,000 without and with a warm cache, model seconds"
    )
    return Shown(card(title, table(headers, shown, numbers=range(1, len(headers)))))


# --- The bill -------------------------------------------------------------------------------------------------------


BILL_HEADERS = ("Design", "Input tokens", "USD per 1,000", "Model seconds")


def show_bill(lines: Sequence[Line]) -> Shown:
    """Return the designs of a bill with input tokens, USD per 1,000 questions, and model seconds."""
    return Shown(card("", table(BILL_HEADERS, [_line(line) for line in lines], numbers=(1, 2, 3))))


def _line(line: Line) -> list[str]:
    seconds = "measure" if line.seconds is None else f"{line.seconds:.1f}"
    return [escape(line.design), f"{line.tokens:,}", f"{line.usd:,.2f}", seconds]


def draw_bill(
    reads: int,
    headings: int,
    section: int,
    pages: int,
    input_price: int,
    output_price: int,
    read_price: int,
    cached: int,
    right: int,
    chunks_right: int,
) -> str:
    """Return the bill at these settings, the cheapest design that navigates or sends all, and what errors add up to.

    Prices are USD per million tokens; `read_price`, `cached`, `right` and `chunks_right` are percentages.
    """
    at = replace(price(), input=float(input_price), output=float(output_price), read=read_price / 100)
    a = replace(ROUND_NUMBERS, headings=headings, section=section, pages=pages)
    share = cached / 100
    chunks, walk, whole = chunk_rag(at, a), navigation(at, a, reads, share), whole_document(at, a, share)
    best = cheapest([walk, whole])
    every = all_right(right / 100, reads + 1)
    return "".join(
        [
            table(BILL_HEADERS, map(_line, (chunks, walk, whole)), (1, 2, 3)),
            paragraph(f"The cheaper of the two that can follow a reference: {best.design}."),
            paragraph(f"{reads + 1} decisions, each right in {right} %: all of them right in {every:.0%}."),
            paragraph(_worth(chunks, walk, chunks_right / 100, every)),
        ]
    )  # fmt: skip


def _worth(chunks: Line, walk: Line, chunks_right: float, walk_right: float) -> str:
    """Say from which cost of a wrong answer on the navigator pays, against chunks, or up to which."""
    says = f"If chunks are right in {chunks_right:.0%} and the navigator in {walk_right:.0%}"
    if walk.usd <= chunks.usd:  # small contents and short sections, at the end of their sliders
        if walk_right >= chunks_right:
            return f"{says}, it pays at any cost of a wrong answer: it is no dearer."
        limit = worth_it(walk, chunks, walk_right, chunks_right)
        return f"{says}, it pays as long as a wrong answer costs less than USD {limit:.2f}."
    cost = worth_it(chunks, walk, chunks_right, walk_right)
    if cost is None:
        return f"{says}, it never pays."
    return f"{says}, it pays once a wrong answer costs USD {cost:.2f} or more."


def bill_explorer() -> Explorer:
    """Return the explorer: sizes, prices, the share of calls that find the cache warm, and errors a step."""
    a: Assumptions = ROUND_NUMBERS
    controls: dict[str, Control] = {
        "reads": Slider("Reads", 1, 10, 2),
        "headings": Slider("Headings in the contents", 10, 3000, a.headings),
        "section": Slider("Tokens of a section", 100, 5000, a.section),
        "pages": Slider("Pages of the document", 10, 1500, a.pages),
        "input_price": Slider("Input, USD a million", 1, 20, 3),
        "output_price": Slider("Output, USD a million", 1, 100, 15),
        "read_price": Slider("A cache read, % of input", 1, 50, 10),
        "cached": Slider("Warm cache, % of calls", 0, 100, 100),
        "right": Slider("Decisions right, %", 50, 100, 90),
        "chunks_right": Slider("Chunks right, %", 0, 100, 30),
    }
    return Explorer("What does a thousand questions cost?", controls, draw_bill)


# --- Published figures ----------------------------------------------------------------------------------------------

BENCHMARK = 150  # questions of FinanceBench that are public


def show_vendor_figure() -> Shown:
    """Return a vendor's figure as it is reported and as its released labels give it, with Wilson's intervals."""
    counts = (
        ("agree with the benchmark's answer as it stands", 136),
        ("after 12 answers were overruled by people", 148),
    )
    rows = []
    for what, agreed in counts:
        found = rate(agreed, BENCHMARK)
        rows.append(
            [escape(what), f"{agreed} of {BENCHMARK}", f"{found.value:.1%}", f"{found.low:.1%} to {found.high:.1%}"]
        )
    title = "PageIndex on FinanceBench: its README says 98.7 %; its released labels, counted"
    return Shown(card(title, table(["", "Labels", "Share", "95 %"], rows, numbers=(1, 2, 3))))


def verdicts(rows: Sequence[Row], wanted: float = 0.9) -> dict[str, list[str]]:
    """Return for each kind of question the systems whose node recall reaches `wanted`, the cheapest first."""
    kinds: Mapping[str, None] = dict.fromkeys(row.kind for row in rows if row.kind != ALL)
    passing = {kind: [r for r in rows if r.kind == kind and r.recall.value >= wanted] for kind in kinds}
    return {kind: [r.system for r in sorted(found, key=lambda r: r.usd)] for kind, found in passing.items()}


def show_verdicts(rows: Sequence[Row], wanted: float = 0.9) -> Shown:
    """Return for each kind of question which systems pass, from the cheapest to the dearest."""
    shown = [[escape(k), escape("; ".join(v)) or mark("missed", "none")] for k, v in verdicts(rows, wanted).items()]
    return Shown(card("", table(["Kind", f"Node recall of {wanted} or more, cheapest first"], shown)))
