"""Fixed tools over the ticket table: the model fills in values, and the SQL text never changes.

The module goes the way of its notebook: say what is allowed, count, list with the window and the cut stated, answer
two more questions that a support desk hears daily, and hand it all to a model as tools.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, is_dataclass
from datetime import date, timedelta
from inspect import signature
from pathlib import Path
from sqlite3 import Connection, Error
from threading import RLock
from types import MappingProxyType
from typing import Any, Self

from course_lib.asof import AS_OF
from course_lib.sql.database import read_only

# --- Say what is allowed --------------------------------------------------------------------------------------------

FILTERS = ("team", "priority", "status")  # column names come from here, never from an argument
MOST_NAMED = 40  # so many values of a column are named to the model, in an error or in a schema


class ToolError(ValueError):
    """Why a tool did not run, as a sentence for the model: what was given, and what the next call may give."""


@dataclass(frozen=True)
class Message:
    """A tool's answer in words, for the model; `failed` says that the question is still open."""

    text: str
    failed: bool = True


def short(value: object) -> str:
    """Return a rejected argument as an error quotes it: as a literal, cut where it is long.

    >>> short("Open"), len(short("x" * 100_000))
    ("'Open'", 81)
    """
    written = repr(value[:200] if isinstance(value, str) else value)
    return written if len(written) <= 80 else written[:80] + "…"


def check(name: str, value: object, allowed: tuple[str, ...]) -> str:
    """Return `value` if it is one of `allowed`, else raise ToolError with the values that are.

    >>> check("status", "Open", ("closed", "open"))
    Traceback (most recent call last):
    course_lib.sql.tools.ToolError: There is no status 'Open': send one of ['closed', 'open']
    """
    if isinstance(value, str) and value in allowed:
        return value
    more = f" and {len(allowed) - MOST_NAMED} more" if len(allowed) > MOST_NAMED else ""
    raise ToolError(f"There is no {name} {short(value)}: send one of {list(allowed[:MOST_NAMED])}{more}")


def check_limit(limit: object, most: int) -> int:
    """Return `limit` if it is a whole number from 1 to `most`, else raise ToolError."""
    if isinstance(limit, int) and not isinstance(limit, bool) and 1 <= limit <= most:
        return limit
    raise ToolError(f"limit must be a whole number from 1 to {most}, got {short(limit)}")


# --- What a list has to say of itself -------------------------------------------------------------------------------

DAYS_BACK = {"today": 0, "this week": 7, "last 30 days": 30}
OPENED = ("any", *DAYS_BACK)
MOST_ROWS = 50


@dataclass(frozen=True)
class Window:
    """The days that `name` stands for, both included; `first` is None where every date is in it."""

    name: str
    first: date | None
    last: date

    def __str__(self) -> str:
        if self.first is None:
            return f"any date (as of {self.last})"
        return f"{self.first} to {self.last} ({self.name}, as of {self.last})"


def window(opened: object, as_of: date = AS_OF) -> Window:
    """Return what a word for a time means on the day `as_of`. Raises ToolError, with the words there are, for another.

    Code decides this, or every call would have a week of its own: here it goes back to the same weekday.

    >>> print(window("this week"))
    2026-09-18 to 2026-09-25 (this week, as of 2026-09-25)
    """
    name = check("opened", opened, OPENED)
    return Window(name, as_of - timedelta(days=DAYS_BACK[name]) if name in DAYS_BACK else None, as_of)


@dataclass(frozen=True)
class Ticket:
    """One row of the table; `opened` is a date as ISO 8601 writes it."""

    id: str
    team: str
    priority: str
    status: str
    opened: str


