# %% [markdown]
# # Search like a developer: grep, read, and what they miss
#
# *Move 4: a core of 30 minutes, and 25 more to go further. You need Python, and no key, no network, no graphics card.*
#
# When you are through, you can
#
# - lend a model two tools over a repository that are bounded in hits, characters, time and reach,
# - say why the first search that finds something is where an agent goes wrong,
# - price a result by the calls that carry it,
# - decide from your own questions whether an index over code is worth its upkeep beside grep.

# %%
from course_lib.corpora.repository import QUESTION, files
from course_lib.grep import Memory, grep, read
from course_lib.lessons import move4_grep as move4
from course_lib.lessons.move4_grep import lesson

# %% [markdown]
# ## Two questions from before
#
# Answer from memory; if you have skipped a notebook, guess. The reveals say what there is to know.

# %% tags=["exercise"]
again_zero = lesson.predict("again_zero")
again_zero

# %% tags=["solution"]
again_zero = lesson.predict("again_zero", answer="none", confidence="fairly sure")
again_zero

# %%
FALSE_ZERO = "SELECT COUNT(*) FROM tickets WHERE team = 'Berlin' AND status = 'Open'"
stopped_by = move4.stopped_by_guard(FALSE_ZERO)
again_zero.reveal(stopped_by)

# %% tags=["exercise"]
again_words = lesson.predict("again_words")
again_words

# %% tags=["solution"]
again_words = lesson.predict("again_words", answer="wrong", confidence="a guess")
again_words

# %%
found_ids = [hit.id for hit in move4.support_search()("tap to pay stopped working", 3)]
again_words.reveal(found_ids)

# %% [markdown]
# ## The corpus changed this morning
#
# A merchant takes the shop offline on Saturday and writes: "How often do you retry a failed payment webhook? We have to
# know how long we may be away." Whoever answers too high a number costs them orders: what is not delivered in the end
# waits in a queue until somebody replays it by hand. No document says it. The code does, it is deployed three times a
# day, and an index from last night would know last night's code.
#
# So an agent gets what a developer has: **grep**, which finds lines by a pattern, and **read**, which shows lines of
# one file. Here is the repository, six files, and two of them to read.

# %%
repo = Memory(files())
print(*files(), sep="\n")

# %%
print(read(repo, "payments/config.py"), read(repo, "billing/retry.py"), sep="\n\n")

# %% tags=["exercise"]
trap = lesson.predict("trap")
trap

# %% tags=["solution"]
trap = lesson.predict("trap", answer="no number", confidence="fairly sure")
trap

# %%
first_search = grep(repo, "retr")
read_off = move4.first_number(first_search)
print(first_search)

# %%
trap.reveal(read_off)

# %% [markdown]
# Cards, and mails with invoices. The code of the webhook never says "retry". A second search names the thing that was
# asked about, and takes a second word for what happens to it.

# %%
print(grep(repo, "webhook.*(retr|attempt)"))

# %% [markdown]
# ## The answer stands around the hit, not in it
#
# Five lines again, and one of them has the 5. Before you write to the merchant, read the code that uses it.

# %%
print(read(repo, "payments/webhooks.py", 3, 9))

# %% tags=["exercise"]
retries_asked = lesson.predict("retries")
retries_asked

# %% tags=["solution"]
retries_asked = lesson.predict("retries", answer="5", confidence="sure")
retries_asked

# %% [markdown]
# No need to argue about it: run `deliver` with a receiver that never answers, and count.

# %%
sent, waits, dead_letters = move4.deliver_in_vain(files())
retries = sent - 1
f"sent {sent} times, waits of {waits} s, {sum(waits)} s in all, {dead_letters} event in the queue"

# %%
retries_asked.reveal(retries)

# %% [markdown]
# That is the answer for the merchant: the number of retries, and that after little more than two and a half minutes all
# of them are used up. An agent that copies the constant would have been wrong, and so would one that stopped at the
# first search. Each had a line of code to show for it.
#
# ## A search finds the words that somebody typed
#
# Next question, from the newsletter team: "Is there a rate limit on our mails?"

