"""Memory per learner on one host: a JupyterLab server of their own and its kernel, after Run All of each notebook.

Each learner has a server, as with `course.py lab` or JupyterHub; nothing of it is divided among several. Cells run
through that server as a browser would run them. Three learners are there at once: PSS divides the pages they share.
"""

import asyncio
import json
import secrets
import statistics
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import nbformat
from tornado.websocket import WebSocketClientConnection, websocket_connect

from benchmarks.figures import table
from benchmarks.machine import NO_MEMORY, memory_mb, running, temporary_folder
from tests.browser.conftest import command, copy_of_the_course, environment, free_port, wait_for
from tools.build import CELL_TIMEOUT
from tools.source import NOTEBOOKS

LEARNERS = 3  # at once
HOST_MB = 24_000
AIM = 80  # learners on such a host
LARGEST = 100_000_000  # bytes of one message


@dataclass(frozen=True)
class Server:
    """A learner's JupyterLab."""

    pid: int
    host: str
    token: str

    def ask(self, path: str, given: object = None) -> Any:
        """Return what the server answers at a path, as JSON where it is; POST where something is `given`."""
        body = None if given is None else json.dumps(given).encode()
        headers = {"Authorization": f"token {self.token}", "Content-Type": "application/json"}
        asked = urllib.request.Request(f"http://{self.host}{path}", data=body, headers=headers)
        with urllib.request.urlopen(asked, timeout=CELL_TIMEOUT) as answer:
            said = answer.read()
            return json.loads(said) if answer.headers.get_content_type() == "application/json" else said


@dataclass(frozen=True)
class Memory:
    """What one learner takes, in MB: the server, and the kernels with all that they started."""

    server: float
    kernel: float

    @property
    def both(self) -> float:
        """The sum, which is what a learner adds to the host."""
        return self.server + self.kernel


@contextmanager
def own_server() -> Iterator[Server]:
    """Give a JupyterLab over a copy of the course; without a key, so that no cell asks a live model."""
    with temporary_folder() as folder:
        course = copy_of_the_course(folder / "course")
        port, token, log = free_port(), secrets.token_hex(16), folder / "server.log"
        env = environment(folder)
        env.pop("ANTHROPIC_API_KEY", None)
        with running(command(course, port, token), log, env=env) as process:
            wait_for(f"http://127.0.0.1:{port}/api/status?token={token}", process, log)
            yield Server(process.pid, f"127.0.0.1:{port}", token)


async def run_all(server: Server, notebook: Path) -> WebSocketClientConnection:
    """Open a notebook and run its code cells through the server; return the connection, which is open still.

    Raises RuntimeError where a cell does not run.
    """
    at = f"notebooks/{notebook.name}"
    server.ask("/lab")
    server.ask(f"/api/contents/{at}")
    session = {"path": at, "name": notebook.name, "type": "notebook", "kernel": {"name": "python3"}}
    id = server.ask("/api/sessions", session)["kernel"]["id"]
    address = f"ws://{server.host}/api/kernels/{id}/channels?token={server.token}"
    socket = await websocket_connect(address, max_message_size=LARGEST)
    await reply(socket, "kernel_info_request", {})
    for number, cell in enumerate(nbformat.read(notebook, as_version=4).cells, 1):  # type: ignore[no-untyped-call]
        if cell.cell_type == "code":
            request = {"code": cell.source, "silent": False, "store_history": True, "allow_stdin": False}
            said = await asyncio.wait_for(reply(socket, "execute_request", request), CELL_TIMEOUT)
            if said["status"] != "ok":
                raise RuntimeError(f"{notebook.name}, cell {number}: {said.get('ename')}: {said.get('evalue')}")
    return socket


async def reply(socket: WebSocketClientConnection, kind: str, content: object) -> Any:
    """Send a request to a kernel and return the content of its reply; everything else is read and dropped."""
    id = uuid4().hex
    header = {"msg_id": id, "msg_type": kind, "username": "", "session": "scale", "version": "5.3", "date": ""}
    sent = {"channel": "shell", "header": header, "parent_header": {}, "metadata": {}, "content": content}
    await socket.write_message(json.dumps({**sent, "buffers": []}))
    while True:
        came = await socket.read_message()
        if came is None:
            raise RuntimeError("The server has closed the connection to the kernel.")
        message: Any = json.loads(came) if isinstance(came, str) else {"channel": "with buffers"}
        if message["channel"] == "shell" and message["parent_header"].get("msg_id") == id:
            return message["content"]


