"""A guard for SQL that a model wrote: whatever the text holds, it only reads, only what is allowed, and soon ends.

The module goes the way of its notebook: strip the fences, open read-only, allow by a list inside the engine, limit
the time, limit the sizes, cap the rows and say so. Each layer stops what the others let through, and a refusal names
the layer, tells the learner what happened and the model what it may do instead.
"""

import marshal
import re
import sqlite3
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property, partial
from math import isfinite
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import Any, Literal, TypeAlias

from course_lib.sql.database import opened, read_only

Layer: TypeAlias = Literal[
    "one statement", "read-only connection", "allow-list", "time limit", "size limit", "the SQL itself", "the database"
]


class Refused(ValueError):
    """An output of the model that gave no result. As text it is a sentence for a person.

    layer       the wall that stopped it; or "the SQL itself" where SQLite cannot read it, or "the database" where the
                file is locked or damaged
    for_model   the same as a message that the model can act on: what was refused, and what is allowed
    """

    def __init__(self, layer: Layer, reason: str, advice: str) -> None:
        self.layer: Layer = layer
        self.for_model = f"{reason} {advice}"
        super().__init__(reason if layer.startswith("the ") else f"Stopped by the layer “{layer}”: {reason}")


# --- Strip the fences -------------------------------------------------------------------------------------------

FENCED = re.compile(r"^[ \t]*```[ \t]*(?:(?:sqlite3?|sql)\b)?(.*?)(?:```|\Z)", re.IGNORECASE | re.DOTALL | re.MULTILINE)


def strip_fences(model_output: str) -> str:
    """Return the SQL of a model's output: what stands in its fence, where it has one, else the whole text.

    Two fences become two statements, which are then refused: nobody can say which of them was meant.

    >>> strip_fences("Here it is:\\n```sql\\nSELECT 1\\n```")
    'SELECT 1'
    """
    text = model_output.strip()
    if "```" not in text:
        return text
    blocks = [block.strip() for block in FENCED.findall(text) if block.strip()]
    return ";\n".join(blocks) if blocks else text.removesuffix("```").rstrip()


# SQLite's own words: an identifier is ASCII letters, digits, _ and $, and every character outside ASCII.
TOKEN = re.compile(
    r"""(?P<skip> [ \t\n\f\r\ufeff]+ | --[^\n]* | /\*.*?(?:\*/|\Z) )
      | (?P<quoted> "(?:[^"]|"")*" | `(?:[^`]|``)*` | '(?:[^']|'')*' | \[[^\]]*\] )
      | [A-Za-z_\x80-\U0010ffff][\w$\x80-\U0010ffff]* | \d[\w.]* | .""",
    re.VERBOSE | re.DOTALL,
)


IDENTIFIER = re.compile(r"""["A-Za-z_\x80-\U0010ffff]""")  # how a name among the tokens begins


def tokens(sql: str) -> list[str]:
    """Return the words and signs of a statement in lower case, without comments. A quoted one begins with a quote.

    >>> tokens('SELECT "Team" -- why\\nFROM t;')
    ['select', '"team', 'from', 't', ';']
    """
    found = []
    for match in TOKEN.finditer(sql):
        if match["quoted"]:
            quote, inside = match[0][0], match[0][1:-1]
            found.append('"' + folded(inside.replace(quote * 2, quote) if quote != "[" else inside))
        elif not match["skip"]:
            found.append(folded(match[0]))
    return found


def folded(name: str) -> str:
    """Return a name as SQLite compares it: without case in ASCII, and every other character as it is.

    >>> folded("Tickets"), folded("ÄRA")
    ('tickets', 'Ära')
    """
    return name.lower() if name.isascii() else "".join(sign.lower() if sign.isascii() else sign for sign in name)


# --- Allow by a list: SQLite asks for every table, column and function, and everything not on the list is denied -----

LESSON_FUNCTIONS = frozenset(
    {"count", "sum", "avg", "min", "max", "round", "lower", "upper", "coalesce", "like", "date", "strftime"}
)

