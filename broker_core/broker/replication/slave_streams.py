"""The streams of a master's slaves in failover mode (broker/replication/README.md#the-rim).

What a slave says is told to the replica, which also says what goes to the slave next. Nothing of the log is copied or
kept: what a slow slave does not take stays in the log.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from broker_core.broker.replication.mastership import Ack
from broker_core.broker.replication.messages import Span
from broker_core.broker.replication.pace import ByteRate, Pace
from broker_core.broker.replication.plain_master import NOTHING, Parts, StreamEnded
from broker_core.protocol.errors import MalformedStream
from broker_core.protocol.ha_epochs import (
    Data,
    FromSlave,
    MasterHandshake,
    SlaveStreamReader,
    encode_data_head,
    encode_master_handshake,
)
from broker_core.store.errors import NotInLog

GREETING_MS: Final = 5_000
"""Who says nothing for so long after connecting is no replica."""


class OfSlaves(Protocol):
    """Who takes what slaves send, and says what they get."""

    def from_slave(self, link: int, message: FromSlave) -> None:
        """Take a message."""

    def slave_closed(self, link: int) -> None:
        """Take that a stream is over."""

    def next_span(self, link: int) -> Span | None:
        """Return what to send next; None when there is nothing."""


ReadLog = Callable[[int, int], memoryview]
"""Returns bytes of the log from a log offset on, at most so many; raises NotInLog."""


@dataclass(frozen=True, slots=True)
class StreamState:
    """One slave; log offsets, and bytes of the log."""

    peer: str
    ack: Ack
    lag: int
    bytes_per_second: int
    began_at: int
    """Where its stream began."""


class SlaveStreams:
    """The open streams of this replica as a master, numbered as they come. `wake` lets all of them write."""

    def __init__(self, replica: OfSlaves, read: ReadLog, pace: Pace, wake: Callable[[], None]) -> None:
        self.replica = replica
        self.read = read
        self.wake = wake
        self._pace = pace
        self._streams: dict[int, SlaveStream] = {}
        self._last = 0
        self._waking: asyncio.TimerHandle | None = None

    def connect(self, peer: str) -> SlaveStream:
        """Return the speaker of a new connection."""
        self._last += 1
        self._streams[self._last] = stream = SlaveStream(self._last, peer, self)
        return stream

    def peers(self) -> dict[int, str]:
        """Return where the slave of each stream is, ``ip:port``."""
        return {link: stream.peer for link, stream in self._streams.items()}

    def states(self, end: int, acks: Mapping[int, Ack]) -> Iterator[StreamState]:
        """Yield what is known of each stream whose slave has reported; `acks` are those reports, by stream."""
        for link, stream in self._streams.items():
            if link in acks:
                ack = acks[link]
                lag, rate = end - ack.log_offset, stream.rate.per_second
                yield StreamState(stream.peer, ack, lag, rate, stream.began_at or 0)

    def greet(self, link: int, message: MasterHandshake) -> None:
        """Send the handshake."""
        if stream := self._streams.get(link):
            stream.greeting = encode_master_handshake(message)

    def close(self, link: int, reason: str) -> None:
        """Close a stream; nothing more of it is told."""
        if stream := self._streams.pop(link, None):
            stream.end = reason
            self.wake()

    def forget(self, link: int) -> None:
        """Tell that a stream has closed, unless it was closed from here."""
        if self._streams.pop(link, None) is not None:
            self.replica.slave_closed(link)

    def may_send(self) -> bool:
        """Return whether a frame may go now; if not, all streams are woken when one may."""
        loop = asyncio.get_running_loop()
        wait = self._pace.wait_seconds(loop.time())
        if wait > 0 and self._waking is None:
            self._waking = loop.call_later(wait, self._go_on)
        return wait <= 0

    def _go_on(self) -> None:
        self._waking = None
        self.wake()

    def sent(self, size: int) -> None:
        """Count a frame."""
        self._pace.sent(size, asyncio.get_running_loop().time())


class SlaveStream:
    """One connection, a `Speaker` of the listener."""

    def __init__(self, link: int, peer: str, owner: SlaveStreams) -> None:
        self.link = link
        self.peer = peer
        self.greeting = b""
        self.end = ""
        """Why it is to be closed; empty while it is not."""
        self._owner = owner
        self._reader = SlaveStreamReader()
        self.began_at: int | None = None
        self.rate = ByteRate()
        self._connected_at: int | None = None
        self._is_greeted = False

    def receive(self, data: bytes, _: int) -> None:
        """Tell what has arrived; raises StreamEnded."""
        try:
            for message in self._reader.feed(data):
                if self.end:
                    break
                self._owner.replica.from_slave(self.link, message)
        except MalformedStream as error:
            raise StreamEnded(f"what it sent cannot be read: {error}") from error

    def next_parts(self, _: int) -> Parts:
        """Return the handshake, or the next frame if there is one and it may go; raises StreamEnded."""
        if self.end:
            raise StreamEnded(self.end)
        if self.greeting:
            greeting, self.greeting, self._is_greeted = self.greeting, b"", True
            return (greeting,)
        if not self._is_greeted or not self._owner.may_send():
            return NOTHING
        span = self._owner.replica.next_span(self.link)
        return NOTHING if span is None else self._frame(span)

    def _frame(self, span: Span) -> Parts:
        head = encode_data_head(Data(span.log_offset, span.epoch, span.epoch_start, span.confirm), span.size)
        if not span.size:
            return (head,)
        try:
            data = self._owner.read(span.log_offset, span.size)
        except NotInLog as error:
            raise StreamEnded(f"it cannot go on: {error}") from error
        self._owner.sent(span.size)
        self.rate.count(span.size)
        self.began_at = span.log_offset if self.began_at is None else self.began_at
        return head, data

    def check(self, now: int) -> None:
        """Raise StreamEnded for a stranger that says nothing, and for a stream that is to be closed."""
        if self.end:
            raise StreamEnded(self.end)
        self._connected_at = now if self._connected_at is None else self._connected_at
        self.rate.step(now)
        if not self._is_greeted and now - self._connected_at > GREETING_MS:
            raise StreamEnded(f"no handshake in {GREETING_MS} ms")

    def leave(self) -> None:
        """Tell that it has closed."""
        self._owner.forget(self.link)
