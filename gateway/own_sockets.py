"""The connections that clients have to this process, as the system lists them; the server itself tells of none."""

from __future__ import annotations

import math
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gateway.arrival import Client

_FILES: Final = Path("/proc/self/fd")
# A peer that went without a word is noticed after two minutes; not every system has all three.
_KEEP_ALIVE: Final = (("TCP_KEEPIDLE", 60), ("TCP_KEEPINTVL", 15), ("TCP_KEEPCNT", 4))
# Where struct tcp_info of Linux holds tcpi_last_data_sent, in ms.
_LAST_DATA_SENT: Final = 44


@dataclass(slots=True)
class Connection:
    """One connection of a client, by the system's name for its socket."""

    name: str
    descriptor: int
    client: Client
    idle_since: float


class OwnSockets:
    """Follows the sockets of this process; not for several threads at once."""

    def __init__(self, files: Path = _FILES) -> None:
        self._files = files
        self._ports: set[int] = set()
        self._known: dict[str, Connection | None] = {}

    @property
    def are_listed(self) -> bool:
        """Whether this system lists the files of a process; only Linux does."""
        return self._files.is_dir()

    def connections(self, now: float) -> list[Connection]:
        """Return the connections to ports that this process listens on; those not seen before are idle since `now`."""
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
        """Remember the port of a listening socket; what it accepts from now on notices peers that are gone."""
        with _borrowed(descriptor) as each:
            if each is None or not each.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                return
            self._ports.add(each.getsockname()[1])
            each.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            for name, value in _KEEP_ALIVE:
                if hasattr(socket, name):
                    each.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)

    def _connection(self, name: str, descriptor: int, now: float) -> Connection | None:
        with _borrowed(descriptor) as each:
            if each is None or each.getsockname()[1] not in self._ports:
                return None
            try:
                host, port = each.getpeername()[:2]
            except OSError:  # a listening socket has no peer, and one that was reset has none any more
                return None
            return Connection(name, descriptor, (host, str(port)), now)


def close(connection: Connection) -> None:
    """End a connection: the server finds it at its end, and lets it go."""
    with suppress(OSError), _duplicate(connection) as each:
        if each is not None:
            each.shutdown(socket.SHUT_RDWR)


def silent_seconds(connection: Connection) -> float:
    """Return how long ago anything was sent on a connection; for ever, if it is gone."""
    with suppress(OSError), _duplicate(connection) as each:
        if each is not None:
            info = each.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _LAST_DATA_SENT + 4)
            return float(int.from_bytes(info[_LAST_DATA_SENT:], sys.byteorder)) / 1000
    return math.inf


@contextmanager
def _duplicate(connection: Connection) -> Iterator[socket.socket | None]:
    """Use a connection's socket; None if it is closed, for its number may stand for another one by now."""
    kept = os.dup(connection.descriptor)
    try:
        is_it = os.readlink(f"{_FILES}/{kept}") == connection.name  # noqa: PTH115 - a text, not a path
        with _borrowed(kept) as each:
            yield each if is_it else None
    finally:
        os.close(kept)


def _sockets(files: Path) -> Iterator[tuple[str, int]]:
    for number in os.listdir(files):  # noqa: PTH208 - thousands of them, each second
        try:
            name = os.readlink(f"{files}/{number}")  # noqa: PTH115 - a text, not a path
        except FileNotFoundError:  # closed meanwhile
            continue
        if name.startswith("socket:"):
            yield name, int(number)


@contextmanager
def _borrowed(descriptor: int) -> Iterator[socket.socket | None]:
    """Use a descriptor of the server's as a TCP socket, and leave it open; None for what is none."""
    try:
        each = socket.socket(fileno=descriptor)
    except OSError:
        yield None
        return
    try:
        yield each if each.family in (socket.AF_INET, socket.AF_INET6) and each.type == socket.SOCK_STREAM else None
    finally:
        each.detach()
