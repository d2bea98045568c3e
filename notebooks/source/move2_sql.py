# %% [markdown]
# # Ask the database: the retriever is a query
#
# *Move 2: a core of 30 minutes, and 45 more to go further. You need Python, and no key, no network, no graphics card.*
#
# Afterwards you can
#
# - say why a count is no top-k question, and answer it with a tool whose SQL never changes,
# - put four layers between a model's SQL and your data, and say which layer stops what,
# - tell a query that is refused from one that runs and is wrong, and build what catches the second kind,
# - choose between fixed tools and text-to-SQL for a question, and say what each costs to keep.

# %%
from course_lib.corpora import tickets
from course_lib.learn.blank import ____
from course_lib.lessons import move2_sql as move2
from course_lib.lessons.move2_sql import lesson

# %% [markdown]
# ## Two questions from before
#
# Answer from memory; if you have skipped a notebook, guess. The reveals say what there is to know.

# %% tags=["exercise"]
again_outcome = lesson.predict("again_outcome")
again_outcome

# %% tags=["solution"]
again_outcome = lesson.predict("again_outcome", answer="ranked out", confidence="sure")
again_outcome

# %%
from course_lib.retrieval import outcome

what_happened = outcome(rank=12, pool=50, k=3)
again_outcome.reveal(what_happened)

# %% tags=["exercise"]
again_absent = lesson.predict("again_absent")
again_absent

# %% tags=["solution"]
again_absent = lesson.predict("again_absent", answer="only MiniLM answers", confidence="sure")
again_absent

# %%
searches = move2.support_searches()
answered = [name for name, search in searches.items() if search("What does E-9999 mean?", 1)]
again_absent.reveal(answered)

# %% [markdown]
# ## A count is not a top-k question
#
# Five to nine on a Friday, 25 September 2026, which is today throughout this course. The head of support asks the
# assistant: "How many P1 tickets are open for the Berlin team?" The answer decides who is called in from other work.
# There are sixty tickets, and the assistant runs on the pipeline of the opening: every ticket is written out as a line,
# encoded, and searched.

# %%
rows = tickets.row_texts()
[rows["T-1000"], tickets.QUESTION]

# %% tags=["exercise"]
sample = lesson.predict("sample")
sample

# %% tags=["solution"]
sample = lesson.predict("sample", answer="5", confidence="fairly sure")
sample

# %%
nearest = move2.dense_rows(rows)
wanted = tickets.ids_where("Berlin", "P1", "open")
top_ten = nearest(tickets.QUESTION, 10)
in_top_ten = len(wanted & {hit.id for hit in top_ten})
[hit.text.removeprefix("Ticket ") for hit in top_ten]

# %%
sample.reveal(in_top_ten)

# %% [markdown]
# The model reads the first k lines and counts. The table says how many of the five are among them, for three ways of
# writing a row out. Some are luckier than others, and no line of the prompt says that anything is missing.

# %%
move2.show_samples()

# %% [markdown]
# ## The query never changes, its values do
#
# The tickets were a table before anybody encoded them. So let the assistant count in the table. The nightly job writes
# the database; the assistant gets a connection that can only read, and one statement with three gaps.

# %%
from pathlib import Path
from tempfile import mkdtemp

from course_lib.sql.database import read_only

database = tickets.make_database(Path(mkdtemp()) / "support.db")
db = read_only(database)
COUNT = "SELECT COUNT(*) FROM tickets WHERE team = ? AND priority = ? AND status = ?"


def count(team, priority, status):
    return db.execute(COUNT, (team, priority, status)).fetchone()[0]


count("Berlin", "P1", "open")

# %% [markdown]
# Five. A **tool** is such a function with a description: the model picks it and fills in the arguments, your code does
# the rest. Models fill in what sounds right. What would the head of support be told after this one?

# %%
count("Berlin", "P1", "Open")

# %% [markdown]
# ## Your turn: an error that the model can act on
#
# The allowed values are in the data; read them from it, so that a new team is allowed the day it has tickets. Then write
# the check. The model reads its error as it reads anything else, so the sentence has to say which argument was wrong
# and what it may send instead. Replace the `____`.

