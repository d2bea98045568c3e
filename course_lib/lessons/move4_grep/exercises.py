"""The checked exercises of Move 4: a pattern with the words of others, a cap that tells, a path check."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from course_lib.corpora.repository import files
from course_lib.grep import Limits, Memory, PatternError, grep
from course_lib.learn.blank import Blank, NotAttempted
from course_lib.learn.exercises import Exercise, call, describe

# --- A pattern with the words of others ------------------------------------------------------------------------------

TEAMS = (
    {"jobs/export.py": "def export(rows):\n    rate_limit = 10\n"},
    {"sms/gateway.py": "DAILY_QUOTA = 5_000\n"},
    {"push/client.go": "const perSecond = 40\n"},
    {"fax/settings.ini": "[limits]\npages per hour = 30\n"},
)
DECOYS = {
    "reports/render.py": "def generate(page):\n    return page.rate * 2  # exchange rate\n",
    "reports/query.py": "limit = 50  # rows\nper_page = 20\n",
    "ops/run.py": "def operate(machine):\n    return machine.second\n",
}


def judge_throttle(pattern: Any) -> str | None:
    """Search with the learner's pattern in the six files, in four other teams' files, and in what it must not match."""
    if isinstance(pattern, Blank):
        raise NotAttempted
    if not isinstance(pattern, str):
        return f"A pattern is a text, and this is {describe(pattern)}."
    try:
        if not any(line.startswith("notifications/mailer.py:2:") for line in _lines(files(), pattern)):
            return "In the six files it does not find the line that slows the mails down."
        missed = sum(not _lines(team, pattern) for team in TEAMS)
        other = _lines(DECOYS, pattern)
    except PatternError as error:
        return str(error)
    if missed:
        return (
            f"It finds the line in the six files. Of four other teams, who each wrote the same thing in their own "
            f"words, it misses {missed}. How else do people write how often something may happen?"
        )
    if other:
        lines = "a line" if len(other) == 1 else f"{len(other)} lines"
        return f"It finds all five, and also {lines} about something else, such as {other[0]}"
    return None


def _lines(repository: Any, pattern: str) -> list[str]:
    found = grep(Memory(repository), pattern, limits=Limits(hits=50))
    return [str(hit) for hit in found.matches]


THROTTLE = Exercise(
    key="throttle",
    title="A pattern with the words of others",
    judge=judge_throttle,
    right="It finds what five teams call by five names, and nothing else. A model that types such a pattern "
    "makes one call where it may have made five; one that does not think of the word still finds nothing.",
    hint="Words go side by side with |, and .? stands for an underscore, a blank or nothing. Some limits are written "
    "as a number per second, minute, hour or day, some as an allowance.",
    solution="""\
pattern = "rate.?limit|throttl|quota|per.?(second|minute|hour|day)"
""",
)

# --- A cap that tells ------------------------------------------------------------------------------------------------


def judge_capped(function: Any) -> str | None:
    """Try fewer hits than the cap, just as many, more, none, and very many."""
    for there, most in ((3, 5), (5, 5), (8, 5), (0, 5), (12_000, 3), (6, 5)):
        hits = [f"a.py:{number}: x" for number in range(1, there + 1)]
        shown = call(function, list(hits), most)
        fault = _fault(shown, hits, most)
        if fault:
            return f"With {there:,} hits and a cap of {most} it returned {describe(shown)}. {fault}"
    return None


def _fault(shown: Any, hits: list[str], most: int) -> str | None:
    if not isinstance(shown, list):
        return "A list of texts is wanted."
    if any(isinstance(line, Blank) for line in shown):
        raise NotAttempted
    if shown[: min(most, len(hits))] != hits[:most]:
        return f"The first {min(most, len(hits))} hits are wanted, in their order."
    said, cut = shown[most:], len(hits) - most
    if cut <= 0:
        return None if len(shown) == len(hits) else "Nothing was cut here, so there is nothing to tell."
    if len(said) != 1 or not isinstance(said[0], str):
        return "Hits were cut. One line more has to say so."
    digits = "".join(letter for letter in said[0] if letter.isdigit())
    return None if digits == str(cut) else "The last line has to say how many hits are not shown, and no other number."


CAPPED = Exercise(
    key="capped",
    title="A cap that tells",
    judge=judge_capped,
    right="The model sees the cap's worth and knows how much it does not see. Whether to narrow the pattern is then "
    "its decision, and not an accident.",
    hint="What is cut is what there is, less what is shown. It is below 0 where there are fewer hits than the cap.",
    solution="""\
def capped(hits, most):
    cut = len(hits) - most
    more = [f"… {cut} more hits; narrow the pattern"] if cut > 0 else []
    return hits[:most] + more
""",
)

# --- A path check ----------------------------------------------------------------------------------------------------

INSIDE_PATHS = ("payments/cards.py", "payments", "./payments/cards.py", "payments/..cards.py")
OUTSIDE_PATHS = ("../repo-old/keys.txt", "payments/../../repo-old/keys.txt", "../repo-old", "..")


def judge_inside(function: Any) -> str | None:
    """Try the learner's check on a folder with a sibling whose name begins alike, and with links where they exist."""
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        base = Path(folder)
        root, old = base / "repo", base / "repo-old"
        for file in (root / "payments" / "cards.py", root / "payments" / "..cards.py", old / "keys.txt"):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("x = 1\n", encoding="utf-8")
        for path, wanted in (*_cases(old), *_links(root, old)):
            answer = call(function, root, path)
            if not isinstance(answer, bool):
                return f"For {_named(path, base)} it returned {describe(answer)}; True or False is wanted."
            if answer is not wanted:
                did = f"refused {_named(path, base)}" if wanted else f"let {_named(path, base)} pass"
                return f"It {did}. {_look(path)}"
    return None


def _cases(old: Path) -> list[tuple[str, bool]]:
    inside = [(path, True) for path in INSIDE_PATHS]
    return [*inside, *((path, False) for path in OUTSIDE_PATHS), (str(old / "keys.txt"), False)]


def _links(root: Path, old: Path) -> Iterator[tuple[str, bool]]:
    """Make two links and yield them; none where the system does not let this user make links."""
    targets = (("payments/alias.py", root / "payments" / "cards.py", True), ("payments/loot", old / "keys.txt", False))
    for name, target, wanted in targets:
        try:
            (root / name).symlink_to(target)
        except (OSError, NotImplementedError):
            return
        yield name, wanted


def _named(path: str, base: Path) -> str:
    return repr(path.replace(str(base), "…"))


def _look(path: str) -> str:
    if path == "payments/..cards.py":
        return "That lies in the repository; two dots at the start of a name do not climb."
    if path in INSIDE_PATHS:
        return "That lies in the repository."
    if path == "payments/alias.py":
        return "It is a link, and what it names lies in the repository."
    if path == "payments/loot":
        return "It is a link in repo; follow it, and you are in repo-old."
    return "It leads to repo-old, beside repo, or above both."


INSIDE = Exercise(
    key="inside",
    title="A path check that a sibling folder does not fool",
    judge=judge_inside,
    right="Where a path leads is decided after it was followed, links and dots and all, and folder by folder: "
    "repo-old begins like repo and is another folder.",
    hint="Path.resolve() follows links and dots. Path.is_relative_to() compares folder by folder, where "
    "text.startswith compares letters. The root itself may be reached through a link as well.",
    solution="""\
def inside(root, path):
    target = (root / path).resolve()
    return target.is_relative_to(root.resolve())
""",
)
