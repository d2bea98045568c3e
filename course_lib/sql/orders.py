"""An API as a tool: the model names an order, and code owns the address, the identity, the time and the errors.

A small order service runs on this machine, so that a hanging, a broken and a lying service can be met for real. Then
the tool: check the format, take the customer from the session, ask once and not for long, and tell apart what came.
"""

import io
import json
import re
import socket
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import date
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from types import MappingProxyType
from typing import Any, Literal, Self, TypeAlias, get_args

from course_lib.sql.tools import Message, schema, short

ORDER_ID = re.compile(r"O-[0-9]{4}")
CUSTOMER_ID = re.compile(r"C-[0-9]{1,9}")
STATUSES = ("placed", "packed", "shipped", "delivered", "cancelled")

# --- The service ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Order:
    """An order as the service keeps it; `expected` is the day of delivery, in ISO 8601, or None where there is none."""

    id: str
    customer: str
    status: str
    expected: str | None = None


ORDERS = (
    Order("O-1001", "C-17", "delivered", "2026-09-14"),
    Order("O-1002", "C-17", "shipped", "2026-09-28"),
    Order("O-1003", "C-17", "cancelled"),
    Order("O-2001", "C-42", "packed", "2026-10-02"),
    Order("O-2002", "C-42", "placed"),
)

Behaviour: TypeAlias = Literal[
    "normal",
    "hangs",
    "drips",
    "HTML",
    "broken JSON",
    "other keys",
    "other order",
    "HTTP 500",
    "HTML 404",
    "huge",
    "redirect",
]
BEHAVIOURS: tuple[Behaviour, ...] = get_args(Behaviour)

_HTML = b"<!doctype html><title>Sign in</title><h1>Sign in to go on</h1>"
_DRIP_SECONDS = 0.01


class OrderService:
    """A real HTTP service on 127.0.0.1 that answers GET /customers/CUSTOMER/orders/ORDER with JSON.

    Set `behaviour` to one of `BEHAVIOURS` to see it fail; stopped, it refuses connections. It stops at the end of a
    `with` block, at `stop()`, when nothing refers to it any more and when Python ends, whichever is first.

    >>> with OrderService() as service:
    ...     order_status(Session("C-17"), service.base_url, "O-1002")
    OrderStatus(order_id='O-1002', status='shipped', expected='2026-09-28')
    """

    def __init__(self, orders: tuple[Order, ...] = ORDERS, behaviour: Behaviour = "normal") -> None:
        """`orders` is all that it knows. Raises ValueError for another behaviour."""
        self._state = _State(MappingProxyType({(order.customer, order.id): order for order in orders}))
        self._stop: weakref.finalize[..., OrderService] | None = None
        self._port: int | None = None
        self.behaviour = behaviour

    @property
    def behaviour(self) -> Behaviour:
        """How it answers from now on."""
        return self._state.behaviour

    @behaviour.setter
    def behaviour(self, behaviour: Behaviour) -> None:
        if behaviour not in BEHAVIOURS:
            raise ValueError(f"There is no behaviour {behaviour!r}; there is {', '.join(BEHAVIOURS)}.")
        self._state.behaviour = behaviour

    @property
    def requests(self) -> tuple[str, ...]:
        """The path of every request that has arrived, in order: what a tool really sent."""
        return tuple(self._state.requests)

    @property
    def base_url(self) -> str:
        """Where it answers, or last answered. Raises RuntimeError where it was never started."""
        if self._port is None:
            raise RuntimeError("The order service was never started: call start(), or use it in a with statement.")
        return f"http://127.0.0.1:{self._port}"

    def start(self) -> Self:
        """Start answering on a free port, and return the service; one that runs already stays as it is."""
        if self._stop is None or not self._stop.alive:
            self._state.stopping.clear()
            server = _Server(("127.0.0.1", 0), _Handler)
            server.state = self._state
            thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True, name="order service")
            thread.start()
            self._port = server.server_port
            self._stop = weakref.finalize(self, _shut_down, server, thread, self._state.stopping)
        return self

    def stop(self) -> None:
        """Stop answering and free the port; a service that does not run stays as it is."""
        if self._stop is not None:
            self._stop()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()


@dataclass
class _State:
    """What the service shares with its handlers. It must not lead back to the service, which could then never go."""

    orders: Mapping[tuple[str, str], Order]
    behaviour: Behaviour = "normal"

    def __post_init__(self) -> None:
        self.requests: list[str] = []
        self.stopping = threading.Event()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64  # with the usual five, a burst of calls waits a second for its turn
    allow_reuse_address = False  # every start takes a new port; on Windows reuse would mean sharing one
    state: _State

    def server_bind(self) -> None:
        """Bind without asking what this machine is called: HTTPServer does, and without a network that takes long."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = str(self.server_address[0]), self.server_address[1]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Stay silent: a client that has hung up is part of the lesson."""