# %%
columns = ("team", "priority", "status")
values = {c: [v for (v,) in db.execute(f"SELECT DISTINCT {c} FROM tickets ORDER BY {c}")] for c in columns}
values

# %% tags=["exercise"]
def check_value(column, value, allowed):
    """Return the value if it is allowed; otherwise say what was wrong and what is allowed."""
    if ____:
        raise ValueError(____)
    return value

# %% tags=["solution"] solves="allowed"
pass

# %%
lesson.check("allowed", check_value)

# %%
# Stuck? Take the # away from one of these lines and run the cell.
# lesson.hint("allowed")
# lesson.solution("allowed")

# %% [markdown]
# The library's tool has that check in front of it. Its error goes back as the tool's result, and the next call can
# be right.

# %%
from course_lib.sql.tools import TicketTools, ToolError

desk = TicketTools(database)
said = []
for status in ("Open", "open"):
    try:
        said.append(desk.count_tickets("Berlin", "P1", status))
    except ToolError as error:
        said.append(str(error))
said

# %% [markdown]
# ## Paste a value, or bind it
#
# The question marks in the statement **bind** a value: the engine gets the statement first and the value apart from it.
# The short way is to paste the value into the text. A model copies what a user typed, and a user can type anything.

# %% tags=["exercise"]
pasted = lesson.predict("pasted")
pasted

# %% tags=["solution"]
pasted = lesson.predict("pasted", answer="60", confidence="fairly sure")
pasted

# %%
team = "Berlin' OR '1'='1"
text = f"SELECT COUNT(*) FROM tickets WHERE team = '{team}' AND priority = 'P1' AND status = 'open'"
pasted_count = db.execute(text).fetchone()[0]
text, pasted_count

# %%
pasted.reveal(pasted_count)

# %% [markdown]
# Count the two halves by themselves, and what is in both; then bind the same text.

# %%
halves = ("team = 'Berlin'", "priority = 'P1' AND status = 'open'")
sizes = [db.execute(f"SELECT COUNT(*) FROM tickets WHERE {half}").fetchone()[0] for half in halves]
both = count("Berlin", "P1", "open")
f"{sizes[0]} + {sizes[1]} - {both} = {sum(sizes) - both}", f"bound: {count(team, 'P1', 'open')}"

# %% [markdown]
# ## For what no tool covers, a model writes the SQL
#
# Next week somebody asks for the average age of a ticket, and no tool has that. You can build one more tool, or let a
# model write the SQL itself: **text-to-SQL**. Read your log: the commonest questions get a tool each. For the rest a
# model may write SQL, and you treat that like SQL from a stranger. (What each design can answer and costs to keep is the
# first part of Go further.)
#
# ## Ten outputs, and two ways to run them
#
# Here is what a model might return, on good days and on bad ones. Models like to wrap code in a **fence** of three
# backticks, and to begin with WITH, which names a part of a query (a **CTE**, common table expression). Read the last
# two twice.

# %%
outputs = tickets.model_outputs()
move2.show_outputs(outputs)

# %% [markdown]
# An **executor** is the function that gets the model's text and runs it. The first one is that of many tutorials: it
# looks at how the text begins.

# %%
import sqlite3
from contextlib import closing


def run_naive(output):
    if not output.strip().upper().startswith("SELECT"):
        raise ValueError("this does not start with SELECT")
    with closing(sqlite3.connect(database)) as connection:
        return connection.execute(output).fetchall()

# %% tags=["exercise"]
naive = lesson.predict("naive")
naive

# %% tags=["solution"]
answer = ["fenced", "salaries", "age"]
naive = lesson.predict("naive", answer=answer, confidence="fairly sure")
naive

# %% [markdown]
# The runaway is not run here.

# %%
runs = {
    name: move2.attempt(run_naive, sql) if name != "runaway" else move2.NOT_RUN
    for name, sql in outputs.items()
}
naive_mistakes = move2.mistakes(runs)
move2.show_runs({"naive": runs})

# %%
naive.reveal(naive_mistakes)

