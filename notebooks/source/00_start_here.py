# %% [markdown]
# # Twenty days late
#
# *Opening notebook: a core of 30 minutes, and 15 more to go further. You need Python, and no key, no network, no
# graphics card.*
#
# When you are through, you can
#
# - say what an embedding search measures, and what it does not,
# - name the two ways in which a retriever misses the right text, and tell them apart,
# - explain why a question can resemble the pointer to an answer more than the answer,
# - apply the test that tells a vectorless system from the rest.
#
# The way of working: before the results that matter there is a question. Answer it, say how sure you are, and only
# then run the next cell. Being wrong here is cheap and it is what makes the result stick.

# %%
from course_lib.corpora import agreement
from course_lib.lessons.start_here import lesson, map_of_moves, pipeline_explorer, read_sections

# %% [markdown]
# ## A finance analyst needs a number by noon
#
# Her company pays for a hosted analytics service. One invoice will be paid 20 days late, and the interest has to be in
# the books today. She puts the question to a chat assistant over her contracts: "How much interest do we owe if we pay
# an invoice 20 days late?"
#
# The assistant runs the classic pipeline. It cuts an agreement at its numbered sections, turns each section, heading
# included, into a vector, and gives the three that lie nearest to the question to a language model. Here are the
# fourteen sections of this agreement.

# %%
sections = agreement.sections()
QUESTION = agreement.LATE_PAYMENT.text
[f"{section.id}  {section.title}" for section in sections]

# %% [markdown]
# ## Refresher: an embedding is a place among texts
#
# *Five minutes; skip it if you have worked with embeddings.*
#
# An encoder is a model that turns a text into a list of numbers, a vector: here all-MiniLM-L6-v2, with 384 numbers.
# It was trained so that texts with the same meaning get vectors that point the same way. The cosine measures that:
# 1 for the same direction, and the nearer to 0 the less two texts have in common. All vectors here have length 1, so
# the cosine is the plain dot product.

# %%
from course_lib.dense import load_encoder

encoder = load_encoder(agreement.VECTORS)
question_vector, *text_vectors = encoder.encode(agreement.REFRESHER)
question_vector.shape, [round(float(number), 3) for number in question_vector[:4]]

# %% tags=["exercise"]
nearer = lesson.predict("nearer")
nearer

# %% tags=["solution"]
nearer = lesson.predict("nearer", answer="invoices", confidence="fairly sure")
nearer

# %%
cosines = [round(float(question_vector @ vector), 3) for vector in text_vectors]
dict(zip(agreement.REFRESHER[1:], cosines))

# %%
nearer.reveal(cosines)

# %% [markdown]
# ## Predict before you search
#
# You have seen the fourteen titles. The pipeline sees titles and texts, so read the two that matter before you answer:
# the section on late payment, and the schedule that it points to.

# %%
read_sections("7.3", "B")

# %% tags=["exercise"]
top3 = lesson.predict("top3")
top3

# %% tags=["solution"]
top3 = lesson.predict("top3", answer=["7.1", "7.2", "7.3"], confidence="fairly sure")
top3

# %% tags=["exercise"]
schedule_b = lesson.predict("schedule_b")
schedule_b

# %% tags=["solution"]
schedule_b = lesson.predict("schedule_b", answer="4th to 6th", confidence="a guess")
schedule_b

# %% [markdown]
# ## The classic pipeline, in two cells
#
# Once, when the agreement is loaded, every section becomes a row of a matrix.

# %%
chunks = {section.id: section.chunk for section in sections}
vectors = encoder.encode(list(chunks.values()))
vectors.shape

# %% [markdown]
# At question time the question becomes a vector too, and the rows that point most nearly the same way win:
# `dense_top` is one matrix product and a sort. Run it, and compare the order with yours.

# %%
from course_lib.dense import dense_top

ids = list(chunks)
nearest = dense_top(encoder.encode([QUESTION])[0], vectors, k=len(ids))
ranking = [ids[row] for row, _ in nearest]
top6 = [(ids[row], round(cosine, 3)) for row, cosine in nearest[:6]]
top6

# %%
top3.reveal(ranking[:3])

# %%
schedule_b.reveal(ranking.index("B") + 1)

# %% [markdown]
# ## Three sections leave a language model two ways out
#
# This is all that the language model gets. Either it refers the analyst to Schedule B, and she is where she started.
# Or it fills in a rate that contracts often have, and she books a wrong amount that looks like any other.

