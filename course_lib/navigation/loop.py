"""The loop: a model reads the table of contents, names a section, and code checks the name and returns the text.

The module goes the way of its notebook: what a model decides, how a decision is checked, what one step leaves behind,
the loop, and how it ends. A model is any function `model(question, toc, evidence, error)`; nothing it says is trusted.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, TypeAlias

from course_lib.llm import ModelError
from course_lib.navigation.outline import Outline
from course_lib.navigation.tree import Node, walk
from course_lib.pricing import Price, cost
from course_lib.retrieval import Usage
from course_lib.tokens import count_tokens

Evidence: TypeAlias = Mapping[str, str]  # id -> text, in the order of reading
Ending: TypeAlias = Literal["answered", "nothing read", "budget spent", "refused", "spending limit", "service failed"]

MAX_STEPS = 6
LONGEST = 20_000  # characters of one read; a longer chapter gives its own text and the list of its parts
STEP_OUTPUT = 80  # tokens that a decision takes where no provider counted them: the figure of the bill
SHOWN = 200  # characters of a name that a model invented

# --- What a model decides ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Decision:
    """What a model wants: read the nodes that it names, or answer. `usage` and `usd` are None where nobody counted."""

    action: Literal["read", "answer"]
    nodes: tuple[str, ...] = ()
    reason: str = ""
    usage: Usage | None = None
    usd: float | None = None


class Navigator(Protocol):
    """A model in the loop. Raises ModelError where it has no usable reply."""

    def __call__(self, question: str, toc: str, evidence: Evidence, error: str | None = None) -> Any:
        """Return a Decision, or a mapping such as {"action": "read", "node": "7.3"}."""
        ...


def read(*nodes: str, reason: str = "") -> Decision:
    """Return the decision to read these nodes."""
    return Decision("read", nodes, reason)


ANSWER = Decision("answer")


def decision_of(said: object) -> Decision:
    """Return what a model said as a Decision, whatever shape it has. Raises ValueError with a sentence for the model.

    >>> decision_of({"action": "read", "node": "7.3"})
    Decision(action='read', nodes=('7.3',), reason='', usage=None, usd=None)
    """
    if isinstance(said, Decision):
        decision = replace(said, nodes=tuple(map(str, said.nodes)))
    elif isinstance(said, Mapping) and said.get("action") in ("read", "answer"):
        named = said.get("nodes", said.get("node", ()))
        several = named if isinstance(named, list | tuple) else [named]
        nodes = tuple(str(node) for node in several if node not in (None, "", "none"))
        decision = Decision(said["action"], nodes, str(said.get("reason") or ""))
    else:
        raise ValueError(f'your reply was {_short(said)}, but {{"action": "read" or "answer", "node": id}} is needed')
    if decision.action == "read" and not decision.nodes:
        raise ValueError("you chose to read and named no node: name an id from the outline, or answer")
    return decision


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"


# --- How a decision is checked ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Checked:
    """The nodes that may be read, and the error for the model about those that may not; None where there is none."""

    nodes: tuple[Node, ...]
    error: str | None = None


def check(decision: Decision, outline: Outline, evidence: Evidence, reads: int = 1) -> Checked:
    """Check every name of a decision against the outline, capitals aside, and against what was read already.

    A name that is no id, be it a title, is answered with the near matches and the valid ids. No more than `reads`
    nodes are let through; the names behind them are mentioned, and can be asked for in the next step.
    """
    good, errors = list[Node](), list[str]()
    names = list(dict.fromkeys(decision.nodes))
    for at, name in enumerate(names):
        if len(good) == reads:
            errors.append(f"{reads} read{'s' if reads > 1 else ''} a step: not read: {', '.join(names[at:])[:SHOWN]}")
            break
        node = outline.find(name)
        if node is None:
            errors.append(outline.unknown(name[:SHOWN]))
        elif node.id in evidence or node in good:
            errors.append(f"{node.id} was read already: its text is in the evidence; read another node, or answer")
        else:
            good.append(node)
    return Checked(tuple(good), "; ".join(errors) or None)


def text_of(outline: Outline, id: str, longest: int = LONGEST) -> str:
    """Return what a read of a node gives: its text with everything inside it.

    Where that is longer than `longest` characters and the node has parts, it is the text before the first part, and
    the list of the parts to choose from; a part without parts of its own is given whole, however long it is.
    """
    node = outline.node(id)
    whole = outline.text(node.id)
    if len(whole) <= longest or not node.children:
        return whole
    own = outline.document[node.start : node.children[0].start].strip()
    parts = "\n".join(f"[{part.id}] {part.title}" for part in node.children)
    return f"{own}\n\nThis section has parts. Read the ones that you need:\n{parts}".strip()


def covered(outline: Outline, id: str, longest: int = LONGEST) -> list[str]:
    """Return the ids of the nodes whose text a read of this one gives: itself, and all inside where it fits."""
    node = outline.node(id)
    if len(outline.text(node.id)) <= longest:
        return [inside.id for inside in walk([node])]
    return [node.id]


# --- What a step leaves behind ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Step:
    """One call of the model, counted from 1: what it saw, what it wanted, and what came of it.

    `seen` counts the tokens of question, outline, evidence and error; a provider's own count stands in `usage`, which
    is an estimate (`seen`, and STEP_OUTPUT) where nobody counted. `added` are the ids read, `error` is what the model
    is told next. `input_so_far` and `usd_so_far` add up the steps; USD is None without a price.
    """

    number: int
    seen: int
    action: str
    asked: tuple[str, ...]
    reason: str
    added: tuple[str, ...]
    error: str | None
    usage: Usage
    input_so_far: int
    usd_so_far: float | None


@dataclass(frozen=True)
class Run:
    """A finished run: every step, the evidence {id: text}, how it ended, and what is missing in a sentence, else ""."""

    question: str
    document: str
    model: str
    max_steps: int
    steps: tuple[Step, ...]
    evidence: Evidence
    titles: Mapping[str, str] = field(default_factory=dict)
    ending: Ending = "answered"
    gap: str = ""

    @property
    def usage(self) -> Usage:
        """All tokens of all steps."""
        return sum((step.usage for step in self.steps), Usage())

    @property
    def usd(self) -> float | None:
        """What all steps cost, None without a price."""
        return self.steps[-1].usd_so_far if self.steps else 0.0

    @property
    def path(self) -> list[str]:
        """The ids in the order of reading: log this for every question."""
        return list(self.evidence)

    def rows(self) -> list[tuple[str, str, str]]:
        """Return the trace as (step, what, detail), with a last row where the run did not end by an answer.

        A step that read something and was told something has both in its detail.
        """
        rows = [(str(step.number), *self._row(step)) for step in self.steps]
        return rows if self.ending in ("answered", "nothing read") else [*rows, ("-", self.ending, self.gap)]

    def _row(self, step: Step) -> tuple[str, str]:
        if step.added:
            titles = "; ".join(self.titles.get(id, "") for id in step.added)
            return f"read {', '.join(step.added)}", titles + (f" ({step.error})" if step.error else "")
        if step.error:
            return "error", step.error
        return "answer", f"from {', '.join(self.evidence)}" if self.evidence else self.gap


# --- The loop ---------------------------------------------------------------------------------------------------


def navigate(
    question: str,
    outline: Outline,
    model: Navigator,
    max_steps: int = MAX_STEPS,
    *,
    reads_per_step: int = 1,
    drop_errors: bool = False,
    longest: int = LONGEST,
    toc: str | None = None,
    price: Price | None = None,
    count: Callable[[str], int] = count_tokens,
) -> Run:
    """Let `model` read its way through the outline, and return the run, which ends after `max_steps` at the latest.

    `toc` is what the model sees of the outline, all titles unless given. With `drop_errors` the model never learns
    what was wrong, which shows why it must. A failing service ends the run, and what was read so far is kept.
    Raises ValueError for a blank question, or for fewer than one step or one read a step.

    >>> from course_lib.navigation.outline import from_sections
    >>> agreement = from_sections([("7.3", "Late payment", "See Schedule B."), ("B", "Rates", "12% a year.")])
    >>> script = iter([read("schedule b"), read("b"), ANSWER])
    >>> run = navigate("Which rate?", agreement, lambda *seen: next(script))
    >>> [(step.added, step.error and step.error[:27]) for step in run.steps]
    [((), "unknown node 'schedule b'; "), (('B',), None), ((), None)]
    """
    _checked_arguments(question, max_steps, reads_per_step)
    toc = outline.toc() if toc is None else toc
    evidence, steps, error = dict[str, str](), list[Step](), None
    fixed = count(question) + count(toc)
    sizes = dict[str, int]()
    ending: Ending | None = None
    gap = ""
    while ending is None and len(steps) < max_steps:
        told = None if drop_errors else error
        seen = fixed + sum(sizes.values()) + (count(told) if told else 0)
        turn = _turn(model, (question, toc, dict(evidence), told), outline, evidence, reads_per_step)
        for node in turn.nodes:
            evidence[node.id] = text_of(outline, node.id, longest)
            sizes[node.id] = count(evidence[node.id])
        steps.append(_step(turn, seen, steps, price))
        error, ending, gap = turn.error, turn.ending, turn.gap
    if ending is None:
        ending, gap = "budget spent", f"The budget of {max_steps} steps is spent. {missing(outline, evidence, error)}"
    if ending in ("answered", "nothing read") and not evidence:
        ending, gap = "nothing read", "The model answered and had read nothing: there is no evidence."
    elif ending in ("refused", "spending limit", "service failed"):
        gap = f"{gap} Read so far, and kept: {', '.join(evidence) or 'nothing'}."
    titles = {id: outline.node(id).title for id in evidence}
    return Run(question, outline.title, _name(model), max_steps, tuple(steps), evidence, titles, ending, gap)


def _checked_arguments(question: str, max_steps: int, reads_per_step: int) -> None:
    if not question.strip():
        raise ValueError("There is nothing to ask: the question is blank")
    for name, value in (("max_steps", max_steps), ("reads_per_step", reads_per_step)):
        if type(value) is not int or value < 1:
            raise ValueError(f"{name} is {value!r}, but a whole number of 1 or more is needed")


def _name(model: Navigator) -> str:
    return str(getattr(model, "__name__", type(model).__name__))


@dataclass(frozen=True)
class _Turn:
    """What one call of the model came to."""

    decision: Decision | None
    nodes: tuple[Node, ...] = ()
    error: str | None = None
    ending: Ending | None = None
    gap: str = ""
    usage: Usage | None = None
    usd: float | None = None


def _turn(
    model: Navigator,
    seen: tuple[str, str, Evidence, str | None],
    outline: Outline,
    evidence: Evidence,
    reads: int,
) -> _Turn:
    """Ask once. What the model can mend becomes an error for it, any other failure of the service an ending."""
    try:
        said = model(*seen)
    except ModelError as failure:
        usage = failure.usage if failure.usage.calls else None
        if failure.for_model:
            return _Turn(None, error=failure.for_model, usage=usage, usd=failure.usd)
        return _Turn(None, (), str(failure), _ending(failure), str(failure), usage, failure.usd)
    try:
        decision = decision_of(said)
    except ValueError as shape:
        counted = (said.usage, said.usd) if isinstance(said, Decision) else (None, None)
        return _Turn(None, error=str(shape), usage=counted[0], usd=counted[1])
    if decision.action == "answer":
        return _Turn(decision, ending="answered", usage=decision.usage, usd=decision.usd)
    checked = check(decision, outline, evidence, reads)
    return _Turn(decision, checked.nodes, checked.error, usage=decision.usage, usd=decision.usd)


def _ending(failure: ModelError) -> Ending:
    endings: dict[str, Ending] = {"refusal": "refused", "limit": "spending limit"}
    return endings.get(failure.kind, "service failed")


def _step(turn: _Turn, seen: int, before: Sequence[Step], price: Price | None) -> Step:
    failed = turn.decision is None and turn.ending is not None
    usage = turn.usage or (Usage() if failed else Usage(seen, output=STEP_OUTPUT, calls=1))
    usd = turn.usd if turn.usd is not None else cost(usage, price) if price else None
    spent = before[-1].usd_so_far if before else 0.0
    decision = turn.decision
    return Step(
        number=len(before) + 1,
        seen=seen,
        action=decision.action if decision else "none",
        asked=tuple(name[:SHOWN] for name in decision.nodes) if decision else (),
        reason=decision.reason if decision else "",
        added=tuple(node.id for node in turn.nodes),
        error=turn.error,
        usage=usage,
        input_so_far=(before[-1].input_so_far if before else 0) + usage.input,
        usd_so_far=None if usd is None or spent is None else spent + usd,
    )


# --- What is missing --------------------------------------------------------------------------------------------


def unread_references(outline: Outline, evidence: Evidence, longest: int = LONGEST) -> dict[str, str]:
    """Return the ids that the sections read refer to and that were not read, each with the section that names it.

    What lies inside a section that was read has been read with it. A reference to itself or in a circle is none.
    """
    inside = {part for id in evidence for part in covered(outline, id, longest)}
    unread: dict[str, str] = {}
    for id in evidence:
        for reference in outline.references_from(id):
            for target in reference.targets:
                if target not in inside:
                    unread.setdefault(target, id)
    return unread


def missing(outline: Outline, evidence: Evidence, error: str | None = None) -> str:
    """Return the gap in a sentence or three: what was read, what it refers to and was not, and the last error."""
    unread = unread_references(outline, evidence)
    named = "; ".join(f"{source} refers to {target}, which was not read" for target, source in unread.items())
    parts = [f"Read: {', '.join(evidence) or 'nothing'}."]
    parts += [f"{named[0].upper()}{named[1:]}."] if named else []
    parts += [f"The last error: {error}."] if error else []
    return " ".join([*parts, "Answer from what was read, and say what is missing."])
