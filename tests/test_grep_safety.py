"""What may not be reached: everything outside the root, secrets by name and by content, and a hung kernel."""

import os
from pathlib import Path
from threading import Thread
from time import monotonic

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.grep import Folder, Limits, Memory, PathError, PatternError, grep, read, tool_text
from course_lib.grep.content import is_secret, redact

KEY = "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEowIBAAKCAQEAwJ8t\n" * 5 + "-----END RSA PRIVATE KEY-----\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository with a neighbour whose name begins as its own does."""
    for path, text in {
        "repo/a.py": "needle = 1\n", "repo/sub/b.py": "needle = 2\n", "repo/.env": "KEY=needle", "repo/id_rsa": KEY,
        "repo-secret/c.py": "needle = 3\n", "outside.py": "needle = 4\n",
    }.items():  # fmt: skip
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    return tmp_path / "repo"


def link(place: Path, target: Path) -> None:
    try:
        place.symlink_to(target, target_is_directory=target.is_dir())
    except OSError:
        pytest.skip("Links cannot be made here.")


OUTSIDE = [
    "..", "../outside.py", "../repo-secret/c.py", "sub/../../outside.py", "sub/..", "/etc/passwd", "//server/share/x",
    "\\\\server\\share\\x", "C:\\Windows\\win.ini", "C:a.py", "..\\outside.py", "sub\\..\\..\\outside.py", "\\a.py",
    "a.py::$DATA", "a.py:stream", "CON", "NUL", "nul.txt", "COM1", "sub/AUX", "a.py.", "a.py ", "A.PY", "a.py\0",
    "../repo/a.py", ".../x", ".. /outside.py", "~/x", "repo-secret/c.py", "A~1.PY", "file:///etc/passwd",
    "%2e%2e/outside.py", "x" * 5000, "a.py/../../outside.py", "a.py/b", "no/such.py",
]  # fmt: skip


@pytest.mark.parametrize("path", OUTSIDE)
def test_no_path_leads_out(root: Path, path: str) -> None:
    memory = Memory({"a.py": "needle = 1\n", "sub/b.py": "needle = 2\n"})
    for repository in (Folder(root), memory):
        with pytest.raises(PathError):
            read(repository, path)
        with pytest.raises(PathError):
            grep(repository, "needle", path)


@settings(deadline=None)
@given(st.lists(st.sampled_from([*"./\\~:acb %\0", "sub", "..", "C:", "c/b"]), max_size=10).map("".join))
def test_whatever_is_read_lies_in_the_repository(path: str) -> None:
    repository = Memory({"a": "in", "c/b": "in"})
    try:
        seen = read(repository, path).lines
    except PathError:
        seen = ("in",)
    assert seen == ("in",)


def test_a_near_miss_is_named_and_a_secret_is_not(root: Path) -> None:
    with pytest.raises(PathError, match=r"Did you mean 'sub/b.py'\?"):
        read(Folder(root), "sub/b.p")
    with pytest.raises(PathError) as refused:
        read(Folder(root), ".en")
    assert ".env" not in str(refused.value).replace("'.en'", "")


def test_a_folder_is_not_read_but_its_files_are_named(root: Path) -> None:
    with pytest.raises(PathError, match=r"is a folder.*b\.py"):
        read(Folder(root), "sub/")
    with pytest.raises(NotADirectoryError, match="is no folder"):
        Folder(root / "a.py")


def test_a_link_that_leaves_is_refused_and_one_that_stays_may_be_read(root: Path) -> None:
    link(root / "out.py", root.parent / "outside.py")
    link(root / "in.py", root / "a.py")
    link(root / "key.txt", root / "id_rsa")
    link(root / "up", root.parent)
    repository = Folder(root)
    with pytest.raises(PathError, match="leaves the repository"):
        read(repository, "out.py")
    with pytest.raises(PathError, match="leaves the repository"):
        grep(repository, "needle", "out.py")
    with pytest.raises(PathError, match="kept secret"):
        read(repository, "key.txt")
    with pytest.raises(PathError, match="through a link"):
        read(repository, "up/outside.py")
    assert read(repository, "in.py").lines == ("needle = 1",)
    assert grep(repository, "needle", "in.py").total == 1
    found = grep(repository, "needle")
    assert [match.path for match in found.matches] == ["a.py", "sub/b.py"]
    assert {one.path for one in found.skipped if one.why == "a link"} == {"out.py", "in.py", "key.txt", "up"}


def test_a_root_that_is_a_link_is_the_folder_it_names(root: Path) -> None:
    link(root.parent / "alias", root)
    assert grep(Folder(root.parent / "alias"), "needle").total == 2


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="There are no named pipes here.")
def test_a_pipe_is_not_waited_for(root: Path) -> None:
    os.mkfifo(root / "pipe")
    found = grep(Folder(root), "needle")
    assert ("pipe", "no file") in {(one.path, one.why) for one in found.skipped}
    with pytest.raises(PathError, match="no file"):
        read(Folder(root), "pipe")


@pytest.mark.parametrize(
    "name",
    [".env", ".ENV", ".env.local", ".env.", "id_rsa", "id_ed25519", "ID_RSA.bak", "server.pem", "Server.KEY", "x.p12",
     "credentials", "credentials.json", "secrets.yaml", ".netrc", ".npmrc", ".pypirc", ".pgpass", "a.kdbx",
     ".git-credentials"],
)  # fmt: skip
def test_a_secret_is_known_by_its_name(name: str) -> None:
    assert is_secret(name)
    repository = Memory({name: "needle", "sub/" + name: "needle"}, hidden=True)
    for path in (name, "sub/" + name):
        with pytest.raises(PathError, match="kept secret"):
            read(repository, path)
        with pytest.raises(PathError, match="kept secret"):
            grep(repository, "needle", path)
    assert grep(repository, "needle").total == 0
    assert "2 secret" in grep(repository, "needle").note


