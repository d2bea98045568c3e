# %% [markdown]
# # Read the table of contents: the retriever is a reader
#
# *Move 3: a core of 30 minutes, and 50 more to go further. You need Python, and no key, no network, no graphics card.*
#
# Afterwards you can
#
# - write the loop in which a model picks sections by id, and say why each of its checks is there,
# - replay a bad answer step by step and name the turn that went wrong,
# - reckon what navigation costs beside chunks and beside the whole document,
# - say for which questions and documents it pays, and which cheaper thing to try before it.

# %%
from course_lib.learn.blank import ____
from course_lib.lessons import move3_navigation as move3
from course_lib.lessons.move3_navigation import DATA_AT_THE_END, LATE, SUSPEND, lesson

# %% [markdown]
# ## Two questions from before
#
# Answer from memory; if you have skipped a notebook, guess. The reveals say what there is to know.

# %% tags=["exercise"]
again_zero = lesson.predict("again_zero")
again_zero

# %% tags=["solution"]
again_zero = lesson.predict("again_zero", answer="both", confidence="fairly sure")
again_zero

# %%
doubted = move3.doubted_zeros()
again_zero.reveal(doubted)

# %% tags=["exercise"]
again_pays = lesson.predict("again_pays")
again_pays

# %% tags=["solution"]
again_pays = lesson.predict("again_pays", answer="cheaper reads", confidence="sure")
again_pays

# %%
pays_from = move3.pays_from()
again_pays.reveal(pays_from)

# %% [markdown]
# ## A lawyer needs a minute and the contents page
#
# The analyst from the opening is still on the phone with a supplier. An invoice of EUR 10,000 was paid 20 days late,
# the supplier names a sum, and she cannot say whether it is right. Your search brought the clause on late payment and
# never the schedule with the rate. She puts the contract in front of a lawyer, who reads one page of it:

# %%
outline = move3.outline()
print(outline.toc())

# %% [markdown]
# He opens 7.3. It says "at the rate set out in Schedule B". He opens B. Nothing in that was search: he chose from a
# list, read, and followed a reference. This is an **outline**: ids and titles in the order of the document, and the
# text of a section on demand. A language model can read it as he did.
#
# ## The tool loop in five minutes
#
# *Skip it if you have written one.* A model writes text and can do nothing else. To let it open a section you agree on
# a form of words for the wish, your code fulfils it, and you call again with the result added. That is a **tool loop**.
# Three things about it matter here, and the table shows the first two.
#
# - The model remembers nothing. Each call sends everything again, and you pay for all of it.
# - It decides one step at a time, and to answer is a decision as well.
# - Your code does the work. Whatever a model asks for is a request from a stranger, as its SQL was in Move 2.

# %%
move3.show_growth(LATE, ["read 7.3", "read B", "answer"])

# %% [markdown]
# ## A model here is any function that decides
#
# It gets the question, the contents, the **evidence** (the sections read so far, by id) and an error, if there was one.
# It returns what to do. No model is at hand, so a **stub** plays one by two rules: open the title that shares most
# words with the question; then follow every reference. It shows how the loop works, and says nothing about models.

# %%
from course_lib.navigation.models import shared_words
from course_lib.navigation.references import mentions


def stub(question, toc, evidence, error=None):
    shared = shared_words(question, toc)  # {id: how many words its title shares}
    if not evidence:
        return "read", max(shared, key=shared.get)
    for text in evidence.values():
        for reference in mentions(text):
            if reference.number in shared and reference.number not in evidence:
                return "read", reference.number
    return "answer", None


# %% [markdown]
# The loop asks, checks the id, and adds the text. It ends with an answer, or when the **budget** of calls is spent: a
# model that never answers must not cost you without end.


# %%
def walk(question, model, budget=6, tell=True):
    evidence, trace, error = {}, [], None
    for call in range(1, budget + 1):
        action, id = model(question, outline.toc(), evidence, error if tell else None)
        if action == "answer":
            return evidence, [*trace, (call, "answer", "from " + ", ".join(evidence))]
        if id in outline.ids():
            evidence[id], error = outline.text(id), None
            trace.append((call, f"read {id}", outline.node(id).title))
        else:
            error = f"no section {id!r}; the ids are {', '.join(outline.ids())}"
            trace.append((call, "error", error))
    return evidence, [*trace, ("-", "stop", "the budget is spent")]


