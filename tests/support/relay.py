"""A relay per directed link between two processes: it passes bytes on, or does what a broken network does.

::

    with relays() as network:
        relay = network.relay(("127.0.0.1", 10911), listen=("127.0.0.2", 10911))
        relay.link.stall()                    # the connections stay open, and nothing comes
        relay.link_of("slave").cut()          # only those that `source_of` says come from there
        relay.link.heal()

A link is directed by who connects; bytes go both ways over it, `Way.THERE` to the one that listens and `Way.BACK`.
A stop that comes while bytes are under way keeps them: they arrive when the link is healed, as in a network.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from broker_core.client.blocking import LoopThread

Address = tuple[str, int]
SourceOf = Callable[[Address, Address], str]
"""Who connects, by the address of its end and of ours."""

ANYBODY: Final = ""
_PIECE_BYTES: Final = 65_536
_PATIENCE_SECONDS: Final = 20.0
_SLICES_A_SECOND: Final = 20
"""A slow link sends pieces, not one large part and a long silence."""
_RESET: Final = struct.pack("ii", 1, 0)
"""SO_LINGER for 0 s: closing sends a reset."""


class Way(Enum):
    """A direction of bytes."""

    THERE = "there"
    BACK = "back"


class Flow:
    """What happens to the bytes of one way."""

    def __init__(self) -> None:
        self._open = asyncio.Event()
        self._open.set()
        self.bytes_a_second: int | None = None

    async def wait(self) -> None:
        """Return when bytes may pass."""
        await self._open.wait()

    def piece(self) -> int:
        """Return how many bytes to take at once."""
        rate = self.bytes_a_second
        return _PIECE_BYTES if rate is None else max(1, min(_PIECE_BYTES, rate // _SLICES_A_SECOND))

    async def pace(self, size: int) -> None:
        """Return when so many bytes have had their time, and may pass."""
        if self.bytes_a_second is not None:
            await asyncio.sleep(size / self.bytes_a_second)
        await self._open.wait()

    def set(self, *, is_stalled: bool = False, bytes_a_second: int | None = None) -> None:
        """Change it; what is under way is concerned too."""
        self.bytes_a_second = bytes_a_second
        if is_stalled:
            self._open.clear()
        else:
            self._open.set()


class Link:
    """The connections from one side to the other, and what befalls them; may be changed from any thread."""

    def __init__(self, door: LoopThread) -> None:
        self._door = door
        self._flows = {way: Flow() for way in Way}
        self._sockets: set[asyncio.StreamWriter] = set()
        self.is_cut = False

    def heal(self) -> None:
        """Pass all bytes on."""
        self._change(self._set, {})

    def cut(self) -> None:
        """Reset all connections on both sides, and every new one."""
        self._change(self._cut)

    def stall(self, *ways: Way) -> None:
        """Let no byte pass, one way or (without `ways`) both; connections stay open, and new ones seem to succeed."""
        self._change(self._set, {way: {"is_stalled": True} for way in ways or tuple(Way)})

    def slow(self, bytes_a_second: int) -> None:
        """Let so many bytes pass, each way."""
        self._change(self._set, {way: {"bytes_a_second": bytes_a_second} for way in Way})

    @property
    def connections(self) -> int:
        """How many connections there are."""
        return len(self._sockets) // 2

    def _change(self, change: Callable[..., None], *arguments: object) -> None:
        async def work() -> None:
            change(*arguments)

        self._door.run(work(), timeout_s=_PATIENCE_SECONDS)

    def _set(self, ways: dict[Way, dict[str, int]]) -> None:
        self.is_cut = False
        for way, flow in self._flows.items():
            given = ways.get(way, {})
            flow.set(is_stalled=bool(given.get("is_stalled")), bytes_a_second=given.get("bytes_a_second"))

    def _cut(self) -> None:
        self._set({})
        self.is_cut = True
        for end in list(self._sockets):
            reset(end)

    async def pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, target: Address) -> None:
        """Connect what has come to `target`, until either side ends it."""
        if self.is_cut:
            reset(writer)
            return
        self._sockets.add(writer)
        back: asyncio.StreamWriter | None = None
        try:
            await self._flows[Way.THERE].wait()
            there, back = await asyncio.open_connection(*target)
            self._sockets.add(back)
            async with asyncio.TaskGroup() as copying:
                copying.create_task(self._copy(reader, back, Way.THERE))
                copying.create_task(self._copy(there, writer, Way.BACK))
        except* OSError:
            reset(writer)
            if back is not None:
                reset(back)
        finally:
            for end in (writer, back):
                if end is not None:
                    self._sockets.discard(end)
                    end.close()

    async def _copy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, way: Way) -> None:
        flow = self._flows[way]
        try:
            while data := await reader.read(flow.piece()):
                await flow.pace(len(data))
                writer.write(data)
                await writer.drain()
        except OSError:
            await flow.wait()  # the news that the other end is gone travels like bytes
            raise
        await flow.wait()
        if not writer.is_closing():
            writer.write_eof()


def reset(writer: asyncio.StreamWriter) -> None:
    """End a connection as a router does that has forgotten it."""
    end: socket.socket | None = writer.get_extra_info("socket")
    if end is not None and end.fileno() >= 0:
        with suppress(OSError):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
    writer.transport.abort()


@dataclass
class Relay:
    """One listening address and where it leads; `down` and `up` make it refuse connections and take them again."""

    target: Address
    listen: Address
    door: LoopThread
    source_of: SourceOf | None = None
    _links: defaultdict[str, Link] = field(init=False)
    _server: asyncio.Server | None = field(default=None, init=False)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set, init=False)

    def __post_init__(self) -> None:
        self._links = defaultdict(lambda: Link(self.door))

    @property
    def address(self) -> str:
        """``host:port`` that leads to the target."""
        return f"{self.listen[0]}:{self.listen[1]}"

    @property
    def link(self) -> Link:
        """The link of those whose source nobody tells."""
        return self.link_of(ANYBODY)

    @property
    def links(self) -> dict[str, Link]:
        """All links by their source, as far as there were any."""
        return dict(self._links)

    def link_of(self, source: str) -> Link:
        """Return the link of one source; there need not be a connection yet."""

        async def work() -> Link:
            return self._links[source]

        return self.door.run(work(), timeout_s=_PATIENCE_SECONDS)

    def up(self) -> None:
        """Take connections."""
        self.door.run(self._up(), timeout_s=_PATIENCE_SECONDS)

    def down(self) -> None:
        """Refuse connections, as the machine of a process that is gone does; those that there are go on."""
        self.door.run(self._down(), timeout_s=_PATIENCE_SECONDS)

    def close(self) -> None:
        """End everything."""
        self.door.run(self._close(), timeout_s=_PATIENCE_SECONDS)

    async def _up(self) -> None:
        if self._server is None:
            self._server = await asyncio.start_server(self._come, *self.listen)
            self.listen = self._server.sockets[0].getsockname()[:2]

    async def _down(self) -> None:
        server, self._server = self._server, None
        if server is None:
            return
        # What was just accepted becomes a connection in the next turn, for which there must be a server.
        for listening in server.sockets:
            asyncio.get_running_loop().remove_reader(listening.fileno())
        await asyncio.sleep(0)
        server.close()

    async def _close(self) -> None:
        await self._down()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.sleep(0)  # transports that were aborted close their sockets in the next turn

    async def _come(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            await self._links[await self._source(writer)].pass_on(reader, writer, self.target)
        except asyncio.CancelledError:
            reset(writer)
        finally:
            self._tasks.discard(task)

    async def _source(self, writer: asyncio.StreamWriter) -> str:
        if self.source_of is None:
            return ANYBODY
        theirs, ours = writer.get_extra_info("peername"), writer.get_extra_info("sockname")
        return await asyncio.to_thread(self.source_of, theirs[:2], ours[:2])


class Network:
    """All relays of a test, on one loop in a thread of its own."""

    def __init__(self) -> None:
        self._door = LoopThread("relays")
        self.relays: list[Relay] = []

    def relay(self, target: Address, *, listen: Address = ("127.0.0.1", 0), source_of: SourceOf | None = None) -> Relay:
        """Return a relay that takes connections."""
        relay = Relay(target, listen, self._door, source_of)
        relay.up()
        self.relays.append(relay)
        return relay

    def close(self) -> None:
        """End all relays."""
        for relay in self.relays:
            relay.close()
        self._door.close()


@contextmanager
def relays() -> Iterator[Network]:
    """Have relays until the block ends."""
    network = Network()
    try:
        yield network
    finally:
        network.close()
