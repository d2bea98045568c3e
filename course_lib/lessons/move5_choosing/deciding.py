"""Which design wins: shares that the course has measured, prices, and the point where the choice flips."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache

from course_lib.bm25 import Index
from course_lib.choosing.cheat_sheet import cheat_sheet
from course_lib.choosing.claims import one_metric
from course_lib.choosing.costs import SHAPES, Design, Flip, Situation, designs, expected, flips_by_error_cost
from course_lib.choosing.costs import flips_by_volume as by_volume
from course_lib.choosing.ladder import BASE, HOURS, OUTPUT
from course_lib.corpora import DATA, error_codes
from course_lib.dense import DenseIndex, load_encoder
from course_lib.learn.explorer import Choice, Control, Explorer, Slider, Tick
from course_lib.learn.look import Shown, card, escape, paragraph, table
from course_lib.lessons.move5_choosing.challenges import library, rungs
from course_lib.lessons.move5_choosing.lending import databases, select_half
from course_lib.lessons.move5_choosing.reviewing import LEXICAL, OWN, one_score
from course_lib.long_context import expected_cost
from course_lib.metrics import Rate
from course_lib.pricing import Price, cost, load_prices
from course_lib.retrieval import Retriever, Usage
from course_lib.tokens import count_tokens

STATEMENT = 80  # output tokens of a model that writes SQL
FACT, CODE, COUNT, HOP, LIVE = SHAPES
SHORT = ("fact", "identifier", "aggregate", "hop", "fast-changing")

# --- What was measured ---------------------------------------------------------------------------------------------


@cache
def code_searches() -> Mapping[str, Retriever]:
    """Return BM25 and MiniLM over the catalogue of 2,000 codes. The vectors are looked up, and no model is loaded."""
    entries = error_codes.error_codes()
    lexical = Index((one.id, one.title, one.body) for one in entries)
    dense = DenseIndex({one.id: one.chunk for one in entries}, load_encoder(error_codes.VECTORS))
    return {LEXICAL: lexical.search, OWN: dense.search}


@cache
def code_rates(k: int = 3) -> Mapping[str, Rate]:
    """Return hit rate@k of BM25 and MiniLM on 120 codes out of a catalogue of 2,000 look-alikes."""
    asked = [(one.text, one.gold) for one in error_codes.code_questions() if one.slice == "exact"]
    return one_metric(code_searches(), asked, k)


@cache
def shares() -> Mapping[str, Mapping[str, float]]:
    """Return for each design the share of questions of each shape that it finds what is needed for.

    Measured are single facts (hit rate@1 on the paraphrases), identifiers and hops. What a design cannot see at all is
    0: a count or a live value is in no text. The database's shares of these two are set in the explorer.
    """
    facts, codes, climbed = one_score("paraphrases"), code_rates(), rungs()

    def texts(name: str, rung: str) -> dict[str, float]:
        return {
            FACT: facts[name].value, CODE: codes[name].value, COUNT: 0.0, HOP: climbed[rung].share.value, LIVE: 0.0,
        }  # fmt: skip

    return {
        "BM25 chunks": texts(LEXICAL, "plain"),
        "MiniLM chunks": texts(OWN, "plain dense"),
        "sections + references": texts(LEXICAL, "follow"),
        "whole document": texts(LEXICAL, "whole"),
        "SQL or API": {FACT: 0.0, CODE: 0.0, COUNT: 1.0, HOP: 0.0, LIVE: 1.0},
    }


def show_shares() -> Shown:
    """Return the shares, a row for each design."""
    rows = [[escape(name), *(f"{of[shape]:.2f}" for shape in SHAPES)] for name, of in shares().items()]
    sizes = (one_score("paraphrases")[OWN].n, code_rates()[OWN].n, rungs()["plain"].share.n)
    measured = f"Measured on {sizes[0]} single facts, {sizes[1]} identifiers and {sizes[2]} hops."
    note = f"{measured} Aggregates, fast-changing values and the last row are 0 or 1 by construction."
    return Shown(card("", table(["Finds what is needed", *SHORT], rows, numbers=range(1, 6)), paragraph(note)))


def candidates(price: Price, per_day: float, upkeep: float, right_sql: float) -> list[Design]:
    """Return the designs with USD a question at `price`; `upkeep` is USD a day of the vector index."""
    climbed = rungs()

    def one_call(tokens: int) -> float:
        return cost(Usage(tokens, output=OUTPUT, calls=1), price)

    card_tokens = count_tokens(databases()["invoices"][2].text())
    writes = Usage(2 * BASE + card_tokens, output=STATEMENT + OUTPUT, calls=2)
    per_hour = per_day / HOURS / len(library().outlines)
    whole = expected_cost(climbed["whole"].tokens - BASE, BASE, price, "1 hour", per_hour, OUTPUT)
    usd = {
        "BM25 chunks": one_call(climbed["plain"].tokens),
        "MiniLM chunks": one_call(climbed["plain dense"].tokens),
        "sections + references": one_call(climbed["follow"].tokens),
        "whole document": whole,
        "SQL or API": cost(writes, price),
    }
    found = []
    for name, of in shares().items():
        right = {shape: share * right_sql if name == "SQL or API" else share for shape, share in of.items()}
        found.append(Design(name, usd[name], right, upkeep if name.startswith("MiniLM") else 0.0))
    return found


# --- The explorer --------------------------------------------------------------------------------------------------

SLIDERS = {"fact": FACT, "code": CODE, "count": COUNT, "hop": HOP, "live": LIVE}


@cache
def prices() -> Mapping[str, Price]:
    """Return the presets of data/prices.json."""
    return load_prices(DATA / "prices.json")


@cache
def router_right() -> float:
    """Return the router's share of right tools on the questions that its rules never saw."""
    return select_half("held out").accuracy.value


