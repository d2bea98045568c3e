"""Move 2's ladder of repairs, on fifty labelled questions over two schemas, and one question to a live model."""

from collections.abc import Mapping
from contextlib import closing
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

from course_lib.corpora import DATA, invoices, tickets
from course_lib.corpora import sql_questions as labelled
from course_lib.learn.look import Shown, card, escape, mark, paragraph, table
from course_lib.llm import ModelError, open_model
from course_lib.pricing import load_prices
from course_lib.sql.database import read_only
from course_lib.sql.guard import Guard
from course_lib.sql.schema_card import make_views, schema_card
from course_lib.sql.text_to_sql import SCHEMA, Climb, Source, answer, build_prompt, climb, with_model


@cache
def sources() -> Mapping[str, Source]:
    """Return the two databases with their views, meanings and examples, in a folder of their own."""
    folder = Path(mkdtemp())
    desk = tickets.make_database(folder / "tickets.db")
    ledger = invoices.make_database(folder / "invoices.db")
    make_views(desk, labelled.TICKET_VIEWS)
    make_views(ledger, invoices.VIEWS)
    return {
        "tickets": Source(
            desk,
            labelled.TICKET_TABLES,
            list(labelled.TICKET_VIEWS),
            labelled.TICKET_MEANINGS,
            labelled.examples("tickets"),
        ),
        "invoices": Source(
            ledger, invoices.TABLES, list(invoices.VIEWS), invoices.MEANINGS, labelled.examples("invoices")
        ),
    }


@cache
def ladder() -> Climb:
    """Return what becomes of all fifty questions on each rung, answered by the stand-in."""
    return climb(labelled.sql_questions(), sources())


SHORT = {"bare schema": "bare", "+ errors handed back": "errors"}


def show_ladder(found: Climb) -> Shown:
    """Return how many questions are answered right on each rung, by the mistake that the stand-in makes."""
    counts, asked = found.counts(), found.asked()
    rows = [
        [escape(kind), str(asked[kind]), *(str(by_rung[rung]) for rung in found.rungs)]
        for kind, by_rung in counts.items()
    ]
    totals = [str(sum(by_rung[rung] for by_rung in counts.values())) for rung in found.rungs]
    rows.append(["<b>all</b>", str(sum(asked.values())), *totals])
    headers = ["Mistake", "n", *(SHORT.get(rung, rung.removeprefix("+ ")) for rung in found.rungs)]
    shown = table(headers, rows, numbers=range(1, len(headers)))
    return Shown(card("", f'<div style="overflow-x:auto">{shown}</div>'))


def left_over(found: Climb) -> list[str]:
    """Return the kinds of mistake that are not wholly repaired on the last rung."""
    asked = found.asked()
    return [kind for kind, by_rung in found.counts().items() if by_rung[found.rungs[-1]] < asked[kind]]


def show_answer(id: str, rung: str) -> Shown:
    """Return what the stand-in answers to one question on one rung: each statement, what was said to it, the rows."""
    given = next(one.answer for one in ladder().outcomes if (one.id, one.rung) == (id, rung))
    pieces = [paragraph(given.question)]
    for number, tried in enumerate(given.attempts, start=1):
        pieces.append(f"<p>{number}. <code>{escape(tried.output)}</code></p>")
        rows = "" if tried.result is None else f"Rows: {tried.result.rows}"
        pieces.append(paragraph(tried.told or tried.failure or rows, "missed" if tried.told else "retrieved"))
    return Shown(card("", *pieces))


def ask_live(question: str = tickets.QUESTION) -> Shown:
    """Ask a live model for the SQL to one question, behind the guard; without a key say what would be sent.

    At most USD 0.05 are spent. The price is the first preset of data/prices.json, which are round numbers.
    """
    source = sources()["tickets"]
    with_views = [*source.tables, *source.views]
    price = next(iter(load_prices(DATA / "prices.json").values()))
    model = open_model(price, budget=0.05)
    with closing(read_only(source.path)) as connection:
        about = schema_card(connection, source.meanings, with_views)
    prompt = build_prompt(question, about, source.examples)
    request = model.would_send(prompt.system, prompt.messages, SCHEMA)
    most = f"At most {request.tokens:,} input tokens and USD {request.usd:.4f} at the round prices of data/prices.json."
    if model.why_not:
        would = paragraph("This is what would be sent as the system text, with the question behind it:")
        return Shown(card("", paragraph(model.why_not), would, f"<pre>{escape(prompt.system)}</pre>", paragraph(most)))
    try:
        given = answer(question, with_model(model), Guard(set(with_views)), source.path, about, source.examples)
    except ModelError as error:
        return Shown(card("", paragraph(str(error), "missed")))
    spent = paragraph(f"Spent: USD {model.budget.spent:.4f}.")
    return Shown(card("", mark("retrieved", "Live"), *(paragraph(line) for line in str(given).splitlines()), spent))