# %% [markdown]
# Beside the stub runs a careless model. It has read "Schedule B" in a text and asks for exactly that, although the
# contents call it B. Once an error lists the ids, it mends its ways.


# %%
def careless(question, toc, evidence, error=None):
    action, id = stub(question, toc, evidence)
    return (action, "Schedule B") if id == "B" and error is None else (action, id)


traces = {model.__name__: walk(LATE, model)[1] for model in (stub, careless)}
move3.show_traces(traces)

# %% [markdown]
# Both end with 7.3 and B, which are the two sections that are needed. The mistake cost one call.

# %% tags=["exercise"]
dropped = lesson.predict("dropped")
dropped

# %% tags=["solution"]
dropped = lesson.predict("dropped", answer="4", confidence="fairly sure")
dropped

# %%
_, trace = walk(LATE, careless, tell=False)
calls_made = sum(call != "-" for call, _, _ in trace)
move3.show_traces({"careless, not told": trace})

# %%
dropped.reveal(calls_made)

# %% [markdown]
# ## An answer whose numbers can be traced
#
# The library's `navigate` is the same loop, and does more: it names near matches, keeps what every step cost, and says
# what is missing when a run ends without an answer. `answer` then takes the evidence and nothing else. It cites
# sections by id, and code checks each citation and each number. A model would write it; a stand-in that quotes does so
# here, and the arithmetic comes with its formula.

# %%
from course_lib.answering import answer
from course_lib.corpora.navigation_questions import LATE_INTEREST
from course_lib.navigation.loop import navigate
from course_lib.navigation.models import careless_model, following, stub_model

run = navigate(LATE, outline, stub_model, price=move3.price())
print(*answer(LATE, run.evidence, computations=[LATE_INTEREST]).claims, sep="\n")

# %%
print(navigate(LATE, outline, careless_model, drop_errors=True).gap)

# %% [markdown]
# EUR 65.75 is what she can hold against the supplier's sum, with the clause, the rate and the arithmetic. The second
# output is what an assistant can say whose errors got lost: which section it has not seen.
#
# ## The first choice is made on titles alone
#
# The supplier writes back that the service will be switched off on Monday. Operations wants to know tonight whether it
# may do that. Same contract, same stub.

# %% tags=["exercise"]
first = lesson.predict("first")
first

# %% tags=["solution"]
first = lesson.predict("first", answer="8", confidence="sure")
first

# %%
suspension = navigate(SUSPEND, outline, stub_model, price=move3.price())
opened_first = suspension.path[0]
shared = {id: n for id, n in shared_words(SUSPEND, outline.toc()).items() if n}
print("shared words:", shared)
move3.show_traces({"stub": suspension.rows()})

# %%
first.reveal(opened_first)

# %% [markdown]
# The answer stands in 8, which was never read, and which a careful reader opens at once. Cutting words down to their
# stems does not bring it; an encoder does. The last two lines are what the stand-in quotes from the wrong evidence.

# %%
from course_lib.navigation.models import heading_index

stems = [hit.id for hit in heading_index(outline).search(SUSPEND, 14)]
print("titles by BM25, with stems:", ", ".join(stems))
nearest = [f"{hit.id} ({hit.score:.3f})" for hit in move3.dense_top(SUSPEND, 3)]
print("MiniLM:", ", ".join(nearest))
print(*answer(SUSPEND, suspension.evidence).claims, sep="\n")

# %% [markdown]
# Each sentence stands where its citation says, and none of them answers. A check of citations finds what was made up,
# not what was missed. For that you need the path.
#
# ## A saved run shows the turn that went wrong
#
# A run can be saved, loaded and stepped through. Find, in the three runs on interest, the call from which they differ.
# Then step through the two on suspension, and compare what each had read and paid when it answered.

# %%
from pathlib import Path
from tempfile import mkdtemp

from course_lib.navigation.trace import load_run, save_run