def weighed(server: Server, with_kernel: bool = True) -> Memory | None:
    """Return what a learner's processes take now, or None where that cannot be measured."""
    import psutil

    below = [child.pid for child in psutil.Process(server.pid).children(recursive=True)] if with_kernel else []
    sizes = [memory_mb(pid) for pid in (server.pid, *below)]
    known = [size for size in sizes if size is not None]
    return Memory(known[0], sum(known[1:])) if len(known) == len(sizes) else None


async def measure(notebook: Path | None) -> Memory | None:
    """Return what a learner takes on average, LEARNERS at once, after Run All; None for a server without a notebook."""
    with ExitStack() as stack:
        servers = [stack.enter_context(own_server()) for _ in range(LEARNERS)]
        if notebook is None:
            for server in servers:
                server.ask("/lab")
            sockets = []
        else:
            sockets = [await run_all(server, notebook) for server in servers]
        found = [weighed(server, with_kernel=notebook is not None) for server in servers]
        for socket in sockets:
            socket.close()
    return mean([one for one in found if one]) if all(found) else None


def mean(several: Sequence[Memory]) -> Memory:
    """Return the mean of what learners take.

    >>> mean([Memory(80, 100), Memory(90, 140)])
    Memory(server=85.0, kernel=120.0)
    """
    return Memory(*(float(statistics.fmean(values)) for values in zip(*map(pair, several), strict=True)))


def pair(memory: Memory) -> tuple[float, float]:
    """Return server and kernel."""
    return memory.server, memory.kernel


def learners(memory: Memory) -> str:
    """Return how many such learners a host of 24 GB holds, beside the aim; the system itself is not counted.

    >>> learners(Memory(100, 180)), learners(Memory(100, 220))
    ('85 (aim ≥ 80)', '75 (aim ≥ 80, missed)')
    """
    count = int(HOST_MB // memory.both)
    return f"{count} (aim ≥ {AIM}{'' if count >= AIM else ', missed'})"


def row(name: str, memory: Memory | None, aims: bool = True) -> list[str]:
    """Return one line of the table."""
    if memory is None:
        return [name, NO_MEMORY, "–", "–", "–"]
    sizes = [f"{size:.0f}" for size in (memory.server, memory.kernel, memory.both)]
    return [name, *sizes, learners(memory) if aims else str(int(HOST_MB // memory.both))]


def all_left_open(found: Sequence[Memory]) -> Memory:
    """Return what a learner takes who never shuts a kernel down.

    >>> all_left_open([Memory(80, 100), Memory(90, 140)])
    Memory(server=90, kernel=240)
    """
    return Memory(max(one.server for one in found), sum(one.kernel for one in found))


NOTES = f"""\
MB of PSS a learner, {LEARNERS} at once, each with a server of their own (none is divided) and one kernel; the mean.
More learners share more pages, so on a machine with nothing else to do this is no underestimate. What the system
itself needs is not in it.
Closing a tab does not stop a kernel. A host with little memory starts servers with
--MappingKernelManager.cull_idle_timeout=1800 --MappingKernelManager.cull_connected=True."""


def report(full: bool = False, paths: Sequence[Path] | None = None) -> str:
    """Measure the learner notebooks, all where `paths` is left out, and return the table."""
    found = {"(server alone)": asyncio.run(measure(None))}
    for path in sorted(NOTEBOOKS.glob("*.ipynb")) if paths is None else paths:
        found[path.stem] = asyncio.run(measure(path))
    rows = [row(name, memory, aims=not name.startswith("(")) for name, memory in found.items()]
    known = [memory for memory in found.values() if memory]
    if len(known) == len(found) > 1:
        rows.append(row("(every kernel left running)", all_left_open(known), aims=False))
    header = ["notebook", "server, MB", "kernel, MB", "learner, MB", "learners in 24 GB"]
    return f"{table(header, rows)}\n{NOTES}"
