# %% [markdown]
# # On a server, ask who runs the statement
#
# *PostgreSQL lab: 40 minutes, optional, after Move 2. You need Python, and no key, no network, no graphics card. The
# server is an extra: `python course.py lab --engines` brings it. Without it the notebook runs, and each cell says so.*
#
# When you are through, you can
#
# - give a model's SQL a role that reads two views and nothing else,
# - say which limits a session can lift by itself, and which it cannot,
# - write a row policy that generated SQL does not get around, and find the hole in one that it does,
# - decide between one login per tenant and fixed tools.

# %%
from course_lib.lessons import lab_postgres as lab
from course_lib.lessons.lab_postgres import lesson

# %% [markdown]
# ## The desk has moved to PostgreSQL
#
# The support desk's 60 tickets and its one salary are on a server now, beside the data of three teams: Berlin, Munich
# and Lisbon. The assistant writes SQL, as in Move 2, and SQLite's authorizer stayed behind with SQLite. If the new walls
# have a hole, Munich's tickets are read out in Berlin, or they are gone.
#
# The next cell starts a server that belongs to this notebook. It ends with the last cell, or with the kernel, also when
# that is killed. For a server of your own put its address in place of `None`: everything is made in a schema and in
# roles with a random ending, and removed again.

# %%
URI = None  # or "postgresql://user:password@host/database"
desk = lab.open_desk(URI)

# %% tags=["nbval-ignore-output"]
lab.show_desk(desk)

# %% [markdown]
# ## A role starts with nothing, and gets two views
#
# The login `reader` was made for the assistant. It owns nothing. The owner of the tables has granted it this, and
# nothing else:
#
#     GRANT USAGE ON SCHEMA desk TO reader;
#     GRANT SELECT ON open_tickets, closed_tickets TO reader;
#
# `postgres.allow_reading` runs such statements with the names quoted. See what the role can do.

# %% tags=["nbval-ignore-output"]
lab.run(
    desk,
    "reader",
    "SELECT count(*) FROM open_tickets",
    "SELECT count(*) FROM tickets",
    "SELECT * FROM salaries",
    "DELETE FROM open_tickets",
)

# %% [markdown]
# The views read tickets, and the reader may not: a view looks at its tables with its owner's rights. Keep that in mind,
# it comes back.

# %% [markdown]
# ## Two limits come with the login
#
# A statement can also run too long, and nobody wants to find out what the grants forgot. So the reader's login has a
# time limit, and its transactions are read-only:
#
#     ALTER ROLE reader SET statement_timeout = '200ms';
#     ALTER ROLE reader SET default_transaction_read_only = on;

# %% tags=["exercise"]
limits = lesson.predict("limits")
limits

# %% tags=["solution"]
limits = lesson.predict("limits", answer=["SELECT INTO"], confidence="a guess")
limits

# %% tags=["nbval-ignore-output"]
tried = lab.try_each(desk, "reader", lab.OWN_LIMITS)
tried

# %% tags=["nbval-ignore-output"]
carried_out = tried.carried_out
lab.reveal_where_it_ran(limits, carried_out)

# %% [markdown]
# What does a lifted limit allow? The same nap, before and after a SELECT that any check for SELECT lets through.

# %% tags=["nbval-ignore-output"]
nap = "SELECT pg_sleep(0.3)"
lab.run(desk, "reader", nap, *lab.OWN_LIMITS["set_config"], nap)

# %% [markdown]
# ## "We look at the first word"
#
# Another assistant shall also close tickets, so its login, `clerk`, may read and change tickets and create tables. Its
# builders look at the first word of each statement, so that only harmless ones run.

# %% tags=["exercise"]
prefix = lesson.predict("prefix")
prefix

# %% tags=["solution"]
prefix = lesson.predict("prefix", answer=["EXPLAIN ANALYZE"], confidence="fairly sure")
prefix

# %% tags=["nbval-ignore-output"]
as_clerk = lab.try_each(desk, "clerk", lab.FIRST_WORDS)
as_clerk

