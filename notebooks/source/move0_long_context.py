# %% [markdown]
# # Before any index: does it fit in the prompt?
#
# *Move 0: a core of 30 minutes, and 25 more to go further. You need Python, and no key, no network, no graphics card.
# All prices are round numbers from one file that you can edit.*
#
# When you are through, you can
#
# - say for a given source whether it fits, what a question costs, and from which rate of questions a cache pays,
# - give a verdict on four conditions with a reason for each,
# - read from a usage line that a cache is broken, and how,
# - keep what a reader may not see out of the prompt.

# %%
from course_lib.corpora import agreement, large_agreement
from course_lib.lessons import move0_long_context as move0
from course_lib.lessons.move0_long_context import lesson, show_bill, show_calls, show_verdict

# %% [markdown]
# ## Two questions from the opening
#
# Answer from memory. If you have not done the opening notebook, guess: both reveals say what there is to know.

# %% tags=["exercise"]
again_name = lesson.predict("again_name")
again_name

# %% tags=["solution"]
again_name = lesson.predict("again_name", answer="not retrieved", confidence="sure")
again_name

# %%
from course_lib.retrieval import outcome

name_of_the_miss = outcome(rank=12, pool=10, k=5)
again_name.reveal(name_of_the_miss)

# %% tags=["exercise"]
again_encoder = lesson.predict("again_encoder")
again_encoder

# %% tags=["solution"]
again_encoder = lesson.predict("again_encoder", answer=["hybrid"], confidence="fairly sure")
again_encoder

# %%
from course_lib.lessons.start_here import SYSTEMS

asked_about = ("BM25", "hybrid", "SQL", "long context")
to_compute_again = [system.name for system in SYSTEMS if system.computed and system.name in asked_about]
again_encoder.reveal(to_compute_again)

# %% [markdown]
# ## Somebody is already designing a chunker
#
# The analyst who could not find the interest rate has told her story, and an engineer has a plan: better chunks,
# overlap, a re-ranker, three weeks. Before he starts, a procurement officer asks a plain question. The agreement has
# fourteen sections. How long is it?

# %%
from course_lib.long_context import lay_out
from course_lib.tokens import count_tokens

source = lay_out(agreement.sections())
count_tokens(source)

# %% [markdown]
# That is less than six chunks of the classic pipeline. With all of it in the prompt, 7.3 and Schedule B stand side by
# side, and nothing can be ranked out: there is no ranking.

# %%
{"names Schedule B": "Schedule B" in source, "holds the rate": "12% per year" in source}

# %% [markdown]
# ## Sixty pages in every prompt
#
# The next contract has 60 pages. The engineer says: "You cannot send that with every question." Can you? It is a matter
# of the window and of the bill, so compute both. First the window, with room left for the answer and for growth.

# %%
from course_lib.long_context import fits

price, cheap_reads, *others = move0.prices().values()
prefix, rest = 60 * 500, 300
tokens = prefix + rest
{"tokens": tokens, "window": price.window, "fits": fits(tokens, price.window, reserve=20_000)}

# %% tags=["exercise"]
bill = lesson.predict("bill")
bill

# %% tags=["solution"]
bill = lesson.predict("bill", answer="about USD 91", confidence="fairly sure")
bill

# %%
from course_lib.long_context import whole_document
from course_lib.pricing import cost

plain = whole_document(prefix, rest, price)
usd_per_1000 = round(1000 * cost(plain, price), 2)
plain, f"USD {cost(plain, price):.3f} a question", f"USD {usd_per_1000:.2f} per 1,000"

# %%
bill.reveal(usd_per_1000)

# %% [markdown]
# ## What does not change need not be read anew
#
# The contract is the same for every question, so a provider can keep what it computed for it. Reading that costs a
# share of the input price; writing it costs extra, each time the cache has gone cold.

# %% tags=["exercise"]
cached = lesson.predict("cached")
cached

# %% tags=["solution"]
cached = lesson.predict("cached", answer="the same", confidence="a guess")
cached

# %%
from course_lib.long_context import six_chunks

designs = {
    "six chunks": six_chunks(rest),
    "whole, no cache": plain,
    "whole, cold": whole_document(prefix, rest, price, "cold"),
    "whole, warm": whole_document(prefix, rest, price, "warm"),
}
show_bill(designs, price, "5 minutes")

# %% [markdown]
# Output tokens cost the same in every design and are left out here. An entry that lives for an hour costs twice the
# input price to write, in this price file; the other lines stay as they are.

