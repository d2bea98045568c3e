"""A repository that can be searched and read and never changed: a mapping in memory, or a folder on disk.

What a path may name is decided here, once for both. A folder is asked for its names and only a name it listed is
opened, so that drive letters, alternate streams, device names and short names lead nowhere on any system.
"""

import os
import stat
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from course_lib.grep.content import is_secret, kind_of, searchable

Why: TypeAlias = Literal[
    "secret", "hidden", "ignored", "left out", "a link", "no file", "too large", "binary", "undecodable", "unreadable"
]
MEBIBYTE: Final = 2**20
LARGEST_FILE: Final = 10 * MEBIBYTE
LONGEST_PATH: Final = 4096  # characters
KEPT: Final = MEBIBYTE  # of a file that has to be decoded or blacked out, up to this size, the text is kept


class PathError(ValueError):
    """A path that may not be searched or read: one sentence that says why, and what to do."""


@dataclass(frozen=True)
class Skipped:
    """A file, or with a slash at its end a folder, that was not searched, and why."""

    path: str
    why: Why


class Source(NamedTuple):
    """A file that is searched. Only a `plain` one, UTF-8 without secrets, may be searched as it lies on disk.

    Of another one, `content` keeps what may be searched, unless that is large.
    """

    path: str
    plain: bool = True
    content: bytes | None = None


@dataclass(frozen=True)
class Listing:
    """What a search covers, in the order of its results, and what it leaves out, by path."""

    sources: tuple[Source, ...]
    skipped: tuple[Skipped, ...]


class Entry(NamedTuple):
    """A name in a folder: what it is, and for a file its size in bytes and a stamp that changes when it is edited.

    Without a stamp nothing is remembered of it: a link's target may change behind its back.
    """

    name: str
    is_folder: bool = False
    is_link: bool = False
    is_file: bool = True
    size: int = 0
    stamp: object = None


class Ignored:
    """The rules of the .gitignore files of a repository, as git reads them: the deepest file that speaks wins."""

    def __init__(self) -> None:
        self._rules: dict[str, Any] = {}

    def read(self, folder: str, text: str) -> None:
        """Take the .gitignore of a folder, whose path ends in a slash ("" is the root)."""
        self._rules[folder] = _rules(text)

    def __contains__(self, path: str) -> bool:
        """Say whether a path is ignored; that of a folder ends in a slash."""
        if not self._rules:
            return False
        cut = len(path.rstrip("/"))
        while True:
            cut = path.rfind("/", 0, cut) if cut > 0 else -1
            folder = path[: cut + 1]
            if folder in self._rules:
                verdict = self._rules[folder].check_file(path[len(folder) :]).include
                if verdict is not None:
                    return bool(verdict)
            if not folder:
                return False


@lru_cache(maxsize=256)
def _rules(text: str) -> Any:
    """Read the rules of one file; one that cannot be read is skipped, as git does.

    They are a stranger's patterns too: matched by `re`, `*a*a*a*a*a*b` takes seconds on one long name.
    """
    try:
        from pathspec import GitIgnoreSpec

        GitIgnoreSpec.from_lines([], backend="re2")
    except (ImportError, TypeError):  # TypeError: a release before 1.0, which matches by `re`
        raise ModuleNotFoundError(
            "This repository has a .gitignore, and pathspec 1.0 or newer, which reads it, is not installed: "
            "run `%pip install -U pathspec` in a cell of its own, then restart the kernel."
        ) from None
    rules = []
    for line in text.split("\n"):
        with suppress(Exception):  # the reader's own error, or re2's where the translation is too large
            GitIgnoreSpec.from_lines([line.removesuffix("\r")], backend="re2")
            rules.append(line.removesuffix("\r"))
    return GitIgnoreSpec.from_lines(rules, backend="re2")


