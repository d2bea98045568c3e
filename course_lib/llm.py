"""The one door to a language model: Anthropic's Messages API with a time limit, a spending limit and plain sentences.

Without a key everything works but the call itself: `Model.would_send` shows the request and what it could cost.
What a call did cost is computed in `course_lib.pricing` from the tokens that the provider counted.
"""

import json
import os
import re
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.util import find_spec
from math import ceil, isfinite
from pathlib import Path
from random import random
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from course_lib.pricing import MOST_TOKENS, Lifetime, Price, cost, minutes_of
from course_lib.retrieval import Usage
from course_lib.schemas import Schema, fit, parse, sendable, short
from course_lib.tokens import count_tokens
from course_lib.transcripts import Answer, Body, Send, TranscriptError, load_transcript, recording, replaying

if TYPE_CHECKING:
    from anthropic import Anthropic

KEY = "ANTHROPIC_API_KEY"
MODEL = "COURSE_MODEL"
DEFAULT_MODEL = "claude-haiku-4-5"

Effort: TypeAlias = Literal["low", "medium", "high", "xhigh", "max"]
Texts: TypeAlias = str | Sequence[str]
Messages: TypeAlias = str | Sequence[Mapping[str, Any]]  # a question, or messages as the API has them
Cache: TypeAlias = Lifetime | None
Tools: TypeAlias = Sequence[Mapping[str, Any]]  # each with name, description and input_schema
Kind: TypeAlias = Literal[
    "no package", "no key", "limit", "not recorded",  # nothing was sent
    "connection", "bad request", "key refused", "not allowed", "no such model", "too large",  # nothing was billed
    "rate limit", "overloaded", "server",  # nothing was billed, and it was tried again
    "time-out", "broken off", "no message",  # it may have been billed
    "refusal", "cut off", "window full", "paused", "unexpected tool", "unknown stop",  # billed, as are the next
    "empty", "not json", "wrong shape",
]  # fmt: skip
MAYBE_BILLED: tuple[Kind, ...] = ("time-out", "broken off", "no message")


class ModelError(RuntimeError):
    """A call without a usable reply. The text is a sentence for a person; `kind` is for code.

    `for_model` is what to send back to the model so that it can mend its reply, or None where that would not help.
    `usage` and `usd` are what the call cost (`usd` at most, where the provider did not say), and `reply` is what came.
    """

    def __init__(
        self, sentence: str, kind: Kind, *, for_model: str | None = None, reply: "Reply | None" = None, usd: float = 0.0
    ) -> None:
        super().__init__(sentence)
        self.kind, self.for_model, self.reply = kind, for_model, reply
        self.usage = reply.usage if reply else Usage()
        self.usd = reply.usd if reply else usd


# --- Is there a key ------------------------------------------------------------------------------------------------


def key_is_set() -> bool:
    """Say whether the environment holds a key. Blanks are none."""
    return bool(os.environ.get(KEY, "").strip())


def why_not() -> str | None:
    """Return why no live call is possible here, in a sentence that never shows the key, or None where one is."""
    missing = _missing()
    return missing[1] if missing else None


def _missing() -> tuple[Kind, str] | None:
    installed = find_spec("anthropic") is not None
    if not key_is_set():
        install = "" if installed else ", and run `pip install anthropic`,"
        return "no key", f"No key, and nothing was sent: set {KEY} in the environment{install} to ask a live model."
    if not re.fullmatch(r"[!-~]+", os.environ[KEY].strip()):  # the HTTP client's error would show the key
        return "no key", f"{KEY} holds a character that no key has, and nothing was sent. Copy the key anew."
    if not installed:
        return "no package", "The package anthropic is missing, and nothing was sent: run `pip install anthropic`."
    return None


# --- Money ---------------------------------------------------------------------------------------------------------

MARGIN = 2.0  # cl100k is not Claude's tokenizer, and newer models cut text finer than older ones
PROVIDER_MARGIN = 1.1  # the provider calls its own count an estimate
UNSEEN = 1_000  # tokens that the provider adds, such as its instructions for tools and for structured output
PIECE = 2_000  # characters; older tiktoken versions take quadratic time on one long run of letters
HAIR = 1e-9  # USD: a sum of floats may miss a limit by less