# %%
print(grep(repo, "rate.?limit"))

# %% [markdown]
# This note is careful. It does not say that there is no limit, only that no line says so in these words. But there is
# one: somebody called it something else.
#
# ## Your turn: the words of others
#
# Write one pattern that finds it, and that would also find it in the code of four other teams, who each wrote the same
# thing in their own words. You do not see theirs. The pattern must leave alone what merely looks alike: `generate`,
# `per_page`, `limit = 50  # rows`. Replace the `____`.

# %% tags=["exercise"]
from course_lib.learn.blank import ____

pattern = ____

# %% tags=["solution"] solves="throttle"
pass

# %%
lesson.check("throttle", pattern)

# %%
# Stuck? Take the # away from one of these lines and run the cell.
# lesson.hint("throttle")
# lesson.solution("throttle")

# %% [markdown]
# You knew what to look for and had time. For a model, each guess is a call, and each call sends along everything that
# came back before.
#
# ## What comes back is paid for again and again
#
# Cap what a search returns, and say what the cap cut, so that nobody takes a part for the whole.

# %%
print(grep(repo, "webhook"))

# %% tags=["exercise"]
carried_asked = lesson.predict("carried")
carried_asked

# %% tags=["solution"]
carried_asked = lesson.predict("carried", answer="3200", confidence="fairly sure")
carried_asked

# %%
from course_lib.grep import carried

tokens_sent = carried([400] * 8).input
carried_asked.reveal(tokens_sent)

# %% [markdown]
# ## Explore: a pattern and its price
#
# A larger repository, which every learner has: the standard library of the Python that runs this. Find the widest
# pattern that is still useful. What do ten lines around each hit add to the bill? How does the price change when the
# pattern has a second word? Try your pattern for the rate limit here, too.

# %%
move4.search_explorer()

# %% [markdown]
# ## A pattern is a program that a model wrote
#
# It runs on your machine, on text that anybody may have committed. Python's own `re` finds a match by trying, and where
# that fails it goes back and tries another way. In `(a+)+$` each letter may end a group or go on with it.

# %% tags=["exercise"]
backtrack = lesson.predict("backtrack")
backtrack

# %% tags=["solution"]
backtrack = lesson.predict("backtrack", answer="1.4", confidence="fairly sure")
backtrack

# %% [markdown]
# While `re` searches, nothing in its process can stop it: not a thread, not Ctrl-C. So each line gets a process of its
# own here, which is killed after a second. **Linear** engines such as RE2 and the one in ripgrep promise to look at
# each letter a bounded number of times. They have no look-around and no back-references; that is the price.

# %%
from course_lib.grep import measure_backtracking

lengths = [17, 18, 19, 20, 21, 22, 23, 40]
timings = measure_backtracking("(a+)+$", [move4.hostile(n) for n in lengths], seconds=1)
linear = move4.linear_seconds("(a+)+$", lengths)
growth = move4.growth_of(timings)

# %% tags=["nbval-ignore-output"]
move4.show_growth(timings, linear)

# %%
backtrack.reveal(growth)

# %% [markdown]
# The library's `grep` uses linear engines only, and has a time limit besides. A search that ran out of time says so; it
# is never reported as a search that found nothing.
#
# ## What a file says is no order
#
# Code is written by many people, and some of them know that agents read it. A comment can address the agent. What is
# the worst that may come of it? Below is a stand-in for a model that believes everything.

# %%
print(read(move4.with_orders(files()), "payments/legacy.py"))

# %% tags=["exercise"]
orders = lesson.predict("orders")
orders

# %% tags=["solution"]
orders = lesson.predict("orders", answer=["runbook"], confidence="fairly sure")
orders

# %%
run = move4.obeyed(files(), QUESTION)
carried_out = move4.orders_done(run)
move4.show_run(run)

# %%
orders.reveal(carried_out)