# %% [markdown]
# The runaway counts the rows of six copies of the table, each joined with each of the others:

# %%
f"{60**6:,} rows, and nothing to stop it"

# %% [markdown]
# ## The engine knows what a statement does
#
# How a statement begins is a matter of spelling. What it does is known to the engine, and SQLite hands every read, call
# and write to a function of yours, the **authorizer**, before the first row moves. This one lets two kinds of thing
# pass and refuses everything it has not been told about.

# %%
TABLES = {"tickets"}
FUNCTIONS = {"count", "sum", "avg", "min", "max", "round", "lower", "upper"}
FUNCTIONS |= {"coalesce", "like", "date", "strftime"}


def allow(action, first, second, where, source):
    """Deny by default: `first` is the table of a read, `second` the name of a function."""
    reads = action == sqlite3.SQLITE_READ and first.lower() in TABLES
    calls = action == sqlite3.SQLITE_FUNCTION and second.lower() in FUNCTIONS
    fine = reads or calls or action == sqlite3.SQLITE_SELECT
    return sqlite3.SQLITE_OK if fine else sqlite3.SQLITE_DENY

# %% [markdown]
# Two things it cannot see: how long a query runs, and how much comes back. So the second executor has four layers: a
# connection that opens the file for reading only (`mode=ro`), the allow-list, a time limit (SQLite calls a handler of
# yours every 1,000 steps, and True stops the query), and a row cap. Saying that it has cut is the other half of a cap;
# you write that in Go further. Taking the fence off is convenience, not safety.

# %%
from time import monotonic

from course_lib.sql.guard import strip_fences


def run_guarded(output, max_rows=50, seconds=1.0):
    sql = strip_fences(output)
    deadline = monotonic() + seconds
    with closing(read_only(database)) as connection:  # 1
        connection.set_authorizer(allow)  # 2
        connection.set_progress_handler(lambda: monotonic() > deadline, 1000)  # 3
        return connection.execute(sql).fetchmany(max_rows)  # 4, half of it

# %% tags=["exercise"]
guarded = lesson.predict("guarded")
guarded

# %% tags=["solution"]
guarded = lesson.predict("guarded", answer=["age"], confidence="sure")
guarded

# %%
guarded_runs = {name: move2.attempt(run_guarded, sql) for name, sql in outputs.items()}
guarded_mistakes = move2.mistakes(guarded_runs, truth=[(5,)])
move2.show_runs({"naive": runs, "guarded": guarded_runs})

# %%
guarded.reveal(guarded_mistakes)

# %% [markdown]
# ## The guard as a library, for you and for the model
#
# The library's guard has the same layers and closes what a page of code leaves open, such as a single step of the engine
# that takes all the memory, or a row of a gigabyte. It can open a view without the table under it. And its refusals have
# two readers: you want to know which layer it was; the model, what it may do instead.

# %%
from course_lib.sql.guard import LESSON_FUNCTIONS, Guard, Refused

guard = Guard(tables={"tickets"}, functions=LESSON_FUNCTIONS)
try:
    guard.run(database, outputs["salaries"])
except Refused as refused:
    told = refused.layer, str(refused), refused.for_model
told

# %% [markdown]
# ## Explore: which layer stops what
#
# Take the allow-list away and see which outputs another layer still stops, and which one only the allow-list did. Take
# both away for "delete"; it is a copy. Then put them back and write the average age of a ticket without listing one more
# function: `strftime('%J', opened)` is a number of days.

# %%
move2.guard_explorer()

# %% [markdown]
# ## A false zero passes every layer
#
# Back to the last output. It is allowed, quick and small. It answers 0, and the head of support is told that nothing is
# open in Berlin. Another layer would not help: nothing about this query is dangerous. But the database knows that no
# ticket has the status "Open", and the question takes for granted that there are tickets.

# %%
from course_lib.corpora import sql_questions
from course_lib.sql.schema_card import make_views, schema_card
from course_lib.sql.suspicion import suspicions