saved = Path(mkdtemp()) / "run.json"
save_run(suspension, saved)
move3.trace_player({"saved and loaded: suspension": load_run(saved)})

# %% [markdown]
# ## Every call sends the contents again
#
# Now the bill, for a real length: an agreement of 300 pages with 400 headings. The prices and sizes are round numbers;
# chunks are left out of the question, because they did not bring Schedule B.

# %% tags=["exercise"]
cheapest = lesson.predict("cheapest")
cheapest

# %% tags=["solution"]
answer_given = "whole document, cached"
cheapest = lesson.predict("cheapest", answer=answer_given, confidence="sure")
cheapest

# %%
from course_lib.navigation import bill

lines = bill.the_bill(move3.price())
chunks = lines[0]
cheapest_design = bill.cheapest(lines[1:]).design
move3.show_bill(lines)

# %%
cheapest.reveal(cheapest_design)

# %% [markdown]
# Against six chunks, the first line, navigation costs and takes:

# %%
two, two_cached = lines[1], lines[2]
ratios = [two.usd / chunks.usd, two_cached.usd / chunks.usd, two.seconds / chunks.seconds]
says = "{:.1f} times the money, {:.1f} times with cached contents, {:.1f} times the seconds"
print(says.format(*ratios))
print(f"USD {two.usd / 1000:.3f} a question, {two_cached.usd / 1000:.3f} with cached contents")

# %% [markdown]
# Two reads without a cache cost nine cents a question. A wrong answer has to cost a good deal more before that pays,
# and the document has to be one that you cannot send in full. For the whole document the bill gives no time: after
# 150,000 tokens a model takes longer to begin, and how much longer is yours to measure.
#
# ## Your turn: count the calls
#
# The customer wants to leave, and asks: "What happens to our data if we terminate for convenience?" Read whichever
# sections you like by changing the id. Then fill in three things: the ids that the stub reads; how many calls a
# navigator makes that reads what is needed and no more, the answer included; and how many if it may read two sections
# in one step.

# %%
print(outline.text("9.1"))

# %% tags=["exercise"]
stub_reads = ____
good_calls = ____
two_at_once = ____

# %% tags=["solution"] solves="count"
pass

# %%
lesson.check("count", [stub_reads, good_calls, two_at_once])

# %%
# Stuck? Take the # away from one of these lines and run the cell.
# lesson.hint("count")
# lesson.solution("count")

# %% [markdown]
# ## Your turn: 20,000 contracts
#
# *Three minutes, on paper.* Purchasing has 20,000 contracts of 5 to 300 pages, some of them scans. People ask what a
# late payment costs, whether a service may be suspended, and once a quarter: "List every duty to give notice." Draw the
# way from a question to an answer. What is done when a contract comes in, what is chosen by search, what by a model,
# what do you keep of each question? Write it down before you open the rubric.
#
# <details><summary>Rubric: a point for each that you have</summary>
#
# - The document is chosen first, by what the asker has already said or by a search over titles and descriptions.
#   Navigation works inside one document.
# - Outlines are made when a contract comes in, with a verdict: what has no structure, or no text, takes another way.
# - "Every duty to give notice" is no navigation: the duties are taken out into a table when a contract comes in.
# - Something cheaper was tried first, such as chunks with the path of their headings in front.
# - Ids are checked in code, errors go back to the model, and a budget ends every run.
# - The ids of every run are kept, so that a bad answer can be replayed.
# - There are labelled questions, and the decision rests on them.
#
# </details>
#
# ## The rule, the number, your record
#
# **The rule.** Let a model navigate where the way to the answer is in the document's structure, where a wrong answer is
# dear, and where the document is too long to send. Try what is cheaper first, and measure both.
#
# **The number to track.** **Node recall**: of the sections that a question needs (the nodes of the outline), the share
# that was read, averaged over questions; with it answer accuracy, reads, money per 1,000 questions, and the seconds
# that 95 % of them keep to (p95). Here it is for the five questions of the opening. The stub proves nothing, so the
# navigator is one that really searches: it ranks titles with the first sentence of each section by BM25, then follows
# references and defined terms.

# %%
from course_lib.navigation.models import FIRST_LINES, lexical_navigator

