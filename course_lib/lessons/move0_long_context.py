"""Move 0: the whole source in the prompt, what it costs, who may see it, and what breaks the cache."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from math import floor, log10
from typing import Any

from course_lib.asof import AS_OF
from course_lib.corpora import DATA, agreement
from course_lib.corpora.vendor_agreements import KINDS, VendorAgreement
from course_lib.learn.chart import Line, Point, line_chart
from course_lib.learn.exercises import Exercise, call, describe
from course_lib.learn.explorer import Choice, Control, Explorer, Slider
from course_lib.learn.lesson import Lesson
from course_lib.learn.look import Accent, Shown, card, escape, mark, paragraph, table
from course_lib.learn.predictions import Option, Question
from course_lib.long_context import (
    Passage,
    Verdict,
    break_even,
    expected_cost,
    fits,
    read_usage,
    six_chunks,
    warm_share,
    whole_document,
)
from course_lib.pricing import LIFETIMES, Lifetime, Price, bill, cost, load_prices
from course_lib.retrieval import Usage

# --- Predictions, in the order of the notebook ---------------------------------------------------------------------

AGAIN_NAME = Question(
    key="again_name",
    text="A retriever's pool holds 10 candidates, and the best 5 go into the prompt. The section that holds the answer "
    "would be ranked 12th. What is the name of this failure?",
    options=(
        Option("ranked out", "a cut-off of 5 would lose it too, but it never got as far as the cut-off."),
        Option("not retrieved"),
        Option("no failure: it is in the prompt", "twelve is not far down, but only five places reach the prompt."),
    ),
    right=lambda name: [name],
    result="name_of_the_miss",
    lesson_learned="Ask about the pool first. A section outside it needs another way to be found, and no better order "
    "brings it back.",
)

AGAIN_ENCODER = Question(
    key="again_encoder",
    text="The encoder is replaced by a newer one. Which of these systems have something to compute again? Tick all.",
    options=(
        Option("BM25 in a search engine", "Its index holds counts of words, and no model computed those.", "BM25"),
        Option(
            "hybrid: BM25 and dense, merged",
            "The half that counts words stays as it is; the other half is one vector a chunk, from the old encoder.",
            "hybrid",
        ),
        Option(
            "SQL that a language model writes", "What is stored are rows; a model at question time is no index.", "SQL"
        ),
        Option(
            "the whole document in the prompt",
            "There is no index at all: retrieval returns everything, so nothing can be out of date.",
            "long context",
        ),
    ),
    right=list,
    result="to_compute_again",
    lesson_learned="The whole document in the prompt is the limiting case of vectorless retrieval: an empty index, and "
    "nothing that could be ranked out.",
    pick=None,
)

BILL = Question(
    key="bill",
    text="A contract of 60 pages with 500 tokens each goes into every prompt, with 300 tokens of instructions and "
    "question. Input costs USD 3 per million tokens. What do 1,000 questions cost, without a cache?",
    options=(
        Option("about USD 9", "a cent a question sounds like what a call costs; that is the price of a short prompt."),
        Option("about USD 91"),
        Option("about USD 910", "thirty thousand tokens sound like a lot, and a million of them cost three dollars."),
    ),
    right=lambda usd: ["about USD 9" if usd < 30 else "about USD 91" if usd < 300 else "about USD 910"],
    result="usd_per_1000",
    lesson_learned="Nine cents a question. Whether that is much depends on how many questions there are, and on what "
    "a wrong answer costs.",
)

CACHED = Question(
    key="cached",
    text="The provider keeps the contract in a cache and bills what it reads from there at 10 % of the input price. "
    "The classic pipeline sends six chunks of 500 tokens and the same 300. While the cache is warm, what does a "
    "question to the whole contract cost, compared with one to the six chunks?",
    options=(
        Option("less", "a tenth is a strong discount, but it is a tenth of ten times as much text."),
        Option("the same"),
        Option("three times as much", "it is ten times the text, and the cache does not take off that much less."),
        Option("ten times as much", "that is the ratio of the texts; the cache takes nine tenths off the long one."),
    ),
    right=lambda ratio: [warm_ratio(ratio)],
    result="ratio",
    lesson_learned="With reads at a tenth, sixty pages cost what six come to. That is the price of a warm cache, and "
    "nothing has been said yet about how often it is warm.",
)


def warm_ratio(ratio: float) -> str:
    """Return the option of the question on the warm cache that a ratio of costs falls into."""
    if ratio < 0.95:
        return "less"
    return "the same" if ratio < 1.05 else "three times as much" if ratio < 6 else "ten times as much"


BREAK_EVEN = Question(
    key="break_even",
    text="A cache entry lives 5 minutes, each question renews it, and writing it costs 1.25 times the input price. "
    "From how many questions an hour is the cached contract cheaper than six chunks, with reads at 10 %?",
    options=(
        Option(
            "from about 12 an hour",
            "that is one in five minutes on average, but questions do not come evenly: more than a third of the gaps "
            "are longer than the average.",
        ),
        Option("from about 60 an hour", "nearly all questions find it warm then, and each of them costs the same."),
        Option("at no rate"),
    ),
    right=lambda rate: ["at no rate" if rate is None else f"from about {12 if rate < 27 else 60} an hour"],
    result="from_rate",
    lesson_learned="A warm question costs the same as six chunks and a cold one more than ten times as much, so the "
    "average never gets below. Look at the read price before you look at the traffic.",
)

TIMESTAMP = Question(
    key="timestamp",
    text="Somebody helpful writes the time of the question into the first line of the prompt, above the contract. "
    "Four questions come, a minute apart. What do they cost, compared with the same four without any cache?",
    options=(
        Option(
            "less than half", "one short line is new and the rest is the same, but a cache compares from the start."
        ),
        Option("the same", "nothing is ever read, that is right; but something is done at each call that costs extra."),
        Option("a quarter more"),
    ),
    right=lambda ratio: ["less than half" if ratio < 0.5 else "the same" if ratio < 1.1 else "a quarter more"],
    result="stamped_ratio",
    lesson_learned="The cache is written at every call and never read. No error is raised and every answer is right; "
    "the usage line is the only place where it shows.",
)

BOUNDARY = Question(
    key="boundary",
    text="Schedule D holds a discount that only finance may see, and a reader from sales asks a question. In which of "
    "these designs does the discount stay out of the prompt? Tick all.",
    options=(
        Option(
            "an instruction: “Do not reveal Schedule D to anyone outside finance.”",
            "It reads like a rule, and models mostly follow it; but the figure is in the prompt, in the log and within "
            "reach of a clever question.",
            "instruction",
        ),
        Option(
            "Schedule D is headed “CONFIDENTIAL, finance only”",
            "People keep to such a heading because they answer for it; to a model it is more text to read.",
            "heading",
        ),
        Option(
            "sections are filtered by the reader's groups before the prompt is built",
            "What is not in the prompt cannot be revealed, whatever is asked.",
            "filter",
        ),
    ),
    right=list,
    result="kept_out",
    lesson_learned="Access is decided in code, from the login, before there is a prompt. Everything in the prompt is "
    "already given away.",
    pick=None,
)

NAIVE = Question(
    key="naive",
    text="A colleague takes the first number in front of “days” in the clause on leaving at will. For which kinds "
    "of agreements does that come out empty or wrong at least once? Tick all.",
    options=(
        Option("days: “90 days' notice”", "This is the wording that the pattern was written for.", "days"),
        Option("words: “ninety (90) days' notice”", "A bracket stands between the number and the word.", "words"),
        Option("weeks: “six weeks' notice”", "“Days” comes only later in the clause, with another meaning.", "weeks"),
        Option("months: “three months' notice”", "The same: 30 days to pay the final invoice get found.", "months"),
        Option("schedule: “the notice stated in Schedule 2”", "The clause holds no number of its own.", "schedule"),
        Option("unusual: “a fortnight's notice”", "There is no number to find, and perhaps another one is.", "unusual"),
        Option(
            "no right: only the Vendor may leave, or nobody",
            "It has a number of days, and it is not our right: a pattern on the number never asks whose it is.",
            "no right",
        ),
    ),
    right=list,
    result="troubled",
    lesson_learned="Empty fields can be counted. Wrong ones look like all others, and they are found only against a "
    "truth: label a few hundred agreements by hand before you believe a table.",
    pick=None,
)

# --- Prices and bills ----------------------------------------------------------------------------------------------


@cache
def prices() -> Mapping[str, Price]:
    """Return the presets of `data/prices.json` by name; the first is the lesson's."""
    return load_prices(DATA / "prices.json")


