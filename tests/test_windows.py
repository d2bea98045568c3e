"""Nothing that a learner runs needs a POSIX system, and the repository can be checked out on Windows.

The source is searched for the usual culprits without being run: this suite has never met a Windows machine, and a
search notices the day on which a call is written that exists on one system only.
"""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# What Windows has not, by the module that has it elsewhere.
MISSING = {
    "os": words(
        """O_DIRECTORY O_NOFOLLOW WNOHANG chown chroot fchmod fchown fork forkpty getegid geteuid getgid getgroups
        getloadavg getpgid getpgrp getpriority getuid initgroups kill killpg lchown mkfifo mknod nice openpty
        posix_fadvise posix_spawn pread preadv sched_getaffinity sched_setaffinity setegid seteuid setgid setpgid
        setpriority setsid setuid statvfs sysconf tcgetpgrp ttyname uname wait3 wait4 waitid"""
    ),
    "signal": words(
        """SIGALRM SIGCHLD SIGCONT SIGHUP SIGKILL SIGPIPE SIGQUIT SIGSTOP SIGTSTP SIGUSR1 SIGUSR2 alarm getitimer pause
        pthread_kill pthread_sigmask setitimer sigpending sigwait"""
    ),
    "socket": {"AF_UNIX"},
    "time": {"clock_getres", "clock_settime", "tzset"},
}
MISSING_MODULES = {
    "crypt",
    "curses",
    "fcntl",
    "grp",
    "posix",
    "pty",
    "pwd",
    "readline",
    "resource",
    "syslog",
    "termios",
}
MISSING_ARGUMENTS = {"group", "pass_fds", "preexec_fn", "process_group", "start_new_session", "umask", "user"}
NEED_RIGHTS = {"hardlink_to", "symlink", "symlink_to"}  # an ordinary Windows account may make no links
PROCESSES = {"Popen", "check_call", "check_output", "run"}
FIXED_PATH = re.compile(r"(?<![\w.*:/<])/(?:bin|dev|etc|home|opt|proc|sys|tmp|usr|var)(?:/|$)")
NO_PADDING = re.compile(r"%-[dHIjmMSUwWy]")

# (file, what is found in it) → why it is no trouble there.
ALLOWED = {
    ("benchmarks/explorers.py", "os.geteuid"): "behind hasattr",
    ("benchmarks/explorers.py", "write_text without an encoding"): "what json.dumps returns is ASCII",
    ("benchmarks/machine.py", "os.killpg"): "the other branch of os.name == 'nt'",
    ("benchmarks/machine.py", "the argument start_new_session"): "Windows takes it and ignores it",
    ("benchmarks/machine.py", "the path /proc/"): "read where it exists; elsewhere psutil is asked",
    ("course.py", "run of text without an encoding"): "reads a version, which is ASCII",
    ("course_lib/lessons/move4_grep/exercises.py", "symlink_to"): "inside try: no right to make links means no links",
    ("course_lib/sql/postgres.py", "the argument start_new_session"): "the other branch of os.name == 'nt'",
    ("tools/kit.py", "the path /bin/"): "the first line of start.sh, which has start.bat beside it",
    ("tools/places.py", "run of text without an encoding"): "reads versions and package names, which are ASCII",
}

RESERVED = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\.|$)")


def programs() -> list[Path]:
    """What learners run: the script, the package, what the script dispatches to."""
    folders = (ROOT / name for name in ("course_lib", "tools", "benchmarks"))
    return [ROOT / "course.py", *sorted(path for folder in folders for path in folder.rglob("*.py"))]


def culprits(source: str) -> Iterator[tuple[int, str]]:
    """Yield (line, what) for everything in `source` that Windows may not have, or may do in another way."""
    tree = ast.parse(source)
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # docstrings
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                for name in names:
                    if name.name.partition(".")[0] in MISSING_MODULES:
                        yield node.lineno, f"the module {name.name}"
            case ast.ImportFrom(module=str(module), names=names):
                if module in MISSING_MODULES:
                    yield node.lineno, f"the module {module}"
                for name in names:
                    if name.name in MISSING.get(module, ()):
                        yield node.lineno, f"{module}.{name.name}"
            case ast.Attribute(value=ast.Name(id=module), attr=name) if name in MISSING.get(module, ()):
                yield node.lineno, f"{module}.{name}"
            case ast.Call():
                yield from ((node.lineno, what) for what in in_call(node))
            case ast.Dict(keys=keys):  # arguments that are put together first
                for key in keys:
                    if isinstance(key, ast.Constant) and key.value in MISSING_ARGUMENTS - {"group", "user"}:
                        yield node.lineno, f"the argument {key.value}"
            case ast.Constant(value=str(text)) if id(node) not in prose:
                if found := FIXED_PATH.search(text):
                    yield node.lineno, f"the path {found.group()}"
                if NO_PADDING.search(text):
                    yield node.lineno, "a date format with %-"


def in_call(call: ast.Call) -> Iterator[str]:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    if name in NEED_RIGHTS and isinstance(call.func, ast.Attribute):
        yield name
    if name in PROCESSES:
        yield from (f"the argument {arg}" for arg in sorted(MISSING_ARGUMENTS & set(map(str, given))))
        if "shell" in given:
            yield "a command for a shell"
        if {"text", "universal_newlines"} & set(given) and "encoding" not in given:
            yield f"{name} of text without an encoding"
    texts = {"read_text": 0, "write_text": 1}
    if name in texts and "encoding" not in given and len(call.args) <= texts[name]:
        yield f"{name} without an encoding"
    if opens_a_text(call, name, given) and "encoding" not in given:
        yield f"{name} without an encoding"