reader = lexical_navigator(outline, FIRST_LINES)
move3.show_scores({q: navigate(q, outline, reader, max_steps=12).path for q in move3.FIVE})

# %% [markdown]
# Five questions decide nothing, but look at the third: dense retrieval has both sections in its first three and needs
# one call. A navigator that makes no mistake needs more, even if it may read both at once. Here navigation loses. On
# the first line it wins, because only a reference leads to B.

# %%
from course_lib.navigation.loop import ANSWER, read

one_by_one = navigate(DATA_AT_THE_END, outline, following(["4", "9.1"]))


def both(question, toc, evidence, error):
    return ANSWER if evidence else read("4", "9.1")


at_once = navigate(DATA_AT_THE_END, outline, both, reads_per_step=2)
print("calls:", len(one_by_one.steps), "one by one,", len(at_once.steps), "with two at once")

# %%
lesson.summary()

# %% [markdown]
# ## Go further: resolve an id
#
# *Six minutes.* The loop above compares ids to the letter. Real replies come with other capitals or a blank, and those
# mean an id. A title, a near miss or nothing at all does not: two sections may share a title, and "7.30" is a typing
# error for one of two things. Forgive the first kind. Refuse the second with a ValueError that repeats what was asked
# and names the ids.

# %%
ids = move3.IDS
ids


# %% tags=["exercise"]
def resolve(name, ids):
    """Return the id that `name` means, written as in `ids`; otherwise raise ValueError."""
    known = ____
    if ____:
        raise ValueError(____)
    return ____


# %% tags=["solution"] solves="resolve"
pass

# %%
lesson.check("resolve", resolve)

# %%
# lesson.hint("resolve")
# lesson.solution("resolve")

# %% [markdown]
# The library's loop meets nine kinds of misbehaviour. Each ends in a trace, and none in a traceback; what was read
# before a refusal is kept.

# %%
move3.show_misbehaving(move3.misbehaving())

# %% [markdown]
# ## Go further: the real call
#
# *Five minutes.* With a model, every step is one call. Three parts of the request matter. **Structured output** binds
# the reply to a schema, and in the schema the ids are an **enum**, a list of the only values allowed. The contents
# stand in front, marked for the cache. And the **effort**, which is how much a model thinks before it writes, is set
# low: to pick a line from a list takes little. Whether it picks worse that way is a thing to measure. This is what
# would be sent first:

# %%
move3.show_request(move3.request_for(LATE))

# %% [markdown]
# Why then check ids in code? The enum has three exceptions: a refusal, a reply cut at its limit, and capitals that
# differ. So code looks at why a reply stopped, and compares ids whatever their capitals; you will change the model one
# day. The cache has a limit too: nothing shorter than a minimum is kept, it depends on the model, and nobody tells you.

# %%
move3.show_prefixes()

# %% [markdown]
# The long contents do not fit into one enum. They are offered in pages: a call chooses the page, a second one the
# section.
#
# ## Go further: move the bill
#
# *Four minutes.* With 900 pages, how many reads may a navigator make before the whole document, cached, is cheaper? How
# far may the share of right decisions fall before chunks are the better buy at any price?

# %%
move3.bill_explorer()

# %% [markdown]
# ## Go further: what a checked citation proves
#
# *Three minutes.* The check let quotes pass that answered nothing. What else does it let through?

# %% tags=["exercise"]
claims = lesson.predict("claims")
claims

# %% tags=["solution"]
claims = lesson.predict("claims", answer=["12 from B", "65.75"], confidence="fairly sure")
claims

# %%
from course_lib.answering import Claim, check

made = {
    "12 from 7.3": Claim("Interest is 12% a year.", ("7.3",)),
    "12 from B": Claim("Interest is 12% a year.", ("B",)),
    "65.75": Claim("You owe EUR 65.75.", ("7.3", "B")),
    "false": Claim("Overdue amounts accrue no interest in the first month.", ("7.3",)),
}
problems = {name: check(claim, LATE, run.evidence) for name, claim in made.items()}
let_through = [name for name, found in problems.items() if not found]
print(*(found[0] for found in problems.values() if found), sep="\n")

