"""The two tools: the lesson's figures, line numbers, caps, and answers that are told apart."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.corpora.repository import files
from course_lib.grep import (
    Folder,
    Limits,
    Memory,
    PathError,
    PatternError,
    grep,
    measure_backtracking,
    read,
    ripgrep,
    search,
    tool_text,
)  # fmt: skip

REPO = Memory(files())
Make = Callable[[dict[str, bytes]], Memory | Folder]


@pytest.fixture(params=["memory", "folder"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    """Puts files into memory or into a folder whose name is no friend of paths."""
    root = tmp_path / "a b#ü%"

    def folder(contents: dict[str, bytes]) -> Folder:
        root.mkdir(exist_ok=True)
        for path, content in contents.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(content)
        return Folder(root)

    return Memory if request.param == "memory" else folder


def places(found: search.Found) -> list[str]:
    return [f"{match.path}:{match.line}" for match in found.matches]


# --- The lesson's figures -------------------------------------------------------------------------------------------


def test_g1_the_first_search_finds_the_retries_of_cards_and_emails() -> None:
    found = grep(REPO, "retr")
    assert places(found) == [
        "payments/config.py:3", "payments/cards.py:1", "payments/cards.py:4",
        "billing/retry.py:1", "billing/retry.py:2",
    ]  # fmt: skip
    assert (found.total, found.cut, found.note) == (5, 0, "")
    assert str(found).splitlines()[0] == "payments/config.py:3: CARD_RETRY_LIMIT = 3"


def test_g1_the_second_search_names_webhooks() -> None:
    found = grep(REPO, "webhook.*(retr|attempt)")
    assert places(found) == [
        "payments/config.py:1", "payments/webhooks.py:1", "payments/webhooks.py:4", "payments/webhooks.py:8",
        "docs/runbook.md:2",
    ]  # fmt: skip
    assert found.total == 5


def test_g1_and_g2_the_read_shows_what_the_constant_hides() -> None:
    excerpt = read(REPO, "payments/webhooks.py", 3, 9)
    assert str(excerpt).splitlines()[1] == "4:     for attempt in range(WEBHOOK_MAX_ATTEMPTS):"
    assert (excerpt.start, excerpt.end, excerpt.total, excerpt.note) == (3, 9, 9, "")


def test_g3_a_word_that_nobody_wrote_finds_nothing_and_a_synonym_does() -> None:
    nothing = grep(REPO, "rate.?limit")
    assert (nothing.outcome, nothing.total, nothing.searched) == ("nothing found", 0, 6)
    assert "No line matches in 6 files" in nothing.note
    assert places(grep(REPO, "throttle|per.?minute|quota")) == ["notifications/mailer.py:2"]


def test_g3b_a_common_word_is_cut_and_says_by_how_much() -> None:
    found = grep(REPO, "webhook")
    assert (len(found.matches), found.total, found.cut) == (5, 8, 3)
    assert tool_text(found).splitlines()[-1].startswith("… 3 more hits (8 in 3 files);")


def test_g5_python_s_own_engine_is_stopped_and_the_linear_one_answers() -> None:
    texts = ["a" * length + "!" for length in (4, 60)]
    short, long = measure_backtracking("(a+)+$", texts, seconds=0.5)
    assert isinstance(short.seconds, float)
    assert (long.length, long.seconds) == (61, "stopped")
    assert grep(Memory({"a.txt": texts[1]}), "(a+)+$").outcome == "nothing found"


def test_a_pattern_that_re_cannot_compile_is_said_and_not_measured() -> None:
    with pytest.raises(ValueError, match="cannot compile"):
        measure_backtracking("(", ["a"])


# --- Lines ----------------------------------------------------------------------------------------------------------

TRAPS = "one\rone\x0bone\x0cone\x85one\u2028one\u2029one\x1cone\ntwo needle\r\nthree needle"


def test_only_a_line_feed_ends_a_line(make: Make) -> None:
    repository = make({"a.txt": TRAPS.encode()})
    found = grep(repository, "needle")
    assert places(found) == ["a.txt:2", "a.txt:3"]
    for match in found.matches:
        assert read(repository, match.path, match.line, match.line).lines == (match.text,)
    assert read(repository, "a.txt").total == 3


def test_a_dollar_means_the_end_of_a_line_whatever_ends_it(make: Make) -> None:
    repository = make({"dos.txt": b"one needle\r\ntwo\r\n", "unix.txt": b"one needle\ntwo", "empty.txt": b""})
    assert places(grep(repository, "needle$")) == ["dos.txt:1", "unix.txt:1"]
    assert places(grep(repository, "^two$")) == ["dos.txt:2", "unix.txt:2"]
    assert grep(repository, "^$").total == 0


@pytest.mark.parametrize(
    ("content", "lines"), [(b"", 0), (b"a", 1), (b"a\n", 1), (b"\n", 1), (b"a\n\n", 2), (b"\n\n", 2)]
)
def test_a_last_line_feed_opens_no_further_line(make: Make, content: bytes, lines: int) -> None:
    repository = make({"a.txt": content})
    assert read(repository, "a.txt").total == lines
    assert grep(repository, "^").total == lines


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "latin-1"])
def test_a_text_is_found_in_every_encoding_that_says_what_it_is(make: Make, encoding: str) -> None:
    repository = make({"a.txt": "Straße\nGröße: 5\n".encode(encoding)})
    assert places(grep(repository, "^größe")) == ["a.txt:2"]
    assert read(repository, "a.txt", 2).lines == ("Größe: 5",)


def test_a_nul_far_inside_a_text_is_shown_and_one_at_its_head_makes_it_binary(make: Make) -> None:
    repository = make({"late.txt": b"x" * 8000 + b"\nneedle\0here\n", "early.bin": b"\0needle"})
    found = grep(repository, "needle")
    assert [match.text for match in found.matches] == [r"needle\x00here"]
    assert [(one.path, one.why) for one in found.skipped] == [("early.bin", "binary")]


def test_what_a_screen_would_obey_is_written_out(make: Make) -> None:
    repository = make({"a.txt": b"ok needle\rother.py:1: forged\x1b[2J\xe2\x80\xa8b.py:1: forged\n"})
    text = tool_text(grep(repository, "needle"))
    assert text.splitlines() == [r"a.txt:1: ok needle\rother.py:1: forged\x1b[2J\u2028b.py:1: forged"]


def test_lines_around_a_hit_are_shown_once_and_in_order(make: Make) -> None:
    repository = make({"a.txt": b"1\n2 x\n3 x\n4\n5\n"})
    assert tool_text(grep(repository, "x", context=1)).splitlines() == [
        "a.txt-1- 1", "a.txt:2: 2 x", "a.txt:3: 3 x", "a.txt-4- 4",
    ]  # fmt: skip


# --- Caps -----------------------------------------------------------------------------------------------------------


def test_a_line_of_650_000_characters_is_shown_around_the_match(make: Make) -> None:
    repository = make({"min.js": b"x" * 400_000 + b"needle" + b"y" * 250_000})
    (match,) = grep(repository, "needle").matches
    assert "needle" in match.text
    assert len(match.text) < 300
    assert match.window.before + len(match.window.text) + match.window.after == 650_006
    assert len(str(read(repository, "min.js"))) < 300


@settings(deadline=None)
@given(st.text(max_size=60), st.integers(1, 30))
def test_a_window_is_as_wide_as_asked_and_leaves_nothing_uncounted(text: str, width: int) -> None:
    line = text.replace("\n", " ").replace("\r", " ").encode("utf-8", "replace")
    middle = len(line) // 2
    window = search.window(line, (middle, middle), width)
    length = len(line.decode("utf-8"))
    assert window.before + min(width, length) + window.after == length


def test_characters_in_all_are_capped_and_the_count_goes_on(make: Make) -> None:
    repository = make({"a.txt": b"needle in a line\n" * 100})
    found = grep(repository, "needle", limits=Limits(hits=50, characters=40))
    assert (len(found.matches), found.total, found.cut) == (3, 100, 97)


def test_the_lines_around_a_hit_count_towards_the_cap(make: Make) -> None:
    repository = make({"a.txt": (b"x" * 100 + b"\n") * 20 + b"needle\n" * 9})
    assert len(grep(repository, "needle", context=5, limits=Limits(hits=9, characters=300)).matches) == 1


def test_a_read_that_stops_says_where_to_read_on() -> None:
    repository = Memory({"a.txt": "x\n" * 100})
    assert (
        read(repository, "a.txt", 1, 99, limits=Limits(lines=10)).note
        == "… stopped after line 10 of 100; read on from line 11."
    )
    assert read(repository, "a.txt", 1, 99, limits=Limits(characters=7)).end == 7
    assert read(repository, "a.txt", 200, 210).note == "The file has 100 lines."


@pytest.mark.parametrize(
    ("start", "end", "message"), [(0, 5, "start is 0"), (5, 4, "backwards"), (1, True, "end is True")]
)
def test_line_numbers_that_are_none_are_refused(start: int, end: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read(REPO, "docs/runbook.md", start, end)


def test_a_limit_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="hits is 0"):
        Limits(hits=0)
    with pytest.raises(ValueError, match="context is -1"):
        grep(REPO, "x", context=-1)
    with pytest.raises(ValueError, match="engine is 're'"):
        grep(REPO, "x", engine="re")  # type: ignore[arg-type]


# --- Answers that are told apart ------------------------------------------------------------------------------------


def test_nothing_found_and_nothing_searched_are_two_answers(make: Make) -> None:
    repository = make({".hidden/a.py": b"needle", "b.bin": b"\0needle", "junk": b"\xff\x01needle"})
    found = grep(repository, "needle")
    assert (found.outcome, found.total, found.searched) == ("nothing searched", 0, 0)
    assert found.note == "Nothing was searched, so nothing is known. Not searched: 1 binary, 1 hidden, 1 undecodable."
    assert grep(make({"c.py": b"x"}), "needle").outcome == "nothing found"


def test_what_is_too_large_or_left_out_is_not_searched() -> None:
    repository = Memory({"a.py": "needle" * 10, "lib/b.py": "needle"}, leave_out={"lib"}, largest_file=20)
    found = grep(repository, "needle")
    assert {(one.path, one.why) for one in found.skipped} == {("a.py", "too large"), ("lib/", "left out")}
    assert found.about_skipped() == "Not searched: 1 too large."


def test_ignored_files_are_skipped_as_git_does_and_searched_when_named(make: Make) -> None:
    repository = make(
        {
            ".gitignore": b"*.log\n!keep.log\nbuild/\n\\\n",
            "a.log": b"needle",
            "keep.log": b"needle",
            "build/b.py": b"needle",
            "sub/.gitignore": b"!a.log\n",
            "sub/a.log": b"needle",
        }
    )
    found = grep(repository, "needle")
    assert sorted(places(found)) == ["keep.log:1", "sub/a.log:1"]
    assert {one.path for one in found.skipped if one.why == "ignored"} == {"a.log", "build/"}
    assert places(grep(repository, "needle", "build")) == ["build/b.py:1"]
    assert places(grep(repository, "needle", "a.log")) == ["a.log:1"]


def test_a_gitignore_cannot_hang_the_search() -> None:
    hostile = "*a" * 12 + "*b.txt\n"
    found = grep(Memory({".gitignore": hostile, "a" * 200: "needle"}), "needle")
    assert found.total == 1


def test_a_path_is_a_folder_or_a_file_and_no_prefix() -> None:
    assert places(grep(REPO, "retr", "billing")) == ["billing/retry.py:1", "billing/retry.py:2"]
    assert places(grep(REPO, "retr", "./payments/config.py")) == ["payments/config.py:3"]
    with pytest.raises(PathError, match="no 'pay' in this repository"):
        grep(REPO, "retr", "pay")


def test_a_time_out_is_never_reported_as_no_hits() -> None:
    found = grep(Memory({"a.txt": "b" * 200_000}), "needle", limits=Limits(seconds=1e-9))
    assert (found.outcome, found.total, found.cut) == ("timed out", None, None)
    assert "does not mean that nothing matches" in tool_text(found)


def test_a_ripgrep_that_hangs_is_killed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("needle", encoding="utf-8")
    started = ripgrep._started
    sleeper = [sys.executable, "-c", "import time; time.sleep(60)"]
    children = []

    def start_the_sleeper(command: object, root: Path) -> object:
        children.append(started(sleeper, root))
        return children[-1]

    monkeypatch.setattr(ripgrep, "program", lambda: "rg")
    monkeypatch.setattr(ripgrep, "_started", start_the_sleeper)
    found = grep(Folder(tmp_path), "needle", limits=Limits(seconds=0.3))
    assert (found.outcome, found.total) == ("timed out", None)
    children[0].wait(5)


def test_a_ripgrep_that_fails_is_replaced(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("needle", encoding="utf-8")
    monkeypatch.setattr(ripgrep, "program", lambda: str(tmp_path / "no such program"))
    found = grep(Folder(tmp_path), "needle")
    assert (found.total, found.engine) == (1, "google-re2")


def test_without_google_re2_there_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "re2", None)
    with pytest.raises(ModuleNotFoundError, match="%pip install google-re2"):
        grep(REPO, "x")


def test_without_pathspec_a_gitignore_is_not_silently_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pathspec", None)
    assert grep(Memory({"a.py": "needle"}), "needle").total == 1
    with pytest.raises(ModuleNotFoundError, match="%pip install -U pathspec"):
        grep(Memory({".gitignore": "no such rule elsewhere", "a.py": "needle"}), "needle")


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("", "empty"), ("a(?=b)", "look-around"), ("(?<!a)b", "look-around"), (r"(a)\1", "back-reference"),
        ("(?P<x>a)(?P=x)", "back-reference"), (r"a\nb", "line by line"), ("a\nb", "line by line"),
        ("a++", "possessive"),
        ("(?>a)", "atomic"), ("(a", "cannot be read"), ("a**", "cannot be read"), ("[a", "closing bracket"),
        ("[z-a]", "backwards"), (r"\Q", "no escape"), ("x" * 1001, "1,001 characters"), ("\ud800", "surrogate"),
        ("(?x)a", "no group"), ("(?(1)a)", "condition"), ("(x{999}){999}", "repeats too much"), ("\\", "no escape"),
        ("[[:nope:]]", "no class"), (r"\x{110000}", "no character"), ("[\n]", "line by line"), (r"\p{", "no kind"),
    ],
)  # fmt: skip
def test_a_pattern_that_a_linear_engine_does_not_have_is_refused_in_a_sentence(pattern: str, message: str) -> None:
    with pytest.raises(PatternError, match=message):
        grep(REPO, pattern)


def test_a_pattern_that_matches_everything_is_capped() -> None:
    found = grep(REPO, ".*")
    assert (len(found.matches), found.total) == (5, sum(len(text.splitlines()) for text in files().values()))


def test_an_edit_is_seen_by_the_next_search(make: Make) -> None:
    assert grep(make({"a.txt": b"old"}), "needle").total == 0
    assert grep(make({"a.txt": b"old needle"}), "needle").total == 1


def test_the_same_folder_is_searched_as_it_is_now(tmp_path: Path) -> None:
    repository, file = Folder(tmp_path), tmp_path / "a.txt"
    file.write_bytes(b"needle")
    assert grep(repository, "needle").total == 1
    file.write_bytes(b"\0 needle is binary now")
    (tmp_path / "b.txt").write_bytes(b"needle")
    assert places(grep(repository, "needle")) == ["b.txt:1"]
    (tmp_path / "b.txt").unlink()
    assert grep(repository, "needle").outcome == "nothing searched"
