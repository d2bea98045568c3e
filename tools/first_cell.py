"""The common first code cell of every notebook: `tools.build` inserts it, sources do not carry it.

It finds the course in a folder above. Where there is none, as on Colab, it downloads the repository's archive and
hands over to `course_lib.places`, imported straight from that archive. The variable COURSE_ARCHIVE names another
archive, by an address (https://, http://, file://).
"""

from tools.address import REPOSITORY

BRANCH = "main"

TEMPLATE = """\
# Finds the course's package, course_lib, in this folder or one above. Where it is missing, as on Colab, fetches it.
import os, pathlib, sys, urllib.request, zipfile
here = pathlib.Path.cwd()
archive = os.environ.get("COURSE_ARCHIVE", "ADDRESS")
folders = [here, *here.parents, here / "vectorless-rag"]
course_root = next((folder for folder in folders if (folder / "course_lib").is_dir()), None)
try:
    if course_root is None:
        course_root = next(zipfile.Path(urllib.request.urlretrieve(archive)[0]).iterdir())
    sys.path[:] = [str(course_root), *(entry for entry in sys.path if entry != str(course_root))]
    from course_lib.places import prepare
except Exception as error:
    tried = f", and {archive} did not bring it ({error}). Try again online, or" if archive else ". Please"
    raise SystemExit(f"No working course_lib in {here} or above{tried} open this notebook inside the course's folder.")
prepare()"""


def archive_of(repository: str) -> str:
    """OWNER/REPO → the address of its exported archive, a zip; "" where nothing is published."""
    return f"https://github.com/{repository}/archive/refs/heads/{BRANCH}.zip" if repository else ""


def first_cell(repository: str) -> str:
    """OWNER/REPO, or "" where nothing is published → the text of the common first cell."""
    return TEMPLATE.replace("ADDRESS", archive_of(repository))


def links(repository: str, path: str) -> str:
    """OWNER/REPO and a notebook's path in it → a line of markdown with links to open it; "" where unpublished."""
    if not repository:
        return ""
    colab = f"https://colab.research.google.com/github/{repository}/blob/{BRANCH}/{path}"
    binder = f"https://mybinder.org/v2/gh/{repository}/{BRANCH}?urlpath=lab/tree/{path}"
    return f"[Open in Colab]({colab}) · [Open on Binder]({binder})"


FIRST_CELL = first_cell(REPOSITORY)