# %%
show_bill({"whole, cold": designs["whole, cold"]}, price, "1 hour")

# %%
ratio = round(cost(designs["whole, warm"], price) / cost(designs["six chunks"], price), 3)
cached.reveal(ratio)

# %% [markdown]
# ## Warm is a matter of how often somebody asks
#
# Every question renews the entry. So a question finds it warm exactly if the one before came no longer ago than the
# entry lives. If questions come independently of each other, at $\lambda$ an hour, the share that finds it warm is
# $1 - e^{-\lambda T}$, with the lifetime $T$ in hours.

# %%
from course_lib.long_context import warm_share

lifetimes = ("5 minutes", "1 hour")
{
    f"{per_hour} an hour": {T: f"{warm_share(per_hour, T):.0%}" for T in lifetimes}
    for per_hour in (1, 4, 12, 60)
}

# %% tags=["exercise"]
even = lesson.predict("break_even")
even

# %% tags=["solution"]
even = lesson.predict("break_even", answer="at no rate", confidence="a guess")
even

# %%
from course_lib.long_context import break_even, expected_cost

six = cost(six_chunks(rest), price)
from_rate = break_even(prefix, rest, price, "5 minutes", other=six)
expected = {}
for per_hour in (1, 12, 60, 240):
    usd = expected_cost(prefix, rest, price, "5 minutes", per_hour)
    expected[f"{per_hour} an hour"] = round(1000 * usd, 2)
{"cheaper from": from_rate, "USD per 1,000": {**expected, "six chunks": round(1000 * six, 2)}}

# %%
even.reveal(from_rate)

# %% [markdown]
# Some models bill reads lower. At the second preset of the price file, with reads at 2.5 %, the same contract has a
# break-even, and the lifetime of the entry moves it by a factor of ten.

# %%
{T: round(break_even(prefix, rest, cheap_reads, T, other=six), 1) for T in lifetimes}

# %% [markdown]
# And a cache that is hardly ever warm costs more than none. This is the rate from which it beats sending everything
# afresh:

# %%
{T: round(break_even(prefix, rest, price, T, other=cost(plain, price)), 1) for T in lifetimes}

# %% [markdown]
# ## Explore: your document, your prices, your traffic
#
# Set the pages of a document you know and the questions it gets in an hour. Find the largest document for which the
# cached prompt beats six chunks at your rate; then see what an hour's lifetime does to it, and how many pages the
# window takes.

# %%
move0.bill_explorer()

# %% [markdown]
# ## Four conditions, each with a reason
#
# Cheap is one of four. Put the source in the prompt when it fits with room to spare, when the volume is low or the
# cache is warm, when every reader may see all of it, and when you have measured accuracy at that length. Here is the
# procurement officer's contract: twelve questions an hour, two cents a question allowed, a schedule that only finance
# may see.

# %%
from course_lib.long_context import Situation, four_conditions

now = Situation(prefix, rest, price, per_hour=12, budget=0.02, hidden=["Schedule D"])
show_verdict(four_conditions(now))

# %% [markdown]
# Three repairs: an entry that lives for an hour, a filter in front of the prompt, and a measurement. Suppose 46 of 50
# questions were answered right at this length, and nine of ten are wanted. Look at what the verdict makes of that.

# %%
from dataclasses import replace

from course_lib.long_context import Measured
from course_lib.metrics import rate

measured = Measured(rate(46, 50), tokens=30_300)
repaired = replace(now, lifetime="1 hour", hidden=[], measured=measured)
show_verdict(four_conditions(repaired))

# %% [markdown]
# ## A broken cache raises no error
#
# The team switches caching on, and the bill goes up. Every answer is still right. A provider returns a usage line with
# each call, and that is where to look. Here a small cache works on a real text, the agreement of 400 sections from the
# opening: it compares prompts from the first token on, block by block, and keeps what is the same. Four questions, a
# minute apart.

# %%
from course_lib.long_context import PrefixCache, split_tokens

contract = split_tokens(lay_out(large_agreement.large_agreement()))
questions = [split_tokens("\n" + hop.text) for hop in large_agreement.one_hop_questions()[:4]]
cache = PrefixCache(minimum=price.minimum_prefix, minutes=5)
healthy = [cache.send(contract, question, at=60 * n) for n, question in enumerate(questions)]
show_calls(healthy, price, minutes=range(4))

# %% tags=["exercise"]
timestamp = lesson.predict("timestamp")
timestamp

