"""Builds the notebooks from their sources.

    python -m tools.build [NAME …] [--no-execute]

notebooks/source/NAME.py becomes notebooks/NAME.ipynb, which learners open, and notebooks/solved/NAME.ipynb,
executed with the solutions in place. Functions take a notebook and return a new one; only `build` writes.
"""

import argparse
import hashlib
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from copy import deepcopy
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

from tools.address import REPOSITORY
from tools.check import errors_of, widget_callback_errors
from tools.first_cell import FIRST_CELL, links
from tools.source import NOTEBOOKS, BuildError, read_source, solution_of, source_names, tags

CELL_TIMEOUT = 120  # seconds
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
SolutionOf = Callable[[str, str], str]


# --- from a source to two notebooks ---


def with_first_cell(nb: NotebookNode) -> NotebookNode:
    """The notebook with FIRST_CELL after its first cell, which must be markdown (the title)."""
    if not nb.cells or nb.cells[0].cell_type != "markdown":
        raise BuildError(
            "A source starts with a markdown cell that holds the title; write one before the first code cell."
        )
    result = deepcopy(nb)
    result.cells.insert(1, nbformat.v4.new_code_cell(FIRST_CELL))  # type: ignore[no-untyped-call]
    return result


def with_links(nb: NotebookNode, path: str, repository: str = REPOSITORY) -> NotebookNode:
    """The notebook with links to open it elsewhere under its title; unchanged where nothing is published."""
    result = deepcopy(nb)
    if repository:
        title, *rest = result.cells[0].source.split("\n")
        result.cells[0].source = "\n".join([title, "", links(repository, path), *rest])
    return result


def learner(nb: NotebookNode) -> NotebookNode:
    """The notebook without cells tagged `solution`."""
    result = deepcopy(nb)
    result.cells = [cell for cell in result.cells if "solution" not in tags(cell)]
    return result


def solved(nb: NotebookNode, name: str, solution_of: SolutionOf = solution_of) -> NotebookNode:
    """The notebook without cells tagged `exercise`, its `solves` cells filled by `solution_of(name, key)`."""
    result = deepcopy(nb)
    result.cells = [cell for cell in result.cells if "exercise" not in tags(cell)]
    for cell in result.cells:
        if "solves" in cell.metadata:
            cell.source = solution_of(name, cell.metadata["solves"]).strip("\n")
    return result


def finished(nb: NotebookNode, name: str) -> NotebookNode:
    """The notebook with stable ids, the least metadata, no outputs, no execution counts; validated."""
    result = with_stable_ids(without_extra_metadata(nb), name)
    for cell in result.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    nbformat.validate(result)
    return result


def with_stable_ids(nb: NotebookNode, name: str) -> NotebookNode:
    """The notebook with cell ids made of name, a hash of type and source, and a number where that repeats."""
    result = deepcopy(nb)
    stem = re.sub(r"[^A-Za-z0-9_-]", "-", name)[:44]  # an id has at most 64 characters
    seen: Counter[str] = Counter()
    for cell in result.cells:
        text = f"{cell.cell_type}\n{cell.source}"
        key = f"{stem}-{hashlib.sha256(text.encode('utf-8')).hexdigest()[:8]}"
        seen[key] += 1
        cell["id"] = key if seen[key] == 1 else f"{key}-{seen[key]}"
    return result


def without_extra_metadata(nb: NotebookNode) -> NotebookNode:
    """The notebook with METADATA as its own and only `tags` in its cells: no timing, no widget state."""
    result = deepcopy(nb)
    result.metadata = nbformat.from_dict(METADATA)  # type: ignore[no-untyped-call]
    result.nbformat, result.nbformat_minor = 4, 5
    for cell in result.cells:
        cell.metadata = nbformat.from_dict({"tags": tags(cell)} if tags(cell) else {})  # type: ignore[no-untyped-call]
    return result


def rebuilt(
    name: str, notebooks: Path = NOTEBOOKS, solution_of: SolutionOf = solution_of
) -> tuple[NotebookNode, NotebookNode]:
    """(learner, solved) of one source, neither executed: what the stored notebooks must agree with."""
    source = with_first_cell(read_source(notebooks / "source" / f"{name}.py"))
    for_learner = with_links(learner(source), f"notebooks/{name}.ipynb")
    with_solutions = with_links(solved(source, name, solution_of), f"notebooks/solved/{name}.ipynb")
    return finished(for_learner, name), finished(with_solutions, name)


# --- executing ---


