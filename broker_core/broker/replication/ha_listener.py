"""The port for slaves: accepts their connections, moves bytes, closes (broker/replication/README.md#port-for-slaves).

What is said on a connection is the matter of a `Speaker`, which the factory makes for each. A link asks it for bytes
until the socket takes no more, and again when the socket does or when the log has grown: what is not sent stays in the
log, and a slow slave holds no memory.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, Protocol, cast

from broker_core.broker.replication.plain_master import StreamEnded
from broker_core.logs import get_logger
from broker_core.protocol.networks import Networks
from broker_core.remoting.connection import socket_name
from broker_core.remoting.first_byte import FirstByte
from broker_core.remoting.limits import ConnectionLimits
from broker_core.remoting.open_files import Sockets
from broker_core.remoting.rare_warnings import RareWarnings
from broker_core.remoting.server import bind_socket
from broker_core.remoting.tls import ServerTls

MOST_LINKS: Final = 64
"""Connections at once; a further one takes the place of the oldest that got nothing yet, or is closed."""

_TURN_BYTES: Final = 1024 * 1024  # of one link, before others are served
_log: Final = get_logger(__name__)


def loop_ms() -> int:
    """Return the time of the running loop, in ms."""
    return int(asyncio.get_running_loop().time() * 1000)


class Speaker(Protocol):
    """One side of the conversation on a connection; times in ms of the loop's clock. All raise StreamEnded."""

    def receive(self, data: bytes, now: int) -> object:
        """Take what has arrived."""

    def next_parts(self, now: int) -> Sequence[bytes | memoryview]:
        """Return what is to be written next; nothing when nothing is."""

    def check(self, now: int) -> None:
        """Called several times a second."""

    def leave(self) -> None:
        """The connection has closed."""


