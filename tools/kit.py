"""Makes the offline kit (run by `python course.py kit OUT`): the course, its packages as wheels, and a start script.

    OUT/README.txt, OUT/start.sh, OUT/start.bat    for people
    OUT/course/                                    the course as it is here
    OUT/course/wheels/                             the light environment's packages, and kit.json: what they fit

Where a folder `wheels` with a kit.json lies beside it, `course.py lab` installs from there and from nowhere else.
Standard library only: it runs where learners run the course.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import date
from fnmatch import fnmatch
from pathlib import Path

import course

ROOT = Path(__file__).resolve().parent.parent
COURSE = "course"
OF_RUNS = ("__pycache__", "*.egg-info", "my_record*", "*.lock", "*.part", "*.unfinished.jsonl")
LEFT_OUT = (*OF_RUNS, "test-screenshots", "vectorless-rag")
PIN = re.compile(r"^(?P<name>[\w.-]+)==(?P<version>[\w.!+-]+)")
Fetch = Callable[[Path], None]


class KitError(Exception):
    """A kit that cannot be made: a sentence for the instructor."""


# --- The course -------------------------------------------------------------------------------------------------


def files_of(folder: Path) -> Iterator[Path]:
    """Give the course's files below a folder, as relative paths: nothing hidden, nothing that running it leaves.

    Wheels are no files of the course either.
    """
    for path in sorted(folder.iterdir()):
        hidden = path.name.startswith(".") or any(fnmatch(path.name, pattern) for pattern in LEFT_OUT)
        if hidden or path.name == course.WHEELS:
            continue
        if path.is_dir():
            yield from (Path(path.name) / inside for inside in files_of(path))
        elif path.is_file():
            yield Path(path.name)


def copy_course(source: Path, target: Path) -> int:
    """Copy the course, remove what it no longer holds, and return the number of files.

    What somebody made there stays: an environment, a record.
    """
    wanted = list(files_of(source))
    target.mkdir(parents=True, exist_ok=True)
    for old in set(files_of(target)) - set(wanted):
        (target / old).unlink()
    for path in wanted:
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source / path, target / path)
    return len(wanted)


# --- The wheels -------------------------------------------------------------------------------------------------


def key(name: str, version: str) -> tuple[str, str]:
    """Return a package and its version as pins and wheels write them alike.

    >>> key("Jupyter.Core", "5.0") == key("jupyter_core", "5.0")
    True
    """
    return re.sub(r"[-_.]+", "-", name).lower(), version.lower()


def pinned(folder: Path) -> set[tuple[str, str]]:
    """Return what the light environment's requirement files pin, for this machine and for others."""
    lines = [line for file in course.LIGHT for line in (folder / file).read_text(encoding="utf-8").splitlines()]
    return {key(pin["name"], pin["version"]) for line in lines if (pin := PIN.match(line))}


def download(wheels: Path) -> None:
    """Fetch the light environment's wheels for this Python on this machine. Raises KitError where pip fails."""
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--progress-bar", "off"]
    command += ["--dest", str(wheels), *(part for file in course.LIGHT for part in ("-r", file))]
    env = os.environ | {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1", "PYTHONUTF8": "1"}
    piped = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "encoding": "utf-8", "errors": "replace"}
    done = subprocess.run(command, cwd=ROOT, env=env, check=False, **piped)  # type: ignore[call-overload]
    if done.returncode:
        lines = str(done.stdout).splitlines()
        if any(sign in line for line in lines for sign in course.NO_NETWORK):
            raise KitError("The packages could not be downloaded: making a kit needs a network once.")
        raise KitError("pip could not download the packages. Its last lines:\n" + "\n".join(lines[-6:]))


def remove_outdated(wheels: Path, pins: set[tuple[str, str]]) -> None:
    """Remove the wheels of packages that are no longer pinned; those of other versions too."""
    for wheel in wheels.glob("*.whl"):
        name, version = wheel.name.split("-")[:2]
        if key(name, version) not in pins:
            wheel.unlink()


# --- What people read and start ---------------------------------------------------------------------------------

START_SH = """\
#!/bin/sh
# Opens the course; the first time it installs the packages from this folder. No network is needed.
cd "$(dirname "$0")/{course}" || exit 1
for python in python{python} python3 python; do
  if "$python" -c 'import sys; sys.exit(sys.version_info[:2] != {numbers})' >/dev/null 2>&1; then
    exec "$python" course.py lab "$@"
  fi
done
echo "This kit was made for Python {python} on {machine}, and no Python {python} was found here." >&2
exit 1
"""