# %%
claims.reveal(let_through)

# %% [markdown]
# And when the evidence does not hold the answer, that is the answer. The stub read 9.1 for the question on the data:

# %%
at_the_end = navigate(DATA_AT_THE_END, outline, stub_model)
print(answer(DATA_AT_THE_END, at_the_end.evidence))

# %% [markdown]
# ## Go further: where navigation breaks
#
# *Ten minutes, six breaks.* First: **no structure**. An export without headings gets a verdict and not a bad tree.

# %%
from course_lib.corpora.navigation_questions import flat_text
from course_lib.navigation.documents import read_agreement

print(read_agreement(flat_text()).verdict)

# %% [markdown]
# Second: **titles that lie**. The agreement of 400 sections limits what the provider pays in damages, and we are free
# to call that section what we like.

# %% tags=["exercise"]
lying = lesson.predict("lying")
lying

# %% tags=["solution"]
lying = lesson.predict("lying", answer=["summaries"], confidence="sure")
lying

# %%
titles = ("Overall limit on damages", "Miscellaneous")
by_title = {title: move3.paths_under(title) for title in titles}
read_it = [name for name, path in by_title["Miscellaneous"].items() if move3.CAP_ID in path]
move3.show_paths(by_title)

# %%
lying.reveal(read_it)

# %% [markdown]
# What summaries cost: a call for each section when the outline is made, and longer contents in every call from then on.