MakeSpeaker = Callable[[str], Speaker]
"""Returns the speaker for a peer, ``ip:port``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HaPort:
    """Where the listener listens, and whom it admits."""

    host: str
    port: int
    networks: Networks | None = None
    """Where slaves may be; None: anywhere."""
    tls: ServerTls | None = None
    limits: ConnectionLimits
    sockets: Sockets


class HaListener:
    """The open port and its links."""

    def __init__(self, port: HaPort) -> None:
        self._port = port
        self._links: dict[Link, None] = {}  # the oldest first
        self._starting: dict[FirstByte, None] = {}
        self._server: asyncio.Server | None = None
        self._loop = asyncio.get_running_loop()
        self._is_woken = False
        self.warnings = RareWarnings()
        """What strangers did wrong."""

    @property
    def links(self) -> Iterator[Link]:
        """The open connections."""
        return iter(tuple(self._links))

    @property
    def port(self) -> int:
        """The port listened on."""
        assert self._server is not None
        return int(self._server.sockets[0].getsockname()[1])

    async def start(self, make: MakeSpeaker) -> None:
        """Listen; raises AddressInUse or AddressRefused."""
        socket = bind_socket(self._port.host, self._port.port)
        try:
            self._server = await self._loop.create_server(partial(self._accept, make), sock=socket)
        except BaseException:
            socket.close()
            raise

    async def close(self) -> None:
        """Close the port and every connection."""
        if self._server is not None:
            self._server.close()
        for starting in tuple(self._starting):
            starting.abort()
        waiting = [link.closed for link in self._links]
        for link in self.links:
            link.end("the broker stops")
        if waiting:
            await asyncio.wait(waiting, timeout=1.0)

    def wake(self) -> None:
        """Send what was appended to the log, after this turn of the loop."""
        if self._links and not self._is_woken:
            self._is_woken = True
            self._loop.call_soon(self._pump_all)

    def step(self, _: int) -> None:
        """Do what is due by the clock on every connection."""
        for link in self.links:
            link.step()

    def _pump_all(self) -> None:
        self._is_woken = False
        for link in self.links:
            link.pump()

    def _accept(self, make: MakeSpeaker) -> asyncio.Protocol:
        if self._port.tls is None:
            return self._link(make)
        return FirstByte(self._port.tls, self._port.limits, self, partial(self._link, make))

    def _link(self, make: MakeSpeaker) -> Link:
        return Link(self, make, write_buffer_bytes=self._port.limits.write_buffer_bytes)

    # ---- places, for `FirstByte` and `Link` --------------------------------------------------------------------------

    def open(self, link: Link) -> bool:
        """Give a link its place; False if there is none, and then it closes."""
        if not self._take_place(link.peer, link.local):
            return False
        self._links[link] = None
        return True

    def forget(self, link: Link) -> None:
        """Take the place of a link back."""
        self._links.pop(link, None)
        self._port.sockets.give_back()

    def admit(self, starting: FirstByte) -> bool:
        """Give a connection that starts with TLS, perhaps, a place until it is a link."""
        if not self._take_place(starting.peer, starting.local):
            return False
        self._starting[starting] = None
        return True

    def shake(self, starting: FirstByte) -> None:
        """Do nothing: there are fewer places than handshakes may be."""

    def leave(self, starting: FirstByte) -> None:
        """Take the place of a connection that started back."""
        self._starting.pop(starting, None)
        self._port.sockets.give_back()

    def _take_place(self, peer: str, local: str) -> bool:
        networks = self._port.networks
        if networks is not None and not networks.admit(peer, local):
            reason = f"it is not on this machine nor in haSlaveNetworks={networks.text}"
        elif len(self._links) + len(self._starting) >= MOST_LINKS and not self._end_oldest_stranger():
            reason = f"{MOST_LINKS} slaves are connected"
        elif not self._port.sockets.take():
            reason = f"limit connections={self._port.sockets.limit} reached"
        else:
            return True
        self.warnings.warn(_log, "slave=%s: refused, %s", peer, reason)
        return False

    def _end_oldest_stranger(self) -> bool:
        """End the oldest connection that got nothing yet; return whether there was one."""
        stranger = next((link for link in self._links if not link.is_served), None)
        if stranger is not None:
            stranger.end(f"{MOST_LINKS} are connected, and this one has not said who it is")
        elif self._starting:
            starting = next(iter(self._starting))
            del self._starting[starting]
            starting.abort()
        else:
            return False
        return True


class Link(asyncio.Protocol):
    """One connection of a slave."""

    def __init__(self, listener: HaListener, make: MakeSpeaker, *, write_buffer_bytes: int) -> None:
        self.peer = ""
        self.local = ""
        self._listener = listener
        self._make = make
        self._high = write_buffer_bytes
        self._loop = asyncio.get_running_loop()
        self.closed: asyncio.Future[None] = self._loop.create_future()
        self._transport: asyncio.Transport | None = None
        self._speaker: Speaker | None = None
        self._is_paused = False
        self._has_place = False
        self.is_served = False
        """Something was sent to it: it said what a slave says."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take a place, and make the speaker."""
        self._transport = cast(asyncio.Transport, transport)
        self.peer = socket_name(transport.get_extra_info("peername"))
        self.local = socket_name(transport.get_extra_info("sockname"))
        if not self._listener.open(self):
            self._transport.close()
            return
        self._has_place = True
        self._transport.set_write_buffer_limits(high=self._high)
        self._speaker = self._make(self.peer)

    def data_received(self, data: bytes) -> None:
        """Hear the slave, and answer."""
        if self._speaker is None:
            return
        try:
            self._speaker.receive(data, loop_ms())
        except StreamEnded as error:
            self.end(str(error))
        else:
            self.pump()

    def pause_writing(self) -> None:
        """The slave does not read fast enough: the rest stays in the log."""
        self._is_paused = True

    def resume_writing(self) -> None:
        """Go on."""
        self._is_paused = False
        self.pump()

    def connection_lost(self, exc: Exception | None) -> None:
        """Leave, and say why."""
        self._transport = None
        if self._has_place:
            self._leave(str(exc or "by the slave"))
        self.closed.set_result(None)

    def pump(self) -> None:
        """Write until the socket takes no more, or others must be served."""
        left = _TURN_BYTES
        try:
            while not self._is_paused and self._speaker is not None and self._is_open:
                parts = self._speaker.next_parts(loop_ms())
                if not parts:
                    return
                self._note_served()
                cast(asyncio.Transport, self._transport).writelines(parts)
                left -= sum(map(len, parts))
                if left <= 0:
                    self._loop.call_soon(self.pump)
                    return
        except StreamEnded as error:
            self.end(str(error))

    def step(self) -> None:
        """Do what is due by the clock."""
        try:
            if self._speaker is not None:
                self._speaker.check(loop_ms())
        except StreamEnded as error:
            self.end(str(error))
        else:
            self.pump()

    def end(self, reason: str) -> None:
        """Close without writing what the slave has not read."""
        if self._has_place:
            self._leave(reason)
        if self._transport is not None:
            self._transport.abort()

    def _leave(self, reason: str) -> None:
        """Give the place back: from now on nothing that the slave said counts."""
        self._has_place = False
        self._listener.forget(self)
        if self._speaker is not None:
            self._speaker.leave()
            self._speaker = None
        if self.is_served:
            _log.info("slave=%s: closed, %s", self.peer, reason)
        else:
            self._listener.warnings.warn(_log, "slave=%s: closed, %s", self.peer, reason)

    def _note_served(self) -> None:
        if not self.is_served:
            self.is_served = True
            _log.info("slave=%s: connected", self.peer)

    @property
    def _is_open(self) -> bool:
        return self._transport is not None and not self._transport.is_closing()
