"""Three challenges without a label: the attempts there are, an order to choose, and what running all of them gives."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from course_lib.bm25 import Index, Rules
from course_lib.choosing import imported, ladder, order, quarter
from course_lib.corpora import forum, invoices, policies
from course_lib.corpora import sql_questions as labelled
from course_lib.dense import DenseIndex, load_encoder
from course_lib.learn.blank import Blank
from course_lib.learn.exercises import describe
from course_lib.learn.look import Shown, card, escape, mark, paragraph, table
from course_lib.lessons.move5_choosing.lending import databases, price, unbroken
from course_lib.long_context import whole_document
from course_lib.pricing import cost
from course_lib.sql.text_to_sql import Source

# --- Feedback on an order ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Listed:
    """An attempt that can be put into an order: its key, its name, what it takes. Nothing has been run."""

    key: str
    name: str
    takes: str


def show_attempts(listed: Sequence[Listed]) -> Shown:
    """Return the attempts by their keys."""
    rows = [[unbroken(escape(repr(one.key))), escape(one.name), escape(one.takes)] for one in listed]
    return Shown(card("", table(["Key", "Attempt", "What it takes"], rows)))


def follow(challenge: order.Challenge, chosen: object) -> Shown:
    """Return what comes of an order of attempts, a list of keys; while it is still open, how to give one."""
    keys = ", ".join(repr(one.key) for one in challenge.attempts)
    if isinstance(chosen, Blank):
        line = "No order yet. Put a list of keys in the place of ____, the first attempt first, and run both cells."
        return Shown(card("", paragraph(line), paragraph(f"The keys are {keys}.")))
    if not isinstance(chosen, list | tuple) or not chosen:
        line = f"This is {describe(chosen)}, but a list of attempts is needed, the first one first: {keys}."
        return Shown(card("", paragraph(line, "missed")))
    if any(isinstance(key, Blank) for key in chosen):
        line = f"There is still a ____ in your order. The keys are {keys}."
        return Shown(card("", paragraph(line, "missed")))
    odd = [key for key in chosen if not isinstance(key, str)]
    if odd:
        line = f"{describe(odd[0])} in your order is no key; each is a text in quotes: {keys}."
        return Shown(card("", paragraph(line, "missed")))
    try:
        sentences = order.feedback(challenge, chosen)
    except ValueError as error:
        return Shown(card("", paragraph(f"{error}.", "missed")))
    return Shown(card(f"Your order: {challenge.name}", *(paragraph(sentence) for sentence in sentences)))


# --- The delegation limit ------------------------------------------------------------------------------------------

POLICY_RULES = Rules(min_coverage=0, identifiers="off")


@cache
def library() -> ladder.Library:
    """Return the twelve policies as outlines."""
    return ladder.Library(policies.policies())


def policy_index(heading_paths: bool) -> Index:
    """Return a full-text index over the chunks of all policies, with or without their heading paths."""
    chunks = policies.chunks(heading_paths)
    parts = ((id, text.partition("\n")) for id, text in chunks.items())
    return Index(((id, title, body) for id, (title, _, body) in parts), tokenizer="porter", rules=POLICY_RULES)


@cache
def attempts() -> tuple[ladder.Attempt, ...]:
    """Return the attempts at the delegation limit over the twelve policies; no model is loaded."""
    plain, paths = policy_index(heading_paths=False).search, policy_index(heading_paths=True).search
    encoder = load_encoder(policies.VECTORS)
    dense, dense_paths = (DenseIndex(policies.chunks(with_paths), encoder).search for with_paths in (False, True))
    return tuple(ladder.ladder(library(), plain, paths, price(), dense, dense_paths))


@cache
def rungs() -> Mapping[str, ladder.Rung]:
    """Return what each attempt comes to on the 24 questions, by its key."""
    return {rung.key: rung for rung in ladder.climb(policies.policy_questions(), attempts())}


def limit_attempts() -> list[Listed]:
    """Return the attempts at the delegation limit."""
    return [Listed(one.key, one.name, one.needs) for one in attempts()]


def the_limit() -> order.Challenge:
    """Return the delegation limit with what was run."""
    return order.delegation_limit(rungs().values())


def cited_section() -> Shown:
    """Return the end of section 5.4, which the assistant cited, and how large the twelve policies are."""
    text = library().text("procurement 5.4")
    sentences = [one for one in text.replace("\n", " ").split(". ") if "Appendix 2" in one]
    sizes = library().tokens
    pages = [tokens // 500 for tokens in sizes.values()]
    heading = text.split("\n", 1)[0]
    about = f"{len(sizes)} policies of {min(pages)} to {max(pages)} pages, {sum(sizes.values()):,} tokens in all."
    window = f"The window of the model takes {price().window:,}."
    return Shown(card(heading, *(paragraph(f"… {one} …") for one in sentences), paragraph(f"{about} {window}")))


def show_rungs() -> Shown:
    """Return every attempt with what it finds and what it costs."""
    rows = []
    for one in rungs().values():
        found = mark("retrieved", "found") if one.found else mark("missed", "missing")
        rows.append(
            [escape(one.name), unbroken(found), f"{one.share.value:.2f}", f"{one.tokens:,}", f"{one.per_day:.2f}"]
        )
    n = next(iter(rungs().values())).share.n
    headers = ["Attempt", "This table", f"Of {n} tables", "Tokens", "USD a day"]
    return Shown(card("", table(headers, rows, numbers=(2, 3, 4))))


def warm_per_thousand() -> float:
    """Return USD for 1,000 questions to a whole policy of mean size while its cache is warm."""
    size = rungs()["whole"].tokens - ladder.BASE
    warm = whole_document(size, ladder.BASE, price(), "warm", ladder.OUTPUT)
    return 1000 * cost(warm, price(), "1 hour")


# --- The quarter that shrank ---------------------------------------------------------------------------------------


@cache
def quarters() -> Mapping[str, quarter.Quarter]:
    """Return what each attempt makes of last quarter's revenue, with the stand-in taking the wrong date."""
    asked = next(one for one in labelled.sql_questions("invoices") if one.id == "i01")
    asked = replace(asked, slips=tuple(slip for slip in asked.slips if slip.kind == "wrong date column"))
    path = databases()["invoices"][0]
    source = Source(path, invoices.TABLES, list(invoices.VIEWS), invoices.MEANINGS, ())
    return {one.key: one for one in quarter.the_quarter(asked, source)}


