"""Five tools behind one loop: a name, a description that says when to use it, arguments that are checked, a function.

The tools take their data as arguments. What one of them returns is text for a model, and data: nothing here or in the
loop looks into it for something to do.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from course_lib.bm25 import Found
from course_lib.grep import Repository, grep, tool_text
from course_lib.llm import ToolCall
from course_lib.navigation.loop import text_of
from course_lib.navigation.outline import Outline
from course_lib.schemas import fit
from course_lib.sql.guard import Guard
from course_lib.sql.schema_card import Card
from course_lib.sql.tools import TicketTools, schema

LONGEST = 12_000  # characters of one result; it is sent again on every later call
TOC = "toc"  # what read_section takes in the place of an id, to list the ids

# --- When to use it -------------------------------------------------------------------------------------------------

CLEAR: dict[str, str] = {
    "search_kb": "Search the support articles for terminals: error codes such as E-4471, the screen, paper, battery, "
    "card reader, firmware. Use it when a device misbehaves or somebody asks how to set it up. Not for contracts, "
    "counts or source code.",
    "count_tickets": "Count support tickets of one team (Berlin, Munich, Lisbon) with one priority (P1, P2, P3), open "
    "or closed. Use it when the question names both. Not for averages, ages, dates or a comparison of teams: that is "
    "run_sql.",
    "run_sql": "Run one SELECT on invoices, customers, payments and tickets. Use it for revenue, sums, averages, "
    "shares, the largest or oldest, a month or quarter, overdue or outstanding amounts. Read-only.",
    "read_section": "Read a section of the services agreement by its id. Use it for what the contract says: interest, "
    "notice, termination, renewal, suspension, confidentiality, credits, data, fees. Follow the sections it refers to.",
    "grep": "Search the source code of the payment service by a regular expression. Use it for files, functions, "
    "constants, retries, webhooks, defaults, imports. It finds the words that you write and no others: try synonyms.",
}
VAGUE: dict[str, str] = {
    "search_kb": "Searches documents.",
    "count_tickets": "Returns a number.",
    "run_sql": "Gets data.",
    "read_section": "Reads a document.",
    "grep": "Finds text.",
}


# --- A tool and a box of them ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Tool:
    """A tool: `properties` are its arguments as JSON Schema, `run` gets them checked and returns text for a model.

    `description` says when to use it, `details` what one needs to know to do so: tables, a table of contents.
    """

    name: str
    description: str
    properties: Mapping[str, Mapping[str, object]]
    run: Callable[..., str] = field(repr=False)
    required: tuple[str, ...] = ()
    details: str = ""

    def schema(self) -> dict[str, Any]:
        """Return the tool as one entry of the Messages API's parameter `tools`."""
        told = f"{self.description}\n\n{self.details}" if self.details else self.description
        return schema(self.name, told, self.properties, self.required)


@dataclass(frozen=True)
class Result:
    """What a call gave: text for the model; `failed` says that the text is the reason why there is nothing."""

    text: str
    failed: bool = False


@dataclass(frozen=True)
class Toolbox:
    """The tools on the list. Nothing else can be called. Raises ValueError where two have one name.

    >>> box = Toolbox([Tool("add", "Add two numbers.", {"a": {"type": "integer"}}, lambda a: str(a + 1), ("a",))])
    >>> box.run(ToolCall("1", "add", {"a": 4})).text, box.run(ToolCall("2", "drop", {})).text
    ('5', "There is no tool 'drop'; there are add.")
    """

    tools: Sequence[Tool]

    def __post_init__(self) -> None:
        if len({tool.name for tool in self.tools}) < len(self.tools):
            raise ValueError(f"Two tools have one name: {', '.join(tool.name for tool in self.tools)}")

    @property
    def names(self) -> list[str]:
        """The names of the tools, in their order."""
        return [tool.name for tool in self.tools]

    def schemas(self) -> list[dict[str, Any]]:
        """Return the tools as the parameter `tools` of the Messages API takes them."""
        return [tool.schema() for tool in self.tools]

    def described(self, descriptions: Mapping[str, str]) -> "Toolbox":
        """Return the same tools under other descriptions. Raises ValueError where one is missing."""
        missing = [name for name in self.names if name not in descriptions]
        if missing:
            raise ValueError(f"There is no description for {', '.join(missing)}")
        return Toolbox([replace(tool, description=descriptions[tool.name]) for tool in self.tools])

    def run(self, call: ToolCall) -> Result:
        """Make a call if its tool is on the list and its arguments fit; else say why not, for the model to mend it."""
        tool = next((tool for tool in self.tools if tool.name == call.name), None)
        if tool is None:
            return Result(f"There is no tool {str(call.name)[:60]!r}; there are {', '.join(self.names)}.", failed=True)
        try:
            arguments = fit(call.input, tool.schema()["input_schema"], tool.name)
            return Result(_cut(tool.run(**arguments)))
        except (ValueError, LookupError, OSError, ImportError) as error:  # each of them a sentence
            return Result(_cut(str(error)), failed=True)


