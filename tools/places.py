"""Runs the course in the places where learners run it (run by `.ci/run`, after the tests).

    python -m tools.places [PLACE …]

Places: colab, binder, full, engines, sqlites, pageindex, kit, pythons; all of them when left out. Each gets an
environment of its own, which needs a network once. Ends with one line a place, and exits 1 when any place fails.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import nbformat

import course
from tools.build import execute
from tools.kit import KitError, files_of, isolated, make_kit, try_kit
from tools.source import NOTEBOOKS, ROOT, BuildError, source_names

NBVAL = ["--nbval-lax", "--nbval-current-env", "--nbval-cell-timeout=120"]
NBVAL += ["--nbval-sanitize-with", "tests/nbval_sanitize.cfg"]
AUTHORS = ("static", "spelling", "links", "glossary", "workshop", "pins", "places", "benchmarks")
# Run once, on the main Python: the browser, and what is about the pages and the authors' tools.
ELSEWHERE = ["--ignore=tests/browser", "--ignore=tests/tools", *(f"--ignore=tests/test_{name}.py" for name in AUTHORS)]
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}  # two processes share two cores: more would wait
ON_TWO_CORES = ["-n", "2", "--dist", "loadfile"]
MAKE = """
import sys, course
try:
    course.environment(*sys.argv[1:])
except course.Stop as stop:
    sys.exit(str(stop))
"""


HERE = f"3.{sys.version_info.minor}"


class PlaceError(Exception):
    """A place in which the course does not run as it should: a sentence for the maintainer."""


@dataclass(frozen=True)
class Outcome:
    """One place, whether the course runs there, and what was seen."""

    place: str
    passed: bool
    said: str


# --- Pythons and environments ---


def python_version(python: str | Path) -> str:
    """The version, such as "3.12.1", of a CPython that can run the course; "" for anything else."""
    ask = "import platform, sys, venv, ensurepip, ssl, sqlite3; v = sys.version_info[:2] >= (3, 11); "
    ask += "print(platform.python_version() if v and platform.python_implementation() == 'CPython' else '')"
    try:
        done = subprocess.run([python, "-c", ask], check=False, capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    version = done.stdout.strip()
    return version if done.returncode == 0 and re.fullmatch(r"3\.\d+\.\d+", version) else ""


def pythons_on_this_machine() -> dict[str, Path]:
    """{minor version: interpreter} of what really runs: this one, then pyenv's, then those on the path."""
    of_pyenv = sorted((Path.home() / ".pyenv" / "versions").glob("*/bin/python"))
    on_path = [shutil.which(f"python3.{minor}") for minor in range(11, 20)]
    found: dict[str, tuple[tuple[int, ...], Path]] = {}
    for python in [*of_pyenv, *(Path(one) for one in on_path if one)]:
        if version := python_version(python):
            numbers = tuple(int(part) for part in version.split("."))
            minor = f"3.{numbers[1]}"
            if minor not in found or found[minor][0] < numbers:
                found[minor] = (numbers, python)
    return {HERE: Path(sys.executable)} | {
        minor: python for minor, (_, python) in sorted(found.items()) if minor != HERE
    }


def python_for_old_pins() -> Path:
    """An interpreter for which the packages of Colab's time exist as wheels. Raises PlaceError without one."""
    found = pythons_on_this_machine()
    for minor in ("3.11", "3.12"):
        if minor in found:
            return found[minor]
    raise PlaceError("no Python 3.11 or 3.12 on this machine, and the pins need one")


def environment(folder: str, *sets: str, python: Path | None = None) -> Path:
    """The interpreter of a complete environment in the project's folder, made where needed by `python`."""
    command = [str(python or sys.executable), "-c", MAKE, folder, *sets]
    done = subprocess.run(command, cwd=ROOT, check=False)
    if done.returncode:
        raise PlaceError(f"the environment {folder} could not be made")
    return Path(course.interpreter(ROOT / folder))