class Budget:
    """A spending limit in USD, shared by any number of models and threads.

    A call holds the most it can cost before it is sent, and settles for what it did cost. So the limit stops the call
    that could pass it, also when several are on their way. `inf` is no limit. Raises ValueError for a bad limit.
    """

    def __init__(self, usd: float) -> None:
        if isinstance(usd, bool) or not isinstance(usd, int | float) or not usd >= 0:
            raise ValueError(f"The limit is {usd!r}, but an amount in USD of 0 or more is needed")
        self.usd = usd
        self._spent = 0.0
        self._held: list[float] = []
        self._lock = Lock()

    def __repr__(self) -> str:
        return f"Budget(usd={self.usd}, spent={self.spent:.4f})"

    @property
    def spent(self) -> float:
        """What settled calls have cost, in USD."""
        return self._spent

    @property
    def left(self) -> float:
        """What a new call may cost, in USD: neither spent nor held by a call on its way."""
        with self._lock:
            return max(self.usd - self._spent - sum(self._held), 0.0)

    def hold(self, usd: float) -> None:
        """Set `usd` aside. Raises ModelError of kind "limit" where that much is not left."""
        with self._lock:
            left = self.usd - self._spent - sum(self._held)
            if usd > left + HAIR:
                raise ModelError(
                    f"This call can cost up to USD {usd:.4f}, and of the limit of USD {self.usd:.4f} there is "
                    f"{max(left, 0):.4f} left: nothing was sent. Raise the limit, or send less, or lower max_tokens.",
                    "limit",
                )
            self._held.append(usd)

    def settle(self, held: float, usd: float) -> None:
        """Give back what `hold` set aside, and count what was spent."""
        with self._lock:
            self._held.remove(held)
            self._spent += usd


def most_tokens(body: Body) -> int:
    """Return more input tokens than a request should have: twice its cl100k count, no more than its bytes, plus 1,000.

    Every byte-level tokenizer makes at most one token of a byte. Twice is a margin, not a proof.
    """
    text = json.dumps(body, ensure_ascii=False)
    estimate = sum(count_tokens(text[start : start + PIECE]) for start in range(0, len(text), PIECE))
    return min(ceil(MARGIN * estimate), len(text.encode())) + UNSEEN


def usage_of(message: Body, lifetime: Lifetime = "5 minutes") -> tuple[Usage, int]:
    """Return the usage line of a reply, and how many of its written tokens went to a cache of 1 hour.

    `usage.input_tokens` is only what was neither read from a cache nor written to one. A missing or senseless count is
    0. Where the API does not say which cache was written, it was that of `lifetime`.
    """
    counts = _mapping(message.get("usage"))
    split = _mapping(counts.get("cache_creation"))
    five, hour = (_count(split, f"ephemeral_{name}_input_tokens") for name in ("5m", "1h"))
    written = max(_count(counts, "cache_creation_input_tokens"), five + hour)
    if not five and not hour and lifetime == "1 hour":
        hour = written
    fresh, cached = _count(counts, "input_tokens"), _count(counts, "cache_read_input_tokens")
    return Usage(fresh, cached, written, _count(counts, "output_tokens"), calls=1), hour


def _count(counts: Mapping[str, Any], name: str) -> int:
    value = counts.get(name)
    return value if type(value) is int and 0 <= value <= MOST_TOKENS else 0


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _usd(message: Body, price: Price, lifetime: Lifetime, most: float) -> float:
    """What a reply cost; `most`, where it does not say how many tokens it read and wrote."""
    counts = _mapping(message.get("usage"))
    if any(type(counts.get(name)) is not int for name in ("input_tokens", "output_tokens")):
        return most
    usage, hour = usage_of(message, lifetime)
    five = Usage(usage.fresh, usage.cached, usage.written - hour, usage.output)
    return cost(five, price, "5 minutes") + cost(Usage(written=hour), price, "1 hour")


# --- A reply -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ToolCall:
    """A tool that the model wants to have called."""

    id: str
    name: str
    input: Body