# %% tags=["nbval-ignore-output"]
wrote = as_clerk.changed
lab.reveal_where_it_ran(prefix, wrote)

# %% [markdown]
# Now the same statements as the reader, with its read-only default switched off, and two more: a program on the server's
# machine as a source of rows, and a table that only lives as long as the session. Look at what stops them, and at the
# one that nothing stops.

# %% tags=["nbval-ignore-output"]
more = {
    "COPY FROM PROGRAM": [lab.PROGRAM],
    "SELECT INTO TEMP": ["SELECT * INTO TEMP copied FROM open_tickets"],
}
off = ["SET default_transaction_read_only = off"]
lab.try_each(desk, "reader", {**lab.FIRST_WORDS, **more}, before=off)

# %% [markdown]
# The grants stop all that reaches for tickets. The temporary table is no gap in your grants but a gift to everybody:
# PUBLIC may make temporary tables in a database, and call most functions, until the database's owner takes that back
# with `REVOKE TEMPORARY ON DATABASE … FROM PUBLIC`. And COPY FROM PROGRAM is a shell on the server for a superuser, one
# more reason why the assistant never connects as one.

# %% [markdown]
# ## The clerk gets read-only transactions too

# %% tags=["exercise"]
around = lesson.predict("around")
around

# %% tags=["solution"]
around = lesson.predict("around", answer=["the WITH"], confidence="sure")
around

# %% tags=["nbval-ignore-output"]
in_read_only = lab.try_each(desk, "clerk", lab.AROUND, before=[lab.READ_ONLY])
in_read_only

# %% tags=["nbval-ignore-output"]
deleted = in_read_only.changed
lab.reveal_where_it_ran(around, deleted)

# %% [markdown]
# PostgreSQL's manual calls a read-only transaction "a high-level notion of read-only that does not prevent all writes
# to disk". Use one, and do not count on it where the role may write.

# %% [markdown]
# ## One call, one text, one semicolon
#
# In Move 2 Python's sqlite3 would not take two statements in one call.

# %% tags=["exercise"]
two = lesson.predict("two")
two

# %% tags=["solution"]
two = lesson.predict("two", answer="an error", confidence="sure")
two

# %% tags=["nbval-ignore-output"]
ran = lab.run(desk, "clerk", lab.TWO)
ran

# %% tags=["nbval-ignore-output"]
left = ran.left
lab.reveal_where_it_ran(two, left)

# %% [markdown]
# ## Ask through a cursor, and in a connection of its own
#
# `postgres.run_as(uri, login, sql, max_rows, seconds)` puts the second walls together: a connection for each query, so
# that no setting is carried into the next; a read-only transaction; a cursor, which takes one reading statement and
# hands over only as many rows as you fetch; the time limit set by code, and a cancellation from our side should the
# server not keep it. Again as clerk, who may delete:

# %% tags=["nbval-ignore-output"]
lab.ask(desk, "clerk", lab.TWO)

# %% tags=["nbval-ignore-output"]
lab.ask(desk, "clerk", lab.DELETE)

# %% [markdown]
# And as reader. A cut list says so, and a refusal says to the model what it may read.

# %% tags=["nbval-ignore-output"]
lab.ask(desk, "reader", "SELECT id, priority FROM open_tickets ORDER BY id", max_rows=3)

# %% tags=["nbval-ignore-output"]
lab.ask(desk, "reader", "SELECT * FROM salaries")

# %% tags=["nbval-ignore-output"]
lab.ask(desk, "reader", "SELECT set_config('statement_timeout', '0', true), pg_sleep(9)")

# %% [markdown]
# ## Every team sees its own rows
#
# Grants speak of tables, and teams share one. PostgreSQL's answer is row-level security: a **policy** on the table adds a
# condition to every statement. The usual one compares each row with a setting, and the application sets it for each
# request, from the identity it has verified.

# %% tags=["nbval-ignore-output"]
lab.protect(desk, lab.BY_SETTING)

