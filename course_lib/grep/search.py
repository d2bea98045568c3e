"""The two tools: `grep` finds lines by a pattern, `read` shows a stretch of one file.

Every result is capped, says what was cut and how to go on, and tells four answers apart: found, nothing found,
nothing searched because every file was skipped, and timed out.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from threading import Event, Thread
from time import monotonic
from typing import Any, Final, Literal, TypeAlias

from course_lib.grep import ripgrep
from course_lib.grep.content import Window, lines_of, shown, window
from course_lib.grep.pattern import common, compiled
from course_lib.grep.repository import Folder, Listing, PathError, Repository, Skipped, Source

Outcome: TypeAlias = Literal["found", "nothing found", "nothing searched", "timed out"]
Engine: TypeAlias = Literal["fastest", "google-re2"]

CHUNK: Final = 2**16  # bytes between two looks at the clock
GRACE: Final = 0.2  # seconds that a process gets to be killed in
HIGHEST: Final = 10**7


@dataclass(frozen=True)
class Limits:
    """What one result may cost: shown hits, characters a line, characters in all, lines of a read, seconds.

    Raises ValueError for a limit that is no number above 0.
    """

    hits: int = 5
    line_characters: int = 200
    characters: int = 20_000
    lines: int = 400
    seconds: float = 3.0

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= HIGHEST:
                raise ValueError(f"{name} is {value!r}, but a limit is a number above 0")
            if name != "seconds" and not isinstance(value, int):
                raise ValueError(f"{name} is {value!r}, but a limit on {name} is a whole number")


LIMITS: Final = Limits()


@dataclass(frozen=True)
class Match:
    """A line that matches: its file, its number from 1, and what is shown of it and of the lines around it."""

    path: str
    line: int
    window: Window
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """What is shown of the line, without the blanks around it."""
        return str(self.window).strip()

    def __str__(self) -> str:
        return f"{shown(self.path)}:{self.line}: {self.text}"


@dataclass(frozen=True)
class Found:
    """The answer to one search. `total` counts matching lines and is None when the time ran out before the count."""

    pattern: str
    path: str
    outcome: Outcome
    matches: tuple[Match, ...]
    total: int | None
    files: int
    searched: int
    skipped: tuple[Skipped, ...]
    limits: Limits = LIMITS
    engine: str = field(default="google-re2", compare=False)

    @property
    def cut(self) -> int | None:
        """How many matching lines are not shown, None where nobody counted."""
        return None if self.total is None else self.total - len(self.matches)

    @cached_property
    def note(self) -> str:
        """What the matches do not say, in sentences: what was cut, what was skipped, and how to go on."""
        return " ".join(part for part in (self._about_matches(), self.about_skipped()) if part)

    def _about_matches(self) -> str:
        if self.outcome == "timed out":
            return (
                f"Timed out after {self.limits.seconds:g} s: this does not mean that nothing matches. "
                "Name a folder or a file, or look for a plainer pattern."
            )
        if self.outcome == "nothing searched":
            return "Nothing was searched, so nothing is known."
        if self.outcome == "nothing found":
            return f"No line matches in {_count(self.searched, 'file')}. Other words may: try a synonym."
        if self.cut:
            whole = f"{self.total:,} in {_count(self.files, 'file')}"
            return f"… {self.cut:,} more hits ({whole}); narrow the pattern or name a path."
        return ""

    def about_skipped(self) -> str:
        """Say how many files and folders were not searched, and why; without those the caller left out."""
        reasons = Counter(one.why for one in self.skipped if one.why != "left out")
        if not reasons:
            return ""
        kinds = ", ".join(f"{number} {why}" for why, number in sorted(reasons.items()))
        return f"Not searched: {kinds}."

    def __str__(self) -> str:
        return "\n".join([*map(str, self.matches), *([self.note] if self.note else [])])


def _count(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


# --- grep -------------------------------------------------------------------------------------------------------


@dataclass
class _Search:
    """A search while it runs, in a thread of its own: what it has found so far, and the sign to stop."""

    repository: Repository
    pattern: str
    path: str
    ignore_case: bool
    context: int
    limits: Limits
    deadline: float
    engine: str = "google-re2"
    listing: Listing = field(default_factory=lambda: Listing((), ()))
    matches: list[Match] = field(default_factory=list)
    characters: int = 0
    total: int = 0
    files: int = 0
    stop: Event = field(default_factory=Event)
    done: bool = False
    failure: Exception | None = None

    @property
    def full(self) -> bool:
        return len(self.matches) >= self.limits.hits or self.characters >= self.limits.characters

    def check_time(self) -> None:
        if self.stop.is_set() or monotonic() > self.deadline:
            raise ripgrep.TimedOut


def grep(
    repository: Repository,
    pattern: str,
    path: str = "",
    *,
    limits: Limits = LIMITS,
    ignore_case: bool = True,
    context: int = 0,
    engine: Engine = "fastest",
) -> Found:
    """Return the lines of a repository that match a regular expression, under the folder or in the file `path`.

    A `Folder` is searched by ripgrep where it is installed, everything else by google-re2, with the same results;
    `engine="google-re2"` leaves ripgrep out. `context` lines are shown on both sides of a hit. The answer comes within
    `limits.seconds`, whatever the pattern. Raises PatternError for a pattern and PathError for a path that cannot be
    searched, in a sentence; ModuleNotFoundError where google-re2 is missing.

    >>> from course_lib.grep import Memory
    >>> print(grep(Memory({"a.py": "MAX_RETRIES = 2\\n"}), "retr"))
    a.py:1: MAX_RETRIES = 2
    """
    if isinstance(context, bool) or not isinstance(context, int) or not 0 <= context <= 50:
        raise ValueError(f"context is {context!r}, but it is a number of lines from 0 to 50")
    if engine not in ("fastest", "google-re2"):
        raise ValueError(f"engine is {engine!r}, but it is 'fastest' or 'google-re2'")
    finder = compiled(pattern, ignore_case)
    state = _Search(repository, pattern, path, ignore_case, context, limits, monotonic() + limits.seconds)
    # A search that is past its time is left alone: it sees the sign at its next chunk and ends. re2 frees Python's
    # lock while it searches, so nobody waits for it.
    thread = Thread(target=_guarded, args=(state, finder, engine), name="grep", daemon=True)
    thread.start()
    thread.join(limits.seconds + GRACE)
    state.stop.set()
    if state.failure is not None:
        raise state.failure
    return _found(state, state.done)


def _guarded(state: _Search, finder: Any, engine: Engine) -> None:
    try:
        _run(state, finder, engine)
        state.done = True
    except ripgrep.TimedOut:
        pass
    except Exception as error:  # raised again by `grep`, in the thread that asked
        state.failure = error


def _run(state: _Search, finder: Any, engine: Engine) -> None:
    counted = _counts(state) if engine == "fastest" else None
    if counted is None:
        state.listing = state.repository.listing(state.path)
    for source in state.listing.sources:
        state.check_time()
        if counted is None or not source.plain:
            _search_file(state, finder, source, None)
        elif source.path in counted:
            _search_file(state, finder, source, counted[source.path])


def _counts(state: _Search) -> dict[str, int] | None:
    """Ask ripgrep how many lines match in each plain file; None where there is no folder, no ripgrep or no answer.

    It starts with what was left out last time, while the folder is listed again; only where that has changed since
    does it start once more.
    """
    repository, rg = state.repository, ripgrep.program()
    if not isinstance(repository, Folder) or rg is None:
        return None
    place, _ = repository.locate(state.path)
    pattern = common(state.pattern, state.ignore_case)
    guess = repository.left_out.get(place)
    count = None if guess is None else ripgrep.Count(repository.root, pattern, place, guess, rg)
    try:
        state.listing = repository.listing(state.path)
        leave_out = repository.left_out[place] = _left_out(state.listing)
        if count is None or leave_out != guess:
            if count is not None:
                count.stop()
            count = ripgrep.Count(repository.root, pattern, place, leave_out, rg)
        counted = count.result(state.deadline - monotonic())
    finally:
        if count is not None:
            count.stop()
    state.engine = "google-re2" if counted is None else "ripgrep"
    return counted


def _left_out(listing: Listing) -> frozenset[str]:
    """Return what ripgrep is not to search: what is skipped, and what is decoded and blacked out before a search."""
    apart = [one.path for one in listing.sources if not one.plain]
    return frozenset([*(one.path for one in listing.skipped), *apart])


def _search_file(state: _Search, finder: Any, source: Source, counted: int | None) -> None:
    """Take the hits of one file that are still shown, and its count: `counted` where that is known, else one by one."""
    if counted is not None and state.full:
        state.total += counted
        state.files += 1
        return
    try:
        content = source.content if source.content is not None else state.repository.content(source.path)
    except (OSError, PathError):  # gone since it was listed
        return
    if content is None:
        return
    number = 0
    for number, (line, start, span) in enumerate(_hits(state, finder, content), 1):
        if not state.full:
            match = _match(state, source.path, content, line, start, span)
            state.matches.append(match)
            state.characters += sum(map(len, (match.text, *match.before, *match.after)))
        elif counted is not None:
            number = counted
            break
    state.total += number
    state.files += number > 0


def _hits(state: _Search, finder: Any, content: bytes) -> Iterator[tuple[int, int, tuple[int, int]]]:
    """Yield (line number, where the line starts, what matched in it) for each matching line, in bytes."""
    size = len(content) - content.endswith(b"\n")
    line, counted_to, at = 1, 0, 0
    while at <= size and content:
        end = content.find(b"\n", min(at + CHUNK, size))
        end = size if end < 0 else min(end, size)
        while at <= end:
            state.check_time()
            match = finder.search(content, at, end)
            if match is None:
                break
            first = match.start()
            start = content.rfind(b"\n", 0, first) + 1
            line += content.count(b"\n", counted_to, start)
            counted_to = start
            yield line, start, (first - start, match.end() - start)
            after = content.find(b"\n", first)
            at = size + 1 if after < 0 else after + 1
        at = max(at, end + 1)


def _match(state: _Search, path: str, content: bytes, line: int, start: int, span: tuple[int, int]) -> Match:
    end = content.find(b"\n", start)
    width, context = state.limits.line_characters, state.context
    text = window(content[start : end if end >= 0 else len(content)], span, width)
    if not context:
        return Match(path, line, text)
    lines = lines_of(content)
    around = lines[max(0, line - 1 - context) : line - 1], lines[line : line + context]
    before, after = (tuple(str(window(one, (0, 0), width)) for one in part) for part in around)
    return Match(path, line, text, before, after)


def _found(state: _Search, done: bool) -> Found:
    outcome: Outcome = "found" if state.total else "nothing found"
    if not state.listing.sources:
        outcome = "nothing searched"
    if not done:
        outcome = "timed out"
    return Found(
        state.pattern, state.path, outcome, tuple(state.matches[: state.limits.hits]), state.total if done else None,
        state.files, len(state.listing.sources), state.listing.skipped, state.limits, state.engine,
    )  # fmt: skip


# --- read -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Excerpt:
    """Lines of one file: `start` is the number of the first, `total` how many the file has."""

    path: str
    start: int
    lines: tuple[str, ...]
    total: int
    note: str = ""

    @property
    def end(self) -> int:
        """The number of the last line shown; one less than `start` where none is."""
        return self.start + len(self.lines) - 1

    def __str__(self) -> str:
        numbered = [f"{number}: {line}" for number, line in enumerate(self.lines, self.start)]
        return "\n".join([*numbered, *([self.note] if self.note else [])])


def read(
    repository: Repository,
    path: str,
    start: int = 1,
    end: int = 40,
    *,
    limits: Limits = LIMITS,
) -> Excerpt:
    """Return the lines `start` to `end` of a file, counted from 1, both included.

    Secrets are blacked out, long lines cut, and a note says what is not shown. Raises PathError for what is outside
    the repository, kept secret, no text or not there, ValueError for line numbers that are none.

    >>> from course_lib.grep import Memory
    >>> print(read(Memory({"a.py": "x = 1\\ny = 2\\n"}), "a.py", 2, 9))
    2: y = 2
    """
    for name, value in (("start", start), ("end", end)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ValueError(f"{name} is {value!r}, but lines are counted in whole numbers from 1")
    if end < start:
        raise ValueError(f"Lines {start} to {end} run backwards. Give the smaller number first.")
    place, entry = repository.locate(path)
    if entry.is_folder:
        names = ", ".join(one.name for one in islice(repository.entries(place + "/" if place else "") or (), 8))
        raise PathError(f"{path!r} is a folder. Search in it, or read one of its files: {names}")
    lines = _lines(repository, place)
    return _excerpt(place, lines, start, end, limits)


def _lines(repository: Repository, place: str) -> list[bytes]:
    try:
        content = repository.content(place)
    except OSError as error:
        raise PathError(f"{place!r} cannot be read: {error.strerror or 'the system refuses'}.") from None
    if content is None:
        raise PathError(f"{place!r} is no text: it is binary, or in an encoding that cannot be told.")
    return lines_of(content)


def _excerpt(place: str, lines: list[bytes], start: int, end: int, limits: Limits) -> Excerpt:
    kept: list[str] = []
    room = limits.characters
    last = min(end, len(lines), start + limits.lines - 1)
    for line in lines[start - 1 : last]:
        text = str(window(line, (0, 0), limits.line_characters))
        room -= len(text)
        if kept and room < 0:
            break
        kept.append(text)
    stopped = start + len(kept) - 1
    note = ""
    if start > len(lines):
        note = f"The file has {_count(len(lines), 'line')}."
    elif stopped < min(end, len(lines)):
        note = f"… stopped after line {stopped:,} of {len(lines):,}; read on from line {stopped + 1:,}."
    return Excerpt(place, start, tuple(kept), len(lines), note)
