# %% [markdown]
# # Search like a developer: grep, read, and what they miss
#
# *Move 4: a core of 30 minutes, and 25 more to go further. You need Python, and no key, no network, no graphics card.*
#
# When you are through, you can
#
# - lend a model two tools over a repository that are bounded in hits, characters, time and reach,
# - say what one search tells you about a question, and what it leaves open,
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
# A **webhook** is a message that a payment service sends to the merchant's server: this order is paid. A merchant
# takes the shop offline on Saturday and writes: "How often do you retry a failed payment webhook? We have to know how
# long we may be away." Whoever answers too high a number costs them orders: what is never delivered ends in a
# **dead-letter queue**, and nobody packs that order. No document gives the number. The code does, it is deployed
# three times a day, and an index from last night would know last night's code.
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
# Cards, and mails with invoices: whoever wrote the delivery of webhooks chose another word. So ask for lines that have
# the thing itself in them and, further on, one of two words for trying again. In a pattern `.*` stands for any text
# between, and `|` for "or".

# %%
print(grep(repo, "webhook.*(retr|attempt)"))

# %% [markdown]
# ## A hit says where to start reading
#
# Five lines again, about webhooks this time, and the first has a number. Before you write to the merchant, read the
# code that uses it. `range(n)` counts n rounds, from 0 on.

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
# That is the answer for the merchant: the number of retries, and that the waits between them add up to little more than
# two and a half minutes. An agent that copies the constant would have been wrong, and so would one that stopped at the
# first search. Each had a line of code to show for it.
#
# ## Nothing found is not nothing there
#
# Next question, from the newsletter team, who are about to send 300,000 mails: "Is there a rate limit on our mails?"
# Here `.?` stands for any one character, or none.

# %%
print(grep(repo, "rate.?limit"))

# %% [markdown]
# The note is careful: no line matches, which does not mean that there is no limit. There is one, under another name, in
# `notifications/mailer.py`. Read that file if you like.
#
# ## Your turn: the words of others
#
# Write one pattern that finds this line, and a limit of the same kind in the code of four other teams, who each have
# their own words for it. You do not see theirs. The pattern must leave alone what merely looks alike: `generate`,
# `per_page`, `machine.second`, `limit = 50  # rows`. Capitals do not count. Replace the `____`.

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
# You knew that there was something to find, and a guess cost you nothing. A model pays for each guess with a call.
#
# ## A part has to say that it is a part
#
# A common word may stand on thousands of lines. Here at most five of them come back, and a last line says what is
# missing and how to ask for less.

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
# It runs on your machine, on text that anybody may have committed. A pattern that takes an hour takes it from
# everybody on that machine. Python's own `re` finds a match by trying, and where that fails it goes back and tries
# another way. In `(a+)+$` each letter may end a group or go on with it.

# %% tags=["exercise"]
backtrack = lesson.predict("backtrack")
backtrack

# %% tags=["solution"]
backtrack = lesson.predict("backtrack", answer="1.4", confidence="fairly sure")
backtrack

