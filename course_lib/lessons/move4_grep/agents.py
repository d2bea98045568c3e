"""Scripts that stand in for a model at the keyboard: which words they type, and in which order.

They show a mechanism and measure no model. Their table of synonyms was written with the course's questions in view, and
they read perfectly: the answer is recognised as soon as its line is on the screen, and nothing else is taken for it.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, TypeAlias

from course_lib.bm25 import QUESTION_WORDS
from course_lib.grep import Answer, Call, Excerpt, Found, Ranked, Step
from course_lib.grep.loop import Policy

Sees: TypeAlias = Callable[[Step], bool]

NAME: Final = re.compile(r"[A-Za-z_]\w*(?:\.\w+)+|\w*_\w+|\b[A-Z][a-z]+[A-Z]\w*")
CONSTANT: Final = re.compile(r"\b_?[A-Z][A-Z_]{4,}\b|\bmax_[a-z_]+\b")
EMPTY: Final = QUESTION_WORDS | frozenset(
    [
        *("after", "again", "any", "before", "between", "default", "given", "gets", "give", "long", "many", "most"),
        *("much", "needs", "other", "several", "so", "than", "them", "until", "unless", "one", "two", "when", "while"),
        "without",
    ]
)
TOO_MANY: Final = 30  # hits: more say that the pattern is too wide
BEFORE, AFTER = 6, 24  # lines read around a hit

SAME: Final = (
    ("retry", "retries", "attempt", "again"), ("wait", "delay", "sleep", "timeout", "pause", "interval", "poll"),
    ("longest", "maximum", "largest", "max", "limit", "most"), ("line", "maxline", "row"),
    ("size", "length", "width", "wide", "long", "len"), ("refuse", "raise", "error", "fail", "exceed"),
    ("connection", "socket", "connect"), ("remember", "cache", "keep", "kept"), ("equal", "same", "compare", "cmp"),
    ("screen", "terminal", "console"), ("characters", "columns", "chars"), ("worker", "process", "pool"),
    ("mail", "message", "mailbox"), ("leftover", "temporary", "temp", "tmp", "stale"), ("year", "leap"),
    ("snippet", "timer", "statement", "stmt"), ("speed", "time", "seconds"), ("jobs", "tasks", "chunks"),
    ("server", "host"), ("folder", "directory", "dir"), ("download", "fetch", "retrieve"),
    ("brightness", "luminance", "rgb"), ("sentence", "text", "placeholder"), ("deep", "depth", "recursion"),
    ("redirect", "redirections"), ("number", "count"), ("bytes", "buffer", "entropy"), ("child", "children"),
)  # fmt: skip


def names_in(question: str) -> list[str]:
    """Return the names of code that a question quotes, their last parts, the longest first.

    >>> names_in("What does csv.Sniffer.has_header look at?")
    ['has_header']
    """
    found = dict.fromkeys(name.rsplit(".", 1)[-1] for name in NAME.findall(question))
    return sorted(found, key=len, reverse=True)


def words_in(question: str) -> list[str]:
    """Return the words of a question that may stand in code, in their order, without their endings.

    >>> words_in("How many redirects does urllib follow?")
    ['redirect', 'urllib', 'follow']
    """
    words = [word.lower() for word in re.findall(r"[A-Za-z0-9]{3,}", question)]
    return list(dict.fromkeys(_stem(word) for word in words if word not in EMPTY))


def _stem(word: str) -> str:
    for ending in ("ing", "ies", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return word


def one_pattern(question: str) -> str:
    """Return what somebody types who searches once: the longest name of code, else the longest word.

    >>> one_pattern("How often do we retry a failed payment webhook?")
    'payment'
    """
    names = names_in(question)
    return rf"\b{names[0]}\b" if names else max(words_in(question), key=len, default="TODO")


def patterns(question: str) -> list[str]:
    """Return what somebody types who searches on: names, then neighbouring words on one line, with their synonyms."""
    names, words = names_in(question), words_in(question)
    by_name = [pattern for name in names for pattern in (rf"(def|class) {name}\b", rf"\b{name}\b")]
    pairs = [_together(either(one), either(two)) for one, two in pairwise(words)]
    return [*by_name, *pairs]


def _together(one: str, two: str) -> str:
    return f"{one}.*{two}|{two}.*{one}"


def either(word: str) -> str:
    """Return a pattern for a word and what counts as the same.

    >>> either("timer")
    '(timer|snippet|statement|stmt)'
    """
    same = [other for group in SAME if word in map(_stem, group) or word in group for other in group]
    return f"({'|'.join(dict.fromkeys([word, *map(_stem, same)]))})"


def constants_in(text: str) -> list[str]:
    """Return the names in a piece of code that look like constants set somewhere else.

    >>> constants_in("if len(headers) > _MAXHEADERS:")
    ['_MAXHEADERS']
    """
    return list(dict.fromkeys(CONSTANT.findall(text)))[:8]


@dataclass(frozen=True)
class Ask:
    """What a stand-in does with one question: its calls in order, and what it makes of each result."""

    calls: tuple[Call, ...]
    follows: bool = True


def policy(ask: Ask, sees: Sees) -> Policy:
    """Return a policy that makes the calls in turn, looks closer at what is found, and answers once `sees` says so.

    After few hits it reads around the first; after code it looks up the constants that the code names.
    """

    def decide(question: str, steps: tuple[Step, ...]) -> Call | Answer | None:
        if steps and sees(steps[-1]):
            return Answer(steps[-1].result)
        made = [step.call for step in steps]
        closer = _closer(steps[-1]) if steps and ask.follows else ()
        return next((call for call in (*closer, *ask.calls) if call not in made), None)

    return decide


def _closer(step: Step) -> Iterable[Call]:
    value = step.value
    if isinstance(value, Found) and value.matches and (value.total or 0) <= TOO_MANY and "=" not in value.pattern:
        yield from _around(value)
    if isinstance(value, Excerpt | Ranked):
        names = constants_in(step.result)
        if names:
            yield Call("grep", {"pattern": rf"^\s*({'|'.join(names)})\s*="})


def _around(found: Found) -> Iterator[Call]:
    best = min(found.matches, key=lambda match: not re.match(r"\s*(async )?(def|class) ", match.text))
    yield Call("read", {"path": best.path, "start": max(1, best.line - BEFORE), "end": best.line + AFTER})


def one_grep(question: str) -> Ask:
    """Search once and look at the hits."""
    return Ask((Call("grep", {"pattern": one_pattern(question)}),), follows=False)


def grep_agent(question: str) -> Ask:
    """Search with one pattern after the other, read, look constants up."""
    return Ask(tuple(Call("grep", {"pattern": pattern}) for pattern in patterns(question)))


def one_search(question: str) -> Ask:
    """Ask the ranking search once."""
    return Ask((Call("search", {"query": question}),), follows=False)


def both(question: str) -> Ask:
    """Search for names by grep first; without one ask the ranking search first, and then go on by grep."""
    greps, search = grep_agent(question).calls, Call("search", {"query": question})
    names = 2 * len(names_in(question))
    return Ask((*greps[:names], search, *greps[names:]))