@pytest.mark.parametrize(
    "name",
    ["secrets.py", "keys.py", "token.py", ".env.example", "id_rsa.pub", "environment.yml", "monkey.py", "netrc.py"],
)
def test_ordinary_names_are_no_secrets(name: str) -> None:
    assert not is_secret(name)


SECRETS = {
    "private key": KEY,
    "key in one line": 'k = "-----BEGIN PRIVATE KEY-----\\nMIIEvQIBADANBgkqhkiG9w0B\\n-----END PRIVATE KEY-----\\n"',
    "cloud": "id: AKIAQWERTYUIOPASDFGH",
    "cloud secret": "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG+bPxRfiCYzzzz",
    "forge": "t = 'ghp_" + "a1B2" * 9 + "'",
    "chat": "xoxb-123456789012-abcdefghij",
    "model": 'key = "sk-ant-' + "api03-abcdEFGH1234" * 2 + '"',
    "password": "password = 'correct1horse'",
    "address": "postgres://admin:s3cretpw@db.example/main",
    "session": "Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
}
HARMLESS = [
    "token = self.get_token()", "password = getpass.getpass()", "def check(password: str) -> bool:", "# a secret",
    "api_key = os.environ['API_KEY']", "PRIVATE KEY", "sk-learn", "if b'-----BEGIN PRIVATE KEY-----' in data:",
    "http://localhost:8000/path@2", "secret_key_base_name = some_rather_long_function_name", "password='password'",
]  # fmt: skip


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_is_blacked_out_wherever_it_stands_and_cannot_be_searched_for(name: str, root: Path) -> None:
    text = f"before needle\n{SECRETS[name]}\nafter needle\n"
    (root / "config.txt").write_text(text, encoding="utf-8")
    for repository in (Memory({"config.txt": text}), Folder(root)):
        excerpt = read(repository, "config.txt")
        assert "[redacted: " in str(excerpt)
        assert excerpt.total == text.count("\n")
        assert (excerpt.lines[0], excerpt.lines[-1]) == ("before needle", "after needle")
        for part in ("MIIE", "QWERTY", "wJalr", "a1B2", "abcdefghij", "EFGH", "correct1", "s3cret", "dozjg"):
            assert part not in str(excerpt)
            assert grep(repository, part, "config.txt").total == 0


@pytest.mark.parametrize("line", HARMLESS)
def test_code_that_speaks_of_secrets_is_left_as_it_is(line: str) -> None:
    assert redact(line.encode()) == line.encode()


@settings(deadline=None)
@given(st.text(), st.sampled_from(sorted(SECRETS)))
def test_blacking_out_keeps_the_number_of_lines(text: str, name: str) -> None:
    content = (text + "\n" + SECRETS[name] + "\n" + text).encode("utf-8", "replace")
    assert redact(content).count(b"\n") == content.count(b"\n")


# Of the kinds that hang a backtracking engine: nested and overlapping repeats, and what a linear engine lacks.
HANGING = {
    "(b+)+$": "b" * 40 + "!", "([0-9]+)*x": "1" * 5000, "(b|bb)+c": "b" * 60, "^(b|b)*c$": "b" * 60,
    r"^(\w+\s?)*$": "word " * 30 + "!", "(.*,){15}z": "1," * 3000, r"(\s*b?\s*)*c": " " * 3000,
    "(b?){40}b{40}": "b" * 40, "[a-z]*[a-z]*[a-z]*[a-z]*9": "b" * 5000,
}  # fmt: skip


@pytest.mark.parametrize("pattern", HANGING)
def test_a_pattern_that_hangs_other_engines_is_answered_in_time(pattern: str, root: Path) -> None:
    (root / "hay.txt").write_text(HANGING[pattern], encoding="utf-8")
    for repository in (Folder(root), Memory({"hay.txt": HANGING[pattern]})):
        began = monotonic()
        found = grep(repository, pattern, limits=Limits(seconds=20))
        assert found.outcome in ("found", "nothing found")
        assert monotonic() - began < 20


@pytest.mark.parametrize("pattern", [r"(b+)(b+)\1c", r"^([*_])(?:\s*\1){2,}$", r"b(?<=b)+c", r"(?!(b+)+$)b"])
def test_what_a_linear_engine_lacks_is_refused_before_anything_is_searched(pattern: str) -> None:
    with pytest.raises(PatternError, match="linear time does not have"):
        grep(Memory({"hay.txt": "b" * 50}), pattern)


def test_folders_in_folders_are_searched_however_deep() -> None:
    path = "d/" * 1500 + "a.py"
    found = grep(Memory({path: "needle", "z.py": "needle"}), "needle")
    assert [match.path for match in found.matches] == [path, "z.py"]


def test_a_search_in_a_thread_is_answered_too(root: Path) -> None:
    repository, totals = Folder(root), list[int | None]()
    threads = [Thread(target=lambda: totals.append(grep(repository, "needle").total)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert totals == [2] * 8


def test_the_tools_change_nothing(root: Path) -> None:
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    grep(Folder(root), "needle", context=2)
    read(Folder(root), "a.py")
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before


def test_a_name_that_is_no_text_is_shown_in_escapes(root: Path) -> None:
    name = b"bad\xff.py"
    try:
        (root / os.fsdecode(name)).write_bytes(b"needle\n")
    except OSError:
        pytest.skip("Such names cannot be made here.")
    text = tool_text(grep(Folder(root), "needle"))
    assert text.encode("utf-8")
    assert r"bad\udcff.py:1: needle" in text