def quarter_attempts() -> list[Listed]:
    """Return the attempts at the quarter that shrank."""
    return [
        Listed(key, one.name, order.QUARTER_TAKES[key][0]) for key, one in quarter.ATTEMPTS.items() if key != "as it is"
    ]


def the_quarter() -> order.Challenge:
    """Return the quarter that shrank with what was run."""
    return order.shrunken_quarter(one for one in quarters().values() if one.key != "as it is")


def show_first_answer() -> Shown:
    """Return the SQL that finance got, its sum, and what fired."""
    one = quarters()["as it is"]
    said = "; ".join(one.warnings) or "No layer of the guard fired."
    sum_ = f"EUR {one.value:,.2f}, which is {one.share:.2f} of the ledger. {said}"
    return Shown(card("", f"<p><code>{escape(one.sql)}</code></p>", paragraph(sum_)))


def show_quarters() -> Shown:
    """Return what each attempt makes of the quarter, and the rows that the first one missed."""
    rows = []
    for one in quarters().values():
        agrees = mark("retrieved", "agrees") if one.reconciled else mark("missed", "does not")
        rows.append([escape(one.name), f"{one.value:,.2f}", f"{one.share:.2f}", agrees])
    count, total = quarter.missing_rows(databases()["invoices"][0], *invoices.LAST_QUARTER)
    note = f"Billed in the quarter and entered before it: {count} invoices, EUR {total:,.2f}."
    headers = ["The prompt, or the check", "EUR", "Of the ledger", "With the ledger it"]
    return Shown(card("", table(headers, rows, numbers=(1, 2)), paragraph(note)))


# --- The forum import ----------------------------------------------------------------------------------------------