# %%
prompt = "\n".join(f"[{section_id}] {chunks[section_id]}" for section_id in ranking[:3])
print(prompt)

# %% [markdown]
# Two checks that need no language model: does the prompt name the place of the rate, and does it hold the rate?

# %%
{"names Schedule B": "Schedule B" in prompt, "holds a rate in percent": "%" in prompt}

# %% [markdown]
# ## The right answer is a line of arithmetic
#
# Schedule B says 12 % a year, accruing daily on a year of 365 days. On an invoice of EUR 10,000 that is the sum below.
# Every number in it is in the agreement or in the question; the assistant failed on finding, not on counting.

# %%
interest = 10_000 * 0.12 * 20 / 365
f"EUR {interest:.2f}"

# %% [markdown]
# ## A lead has a size
#
# The best four instead of the best three would have brought Schedule B. Before you ask for that, look at its lead over
# section 8, which stands right behind it.

# %%
(fourth, score_4), (fifth, score_5) = nearest[3:5]
{ids[fourth]: round(score_4, 4), ids[fifth]: round(score_5, 4), "lead": round(score_4 - score_5, 4)}

# %% [markdown]
# Now four colleagues ask the same thing in their own words. Look for Schedule B in each list.

# %%
wordings = agreement.REWORDINGS
found = [dense_top(vector, vectors, k=6) for vector in encoder.encode(wordings)]
{text: " ".join(ids[row] for row, _ in best) for text, best in zip(wordings, found)}

# %% [markdown]
# Same meaning, same agreement, and the place of Schedule B depends on who asks. Section 8, which is about something
# else, overtakes it for one wording and enters the top three for another.

# %% [markdown]
# ## A miss has one of two names
#
# A retriever works in two steps. It collects candidates, the **pool**, and passes the best k of them on, the
# **cut-off**. The right section can be lost at either step.
#
# - **Not retrieved**: it never entered the pool. No reordering can bring it back.
# - **Ranked out**: it was in the pool and fell below the cut-off. A better order, or a larger k, would bring it in.
#
# The analyst's pipeline collects three candidates and passes all three on.

# %%
from course_lib.retrieval import outcome, rank_of

rank = rank_of(ranking, "B")
outcome(rank, pool=3, k=3)

# %% tags=["exercise"]
pool50 = lesson.predict("pool50")
pool50

# %% tags=["solution"]
pool50 = lesson.predict("pool50", answer="ranked out", confidence="sure")
pool50

# %%
name_at_50 = outcome(rank, pool=50, k=3)
name_at_50

# %%
pool50.reveal(name_at_50)

# %% [markdown]
# ## Explore: move the cut-off and the pool
#
# Start with the analyst's question. Find the smallest k at which every needed section reaches the prompt, and see what
# the pool does to it. Then try the other questions: for which one is Schedule B near the top, and why? Type one of your
# own last; it is encoded here, on your machine.

# %%
pipeline_explorer()

# %% [markdown]
# ## Another index asks for another prediction
#
# *Four minutes.* Somebody in the review says: "Then use keyword search." BM25 is the ranking that most search engines
# use, and a later notebook, Move 1, takes it apart. SQLite has it built in. This is the query it gets for the
# analyst's question: any text with at least one of these words may come back.

# %%
from course_lib.bm25 import BM25Index, any_word

any_word(QUESTION)

# %% tags=["exercise"]
bm25 = lesson.predict("bm25")
bm25

# %% tags=["solution"]
bm25 = lesson.predict("bm25", answer="B never", confidence="fairly sure")
bm25

# %% [markdown]
# A higher score is better here and in all later notebooks. SQLite itself shows the same numbers with a minus in front.

# %%
bm25_hits = BM25Index(chunks).search(QUESTION, k=14)
bm25_ids = [hit.id for hit in bm25_hits]
[(hit.id, round(hit.score, 3)) for hit in bm25_hits]

# %%
bm25.reveal(bm25_ids)

# %% [markdown]
# Why? These are the words that the question shares with 7.3, and with Schedule B.

# %%
import re

asked = set(re.findall(r"\w+", QUESTION.lower()))
{i: sorted(asked & set(re.findall(r"\w+", chunks[i].lower()))) for i in ("7.3", "B")}

# %% [markdown]
# In the terms of the two names from above:

# %%
outcome(rank_of(bm25_ids, "B"), pool=50, k=3)