@dataclass(frozen=True)
class TicketList:
    """Some of the tickets that match, and what they are some of: a list that does not say so reads as all there is."""

    rows: tuple[Ticket, ...]
    total: int
    filters: Mapping[str, str]
    window: Window

    @property
    def shown(self) -> int:
        """How many tickets are in `rows`."""
        return len(self.rows)

    @property
    def truncated(self) -> bool:
        """Whether more tickets match than are shown."""
        return self.shown < self.total

    @property
    def note(self) -> str:
        """What to make of the numbers, for the model and for whoever reads its answer."""
        if self.total == 0:
            return "No ticket matches. Every filter value occurs in the data, so zero is the answer and no misspelling."
        if self.truncated:
            return f"Only {self.shown} of {self.total} are shown. Say so, or ask again with a narrower filter."
        return f"{self.total} in total, all of them shown."

    def for_model(self) -> dict[str, object]:
        """Return the list as values that JSON can hold, what it says of itself first."""
        about = {"total": self.total, "shown": self.shown, "truncated": self.truncated, "note": self.note}
        rows = [asdict(ticket) for ticket in self.rows]
        return {**about, "opened": str(self.window), "filters": dict(self.filters), "tickets": rows}

    def __str__(self) -> str:
        asked = ", ".join(f"{column} {value}" for column, value in self.filters.items()) or "no filter"
        rows = ["  ".join(asdict(ticket).values()) for ticket in self.rows]
        return "\n".join([f"{asked}; opened: {self.window}", self.note, *rows])


@dataclass(frozen=True)
class Counts:
    """How many of the matching tickets hold each value of `column`, with a zero for a value that none of them holds."""

    column: str
    counts: Mapping[str, int]
    total: int
    filters: Mapping[str, str]
    window: Window

    def for_model(self) -> dict[str, object]:
        """Return the counts as values that JSON can hold."""
        about = {"total": self.total, "opened": str(self.window), "filters": dict(self.filters)}
        return {**about, f"tickets by {self.column}": dict(self.counts)}


# --- The tools ------------------------------------------------------------------------------------------------------

_COLUMNS = "id, team, priority, status, opened"