# %% tags=["nbval-ignore-output"]
lab.run(desk, "app", lab.COUNT, lab.SET_BERLIN, lab.COUNT)

# %% [markdown]
# Without a setting there is no row, with `berlin` there are Berlin's 20. So far the application has written the SQL. Now
# the model writes it, after it has read a ticket that told it how:

# %%
print(lab.GENERATED)

# %% tags=["exercise"]
setting = lesson.predict("setting")
setting

# %% tags=["solution"]
setting = lesson.predict("setting", answer="nobody's", confidence="fairly sure")
setting

# %% tags=["nbval-ignore-output"]
generated = lab.run(desk, "app", lab.SET_BERLIN, "BEGIN READ ONLY", lab.GENERATED)
generated

# %% tags=["nbval-ignore-output"]
by_setting = generated.seen
lab.reveal_where_it_ran(setting, by_setting)

# %% [markdown]
# ## Compare with something else
#
# Every team gets a login of its own: `berlin`, `munich`, `lisbon`. Your code has verified who is asking and opens the
# connection with that team's login, and the policy compares each row with `session_user`, the login that connected.
# `postgres.one_tenant_per_login` writes such a policy.

# %% tags=["nbval-ignore-output"]
lab.protect(desk, lab.BY_LOGIN)

# %% tags=["exercise"]
login = lesson.predict("login")
login

# %% tags=["solution"]
login = lesson.predict("login", answer="SET ROLE", confidence="a guess")
login

# %% tags=["nbval-ignore-output"]
as_berlin = lab.try_each(desk, "berlin", lab.OTHERS)
as_berlin

# %% tags=["nbval-ignore-output"]
shown_to_berlin = as_berlin.others_than("berlin")
lab.reveal_where_it_ran(login, shown_to_berlin)

# %% [markdown]
# ## The application wants its policy back

# %% tags=["exercise"]
either = lesson.predict("either")
either

# %% tags=["solution"]
either = lesson.predict("either", answer="Berlin's", confidence="sure")
either

# %% tags=["nbval-ignore-output"]
lab.protect(desk, lab.BY_LOGIN, lab.BY_SETTING)

# %% tags=["nbval-ignore-output"]
beside = lab.run(desk, "berlin", lab.GENERATED)
beside

# %% tags=["nbval-ignore-output"]
either_policy = beside.seen
lab.reveal_where_it_ran(either, either_policy)

# %% [markdown]
# One word closes it: the application's policy is for the application's role. Find the `TO` in the third line, and
# compare the result.

# %% tags=["nbval-ignore-output"]
lab.protect(desk, lab.BY_LOGIN, lab.BY_SETTING_TO_APP)

# %% tags=["nbval-ignore-output"]
lab.run(desk, "berlin", lab.GENERATED)

# %% [markdown]
# ## A view with an honest name
#
# Move 2 recommends views such as open_tickets: the model cannot misspell a filter that is in the view. So berlin gets it.

# %% tags=["exercise"]
view = lesson.predict("view")
view

# %% tags=["solution"]
view = lesson.predict("view", answer="its own", confidence="sure")
view

# %% tags=["nbval-ignore-output"]
count_open = "SELECT tenant, count(*) FROM open_tickets GROUP BY tenant ORDER BY tenant"
granted = [lab.BY_LOGIN, lab.BY_SETTING_TO_APP, "GRANT SELECT ON open_tickets TO berlin"]
lab.protect(desk, *granted)
in_view = lab.run(desk, "berlin", count_open)
in_view

# %% tags=["nbval-ignore-output"]
through_view = in_view.seen
lab.reveal_where_it_ran(view, through_view)

# %% [markdown]
# With `security_invoker` the view reads with the rights of whoever asks:

# %% tags=["nbval-ignore-output"]
lab.protect(desk, *granted, "ALTER VIEW open_tickets SET (security_invoker = true)")
lab.run(desk, "berlin", count_open)

# %% [markdown]
# That has a price, and the reader pays it: it was granted the view and not the table, and now it needs both. A view that
# hides a table and a view that keeps its policies are two different views.

