"""A model's turn with the tools: what goes back to it, what that costs on every later call, and who gives the orders.

Who decides here is a policy: a model behind an interface, or a script that stands in for one. The loop calls only the
tools that are on the list, with the arguments that are on it. What a tool found is data: it is handed to the policy
as a result, and no part of the loop ever looks into it for something to do.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from course_lib.grep.content import shown
from course_lib.grep.repository import Repository
from course_lib.grep.search import LIMITS, Excerpt, Found, Limits, Match, grep, read
from course_lib.retrieval import Hit, Retriever, Usage
from course_lib.tokens import count_tokens

# --- What goes back to a model, and what it costs from then on --------------------------------------------------


@dataclass(frozen=True)
class Ranked:
    """The answer of a search that ranks texts, such as one over vectors: the best hits, and what they say."""

    query: str
    hits: tuple[Hit, ...]

    def __str__(self) -> str:
        texts = [f"{shown(hit.id)}\n" + "\n".join(map(shown, hit.text.split("\n"))) for hit in self.hits]
        return "\n\n".join(texts) or "Nothing was found."


Result: TypeAlias = Found | Excerpt | Ranked


def tool_text(result: Result) -> str:
    """Return a result as a model gets it: one line a hit or a line read, and the note on what is not shown.

    >>> from course_lib.grep import Memory
    >>> print(tool_text(grep(Memory({"a.py": "x = 1\\n"}), "y")))
    No line matches in 1 file. Other words may: try a synonym.
    """
    if isinstance(result, Ranked):
        return str(result)
    if isinstance(result, Excerpt):
        return str(result) or "The file is empty."
    if not any(match.before or match.after for match in result.matches):
        return str(result)
    lines = {key: text for match in result.matches for key, text in _around(match)}
    lines |= {(match.path, match.line): f"{shown(match.path)}:{match.line}: {match.window}" for match in result.matches}
    order = {match.path: place for place, match in enumerate(reversed(result.matches))}
    shown_lines = [lines[key] for key in sorted(lines, key=lambda key: (-order[key[0]], key[1]))]
    return "\n".join([*shown_lines, *([result.note] if result.note else [])])


def _around(match: Match) -> list[tuple[tuple[str, int], str]]:
    """Return the lines around a hit, written with a hyphen as grep does, each under its file and number."""
    first = match.line - len(match.before)
    numbered = [*enumerate(match.before, first), *enumerate(match.after, match.line + 1)]
    return [((match.path, number), f"{shown(match.path)}-{number}- {text}") for number, text in numbered]


def carried(results: Sequence[int], cache: bool = False) -> Usage:
    """Return what the results of one conversation cost as input, in tokens: each is sent again on every later call.

    `results` holds the tokens of each result in the order of the calls. With a cache a result is written once and read
    from then on, provided that the prefix is as long as the provider asks.

    >>> carried([500, 100, 300]).input
    2000
    """
    later = [len(results) - place for place in range(len(results))]  # calls that carry it; the first is the next one
    sent = sum(tokens * calls for tokens, calls in zip(results, later, strict=True))
    if not cache:
        return Usage(fresh=sent, calls=len(results))
    return Usage(written=sum(results), cached=sent - sum(results), calls=len(results))


# --- The loop ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Call:
    """A request to use a tool, as a model writes it: nothing in it has been checked."""

    tool: str
    arguments: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Answer:
    """The end of the search, in words."""

    text: str


@dataclass(frozen=True)
class Step:
    """One call and what came back. `value` is None where the call was refused; `result` then says why."""

    call: Call
    result: str
    tokens: int
    value: Result | None = None

    @property
    def refused(self) -> bool:
        """Whether no tool was used."""
        return self.value is None


@dataclass(frozen=True)
class Budget:
    """When the loop stops by itself: after so many calls, or when the results have so many tokens."""

    calls: int = 8
    tokens: int = 20_000

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ValueError(f"{name} is {value!r}, but a budget is a whole number above 0")


BUDGET: Final = Budget()


@dataclass(frozen=True)
class Run:
    """A search from question to end: its steps, and the answer, or None where it was stopped before."""

    question: str
    steps: tuple[Step, ...]
    answer: str | None
    ended: Literal["answered", "out of calls", "out of tokens", "nothing more to do"]

    @property
    def usage(self) -> Usage:
        """What the results cost as input over the whole search, without a cache."""
        return carried([step.tokens for step in self.steps])


Policy: TypeAlias = Callable[[str, tuple[Step, ...]], Call | Answer | None]

TOOLS: Final[dict[str, dict[str, type]]] = {
    "grep": {"pattern": str, "path": str, "context": int},
    "read": {"path": str, "start": int, "end": int},
}
SEARCH: Final[dict[str, dict[str, type]]] = {"search": {"query": str, "k": int}}  # on the list where there is one
MOST_RANKED: Final = 10
_NEEDED: Final = {"grep": "pattern", "read": "path", "search": "query"}


def search_loop(
    question: str,
    policy: Policy,
    repository: Repository,
    budget: Budget = BUDGET,
    limits: Limits = LIMITS,
    ranked: Retriever | None = None,
) -> Run:
    """Ask the policy for the next call until it answers or the budget is used up, and return what happened.

    With `ranked`, a search that ranks texts, there is a third tool, `search`. The policy gets the question and the
    steps so far. A call that is not on the list, or that a tool refuses, comes back as a step whose result says why; it
    counts as a call and ends nothing.

    >>> from course_lib.grep import Memory
    >>> run = search_loop("How many?", scripted([Call("rm", {"path": "a.py"})]), Memory({"a.py": "x = 1\\n"}))
    >>> run.steps[0].result
    "There is no tool 'rm'; there are grep and read."
    """
    steps: tuple[Step, ...] = ()
    while True:
        move = policy(question, steps)
        if move is None:
            return Run(question, steps, None, "nothing more to do")
        if isinstance(move, Answer):
            return Run(question, steps, move.text, "answered")
        if len(steps) >= budget.calls:
            return Run(question, steps, None, "out of calls")
        steps = (*steps, _step(move, repository, limits, ranked))
        if sum(step.tokens for step in steps) > budget.tokens:
            return Run(question, steps, None, "out of tokens")


def _step(move: Call, repository: Repository, limits: Limits, ranked: Retriever | None) -> Step:
    """Make the call if it is on the list, and turn whatever it says into a result."""
    if not isinstance(move, Call):  # a model's reply may be anything, a text it has read in a file included
        text = f"{type(move).__name__} is no call. Use a tool, or answer."
        return Step(Call("", {}), text, count_tokens(text))
    problem = why_not(move, TOOLS if ranked is None else TOOLS | SEARCH)
    value: Result | None = None
    if problem is None:
        try:
            value = _call(move, repository, limits, ranked)
        except ValueError as error:  # PatternError and PathError are: sentences that the model can act on
            problem = str(error)
    text = tool_text(value) if value is not None else str(problem)
    return Step(move, text, count_tokens(text), value)


def why_not(call: Call, tools: Mapping[str, Mapping[str, type]] = TOOLS) -> str | None:
    """Return why a call is not made, in a sentence, or None for one that is on the list."""
    if not isinstance(call.tool, str) or call.tool not in tools:
        return f"There is no tool {call.tool!r}; there are {' and '.join(tools)}."
    known = tools[call.tool]
    if not isinstance(call.arguments, Mapping) or _NEEDED[call.tool] not in call.arguments:
        return f"{call.tool} needs {_NEEDED[call.tool]}; it takes {', '.join(known)}."
    for name, value in call.arguments.items():
        if name not in known:
            return f"{call.tool} takes no {name!r}; it takes {', '.join(known)}."
        if not isinstance(value, known[name]) or isinstance(value, bool):
            return f"{name} is {value!r}, but it must be {'a text' if known[name] is str else 'a whole number'}."
    return None


def _call(call: Call, repository: Repository, limits: Limits, ranked: Retriever | None) -> Result:
    given = call.arguments
    if call.tool == "search" and ranked is not None:
        query = str(given["query"])
        k = _int(given, "k", 3)
        if not 1 <= k <= MOST_RANKED:
            raise ValueError(f"k is {k}, but it is a whole number from 1 to {MOST_RANKED}")
        return Ranked(query, tuple(ranked(query, k)))
    if call.tool == "grep":
        pattern, path, context = str(given["pattern"]), str(given.get("path", "")), _int(given, "context", 0)
        return grep(repository, pattern, path, limits=limits, context=context)
    start = _int(given, "start", 1)
    return read(repository, str(given["path"]), start, _int(given, "end", start + 39), limits=limits)


def _int(given: Mapping[str, object], name: str, default: int) -> int:
    value = given.get(name, default)
    return value if isinstance(value, int) else default


# --- Scripts that stand in for a model --------------------------------------------------------------------------


def scripted(moves: Sequence[Call | Answer]) -> Policy:
    """Return a policy that makes these moves in order, whatever it reads. It shows a mechanism, and measures none."""
    return lambda question, steps: moves[len(steps)] if len(steps) < len(moves) else None


def synonyms(patterns: Sequence[str], around: int = 8) -> Policy:
    """Return a policy that tries patterns in turn until one finds something, and reads around its first hit.

    It answers with what it has read, or that no word it knew was there. Each pattern in vain is a call.
    """

    def policy(question: str, steps: tuple[Step, ...]) -> Call | Answer | None:
        last = steps[-1].value if steps else None
        if isinstance(last, Excerpt):
            return Answer(steps[-1].result)
        if isinstance(last, Found) and last.matches:
            hit = last.matches[0]
            return Call("read", {"path": hit.path, "start": max(1, hit.line - around), "end": hit.line + around})
        if len(steps) < len(patterns):
            return Call("grep", {"pattern": patterns[len(steps)]})
        return Answer("Nothing was found under any of the words tried.")

    return policy