def draw(
    fact: int,
    code: int,
    count: int,
    hop: int,
    live: int,
    per_day: int,
    error: int,
    sql: int,
    upkeep: int,
    price: str,
    rules: bool,
) -> str:
    """Return who wins per shape and overall, and where that flips. `error` is in cents, `sql` in per cent."""
    weights = dict(zip(SLIDERS.values(), (fact, code, count, hop, live), strict=True))
    if not any(weights.values()):
        return paragraph("Nobody asks anything: move one of the five shapes above 0.")
    now = Situation(weights, float(per_day), error / 100)
    tried = candidates(prices()[price], per_day, float(upkeep), sql / 100)
    verdict = designs(tried, now, router_right() if rules else 1.0)
    by_name = {one.name: one for one in tried}
    rows = []
    for shape, winner in verdict.by_shape.items():
        one = by_name[winner]
        tied = " (tied)" if shape in verdict.ties else ""
        rows.append([
            escape(shape), f"{now.shares[shape]:.0%}", escape(winner + tied), f"{one.accuracy[shape]:.2f}",
            f"{1000 * expected(one, now, shape):,.2f}", escape(_flips_of(tried, now, shape)),
        ])  # fmt: skip
    headers = ["Shape", "Share", "Wins", "Right", "USD per 1,000, with errors", "Flips, by USD a wrong answer"]
    winners = table(headers, rows, numbers=(1, 3))
    best = verdict.days[verdict.overall]
    alone = f"One design for everything: {verdict.overall}, USD {best:,.2f} a day, errors included."
    chosen = f"right for {router_right():.0%}" if rules else "always right"
    pays = "routing pays" if verdict.routing_pays else "routing does not pay"
    routed = f"Each shape to its winner, by a router that is {chosen}: USD {verdict.routed:,.2f} a day; {pays}."
    flips = _said(flips_by_error_cost(tried, now), "a wrong answer costs USD {:,.3f}")
    volumes = _said(by_volume(tried, now), "there are {:,.0f} questions a day")
    return winners + paragraph(alone) + paragraph(routed) + paragraph(flips) + paragraph(volumes)


def _flips_of(tried: Sequence[Design], now: Situation, shape: str) -> str:
    """Say where the winner of one shape changes with the cost of an error; upkeep is paid for all shapes together."""
    free = [replace(one, upkeep=0.0) for one in tried]
    return "; ".join(f"from {flip.at:.3f} {flip.after}" for flip in flips_by_error_cost(free, now, shape)) or "nowhere"


def _said(flips: Sequence[Flip], where: str) -> str:
    """Say where the best single design changes; `where` has a gap for the number."""
    thing = "the cost of an error" if "wrong" in where else "the number of questions"
    if not flips:
        return f"Whatever {thing}, the best single design is the same."
    told = [f"from where {where.format(flip.at)}, {flip.after} wins over {flip.before}" for flip in flips]
    return f"The best single design flips with {thing}: {'; '.join(told)}."


def cost_explorer() -> Explorer:
    """Return the explorer: five shapes, volume, cost of an error, right SQL, upkeep, prices, the router's mistakes."""
    names = tuple(prices())
    controls: dict[str, Control] = {
        "fact": Slider("Single facts", 0, 10, 4),
        "code": Slider("Exact identifiers", 0, 10, 3),
        "count": Slider("Aggregates", 0, 10, 2),
        "hop": Slider("Structural hops", 0, 10, 1),
        "live": Slider("Fast-changing", 0, 10, 0),
        "per_day": Slider("Questions a day", 10, 5000, 200),
        "error": Slider("A wrong answer, cents", 0, 500, 50),
        "sql": Slider("Right SQL, per cent", 0, 100, 90),
        "upkeep": Slider("Vector upkeep, USD a day", 0, 50, 2),
        "price": Choice("Prices", names, names[0]),
        "rules": Tick("Count the router's mistakes", True),
    }
    return Explorer("Which design wins, and where that flips", controls, draw)


# --- The cheat sheet -----------------------------------------------------------------------------------------------


def sheet(measured: Mapping[str, object]) -> list[list[str]]:
    """Return the cheat sheet as rows of plain text, the headings first, as the page to keep takes it.

    A row's number is the one handed in, and where none was it says so.
    """
    rows = [[one.symptom, one.move, one.cost, one.number] for one in cheat_sheet(measured)]
    return [["Symptom", "Move", "What it costs", "Measured in this notebook"], *rows]


def show_sheet(rows: Sequence[Sequence[str]]) -> Shown:
    """Return the rows of the cheat sheet as a table; the first holds the headings."""
    headings, *others = rows
    return Shown(card("", table(headings, [[escape(cell) for cell in row] for row in others])))