class Repository(ABC):
    """What `grep` and `read` work on. Use `Memory` or `Folder`.

    `leave_out` holds names of files and folders that are not searched, such as {"site-packages"}; `hidden` says
    whether names with a leading dot are. A file of more than `largest_file` bytes is not searched. Secrets never are.
    """

    def __init__(self, leave_out: Iterable[str] = (), hidden: bool = False, largest_file: int = LARGEST_FILE) -> None:
        if isinstance(leave_out, str):
            raise ValueError(f"leave_out is the text {leave_out!r}; give a set of names, such as {{{leave_out!r}}}")
        self.leave_out = frozenset(leave_out)
        self.hidden = hidden
        self.largest_file = largest_file
        self._verdicts: dict[str, tuple[object, Source | Why]] = {}

    @abstractmethod
    def entries(self, folder: str) -> list[Entry] | None:
        """Return what lies in a folder, sorted by name; None where it cannot be read. Its path ends in a slash."""

    @abstractmethod
    def raw(self, path: str) -> bytes:
        """Return a file's bytes as they are. Raises OSError where that fails, PathError where it leads outside."""

    def content(self, path: str) -> bytes | None:
        """Return what may be shown of a file that `locate` named: UTF-8, secrets blacked out; None for no text."""
        return searchable(self.raw(path))

    def locate(self, path: str) -> tuple[str, Entry]:
        """Return the one path of a file or folder, relative to the root with slashes, and its entry; "" is the root.

        Raises PathError for whatever is not in the repository, leads out of it or is kept secret.
        """
        place, entry = "", Entry("", is_folder=True, is_file=False)
        for part in _parts(path):
            if entry.is_link:
                raise PathError(f"{path!r} goes through a link, and links to folders are not followed.")
            folder = place + "/" if place else ""
            there = {one.name: one for one in self.entries(folder) or ()} if entry.is_folder else {}
            if part not in there:
                raise PathError(f"There is no {path!r} in this repository.{self._near(folder, part, there)}")
            entry, place = there[part], folder + part
            if is_secret(part, entry.is_folder) or (entry.is_link and is_secret(part, folder=True)):
                raise PathError(f"{path!r} is kept secret: files that hold keys and passwords are never read.")
        return place, entry

    def _near(self, folder: str, part: str, there: Mapping[str, Entry]) -> str:
        names = [name for name, entry in there.items() if not is_secret(name, entry.is_folder)]
        close = get_close_matches(part, names, n=3, cutoff=0.6)
        if close:
            return f" Did you mean {' or '.join(repr(folder + name) for name in close)}?"
        return f" {folder or 'Its root'} holds {', '.join(names[:8])}{' …' if len(names) > 8 else ''}." if names else ""

    def listing(self, path: str = "") -> Listing:
        """Return what a search under `path` covers. What is named itself is searched though hidden or ignored.

        Raises PathError as `locate` does.
        """
        place, entry = self.locate(path)
        skipped: list[Skipped] = []
        if entry.is_folder:
            start = place + "/" if place else ""
            sources: list[Source] = []
            self._walk(start, self._rules_above(start), sources, skipped)
            return Listing(tuple(sources), tuple(sorted(skipped, key=lambda one: one.path)))
        if entry.is_link:
            self.raw(place)  # says so where it leads outside
        verdict = self._verdict(place, entry)
        if isinstance(verdict, Source):
            return Listing((verdict,), ())
        return Listing((), (Skipped(place, verdict),))

    def _rules_above(self, start: str) -> Ignored:
        """Return the rules of the folders above `start`; none where they ignore it, for it was asked for by name."""
        ignored, folder = Ignored(), ""
        for part in start.split("/")[:-1]:
            self._read_rules(folder, self.entries(folder) or [], ignored)
            folder += part + "/"
            if folder in ignored:
                return Ignored()
        return ignored

    def _read_rules(self, folder: str, entries: Iterable[Entry], ignored: Ignored) -> None:
        for entry in entries:
            if entry.name == ".gitignore" and entry.is_file:
                try:
                    ignored.read(folder, self.raw(folder + ".gitignore").decode("utf-8-sig", "replace"))
                except (OSError, PathError):
                    continue

    def _walk(self, start: str, ignored: Ignored, sources: list[Source], skipped: list[Skipped]) -> None:
        """Go through the folders in the order of their names, however deep they lie."""
        pending = [(start, iter(self._opened(start, ignored, skipped)))]
        while pending:
            folder, entries = pending[-1]
            for entry in entries:
                path = folder + entry.name + ("/" if entry.is_folder else "")
                why = self._why_not(path, entry, ignored)
                if why is None and entry.is_folder:
                    pending.append((path, iter(self._opened(path, ignored, skipped))))
                    break
                verdict = why or self._verdict(path, entry)
                if isinstance(verdict, Source):
                    sources.append(verdict)
                else:
                    skipped.append(Skipped(path, verdict))
            else:
                pending.pop()

    def _opened(self, folder: str, ignored: Ignored, skipped: list[Skipped]) -> list[Entry]:
        entries = self.entries(folder)
        if entries is None:
            skipped.append(Skipped(folder, "unreadable"))
            return []
        self._read_rules(folder, entries, ignored)
        return entries

    def _why_not(self, path: str, entry: Entry, ignored: Ignored) -> Why | None:
        name = entry.name
        if is_secret(name, entry.is_folder):
            return "secret"
        if name in self.leave_out:
            return "left out"
        if name.startswith(".") and not self.hidden:
            return "hidden"
        if path in ignored:
            return "ignored"
        if entry.is_link:
            return "a link"
        return None

    def _verdict(self, path: str, entry: Entry) -> Source | Why:
        """Return the file as a source, or why it is none. It is read again only when its stamp changes."""
        known = self._verdicts.get(path)
        if known is not None and known[0] == entry.stamp:
            return known[1]
        verdict: Source | Why
        if not entry.is_file and not entry.is_link:
            verdict = "no file"
        elif entry.size > self.largest_file:
            verdict = "too large"
        else:
            verdict = self._sorted(path, entry)
        if entry.stamp is not None and verdict != "unreadable":
            self._verdicts[path] = (entry.stamp, verdict)
        return verdict

    def _sorted(self, path: str, entry: Entry) -> Source | Why:
        try:
            content = self.raw(path)
        except (OSError, PathError):
            return "unreadable"
        kind = kind_of(content)
        if kind == "binary" or kind == "undecodable":
            return kind
        if kind == "plain" and not entry.is_link:
            return Source(path)
        return Source(path, False, searchable(content) if entry.stamp is not None and entry.size < KEPT else None)


