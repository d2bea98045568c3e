"""The whole source in the prompt: does it fit, what does it cost, who may see it, and what breaks the cache.

Nothing is indexed and nothing is ranked. What is left to decide is money, access and accuracy, and all of it can be
computed or asked for before the first call.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from math import exp, inf, isfinite, log
from typing import Literal, Protocol, TypeAlias

from course_lib.metrics import Rate
from course_lib.pricing import Lifetime, Price, cost, minutes_of, whole
from course_lib.retrieval import Usage
from course_lib.tokens import load_encoding

EVERYONE = "everyone"


# --- The prompt ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Passage:
    """A section of the source and the groups that may see it; nobody sees one without a group."""

    id: str
    title: str
    text: str
    audience: frozenset[str] = frozenset({EVERYONE})


def visible_to(passages: Iterable[Passage], groups: Collection[str]) -> list[Passage]:
    """Return the passages that a reader in `groups` may see, in their order.

    `groups` comes from the login, never from the question. Raises ValueError where it is one text instead of several.

    >>> pages = [Passage("1", "Fees", "…"), Passage("D", "Discounts", "…", frozenset({"finance"}))]
    >>> [page.id for page in visible_to(pages, {"sales"})]
    ['1']
    """
    if isinstance(groups, str):
        raise ValueError(f"groups is the text {groups!r}; a set of groups is needed, such as {{{groups!r}}}")
    allowed = {EVERYONE, *groups}
    return [passage for passage in passages if passage.audience & allowed]


class Titled(Protocol):
    """What can be laid out: anything with an id, a title and a text."""

    @property
    def id(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def text(self) -> str: ...


def lay_out(passages: Iterable[Titled]) -> str:
    """Return the source as it stands in the prompt: `[id] title`, the text below it, one newline in between.

    >>> lay_out([Passage("1", "Fees", "Due in 30 days."), Passage("2", "Term", "Three years.")])
    '[1] Fees\\nDue in 30 days.\\n[2] Term\\nThree years.'
    """
    return "\n".join(f"[{passage.id}] {passage.title}\n{passage.text}" for passage in passages)


def build_prompt(passages: Iterable[Passage], groups: Collection[str], question: str) -> tuple[str, str]:
    """Return the two parts of a prompt: the source that this reader may see, and the question behind it.

    The first part is the same for every question, so that a cache can keep it. Errors as in `visible_to`.
    """
    return lay_out(visible_to(passages, groups)), f"\n\nAnswer from the agreement above. Question: {question}"


def fits(tokens: int, window: int, reserve: int = 0) -> bool:
    """Say whether `tokens` fit a window of that many tokens and leave `reserve` for answer, thinking and growth.

    Raises ValueError where one of them is no whole number from 0 to 10**15.

    >>> fits(30_300, window=200_000, reserve=20_000), fits(190_000, window=200_000, reserve=20_000)
    (True, False)
    """
    for name, value in (("tokens", tokens), ("window", window), ("reserve", reserve)):
        whole(name, value)
    return tokens + reserve <= window


# --- The bill ------------------------------------------------------------------------------------------------------

CacheState: TypeAlias = Literal["no cache", "cold", "warm"]


def whole_document(prefix: int, rest: int, price: Price, state: CacheState = "no cache", output: int = 0) -> Usage:
    """Return the tokens of one question to a whole document: a `prefix` that stays the same, and the `rest`.

    A cold cache writes the prefix, a warm one reads it, and a prefix under the price's minimum is fresh either way.
    """
    for name, value in (("prefix", prefix), ("rest", rest), ("output", output)):
        whole(name, value)
    if state not in ("no cache", "cold", "warm"):
        raise ValueError(f"There is no state {state!r}; a cache is 'cold' or 'warm', or there is 'no cache'.")
    if state == "no cache" or prefix < price.minimum_prefix:
        return Usage(fresh=prefix + rest, output=output, calls=1)
    if state == "warm":
        return Usage(fresh=rest, cached=prefix, output=output, calls=1)
    return Usage(fresh=rest, written=prefix, output=output, calls=1)


def six_chunks(rest: int = 300, chunks: int = 6, chunk: int = 500, output: int = 0) -> Usage:
    """Return the tokens of one question to a pipeline that puts `chunks` chunks of `chunk` tokens into the prompt."""
    for name, value in (("rest", rest), ("chunks", chunks), ("chunk", chunk), ("output", output)):
        whole(name, value)
    return Usage(fresh=chunks * chunk + rest, output=output, calls=1)


def warm_share(per_hour: float, lifetime: Lifetime) -> float:
    """Return the share of questions that find the cache warm, between 0 and 1.

    Every question renews the entry, by reading it or by writing it, so a question finds it warm exactly if the one
    before came at most T ago. Where questions arrive independently at a rate of λ (a Poisson process), the gap between
    two is exponential and P(warm) = 1 − exp(−λ·T). The first question of all, which is always cold, is left out.
    Raises ValueError for a rate that is negative or no number.

    >>> round(warm_share(12, "5 minutes"), 3), round(warm_share(12, "1 hour"), 3)
    (0.632, 1.0)
    """
    _rate_of_arrival(per_hour)
    return 1 - exp(-per_hour * minutes_of(lifetime) / 60)


def _rate_of_arrival(per_hour: float) -> None:
    is_number = isinstance(per_hour, int | float) and not isinstance(per_hour, bool)
    if not is_number or not 0 <= per_hour <= 10**9:
        raise ValueError(f"per_hour is {per_hour!r}, but a number of questions from 0 to 10**9 is needed")


def expected_cost(prefix: int, rest: int, price: Price, lifetime: Lifetime, per_hour: float, output: int = 0) -> float:
    """Return the expected USD per question to a whole document with a cache, at `per_hour` questions an hour.

    E = P(warm) · cost(warm) + (1 − P(warm)) · cost(cold), with P(warm) as in `warm_share`.
    """
    warm, cold = _warm_and_cold(prefix, rest, price, lifetime, output)
    share = warm_share(per_hour, lifetime)
    return share * warm + (1 - share) * cold


def _warm_and_cold(prefix: int, rest: int, price: Price, lifetime: Lifetime, output: int) -> tuple[float, float]:
    warm = cost(whole_document(prefix, rest, price, "warm", output), price, lifetime)
    return warm, cost(whole_document(prefix, rest, price, "cold", output), price, lifetime)


def break_even(prefix: int, rest: int, price: Price, lifetime: Lifetime, other: float, output: int = 0) -> float | None:
    """Return from how many questions an hour the cached document costs at most `other`, in USD per question.

    With w, c and r for warm, cold and `other`, E = r gives λ = ln((c − w) / (r − w)) / T. The result is 0.0 where even
    a cold cache costs no more, and None where a warm one costs as much or more (to one part in a million), so that no
    rate is enough. Raises ValueError for an `other` that is negative or no finite number.

    >>> reads_at_2_5 = Price("example", 3.0, 15.0, read=0.025, write_5_minutes=1.25, write_1_hour=2.0)
    >>> round(break_even(30_000, 300, reads_at_2_5, "5 minutes", other=0.0099), 1)
    33.5
    """
    if isinstance(other, bool) or not isinstance(other, int | float) or not isfinite(other) or other < 0:
        raise ValueError(f"other is {other!r}, but a price in USD of 0 or more is needed")
    warm, cold = _warm_and_cold(prefix, rest, price, lifetime, output)
    if cold <= other:
        return 0.0
    if other - warm <= 1e-6 * other:
        return None
    return log((cold - warm) / (other - warm)) * 60 / minutes_of(lifetime)


# --- The four conditions -------------------------------------------------------------------------------------------

Holds: TypeAlias = Literal["yes", "no", "not known"]


@dataclass(frozen=True)
class Condition:
    """One of the four conditions: whether it holds, and why."""

    name: str
    holds: Holds
    reason: str


@dataclass(frozen=True)
class Verdict:
    """The four conditions; the source belongs in the prompt where all of them hold."""

    conditions: tuple[Condition, ...]

    @property
    def holds(self) -> Holds:
        """Return "no" where one fails, else "not known" where one is open, else "yes"."""
        answers = [condition.holds for condition in self.conditions]
        return "no" if "no" in answers else "not known" if "not known" in answers else "yes"

    def __str__(self) -> str:
        lines = [f"{c.holds}: {c.name}: {c.reason}" for c in self.conditions]
        return "\n".join([f"The whole source in the prompt: {self.holds}", *lines])


@dataclass(frozen=True)
class Measured:
    """Answer accuracy on your own questions, with a prompt of `tokens` tokens."""

    accuracy: Rate
    tokens: int


@dataclass(frozen=True)
class Situation:
    """What the four conditions ask about; token counts, USD per question, and questions an hour.

    `budget` is what a question may cost; `hidden` are the ids of passages that some reader may not see and that the
    prompt would still hold; `wanted` is the accuracy that you need.
    """

    prefix: int
    rest: int
    price: Price
    per_hour: float
    lifetime: Lifetime = "5 minutes"
    reserve: int = 20_000
    budget: float = 0.02
    hidden: Sequence[str] = field(default=())
    measured: Measured | None = None
    wanted: float = 0.9


def four_conditions(situation: Situation) -> Verdict:
    """Return the verdict on putting the whole source into the prompt, with a reason for each condition."""
    checks = (_has_room, _is_cheap_enough, _may_be_seen, _is_accurate)
    return Verdict(tuple(check(situation) for check in checks))


def _has_room(s: Situation) -> Condition:
    tokens, window = s.prefix + s.rest, s.price.window
    holds: Holds = "yes" if fits(tokens, window, s.reserve) else "no"
    reason = f"{tokens:,} tokens and {s.reserve:,} in reserve, of a window of {window:,}"
    return Condition("it fits with room to spare", holds, reason)


def _is_cheap_enough(s: Situation) -> Condition:
    plain = cost(whole_document(s.prefix, s.rest, s.price), s.price)
    cached = expected_cost(s.prefix, s.rest, s.price, s.lifetime, s.per_hour)
    share = warm_share(s.per_hour, s.lifetime) if s.prefix >= s.price.minimum_prefix else 0.0
    reason = (
        f"at {s.per_hour:g} questions an hour {share:.0%} find the cache of {s.lifetime} warm: "
        f"USD {cached:.4f} a question with it, {plain:.4f} without, {s.budget:.4f} allowed"
    )
    return Condition("low volume or a warm cache", "yes" if min(plain, cached) <= s.budget else "no", reason)


def _may_be_seen(s: Situation) -> Condition:
    name = "every reader may see all of it"
    if s.hidden:
        reason = f"not everybody may see {', '.join(s.hidden)}: filter before the prompt is built"
        return Condition(name, "no", reason)
    return Condition(name, "yes", "no passage in the prompt is closed to one of its readers")


def _is_accurate(s: Situation) -> Condition:
    name = "accuracy measured at that length, on your own questions"
    if s.measured is None:
        return Condition(name, "not known", "nothing was measured")
    rate, at = s.measured.accuracy, s.measured.tokens
    if at < s.prefix + s.rest:
        return Condition(name, "not known", f"measured at {at:,} tokens, and this prompt has {s.prefix + s.rest:,}")
    if rate.low >= s.wanted:
        return Condition(name, "yes", f"{rate}, and {s.wanted:.2f} is wanted")
    if rate.high < s.wanted:
        return Condition(name, "no", f"{rate}, and {s.wanted:.2f} is wanted")
    return Condition(name, "not known", f"{rate}: too few questions to tell it from {s.wanted:.2f}")


# --- What breaks a cache -------------------------------------------------------------------------------------------


def split_tokens(text: str) -> list[int]:
    """Return the token ids of a text, as `course_lib.tokens.count_tokens` counts them."""
    return load_encoding().encode(text, disallowed_special=())


@dataclass
class _Entry:
    readable_from: float
    warm_until: float


class PrefixCache:
    """A provider's prefix cache in small: it keeps the heads of prompts, in blocks, and compares them to the token.

    Real caches differ in the size of the block and in who marks the prefix. What they share is simulated here: the
    longest head that is the same is read, what follows is written, a prefix under the minimum is never cached, an
    entry lives `minutes` after its last use, and it can be read only once the call that writes it has begun to answer.

    >>> cache = PrefixCache(minimum=4, minutes=5, block=2)
    >>> cache.send("the agreement", "one question", at=0)
    Usage(fresh=13, cached=0, written=12, output=0, calls=1)
    >>> cache.send("the agreement", "another question", at=60)
    Usage(fresh=17, cached=12, written=0, output=0, calls=1)
    """

    def __init__(self, minimum: int = 1024, minutes: float = 5, block: int = 16) -> None:
        """`minimum` and `block` are counted in tokens. Raises ValueError for a block under 1 or a negative value."""
        whole("minimum", minimum)
        if isinstance(block, bool) or not isinstance(block, int) or block < 1:
            raise ValueError(f"block is {block!r}, but a block has a whole number of tokens, 1 or more")
        self.minimum, self.block = minimum, block
        self.seconds = _seconds("minutes", minutes) * 60
        self._entries: dict[bytes, _Entry] = {}
        self._now = 0.0

    def send(self, prefix: Sequence[object], rest: Sequence[object], at: float, answers_after: float = 2) -> Usage:
        """Return the usage line of a call made `at` seconds after the start, whose answer begins `answers_after` later.

        `prefix` is what the cache is asked to keep and `rest` what follows it, both as tokens (in the example above a
        letter is one). Raises ValueError where a call comes before an earlier one.
        """
        if _seconds("at", at) < self._now:
            raise ValueError(f"this call is at {at} s, after one at {self._now:g} s: send them in the order of time")
        self._now = at
        heads = self._heads(prefix) if len(prefix) >= self.minimum else []
        read = self._readable(heads) if heads else 0
        for position, head in enumerate(heads):
            self._keep(head, at, at if position < read else at + _seconds("answers_after", answers_after))
        cached, written = read * self.block, (len(heads) - read) * self.block
        return Usage(len(prefix) + len(rest) - cached - written, cached, written, calls=1)

    def _heads(self, prefix: Sequence[object]) -> list[bytes]:
        """Return one key for each head of whole blocks: it depends on every token up to there."""
        running, keys = blake2b(digest_size=16), []
        for start in range(0, len(prefix) - self.block + 1, self.block):
            running.update(repr(list(prefix[start : start + self.block])).encode("utf-8", "surrogatepass"))
            keys.append(running.digest())
        return keys

    def _readable(self, heads: Sequence[bytes]) -> int:
        """Return how many blocks from the start are there and warm; fewer than the minimum are not read at all."""
        count = 0
        for head in heads:
            entry = self._entries.get(head)
            if entry is None or not entry.readable_from <= self._now <= entry.warm_until:
                break
            count += 1
        return count if count * self.block >= self.minimum else 0

    def _keep(self, head: bytes, at: float, readable_from: float) -> None:
        """Renew an entry, or make it; one that somebody else is writing stays readable from when it would be."""
        old = self._entries.get(head)
        if old is not None and at <= old.warm_until:
            readable_from = min(old.readable_from, readable_from)
        self._entries[head] = _Entry(readable_from, at + self.seconds)


def _seconds(name: str, value: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < inf:
        raise ValueError(f"{name} is {value!r}, but a time of 0 or more is needed")
    return value


Reading: TypeAlias = Literal["never written", "written, never read", "written again", "works"]


def read_usage(lines: Sequence[Usage]) -> Reading:
    """Say what a few usage lines in a row, for one document, reveal about its cache. The first may be a cold one.

    *Never written*: the prefix is under the minimum, or nothing is marked. *Written, never read*: something at the
    head of the prompt changes with every call. *Written again*: a section changed, the entry went cold, or several
    calls came at once.
    Raises ValueError for fewer than two lines: one cold call looks like every kind of trouble.

    >>> read_usage([Usage(300, written=30_000), Usage(300, written=30_000)])
    'written, never read'
    """
    if len(lines) < 2:
        raise ValueError(f"{len(lines)} usage lines: at least two calls are needed to see a cache at work")
    if not any(line.cached or line.written for line in lines):
        return "never written"
    if not any(line.cached for line in lines):
        return "written, never read"
    return "written again" if any(line.written for line in lines[1:]) else "works"