def freeze(python: Path) -> dict[str, str]:
    """{package: version} of what is installed beside an interpreter."""
    command = [str(python), "-m", "pip", "list", "--format=freeze"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return dict(line.split("==", 1) for line in done.stdout.splitlines() if "==" in line)


# --- running ---


def run_notebooks(python: Path, folders: Sequence[Path]) -> int:
    """Run every notebook of some folders on the kernel of `python`, where they lie; return how many ran."""
    paths = [folder / f"{name}.ipynb" for folder in folders for name in source_names()]
    for path in paths:
        run_notebook(path, python)
    return len(paths)


def run_notebook(path: Path, python: Path) -> None:
    """Run one notebook top to bottom. Raises PlaceError with the cell that failed."""
    try:
        execute(nbformat.read(path, as_version=4), path.parent, python)  # type: ignore[no-untyped-call]
    except BuildError as error:
        raise PlaceError(f"{path.name} does not run:\n{error}") from None


def run_pytest(python: Path, *arguments: str, **settings: str) -> str:
    """Run pytest and return its closing line. Raises PlaceError where it fails or finds nothing to run."""
    command = [str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    env = (
        {name: value for name, value in os.environ.items() if name != "COURSE_REQUIRE_BROWSER"} | ONE_THREAD | settings
    )
    done = subprocess.run(
        command, cwd=ROOT, env=env, check=False, capture_output=True, encoding="utf-8", errors="replace"
    )
    lines = (done.stdout + done.stderr).strip().splitlines() or ["pytest said nothing"]
    if done.returncode or " passed" not in lines[-1]:
        print("\n".join(lines))
        raise PlaceError(lines[-1])
    return lines[-1].strip("= ")


# --- Colab ---


def write_archive(path: Path) -> None:
    """Write the working tree into a zip as GitHub exports it: under one folder, without what is not committed."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in files_of(ROOT):
            archive.write(ROOT / file, str(Path("course-main") / file))


@contextmanager
def served_archive() -> Iterator[tuple[str, list[str]]]:
    """(address, requests so far) of an archive of the working tree, on this machine's own interface."""
    requests: list[str] = []

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *arguments: object) -> None:
            requests.append(self.path)

    with tempfile.TemporaryDirectory() as folder:
        write_archive(Path(folder) / "main.zip")

        def handler(*arguments: object) -> Quiet:
            return Quiet(*arguments, directory=folder)  # type: ignore[arg-type]

        with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            yield f"http://127.0.0.1:{server.server_port}/main.zip", requests
            server.shutdown()


@contextmanager
def setting(name: str, value: str) -> Iterator[None]:
    """Set a variable of the environment that kernels inherit, and put back what was there."""
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


def colab_environment() -> tuple[Path, dict[str, str]]:
    """(interpreter, {package: version}) of an environment with Colab's pins and nothing that the course installed."""
    python = environment(".venv-colab", "colab", python=python_for_old_pins())
    pinned = {
        re.sub(r"[-_.]+", "-", line.split("==")[0]).lower()
        for line in (ROOT / "requirements-colab-test.txt").read_text(encoding="utf-8").splitlines()
        if "==" in line
    } | {"pip", "setuptools"}
    extra = [name for name in freeze(python) if re.sub(r"[-_.]+", "-", name).lower() not in pinned]
    if extra:  # from an earlier run
        subprocess.run([python, "-m", "pip", "uninstall", "--quiet", "--yes", *extra], check=True)
    return python, freeze(python)


def colab() -> list[Outcome]:
    """On Colab's pins: each notebook alone in an empty folder, then the solved ones inside the course."""
    python, before = colab_environment()
    with served_archive() as (address, requests), tempfile.TemporaryDirectory() as folder:
        for name in source_names():
            shutil.copy(NOTEBOOKS / f"{name}.ipynb", folder)
            with setting("COURSE_ARCHIVE", address):
                run_notebook(Path(folder) / f"{name}.ipynb", python)
    after = freeze(python)
    changed = [f"{name} {old} → {after.get(name, 'gone')}" for name, old in before.items() if after.get(name) != old]
    if changed:
        raise PlaceError(f"the first cell changed what was installed: {', '.join(changed)}")
    if len(requests) != 1:
        raise PlaceError(f"{len(source_names())} notebooks fetched the archive {len(requests)} times, not once")
    added = ", ".join(sorted(set(after) - set(before)))
    alone = f"{len(source_names())} notebooks ran, alone in an empty folder; added {added}; no version changed"
    inside = f"{run_notebooks(python, [NOTEBOOKS / 'solved'])} notebooks ran"
    return [Outcome("colab, alone", True, alone), Outcome("colab pins", True, inside)]


# --- Binder, the full environment, the engines lab, other Pythons ---


def binder() -> list[Outcome]:
    """In an empty environment, binder/postBuild first on the path as Binder runs it, then the learner's notebooks."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([python_for_old_pins(), "-m", "venv", folder], check=True)
        python = Path(course.interpreter(Path(folder)))
        env = os.environ | {"PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}"}
        command = [str(ROOT / "binder" / "postBuild")]
        done = subprocess.run(
            command, cwd=ROOT, env=env, check=False, capture_output=True, encoding="utf-8", errors="replace"
        )
        if done.returncode:
            print(done.stdout + done.stderr)
            raise PlaceError("binder/postBuild fails")
        if not (Path(folder) / "share" / "jupyter" / "lab" / "settings" / "overrides.json").is_file():
            raise PlaceError("binder/postBuild leaves the news pop-up on")
        return [Outcome("binder", True, f"postBuild ran, {run_notebooks(python, [NOTEBOOKS])} notebooks ran")]


def full() -> list[Outcome]:
    """With sentence-transformers and torch: the tests that need them, and every notebook."""
    python = environment(".venv-full", "test", "full")
    said = run_pytest(python, "tests/full", COURSE_REQUIRE_FULL="1")
    if "skipped" in said or "deselected" in said:
        raise PlaceError(f"tests of the full environment were left out: {said}")
    count = run_notebooks(python, [NOTEBOOKS / "solved"])
    return [Outcome("full", True, f"{said}; {count} notebooks ran")]


def engines() -> list[Outcome]:
    """With the extras of the engines and PostgreSQL labs: their tests, where a missing engine is a failure, and their
    notebooks."""
    python = environment(".venv-engines", "test", "engines")
    tests = ["tests/test_engines.py", "tests/test_lab_engines.py"]
    tests += ["tests/sql/test_sql_postgres.py", "tests/test_lab_postgres.py"]
    said = run_pytest(python, *ON_TWO_CORES, *tests, COURSE_REQUIRE_ENGINES="1")
    if "skipped" in said or "deselected" in said:
        raise PlaceError(f"tests of the engines were left out: {said}")
    names = ("lab_engines", "lab_postgres")
    for folder in (NOTEBOOKS, NOTEBOOKS / "solved"):
        for name in names:
            run_notebook(folder / f"{name}.ipynb", python)
    return [Outcome("engines", True, f"{said}; {2 * len(names)} notebooks ran")]


SQLITES = {  # release of pysqlite3-binary, which carries a SQLite of its own: the version of that
    "0.4.7.post8": "3.39",
    "0.5.1": "3.42",
    "0.5.2.post3": "3.45",
    "0.5.4.post2": "3.51",
}
GUARD_TESTS = ("tests/sql/test_sql_guard.py", "tests/sql/test_sql_database.py")
WHICH = "import sqlite3; print(sqlite3.sqlite_version)"


def sqlites() -> list[Outcome]:
    """The guard's tests on older and newer SQLites, each put under this Python's own driver."""
    if sys.platform != "linux" or HERE != "3.11":
        return [Outcome("other SQLites", True, "needs Linux and Python 3.11, so none was tried")]
    return [outcome for one in SQLITES for outcome in attempt(f"SQLite {SQLITES[one]}", on_sqlite(one))]


def on_sqlite(release: str) -> Callable[[], list[Outcome]]:
    """What runs the guard's tests on the SQLite of one release of pysqlite3-binary."""

    def run() -> list[Outcome]:
        with tempfile.TemporaryDirectory() as folder:
            wheel = f"pysqlite3-binary=={release}"
            command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", folder, wheel]
            subprocess.run(command, check=True)
            library = str(next(Path(folder).glob("pysqlite3/_sqlite3*.so")))
            env = os.environ | {"LD_PRELOAD": library}
            version = subprocess.run([sys.executable, "-c", WHICH], env=env, check=True, capture_output=True, text=True)
            if not version.stdout.startswith(SQLITES[release] + "."):
                raise PlaceError(
                    f"{wheel} was to bring SQLite {SQLITES[release]}, and this is {version.stdout.strip()}"
                )
            said = run_pytest(Path(sys.executable), *GUARD_TESTS, LD_PRELOAD=library)
            return [Outcome(f"SQLite {version.stdout.strip()}", True, said)]

    return run


PAGEINDEX = "pageindex==0.4.7"


def pageindex() -> list[Outcome]:
    """With PageIndex, which brings versions of its own: the readers of documents, where a missing one is a failure."""
    python = environment(".venv-pageindex", "test")
    subprocess.run([str(python), "-m", "pip", "install", "-q", PAGEINDEX], check=True)
    said = run_pytest(python, "tests/navigation/test_nav_documents.py", COURSE_REQUIRE_DOCUMENTS="1")
    if "skipped" in said or "deselected" in said:
        raise PlaceError(f"tests of documents were left out: {said}")
    return [Outcome("pageindex", True, said)]


def offline_kit() -> list[Outcome]:
    """An offline kit, made with the network; then set up, asked and used without one."""
    if not isolated():
        return [Outcome("offline kit", True, "no network namespace on this machine, so it was not tried")]
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "Kurs für Ä 1"
        try:
            size = make_kit(out)
            said = try_kit(out)
        except KitError as error:
            raise PlaceError(str(error)) from None
        return [Outcome("offline kit", True, f"{size:.0f} MB, set up without a network. {said}")]


def other_pythons() -> list[Outcome]:
    """On every other minor version that runs here: all tests but browser and static, and the solved notebooks."""
    found = {minor: python for minor, python in pythons_on_this_machine().items() if minor != HERE}
    if not found:
        return [Outcome("other Pythons", True, "none found on this machine, so none was tried")]
    return [outcome for minor, python in found.items() for outcome in attempt("Python " + minor, on(minor, python))]


def on(minor: str, python: Path) -> Callable[[], list[Outcome]]:
    """What runs the tests on one other Python."""

    def run() -> list[Outcome]:
        version = python_version(python)
        inside = environment(f".venv-py{minor}", "test", python=python)
        return [Outcome(f"Python {version}", True, run_pytest(inside, *ON_TWO_CORES, *NBVAL, *ELSEWHERE))]

    return run


# --- all of it ---

PLACES: dict[str, Callable[[], list[Outcome]]] = {
    "colab": colab,
    "binder": binder,
    "full": full,
    "engines": engines,
    "sqlites": sqlites,
    "pageindex": pageindex,
    "kit": offline_kit,
    "pythons": other_pythons,
}


def attempt(name: str, run: Callable[[], list[Outcome]]) -> list[Outcome]:
    """What `run` returns; where it raises, one failed outcome of that name."""
    print(f"--- {name} ---", flush=True)
    began = time.monotonic()
    try:
        return run()
    except (PlaceError, OSError, subprocess.SubprocessError) as error:
        return [Outcome(name, False, str(error))]
    finally:
        print(f"{name}: {time.monotonic() - began:.0f} seconds", flush=True)


def report(outcomes: Sequence[Outcome]) -> int:
    """Print one line a place and the count; return 1 where a place failed or none was tried."""
    print("--- the course in every place ---")
    for outcome in outcomes:
        print(f"{outcome.place}: {outcome.said}" if outcome.passed else f"{outcome.place}: FAILED: {outcome.said}")
    failed = sum(not outcome.passed for outcome in outcomes)
    print(f"places: {len(outcomes) - failed} passed, {failed} failed", flush=True)
    return 1 if failed or not outcomes else 0


# All places run in two processes, which is what two cores are for; each place has its own environment.
HALVES = (("colab", "binder", "full", "kit"), ("engines", "sqlites", "pageindex", "pythons"))
OUTCOMES = "--outcomes"


def in_two_halves() -> list[Outcome]:
    """Run every place, the second half in a process of its own; what that printed comes behind the first half."""
    with tempfile.TemporaryDirectory() as folder:
        said, kept = Path(folder) / "said.txt", Path(folder) / "outcomes.json"
        command = [sys.executable, "-m", "tools.places", OUTCOMES, str(kept), *HALVES[1]]
        with said.open("w", encoding="utf-8") as target:
            second = subprocess.Popen(command, cwd=ROOT, stdout=target, stderr=subprocess.STDOUT)
            try:
                first = all_of(HALVES[0])
                second.wait()
            finally:
                second.kill()
        print(said.read_text(encoding="utf-8", errors="replace"), flush=True)
        return first + read_outcomes(kept)


def read_outcomes(path: Path) -> list[Outcome]:
    """Return the outcomes that a process left, or one failure where it left none."""
    try:
        return [Outcome(**one) for one in json.loads(path.read_text(encoding="utf-8"))]
    except (OSError, ValueError):
        return [Outcome("second half", False, "it ended without a result; what it said stands above")]


def all_of(names: Iterable[str]) -> list[Outcome]:
    """Run the named places one after the other."""
    return [outcome for name in names for outcome in attempt(name, PLACES[name])]


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line. OUTCOMES FILE keeps the outcomes in a file instead of reporting them."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    os.environ.pop("ANTHROPIC_API_KEY", None)  # no place asks a live model
    os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"  # no remarks of old kernels on their debugger
    kept = Path(given[1]) if given[:1] == [OUTCOMES] and len(given) > 1 else None
    names = given[2:] if kept else given
    unknown = [name for name in names if name not in PLACES]
    if unknown:
        print(f"Not a place: {', '.join(unknown)}. Places: {', '.join(PLACES)}.", file=sys.stderr)
        return 2
    if kept:
        kept.write_text(json.dumps([vars(one) for one in all_of(names)]), encoding="utf-8")
        return 0
    return report(all_of(names) if names else in_two_halves())


if __name__ == "__main__":
    sys.exit(main())