make_views(database, sql_questions.TICKET_VIEWS)
card = schema_card(db, sql_questions.TICKET_MEANINGS, ["tickets", "open_tickets"])
[str(doubt) for doubt in suspicions(outputs["wrong"], [(0,)], card)]

# %% [markdown]
# Two pieces of code did that. A **schema card** describes the tables for the model, and it is generated: meanings that
# somebody wrote once, types, and the values of every column that has few. `suspicions` takes the filter values out of
# the SQL and looks for them on the card. Here is the card. In the prompt it shows the model how a value is spelled, and
# the **view** below the table has a name that says what a filter would have to spell. What the assistant may not read,
# such as the table of salaries, is not on the card.

# %%
print(card.text())

# %% [markdown]
# ## Your turn: what opened this week
#
# *Four minutes, on paper.* A team lead asks: "Which Berlin P1 tickets opened this week are still open?" Your assistant
# has `count_tickets` and nothing else. What do you add, and what does its result have to say so that the model cannot
# give a false answer? Write it down before you open the rubric.
#
# <details><summary>Rubric: a point for each that you have</summary>
#
# - A second fixed tool that lists tickets, with the same three checked arguments; not text-to-SQL, since team leads will
#   ask this every week.
# - "This week" is an argument with a few allowed values. Code turns it into two dates; a model does not know what day it
#   is.
# - The result states the window it used, so that the answer can say it.
# - The result states how many there are in all, how many are shown, and whether it was cut.
# - An empty list is a result like any other: "none, of all that opened since the 18th". Nothing in it invites a guess.
# - You have asked what "this week" means to the team lead: since Monday, or since this day last week.
#
# </details>
#
# Ours has the first five. The true answer is none: one Berlin P1 ticket was opened in the window, and it is closed.

# %%
this_week = desk.list_tickets("Berlin", "P1", status="open", opened="this week")
closed_too = desk.list_tickets("Berlin", "P1", opened="this week")
print(this_week, closed_too, sep="\n\n")

# %% [markdown]
# ## The rule, the number, your record
#
# **The rule.** A question over all rows goes to the table: by a fixed tool where you can foresee it, by guarded SQL
# where you cannot. A guard stops what is harmful; what is wrong is made rarer by a card, by honest names, and by a check
# of the filter values.
#
# **The number to track.** Execution accuracy: the share of labelled questions whose SQL returns what the right SQL
# returns. Beside it, how many harmless queries the guard refuses. On the ten outputs:

# %%
right = [name for name, run in guarded_runs.items() if run.rows == [(5,)]]
asks_the_count = [name for name, sql in outputs.items() if "COUNT(*)" in sql and name != "runaway"]
refused = [n for n, run in guarded_runs.items() if run.rows is None and n not in move2.HARMFUL]
harmless = len(outputs) - len(move2.HARMFUL)
f"right: {len(right)} of {len(asks_the_count)}, refused for nothing: {len(refused)} of {harmless}"

# %%
lesson.summary()

# %% [markdown]
# ## Go further: two designs, and what each costs to keep
#
# *Four minutes.* Fixed tools, or a model that writes the SQL. Before you read ours, write a few words on each into the
# quotes: what it can answer, who writes the SQL, what can go wrong, what it costs to keep. The next cell shows both, for
# the rows in which you have written.

# %% tags=["exercise"]
my_tools = {"answers": "", "writes": "", "wrong": "", "keep": ""}
my_sql = {"answers": "", "writes": "", "wrong": "", "keep": ""}

# %% tags=["solution"]
my_tools = {"answers": "what was foreseen", "writes": "we do", "wrong": "wrong argument", "keep": "code"}
my_sql = {"answers": "anything", "writes": "the model", "wrong": "anything", "keep": "a guard"}

# %%
move2.side_by_side(my_tools, my_sql)

# %% [markdown]
# ## Go further: the connection is read-only, so why the rest?
#
# *Four minutes.* The authorizer is the layer with the most lines, and somebody will want it gone: the connection is
# read-only, after all. Six statements, through `mode=ro` alone:

# %% tags=["exercise"]
read_only_alone = lesson.predict("read_only")
read_only_alone