@dataclass(frozen=True)
class Reply:
    """What a model answered: its text, the `data` where a schema was given, its tool calls, and what it cost.

    `usd` is what was billed when it was answered; a replayed reply, whose `recorded` names the day, costs nothing now.
    """

    text: str
    data: Any
    tool_calls: tuple[ToolCall, ...]
    usage: Usage
    usd: float
    stop_reason: str | None
    request_id: str | None
    model: str
    content: tuple[Body, ...] = field(repr=False)
    recorded: str | None = None

    @property
    def message(self) -> Body:
        """The reply as a message to send back unchanged, in front of the results of its tools."""
        return {"role": "assistant", "content": list(self.content)}


def tool_result(call: ToolCall, text: str, failed: bool = False) -> Body:
    """Return the block that answers a tool call. All of a reply's go into one message of the role user."""
    block = {"type": "tool_result", "tool_use_id": call.id, "content": text}
    return {**block, "is_error": True} if failed else block


def _reply(answer: Answer, price: Price, lifetime: Lifetime, most: float) -> Reply:
    message = answer.message
    content = message.get("content")
    blocks = tuple(block for block in content if isinstance(block, dict)) if isinstance(content, list) else ()
    calls = [ToolCall(str(b.get("id")), str(b.get("name")), b["input"]) for b in blocks if _is_tool_use(b)]
    stop = message.get("stop_reason")
    return Reply(
        text="".join(b["text"] for b in blocks if b.get("type") == "text" and isinstance(b.get("text"), str)),
        data=None,
        tool_calls=tuple(calls),
        usage=usage_of(message, lifetime)[0],
        usd=_usd(message, price, lifetime, most),
        stop_reason=None if stop is None else str(stop),
        request_id=answer.request_id,
        model=str(message.get("model")),
        content=blocks,
        recorded=answer.recorded,
    )


def _is_tool_use(block: Body) -> bool:
    return block.get("type") == "tool_use" and isinstance(block.get("input"), dict)


def _stopped(reply: Reply, answer: Answer, max_tokens: int, tools: bool) -> ModelError | None:
    """The reason why a reply is not a whole one, or None."""
    stop = reply.stop_reason
    if stop == "refusal":
        said = _mapping(answer.message.get("stop_details"))
        reason = said.get("explanation") or said.get("category") or "without a reason"
        return ModelError(f"The model refused to answer ({short(reason)}).", "refusal", reply=reply)
    if stop == "max_tokens":
        briefly = f"Your reply was cut off at {max_tokens} tokens. Answer more briefly."
        sentence = f"The reply was cut off at max_tokens = {max_tokens}. Raise it, or ask for less."
        return ModelError(sentence, "cut off", for_model=briefly, reply=reply)
    if stop == "model_context_window_exceeded":
        return ModelError("The model's window is full: send less.", "window full", reply=reply)
    if stop == "pause_turn":
        sentence = "The model paused: append error.reply.message to the messages and ask again."
        return ModelError(sentence, "paused", reply=reply)
    if (stop == "tool_use" or reply.tool_calls) and not tools:
        said_so = "There are no tools here. Answer in text."
        return ModelError(
            "The model calls a tool and was given none.", "unexpected tool", for_model=said_so, reply=reply
        )
    if stop not in ("end_turn", "stop_sequence", "tool_use"):
        return ModelError(f"The model stopped for a reason unknown here, {short(stop)}.", "unknown stop", reply=reply)
    if not reply.tool_calls and (stop == "tool_use" or not reply.text.strip()):
        return ModelError("The reply is empty.", "empty", for_model="Your reply was empty. Answer.", reply=reply)
    return None


def _with_data(reply: Reply, schema: Schema) -> Reply:
    try:
        data = parse(reply.text)
    except ValueError as error:
        mend = f"Your reply is not JSON ({error}). Reply with one JSON value that fits the schema, and nothing else."
        raise ModelError(f"The reply is not JSON ({error}).", "not json", for_model=mend, reply=reply) from None
    try:
        return Reply(**{**vars(reply), "data": fit(data, schema)})
    except ValueError as error:
        raise ModelError(
            f"The reply does not fit the schema: {error}.", "wrong shape", for_model=f"{error}.", reply=reply
        ) from None


# --- A model -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Request:
    """What would be sent, as the API gets it, and at most how many input tokens and USD that would take."""

    body: Body = field(repr=False)
    tokens: int
    usd: float