# Reviewed for what they cost and what they reach: each only computes from its arguments, in time linear in their
# length (but for the SEARCHING ones, which are counted, see below). Left out on purpose: load_extension, readfile,
# writefile, edit and fts3_tokenizer (they reach outside); zeroblob, randomblob and hex (they make large values of
# nothing); printf and format (a precision of two thousand million keeps one call busy for ten seconds); trim, ltrim
# and rtrim (their time is the product of both lengths: a second in one call); median (it keeps every value in
# memory); json_* (a language of its own); random (an answer that nobody can check again). Add what your questions
# need, and only that: Guard(tables, DEFAULT_FUNCTIONS | {"json_extract"}).
DEFAULT_FUNCTIONS = LESSON_FUNCTIONS | {
    *("total", "group_concat", "string_agg"),
    *("abs", "sign", "ceil", "ceiling", "floor", "trunc", "mod", "sqrt", "pow", "power"),
    *("length", "substr", "substring", "instr", "replace", "concat", "concat_ws", "glob", "unicode"),
    *("ifnull", "nullif", "iif", "if", "typeof", "likely", "unlikely"),
    *("time", "datetime", "julianday", "unixepoch", "timediff", "current_date", "current_time", "current_timestamp"),
    *("row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile", "lag", "lead"),
    *("first_value", "last_value", "nth_value"),
}

# These look for one text in another, and no time limit reaches into a call: 25 ms each at the longest value allowed.
SEARCHING = frozenset({"like", "glob", "instr", "replace"})
MAX_SEARCHES = 40

OK, DENY = sqlite3.SQLITE_OK, sqlite3.SQLITE_DENY  # short ways, since they are taken for every column of a statement
READ, CALL = sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION
QUERY = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE})

WOULD = {
    sqlite3.SQLITE_DELETE: "delete rows",
    sqlite3.SQLITE_INSERT: "insert rows",
    sqlite3.SQLITE_UPDATE: "change rows",
    sqlite3.SQLITE_PRAGMA: "use a PRAGMA",
    sqlite3.SQLITE_ATTACH: "open another database file (ATTACH or VACUUM)",
    sqlite3.SQLITE_DETACH: "detach a database",
    sqlite3.SQLITE_TRANSACTION: "begin or end a transaction",
    sqlite3.SQLITE_SAVEPOINT: "set a savepoint",
}


@dataclass
class AllowList:
    """SQLite's authorizer: it is asked while a statement is compiled, once for each thing that the statement would do.

    `denied` keeps (layer, reason) of the first denial, for SQLite itself says only "not authorized".
    """

    tables: Collection[str]
    functions: Collection[str]
    existing: frozenset[str]  # every name in the database
    parts: frozenset[str] = frozenset()  # of the statement's WITH
    denied: tuple[Layer, str] | None = None
    searches: int = 0

    def begin(self, parts: frozenset[str]) -> None:
        """Forget the statement before; `parts` are the names in the WITH of the next one."""
        self.parts, self.denied, self.searches = parts, None, 0

    def ask(self, action: int, first: str | None, second: str | None, database: str | None, within: str | None) -> int:
        """Return SQLITE_OK or SQLITE_DENY. An exception here would deny as well, but without a word of explanation."""
        if action == READ:  # a table and a column; the column is "" where rows are only counted
            if first in self.tables or folded(first or "") in self.tables:
                return OK
            if not second and database is None and folded(first or "") in self.parts - self.existing:
                return OK  # count(*) over a part of the WITH, which SQLite asks for by that name
            what = f"{first}.{second}" if second else first
            return self._deny("allow-list", f"The statement reads {what}, and {first} is not on the list of tables.")
        if action in QUERY:
            return OK
        if action == CALL:
            return self._ask_function(folded(second or ""))
        if first and first.lower().startswith("sqlite_"):
            # also what SQLite asks where a virtual table or table-valued function is used for the first time
            return self._deny("allow-list", "The statement would change the schema, or use a function as a table.")
        return self._deny("allow-list", f"The statement would {WOULD.get(action, 'do more than read')}.")

    def _ask_function(self, name: str) -> int:
        if name not in self.functions:
            return self._deny("allow-list", f"The function {name} is not on the list of functions.")
        self.searches += name in SEARCHING
        if self.searches > MAX_SEARCHES:
            return self._deny("size limit", f"The statement searches texts in more than {MAX_SEARCHES} places.")
        return OK

    def _deny(self, layer: Layer, reason: str) -> int:
        self.denied = self.denied or (layer, short(reason))
        return DENY


