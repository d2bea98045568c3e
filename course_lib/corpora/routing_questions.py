"""Questions as people ask an assistant with five tools, each labelled with the tool that can answer it, or none.

They were written from what five kinds of people need (a shop with a terminal, a support desk, accounts, contracts, a
developer) and split into halves before any rule of the router was written. One hand wrote questions and rules: people
you have never met will ask otherwise, and a router does worse on them.
"""

import json
from dataclasses import dataclass
from functools import cache
from typing import Literal

from course_lib.corpora import DATA

QUESTIONS = DATA / "routing_questions.json"

Half = Literal["tuning", "held out"]


@dataclass(frozen=True)
class RoutingQuestion:
    """A question, the tool that is meant for it (None: no tool may or can), and those that also lead to the answer.

    `half` says whether the rules may be tuned on it, or are measured on it.
    """

    text: str
    tool: str | None
    half: Half
    also: tuple[str, ...] = ()


@cache
def routing_questions(half: Half | None = None) -> tuple[RoutingQuestion, ...]:
    """Return the labelled questions, all or those of one half.

    >>> len(routing_questions("tuning")), len(routing_questions("held out"))
    (42, 42)
    """
    entries = json.loads(QUESTIONS.read_text(encoding="utf-8"))
    every = (RoutingQuestion(e["question"], e["tool"], e["half"], tuple(e.get("also", ()))) for e in entries)
    return tuple(question for question in every if half in (None, question.half))