def show_bill(usages: Mapping[str, Usage], price: Price, lifetime: Lifetime = "5 minutes") -> Shown:
    """Return usage lines with what each kind of token costs, in USD per 1,000 calls like it."""
    rows = []
    for name, usage in usages.items():
        parts = bill(usage, price, lifetime)
        counts = [f"{count:,}" for count in (usage.fresh, usage.cached, usage.written)]
        money = [f"{1000 * parts[kind]:,.2f}" for kind in ("fresh", "read", "written")]
        rows.append([escape(name).replace(" ", "&nbsp;"), *counts, *money, f"{1000 * sum(parts.values()):,.2f}"])
    headers = ["", "Fresh", "Read", "Written", "USD fresh", "USD read", "USD written", "USD"]
    under = paragraph(f"Tokens of one question, USD per 1,000 questions, cache of {lifetime}. Prices: {price.name}.")
    return Shown(card("", table(headers, rows, numbers=range(1, 8)), under))


def show_calls(lines: Sequence[Usage], price: Price, minutes: Sequence[float] = ()) -> Shown:
    """Return one row a call, as a provider reports it, with the cost against that of no cache, and what it reveals."""
    rows = [
        [str(number), f"{line.fresh:,}", f"{line.cached:,}", f"{line.written:,}", f"{cost(line, price):.4f}"]
        for number, line in enumerate(lines, start=1)
    ]
    if minutes:
        rows = [[row[0], f"{at:g}", *row[1:]] for row, at in zip(rows, minutes, strict=True)]
    headers = ["Call", *(["Minute"] if minutes else []), "Fresh", "Read", "Written", "USD"]
    said = read_usage(lines)
    accent: Accent = "retrieved" if said == "works" else "missed"
    ratio = paragraph(f"{cost_ratio(lines, price):.2f} times the cost of the same calls without a cache.")
    return Shown(
        card("", table(headers, rows, numbers=range(len(headers))), paragraph(f"Cache: {said}.", accent), ratio)
    )