def _shut_down(server: _Server, thread: threading.Thread, stopping: threading.Event) -> None:
    stopping.set()
    if threading.current_thread() is not thread:  # the garbage collector may run in any thread; here it would wait
        server.shutdown()
        thread.join(timeout=5)
    server.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        state = self.server.state
        state.requests.append(self.path)
        with suppress(OSError):  # the client has hung up
            if state.behaviour == "hangs":
                state.stopping.wait()
            elif state.behaviour == "drips":
                self._drip(*_reply("normal", state.orders, self.path))
            else:
                self._send(*_reply(state.behaviour, state.orders, self.path))

    def _send(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if status == 302:
            self.send_header("Location", "/customers/C-42/orders/O-2001")
        self.end_headers()
        self.wfile.write(body)

    def _drip(self, status: int, kind: str, body: bytes) -> None:
        """Send the answer a byte at a time: no single read ever waits long."""
        for byte in b"HTTP/1.0 %d OK\r\nContent-Type: %s\r\n\r\n%s" % (status, kind.encode("ascii"), body):
            self.wfile.write(bytes([byte]))
            if self.server.state.stopping.wait(_DRIP_SECONDS):
                return

    def log_message(self, format: str, *args: object) -> None:
        """Stay silent: a request must not print into a notebook."""


def _reply(behaviour: Behaviour, orders: Mapping[tuple[str, str], Order], path: str) -> tuple[int, str, bytes]:
    """Return status, content type and body: what the service says where it says anything."""
    if behaviour == "normal":
        return _look_up(orders, path)
    other = list(orders.values())[-1] if orders else Order("O-0000", "C-0", "placed")
    return {
        "HTML": (200, "text/html", _HTML),
        "broken JSON": (200, "application/json", b'{"order": "O-1002", "status": "ship'),
        "other keys": (200, "application/json", b'{"id": 7, "state": "ok"}'),
        "other order": (200, "application/json", _as_json(other)),
        "HTTP 500": (500, "application/json", b'{"error": "internal"}'),
        "HTML 404": (404, "text/html", _HTML),
        "huge": (200, "application/json", b'{"order": "' + b"x" * 5_000_000 + b'"}'),
        "redirect": (302, "text/html", b""),
    }[behaviour]


def _look_up(orders: Mapping[tuple[str, str], Order], path: str) -> tuple[int, str, bytes]:
    match path.split("/"):
        case ["", "customers", customer, "orders", id] if (customer, id) in orders:
            return 200, "application/json", _as_json(orders[customer, id])
        case ["", "customers", _, "orders", _]:
            return 404, "application/json", b'{"error": "no such order"}'
    return 404, "text/html", _HTML


def _as_json(order: Order) -> bytes:
    said = {"order": order.id, "customer": order.customer, "status": order.status, "expected": order.expected}
    return json.dumps(said).encode("ascii")


# --- The tool -------------------------------------------------------------------------------------------------------

MOST_BYTES = 10_000

NO_SUCH_ORDER = Message("There is no such order for this customer.", failed=False)
NO_ANSWER = Message("The order service did not answer. Say so, and do not guess what the status may be.")
NONSENSE = Message("The order service answered, but not with the status of this order. Say so, and do not guess it.")

ORDER_STATUS = schema(
    "order_status",
    "Look up the status of one order of the customer who is logged in.",
    {"order_id": {"type": "string", "pattern": "^O-[0-9]{4}$", "description": "such as O-1002"}},
    required=("order_id",),
)

_ADDRESS = re.compile(
    r"(?P<scheme>https?)://(?P<host>[A-Za-z0-9.-]+)(?::(?P<port>[0-9]{1,5}))?(?P<prefix>(?:/[\w.~-]*)*)", re.ASCII
)


@dataclass(frozen=True)
class Session:
    """Who is logged in. Only the login makes one, from an identity that it has verified; no text ever becomes one.

    Raises ValueError where `customer_id` is not C- and digits.
    """

    customer_id: str

    def __post_init__(self) -> None:
        if not isinstance(self.customer_id, str) or not CUSTOMER_ID.fullmatch(self.customer_id):
            raise ValueError(
                f"customer_id is {self.customer_id!r}, but C- and up to nine digits are needed, as in C-17"
            )


@dataclass(frozen=True)
class OrderStatus:
    """The status of an order, one of `STATUSES`, and the day of delivery where there is one."""

    order_id: str
    status: str
    expected: str | None


def order_status(session: Session, base_url: str, order_id: object, seconds: float = 2.0) -> OrderStatus | Message:
    """Return the status of an order of this customer, or a Message for the model: which of four things went wrong.

    Only `order_id` comes from the model. An id of another form is answered without a request. An order of somebody
    else's is `NO_SUCH_ORDER`, as one that does not exist. `NO_ANSWER`: the service was not reached, or not done after
    `seconds` in all (looking up a host's name is not counted). `NONSENSE`: it said anything else than its own answer to
    this question; redirects are not followed, and no more than `MOST_BYTES` are taken. Raises ValueError where
    `base_url` is no http or https address or `seconds` is not between 0 and 60.
    """
    if not isinstance(order_id, str) or not ORDER_ID.fullmatch(order_id):
        return Message(f"order_id must be O- and four digits, such as O-1002, got {short(order_id)}")
    connection, prefix = _connection(base_url, seconds)
    path = f"{prefix}/customers/{session.customer_id}/orders/{order_id}"
    try:
        status, body = _get(connection, path, time.monotonic() + seconds)
    except OSError:  # refused, cut off, too late: all of them
        return NO_ANSWER
    except HTTPException:
        return NONSENSE
    return _understood(session, order_id, status, body)


def functions_for(session: Session, base_url: str, seconds: float = 2.0) -> dict[str, Callable[..., object]]:
    """Return what a model may call on behalf of this customer, as `tools.run_tool` takes it.

    Session, address and time are closed in: there is no argument by which a prompt could name another customer.
    """

    def look_up(order_id: object) -> OrderStatus | Message:
        return order_status(session, base_url, order_id, seconds)

    return {"order_status": look_up}


def _understood(session: Session, order_id: str, status: int, body: bytes) -> OrderStatus | Message:
    """Return what the body says, where it is the service's own answer about this order of this customer."""
    try:
        said = json.loads(body) if len(body) <= MOST_BYTES else None
    except (ValueError, RecursionError):
        return NONSENSE
    if status == 404 and said == {"error": "no such order"}:  # any other 404 says that the address is wrong
        return NO_SUCH_ORDER
    if status != 200 or not isinstance(said, dict):
        return NONSENSE
    if (said.get("order"), said.get("customer")) != (order_id, session.customer_id):
        return NONSENSE
    if said.get("status") not in STATUSES or not _is_date_or_none(said.get("expected")):
        return NONSENSE
    return OrderStatus(order_id, said["status"], said.get("expected"))


def _is_date_or_none(value: object) -> bool:
    try:
        return value is None or (isinstance(value, str) and date.fromisoformat(value).isoformat() == value)
    except ValueError:
        return False


def _get(connection: HTTPConnection, path: str, deadline: float) -> tuple[int, bytes]:
    """Return status and body of one GET, the body cut behind `MOST_BYTES` + 1 bytes.

    http.client follows no redirect and takes no proxy from the environment. Raises OSError or HTTPException.
    """
    try:
        connection.connect()
        connection.request("GET", path, headers={"Accept": "application/json"})
        with closing(_TimedResponse(connection.sock, deadline)) as response:
            response.begin()
            return response.status, response.read(MOST_BYTES + 1)
    finally:
        connection.close()


def _connection(base_url: str, seconds: float) -> tuple[HTTPConnection, str]:
    """Return a connection that is not open yet, and what stands in front of every path."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds <= 60:
        raise ValueError(f"seconds is {seconds!r}, but a number over 0 and up to 60 is needed")
    parts = _ADDRESS.fullmatch(base_url)
    if parts is None or int(parts["port"] or 0) > 65_535:
        raise ValueError(f"base_url is {base_url!r}, but an address is needed such as https://orders.example:8443/v1")
    kind = HTTPSConnection if parts["scheme"] == "https" else HTTPConnection
    port = int(parts["port"]) if parts["port"] else None
    return kind(parts["host"], port, timeout=seconds), parts["prefix"].rstrip("/")


class _TimedResponse(HTTPResponse):
    """A response that must be complete at `deadline`: a socket's own time-out starts anew with every byte."""

    def __init__(self, sock: socket.socket, deadline: float) -> None:
        super().__init__(sock, method="GET")
        self.fp = io.BufferedReader(_TimedReader(self.fp.detach(), sock, deadline))


class _TimedReader(io.RawIOBase):
    def __init__(self, raw: io.RawIOBase, sock: socket.socket, deadline: float) -> None:
        self._raw, self._sock, self._deadline = raw, sock, deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("the answer was not complete in time")
        self._sock.settimeout(left)
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()
