"""The connections of clients to this process, as the system lists them; the server does not report them."""

from __future__ import annotations

import fcntl
import math
import os
import socket
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gateway.arrival import Client

_FILES: Final = Path("/proc/self/fd")
# Detects after two minutes that a peer is gone; not every system has all three options.
_KEEP_ALIVE: Final = (("TCP_KEEPIDLE", 60), ("TCP_KEEPINTVL", 15), ("TCP_KEEPCNT", 4))
# Where struct tcp_info of Linux holds tcpi_last_data_sent, in ms.
_LAST_DATA_SENT: Final = 44
_FEW_BYTES: Final = 4096


@dataclass(slots=True)
class Connection:
    """One connection of a client; `name` is the system's name of its socket."""

    name: str
    descriptor: int
    client: Client
    idle_since: float


class OwnSockets:
    """Follows the sockets of this process; not thread-safe."""

    def __init__(self, files: Path = _FILES, *, not_ours: int | None = None) -> None:
        """`not_ours` is a port of this process whose connections are not those of clients."""
        self._files = files
        self._not_ours = not_ours
        self._ports: set[int] = set()
        self._known: dict[str, Connection | None] = {}

    @property
    def are_listed(self) -> bool:
        """Whether this system lists the open files of a process; only Linux does."""
        return self._files.is_dir()

    def connections(self, now: float) -> list[Connection]:
        """Return the connections to ports on which this process listens; new ones count as idle since `now`."""
        found: dict[str, Connection | None] = {}
        new: list[tuple[str, int]] = []
        for name, descriptor in _sockets(self._files):
            if name in self._known:
                found[name] = self._known[name]
            else:
                new.append((name, descriptor))
        for _, descriptor in new:
            self._learn_port(descriptor)
        for name, descriptor in new:
            found[name] = self._connection(name, descriptor, now)
        self._known = found
        return [each for each in found.values() if each is not None]

    def _learn_port(self, descriptor: int) -> None:
        """Remember the port of a listening socket, and enable keep-alive for the connections that it will accept."""
        # Other threads close sockets of theirs meanwhile: what is asked of one may fail at any point.
        with suppress(OSError), _borrowed(descriptor) as each:
            if each is None or not each.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                return
            port = each.getsockname()[1]
            if port == self._not_ours:
                return
            self._ports.add(port)
            each.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            for name, value in _KEEP_ALIVE:
                if hasattr(socket, name):
                    each.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)

    def _connection(self, name: str, descriptor: int, now: float) -> Connection | None:
        with suppress(OSError), _borrowed(descriptor) as each:
            if each is not None and each.getsockname()[1] in self._ports:
                host, port = each.getpeername()[:2]  # a listening socket has none, nor has one that was reset
                return Connection(name, descriptor, (host, str(port)), now)
        return None


def close(connection: Connection) -> None:
    """Shut a connection down; the server then reads its end and closes it."""
    with suppress(OSError), _duplicate(connection) as each:
        if each is not None:
            each.shutdown(socket.SHUT_RDWR)


def answer_seconds(connection: Connection) -> float:
    """Return the seconds since part of an answer was last sent that the client has not yet; infinity if it has all.

    What fits into a few packets is no part of an answer: a closed connection still delivers it, and a client that only
    asks whether the server is there (PING of HTTP/2) is always owed so much.
    """
    with suppress(OSError), _duplicate(connection) as each:
        if each is not None and _unsent_bytes(each) > _FEW_BYTES:
            info = each.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _LAST_DATA_SENT + 4)
            return float(int.from_bytes(info[_LAST_DATA_SENT:], sys.byteorder)) / 1000
    return math.inf


def _unsent_bytes(each: socket.socket) -> int:
    """Return how much waits to be sent or acknowledged (SIOCOUTQ of Linux)."""
    found = fcntl.ioctl(each.fileno(), termios.TIOCOUTQ, bytes(4))
    return int.from_bytes(found, sys.byteorder)


@contextmanager
def _duplicate(connection: Connection) -> Iterator[socket.socket | None]:
    """Use a connection's socket; None if it is closed: its descriptor may already belong to another file."""
    kept = os.dup(connection.descriptor)
    try:
        is_it = os.readlink(f"{_FILES}/{kept}") == connection.name  # noqa: PTH115 - a text, not a path
        with _borrowed(kept) as each:
            yield each if is_it else None
    finally:
        os.close(kept)


def _sockets(files: Path) -> Iterator[tuple[str, int]]:
    for number in os.listdir(files):  # noqa: PTH208 - thousands of entries, every second
        try:
            name = os.readlink(f"{files}/{number}")  # noqa: PTH115 - a text, not a path
        except FileNotFoundError:  # closed meanwhile
            continue
        if name.startswith("socket:"):
            yield name, int(number)


@contextmanager
def _borrowed(descriptor: int) -> Iterator[socket.socket | None]:
    """Use a descriptor of the server as a TCP socket, and leave it open; None if it is not a TCP socket."""
    try:
        each = socket.socket(fileno=descriptor)
    except OSError:
        yield None
        return
    try:
        yield each if each.family in (socket.AF_INET, socket.AF_INET6) and each.type == socket.SOCK_STREAM else None
    finally:
        each.detach()