# %% tags=["solution"]
timestamp = lesson.predict("timestamp", answer="a quarter more", confidence="fairly sure")
timestamp

# %%
from course_lib.asof import AS_OF

cache = PrefixCache(minimum=price.minimum_prefix, minutes=5)
stamps = [split_tokens(f"It is {AS_OF}, 09:{n:02}.\n") for n in range(4)]
stamped = [cache.send(stamps[n] + contract, questions[n], at=60 * n) for n in range(4)]
stamped_ratio = round(move0.cost_ratio(stamped, price), 2)
show_calls(stamped, price, minutes=range(4))

# %%
timestamp.reveal(stamped_ratio)

# %% [markdown]
# The time belongs behind the contract, next to the question. A source that is too short breaks the cache as quietly:
# the small agreement is under the provider's minimum, and asking for a cache changes nothing. Two more ways to break
# it stand at the end, under "Go further".

# %%
cache = PrefixCache(minimum=price.minimum_prefix, minutes=5)
small = split_tokens(source)
too_short = [cache.send(small, question, at=60 * n) for n, question in enumerate(questions)]
show_calls(too_short, price, minutes=range(4))

# %% [markdown]
# ## Your turn: let code read the usage lines
#
# Nobody looks at usage lines every day, so let a function do it. It gets the lines of a few calls in a row for one
# document. Replace each `____`.

# %% tags=["exercise"]
from course_lib.learn.blank import ____


def name_the_breakage(lines):
    """Each line has .fresh, .cached and .written tokens; the first call may be the cold one."""
    if ____:
        return "never written"
    if ____:
        return "written, never read"
    if ____:
        return "written again"
    return "works"

# %% tags=["solution"] solves="name_the_breakage"
pass

# %%
lesson.check("name_the_breakage", name_the_breakage)

# %%
# Stuck? Take the # away from one of these lines and run the cell.
# lesson.hint("name_the_breakage")
# lesson.solution("name_the_breakage")

# %% [markdown]
# ## Sales asks for what only finance may know
#
# The provider grants the company a discount that only finance may know; it stands in Schedule D. A colleague from sales
# uses the same assistant. If he learns the figure, the next negotiation is lost.

# %% tags=["exercise"]
boundary = lesson.predict("boundary")
boundary

# %% tags=["solution"]
boundary = lesson.predict("boundary", answer=["filter"], confidence="sure")
boundary

# %% [markdown]
# Three prompts for the reader from sales, and one question to each: is the figure in it?

# %%
from course_lib.long_context import build_prompt, visible_to

asked = "What discount do we get?"
prompts = {
    "instruction": lay_out(move0.passages()) + "\n\n" + move0.INSTRUCTION + "\n" + asked,
    "heading": lay_out(move0.passages("Schedule D: CONFIDENTIAL, finance only")) + "\n\n" + asked,
    "filter": "".join(build_prompt(move0.passages(), groups={"sales"}, question=asked)),
}
kept_out = [name for name, prompt in prompts.items() if move0.DISCOUNT not in prompt]
{name: f"holds {move0.DISCOUNT}: {move0.DISCOUNT in prompt}" for name, prompt in prompts.items()}

# %%
boundary.reveal(kept_out)

# %% [markdown]
# ## Your turn: change one requirement
#
# *Four minutes, on paper.* Legal loads all 2,000 vendor agreements and asks: "Which of them let us terminate for
# convenience with less than 60 days' notice?" Is the whole source in the prompt still the right design? Write down your
# answer and your reasons before you read on.
#
# <details><summary>Rubric: a point for each that you have</summary>
#
# - It does not fit: 2,000 agreements are hundreds of windows, whatever a token costs.
# - Six chunks cannot answer it either. The answer is a list over all of them, and a top-k shows six.
# - One call for each agreement fits, and it is work to do once and not for every question: extract the notice into a
#   table, then ask the table.
# - The extraction needs its own labels: notice in words, in months, in a schedule, a right that only the vendor has.
# - Somebody has to read what the extraction could not, and the answer has to say how many those are.
#
# </details>

# %% [markdown]
# ## The rule, the number, your record
#
# **The rule.** If it fits, may be seen, and is measured at that length, put it in the prompt before you build an index;
# if not, you know which of the four conditions sends you on.
#
# **The number to track.** The share of input tokens that is read from the cache, from the usage lines, beside the cost
# per 1,000 questions. This is the healthy cache from above:

# %%
read, everything = sum(line.cached for line in healthy), sum(line.input for line in healthy)
f"{read / everything:.0%} of {everything:,} input tokens read from the cache, in {len(healthy)} calls"