# %% [markdown]
# The loop never looks into a result for something to do. It makes the calls that the model asks for, if they are on the
# list: two tools that read, paths that stay inside, no keys.
#
# ## Two vendors, two answers
#
# Should there be an index beside grep? In May 2025 Boris Cherny of Anthropic said on the Latent Space podcast that
# Claude Code had dropped its embedding index: agentic search "outperformed everything. By a lot." The evidence was "some
# internal benchmarks also, but mostly vibes", and none of it is published. An index, he said, drifts out of sync and is
# a security liability; the price of doing without is latency and tokens. In November 2025 Cursor reported the opposite
# from its own benchmark: with semantic search next to grep its agent was on average 12.5 % more accurate, 6.5 to 23.5 %
# depending on the model, and "the combination of these two leads to the best outcomes". Both speak of their own
# products. They agree on the mechanism: grep is exact and always current, and it finds only what somebody typed.
#
# So do not take a side: measure. 47 labelled questions about Python's standard library, in four slices, over the same
# 300 functions for everybody. Right means that a line of the right function was on the screen within eight calls.

# %%
from course_lib.corpora import standard_library

by_slice = {question.slice: question.text for question in standard_library.questions()}
[f"{name}: {text}" for name, text in by_slice.items()]

# %% [markdown]
# Who searches here are **scripts**: they turn the words of a question into patterns, know a table of synonyms that was
# written with these questions in view, read around the first hit, and recognise the answer when they see it. They show
# how each way works. They are no rate for any model, and a model that has read the library in training would know more.

# %% tags=["exercise"]
gains_asked = lesson.predict("gains")
gains_asked

# %% tags=["solution"]
answer = ["named behaviour", "paraphrase"]
gains_asked = lesson.predict("gains", answer=answer, confidence="fairly sure")
gains_asked

# %%
listed = move4.on_the_list()
gains = move4.gains(listed, "grep, synonyms", "grep + MiniLM")
move4.show_rates(listed)

# %%
gains_asked.reveal(gains)

# %% [markdown]
# Below each count is its share's 95 % interval. They are wide: with eleven questions, a difference of two or three is nothing. The paraphrases are where the
# vectors earn their keep, and where the question names a thing they add nothing. BM25 over the same functions is an
# index too, without an encoder; look how far it gets in each slice before you pay for one.
#
# ## Your turn: grep, an index, or both?
#
# *Five minutes, on paper.* Your company has 40,000 files in three languages, 200 commits a day, and two groups of
# askers. Developers ask where something is set; they know the names. Support asks why a customer's payment was turned
# down; they know none. What do you build for whom, what bounds it, and what would you measure before you decide? Write
# it down before you open the rubric.
#
# <details><summary>Rubric: a point for each that you have</summary>
#
# - Developers get grep and read, no index: they have the names, and the code must be of this minute.
# - Support gets a search that finds other words: an index over functions, or a list of synonyms that grows from the log
#   of searches that found nothing. You said who keeps it.
# - The index stores where something is; the text comes from the file at the time of asking.
# - Caps on hits, characters and time, a budget of calls, and each cut is said.
# - Tools confined to the root, keys denied by name and by content, nothing that writes. The index obeys the same rules:
#   what grep may not show, no vector may hold.
# - You counted a week's questions by slice, labelled forty, and report task success with calls and tokens, with and
#   without the index.
#
# </details>
#
# ## The rule, the number, your record
#
# **The rule.** Where the corpus changes hourly and questions name things, search the files themselves. Search twice
# before you believe the first hit, and read around it. Add an index for the questions that do not have the words, and
# only once you have counted them.
#
# **The number to track.** Task success on labelled questions, with calls and carried tokens beside it. On these:

# %%
move4.show_costs(listed)

# %%
lesson.summary()

# %% [markdown]
# ## Go further: the same questions, the whole library
#
# *Five minutes.* A list of 300 functions is kind to every search: little matches by chance. Now grep searches all files
# of the library, and BM25 ranks all of its functions. MiniLM keeps to the 300, which is kind to it; encoding the rest
# would take minutes. And the task is harder: right means that the line with the value was on the screen. For a number
# behind a constant, that line is outside the function.