@cache
def repaired() -> tuple[imported.Repair, ...]:
    """Return the repairs over the articles and the 5,000 posts."""
    return tuple(imported.repairs([*forum.official(), *forum.posts()]))


@cache
def outcomes() -> Mapping[str, imported.Outcome]:
    """Return what each repair does to the questions of both sides, by its key."""
    return {one.key: one for one in imported.compare(repaired(), forum.forum_questions())}


def forum_attempts() -> list[Listed]:
    """Return the repairs of the forum import."""
    return [
        Listed(one.key, one.name, f"{one.cost}; {one.searches} search{'es' if one.searches > 1 else ''} a question")
        for one in repaired()
        if one.key != "nothing"
    ]


def the_import() -> order.Challenge:
    """Return the forum import with what was run."""
    return order.forum_import(one for one in outcomes().values() if one.key != "nothing")


def show_first_hits(k: int = 3) -> Shown:
    """Return what the index returns for E-4471 after the import: place, source, title."""
    source = {one.id: one for one in (*forum.official(), *forum.posts())}
    hits = repaired()[0].search(forum.forum_questions()[0].text, k)
    rows = []
    for place, hit in enumerate(hits, 1):
        one = source[hit.id]
        word = mark("gold", "official") if one.source == imported.OFFICIAL else escape(one.source)
        rows.append([str(place), word, escape(one.title), escape(_pasted(one.body))])
    shown = table(["", "Source", "Title", "Where the code stands"], rows)
    size = f"{len(forum.official()):,} official entries and {len(forum.posts()):,} posts are in the index."
    return Shown(card(forum.forum_questions()[0].text, shown, paragraph(size)))


def _pasted(body: str, code: str = "E-4471") -> str:
    return next((f"{one.strip()}." for one in body.split(".") if code in one), "in the title")


def show_outcomes() -> Shown:
    """Return every repair with the place of the article and what both sides get."""
    rows = []
    for one in outcomes().values():
        shares = [f"{rate.value:.2f}" for rate in (one.official[0], one.forum[1])]
        rows.append([escape(one.name), str(one.rank or "–"), *shares])
    headers = ["Repair", "Place of the article", "Official first", "Thread among three"]
    first = next(iter(outcomes().values()))
    sides = f"{first.official[0].n} questions that an article answers, {first.forum[1].n} that only a thread does."
    return Shown(card("", table(headers, rows, numbers=(1, 2, 3)), paragraph(sides)))


MONTHS = (forum.SEED, 4, 5)  # this import, and two others


def boosted_months(factors: Sequence[float]) -> dict[int, dict[float, imported.Outcome]]:
    """Return what multiplying official scores by each factor does, for three imports, by their number from 1."""
    return {
        number: imported.boosts([*forum.official(), *forum.posts(seed)], forum.forum_questions(seed), factors)
        for number, seed in enumerate(MONTHS, 1)
    }


def show_months(months: Mapping[int, Mapping[float, imported.Outcome]]) -> Shown:
    """Return for each factor and import what both sides get."""
    factors = list(next(iter(months.values())))
    rows = []
    for factor in factors:
        for number, found in months.items():
            one = found[factor]
            shares = [f"{rate.value:.2f}" for rate in (one.official[0], one.forum[1])]
            both = mark("retrieved", "both") if serves_both(one) else mark("missed", "not both")
            rows.append([f"× {factor:g}", str(number), *shares, unbroken(both)])
    headers = ["Official scores", "Import", "Official first", "Thread among three", "Served"]
    return Shown(card("", table(headers, rows, numbers=(1, 2, 3))))


def serves_both(one: imported.Outcome) -> bool:
    """Whether the article comes first, and the thread is among three, for all questions of their side."""
    return one.official[0].value == 1 and one.forum[1].value == 1


def holds_every_month(months: Mapping[int, Mapping[float, imported.Outcome]]) -> list[str]:
    """Return the factors that serve both sides in every import."""
    factors = list(next(iter(months.values())))
    return [f"{factor:g}" for factor in factors if all(serves_both(found[factor]) for found in months.values())]