# %% [markdown]
# ## Vectorless is a statement about the index
#
# *Five minutes.* A lawyer would not search at all. The heading of 7.3 in the contents takes her to the clause, the
# clause names a schedule, and she turns there. Following a document's own signs is one way to retrieve without an
# embedding index; this course tries five more.
#
# **Vectorless RAG** is retrieval-augmented generation whose retrieval step keeps no index of vectors computed by a
# model. The test is what the index stores. If changing a model means computing the index again, it is not vectorless.

# %% tags=["exercise"]
sorting = lesson.predict("vectorless")
sorting

# %% tags=["solution"]
passing = ["BM25", "SQL", "contents", "grep", "long context"]
sorting = lesson.predict("vectorless", answer=passing, confidence="fairly sure")
sorting

# %%
from course_lib.lessons.start_here import SYSTEMS, what_indexes_store

vectorless = [system.name for system in SYSTEMS if not system.computed]
what_indexes_store()

# %%
sorting.reveal(vectorless)

# %% [markdown]
# ## The map: start from the symptom
#
# Each move has a notebook of its own, and each starts from what somebody sees going wrong.

# %%
map_of_moves()

# %% [markdown]
# ## Your turn: name the failure in code
#
# You will label misses by the hundred later, so let a function do it. Replace each `____`. The rank counts from 1, and
# it is `None` for a section that the retriever never returned.

# %% tags=["exercise"]
from course_lib.learn.blank import ____


def name_the_failure(rank, pool, k):
    if ____:
        return "not retrieved"
    if ____:
        return "ranked out"
    return "in the prompt"

# %% tags=["solution"] solves="name_the_failure"
pass

# %%
lesson.check("name_the_failure", name_the_failure)

# %%
# Stuck? Take the # away from one of these lines and run the cell.
# lesson.hint("name_the_failure")
# lesson.solution("name_the_failure")

# %% [markdown]
# ## Your turn: the proposal to raise k
#
# *Three minutes, on paper.* A colleague says: "Make it k = 10 for every question, and the case is closed." Before you
# read on, write down what you want to know before you agree.
#
# <details><summary>Rubric: a point for each that you have</summary>
#
# - Where the target stands in the real agreement of 400 sections, on a set of labelled questions, with their number.
# - What ten sections cost on every question, also on those that one section answers, and what the longer prompt does
#   to the answers.
# - Whether the miss is *ranked out* at all. Where it is *not retrieved*, a higher cut-off without a larger pool changes
#   nothing.
# - Whether something cheaper is in the text already: 7.3 says where to look next.
#
# </details>

# %% [markdown]
# ## One failure is a story, not a rate
#
# You have seen one question fail. Before you tell your team that the pipeline is broken, look at what one question can
# prove: of one question, none had Schedule B in its top three.

# %%
from course_lib.metrics import rate

print(rate(successes=0, n=1))

# %% [markdown]
# The interval says how much of the scale is still open. What one failure can give you is a mechanism, and this one has
# a clear shape: the question resembles the pointer, the answer stands at its target, and the document's own reference
# connects the two.
#
# ## The rule, the number, your record
#
# **The rule.** An embedding search finds what resembles the question; where the answer is one reference away, look for
# the reference.
#
# **The number to track.** Hit rate@k of the section that holds the answer (the share of questions that have it among
# their first k), with n beside it, and the name of each miss.
#
# **Your record.** Everything you predicted is kept in one file beside the notebooks, `my_record.json`. It stays on your
# machine. Look at the lines on confidence: where you were sure and wrong is what you will meet again.

# %%
lesson.summary()

# %%
# On Binder or Colab nothing is kept: write your record to a file, download it, and import it at home.
# lesson.record.export("my_exported_record.json")
# lesson.record.import_from("my_exported_record.json")

# %% [markdown]
# ## Go further: an accident is not a repair
#
# *Five minutes.* A common repair of keyword search is to cut words down to their stems, so that "days" and "day" count
# as one. Compare the top and the bottom of this list with the one above.

# %%
stemmed = BM25Index(chunks, tokenizer="porter").search(QUESTION, k=14)
[(hit.id, round(hit.score, 3)) for hit in stemmed]

# %% [markdown]
# 7.2 now stands before 7.3. And Schedule B is back, in the last place: "365-day year" and "20 days late" share a stem.
# Its score rounds to 0, as the last three did before, because BM25 gives next to nothing for a word that half of the
# sections have. The two days have nothing to do with each other.
#
# Here is the explorer again, with a choice between dense retrieval (search by embeddings, as above) and BM25. Which
# needed section do they rank differently? Then ask the same thing in other words, and in another language.

