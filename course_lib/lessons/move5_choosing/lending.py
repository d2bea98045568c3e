"""Five tools behind one loop: their descriptions, the rules that choose, the choices counted, one run, a live model."""

from collections.abc import Sequence
from contextlib import closing
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

from course_lib.asof import AS_OF
from course_lib.bm25 import Index
from course_lib.choosing.agent import INSTRUCTIONS, Run, Scripted, changed, claude_agent, filled_in, run_agent
from course_lib.choosing.router import RULES, Rule, chooses, route
from course_lib.choosing.selection import NO_TOOL, Selection, select
from course_lib.choosing.toolbox import CLEAR, VAGUE, Toolbox, five_tools
from course_lib.corpora import DATA, agreement, invoices, repository, tickets
from course_lib.corpora import sql_questions as labelled
from course_lib.corpora import support_kb as kb
from course_lib.corpora.routing_questions import routing_questions
from course_lib.grep import Memory
from course_lib.learn.look import Accent, Shown, card, escape, mark, paragraph, table
from course_lib.llm import open_model
from course_lib.navigation.outline import Outline, from_sections
from course_lib.pricing import Price, load_prices
from course_lib.sql.database import read_only
from course_lib.sql.guard import Guard
from course_lib.sql.schema_card import Card, make_views, schema_card
from course_lib.sql.tools import TicketTools

LIMIT = 0.10  # USD, of one question to a live model
STEPS = 4
ASTRAY = {
    "mails": "How many mails per minute does mailer.py let through?",
    "competitors": "Which of our competitors has the cheapest terminal?",
    "fees": 'How is "Fees" defined?',
    "drafts": "What is the total of draft invoices at the moment?",
    "tap to pay": "tap to pay stopped working this morning",
    "refund": "Refund invoice INV-2040 to the customer",
}


def price() -> Price:
    """Return the first preset of data/prices.json, which are round numbers."""
    return next(iter(load_prices(DATA / "prices.json").values()))


# --- The tools -----------------------------------------------------------------------------------------------------


@cache
def contract() -> Outline:
    """Return the services agreement of the course as an outline."""
    return from_sections((section.id, section.title, section.text) for section in agreement.sections())


@cache
def databases() -> dict[str, tuple[Path, Guard, Card]]:
    """Return tickets and invoices with guard and schema card, in a folder of their own."""
    folder = Path(mkdtemp())
    desk = tickets.make_database(folder / "tickets.db")
    ledger = invoices.make_database(folder / "invoices.db")
    make_views(desk, labelled.TICKET_VIEWS)
    make_views(ledger, invoices.VIEWS)
    names = {
        "tickets": (desk, labelled.TICKET_MEANINGS, [*labelled.TICKET_TABLES, *labelled.TICKET_VIEWS]),
        "invoices": (ledger, invoices.MEANINGS, [*invoices.TABLES, *invoices.VIEWS]),
    }
    found = {}
    for name, (path, meanings, tables) in names.items():
        with closing(read_only(path)) as connection:
            found[name] = (path, Guard(set(tables)), schema_card(connection, meanings, tables))
    return found


@cache
def toolbox() -> Toolbox:
    """Return the five tools over the course's own data."""
    desk = TicketTools(databases()["tickets"][0], AS_OF)
    return five_tools(Index(kb.documents()).find, desk, databases(), contract(), Memory(repository.files()))


def unbroken(html: str) -> str:
    """Return HTML that stays on one line: names and short marks are not cut in two."""
    return f'<span style="white-space:nowrap">{html}</span>'


def show_tools() -> Shown:
    """Return the tools with the descriptions that a model chooses by."""
    rows = [[unbroken(escape(name)), escape(CLEAR[name])] for name in toolbox().names]
    return Shown(card("", table(["Tool", "Description, as it is sent"], rows)))


# --- The rules, and how often they are right -----------------------------------------------------------------------


def show_rules(rules: Sequence[Rule] = RULES) -> Shown:
    """Return the router's rules in their order: the tool, and the words of which one must stand in the question."""
    rows = []
    for number, rule in enumerate(rules, 1):
        needs = f"<code>{escape(' , '.join(rule.words))}</code>"
        also = f" and one of <code>{escape(' , '.join(rule.also))}</code>" if rule.also else ""
        rows.append([str(number), escape(rule.tool or NO_TOOL), needs + also])
    return Shown(card("", table(["", "Tool", "One of these, in capitals or not"], rows)))


def sent_astray() -> list[str]:
    """Return which of the six questions of the prediction the rules send elsewhere than their label says."""
    meant = {one.text: one.tool for one in routing_questions()}
    return [name for name, text in ASTRAY.items() if route(text).tool != meant[text]]