@dataclass(frozen=True)
class Model:
    """A model with its price and its limits. `send` is the way out: live, recorded, replayed, or one of your own."""

    name: str
    price: Price
    budget: Budget
    send: Send = field(repr=False)
    effort: Effort | None = None
    max_tokens: int = 1024
    count: Callable[[Body], int] = field(default=most_tokens, repr=False)
    missing: tuple[Kind, str] | None = None

    def __post_init__(self) -> None:
        if not self.name.strip():
            raise ValueError(f"The name of the model is blank; one such as {DEFAULT_MODEL} is needed")
        if self.effort is not None and self.effort not in get_args(Effort):
            raise ValueError(
                f"effort is {self.effort!r}; there is {', '.join(get_args(Effort))}, and None to send none"
            )
        if type(self.max_tokens) is not int or not 1 <= self.max_tokens <= MOST_TOKENS:
            raise ValueError(f"max_tokens is {self.max_tokens!r}, but a whole number of 1 or more is needed")

    @property
    def why_not(self) -> str | None:
        """Why this model cannot be asked, in a sentence, or None where it can."""
        return self.missing[1] if self.missing else None

    def would_send(
        self, system: Texts, messages: Messages, schema: Schema | None = None, *, tools: Tools = (), cache: Cache = None
    ) -> Request:
        """Return the request that `ask` would send. Nothing is sent, except for counting if the model was opened so.

        `system` is the part that stays the same, one text or several. With a `cache` it is kept by the provider for
        that long, tools included, from the price's minimum prefix on. `messages` is a question or the API's own
        messages, passed on unchanged. Half of a surrogate pair, which cannot be sent, becomes U+FFFD.
        Raises ValueError for a blank question, for nothing to cache or no such cache, and for what is not JSON.
        """
        body = _body(self, system, messages, schema, tools, cache)
        tokens = self.count(body)
        lifetime = _longest_cache(body)
        usage = Usage(written=tokens, output=self.max_tokens) if lifetime else Usage(tokens, output=self.max_tokens)
        return Request(body, tokens, cost(usage, self.price, lifetime or "5 minutes"))

    def ask(
        self, system: Texts, messages: Messages, schema: Schema | None = None, *, tools: Tools = (), cache: Cache = None
    ) -> Reply:
        """Ask, and return the reply; with a `schema` its `data` has been checked. Arguments as in `would_send`.

        Raises ModelError for everything that is not a whole reply of the right shape; before anything is sent, where
        there is no key or the call could pass the budget.
        """
        if self.missing:
            raise ModelError(self.missing[1], self.missing[0])
        request = self.would_send(system, messages, schema, tools=tools, cache=cache)
        answer, reply = self._exchange(request, _longest_cache(request.body) or "5 minutes")
        stopped = _stopped(reply, answer, self.max_tokens, bool(tools))
        if stopped:
            raise stopped
        return reply if schema is None or reply.tool_calls else _with_data(reply, schema)

    def _exchange(self, request: Request, lifetime: Lifetime) -> tuple[Answer, Reply]:
        """Send within the budget. An interrupted call is counted in full, because it may have been billed."""
        self.budget.hold(request.usd)
        spent = request.usd
        try:
            answer = self.send(request.body)
            reply = _reply(answer, self.price, lifetime, request.usd)
            spent = 0.0 if answer.recorded else reply.usd
            return answer, reply
        except ModelError as error:
            spent = error.usd = request.usd if error.kind in MAYBE_BILLED else 0.0
            raise
        except TranscriptError as error:
            spent = 0.0
            raise ModelError(str(error), "not recorded") from None
        finally:
            self.budget.settle(request.usd, spent)


def _body(model: Model, system: Texts, messages: Messages, schema: Schema | None, tools: Tools, cache: Cache) -> Body:
    body: Body = {"model": model.name, "max_tokens": model.max_tokens}
    texts = [system] if isinstance(system, str) else list(system)
    blocks: list[Body] = [{"type": "text", "text": text} for text in texts if text.strip()]
    if cache is not None:
        minutes_of(cache)
        if not blocks:
            raise ValueError("There is a cache to keep, but no system text to keep in it")
        blocks[-1]["cache_control"] = {"type": "ephemeral", **({"ttl": "1h"} if cache == "1 hour" else {})}
    question = [{"role": "user", "content": messages}] if isinstance(messages, str) else list(messages)
    if not question or (isinstance(messages, str) and not messages.strip()):
        raise ValueError("There is nothing to ask: the question is blank")
    config: Body = {"effort": model.effort} if model.effort else {}
    if schema is not None:
        config["format"] = {"type": "json_schema", "schema": schema}
    optional = {"system": blocks, "tools": list(tools), "output_config": config}
    whole: Body = sendable({**body, **{name: value for name, value in optional.items() if value}, "messages": question})
    return whole