def execute(nb: NotebookNode, folder: Path, python: str | Path = sys.executable) -> NotebookNode:
    """The notebook with outputs, run 1..n on a fresh kernel of `python` in `folder`, with an empty record.

    Raises BuildError naming the cell and its error when a cell raises, takes longer than CELL_TIMEOUT or
    kills the kernel, and when a widget callback raised, which the run itself passes over in silence.
    """
    done = deepcopy(nb)
    with TemporaryDirectory(ignore_cleanup_errors=True) as empty:
        try:
            client = NotebookClient(
                done,
                timeout=CELL_TIMEOUT,
                km=manager_of(python),
                coalesce_streams=True,
                record_timing=False,
                extra_arguments=["--IPKernelApp.log_level=40"],  # errors only: a remark on transport is not ours
                resources={"metadata": {"path": str(folder)}},
            )
            client.execute(cleanup_kc=True, env=kernel_environment(Path(empty)))
        except CellExecutionError as error:
            raise BuildError(failure(done) or str(error)) from None
        except (CellTimeoutError, DeadKernelError) as error:
            raise BuildError(str(error)) from None
    if failure(done):
        raise BuildError(failure(done))
    return done


def manager_of(python: str | Path) -> AsyncKernelManager:
    """A manager whose kernel "python3" is the interpreter `python`, whatever kernels are installed."""
    manager = AsyncKernelManager(kernel_name="python3", kernel_spec_manager=KernelSpecManager(kernel_dirs=[]))
    assert manager.kernel_spec is not None  # with no folders to look in, the one that comes with ipykernel
    manager.kernel_spec.argv[0] = str(python)
    return manager


def kernel_environment(empty: Path) -> dict[str, str]:
    """The environment of a kernel: an empty record and IPython profile, and nothing that varies."""
    return {name: value for name, value in os.environ.items() if name != "ANTHROPIC_API_KEY"} | {
        "COURSE_RECORD": str(empty / "record.json"),
        "IPYTHONDIR": str(empty / "ipython"),
        "PYTHONHASHSEED": "0",
        "PYTHONUTF8": "1",
    }


def failure(nb: NotebookNode) -> str:
    """What went wrong in an executed notebook, with the source of each cell that failed; else empty."""
    sentences = widget_callback_errors(nb)
    for number, cell in enumerate(nb.cells, start=1):
        sentences += [f"cell {number} raised {error}\n{cell.source}" for error in errors_of(cell)]
    return "\n".join(sentences)


def storable(nb: NotebookNode) -> NotebookNode:
    """An executed notebook without widget views, widget state and timing. Every output stays."""
    result = without_extra_metadata(nb)
    for cell in result.cells:
        for output in cell.get("outputs", []):
            if "data" in output:
                output.data.pop(WIDGET_VIEW, None)
                output.metadata.pop(WIDGET_VIEW, None)
    nbformat.validate(result)
    return result


# --- files and the command line ---


def text_of(nb: NotebookNode) -> str:
    """The notebook as the text of its file."""
    return str(nbformat.writes(nb, indent=1)).rstrip("\n") + "\n"  # type: ignore[no-untyped-call]


def write(path: Path, text: str) -> None:
    """Puts text into a file, all of it or nothing: readers never see half a notebook."""
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8", newline="\n")
    part.replace(path)


def build(
    name: str,
    executing: bool = True,
    notebooks: Path = NOTEBOOKS,
    solution_of: SolutionOf = solution_of,
) -> str:
    """Builds both notebooks of one source, or neither; returns one line that says what was written.

    With `executing=False` only the learner notebook is written: a solved one without outputs is none.
    """
    for_learner, with_solutions = rebuilt(name, notebooks, solution_of)
    solved_folder = notebooks / "solved"
    solved_folder.mkdir(parents=True, exist_ok=True)
    if executing:
        executed = storable(execute(with_solutions, solved_folder))
        write(solved_folder / f"{name}.ipynb", text_of(executed))
    write(notebooks / f"{name}.ipynb", text_of(for_learner))
    solved_part = f"{len(with_solutions.cells)} solved" if executing else "solved left as it was"
    return f"{name}: {len(for_learner.cells)} cells for learners, {solved_part}"


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns 1 at the first notebook that cannot be built; its files stay as they were."""
    parser = argparse.ArgumentParser(prog="python -m tools.build", description="Build notebooks from sources.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="notebook names; all of them when left out")
    parser.add_argument("--no-execute", action="store_true", help="write learner notebooks only, run nothing")
    options = parser.parse_args(arguments)
    for name in options.names or source_names():
        try:
            print(build(name, executing=not options.no_execute))
        except BuildError as error:
            print(f"{name}: not built.\n{error}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
