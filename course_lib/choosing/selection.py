"""Tool-selection accuracy: how often the right tool is chosen, where the choice goes instead, on labelled questions."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from course_lib.choosing.router import Chooser
from course_lib.metrics import Rate, rate

NO_TOOL = "no tool"


class Labelled(Protocol):
    """A question with the tool that is meant for it, None for no tool, and those that lead to the answer as well."""

    @property
    def text(self) -> str: ...
    @property
    def tool(self) -> str | None: ...
    @property
    def also(self) -> Sequence[str]: ...


@dataclass(frozen=True)
class Choice:
    """A question, the label and the tool chosen. `answers` says whether the tool chosen leads to the answer at all."""

    text: str
    tool: str | None
    chosen: str | None
    answers: bool

    @property
    def right(self) -> bool:
        """Whether the tool that is meant for the question was chosen."""
        return self.tool == self.chosen


@dataclass(frozen=True)
class Selection:
    """All choices of one chooser."""

    choices: tuple[Choice, ...]

    @property
    def accuracy(self) -> Rate:
        """The share of questions for which the tool that is meant for them was chosen."""
        return rate(sum(choice.right for choice in self.choices), len(self.choices))

    @property
    def answerable(self) -> Rate:
        """The share of questions for which a tool was chosen that leads to the answer, be it not the one meant."""
        return rate(sum(choice.answers for choice in self.choices), len(self.choices))

    @property
    def misses(self) -> list[Choice]:
        """The choices that are not right, in the order of the questions."""
        return [choice for choice in self.choices if not choice.right]

    def confusion(self) -> dict[str, dict[str, int]]:
        """Return {tool meant: {tool chosen: questions}}, in the order of the labels; "no tool" for None."""
        names = list(dict.fromkeys([*(_name(c.tool) for c in self.choices), *(_name(c.chosen) for c in self.choices)]))
        counts = Counter((_name(choice.tool), _name(choice.chosen)) for choice in self.choices)
        meant = dict.fromkeys(_name(choice.tool) for choice in self.choices)
        return {tool: {chosen: counts[tool, chosen] for chosen in names} for tool in meant}

    def __str__(self) -> str:
        table = self.confusion()
        columns = list(next(iter(table.values()), {}))
        rows = [["meant, chosen", *columns], *([tool, *(str(of[c]) for c in columns)] for tool, of in table.items())]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            "  ".join(
                cell.rjust(w) if at else cell.ljust(w) for at, (cell, w) in enumerate(zip(row, widths, strict=True))
            )
            for row in rows
        ]
        return "\n".join([*lines, f"right tool: {self.accuracy}"])


def _name(tool: str | None) -> str:
    return NO_TOOL if tool is None else tool


def select(choose: Chooser, questions: Iterable[Labelled]) -> Selection:
    """Let `choose` choose a tool for each question and compare with the labels. Raises ValueError without a question.

    >>> from types import SimpleNamespace
    >>> one = SimpleNamespace(text="How many P1 for Berlin?", tool="count_tickets", also=("run_sql",))
    >>> print(select(lambda question: "run_sql", [one]).accuracy)
    0.00 (n = 1, 95 % interval 0.00 to 0.79)
    """
    choices = []
    for question in questions:
        chosen = choose(question.text)
        choices.append(Choice(question.text, question.tool, chosen, chosen == question.tool or chosen in question.also))
    if not choices:
        raise ValueError("There is no question: a share of none is not known")
    return Selection(tuple(choices))