# %% tags=["nbval-ignore-output"]
lab.run(desk, "reader", count_open)

# %% [markdown]
# ## Who is not bound by any of this

# %% tags=["exercise"]
exempt = lesson.predict("exempt")
exempt

# %% tags=["solution"]
exempt = lesson.predict("exempt", answer=["owner"], confidence="fairly sure")
exempt

# %% tags=["nbval-ignore-output"]
counted = lab.who_sees_all(desk)
counted

# %% tags=["nbval-ignore-output"]
see_all = counted.all_of_them
lab.reveal_where_it_ran(exempt, see_all)

# %% [markdown]
# ## Explore: a login, a statement, and the wall between them
#
# Both policies are in place, each with its TO, and the clerk has one that gives it every ticket. Find a statement that
# the grants do not stop and something else does; then one that nothing stops and that you would not want. While the
# server runs, you can also type SQL of your own.

# %% tags=["nbval-ignore-output"]
lab.explore(desk)

# %% [markdown]
# ## Your turn: the grants
#
# A second assistant gets the login `newcomer`, which was granted nothing. It shall read the views open_tickets and
# closed_tickets of the schema desk, and do nothing else. Write what the owner has to run.

# %% tags=["exercise"]
grants = """
____
"""

# %% tags=["solution"] solves="grants"
pass

# %%
lesson.check("grants", grants)

# %%
# Stuck? Take the # away from one of these lines and run the cell.
# lesson.hint("grants")
# lesson.solution("grants")

# %% [markdown]
# ## Your turn: the policy
#
# A fresh table tickets has row-level security and one policy, by_setting, for app. Write one more policy, for the logins
# berlin, munich and lisbon: each reads its own tickets, whatever its SQL has set. A newcomer, who may read the table
# too, sees none, and app sees what it saw.

# %% tags=["exercise"]
policy = """
CREATE POLICY own_tickets ON tickets
  FOR SELECT TO ____
  USING (____);
"""

# %% tags=["solution"] solves="policy"
pass

# %%
lesson.check("policy", policy)

# %%
# Stuck? Take the # away from one of these lines and run the cell.
# lesson.hint("policy")
# lesson.solution("policy")

# %% [markdown]
# ## Your turn: forty thousand customers
#
# *Four minutes, on paper.* The assistant becomes a product. It serves 40 firms with 40,000 users, who ask about their
# own orders; what one user has ordered is not for a colleague's eyes. Somebody proposes a login for every user, somebody
# else a policy on `app.user`. Decide who writes which SQL, as whom it runs, and what it costs to keep. Write down your
# answer and your reasons before you read on.
#
# <details><summary>Rubric: a point for each that you have</summary>
#
# - Rows that belong to single users go through fixed tools: the SQL is yours, the user comes from the verified session
#   and never from the model, and the model chooses a tool and its values.
# - A policy on `app.user` may stand behind these tools, against a WHERE that you forgot. It does not make generated SQL
#   safe, because generated SQL can set `app.user`.
# - Generated SQL, if at all, is for questions about a whole firm, with one login for each firm: 40 logins, each with its
#   own connections, a policy on `session_user`, and views with `security_invoker`.
# - 40,000 logins are 40,000 passwords, and connections that cannot be shared by a pool, since each belongs to its login.
# - What is granted is listed, and a test runs the attacks of this notebook as each kind of login, after every change of
#   the schema: a new view has its owner's rights until somebody says otherwise.
#
# </details>
#
# ## The rule, the number, your record
#
# **The rule.** What a statement may do is decided by the login it runs as, so choose the login in code and grant it
# little. Whatever the session itself can set is a second wall.
#
# **The number to track.** How many statements of your attack list change something or show a foreign row when they are
# run as the assistant's own login. It has to be 0 after every change of the schema.

# %% tags=["nbval-ignore-output"]
lab.close_desk(desk)

# %% tags=["nbval-ignore-output"]
lesson.summary()
