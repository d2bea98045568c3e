"""Run All of each learner notebook on a fresh kernel: how long, and how much memory the kernel holds at the end."""

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

from benchmarks.figures import beside, median, ratio, table
from benchmarks.machine import NO_MEMORY, memory_mb, shown_mb, temporary_folder
from course_lib.minilm import MODEL_NAME, packaged_weights
from tools.build import CELL_TIMEOUT, kernel_environment, manager_of
from tools.source import NOTEBOOKS

RUNS = 3
AIM_SECONDS, AIM_MB = 10, 190
NEEDS_FULL = (
    "The same cells with sentence-transformers in place of load_encoder: needs an environment in which "
    "sentence-transformers is installed beside the test packages."
)


@dataclass(frozen=True)
class Run:
    """One notebook on one fresh kernel."""

    start: float  # seconds until the kernel answers
    seconds: float  # for all cells
    megabytes: float | None


def run_all(nb: NotebookNode, folder: Path) -> Run:
    """Run every code cell in order on a fresh kernel in `folder`; raises where a cell does."""
    kernel = manager_of(sys.executable)
    client = NotebookClient(
        nb,
        km=kernel,
        timeout=CELL_TIMEOUT,
        resources={"metadata": {"path": str(folder)}},
        extra_arguments=["--IPKernelApp.log_level=40"],
    )
    with temporary_folder() as empty:
        began = perf_counter()
        with client.setup_kernel(env=kernel_environment(empty), cleanup_kc=True):
            ready = perf_counter()
            client.reset_execution_trackers()
            for number, cell in enumerate(nb.cells):
                client.execute_cell(cell, number)
            done = perf_counter()
            pid = int(getattr(kernel.provisioner, "pid", 0) or 0)
            return Run(ready - began, done - ready, memory_mb(pid))


def medians(nb: NotebookNode, folder: Path) -> Run:
    """Return the median of RUNS runs, each figure on its own."""
    runs = [run_all(nb, folder) for _ in range(RUNS)]
    sizes = [one.megabytes for one in runs if one.megabytes is not None]
    return Run(
        median([one.start for one in runs]),
        median([one.seconds for one in runs]),
        median(sizes) if len(sizes) == RUNS else None,
    )


def only_numpy() -> NotebookNode:
    """Return what every notebook is measured against: a kernel that imports numpy and nothing else."""
    cell = nbformat.v4.new_code_cell("import numpy")  # type: ignore[no-untyped-call]
    notebook: NotebookNode = nbformat.v4.new_notebook(cells=[cell])  # type: ignore[no-untyped-call]
    return notebook


def written_plainly(source: str) -> str:
    """Return a cell with sentence-transformers' own encoder in place of `load_encoder(…)`.

    >>> print(written_plainly("encoder = load_encoder(agreement.VECTORS)").splitlines()[0])
    from sentence_transformers import SentenceTransformer
    """
    call = f"SentenceTransformer({str(packaged_weights() or MODEL_NAME)!r}, device='cpu')"
    plain = re.sub(r"load_encoder\([^()]*\)", lambda _: call, source)
    return source if plain == source else f"from sentence_transformers import SentenceTransformer\n{plain}"


def plain_version(nb: NotebookNode) -> NotebookNode | None:
    """Return the notebook with sentence-transformers' encoder, or None where it loads no encoder."""
    sources = [written_plainly(cell.source) if cell.cell_type == "code" else cell.source for cell in nb.cells]
    if sources == [cell.source for cell in nb.cells]:
        return None
    for cell, source in zip(nb.cells, sources, strict=True):
        cell.source = source
    return nb


def row(name: str, run: Run, base: Run, aims: bool = True) -> list[str]:
    """Return one line of the table; `base` is the kernel that only imports numpy."""
    seconds = beside(run.seconds, AIM_SECONDS, 1) if aims else f"{run.seconds:.1f}"
    if run.megabytes is None or base.megabytes is None:
        return [name, f"{run.start:.1f}", seconds, NO_MEMORY, "–"]
    memory = beside(run.megabytes, AIM_MB) if aims else shown_mb(run.megabytes)
    return [name, f"{run.start:.1f}", seconds, memory, ratio(run.megabytes, base.megabytes)]


def rows_of(path: Path, base: Run) -> list[list[str]]:
    """Return the lines of one notebook: as it is and, where that is possible, written plainly."""
    as_it_is = medians(nbformat.read(path, as_version=4), path.parent)  # type: ignore[no-untyped-call]
    rows = [row(path.stem, as_it_is, base)]
    plain = plain_version(nbformat.read(path, as_version=4))  # type: ignore[no-untyped-call]
    if plain is not None and find_spec("sentence_transformers"):
        other = medians(plain, path.parent)
        rows.append(row("  with sentence-transformers", other, base, aims=False))
        rows.append(compared(other, as_it_is))
    return rows


def compared(other: Run, own: Run) -> list[str]:
    """Return the line that sets the plain version in proportion to the notebook as it is."""
    memory = ratio(other.megabytes, own.megabytes) if other.megabytes and own.megabytes else "–"
    return ["  that is", "", ratio(other.seconds, own.seconds), memory, ""]


def report(full: bool = False, paths: Sequence[Path] | None = None) -> str:
    """Measure the learner notebooks, all where `paths` is left out, and return the table."""
    base = medians(only_numpy(), NOTEBOOKS)
    rows = [row("(only imports numpy)", base, base, aims=False)]
    for path in sorted(NOTEBOOKS.glob("*.ipynb")) if paths is None else paths:
        rows += rows_of(path, base)
    header = ["notebook", "kernel start, s", "Run All, s", "memory at the end, MB", "numpy kernel"]
    notes = [f"Medians of {RUNS} runs, each on a fresh kernel, with nothing answered."]
    notes += [] if find_spec("sentence_transformers") else [NEEDS_FULL]
    return "\n".join([table(header, rows), *notes])