START_BAT = """\
@echo off
rem Opens the course; the first time it installs the packages from this folder. No network is needed.
pushd "%~dp0{course}"
py -{python} -c "" >nul 2>nul
if not errorlevel 1 goto launcher
python -c "import sys; sys.exit(sys.version_info[:2] != {numbers})" >nul 2>nul
if not errorlevel 1 goto python
echo This kit was made for Python {python} on {machine}, and no Python {python} was found here.
pause
exit /b 1
:launcher
py -{python} course.py lab %*
goto ended
:python
python course.py lab %*
:ended
if errorlevel 1 pause
popd
"""

README = """\
Vectorless RAG: the course without a network
============================================

For the instructor. Made on {day} for Python {python} on {machine}.
It holds the course ({files} files) and its packages ({wheels} wheels, {megabytes:.0f} MB in all). Another Python
version, another kind of processor or another operating system needs a kit of its own: run
`python course.py kit OUT` on such a machine while it has a network.

What a learner needs
  - Python {python} on {machine}. The kit does not bring Python.
  - About 900 MB of disk for the copy and the environment that is made in it.

What a learner does
  1. Copies this whole folder to a disk of their own. An environment cannot be made on most USB sticks, and not in
     a folder that others write to.
  2. Linux and macOS: opens a terminal in the copy and runs   sh start.sh
     Windows: double-clicks   start.bat
     Or, in the folder `{course}`:   python course.py lab
  The first start takes about a minute, installs the packages from the folder `{course}/{wheels_folder}` and opens
  JupyterLab in the browser. No network is asked for, then or later.

Handing it out to forty people
  - Four or five sticks going round are faster than one: the copy is {megabytes:.0f} MB. A file share in the room works
    too, if everybody copies from it and nobody starts the course on it.
  - Have sticks for each kind of machine that will come: ask beforehand for the Python version
    (`python --version`), Windows, Linux or macOS, and on a Mac whether it has an Intel processor.
  - Try it once with the network of a test machine switched off.
  - Keep {course}/notebooks/solved to yourself, if the solutions are to stay yours: delete that folder from the sticks.

When it does not start, it says in a sentence why. `python course.py doctor`, in the folder `{course}`, says more.
To bring the kit up to date run `python course.py kit` again on the same folder.
"""


def write_texts(out: Path, files: int) -> None:
    """Write the start scripts and the README for the Python and the machine that this runs on."""
    said = {
        "course": COURSE,
        "python": course.HERE,
        "numbers": tuple(int(part) for part in course.HERE.split(".")),
        "machine": course.machine(),
    }
    wheels = out / COURSE / course.WHEELS
    more = {
        "day": date.today(),
        "files": files,
        "wheels": len(list(wheels.glob("*.whl"))),
        "wheels_folder": course.WHEELS,
        "megabytes": megabytes(out),
    }
    for name, text, newline in (("start.sh", START_SH, "\n"), ("start.bat", START_BAT, "\r\n")):
        (out / name).write_text(text.format(**said), encoding="ascii", newline=newline)
    with suppress(OSError):  # a stick may know no such thing; `sh start.sh` works all the same
        (out / "start.sh").chmod(0o755)
    (out / "README.txt").write_text(README.format(**said, **more), encoding="utf-8", newline="\r\n")


def megabytes(out: Path) -> float:
    """Return the size of a kit in millions of bytes, without what somebody made in it by starting it."""
    parts = [out / COURSE / path for path in files_of(out / COURSE)]
    parts += (out / COURSE / course.WHEELS).glob("*.whl")
    return sum(path.stat().st_size for path in parts) / 1e6


# --- All of it --------------------------------------------------------------------------------------------------


def is_kit(folder: Path) -> bool:
    """Whether a folder is a kit, finished or begun."""
    return Path(folder, COURSE, course.WHEELS, course.KIT).is_file()