def _cut(text: str) -> str:
    if len(text) <= LONGEST:
        return text or "The tool ran and returned nothing."
    return f"{text[:LONGEST]}\n… cut after {LONGEST:,} of {len(text):,} characters; ask for less."


# --- The five tools -------------------------------------------------------------------------------------------------


def five_tools(
    find: Callable[[str, int], Found],
    tickets: TicketTools,
    databases: Mapping[str, tuple[Path, Guard, Card]],
    outline: Outline,
    repository: Repository,
) -> Toolbox:
    """Return the five tools over these data, each of which is described below."""
    return Toolbox(
        [search_kb(find), count_tickets(tickets), run_sql(databases), read_section(outline), grep_code(repository)]
    )


def search_kb(find: Callable[[str, int], Found], description: str = CLEAR["search_kb"], k: int = 3) -> Tool:
    """Return the tool over an index, such as `bm25.Index.find`. No evidence comes back with the reason."""

    def run(query: str) -> str:
        found = find(query, k)
        hits = [f"[{hit.id}] {hit.text}" for hit in found.hits]
        return "\n".join([*hits, *([found.note] if found.note else [])]) or "No evidence."

    return Tool("search_kb", description, {"query": {"type": "string"}}, run, ("query",))


def count_tickets(tickets: TicketTools, description: str = CLEAR["count_tickets"]) -> Tool:
    """Return the fixed tool over the ticket table; its allowed values are read from the table now."""
    allowed = tickets.allowed()
    column: dict[str, dict[str, object]] = {
        name: {"type": "string", "enum": list(values)} for name, values in allowed.items()
    }

    def run(team: str, priority: str, status: str = "open") -> str:
        count = tickets.count_tickets(team, priority, status)
        return json.dumps({"count": count, "team": team, "priority": priority, "status": status})

    return Tool("count_tickets", description, column, run, ("team", "priority"))


def run_sql(sources: Mapping[str, tuple[Path, Guard, Card]], description: str = CLEAR["run_sql"]) -> Tool:
    """Return the guarded tool over one or several databases: {name: (file, guard, schema card)}.

    The cards stand behind the description, so that a model sees tables, values and meanings before it writes.
    """
    cards = "\n\n".join(f"Database {name}:\n{card.text()}" for name, (_, _, card) in sources.items())

    def run(sql: str, database: str) -> str:
        path, guard, _ = sources[database]
        result = guard.run(path, sql)
        rows = [dict(zip(result.columns, row, strict=True)) for row in result.rows]
        return json.dumps({"rows": rows, "note": result.note}, ensure_ascii=False, default=str)

    properties: dict[str, dict[str, object]] = {
        "sql": {"type": "string"},
        "database": {"type": "string", "enum": list(sources)},
    }
    return Tool("run_sql", description, properties, run, ("sql", "database"), cards)


def read_section(outline: Outline, description: str = CLEAR["read_section"]) -> Tool:
    """Return the tool over one outline. It adds to a section what it refers to; the id "toc" lists all ids."""

    def run(id: str) -> str:
        if id.strip().casefold() == TOC:
            return outline.toc()
        text = text_of(outline, id, LONGEST)
        targets = dict.fromkeys(target for found in outline.references_from(id) for target in found.targets)
        refers = [f"[{target}] {outline.node(target).title}" for target in targets]
        return f"{text}\nRefers to: {'; '.join(refers)}" if refers else text

    told = {"type": "string", "description": f"an id from the table of contents; {TOC!r} lists it"}
    return Tool("read_section", description, {"id": told}, run, ("id",), outline.toc(depth=2)[:4000])


def grep_code(repository: Repository, description: str = CLEAR["grep"]) -> Tool:
    """Return the tool over a repository. Hits are capped, and the number cut is said."""

    def run(pattern: str, path: str = "") -> str:
        return tool_text(grep(repository, pattern, path, context=2))

    properties = {"pattern": {"type": "string"}, "path": {"type": "string", "description": "a folder or file"}}
    return Tool("grep", description, properties, run, ("pattern",))