# %% tags=["solution"]
answer = ["TEMP", "PRAGMA"]
read_only_alone = lesson.predict("read_only", answer=answer, confidence="fairly sure")
read_only_alone

# %%
trials = move2.through_read_only(database, allow)
carried_out = [trial.name for trial in trials if trial.error is None]
move2.show_trials(trials)

# %%
read_only_alone.reveal(carried_out)

# %% [markdown]
# The two new files are gone again; on your server they would have stayed. No layer is enough: read-only missed four of
# six, and the allow-list cannot stop a query that never ends.

# %% [markdown]
# ## Go further: when is a zero a reason to doubt?
#
# *Four minutes.* If every zero were doubted, nobody would look any more. Four queries, all of them empty or zero:

# %%
zeros = move2.ZEROS
list(zeros.values())

# %% tags=["exercise"]
true_zero = lesson.predict("true_zero")
true_zero

# %% tags=["solution"]
answer = ["capital", "name", "this week"]
true_zero = lesson.predict("true_zero", answer=answer, confidence="a guess")
true_zero

# %%
doubts = {name: suspicions(sql, db.execute(sql).fetchall(), card) for name, sql in zeros.items()}
suspected = [name for name, found in doubts.items() if found]
{name: [str(doubt) for doubt in found] for name, found in doubts.items()}

# %%
true_zero.reveal(suspected)

# %% [markdown]
# ## Go further: a row cap that tells
#
# *Four minutes.* "List every open P1 ticket" has more rows than a prompt should take. If the cap is silent, the model
# hands on a part as the whole. Take at most one row more than you show: that one tells you, and nobody has to count the
# rest. Replace the `____`.

# %% tags=["exercise"]
from itertools import islice


def capped(rows, max_rows):
    """Return {"rows": at most max_rows rows, "truncated": True or False} for any iterator of rows."""
    read = list(islice(rows, max_rows + ____))
    return {"rows": ____, "truncated": ____}

# %% tags=["solution"]
from itertools import islice

# %% tags=["solution"] solves="capped"
pass

# %%
lesson.check("capped", capped)

# %%
# lesson.hint("capped")
# lesson.solution("capped")

# %% [markdown]
# ## Go further: one more layer
#
# *Six minutes.* Personnel may publish what salaries are, and not whose. So `amount` may be read and `employee` must not,
# anywhere in a query. The authorizer is told the column of each read; `first` is the table, `second` the column. Write
# the layer. Selects and functions may pass; everything else is refused.

# %%
COLUMNS = move2.COLUMNS
COLUMNS

# %% tags=["exercise"]
def columns_only(action, first, second, where, source):
    if action == sqlite3.SQLITE_READ:
        fine = ____
    else:
        fine = action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_FUNCTION)
    return sqlite3.SQLITE_OK if fine else sqlite3.SQLITE_DENY

# %% tags=["solution"] solves="layer"
pass

# %%
lesson.check("layer", columns_only)

# %%
# lesson.hint("layer")
# lesson.solution("layer")

# %% [markdown]
# ## Go further: whose order is it?
#
# *Six minutes.* Some facts change by the minute and live behind a service: where a parcel is. The tool `order_status`
# takes one argument from the model, the order's number. Who is asking comes from the session that your code has checked,
# never from the model. Here is a real service on this machine; it is stopped further down.

# %%
from course_lib.sql.orders import OrderService, Session, order_status

service = OrderService()
service.start()
customer = Session("C-17")
ids = ["O-1001", "O-1002", "O-1001/../O-2001", " O-1001"]
move2.ask_orders(customer, service, ids)

# %% tags=["exercise"]
injected = lesson.predict("injected")
injected

# %% tags=["solution"]
injected = lesson.predict("injected", answer="another customer's", confidence="a guess")
injected

# %%
someone_elses = order_status(customer, service.base_url, "O-2001")
does_not_exist = order_status(customer, service.base_url, "O-9999")
same_words = someone_elses == does_not_exist
its_owner_sees = order_status(Session("C-42"), service.base_url, "O-2001")
its_owner_sees, someone_elses, same_words