def show_routes() -> Shown:
    """Return for the six questions where they are meant to go, where they go, and which words decided."""
    meant = {one.text: one.tool for one in routing_questions()}
    rows = []
    for text in ASTRAY.values():
        found = route(text)
        accent: Accent = "retrieved" if found.tool == meant[text] else "missed"
        rows.append([
            escape(text), escape(meant[text] or NO_TOOL), unbroken(mark(accent, found.tool or NO_TOOL)),
            escape(f"rule {found.rule}: {found.why}" if found.rule else "no rule met"),
        ])  # fmt: skip
    return Shown(card("", table(["Question", "Meant for", "Goes to", "Because of"], rows)))


def select_half(half: str, rules: Sequence[Rule] = RULES) -> Selection:
    """Return the choices of the rules on one half of the labelled questions, "tuning" or "held out"."""
    return select(chooses(rules), [one for one in routing_questions() if one.half == half])


def show_selection(selection: Selection) -> Shown:
    """Return the confusion table: a row for each tool that was meant, a column for each that was chosen."""
    confusion = selection.confusion()
    columns = list(next(iter(confusion.values())))
    rows = [
        [f"<b>{escape(meant)}</b>", *(_count(of[chosen], meant == chosen) for chosen in columns)]
        for meant, of in confusion.items()
    ]
    names = [name.replace("_", "_\u200b") for name in columns]  # a place to break the line
    shown = table(["Meant, chosen", *names], rows)
    return Shown(card("", shown, paragraph(f"Right: {selection.accuracy}.")))


def _count(number: int, right: bool) -> str:
    shown = mark("retrieved", str(number)) if right else mark("missed", str(number)) if number else "0"
    return unbroken(shown)


def kinds_of_misses(selection: Selection) -> dict[str, int]:
    """Return how many questions got no tool although one was meant, another tool, or a tool where none may act."""
    misses = selection.misses
    return {
        "no tool at all": sum(one.chosen is None for one in misses),
        "another tool": sum(one.chosen is not None and one.tool is not None for one in misses),
        "a tool where none may act": sum(one.chosen is not None and one.tool is None for one in misses),
    }


# --- One run, and other descriptions -------------------------------------------------------------------------------


@cache
def stand_in() -> Scripted:
    """Return the script that stands in for a model: it chooses by the words it shares with the descriptions."""
    return Scripted(filled_in(tickets.TEAMS, tickets.PRIORITIES, {}, contract().toc()))


def run(question: str, vague: bool = False) -> Run:
    """Let the stand-in answer a question with the five tools, under clear or vague descriptions."""
    box = toolbox().described(VAGUE) if vague else toolbox()
    return run_agent(question, stand_in(), box)


def show_runs(runs: Sequence[Run]) -> Shown:
    """Return each run: what was called, what came back (its beginning), and how it ended."""
    pieces = []
    for one in runs:
        rows = [[step, f"<code>{escape(call)}</code>", escape(_begins(text))] for step, call, text in one.rows()]
        pieces.append(f"<p><b>{escape(one.question)}</b></p>" + table(["Step", "Call", "What came back"], rows))
    return Shown(card("", *pieces))


def _begins(text: str, most: int = 150) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[:most]} …"


def show_descriptions() -> Shown:
    """Return the vague descriptions beside the beginnings of the clear ones."""
    rows = [[escape(name), escape(_begins(CLEAR[name], 70)), escape(VAGUE[name])] for name in toolbox().names]
    return Shown(card("", table(["Tool", "Clear", "Vague"], rows)))


def show_changed(most: int = 6) -> Shown:
    """Return some of the held-out questions that vague descriptions lead elsewhere. A mechanism, and no rate."""
    texts = [one.text for one in routing_questions("held out")]
    found = changed(texts, toolbox().schemas(), toolbox().described(VAGUE).schemas())
    by_tool = {one.clear: one for one in reversed(found)}  # one question for each tool
    rows = [
        [escape(one.text), escape(one.clear or NO_TOOL), escape(one.vague or NO_TOOL)]
        for one in [one for one in found if one is by_tool[one.clear]][:most]
    ]
    return Shown(card("", table(["Question", "Under clear descriptions", "Under vague ones"], rows)))


def ask_live(question: str = tickets.QUESTION) -> Shown:
    """Let a live model work with the five tools; without a key say what would be sent. At most USD 0.10 are spent."""
    model = open_model(price(), budget=LIMIT)
    if model.why_not:
        request = model.would_send(INSTRUCTIONS, question, tools=toolbox().schemas())
        most = f"At most {request.tokens:,} input tokens and USD {request.usd:.4f} for the first call, at round prices."
        limit = f"The whole run would stop after {STEPS} steps or at USD {LIMIT:.2f}."
        sent = f"This would be sent, with the descriptions of {', '.join(toolbox().names)}:"
        text = f"<pre>{escape(INSTRUCTIONS)}</pre><pre>{escape(question)}</pre>"
        return Shown(card("", paragraph(model.why_not), paragraph(sent), text, paragraph(most), paragraph(limit)))
    done = run_agent(question, claude_agent(model), toolbox(), STEPS)
    spent = paragraph(f"Spent: USD {model.budget.spent:.4f}.")
    return Shown(card("", mark("retrieved", "Live"), show_runs([done]).html, spent))