def short(text: str, limit: int = 300) -> str:
    """Return a text of at most `limit` characters, since it may quote what the model wrote."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


# --- Limit the sizes ----------------------------------------------------------------------------------------------

MAX_SQL = 20_000  # characters: the longest of 357 real questions needs 415
MAX_COPIED = 50_000  # tokens, see copied_tokens
MAX_PARTS = 100  # of a WITH
STAR = 100  # a * stands for every column

# No time limit reaches into SQLite's compiler, or into one instruction of its machine. What these can cost is bounded
# by the size of what they are given; a text of n characters can cost n² in one call of instr.
LIMITS = {
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 100,  # bytes; the time is the pattern's length times the text's
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 4 * MAX_SQL,  # bytes
    sqlite3.SQLITE_LIMIT_COLUMN: 200,  # of a result; each may hold a longest value
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 500,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 100,
    sqlite3.SQLITE_LIMIT_VDBE_OP: 100_000,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}


def copied_tokens(words: Sequence[str]) -> int:
    """Return about how many tokens SQLite compiles once it has copied each part of a WITH to where it is used.

    SQLite up to 3.51 copies without a bound (seen; 3.54 stops): twenty parts that each use the one before twice are 700
    characters of text, a million copies and a gigabyte of memory before the first time limit is looked at.

    >>> copied_tokens(tokens("WITH a AS (SELECT 1), b AS (SELECT * FROM a, a) SELECT 1 FROM b, b"))
    456
    """
    heads = parts(words)
    if len(heads) > MAX_PARTS:
        return MAX_COPIED + 1
    own: Counter[str] = Counter()
    uses: dict[str, Counter[str]] = {name: Counter() for name, _, _ in heads}
    for name, start, end in heads:
        own[name] += weight(words[start:end])
        uses[name].update(used for used in map(bare, words[start:end]) if used in uses and used != name)
    sizes = dict.fromkeys(uses, 0)
    for _ in uses:  # a part that uses a part that uses a part: so often at most
        for name in uses:
            inside = sum(count * sizes[used] for used, count in uses[name].items())
            sizes[name] = min(own[name] + inside, MAX_COPIED + 1)
    return weight(words) + sum(sizes.get(bare(word), 0) for word in words)


def parts(words: Sequence[str]) -> list[tuple[str, int, int]]:
    """Return the parts of every WITH in a statement: name, and where the tokens between its brackets begin and end.

    >>> parts(tokens("WITH a AS (SELECT 1), b (x) AS MATERIALIZED (VALUES (2)) SELECT * FROM a, b"))
    [('a', 4, 6), ('b', 15, 19)]
    """
    closing_at = matching(words)
    starts = ((bare(word), body_of_part(words, at, closing_at)) for at, word in enumerate(words))
    return [(name, start + 1, closing_at[start]) for name, start in starts if start is not None]


def called(words: Sequence[str]) -> set[str]:
    """Return the names before a bracket that are no part of a WITH: functions, also those used as a table."""
    closing_at = matching(words)
    before = (at - 1 for at in closing_at if at)
    return {bare(words[at]) for at in before if body_of_part(words, at, closing_at) is None}


def weight(words: Iterable[str]) -> int:
    """Return the number of tokens, a star counted as the columns it may stand for."""
    return sum(STAR if word == "*" else 1 for word in words)


def bare(word: str) -> str:
    """Return a token without the mark of a quoted one: "a" and a name the same part."""
    return word.removeprefix('"')


def matching(words: Sequence[str]) -> dict[int, int]:
    """Return {position of an opening bracket: position of its closing one}."""
    pairs, opened = {}, []
    for at, word in enumerate(words):
        if word == "(":
            opened.append(at)
        elif word == ")" and opened:
            pairs[opened.pop()] = at
    return pairs


def body_of_part(words: Sequence[str], at: int, closing_at: Mapping[int, int]) -> int | None:
    """Return where the bracket of a part's body opens, if a part is named at this position: name (columns) AS (…)."""
    if not IDENTIFIER.match(words[at]):
        return None
    at += 1
    if at in closing_at:
        at = closing_at[at] + 1
    if words[at : at + 1] != ["as"]:
        return None
    at += 1
    while words[at : at + 1] in (["not"], ["materialized"]):
        at += 1
    return at if at in closing_at else None


