"""The common first code cell of every notebook: `tools.build` inserts it, sources do not carry it."""

FIRST_CELL = """\
# Finds the course's package, course_lib, in this folder or one above it, so that the next cells import it.
import sys
from pathlib import Path

folders = [Path.cwd(), *Path.cwd().parents]
course_root = next((str(folder) for folder in folders if (folder / "course_lib").is_dir()), None)
if course_root is None:
    raise SystemExit(
        f"Looked for a folder named course_lib in {Path.cwd()} and every folder above it, and found none. "
        "Open this notebook inside the course's folder, where everything that came with it still is."
    )
sys.path[:] = [course_root, *(entry for entry in sys.path if entry != course_root)]"""
