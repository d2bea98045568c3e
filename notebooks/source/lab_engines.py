# %% [markdown]
# # Another engine is another ranking
#
# *Engines lab: 20 minutes, optional. You need Python, and no key, no network, no graphics card. Two of the five engines
# are in the course's environment; the other three are extras, and each that is missing costs you one row of a table.*
#
# When you are through, you can
#
# - name the two parts of a search engine that decide a ranking, and tell which of them moved yours,
# - foresee what an engine makes of an error code, an apostrophe and a text without spaces,
# - measure a change of engine by the questions it gained and lost,
# - say which of the products you may already own rank by BM25, and which one does not.

# %%
from course_lib import engines
from course_lib.lessons import lab_engines as lab
from course_lib.lessons.lab_engines import lesson

# %% [markdown]
# ## "We have a search engine already"
#
# The support team's search runs on SQLite, and its agents find the right article by the code on the customer's screen.
# The platform team wants to help: "Move it to our PostgreSQL. Or take a BM25 library from the package index, it is the
# same formula." If they are wrong, an agent with a customer on the line reads out the wrong remedy.
#
# Five candidates, one adapter each. All get the same plain query: the question's words, ORed. This cell says what can
# run here, and what to do about the rest. The lab works with two.

# %% tags=["nbval-ignore-output"]
lab.show_available()

# %% [markdown]
# ## An engine is an analyzer and a formula
#
# Before anything is counted, an **analyzer** turns a text into words: it cuts, lowers capitals, drops stop words,
# perhaps joins word forms. Only then does a **formula** weigh the words. Each engine below keeps both as its quick
# start sets them up.

# %% tags=["exercise"]
kept = lesson.predict("kept")
kept

# %% tags=["solution"]
keeping = [engines.RANK_BM25, engines.POSTGRES]
kept = lesson.predict("kept", answer=keeping, confidence="fairly sure")
kept

# %%
with lab.base_engines() as base:
    here = lab.readings(base)
lab.show_readings(here, lab.CODE)

# %% [markdown]
# These are the two that are always here. The answer is kb-102, "Error E-4471: firmware signature mismatch". One engine
# finds nothing at all: in that title the code is followed by a colon.

# %% [markdown]
# Now every engine that can run here, PostgreSQL included: its server starts for this cell, keeps its data in a temporary
# folder and has ended when the cell has. With a server of your own, put its address in place of `None`; the lab makes a
# temporary table there and nothing else.

# %%
URI = None  # or "postgresql://user:password@host/database"
everywhere = lab.run_everywhere(URI)

# %% tags=["nbval-ignore-output"]
lab.show_missing(everywhere.missing)

# %% tags=["nbval-ignore-output"]
lab.show_readings(everywhere.readings, lab.CODE)

# %%
kept_whole = lab.kept_in_one(everywhere.readings)
kept.reveal(kept_whole)

# %% [markdown]
# ## A customer called O'Brien

# %% tags=["exercise"]
apostrophe = lesson.predict("apostrophe")
apostrophe

# %% tags=["solution"]
apostrophe = lesson.predict("apostrophe", answer="read it as words", confidence="a guess")
apostrophe

# %%
refused = lab.refusals(everywhere.readings)
apostrophe.reveal(refused)

# %% [markdown]
# The article writes O’Brien with a curly apostrophe, the customer with a straight one. Look at the words: whose analyzer
# makes the two meet, and whose does not?

# %% tags=["nbval-ignore-output"]
lab.show_readings(everywhere.readings, lab.APOSTROPHES)

# %% [markdown]
# ## A title in Chinese

# %% tags=["exercise"]
chinese = lesson.predict("chinese")
chinese

# %% tags=["solution"]
chinese = lesson.predict("chinese", answer="those that know Unicode", confidence="fairly sure")
chinese

# %%
found_chinese = lab.finds_chinese(everywhere.readings)
chinese.reveal(found_chinese)

# %% tags=["nbval-ignore-output"]
lab.show_readings(everywhere.readings, lab.HAN)

# %% [markdown]
# ## Three inputs are anecdotes, labelled questions are a measurement
#
# The same questions as in Move 1: eight about the support articles, 150 about a catalogue of 2,000 look-alike codes, 60
# about Python's language reference. This is SQLite's FTS5, the engine that you would be leaving.

# %%
with_fts5 = lab.run(engines.fts5)
lab.show_rates({"FTS5": with_fts5})

# %% [markdown]
# Keep the count behind one row in mind: the questions whose code is written as in the catalogue.

# %%
f"FTS5 puts the right entry first for {lab.first(with_fts5)} of 120"

# %% tags=["exercise"]
split = lesson.predict("split")
split

# %% tags=["solution"]
split = lesson.predict("split", answer="100 or more", confidence="sure")
split

# %%
with_spaces = lab.run(engines.rank_bm25)
first_with_spaces = lab.first(with_spaces)
split.reveal(first_with_spaces)

# %%
lab.show_rates({"FTS5": with_fts5, "rank_bm25, spaces": with_spaces})