def size_of(rows: list[tuple[Any, ...]]) -> int:
    """Return the bytes of some rows as they are handed on: UTF-8, and a few bytes for each cell.

    Python's marshal is the quickest measure of it, ten times as fast as adding lengths: it is taken for every query.

    >>> size_of([("Berlin", 5)]) < 40 < 1_000_000 < size_of([("x" * 1_000_000,)])
    True
    """
    return len(marshal.dumps(rows, 2))


MARKS = re.compile("[;?:@$#]")


def is_plain(sql: str) -> bool:
    """Return whether this is an everyday SELECT: nothing in it that would be a second statement, WITH or placeholder.

    >>> is_plain("SELECT count(*) FROM tickets"), is_plain("SELECT 1; SELECT 2"), is_plain("WITH a AS (SELECT 1)")
    (True, False, False)
    """
    lower = sql.lower()
    return lower.startswith("select") and "with" not in lower and not MARKS.search(sql)


def encodable(text: str) -> bool:
    """Return whether a text can be written as UTF-8: half a surrogate pair cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


# --- Cap the rows, and say so --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Result:
    """The statement that ran, the names of its columns, its rows, and whether there were more rows than these."""

    sql: str
    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    truncated: bool

    @property
    def note(self) -> str:
        """What a reader of the rows must be told, model or person.

        >>> Result("SELECT id FROM tickets", ("id",), [("T-1000",)], True).note
        'Cut off: this is the first row and there are more. Do not count or sum them; ask for count(*) instead.'
        """
        if self.truncated:
            shown = "this is the first row" if len(self.rows) == 1 else f"these are the first {len(self.rows)} rows"
            return f"Cut off: {shown} and there are more. Do not count or sum them; ask for count(*) instead."
        return f"Complete: {len(self.rows)} {'row' if len(self.rows) == 1 else 'rows'}."


SQL_BEGINS = frozenset(
    {"select", "with", "values", "(", "insert", "replace", "update", "delete", "create", "drop", "alter", "attach"}
    | {"detach", "pragma", "vacuum", "analyze", "reindex", "begin", "commit", "rollback", "savepoint", "release", "end"}
)
PLAIN_SQL = "Write the values themselves, and a cast as CAST(value AS type)."


# --- The guard: all layers together ---------------------------------------------------------------------------------

BLOCK = 5  # rows fetched between two looks at the size: at worst 5 × 200 columns × the longest value
CALLS = 100  # instructions between two looks at the clock; each may be a search of 25 ms


@dataclass(frozen=True)
class Guard:
    """What SQL written by a model may do to a database. Names are compared without case.

    tables           tables and views that may be read. A view opens what it shows and not the tables under it. A
                     table-valued function, such as json_each, is a table here
    functions        functions that may be called; operators LIKE and GLOB count as functions
    max_rows         rows handed on; where there are more, the result says `truncated`
    seconds          how long a statement may run, and may wait for a locked file
    max_bytes        size of all rows handed on; a larger result is refused, since a cut one would not say so
    max_value_bytes  the longest text or row that is worked on. Raise it for tables of long documents, and know that
                     a single search in a text takes up to the square of its length: 25 ms at the default

    >>> Guard({"tickets"}, LESSON_FUNCTIONS).tables
    frozenset({'tickets'})

    Raises ValueError where a list is a text, a name is empty, or a limit is not above 0.
    """

    tables: Collection[str]
    functions: Collection[str] = DEFAULT_FUNCTIONS
    max_rows: int = 50
    seconds: float = 1.0
    max_bytes: int = 1_000_000
    max_value_bytes: int = 100_000

    def __post_init__(self) -> None:
        for what in ("tables", "functions"):
            names = getattr(self, what)
            listed = isinstance(names, Collection) and not isinstance(names, str)
            if not listed or not all(isinstance(name, str) and name for name in names):
                raise ValueError(f"{what} is {names!r}, but it is a list or set of names, such as {{'tickets'}}.")
            object.__setattr__(self, what, frozenset(map(folded, names)))
        for what in ("max_rows", "max_bytes", "max_value_bytes"):
            count = getattr(self, what)
            if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= 1_000_000_000:
                raise ValueError(f"{what} is {count!r}, but it is a whole number from 1 to 1,000,000,000.")
        if isinstance(self.seconds, bool) or not isfinite(self.seconds) or self.seconds <= 0:
            raise ValueError(f"seconds is {self.seconds!r}, but it is a time above 0.")

    def run(self, path: str | Path, model_output: str) -> Result:
        """Run one output of a model on the database at `path`, over a connection of its own.

        Raises Refused for anything but a result, and FileNotFoundError or ValueError where there is no database.
        """
        with closing(self.open(path)) as database:
            return database.run(model_output)

    def open(self, path: str | Path) -> "GuardedDatabase":
        """Open the database for many outputs. Close it at the end. Raises as `read_only` does."""
        return GuardedDatabase(self, path)


class GuardedDatabase:
    """A database that is kept open behind a guard. Several threads may use it; they take turns."""

    def __init__(self, guard: Guard, path: str | Path) -> None:
        self.guard, self.path = guard, path
        self._deadline, self._lock = 0.0, Lock()
        self._db, kinds = opened(path, wait=guard.seconds)
        try:
            self._prepare({folded(name): kind for name, kind in kinds.items()})
        except BaseException:
            self._db.close()
            raise

    def _prepare(self, kinds: Mapping[str, str]) -> None:
        """Put the layers in place. From the last line on, this connection can do nothing else."""
        db, guard = self._db, self.guard
        db.execute("PRAGMA temp_store = FILE")  # what is sorted goes to a temporary file and not into memory
        views = {name for name in guard.tables if kinds.get(name) == "view"}
        for name in guard.tables - kinds.keys():
            with suppress(sqlite3.Error):  # a table-valued function declares itself at its first use
                db.execute(f"SELECT * FROM {quoted(name)} LIMIT 0")
        self._outline, self._stated = None, AllowList(guard.tables, guard.functions, frozenset(kinds))
        self._allowed = self._stated
        if views:
            self._outline = outline(db, guard.tables)
            self._allowed = with_what_is_under(db, views, self._stated)
            self._put_on(self._outline, self._stated)
        self._put_on(db, self._allowed)

    def _put_on(self, db: sqlite3.Connection, allowed: AllowList) -> None:
        for limit, value in LIMITS.items():
            db.setlimit(limit, value)
        db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, self.guard.max_value_bytes)
        db.set_authorizer(allowed.ask)
        db.set_progress_handler(self._is_late, CALLS)

    def _is_late(self) -> bool:
        return monotonic() > self._deadline

    def run(self, model_output: str) -> Result:
        """Run one output of a model. Raises Refused for anything but a result."""
        if not isinstance(model_output, str):
            raise TypeError(f"The model's output is {type(model_output).__name__}, and a text is expected.")
        sql, names = self._checked(model_output)
        with self._lock:
            self._stated.begin(names)
            if self._outline is not None:
                self._allowed.begin(names)
            self._deadline = monotonic() + self.guard.seconds
            try:
                if self._outline is not None:
                    self._outline.execute(f"EXPLAIN {sql}").close()  # compiled, and not run
                return self._decoded(sql)
            except (sqlite3.Error, sqlite3.Warning, MemoryError) as error:
                raise self._refusal(error) from error

    def _checked(self, model_output: str) -> tuple[str, frozenset[str]]:
        """Return the one statement in a text, and the names in its WITH.

        Raises Refused for what SQLite's compiler must not even be given.
        """
        if len(model_output) > 2 * MAX_SQL:
            raise self._too_large(f"The output has {len(model_output):,} characters.")
        sql = strip_fences(model_output).rstrip("; \t\r\n")
        if len(sql) > MAX_SQL:
            raise self._too_large(f"The statement has {len(sql):,} characters, and {MAX_SQL:,} are allowed.")
        if "\0" in sql or not encodable(sql):
            raise Refused("the SQL itself", "The text holds a character that is none.", "Write plain SQL.")
        if is_plain(sql):
            return sql, frozenset()
        words = tokens(sql)
        self._check_words(words)
        return sql, frozenset(name for name, _, _ in parts(words)) - called(words)

    def _check_words(self, words: Sequence[str]) -> None:
        if not words:
            raise Refused("the SQL itself", "There is no SQL in the output.", self._what_is_allowed())
        if ";" in words and any(word != ";" for word in words[words.index(";") :]):
            raise Refused(
                "one statement", "There is more than one statement.", "Write one SELECT and nothing behind it."
            )
        if words[0] == "explain":
            raise Refused("allow-list", "EXPLAIN shows how the database is built.", "Write the SELECT alone.")
        if any(word[0] in "?:@$#" for word in words):
            if words[0] not in SQL_BEGINS:  # prose, which may hold a question mark
                raise Refused("the SQL itself", f"This is no query: it begins with {short(words[0], 40)}.", PLAIN_SQL)
            raise Refused("the SQL itself", "There is a placeholder (? : @ $ #) and no value for it.", PLAIN_SQL)
        if copied_tokens(words) > MAX_COPIED:
            raise self._too_large(
                "The parts of the WITH use each other so often that the statement grows out of bounds."
            )

    def _decoded(self, sql: str) -> Result:
        """Run a statement; a text that is no UTF-8 is shown with replacement characters and stops nothing."""
        try:
            return self._result(sql)
        except sqlite3.OperationalError as error:
            if "decode" not in str(error):
                raise
        self._db.text_factory = partial(str, encoding="utf-8", errors="replace")  # slower, so only where needed
        try:
            return self._result(sql)
        finally:
            self._db.text_factory = str

    def _result(self, sql: str) -> Result:
        """Run a statement up to one row more than may be handed on."""
        rows: list[tuple[Any, ...]] = []
        size = 0
        cursor = self._db.execute(sql)
        try:
            if cursor.description is None:  # such as REINDEX where there is no index
                raise Refused("allow-list", "The statement is no query.", self._what_is_allowed())
            columns = tuple(column[0] for column in cursor.description)
            while len(rows) <= self.guard.max_rows:
                block = cursor.fetchmany(BLOCK)
                rows += block
                size += size_of(block)
                if size > self.guard.max_bytes:
                    raise self._too_large(f"The result is larger than {self.guard.max_bytes:,} bytes.")
                if len(block) < BLOCK:
                    break
        finally:
            cursor.close()
        return Result(sql, columns, rows[: self.guard.max_rows], len(rows) > self.guard.max_rows)

    def close(self) -> None:
        """Close the database. What is asked afterwards is refused."""
        with self._lock:
            self._db.close()
            if self._outline is not None:
                self._outline.close()

    # What a refusal says.

    def _too_large(self, reason: str) -> Refused:
        return Refused(
            "size limit", reason, "Ask for less: fewer columns, fewer rows, a count or a sum, a shorter text."
        )

    def _refusal(self, error: BaseException) -> Refused:
        """Return a failure of SQLite as a refusal: by what the allow-list noted, by its code, by its words."""
        if denied := self._stated.denied or self._allowed.denied:
            layer, reason = denied
            return self._too_large(reason) if layer == "size limit" else Refused(layer, reason, self._what_is_allowed())
        said = short(str(error)) or type(error).__name__
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code == sqlite3.SQLITE_INTERRUPT:
            late = f"The statement ran longer than {self.guard.seconds:g} s and was stopped."
            return Refused("time limit", late, "Join on a column, filter earlier, or count instead of listing.")
        if code in TOO_LARGE or isinstance(error, MemoryError | sqlite3.DataError) or TOO_MANY.search(said):
            return self._too_large(f"SQLite says: {said}.")
        if code == sqlite3.SQLITE_READONLY:
            return Refused("read-only connection", f"SQLite says: {said}.", self._what_is_allowed())
        if "one statement" in said:
            return Refused(
                "one statement", "There is more than one statement.", "Write one SELECT and nothing behind it."
            )
        if code in NOT_THE_MODEL or "closed database" in said:
            return Refused(
                "the database", f"The database could not answer: {said}.", "Say so; another SQL will not help."
            )
        kind, name = missing_name(said)
        if kind == "table" and folded(name) in self._stated.existing:  # and the outline of what is allowed has it not
            return Refused("allow-list", f"{name} is not on the list of tables.", self._what_is_allowed())
        advice = self._near_miss(kind, name) + self._what_is_allowed()
        return Refused("the SQL itself", f"SQLite cannot run it: {said}.", advice)

    def _what_is_allowed(self) -> str:
        tables = "; ".join(f"{name} ({', '.join(columns)})" for name, columns in self._columns.items()) or "nothing"
        functions = ", ".join(sorted(self.guard.functions)) or "none"
        return (
            f"You may read, with one SELECT: {short(tables, 4000)}. Functions you may call: {short(functions, 2000)}."
        )

    def _near_miss(self, kind: str, name: str) -> str:
        """Return a question for the name that was meant, where SQLite names one that does not exist."""
        columns = {column for table in self._columns.values() for column in table}
        known = {"table": self._columns.keys(), "column": columns, "function": self.guard.functions}.get(kind, ())
        spelled = {folded(one): one for one in known}
        near = get_close_matches(folded(name), spelled, n=3, cutoff=0.6)
        if kind == "column" and not near:
            return "A text stands in single quotes. "
        return f"Did you mean {' or '.join(spelled[one] for one in near)}? " if near else ""

    @cached_property
    def _columns(self) -> dict[str, list[str]]:
        """{table: its columns} of what may be read and exists, as the database spells it."""
        sql = "SELECT t.name, c.name FROM sqlite_schema t, pragma_table_info(t.name) c ORDER BY t.name, c.cid"
        found: dict[str, list[str]] = {}
        with suppress(ValueError, OSError, sqlite3.Error), closing(read_only(self.path, wait=0.1)) as db:
            for table, column in db.execute(sql):
                if folded(table) in self.guard.tables:
                    found.setdefault(table, []).append(column)
        return found


def missing_name(said: str) -> tuple[str, str]:
    """Return what SQLite misses, and its name without the table or schema before it; or two empty texts.

    >>> missing_name("no such column: t.priorty")
    ('column', 'priorty')
    """
    missing = re.search(r"no such (table|column|function): (.+)", said)
    return (missing[1], missing[2].rsplit(".", 1)[-1]) if missing else ("", "")


TOO_LARGE = {sqlite3.SQLITE_TOOBIG, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_FULL}
TOO_MANY = re.compile(
    "(?i)too (many|large|complex|deep|big)|stack overflow|recursion limit|at most .* tables|nested too"
)
NOT_THE_MODEL = {
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_NOTADB,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PROTOCOL,
}


# --- Views: allow what a view shows without allowing the tables under it ---------------------------------------------

# SQLite's authorizer names the view on whose behalf a table is read, but it calls a part of a WITH by its name in the
# same way, and for count(*) it names none: "WITH open_tickets AS (SELECT * FROM salaries) …" would pass as the view.
# So where views are allowed, a statement is first compiled against an outline: an empty database in which everything
# allowed is a table, and nothing else exists. What compiles there names nothing but what is allowed, by SQLite's own
# rules for names; only then may the real database read the tables under its views.


def quoted(name: str) -> str:
    """Return a name as an identifier of SQL, whatever it holds."""
    return '"' + name.replace('"', '""') + '"'


def outline(db: sqlite3.Connection, tables: Iterable[str]) -> sqlite3.Connection:
    """Return an empty database in memory in which each allowed table or view is a table with the same columns."""
    empty = sqlite3.connect(":memory:", check_same_thread=False)
    for table in tables:
        columns = [quoted(column) for (column,) in db.execute("SELECT name FROM pragma_table_xinfo(?)", [table])]
        with suppress(sqlite3.Error):  # a table-valued function exists already
            empty.execute(f"SELECT * FROM {quoted(table)} LIMIT 0")
            continue
        if columns and not table.startswith("sqlite_"):
            empty.execute(f"CREATE TABLE {quoted(table)} ({', '.join(columns)})")
    return empty


def with_what_is_under(db: sqlite3.Connection, views: Iterable[str], stated: AllowList) -> AllowList:
    """Return the guard's list together with the tables and functions that the allowed views are made of."""
    tables, functions = set(stated.tables), set(stated.functions)

    def note(action: int, first: str | None, second: str | None, database: str | None, within: str | None) -> int:
        if action == sqlite3.SQLITE_READ:
            tables.add(folded(first or ""))
        elif action == sqlite3.SQLITE_FUNCTION:
            functions.add(folded(second or ""))
        return sqlite3.SQLITE_OK

    db.set_authorizer(note)
    for view in views:
        with suppress(sqlite3.Error):  # a view over a table that is gone: using it will say so
            db.execute(f"EXPLAIN SELECT * FROM {quoted(view)}").close()
    return AllowList(tables, functions, stated.existing)