def _longest_cache(body: Body) -> Cache:
    """What a request marks for a cache, be it in a message of the caller's. Inside of a text, quotes are escaped."""
    text = json.dumps(body)
    return "1 hour" if '"ttl": "1h"' in text else "5 minutes" if '"cache_control": {' in text else None


# --- The live call -------------------------------------------------------------------------------------------------


class _Live:
    """The call over the network. Retries are made here and not in the SDK, so that `seconds` covers all of them, and
    because a request that may have been billed must not be repeated behind the back of the budget."""

    def __init__(self, key: str, seconds: float, retries: int, base_url: str | None) -> None:
        self.seconds, self.retries = seconds, retries
        self._key, self._base_url = key, base_url

    @cached_property
    def _client(self) -> "Anthropic":
        from anthropic import Anthropic  # 46 MB: on first use

        return Anthropic(api_key=self._key, base_url=self._base_url, max_retries=0)

    def send(self, body: Body) -> Answer:
        """Send, and return the message as it came. Raises ModelError."""
        from anthropic import __version__

        response = self._patiently(lambda seconds: self._post(body, seconds))
        try:
            message = sendable(parse(response.content.decode("utf-8")))
        except ValueError:
            message = None
        if not isinstance(message, dict):
            raise ModelError("What came back is not a message. Is there a proxy in between?", "no message")
        return Answer(message, response.headers.get("request-id"), __version__)

    def _post(self, body: Body, seconds: float) -> Any:
        return self._client.messages.with_raw_response.create(**body, timeout=seconds).http_response

    def count(self, body: Body) -> int:
        """Return the provider's own count of a request's input tokens, which is free, plus a tenth."""
        counted = {name: value for name, value in body.items() if name != "max_tokens"}
        count = self._client.messages.count_tokens
        tokens = getattr(self._patiently(lambda seconds: count(**counted, timeout=seconds)), "input_tokens", None)
        if type(tokens) is not int or not 0 <= tokens <= MOST_TOKENS:
            raise ModelError("The provider did not count the request: open the model without that.", "no message")
        return ceil(PROVIDER_MARGIN * tokens)

    def _patiently(self, call: Callable[[float], Any]) -> Any:
        """Call with the seconds that are left, again where the provider is busy or asks to wait. Raises ModelError."""
        from anthropic import AnthropicError

        until = time.monotonic() + self.seconds
        for attempt in range(1, self.retries + 2):
            try:
                return call(max(until - time.monotonic(), 0.01))
            except AnthropicError as error:
                failure = error  # raised below, without a context: its request holds the key
            except TypeError as error:  # an SDK that does not know an argument
                sentence = f"This version of the package anthropic is too old ({error}): `pip install -U anthropic`."
                raise ModelError(sentence, "no package") from None
            wait = _pause(failure, attempt)
            if wait is None or attempt > self.retries or time.monotonic() + wait >= until:
                break
            time.sleep(wait)
        raise self._explained(failure, attempt, wait)

    def _explained(self, error: Exception, attempts: int, wait: float | None) -> ModelError:
        kind, sentence = _explanation(error, self.seconds)
        said = _mapping(_mapping(getattr(error, "body", None)).get("error")).get("message")
        if isinstance(said, str):
            sentence += f" It said: {short(said)}."
        if attempts > 1:
            sentence += f" It was tried {attempts} times."
        if attempts <= self.retries and wait is not None:
            sentence += f" The next try is due in {wait:.1f} s, past the {self.seconds:g} s that this call may take."
        if isinstance(said, str) and kind == "bad request" and "effort" in said:
            sentence += " Not every model takes an effort: open this one with effort=None."
        return ModelError(sentence.replace(self._key, "[key]"), kind)