def _parts(path: str) -> list[str]:
    """Return the names that a path goes through. Raises PathError where it could lead out of the root."""
    if not isinstance(path, str) or "\0" in path or len(path) > LONGEST_PATH:
        raise PathError("A path is a text without NUL of at most 4,096 characters, such as 'payments/cards.py'.")
    windows = PureWindowsPath(path)
    if PurePosixPath(path).is_absolute() or windows.drive or windows.root:
        raise PathError(f"{path!r} is absolute. Give a path inside the repository, such as 'payments/cards.py'.")
    parts = [part for part in path.replace("\\", "/").split("/") if part not in ("", ".")]
    if any(part.rstrip(". ") == "" and part.strip() for part in parts):
        raise PathError(f"{path!r} climbs out with '..'. Give a path that starts at the repository's root.")
    return parts


class Memory(Repository):
    """A repository in memory: {path: text or bytes}. Its files are searched in the order of the mapping."""

    def __init__(
        self,
        files: Mapping[str, str | bytes],
        leave_out: Iterable[str] = (),
        hidden: bool = False,
        largest_file: int = LARGEST_FILE,
    ) -> None:
        super().__init__(leave_out, hidden, largest_file)
        self._files = {
            "/".join(_parts(path)): text if isinstance(text, bytes) else text.encode("utf-8", "replace")
            for path, text in files.items()
        }
        self._folders: dict[str, dict[str, Entry]] = {"": {}}
        for path, content in self._files.items():
            self._add(path, len(content))

    def _add(self, path: str, size: int) -> None:
        folder = ""
        *above, name = path.split("/")
        for part in above:
            self._folders[folder].setdefault(part, Entry(part, is_folder=True, is_file=False))
            folder += part + "/"
            self._folders.setdefault(folder, {})
        self._folders[folder][name] = Entry(name, size=size, stamp=size)

    def entries(self, folder: str) -> list[Entry] | None:
        """Return what lies in a folder, in the order of the mapping."""
        there = self._folders.get(folder)
        return None if there is None else list(there.values())

    def raw(self, path: str) -> bytes:
        """Return a file's bytes."""
        return self._files[path]

    def listing(self, path: str = "") -> Listing:
        """Return what a search under `path` covers, in the order of the mapping whatever the folders are."""
        listing = super().listing(path)
        place = {path: number for number, path in enumerate(self._files)}
        return Listing(tuple(sorted(listing.sources, key=lambda source: place[source.path])), listing.skipped)