class TicketTools:
    """The tools of a support desk over the table tickets(id, team, priority, status, opened), which they only read.

    Allowed values are read from the table, and again once it has changed. Every tool may be called from any thread.
    Each raises ToolError for an argument that is not allowed, and where the database cannot be read.

    >>> from tempfile import TemporaryDirectory
    >>> from course_lib.corpora.tickets import make_database
    >>> with TemporaryDirectory() as folder, TicketTools(make_database(Path(folder) / "support.db")) as tools:
    ...     tools.count_tickets("Berlin", "P1")
    5
    """

    def __init__(self, path: Path, as_of: date = AS_OF) -> None:
        """`path` names the SQLite file; `as_of` is the day that "this week" refers to, in a product today."""
        self.path = path
        self.as_of = as_of
        self._lock = RLock()
        self._connection: Connection | None = None
        self._file: tuple[int, int] | None = None
        self._version: int | None = None
        self._allowed: dict[str, tuple[str, ...]] = {}

    def allowed(self) -> Mapping[str, tuple[str, ...]]:
        """Return the values that each filter column holds, sorted.

        `PRAGMA data_version` is another number once another connection has changed the file: only then are they read
        again.
        """
        with self._lock:
            version = self._query("PRAGMA data_version")[0][0]
            if version != self._version:
                self._version = version  # first: where the file is replaced now, this is undone and all is read again
                self._allowed = {column: self._values(column) for column in FILTERS}
            return MappingProxyType(self._allowed)

    def count_tickets(self, team: str, priority: str, status: str = "open") -> int:
        """Return how many tickets have these three values."""
        values = self._checked(team=team, priority=priority, status=status)
        sql = "SELECT COUNT(*) FROM tickets WHERE team = :team AND priority = :priority AND status = :status"
        return int(self._query(sql, values)[0][0])

    def list_tickets(
        self,
        team: str | None = None,
        priority: str | None = None,
        status: str | None = None,
        opened: str = "any",
        limit: int = 20,
    ) -> TicketList:
        """Return up to `limit` (1 to 50) tickets, the newest first, and how many there are; None stands for any value.

        `opened` is a word of `OPENED`, whose days the result states.
        """
        filters, days = self._given(team=team, priority=priority, status=status), window(opened, self.as_of)
        most = check_limit(limit, MOST_ROWS)
        return self._listed(filters, days, _conditions(filters, days), "opened DESC, id DESC", most)

    def count_by(
        self,
        column: str,
        team: str | None = None,
        priority: str | None = None,
        status: str | None = None,
        opened: str = "any",
    ) -> Counts:
        """Return how many of the matching tickets there are for each value of `column`: team, priority or status."""
        by = check("column", column, FILTERS)  # a name cannot be bound: in the SQL text only one of these may stand
        filters, days = self._given(team=team, priority=priority, status=status), window(opened, self.as_of)
        sql = f"SELECT {by}, COUNT(*) FROM tickets WHERE {_conditions(filters, days)} GROUP BY {by}"
        found = dict(self._query(sql, {**filters, **_bounds(days)}))
        counts = {**dict.fromkeys(self.allowed()[by], 0), **{str(value): number for value, number in found.items()}}
        return Counts(by, counts, sum(counts.values()), filters, days)

    def oldest_open(self, team: str | None = None, priority: str | None = None) -> TicketList:
        """Return the open tickets of the earliest day on which one was opened: more than one, where they share it."""
        filters, days = self._given(team=team, priority=priority, status="open"), window("any", self.as_of)
        matching = _conditions(filters, days)
        earliest = f"{matching} AND opened = (SELECT MIN(opened) FROM tickets WHERE {matching})"
        return self._listed(filters, days, earliest, "id", MOST_ROWS)

    def close(self) -> None:
        """Let go of the file; the next call opens it again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._connection = self._version = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _checked(self, **arguments: object) -> dict[str, str]:
        """Return the arguments, each of them one of the allowed values of its column."""
        allowed = self.allowed()
        return {name: check(name, value, allowed[name]) for name, value in arguments.items()}

    def _given(self, **arguments: object) -> dict[str, str]:
        """Return the arguments that are not None, checked likewise."""
        return self._checked(**{name: value for name, value in arguments.items() if value is not None})

    def _listed(self, filters: dict[str, str], days: Window, conditions: str, order: str, limit: int) -> TicketList:
        # COUNT(*) OVER () counts what the WHERE lets through before the LIMIT cuts it: one statement sees one state.
        sql = f"SELECT {_COLUMNS}, COUNT(*) OVER () FROM tickets WHERE {conditions} ORDER BY {order} LIMIT :limit"
        rows = self._query(sql, {**filters, **_bounds(days), "limit": limit})
        return TicketList(tuple(Ticket(*row[:-1]) for row in rows), rows[0][-1] if rows else 0, filters, days)

    def _values(self, column: str) -> tuple[str, ...]:
        rows = self._query(f"SELECT DISTINCT {column} FROM tickets WHERE {column} IS NOT NULL ORDER BY {column}")
        return tuple(str(value) for (value,) in rows)

    def _query(self, sql: str, values: Mapping[str, object] | None = None) -> list[tuple[Any, ...]]:
        try:
            with self._lock:
                return self._open().execute(sql, values or {}).fetchall()
        except (Error, OSError, ValueError) as error:  # ValueError: read_only's, for a file that is no database
            self.close()
            raise ToolError("The ticket database could not be read. Say so; do not guess a number.") from error

    def _open(self) -> Connection:
        """Return the connection, a new one where the file has been replaced: the old one would read the old file on."""
        stat = self.path.stat()
        file = (stat.st_dev, stat.st_ino)
        if self._connection is None or file != self._file:
            self.close()
            self._connection, self._file = read_only(self.path), file
        return self._connection

    def functions(self) -> dict[str, Callable[..., object]]:
        """Return the tools by the names under which a model calls them."""
        tools = (self.count_tickets, self.list_tickets, self.count_by, self.oldest_open)
        return {tool.__name__: tool for tool in tools}

    def schemas(self) -> list[dict[str, Any]]:
        """Return the tools as the parameter `tools` of Anthropic's Messages API takes them.

        The allowed values stand in them as they are at this moment. They help the model to choose and check nothing: a
        tool checks its arguments itself, at every call.
        """
        column = {name: _one_of(values) for name, values in self.allowed().items()}
        opened = _one_of(OPENED, "when it was opened; the result says which days that is")
        limit = {"type": "integer", "minimum": 1, "maximum": MOST_ROWS, "description": "20 if left out"}
        team_priority = {name: column[name] for name in ("team", "priority")}
        return [
            schema("count_tickets", _COUNT, column, required=("team", "priority")),
            schema("list_tickets", _LIST, {**column, "opened": opened, "limit": limit}),
            schema("count_by", _COUNT_BY, {"column": _one_of(FILTERS), **column, "opened": opened}, ("column",)),
            schema("oldest_open", _OLDEST, team_priority),
        ]


def _conditions(filters: Mapping[str, str], days: Window) -> str:
    """Return the WHERE clause for these filters: names of columns and of parameters, and no value."""
    parts = [f"{column} = :{column}" for column in FILTERS if column in filters]
    if days.first is not None:
        parts.append("opened >= :first AND opened < :after_last")  # as text: right for dates and for dates with a time
    return " AND ".join(parts) or "TRUE"


def _bounds(days: Window) -> dict[str, str]:
    if days.first is None:
        return {}
    return {"first": days.first.isoformat(), "after_last": (days.last + timedelta(days=1)).isoformat()}


# --- For a model ----------------------------------------------------------------------------------------------------

_COUNT = "Count the tickets of one team with one priority. Counts open ones unless status says otherwise."
_LIST = (
    "List tickets, the newest first. Leave a filter out for any value. The result says how many match in total, how "
    "many are shown and which days were searched: repeat that in the answer."
)
_COUNT_BY = "Count tickets for each team, priority or status. Leave a filter out for any value."
_OLDEST = "Find the open ticket, or tickets, of the earliest day. Leave a filter out for any value."


def schema(
    name: str, description: str, properties: Mapping[str, Mapping[str, object]], required: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Return one entry of the Messages API's parameter `tools`."""
    fields = {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }
    return {"name": name, "description": description, "input_schema": fields}


