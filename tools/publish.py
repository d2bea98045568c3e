"""Writes the repository's public address into everything that names it (run by `python course.py publish`).

    python -m tools.publish OWNER/REPO

One constant, in tools/address.py; from it come the first cell and the links of each notebook, and the links in
README.md. Solved notebooks keep their outputs; one that has changed otherwise is executed again.
"""

import re
import subprocess
import sys
from collections.abc import Sequence
from copy import deepcopy

import nbformat
from nbformat import NotebookNode

from tools.build import build, rebuilt, text_of, write
from tools.first_cell import links
from tools.source import NOTEBOOKS, ROOT, BuildError, source_names

ADDRESS = ROOT / "tools" / "address.py"
README = ROOT / "README.md"
REBUILD = "--rebuild"
BEGIN, END = "<!-- written by course.py publish -->", "<!-- until here -->"
NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9]|-(?=[A-Za-z0-9])){0,38}/(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}")


class PublishError(Exception):
    """An address that cannot be one, or a file that cannot take it: a sentence for the author."""


def check_repository(repository: str) -> None:
    """Raise PublishError where `repository` is not OWNER/REPO as GitHub allows it."""
    if not NAME.fullmatch(repository) or repository.endswith(".git"):
        raise PublishError(
            f"{repository!r} is not of the form OWNER/REPO. Give the two names alone, such as some-owner/some-course: "
            "no address, no .git at the end, only letters, digits, hyphens, and in REPO dots and underscores."
        )


def with_address(text: str, repository: str) -> str:
    """The text of tools/address.py with `repository` as its constant."""
    return re.sub(r'^REPOSITORY = ".*"$', f'REPOSITORY = "{repository}"', text, count=1, flags=re.MULTILINE)


def with_readme_links(text: str, repository: str) -> str:
    """The README with the links of `repository` between its two markers. Raises PublishError without markers."""
    if BEGIN not in text or END not in text.split(BEGIN, 1)[1]:
        raise PublishError(f"README.md lacks the lines {BEGIN} and {END}, between which the links are written.")
    before, rest = text.split(BEGIN, 1)
    after = rest.split(END, 1)[1]
    lines = [f"- `{name}`: {links(repository, f'notebooks/{name}.ipynb')}" for name in source_names()]
    return f"{before}{BEGIN}\n" + "\n".join(lines) + f"\n{END}{after}"


def with_outputs(new: NotebookNode, old: NotebookNode) -> NotebookNode | None:
    """A new solved notebook with the outputs of the old one; None where more than title and first cell differ."""
    if len(new.cells) != len(old.cells) or [c.source for c in new.cells[2:]] != [c.source for c in old.cells[2:]]:
        return None
    result = deepcopy(new)
    for cell, stored in zip(result.cells, old.cells, strict=True):
        if cell.cell_type != stored.cell_type:
            return None
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = stored.outputs, stored.execution_count
    return result


def rebuild(name: str) -> str:
    """Build both notebooks of a source with the address as it is now; return one line that says how."""
    path = NOTEBOOKS / "solved" / f"{name}.ipynb"
    for_learner, with_solutions = rebuilt(name)
    stored = nbformat.read(path, as_version=4) if path.is_file() else None  # type: ignore[no-untyped-call]
    kept = with_outputs(with_solutions, stored) if stored else None
    if kept is None:
        return f"{build(name)}, executed again"
    write(path, text_of(kept))
    write(NOTEBOOKS / f"{name}.ipynb", text_of(for_learner))
    return f"{name}: outputs kept"


def publish(repository: str) -> None:
    """Write the address of `repository` everywhere. Raises PublishError; a malformed address writes nothing."""
    check_repository(repository)
    readme = with_readme_links(README.read_text(encoding="utf-8"), repository)
    write(ADDRESS, with_address(ADDRESS.read_text(encoding="utf-8"), repository))
    write(README, readme)
    # The modules loaded here hold the address as it was: a new interpreter builds the notebooks.
    if subprocess.run([sys.executable, "-m", "tools.publish", REBUILD], cwd=ROOT, check=False).returncode:
        raise PublishError("The address is written, but not all notebooks are built: put that right, publish again.")


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns 1, with a sentence, where the address is malformed or a notebook does not run."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        if given == [REBUILD]:
            for name in source_names():
                print(rebuild(name), flush=True)
            return 0
        if len(given) != 1:
            raise PublishError("Say where the course will be public: python course.py publish OWNER/REPO")
        publish(given[0])
    except (PublishError, BuildError) as error:
        print(error, file=sys.stderr)
        return 1
    print(f"Written for {given[0]}. Commit what has changed and push it to the branch main there.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