def check_target(out: Path) -> None:
    """Raise KitError where a kit cannot be written there."""
    if out.exists() and not out.is_dir():
        raise KitError(f"{out} is a file, and a kit is a folder: name another.")
    if ROOT in (out, *out.parents) or out in ROOT.parents:
        raise KitError(f"{out} and the course lie one inside the other: name a folder somewhere else.")
    if out.is_dir() and any(out.iterdir()) and not is_kit(out):
        raise KitError(f"{out} holds something that is not a kit, so it stays untouched: name a new folder.")
    old = json.loads((out / COURSE / course.WHEELS / course.KIT).read_text(encoding="utf-8")) if is_kit(out) else {}
    if old and (old["python"], old["machine"]) != (course.HERE, course.machine()):
        raise KitError(
            f"{out} is a kit for Python {old['python']} on {old['machine']}, and this is Python {course.HERE} on "
            f"{course.machine()}: name a new folder, so that you have both."
        )


def make_kit(out: Path, fetch: Fetch = download) -> float:
    """Make a kit, or bring one up to date, and return its size in MB. `fetch` puts the wheels into a folder.

    Raises KitError, before anything is written, for a folder that holds something else.
    """
    check_target(out)
    wheels = out / COURSE / course.WHEELS
    wheels.mkdir(parents=True, exist_ok=True)
    about = {"python": course.HERE, "machine": course.machine()}
    (wheels / course.KIT).write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8", newline="\n")
    files = copy_course(ROOT, out / COURSE)
    fetch(wheels)
    remove_outdated(wheels, pinned(ROOT))
    write_texts(out, files)
    return megabytes(out)


# --- Trying it where there is no network (run by tools/places.py) ------------------------------------------------

LOOPBACK = """
import fcntl, os, socket, struct, sys
with socket.socket() as probe:  # kernels talk over 127.0.0.1: SIOCSIFFLAGS with IFF_UP and IFF_RUNNING
    fcntl.ioctl(probe, 0x8914, struct.pack("16sh22x", b"lo", 0x41))
os.execvp(sys.argv[1], sys.argv[1:])
"""
MAKE = "import course; course.environment('.venv', 'light')"


def isolated() -> list[str]:
    """Return what runs a command in a network namespace of its own, with nothing but loopback; [] where none is."""
    for flags in (["-n"], ["-r", "-n"]):
        prefix = ["unshare", *flags, sys.executable, "-c", LOOPBACK]
        with suppress(OSError):
            if not subprocess.run([*prefix, "true"], check=False, capture_output=True).returncode:
                return prefix
    return []


def try_kit(out: Path, notebook: str = "00_start_here") -> str:
    """Set a kit up without a network, ask its doctor, run a notebook, and return the doctor's last line.

    Raises KitError where one of that fails, or where this machine has no isolated network to try it in.
    """
    prefix = isolated()
    if not prefix:
        raise KitError("This machine gives no network namespace (unshare -n), so the kit was not tried.")
    inside = out / COURSE
    python = str(course.interpreter(inside / ".venv"))
    run_one = ["-m", "nbconvert", "--to", "notebook", "--execute", "--stdout", f"notebooks/{notebook}.ipynb"]
    commands = {
        "set-up": [sys.executable, "-c", MAKE],
        "doctor": [sys.executable, "course.py", "doctor"],
        notebook: [python, *run_one],
    }
    said = ""
    for name, command in commands.items():
        done = subprocess.run(
            [*prefix, *command], cwd=inside, env=_bare(out), check=False, capture_output=True, encoding="utf-8"
        )
        if done.returncode:
            raise KitError(f"Without a network {name} fails:\n{(done.stdout + done.stderr)[-2000:]}")
        said = done.stdout if name == "doctor" else said
    return said.strip().splitlines()[-1]


def _bare(out: Path) -> dict[str, str]:
    """Return an environment in which pip is set up for nothing and no key is there."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "PYTHON", "ANTHROPIC_"))}
    return kept | {"PYTHONUTF8": "1", "PYDEVD_DISABLE_FILE_VALIDATION": "1", "COURSE_RECORD": str(out / "record.json")}


# --- The command line -------------------------------------------------------------------------------------------


def main() -> int:
    """The command line: python -m tools.kit OUT"""
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print("python course.py kit OUT makes an offline kit in the folder OUT.", file=sys.stderr)
        return 2
    out = Path(sys.argv[1]).resolve()
    print(f"Making a kit for Python {course.HERE} on {course.machine()} ...", flush=True)
    try:
        size = make_kit(out)
    except KitError as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        print(f"The kit is not complete: {error.strerror}: {error.filename}.", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    count = len(list((out / COURSE / course.WHEELS).glob("*.whl")))
    print(f"{out.name}: the course and {count} wheels, {size:.0f} MB. Read its README.txt before you hand it out.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