class Folder(Repository):
    """A repository in a folder on disk, searched in the order of its paths. Nothing is ever written to it.

    Raises NotADirectoryError, in a sentence, where `root` is no folder.
    """

    def __init__(
        self,
        root: Path | str,
        leave_out: Iterable[str] = (),
        hidden: bool = False,
        largest_file: int = LARGEST_FILE,
    ) -> None:
        super().__init__(leave_out, hidden, largest_file)
        self.root = Path(root).resolve()
        self.left_out: dict[str, frozenset[str]] = {}  # by folder: what the last search there left out
        if not self.root.is_dir():
            raise NotADirectoryError(f"{str(root)!r} is no folder. Give the folder whose files are to be searched.")

    def entries(self, folder: str) -> list[Entry] | None:
        """Return what lies in a folder, sorted by name as paths are."""
        try:
            with os.scandir(self.root / folder if folder else self.root) as found:
                entries = [_entry(one) for one in found]
        except OSError:
            return None
        return sorted(entries, key=lambda entry: entry.name + "/" if entry.is_folder else entry.name)

    def raw(self, path: str) -> bytes:
        """Return a file's bytes. A link is followed as long as it stays inside the root and names no secret."""
        real = (self.root / path).resolve()
        if not real.is_relative_to(self.root):
            raise PathError(f"{path!r} is a link that leaves the repository.")
        if any(is_secret(part) or is_secret(part, folder=True) for part in real.relative_to(self.root).parts):
            raise PathError(f"{path!r} is a link to a file that is kept secret.")
        if not real.is_file():
            raise PathError(f"{path!r} is no file.")
        if real.stat().st_size > self.largest_file:
            raise PathError(f"{path!r} is larger than {self.largest_file / MEBIBYTE:g} MB, more than is read.")
        return real.read_bytes()


def _is_junction(found: os.stat_result) -> bool:
    return int(getattr(found, "st_reparse_tag", 0)) == 0xA0000003  # Windows: a folder that stands somewhere else


def _entry(one: "os.DirEntry[str]") -> Entry:
    try:
        is_folder = one.is_dir(follow_symlinks=False)
        if is_folder and os.name != "nt":
            return Entry(one.name, is_folder=True, is_file=False)
        found = one.stat(follow_symlinks=False)
        if stat.S_ISLNK(found.st_mode) or _is_junction(found):
            return Entry(one.name, is_link=True, is_file=False)
        if is_folder:
            return Entry(one.name, is_folder=True, is_file=False)
        stamp = (found.st_mtime_ns, found.st_size, found.st_ino)
        return Entry(one.name, False, False, stat.S_ISREG(found.st_mode), found.st_size, stamp)
    except OSError:
        return Entry(one.name, is_file=False)
