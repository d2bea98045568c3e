"""A router of rules: the first rule whose words stand in the question names the tool. Nothing is asked, nothing costs.

It works where the shapes of questions are easy to tell apart, and it can be read: a wrong choice has a line that made
it. The rules are a list, so that a reader can change one and count again.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from course_lib.bm25 import storable

Chooser: TypeAlias = Callable[[str], str | None]  # from a question to the name of a tool, None for no tool

LONGEST = 2_000  # characters of a question that rules look at; no person types more to be routed


@dataclass(frozen=True)
class Rule:
    """A tool, the words or patterns of which one must stand in the question, and `also`, of which one must as well.

    Each is a regular expression, read without regard to capitals and bounded by the ends of words where it begins or
    ends with a letter or digit. `tool` is None for what no tool may do. Raises ValueError, naming the pattern, for one
    that is no regular expression.
    """

    tool: str | None
    words: tuple[str, ...]
    also: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if isinstance(self.words, str) or isinstance(self.also, str) or not self.words:
            raise ValueError(f"The words of a rule are a tuple of texts, one at least, and not {self.words!r}")
        for word in (*self.words, *self.also):
            try:
                re.compile(word)
            except re.error as error:
                raise ValueError(f"{word!r} is no regular expression: {error}") from None

    @cached_property
    def _patterns(self) -> tuple[re.Pattern[str], ...]:
        return tuple(_any_of(group) for group in (self.words, self.also) if group)

    def why(self, question: str) -> str | None:
        """Return what in the question meets the rule, or None where it does not."""
        found = [pattern.search(question) for pattern in self._patterns]
        met = [match.group() for match in found if match]
        return " + ".join(met) if len(met) == len(found) else None


def _any_of(words: Sequence[str]) -> re.Pattern[str]:
    return re.compile("|".join(rf"(?<!\w)(?:{word})(?!\w)" for word in words), re.IGNORECASE)


# Tuned on one half of the labelled questions. What tells a shape apart most surely comes first.
RULES: tuple[Rule, ...] = (
    Rule(None, ("delete", "translate", "weather", "thanks")),
    Rule("grep", (r"\w+\(\)", r"[a-z]+_[a-z_]+", r"\w+\.(?:py|md|toml|config)", "webhooks?", "code ?base", "repository",
                  "todo", "runbook", "in the code", "our code", "source code", "functions?")),
    Rule("search_kb", (r"E-? ?\d{3,4}", r"code \d+", "firmware", "screen", "display", "paper", "print(?:er|ing|s)?",
                       "battery", "standby", "chip", "card reader", "usb", "nfc", "contactless", "terminals?")),
    Rule("count_tickets", ("P[1-3]s?", r"priority \d"), ("Berlin", "Munich", "Lisbon")),
    Rule("read_section", ("contract", "agreement", r"schedule [A-Z]", "interest", "notice", r"terminat\w+", r"renew\w*",
                          r"suspen\w+", r"confidential\w*", "owns?", "dispute", "breach", "provider")),
    Rule("run_sql", ("revenue", "average", "share", "total", "most", "largest", "oldest", "overdue", "outstanding",
                     "invoices?", "payments?", "customers?", "billed", "per (?:country|month|team|day)")),
)  # fmt: skip


@dataclass(frozen=True)
class Route:
    """What a router chose: a tool or None, the number of the rule from 1 (0: none met), and what met it."""

    tool: str | None
    rule: int
    why: str


def route(question: str, rules: Sequence[Rule] = RULES) -> Route:
    """Return the choice of the first rule that the question meets. Any text is a question, also an empty one.

    >>> route("What does E-4471 mean?")
    Route(tool='search_kb', rule=3, why='E-4471')
    """
    asked = storable(question[:LONGEST])
    for number, rule in enumerate(rules, 1):
        why = rule.why(asked)
        if why is not None:
            return Route(rule.tool, number, why)
    return Route(None, 0, "")


def chooses(rules: Sequence[Rule] = RULES) -> Chooser:
    """Return the router as a function from a question to the name of a tool, or None."""
    return lambda question: route(question, rules).tool