def _one_of(values: tuple[str, ...], description: str | None = None) -> dict[str, object]:
    told = {"description": description} if description else {}
    return {"type": "string", **({"enum": list(values)} if len(values) <= MOST_NAMED else {}), **told}


def run_tool(
    functions: Mapping[str, Callable[..., object]], name: object, arguments: object, tool_use_id: str | None = None
) -> dict[str, object]:
    """Run the tool that a model asked for and return what goes back to it, as `as_tool` does.

    A name or an argument that does not exist is answered with those that do: the model can put it right, and an
    exception would end the conversation.
    """
    try:
        if not isinstance(name, str) or name not in functions:
            raise ToolError(f"The tool must be one of {sorted(functions)}, got {short(name)}")
        return as_tool(functions[name](**_bound(functions[name], arguments)), tool_use_id)
    except ToolError as error:
        return as_tool(error, tool_use_id)


def _bound(function: Callable[..., object], arguments: object) -> dict[str, object]:
    parameters = signature(function).parameters
    wanted = f"the arguments must be an object with {list(parameters)}"
    if not isinstance(arguments, Mapping):
        raise ToolError(f"{wanted}, got {short(arguments)}")
    unknown = [key for key in arguments if key not in parameters]
    missing = [key for key, one in parameters.items() if one.default is one.empty and key not in arguments]
    if unknown or missing:
        raise ToolError(f"{wanted}; missing: {missing}, unknown: {short(unknown)}")
    return dict(arguments)


def as_tool(answer: object, tool_use_id: str | None = None) -> dict[str, object]:
    """Return a tool's result, its Message or its ToolError as the block `tool_result` that goes back to the model.

    Values go as JSON, so that whatever a row holds stays inside quotes. `tool_use_id` is the id of the model's call.

    >>> as_tool(5)
    {'type': 'tool_result', 'content': '5', 'is_error': False}
    >>> as_tool(ToolError("There is no status 'Open': send one of ['closed', 'open']"))["is_error"]
    True
    """
    failed = isinstance(answer, ToolError) or (isinstance(answer, Message) and answer.failed)
    content = (
        str(answer) if isinstance(answer, ToolError) else answer.text if isinstance(answer, Message) else _json(answer)
    )
    call = {} if tool_use_id is None else {"tool_use_id": tool_use_id}
    return {"type": "tool_result", **call, "content": content, "is_error": failed}


def _json(answer: object) -> str:
    if isinstance(answer, TicketList | Counts):
        answer = answer.for_model()
    elif is_dataclass(answer) and not isinstance(answer, type):
        answer = asdict(answer)
    return json.dumps(answer, ensure_ascii=False)