# %%
added = bill.summaries(move3.price())
longer = bill.Assumptions(heading=20 + added.tokens // bill.ROUND_NUMBERS.headings)
with_summaries = bill.navigation(move3.price(), longer, reads=2, cached=1)
print(f"once: USD {added.usd:.2f}")
print(f"per 1,000 questions: USD {with_summaries.usd:.2f}, before {two_cached.usd:.2f}")

# %% [markdown]
# Third: **a wrong first turn**. Whoever opens the wrong chapter goes on reading in it. How often is a whole run right,
# if each of its steps is right nine times in ten?

# %%
move3.show_compounding()

# %% [markdown]
# Fourth: **an answer that stands everywhere**. A navigator that is lucky reads all of it, one call at a time.

# %%
gold, found = move3.spread_reads()
reading_all = bill.navigation(move3.price(), reads=len(gold), cached=1)
print(f"{move3.PERCENTAGES} {len(gold)} sections; the offline navigator reads {len(found)}.")
print(f"All of them read: USD {reading_all.usd:.2f} per 1,000; document: {lines[-1].usd:.2f}")

# %% [markdown]
# Both with a warm cache. If people will ask it again, take the values out into a table when the document comes in.
#
# Fifth: **many documents**. Twenty vendors, and nearly the same contents in each. Before a section can be chosen, a
# document must be, and that choice is a search. It may well be one with vectors, even if everything after it goes
# without.

# %%
asks = "How much notice do we have to give"
move3.show_choices([f"{asks} Quarry Systems?", f"{asks}?"])

# %% [markdown]
# With the name it is found. Without one, no search can know which contract is meant, and this one does not say so
# either.
#
# Sixth: **a different path each time**. Three titles tied for the question on suspension. A model that breaks ties as
# it comes takes this way today and another tomorrow, which is why the ids of every run are kept.

# %%
from course_lib.navigation.models import wavering_model
from course_lib.navigation.trace import first_difference

today, tomorrow = (navigate(SUSPEND, outline, wavering_model(seed)) for seed in (0, 5))
parting = first_difference(today, tomorrow)
print(f"they part at call {parting.step}: {parting.one}, or {parting.other}")

# %% [markdown]
# ## Go further: eight systems, 130 questions
#
# *Eight minutes.* The agreement of 400 sections, and 100 labelled questions in five kinds: one section, one hop, two
# hops, a defined term, and answers spread everywhere. A hop is a reference to follow. All of these systems really run.
# The navigators here choose by BM25 over titles, or over titles and first sentences, and follow references; a live
# model may choose better, at about the same price. One system retrieves two chunks by BM25, and code adds what they
# refer to, in one call.

# %% tags=["exercise"]
pays = lesson.predict("pays")
pays

# %% tags=["solution"]
pays = lesson.predict("pays", answer="navigator, first lines", confidence="a guess")
pays

# %%
from course_lib.navigation.comparison import cheapest_right

rows = move3.on_the_agreement()
cheapest_that_passes = cheapest_right(rows)["one hop"].system
move3.show_recall(rows)

# %%
move3.show_costs(rows)

# %%
pays.reveal(cheapest_that_passes)

# %% [markdown]
# Kind by kind, the systems that pass:

# %%
move3.show_verdicts(rows)

# %% [markdown]
# **Heading paths are enough** where one section holds the answer: "90 days' written notice" does not say what it ends
# unless its heading stands with it. They add little elsewhere. **Following references pays** where a hop is needed, and
# code that follows them does as well as a navigator. **Navigation loses** where one section is enough, and where the
# answer stands everywhere. And at this length the whole document, cached, costs less than a navigator: it has to wait
# for a longer one.
#
# The second corpus is less obliging. Every Python carries its language reference; these are 30 questions on it.

# %%
move3.show_recall(move3.on_the_reference())

# %% [markdown]
# It refers by title ("see section Boolean operations"), its titles are single words, and the lexical navigators lose to
# plain chunks. A document with an outline is not yet a document that can be navigated. With 15 questions a kind, the
# intervals are wide; look at them before you choose by a few hundredths.
#
# ## Go further: follow references without looping
#
# *Five minutes.* Clauses refer to each other in circles, and to sections that were struck out. The outline resolves
# what it can and says how: "Section 7" is no node of the agreement, and is read as its three parts.

# %%
move3.show_references(outline, move3.circle())

# %% [markdown]
# Now write the code that follows them. `references` maps each id to the ids that its text refers to; some of those do
# not exist. Replace the `____`.


# %% tags=["exercise"]
def follow(start, references):
    """Return the ids that are read from `start` on, each once, `start` first."""
    reached, waiting = [], [start]
    while ____:
        id = waiting.pop(0)
        if ____:
            reached.append(id)
            waiting += ____
    return reached


# %% tags=["solution"] solves="follow"
pass

# %%
lesson.check("follow", follow)

# %%
# lesson.hint("follow")
# lesson.solution("follow")

# %% [markdown]
# ## Go further: your own file
#
# *Four minutes.* The outline is made from headings, in a Word document from its styles. Ids are the numbers that the
# document prints, where it prints any, and a table survives as rows. Put the path of a file of yours in.

# %%
word_file = Path(mkdtemp()) / "agreement.docx"
move3.make_docx(word_file)
move3.show_file(word_file, "B")

# %% tags=["nbval-ignore-output"]
move3.show_formats()

# %% [markdown]
# ## Go further: who did it before
#
# *Three minutes.* MemWalker (Chen et al., 2023) let a model walk a tree of summaries. PageIndex (VectifyAI, MIT
# licence) makes such trees from PDFs. Its local mode "flash" takes the tree from the layout without a model; summaries
# and the splitting of long sections are a model's, and both can be switched off. A mode "standard" builds the tree with
# a model. Text recognition for scans and a tree over files are in the hosted service alone. By its own account indexing
# costs about USD 0.001 a page. We looked at 0.2.x in September 2026; 0.4.7 is what installs in December. A node of its
# JSON has a title, an id, a first and a last page, a summary, and children, and the course's outline is read from it:

# %%
from course_lib.navigation.documents import from_pageindex

print(from_pageindex(move3.PAGEINDEX).toc(summaries=True))

# %%
move3.show_vendor_figure()

# %% [markdown]
# FinanceBench (Islam et al., 2023) asks about filings of public companies. The README sets its figure against vector
# search. It comes from the vendor, and so does the choice of what to compare with: on your documents you know neither
# side yet.
#
# ## Go further: the same, with a live model
#
# *Two minutes.* With a key in the environment a live model navigates and writes the answer, for at most five cents.
# Without one, nothing is sent. No part of this course has been tried with a live model yet. If your model takes an
# effort, pass `effort="low"`.

# %% tags=["nbval-ignore-output"]
move3.ask_live()

# %%
lesson.summary()