# %%
pipeline_explorer(with_bm25=True)

# %% [markdown]
# ## Go further: one document's cut-off is a guess about the next
#
# *Ten minutes.* A contract in use is longer: one of 400 sections with twelve schedules is not unusual. Here is one of
# that size, written for this course, with 52 questions of the analyst's kind: one section speaks of the matter and
# points to another place, and the value stands there. This is the first of them; note how little the two have in
# common.

# %%
from course_lib.corpora import large_agreement
from course_lib.lessons.start_here import read_hop

big = large_agreement.large_agreement()
hops = large_agreement.one_hop_questions()
read_hop(hops[0])

# %% tags=["exercise"]
at_ten = lesson.predict("at_ten")
at_ten

# %% tags=["solution"]
at_ten = lesson.predict("at_ten", answer="12 to 29", confidence="a guess")
at_ten

# %% [markdown]
# Dense ranks all 412 sections for every question; BM25 ranks those that share a word with it.

# %%
from course_lib.lessons.start_here import large_retriever

rankings = {}
for name in ("dense", "BM25"):
    search = large_retriever(name)
    rankings[name] = [[hit.id for hit in search(hop.text, len(big))] for hop in hops]
targets = [hop.target for hop in hops]
found_at_10 = sum(target in found[:10] for found, target in zip(rankings["dense"], targets))
f"dense finds the target of {found_at_10} of {len(hops)} questions at k = 10"

# %%
at_ten.reveal(found_at_10)

# %% [markdown]
# Where do the others land? BM25 leaves some of them out altogether, and no cut-off reaches those.

# %%
from course_lib.lessons.start_here import hit_rate_chart, where_targets_land

where_targets_land(rankings, targets)

# %% [markdown]
# The same as a curve, with 95 % intervals. Ask of it: which cut-off would you have to pay for, on every question, to
# have nine of ten targets in the prompt?

# %%
hit_rate_chart(rankings, targets)

# %% [markdown]
# No cut-off that you would want to pay for gets there, and BM25 reaches it at none. That rules out a higher k as the
# repair.
#
# ## Explore: two lines for every question
#
# Go through a few questions with both retrievers. Watch the first line of the result as well as the second.

# %%
from course_lib.lessons.start_here import hop_explorer

hop_explorer()

# %% [markdown]
# The search is not bad at all. It finds the section that speaks of the matter nearly every time:

# %%
from course_lib.metrics import hit_rate_at_k

pointers = [[hop.pointer] for hop in hops]
{name: str(hit_rate_at_k(found, pointers, k=3)) for name, found in rankings.items()}

# %% [markdown]
# ## Your turn: follow the reference
#
# The text of a pointer says where to look next, in so many words. Write the pattern that reads it: the number behind
# "Section", the letter behind "Schedule", and nothing else.

# %% tags=["exercise"]
import re


def references(text):
    """Return the ids that a text points to: "B" for Schedule B, "7.3" for Section 7.3."""
    return re.findall(____, text)

# %% tags=["solution"] solves="references"
pass

# %%
lesson.check("references", references)

# %%
# lesson.hint("references")
# lesson.solution("references")

# %% [markdown]
# ## A reference is an address
#
# Three sections from the search, plus the ones that they point to.

# %% tags=["exercise"]
followed = lesson.predict("followed")
followed

# %% tags=["solution"]
followed = lesson.predict("followed", answer="49 or more", confidence="fairly sure")
followed

# %%
from course_lib.lessons import start_here

text_of = {section.id: section.text for section in big}


def with_references(section_ids):
    found = [ref for i in section_ids for ref in start_here.references(text_of[i])]
    return list(dict.fromkeys([*section_ids, *(ref for ref in found if ref in text_of)]))


read = [with_references(section_ids[:3]) for section_ids in rankings["dense"]]
found_by_following = sum(target in section_ids for section_ids, target in zip(read, targets))
found_by_following, f"{sum(map(len, read)) / len(read):.1f} sections a question"

# %%
followed.reveal(found_by_following)

# %% [markdown]
# Compare that with the cut-off of ten: fewer sections in the prompt, and the target in it. Before you take the number
# home, mind how it came about. The questions were written for this course, close to the wording of the pointers, so
# this shows a mechanism and not what your documents will give. Move 3 does it with a model that reads the contents,
# and measures where that pays and where it does not.

# %%
lesson.summary()