# %%
whole = move4.whole_library()
f"{len(move4.everywhere()):,} functions in BM25's index"

# %%
move4.show_rates(whole)

# %%
move4.show_costs(whole)

# %% [markdown]
# Compare the slice of named behaviours with the one above. On the short list grep with synonyms kept up with everybody.
# Among all files its two words stand together in too many places, and eight calls are gone before the right one comes.
# BM25 searched the same library and lost little: it ranks whole functions by their rare words, where grep takes lines
# in the order of the files. So much of what an index adds here is ranking, and needs no vectors. The paraphrases do; how
# many of them MiniLM would still find among all functions is not measured here.
#
# And no single search, whatever it is, answers a number behind a constant. It takes one that finds the function and
# another that finds where the constant is set, and that second one is a grep.
#
# ## Go further: what an index costs to make and to keep
#
# *Four minutes.* Six functions and a few questions are encoded on one thread in a process of their own, and the time is
# scaled to all 300. The columns are multiples in this run. They vary with the machine; look at how many digits they
# have.

# %% tags=["nbval-ignore-output"]
move4.show_seconds(whole)

# %% [markdown]
# Now an edit. Here is a copy of one file, with one default changed and a new function above it.

# %%
copy = move4.edited_copy()
print(grep(copy, "cutoff=0.6"))

# %% tags=["exercise"]
stale = lesson.predict("stale")
stale

# %% tags=["solution"]
stale = lesson.predict("stale", answer=["grep", "MiniLM + read"], confidence="fairly sure")
stale

# %%
seen = move4.ask_again(copy)
fresh = [one.way for one in seen if one.fresh]
move4.show_seen(seen)

# %%
stale.reveal(fresh)

# %% [markdown]
# Nothing in a stale answer looks stale. Whoever keeps an index over code keeps a watcher on the files as well, and has
# to know what happens between an edit and the next run.
#
# ## Go further: a cap that tells
#
# *Three minutes.* A search may match 12,000 lines. Show `most` of them, and where something was cut, one line more that
# says how many are not shown. Replace the `____`.

# %% tags=["exercise"]
def capped(hits, most):
    """Return at most `most` hits, and a last line that says how many were cut, if any were."""
    cut = ____
    more = [f"… {cut} more hits; narrow the pattern"] if ____ else []
    return ____

# %% tags=["solution"] solves="capped"
pass

# %%
lesson.check("capped", capped)

# %%
# lesson.hint("capped")
# lesson.solution("capped")

# %% [markdown]
# ## Go further: how far a path may reach
#
# *Five minutes.* `read` takes a path from a model. Beside the folder `repo` lies `repo-old`, with the keys of last
# year. Write the check. It is tried with dots, an absolute path, that sibling, and links where your system has them.

# %% tags=["exercise"]
def inside(root, path):
    """Say whether `path`, as a model wrote it, names something in the folder `root`, a Path."""
    target = ____
    return ____

# %% tags=["solution"] solves="inside"
pass

# %%
lesson.check("inside", inside)

# %%
# lesson.hint("inside")
# lesson.solution("inside")

# %% [markdown]
# ## Go further: keys are not found, by name or by content
#
# *Two minutes.* A file may lie inside and still be nobody's business. Four files, and a search for "key" in any case:

# %%
leaky = move4.leaky()
print(grep(leaky, "key|AWS"))

# %% [markdown]
# The file of settings was searched with its key blacked out; the key itself cannot even be searched for. Two files are
# denied by their names, and the picture is no text. Each is counted: "nothing was found" and "nobody looked" are two
# answers.

# %%
print(grep(leaky, "AKIA"), grep(leaky, "x", "logo.png"), sep="\n\n")

# %%
try:
    read(leaky, ".env")
except ValueError as error:
    refusal = str(error)
refusal

# %% [markdown]
# A password that looks like any other word is not recognised. The name list and the patterns are a net, not a wall: what
# must not be read should not lie in the repository.

# %%
lesson.summary()