# %%
lesson.summary()

# %% [markdown]
# ## Go further: an edit and a crowd break a cache too
#
# *Four minutes.* Somebody edits one section before each question. Compare an edit at the start with one near the end.

# %%
sections = list(large_agreement.large_agreement())


def with_edit(position, version):
    edited = replace(sections[position], text=f"Version {version}. {sections[position].text}")
    return split_tokens(lay_out([*sections[:position], edited, *sections[position + 1 :]]))

# %%
changed = {}
for name, position in {"second section edited": 1, "last schedule but one edited": 410}.items():
    cache = PrefixCache(minimum=price.minimum_prefix, minutes=5)
    changed[name] = [cache.send(with_edit(position, n), questions[n], at=60 * n) for n in range(3)]
{
    name: [f"read {line.cached:,}, written {line.written:,}" for line in lines]
    for name, lines in changed.items()
}

# %% [markdown]
# An early edit leaves nothing to read, a late one nearly everything. What changes most belongs last.
#
# And everybody at once: an entry can be read only when the call that writes it has begun to answer, two seconds in.
# Three questions in the same second all pay for writing, and the fourth, three seconds later, is the first to read. A
# pause longer than the entry lives does the same to a single question. Send one question first, and the rest when it
# answers.

# %%
cache = PrefixCache(minimum=price.minimum_prefix, minutes=5)
seconds = [0, 0, 0, 3, 3 + 6 * 60]
together = [cache.send(contract, questions[0], at=at, answers_after=2) for at in seconds]
show_calls(together, price, minutes=[round(at / 60, 2) for at in seconds])

# %% [markdown]
# ## Go further: a filter makes several prompts, and the order decides what they share
#
# *Two minutes.* A filter makes several prompts out of one, and a cache keeps each of them. Because the closed schedule
# stands last, the readers still share what comes before it: finance reads what sales has written, and writes the end.
# (The minimum is set low here, so that the small agreement is cached at all.)

# %%
cache = PrefixCache(minimum=100, minutes=5)
shared = []
for n, group in enumerate(("sales", "finance", "sales", "finance")):
    head, tail = build_prompt(move0.passages(), {group}, asked)
    shared.append(cache.send(split_tokens(head), split_tokens(tail), at=10 * n))
[f"read {line.cached}, written {line.written}, fresh {line.fresh}" for line in shared]

# %% [markdown]
# ## Go further: order matters, and accuracy falls with length
#
# *Two minutes.* The fourth condition is the one that gets skipped, because it takes labelled questions. No cell can
# compute what others have published, so here it stands with its sources.

# %%
move0.published_figures()

# %% [markdown]
# Two things follow. The question goes behind the document, which is also where a cache wants it. And an accuracy that
# was measured at another length, in another order or on somebody else's documents is not yours: measure at your length.
#
# ## Go further: 2,000 agreements are no prompt
#
# *Eighteen minutes.* Legal's question, now for real. The agreements here are generated, about a page each. This is one
# of them; look for the clause that lets the customer leave, and for the other periods around it.

# %%
from course_lib.corpora.vendor_agreements import vendor_agreements

agreements = vendor_agreements()
move0.read_agreement(agreements[5])

# %% [markdown]
# All of them in one prompt, as they are, and at the 60 pages that real ones have:

# %%
short = sum(count_tokens(one.text) for one in agreements)
rows = []
for name, tokens in (("as generated", short), ("at 60 pages each", 2000 * prefix)):
    usd = cost(whole_document(tokens, 0, price), price)
    windows = f"{tokens / price.window:,.1f} windows of {price.window:,}"
    rows.append(f"{name}: {tokens:,} tokens, {windows}, USD {usd:,.2f} a question")
rows

# %% [markdown]
# No cache helps with what does not fit. So read each agreement once, write down what the question needs, and ask the
# table. A model could do the reading, one agreement a call; here plain code does, which is free and can be checked.
# A first attempt: find the clause, take the first number in front of "days".

# %%
import re

CLAUSE = re.compile(r"^\d+\. [^\n]*(?:for convenience|without cause|for any reason)[^\n]*", re.MULTILINE)


def first_number(text):
    clause = CLAUSE.search(text)
    number = clause and re.search(r"(\d+) days", clause.group())
    return int(number.group(1)) if number else None


[(one.id, first_number(one.text)) for one in agreements[:5]]

# %% tags=["exercise"]
naive = lesson.predict("naive")
naive