# %% [markdown]
# ## Hold the analyzer still, and see what the formula does
#
# Was it the engine or its analyzer? Give rank_bm25 the words that the course's FTS5 query is made of, and leave its
# formula alone.

# %%
from course_lib.bm25 import words

with_words = lab.run(lambda documents: engines.rank_bm25(documents, words))
three = {"FTS5": with_fts5, "rank_bm25, words": with_words, "rank_bm25, spaces": with_spaces}
lab.show_rates(three)

# %% [markdown]
# Two hit rates do not say how many questions changed sides between them. First the change of analyzer inside rank_bm25,
# then the change of formula with the same words.

# %%
lab.show_changes(with_words, with_spaces)

# %%
lab.show_changes(with_fts5, with_words)

# %% [markdown]
# What is left between those two is k1 (1.5 against 1.2), the IDF of common words, and that FTS5 counts a title and a
# body as two columns of one row. It is small beside the other change, and it is not nothing.

# %% [markdown]
# ## A score of 0 can be a match, and k results can be no match
#
# Four notes, and two of them hold the word "paper". Its IDF in rank_bm25 is the logarithm of 2.5 / 2.5. Look at the raw
# scores first, and at what a filter "score above 0" would leave.

# %%
from rank_bm25 import BM25Okapi

notes = ["paper jam", "paper out", "screen black", "battery low"]
raw = BM25Okapi([note.split() for note in notes]).get_scores(["paper"]).tolist()
kept_by_filter = [note for note, score in zip(notes, raw) if score > 0]
numbered = [(str(at), "", note) for at, note in enumerate(notes)]
kept_by_words = [hit.text for hit in engines.rank_bm25(numbered).search("paper", 3)]
{"raw scores": raw, "score above 0": kept_by_filter, "shares a word": kept_by_words}

# %% [markdown]
# The other way round, the best three of these raw scores would be three notes for any question at all. bm25s has the
# same habit: asked for k, it fills up with documents of score 0. An engine in front of a language model must be able to
# return nothing. And an empty index is a case too:

# %%
try:
    BM25Okapi([])
except ZeroDivisionError as error:
    print("raw: ZeroDivisionError,", error)
print("adapter:", engines.rank_bm25([]).search("paper", 3))

# %% [markdown]
# ## The database you already own has text search too

# %% tags=["exercise"]
no_idf = lesson.predict("no_idf")
no_idf

# %% tags=["solution"]
no_idf = lesson.predict("no_idf", answer="100 or more", confidence="fairly sure")
no_idf

# %% tags=["nbval-ignore-output"]
lab.show_rates(everywhere.runs)

# %% tags=["nbval-ignore-output"]
in_postgres = everywhere.runs.get(engines.POSTGRES)
first_in_postgres = lab.first(in_postgres) if in_postgres else None
lab.reveal_where_it_ran(no_idf, first_in_postgres)

# %% [markdown]
# Is it the formula, then, or did the stems do it? Hold the words still once more: PostgreSQL's own words, counted by
# rank_bm25.

# %% tags=["nbval-ignore-output"]
lab.show_swap(everywhere)

# %% [markdown]
# Read the table of all engines by rows, and mind the intervals: with n = 20 and n = 4 most neighbours cannot be told
# apart. Two rows say more about the questions than about the engines. No analyzer here joins E-4471 and E4471, so most
# respelled codes are lost everywhere. And a paraphrase shares too few words with its answer to bring it first, whatever
# the formula.

# %% [markdown]
# ## Look up what you own before you install something
#
# You may be paying for a BM25 already. What counts for the change is the column of analyzers, and the one row that
# carries another formula: PostgreSQL's manual says that ts_rank goes by the frequency of the matching lexemes, and that
# its ranking functions use no global information. IDF is global information.

# %%
lab.show_known_engines()

# %% [markdown]
# ## Your turn: gained and lost
#
# Count what a change of engine did. `before` and `after` hold one list of ids for each question, best first, and `gold`
# holds the ids that answer it. A question is a hit where at least one of them is among the first k.

# %% tags=["exercise"]
from course_lib.learn.blank import ____


def changed_sides(before, after, gold, k):
    was = [____ for old, wanted in zip(before, gold)]
    now = [____ for new, wanted in zip(after, gold)]
    gained = sum(____ for old, new in zip(was, now))
    lost = sum(____ for old, new in zip(was, now))
    return gained, lost

# %% tags=["solution"] solves="changed_sides"
pass

# %%
lesson.check("changed_sides", changed_sides)

# %%
# Stuck? Take the # away from one of these lines and run the cell.
# lesson.hint("changed_sides")
# lesson.solution("changed_sides")

# %% [markdown]
# ## The rule, the number, your record
#
# **The rule.** A change of engine is a change of analyzer first and of formula second: ask it for its words before you
# ask for its hits, and measure again on your own labelled questions.
#
# **The number to track.** Hit rate@k for each slice with n, before and after, and beside it the questions gained and
# lost.

# %% tags=["nbval-ignore-output"]
lesson.summary()