# %% [markdown]
# `re` has no time limit, and while it searches, no other thread of its process gets a turn: a watchdog there waits
# too. Each line therefore gets a process of its own here, which is killed after a second. The time of a **linear**
# engine, such as RE2 or ripgrep's usual one, grows at most with the length of the line. The price: it has no
# look-around ("only where x stands before it") and no back-references ("the same word again"). Compare rows that are
# four letters apart.

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
# The course's `grep` uses linear engines only, and has a time limit besides. A search that ran out of time says so; it
# is never reported as a search that found nothing.
#
# ## A comment can be written for your agent
#
# Many people write code, and some of them know that agents read it. What is the worst that may come of that? Somebody
# added the file below. Beside it lies `.env`, with the key to the payments. The agent has `grep` and `read` as you
# know them, in a **loop**: the model names a call, the loop makes it or refuses, and so on, until the model gives its
# answer.

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
# A comment changes nothing by itself: the loop makes only calls that the model asks for, and only those that are
# allowed. Two tools that read, paths that stay inside, no keys.
#
# ## Two vendors, two answers
#
# Should there be an index beside grep? Claude Code once had one, of embeddings, and dropped it. Boris Cherny of
# Anthropic told the Latent Space podcast in May 2025 that searching like an agent "outperformed everything. By a
# lot." Asked what that rests on, he named "some internal benchmarks also, but mostly vibes"; no figures were
# published. He also held against an index that it falls behind the code and is one more thing to secure, and granted
# that doing without costs tokens and time. Cursor, in November 2025, had a benchmark of its own and the other result:
# an agent that was given semantic search as well as grep answered more accurately, by 12.5 % on average and by 6.5 to
# 23.5 % from model to model. Its conclusion: "the combination of these two leads to the best outcomes". Each vendor
# measured its own product, and you cannot check either. On what grep does there is no dispute: it sees the file of
# this minute, and only the words of the pattern.
#
# So do not take a side: measure. 47 labelled questions about Python's standard library, in four slices, over the same
# 300 functions for everybody. Right means that a line of the right function was on the screen within eight calls.

# %%
from course_lib.corpora import standard_library

examples = {}
for question in standard_library.questions():
    examples.setdefault(question.slice, question.text)
[f"{name}: {text}" for name, text in examples.items()]

# %% [markdown]
# Who searches here are **scripts**: they turn the words of a question into patterns, know a table of synonyms that was
# written with these questions in view, read around the first hit, and recognise the answer when they see it. They show
# how each way works. They are no rate for any model, and a model that has read the library in training would know more.
# **MiniLM** is the small encoder from Move 1: it turns texts into vectors, which are near each other where the meanings
# are.

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
# BM25 and MiniLM are real searches, asked once, so their shares have 95 % intervals below the counts. The intervals are
# wide: with eleven questions, a difference of two or three is nothing. The other rows are scripts and get none. Where
# the question has the name or the words, the vectors had nothing left to add on this short list. They added most where
# it has neither. BM25 over the same functions is an index too, without an encoder; look how far it gets in each slice
# before you pay for one.
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
# Among all files its two words stand together in too many places, and it runs out of calls, or of words. BM25 searched
# the same library and lost little in this slice: it ranks whole functions by their rare words, where grep takes lines
# in the order of the files. So much of what an index adds here is ranking, and needs no vectors. The paraphrases are
# another matter; how many of them MiniLM would still find among all functions is not measured here.
#
# And none of the three that search once shows a number behind a constant. It takes one search that finds the function
# and another that finds where the constant is set, and that second one is a grep.
#
# ## Go further: what an index costs to make and to keep
#
# *Six minutes.* Six functions and a few questions are encoded on one thread in a process of their own, and the time is
# scaled to all 300. The columns are multiples in this run. They vary with the machine; look at how many digits they
# have.

# %% tags=["nbval-ignore-output"]
move4.show_seconds(whole)

# %% [markdown]
# Now an edit. Here is a copy of one file, with a default changed and a new function above it. What is on the left stood
# there when the indexes were made, what is on the right stands there now.

# %%
from course_lib.lessons.move4_grep.keeping import NEW, OLD

copy = move4.edited_copy()
f"get_close_matches({OLD}) → get_close_matches({NEW})"

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
# The old default comes back without a sign that it is old. Whoever keeps an index over code keeps a watcher on the
# files as well, and has to know what happens between an edit and the next run.
#
# ## Go further: a cap that tells
#
# *Four minutes.* A search may match 12,000 lines. Show `most` of them, and where something was cut, one line more that
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
# *Seven minutes.* `read` takes a path from a model. Beside the folder `repo` lies `repo-old`, with the keys of last
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
# *Three minutes.* A file may lie inside and still be nobody's business. Four files, and a search for "key" in any case:

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
# A password that looks like any other word is not recognised. The name list and the patterns are a net, not a wall:
# what must not be read should not lie in the repository.

# %%
lesson.summary()