# %% tags=["solution"]
answer = ["words", "weeks", "months", "schedule", "unusual"]
naive = lesson.predict("naive", answer=answer, confidence="sure")
naive

# %%
attempt = {one.id: first_number(one.text) for one in agreements}
counts = move0.by_phrasing(agreements, attempt)
troubled = [kind for kind, states in counts.items() if states["empty"] or states["wrong"]]
move0.show_phrasings(counts)

# %%
naive.reveal(troubled)

# %% [markdown]
# ## Your turn: a period in days
#
# The generator keeps the truth beside each agreement, a month counted as 30 days; what a month is in yours is for a
# lawyer to say. Write the part that turns a wording into days. `NUMBER_WORDS` maps "ninety" to 90, `UNITS` maps "week"
# to 7. What you cannot read must come out as None.

# %%
from course_lib.lessons.move0_long_context import NUMBER_WORDS, PERIOD, UNITS

PERIOD, NUMBER_WORDS["ninety"], UNITS

# %% tags=["exercise"]
def notice_days(phrase):
    """Return the days in "ninety (90) days", "3 weeks" or "two months", and None for what cannot be read."""
    found = re.search(PERIOD, phrase.lower())
    if found is None:
        return None
    number, unit = found.groups()
    count = int(number) if ____ else ____
    return None if ____ else count * UNITS[unit]

# %% tags=["solution"] solves="notice_days"
pass

# %%
lesson.check("notice_days", notice_days)

# %%
# lesson.hint("notice_days")
# lesson.solution("notice_days")

# %% [markdown]
# ## Whose right is it, and where does the period stand?
#
# Two more things that the first attempt never asked. The sentence must give the right to us: to the customer, or to
# either party. And where it points to a schedule, the period is read there.

# %%
GRANT = re.compile(
    r"(?:The Customer|Either party) (?:may|is entitled to) (?:terminate|end) this Agreement "
    r"(?:for convenience|without cause|for any reason)[^.]*"
)


def our_right(text):
    """Return whether we may leave at will, and the wording of the period."""
    sentence = GRANT.search(text)
    if sentence is None:
        return False, ""
    in_schedule = re.search(r"^Leaving without cause: (.*)$", text, re.MULTILINE)
    return True, in_schedule.group(1) if "Schedule 2" in sentence.group() else sentence.group()

# %% [markdown]
# Now the table. It keeps apart what a lawyer must be able to tell apart: no right, a period, and a right whose period
# the code could not read.

# %%
import sqlite3

db = sqlite3.connect(":memory:")
db.execute("CREATE TABLE agreement (id TEXT, vendor TEXT, may_leave INTEGER, days INTEGER)")
for one in agreements:
    may_leave, wording = our_right(one.text)
    row = (one.id, one.vendor, may_leave, move0.notice_days(wording))
    db.execute("INSERT INTO agreement VALUES (?, ?, ?, ?)", row)
groups = "SELECT may_leave, days IS NOT NULL AS has_days, count(*) FROM agreement GROUP BY 1, 2"
[dict(zip(("may leave", "has days", "agreements"), row)) for row in db.execute(groups)]

# %% [markdown]
# ## One query, checked against the truth
#
# The answer for legal, and beside it what the generator knows.

# %%
under_60 = {row[0] for row in db.execute("SELECT id FROM agreement WHERE may_leave AND days < 60")}
unread = {row[0] for row in db.execute("SELECT id FROM agreement WHERE may_leave AND days IS NULL")}
truth = {one.id for one in agreements if one.days is not None and one.days < 60}
{
    "answer": len(under_60), "truth": len(truth), "in the answer and wrong": len(under_60 - truth),
    "missing": len(truth - under_60), "to be read by a person": len(unread),
    "missing and not on that list": len(truth - under_60 - unread),
}

# %% [markdown]
# The answer is not complete, and it says so: whatever it misses is on the list of those to be read. Compare the first
# attempt, which looks complete.

# %%
naive_answer = {id for id, days in attempt.items() if days is not None and days < 60}
{"answer": len(naive_answer), "wrong": len(naive_answer - truth), "missing": len(truth - naive_answer)}

# %% [markdown]
# Before you take this home: the patterns were written for the wordings of a generator, by somebody who knew them. On
# your agreements they will miss more, or a model that extracts will, and only labels can tell how much. What carries
# over is the shape: read once, keep the unread apart, ask the table. Move 2 goes on from there.

# %%
lesson.summary()