def _pause(error: Exception, attempt: int) -> float | None:
    """Seconds to wait after that many attempts: what the provider asks for, else 0.5, 1, 2, … 8; None for never."""
    status, response = getattr(error, "status_code", None), getattr(error, "response", None)
    headers: Mapping[str, str] = response.headers if response is not None else {}
    retried = _never_sent(error) if status is None else status in (408, 409, 429) or status >= 500
    if not retried or headers.get("x-should-retry") == "false":
        return None
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            asked = float(headers[name]) * unit
        except (KeyError, ValueError):
            continue
        if isfinite(asked) and asked > 0:
            return asked
    return float(min(2.0 ** (attempt - 2), 8) * (1 - random() / 4))


def _never_sent(error: Exception) -> bool:
    return type(error.__cause__).__name__ in ("ConnectError", "ConnectTimeout")


def _explanation(error: Exception, seconds: float) -> tuple[Kind, str]:
    status = getattr(error, "status_code", None)
    if status is None:
        if _never_sent(error):
            return "connection", f"The provider could not be reached ({error.__cause__}): are you online?"
        if "Timeout" in type(error).__name__:
            return "time-out", f"No answer came in {seconds:g} s. It may be billed all the same, and is counted so."
        return "broken off", f"The connection broke ({type(error).__name__}). It may be billed, and is counted so."
    known: dict[int, tuple[Kind, str]] = {
        401: ("key refused", f"The provider does not accept the key in {KEY}."),
        403: ("not allowed", "The key may not do this."),
        404: ("no such model", f"There is no such model; name another in {MODEL} or when you open it."),
        413: ("too large", "The request is too large: send less of the document."),
        429: ("rate limit", "Too many requests for this key: wait a minute, then ask again."),
        529: ("overloaded", "The provider is overloaded: wait a minute, then ask again."),
    }
    if status >= 500:
        return known.get(status, ("server", f"The provider failed ({status}): ask again later."))
    return known.get(status, ("bad request", f"The provider refused the request ({status})."))


def open_model(
    price: Price,
    name: str | None = None,
    *,
    budget: float | Budget = 1.0,
    effort: Effort | None = None,
    max_tokens: int = 1024,
    seconds: float = 60.0,
    retries: int = 2,
    record: Path | None = None,
    replay: Path | None = None,
    count_at_provider: bool = False,
    base_url: str | None = None,
) -> Model:
    """Return a model: live where there is a key, else one that says why not and still shows what it would send.

    `price` is what your provider charges: put its numbers into a Price; those of data/prices.json are round ones.
    `name` defaults to the environment's COURSE_MODEL, then to DEFAULT_MODEL. `budget` is a limit in USD, or a Budget
    that several models share. `seconds` is how long a call waits for its answer, all `retries` and the pauses between
    them included. `effort` is sent where it is given; some models refuse it. Calls are appended to the file `record`,
    or answered from the file `replay`, which never goes live. With `count_at_provider` the provider counts each request
    before it is sent, at the price of a second call.
    Raises ValueError for a setting out of bounds, TranscriptError for a `replay` that cannot be read.
    """
    if record and replay:
        raise ValueError("record and replay were both given: one asks a live model, the other never does")
    if isinstance(seconds, bool) or not isfinite(seconds) or seconds <= 0:
        raise ValueError(f"seconds is {seconds!r}, but a time above 0 is needed")
    if type(retries) is not int or retries < 0:
        raise ValueError(f"retries is {retries!r}, but a whole number of 0 or more is needed")
    name = name or os.environ.get(MODEL, "").strip() or DEFAULT_MODEL
    limit = budget if isinstance(budget, Budget) else Budget(budget)
    if replay:
        return Model(name, price, Budget(float("inf")), _replay(replay), effort, max_tokens)
    missing = _missing()
    key = os.environ.get(KEY, "").strip()
    live = _Live(key, seconds, retries, base_url)
    send = recording(live.send, record, secret=key) if record else live.send
    count = live.count if count_at_provider and not missing else most_tokens
    return Model(name, price, limit, send, effort, max_tokens, count, missing)


def _replay(path: Path) -> Send:
    transcript = load_transcript(path)
    for sentence in transcript.damaged:
        warnings.warn(sentence, stacklevel=3)
    return replaying(transcript, path.name)
