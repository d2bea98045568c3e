"""ripgrep over a folder, google-re2 over the same folder and google-re2 over the same files in memory agree."""

import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from course_lib.grep import Folder, Memory, PatternError, grep, read, ripgrep
from course_lib.grep.pattern import common, compiled

needs_ripgrep = pytest.mark.skipif(ripgrep.program() is None, reason="ripgrep is not installed here.")

LETTERS = [*"abAéſK1_ \t.$&~-[]{}<>\\ß", "\r", "\x0b", "\x0c", "\u2028", "\x85", "\0"]
LINE = st.text(st.sampled_from(LETTERS), max_size=8)
TEXT = st.builds(
    lambda lines, end, last: end.join(lines) + last,
    st.lists(LINE, max_size=5), st.sampled_from(["\n", "\r\n"]), st.sampled_from(["", "\n"]),
)  # fmt: skip
CONTENT = st.one_of(
    st.builds(lambda text, encoding: text.encode(encoding, "replace"), TEXT,
              st.sampled_from(["utf-8", "utf-8", "utf-8", "utf-16", "utf-8-sig", "latin-1"])),
    st.binary(max_size=12),
)  # fmt: skip
NAMES = st.sampled_from(
    ["a.py", "b/a.py", "b/.h", "b c/#x.txt", "ü.md", ".env", "d/.gitignore", "d/a.log", "d/b", "[z].md", "b/k.pem",
     "x!.txt", "{a,b}.txt", "a/b.c", "a.b/c"]
)  # fmt: skip
ATOMS = [
    *"abéKsk_ -&.^${}]", r"\w", r"\W", r"\d", r"\D", r"\s", r"\S", r"\b", r"\B", "[ab]", "[^a]", r"[\W]", r"[\D_]",
    "[&&a]", "[a-z&&[^a]]", "[~~-]", "[[:alpha:]]", "[[a]", r"\.", r"\$", r"\<", r"\>", r"\x41", r"\101", r"\p{L}",
    r"\P{L}", "(?:a|)", "(a)", "(?P<n>a)", r"\A", r"\Z", r"[\S]", "(?i)", "(?-i:A)", "a{2}", "a{,2}", "{1}",
    r"\{", "[.]",
    "[]a]", r"[\]]", r"[^\W]", "[-a]", "[a-]", r"\\", r"[\r\n]", r"\t", r"[\x00-\x1f]",
]  # fmt: skip
PATTERN = st.lists(st.tuples(st.sampled_from(ATOMS), st.sampled_from(["", "", "", "*", "+", "?", "|"])), min_size=1,
                   max_size=4).map(lambda parts: "".join(atom + mark for atom, mark in parts))  # fmt: skip


def write(root: Path, files: dict[str, bytes]) -> None:
    for path, content in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content)


@needs_ripgrep
@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(NAMES, CONTENT, max_size=6), PATTERN, st.booleans(), st.integers(0, 2))
def test_the_three_ways_agree(files: dict[str, bytes], pattern: str, ignore_case: bool, context: int) -> None:
    memory = Memory({path: files[path] for path in sorted(files)})
    try:
        expected = grep(memory, pattern, ignore_case=ignore_case, context=context)
    except PatternError:
        return
    with tempfile.TemporaryDirectory() as root:
        write(Path(root), files)
        folder = Folder(root)
        for engine in ("fastest", "google-re2", "fastest"):
            found = grep(folder, pattern, ignore_case=ignore_case, context=context, engine=engine)
            assert found == expected
        for match in expected.matches:
            assert read(folder, match.path, match.line, match.line).lines[0].strip() == match.text


@needs_ripgrep
def test_ripgrep_is_what_searches_a_folder(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": b"needle\n"})
    assert grep(Folder(tmp_path), "needle").engine == "ripgrep"
    assert grep(Folder(tmp_path), "needle", engine="google-re2").engine == "google-re2"
    assert grep(Memory({"a.py": "needle"}), "needle").engine == "google-re2"


@needs_ripgrep
def test_ripgrep_s_own_settings_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rc").write_text("--invert-match\n", encoding="utf-8")
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(tmp_path / "rc"))
    write(tmp_path / "repo", {"a.py": b"needle\nother\n", "-v": b"needle"})
    assert grep(Folder(tmp_path / "repo"), "needle").total == 2


@needs_ripgrep
def test_a_flood_is_counted_alike_and_cut_in_the_same_place(tmp_path: Path) -> None:
    write(tmp_path, {f"f{number:02}.py": b"needle\nno\n" * 40 for number in range(30)})
    one, other = (grep(Folder(tmp_path), "needle", engine=engine) for engine in ("fastest", "google-re2"))
    assert one == other
    assert (one.total, one.files, one.cut) == (1200, 30, 1195)


@settings(deadline=None)
@given(st.text(st.sampled_from([*"ab.\\[](){}*+?|^$-,1wdsb:=<>P!#nx"]), max_size=12))
def test_any_pattern_is_compiled_or_refused_in_a_sentence(pattern: str) -> None:
    try:
        compiled(pattern)
        said = "this pattern can be searched for"
    except PatternError as error:
        said = str(error)
    assert len(said.split()) > 4


@settings(deadline=None)
@given(st.text(min_size=1, max_size=20).filter(lambda text: not any(0xD800 <= ord(c) <= 0xDFFF for c in text)))
def test_an_escaped_text_is_found_as_it_stands(text: str) -> None:
    if "\n" in text or "\r" in text:
        with pytest.raises(PatternError, match="line by line"):
            common(re.escape(text))
    else:
        content = ("x" * 9000 + "\n" + text).encode()  # so that a NUL stands too far back to make it binary
        assert grep(Memory({"a.txt": content}), re.escape(text), ignore_case=False).total == 1 + (set(text) <= {"x"})


@pytest.mark.parametrize("letter", ["\n", "\r"])
def test_no_class_and_no_dot_goes_over_a_line_end(letter: str) -> None:
    for pattern in (r"a.b", r"a[^x]b", r"a\sb", r"a\Wb", r"a[\W]b", r"a\Db", r"a[[:space:]]b", r"a[\x00-\x7f]b"):
        found = grep(Memory({"a.txt": f"a{letter}b"}), pattern)
        assert found.total == (1 if letter == "\r" and pattern in (r"a[\x00-\x7f]b",) else 0), pattern