# %%
injected.reveal(same_words)

# %% [markdown]
# A service can also fail. Six failures get one of two messages, and neither is "no such order": a model that is told
# that when nobody answered will tell the customer that there is none.

# %%
move2.ask_failing(customer, service, "O-1001")

# %% [markdown]
# ## Go further: what each repair repairs
#
# *Eight minutes.* Fifty labelled questions over two schemas, the tickets and a ledger of invoices whose columns are
# named as badly as in real life. The model is a **stand-in**: it reads the prompt, makes the mistake in its script
# unless the prompt holds what prevents it, and mends it when it is told. So the table shows what each repair is good
# for. It cannot show how often a real model errs, and there is no rate in it.

# %% tags=["exercise"]
rungs = lesson.predict("ladder")
rungs

# %% tags=["solution"]
rungs = lesson.predict("ladder", answer="double count", confidence="a guess")
rungs

# %%
climbed = move2.ladder()
not_repaired = move2.left_over(climbed)
move2.show_ladder(climbed)

# %%
rungs.reveal(not_repaired)

# %% [markdown]
# The rungs stand in the order of what they cost to keep: values are generated, meanings take an hour with somebody who
# knows the schema, views and examples take care from then on. The gains count our scripted mistakes, not yours. Here is
# one question on the first rung and on the last: billed in April by the day of entry, and by the ledger's day.

# %%
move2.show_answer("i02", "bare schema")

# %%
move2.show_answer("i02", "+ suspicion")

# %% [markdown]
# And a question on which only suspicion helps: the card does not list the name that was typed. The model is told once,
# and asked again.

# %%
suspicion_repairs = climbed.repaired("+ suspicion")
move2.show_answer(suspicion_repairs[0], "+ suspicion")

# %% [markdown]
# Suspicion has a price as well. On these questions the doubt was raised and the result was right all the same:

# %%
by_id = {question.id: question.text for question in sql_questions.sql_questions()}
[by_id[id] for id in climbed.false_warnings()]

# %% [markdown]
# ## Go further: many queries are right
#
# *Four minutes.* How do you know that generated SQL is right? Not by comparing it with the right SQL: there are a dozen
# ways to write a count. **Execution accuracy** compares the results.

# %%
PER_TEAM = "SELECT team, COUNT(*) FROM tickets WHERE status = 'open' GROUP BY team"
expected = db.execute(PER_TEAM).fetchall()
expected

# %% tags=["exercise"]
same_result = lesson.predict("same_result")
same_result

# %% tags=["solution"]
answer = ["other order", "columns swapped"]
same_result = lesson.predict("same_result", answer=answer, confidence="fairly sure")
same_result

# %%
from course_lib.sql import accuracy

results = {
    "other order": expected[::-1],
    "float": [(team, float(n)) for team, n in expected],
    "row twice": expected + expected[:1],
    "columns swapped": [(n, team) for team, n in expected],
    "team missing": expected[1:],
}
counted_right = [name for name, got in results.items() if accuracy.same_result(got, [expected])]
same_result.reveal(counted_right)

# %% [markdown]
# Published scores, to set hopes by: 91.2 % on Spider 1.0, 73.0 % on BIRD, and 21.3 % for the best setup that the authors
# of Spider 2.0 had in late 2024 (Lei et al., ICLR 2025), on tasks from real companies. On 26 September 2026 the top four
# for Spider 2.0-Snow stood at 94 to 97 %, with metadata and documentation prepared for them. Nobody has prepared your
# schema. Card and views are that preparation, and labelled questions of your own say whether it was enough.
#
# ## Go further: the same, with a live model
#
# *Two minutes.* With a key in the environment this cell asks a live model and spends at most five cents. Without one,
# nothing is sent, and it says what would be. No part of this course has been tried with a live model yet.

# %% tags=["nbval-ignore-output"]
move2.ask_live()

# %% [markdown]
# PostgreSQL has other boundaries: roles, row-level security, and a few things that look like boundaries. The optional
# notebook `lab_postgres` tries them on a real server.

# %%
db.close()
desk.close()
lesson.summary()