def opens_a_text(call: ast.Call, name: str, given: dict[str | None, ast.expr]) -> bool:
    """Whether this is the built-in open(path), path.open() or fdopen() in text mode."""
    of_a_path = name == "open" and isinstance(call.func, ast.Attribute)
    if name not in ("open", "fdopen"):
        return False
    place = 0 if of_a_path else 1
    mode = given.get("mode", call.args[place] if len(call.args) > place else None)
    if of_a_path and not (mode is None and not call.args) and not isinstance(mode, ast.Constant):
        return False  # not a path: self.open(name), tarfile.open(file)
    return not (isinstance(mode, ast.Constant) and "b" in str(mode.value))


def found_in_programs() -> dict[tuple[str, str], list[int]]:
    found: dict[tuple[str, str], list[int]] = {}
    for path in programs():
        for line, what in culprits(path.read_text(encoding="utf-8")):
            found.setdefault((path.relative_to(ROOT).as_posix(), what), []).append(line)
    return found


def test_no_program_of_the_course_needs_a_posix_system() -> None:
    found = found_in_programs()
    assert [f"{file}:{lines[0]}: {what}" for (file, what), lines in found.items() if (file, what) not in ALLOWED] == []
    assert set(ALLOWED) - set(found) == set(), "these exceptions are needed no longer"


@pytest.mark.parametrize(
    ("source", "what"),
    [
        ("import fcntl", "the module fcntl"),
        ("from pwd import getpwuid", "the module pwd"),
        ("import os\nos.kill(pid, 9)", "os.kill"),
        ("from signal import SIGKILL", "signal.SIGKILL"),
        ("Path('a').read_text()", "read_text without an encoding"),
        ("Path('a').write_text(text)", "write_text without an encoding"),
        ("open('a')", "open without an encoding"),
        ("open('a', 'w')", "open without an encoding"),
        ("Path('a').open()", "open without an encoding"),
        ("Path('a').open('a')", "open without an encoding"),
        ("os.fdopen(handle, 'w')", "fdopen without an encoding"),
        ("subprocess.run(c, text=True)", "run of text without an encoding"),
        ("subprocess.run('ls | wc', shell=True)", "a command for a shell"),
        ("subprocess.Popen(c, preexec_fn=f)", "the argument preexec_fn"),
        ("link.symlink_to(target)", "symlink_to"),
        ("log = '/tmp/log.txt'", "the path /tmp/"),
        ("day.strftime('%-d %B')", "a date format with %-"),
    ],
)
def test_the_search_finds_the_usual_culprits(source: str, what: str) -> None:
    assert [one for _, one in culprits(source)] == [what]


@pytest.mark.parametrize(
    "source",
    [
        "Path('a').read_text(encoding='utf-8')",
        "Path('a').read_text('utf-8')",
        "open('a', 'rb')",
        "Path('a').open('wb')",
        "self.open(name)",
        "subprocess.run(c, capture_output=True)",
        "address = 'https://example.org/home/page'",
        "'''Reads /proc/meminfo in a docstring.'''",
    ],
)
def test_the_search_lets_pass_what_works_everywhere(source: str) -> None:
    assert list(culprits(source)) == []


def test_every_file_can_be_checked_out_on_windows() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if listed.returncode:
        pytest.skip("This is no git repository, so that there is no list of files to look at.")
    names = [name for name in listed.stdout.decode("utf-8").split("\0") if name]
    assert "course.py" in names
    assert [name for name in names if re.search(r'[<>:"\\|?*\x00-\x1f]', name)] == []
    parts = {part for name in names for part in name.split("/")}
    assert [part for part in parts if RESERVED.match(part) or part.endswith((".", " "))] == []
    assert [name for name in names if len(name) > 120] == []  # 260 in all, and the folder above is the learner's
    folded: dict[str, str] = {}
    assert [(name, folded[name.lower()]) for name in names if folded.setdefault(name.lower(), name) != name] == []


def test_git_leaves_line_ends_alone() -> None:
    """Vectors, stored outputs and checksums are of the bytes; a checkout with CRLF would change them."""
    assert "* text=auto eol=lf" in (ROOT / ".gitattributes").read_text(encoding="utf-8").splitlines()


def text_for_learners() -> Iterator[tuple[str, str]]:
    """Yield (file:line, line) of the pages and of the notebooks' prose."""
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "workshop").glob("*.md")]
    for path in [*pages, *(ROOT / "notebooks" / "source").glob("*.py")]:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            if path.suffix == ".md" or line.startswith("# "):
                yield f"{path.relative_to(ROOT).as_posix()}:{number}", line.removeprefix("# ").strip()


def test_no_command_for_learners_exists_on_one_system_only() -> None:
    only = re.compile(r"(?:\$ )?(?:python3|sudo|source|export|chmod|rm|cp|mv|apt-get|brew) \S+( -|$)")
    assert [(where, line) for where, line in text_for_learners() if only.match(line)] == []


def test_who_has_no_command_named_python_is_told_the_other_names() -> None:
    assert re.search(r"`python3`\s+or\s+`py`", (ROOT / "README.md").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "command",
    [
        ["course.py", "--help"],
        ["course.py", "lab", "--help"],
        ["-m", "course_lib.doctor"],
        ["-m", "course_lib.evaluation", "--help"],
        ["-m", "course_lib.learn.board", "--help"],
        ["-m", "benchmarks"],
    ],
)
def test_a_console_with_a_windows_code_page_shows_what_a_command_says(command: list[str]) -> None:
    """There a pipe is not UTF-8, and a character that the code page has not would end the command."""
    env = {**os.environ, "PYTHONIOENCODING": "cp1252:strict", "PYTHONUTF8": "0"}
    done = subprocess.run([sys.executable, *command], cwd=ROOT, env=env, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode("cp1252", "replace")
    assert done.stdout.decode("cp1252").strip()