def cost_ratio(lines: Sequence[Usage], price: Price) -> float:
    """Return what some calls cost, as a multiple of the same calls without any cache."""
    return sum(cost(line, price) for line in lines) / sum(cost(Usage(line.input), price) for line in lines)


def show_verdict(verdict: Verdict) -> Shown:
    """Return the four conditions with what holds and why."""
    rows = []
    for one in verdict.conditions:
        holds = mark("retrieved" if one.holds == "yes" else "missed", one.holds)
        rows.append([escape(one.name), f'<span style="white-space:nowrap">{holds}</span>', escape(one.reason)])
    title = f"The whole source in the prompt: {verdict.holds}"
    return Shown(card(title, table(["Condition", "Holds", "Why"], rows)))


# --- The explorer --------------------------------------------------------------------------------------------------

REST = 300
RESERVE = 20_000
RATES = (0.5, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
AS_PRESET = "as in the preset"
READS = (AS_PRESET, "0 %", "2.5 %", "5 %", "10 %", "25 %", "50 %", "100 %")
WRITES = (AS_PRESET, "1", "1.25", "1.5", "2", "3")


def priced(preset: str, read: str = AS_PRESET, write: str = AS_PRESET) -> Price:
    """Return a preset, with another share for cache reads or another write factor where one is chosen."""
    base = prices()[preset]
    share = base.read if read == AS_PRESET else float(read.rstrip(" %")) / 100
    short, long = (base.write_5_minutes, base.write_1_hour) if write == AS_PRESET else (float(write),) * 2
    return Price(base.name, base.input, base.output, share, short, long, base.minimum_prefix, base.window)


def draw_bill(pages: int, per_page: int, preset: str, read: str, lifetime: Lifetime, write: str, per_hour: int) -> str:
    """Return what 1,000 questions cost, by rate of arrival, for the whole document with a cache and for six chunks."""
    price, prefix = priced(preset, read, write), pages * per_page
    room = fits(prefix + REST, price.window, RESERVE)
    says = (
        f"{prefix:,} tokens and {REST} for the question, of a window of {price.window:,} with {RESERVE:,} in reserve: "
    )
    pieces = [paragraph(says + ("it fits." if room else "it does not fit."), "retrieved" if room else "missed")]
    if not room:
        return "".join([*pieces, paragraph("No price makes up for that: another move is needed.")])
    if prefix < price.minimum_prefix:
        pieces.append(paragraph(f"Under the minimum of {price.minimum_prefix:,} tokens: nothing is cached.", "missed"))
    other = cost(six_chunks(REST), price)
    even = break_even(prefix, REST, price, lifetime, other)
    pieces.append(paragraph(even_in_words(even), "missed" if even is None else "retrieved"))
    return "".join([*pieces, _at_your_rate(prefix, price, lifetime, per_hour), rate_chart(prefix, price, lifetime)])


def even_in_words(even: float | None) -> str:
    """Return the break-even against six chunks as a sentence; it is defined where there is none, too."""
    if even is None:
        return "Break-even: none. Even a warm question costs as much as six chunks or more, at any rate."
    if even == 0:
        return "Break-even: at any rate. Even a cold question costs no more than six chunks."
    return f"Break-even: from {even:.3g} questions an hour the cached document costs less than six chunks."


def _at_your_rate(prefix: int, price: Price, lifetime: Lifetime, per_hour: int) -> str:
    share = warm_share(per_hour, lifetime) if prefix >= price.minimum_prefix else 0.0
    usd = {
        "six chunks": cost(six_chunks(REST), price),
        "whole, no cache": cost(whole_document(prefix, REST, price), price),
        f"whole, cache of {lifetime}": expected_cost(prefix, REST, price, lifetime, per_hour),
    }
    heading = paragraph(f"At {per_hour} questions an hour, {share:.0%} of them find the cache warm:")
    rows = [[escape(name), f"{1000 * amount:,.2f}"] for name, amount in usd.items()]
    return heading + table(["Design", "USD per 1,000 questions, input only"], rows, numbers=[1])


def rate_chart(prefix: int, price: Price, lifetime: Lifetime) -> str:
    """Return USD per 1,000 questions against their rate, with the line of six chunks and the break-even as a point."""
    other = cost(six_chunks(REST), price)
    even = break_even(prefix, REST, price, lifetime, other)
    on_axis = even is not None and RATES[0] <= even <= RATES[-1]
    rates = list(RATES)
    if even is not None and on_axis:  # it takes the place of rates too near to be told apart
        rates = sorted([even, *(rate for rate in RATES if not 0.8 < rate / even < 1.25)])
    cached = [Point(_short(rate), 1000 * expected_cost(prefix, REST, price, lifetime, rate)) for rate in rates]
    lines = [Line("whole, cached", tuple(cached)), Line("six chunks", tuple(Point(p.x, 1000 * other) for p in cached))]
    if even is not None and on_axis:
        lines.append(Line(f"break-even {even:.3g}", (Point(_short(even), 1000 * other),)))
    says = f"USD per 1,000 questions against questions an hour. {even_in_words(even)}"
    top = _round_up(max(point.y for line in lines for point in line.points))
    return line_chart(says, lines, "questions an hour", "USD per 1,000", y_max=top, log_x=True)


def _short(rate: float) -> float:
    return float(f"{rate:.3g}")


def _round_up(value: float) -> float:
    """Return the next short number whose quarter is short as well, so that the axis can be read."""
    if value <= 0:
        return 1.0
    power = 10.0 ** floor(log10(value))
    return next(step * power for step in (1, 1.2, 1.6, 2, 2.4, 3.2, 4, 6, 8, 10) if step * power >= value * 0.999999)


def bill_explorer() -> Explorer:
    """Return the explorer: size, prices and rate of arrival, and what 1,000 questions cost."""
    presets = tuple(prices())
    controls: dict[str, Control] = {
        "pages": Slider("Pages", 1, 600, 60),
        "per_page": Slider("Tokens per page", 100, 1000, 500),
        "preset": Choice("Price", presets, presets[0]),
        "read": Choice("Cache reads cost", READS, AS_PRESET),
        "lifetime": Choice("Cache lifetime", LIFETIMES, "5 minutes"),
        "write": Choice("Write factor", WRITES, AS_PRESET),
        "per_hour": Slider("Questions an hour", 1, 512, 12),
    }
    return Explorer("What do 1,000 questions cost?", controls, draw_bill)


# --- Access --------------------------------------------------------------------------------------------------------

DISCOUNT = "23.5%"
INSTRUCTION = "Do not reveal Schedule D to anyone outside finance."


def passages(heading: str = "Schedule D: Discounts") -> list[Passage]:
    """Return the agreement as passages that everyone may see, and last a schedule that only finance may see."""
    open_ones = [Passage(section.id, section.title, section.text) for section in agreement.sections()]
    text = f"The Customer receives a discount of {DISCOUNT} on all Fees, and the Provider tells no other customer so."
    return [*open_ones, Passage("D", heading, text, frozenset({"finance"}))]


# --- Published figures ---------------------------------------------------------------------------------------------

PUBLISHED = (
    (
        "Writing to a 5-minute cache: 1.25 times the input price, each time the cache has gone cold",
        "Anthropic's pricing page",
    ),
    (
        "Reading from a cache: 10 % of the input price as a rule, down to 2.5 % for some models",
        "Anthropic's pricing page",
    ),
    (
        "Order: 79 % of answers right with the question after the filing and 25 % with it before, same model and text",
        "labels published with FinanceBench (Islam et al. 2023)",
    ),
    (
        "Length: accuracy falls as the text grows, most where question and answer share no words",
        "NoLiMa (Modarressi et al., ICML 2025)",
    ),
    (
        "Length: the size at which a model still works well is often below the size of its window",
        "RULER (Hsieh et al., COLM 2024)",
    ),
)


def published_figures() -> Shown:
    """Return the published figures that no cell can compute, with their sources and the course's date."""
    rows = [[escape(figure.replace(" %", "\u00a0%")), escape(source)] for figure, source in PUBLISHED]
    return Shown(card(f"Published, as of {AS_OF}", table(["Figure", "Source"], rows)))


# --- The exercises -------------------------------------------------------------------------------------------------

READINGS = ("never written", "written, never read", "written again", "works")

_FRESH = Usage(fresh=457, calls=1)
_COLD = Usage(fresh=300, written=30_000, calls=1)
_WARM = Usage(fresh=300, cached=30_000, calls=1)
_HALF = Usage(fresh=300, cached=12_000, written=18_000, calls=1)

LINES: tuple[tuple[Usage, ...], ...] = (
    (_FRESH, _FRESH, _FRESH),
    (_COLD, _COLD, _COLD),
    (_COLD, _WARM, _WARM),
    (_COLD, _HALF, _HALF),
    (_WARM, _WARM),
    (_COLD, _WARM, _COLD),
    (_COLD, _COLD, _WARM),
    (_HALF, _WARM, _WARM),
    (_HALF, _HALF),
)


def judge_read_usage(function: Any) -> str | None:
    """Try the learner's function on usage lines of every kind; see `Exercise.judge`."""
    for lines in LINES:
        found = call(function, list(lines))
        shown = "; ".join(f"fresh {u.fresh}, cached {u.cached}, written {u.written}" for u in lines)
        asked = f"For the calls ({shown}) it returned {describe(found)}."
        if not isinstance(found, str) or found not in READINGS:
            return f"{asked} That is not one of the four: {'; '.join(READINGS)}."
        if found != read_usage(lines):
            return f"{asked} {_what_to_count(lines)}"
    return None


def _what_to_count(lines: Sequence[Usage]) -> str:
    if lines[0].cached and not lines[0].written:
        return "The first call may find the cache warm already; then nothing needs to be written."
    if not any(line.written or line.cached for line in lines):
        return "Look at both counts of the cache over all calls: what do they add up to?"
    if not any(line.cached for line in lines):
        return "Add up what was read over all calls."
    if any(line.written for line in lines[1:]):
        return "Something is read here; look at what the calls after the first write besides."
    return "The first call may have to write; leave it out when you ask whether anything is written again."


READ_USAGE = Exercise(
    key="name_the_breakage",
    title="Read the usage lines",
    judge=judge_read_usage,
    right="Your function tells a cache that works from one that is never written, never read or written again. Run it "
    "over yesterday's log.",
    hint="any(...) over the lines does it, and not any(...). The second blank asks about cached tokens alone; "
    "the third about the written tokens of lines[1:], since the first call may well be cold.",
    solution="""\
def name_the_breakage(lines):
    if not any(line.cached or line.written for line in lines):
        return "never written"
    if not any(line.cached for line in lines):
        return "written, never read"
    if any(line.written for line in lines[1:]):
        return "written again"
    return "works"
""",
)

NUMBER_WORDS = {
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "six": 6,
    "eight": 8,
    "twelve": 12,
    "fourteen": 14,
    "thirty": 30,
    "forty-five": 45,
    "sixty": 60,
    "ninety": 90,
}
UNITS = {"day": 1, "week": 7, "month": 30}
PERIOD = r"([\w-]+)(?: \(\d+\))? (day|week|month)"


def notice_days(phrase: str) -> int | None:
    """Return the first period in `phrase` in days, a month as 30, or None where no number and unit can be read.

    >>> notice_days("ninety (90) days' notice"), notice_days("3 months"), notice_days("a fortnight")
    (90, 90, None)
    """
    found = re.search(PERIOD, phrase.lower())
    if found is None:
        return None
    number, unit = found.groups()
    count = int(number) if number.isdecimal() else NUMBER_WORDS.get(number)
    return None if count is None else count * UNITS[unit]


PERIODS: tuple[tuple[str, int | None], ...] = (
    ("30 days", 30),
    ("ninety days", 90),
    ("ninety (90) days", 90),
    ("forty-five days", 45),
    ("6 weeks", 42),
    ("three months", 90),
    ("1 month", 30),
    ("Two weeks", 14),
    ("a fortnight", None),
    ("one calendar quarter", None),
    ("the days that follow", None),
    ("", None),
)


def judge_notice_days(function: Any) -> str | None:
    """Try the learner's function on periods in figures and words, and on some that it cannot read."""
    for phrase, expected in PERIODS:
        found = call(function, phrase)
        if isinstance(found, int) and not isinstance(found, bool) and found == expected:
            continue
        if found is None and expected is None:
            continue
        return f"For “{phrase}” it returned {describe(found)}. {_how_to_read(phrase, found, expected)}"
    return None


def _how_to_read(phrase: str, found: object, expected: int | None) -> str:
    """Point at the kind of mistake, never at the number that is wanted."""
    if expected is None:
        return "Where no known number stands before a unit, say None: a guess in a table looks like a fact."
    if found is None:
        return "Here a number and a unit can be read; it may be in figures or in words, see NUMBER_WORDS."
    if isinstance(found, bool) or not isinstance(found, int):
        return "A whole number of days is wanted, or None."
    if "day" not in phrase:
        return "The result is counted in days; UNITS says how many one unit has."
    return "The number before the unit counts the days."


NOTICE_DAYS = Exercise(
    key="notice_days",
    title="A period in days",
    judge=judge_notice_days,
    right="Your function reads figures and words in three units, and says None for the rest, so that somebody can read "
    "those.",
    hint="number is a text: number.isdecimal() tells figures from words, and NUMBER_WORDS.get(number) gives None for a "
    "word that is not a number. None cannot be multiplied.",
    solution="""\
def notice_days(phrase):
    found = re.search(PERIOD, phrase.lower())
    if found is None:
        return None
    number, unit = found.groups()
    count = int(number) if number.isdecimal() else NUMBER_WORDS.get(number)
    return None if count is None else count * UNITS[unit]
""",
)

# --- The vendor agreements -----------------------------------------------------------------------------------------


def by_phrasing(
    agreements: Sequence[VendorAgreement], extracted: Mapping[str, int | None]
) -> dict[str, dict[str, int]]:
    """Return, for each kind of phrasing, how many agreements were extracted right, wrong, or left empty.

    Empty is right where there is no right to leave, and the truth there is None.
    """
    counts = {kind: {"right": 0, "wrong": 0, "empty": 0} for kind in KINDS}
    for one in agreements:
        found = extracted[one.id]
        state = "right" if found == one.days else "empty" if found is None else "wrong"
        counts[one.phrased][state] += 1
    return {kind: states for kind, states in counts.items() if sum(states.values())}


def show_phrasings(counts: Mapping[str, Mapping[str, int]]) -> Shown:
    """Return the counts of `by_phrasing` as a table."""
    rows = [[escape(kind), *(f"{states[s]:,}" for s in ("right", "empty", "wrong"))] for kind, states in counts.items()]
    return Shown(card("", table(["Notice is phrased in", "right", "left empty", "wrong"], rows, numbers=[1, 2, 3])))


def read_agreement(one: VendorAgreement) -> Shown:
    """Return an agreement to be read."""
    return Shown(card(f"{one.id} with {one.vendor}", *(paragraph(line) for line in one.text.split("\n"))))


lesson = Lesson(
    "move0_long_context",
    (AGAIN_NAME, AGAIN_ENCODER, BILL, CACHED, BREAK_EVEN, TIMESTAMP, BOUNDARY, NAIVE),
    (READ_USAGE, NOTICE_DAYS),
)
