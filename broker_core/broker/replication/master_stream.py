"""A slave's connection to the replication port of its master, in failover mode.

broker/replication/README.md#the-rim.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from typing import Final, Protocol, cast

from broker_core.logs import get_logger
from broker_core.protocol.errors import MalformedStream
from broker_core.protocol.ha_epochs import (
    FromMaster,
    MasterStreamReader,
    Report,
    SlaveHandshake,
    encode_report,
    encode_slave_handshake,
)

_CONNECT_SECONDS: Final = 2.0

_log: Final = get_logger(__name__)


class OfMaster(Protocol):
    """Who takes what a master sends."""

    def from_master(self, link: int, message: FromMaster) -> None:
        """Take a message."""

    def master_closed(self, link: int) -> None:
        """Take that the stream, or the attempt to open it, is over."""


class MasterStreams:
    """The one stream that a slave has at a time, by the number of the attempt."""

    def __init__(self, replica: OfMaster, find_tls: Callable[[], ssl.SSLContext | None]) -> None:
        self._replica = replica
        self._find_tls = find_tls
        self._link = 0
        self._stream: _Stream | None = None
        self._opening: asyncio.Task[None] | None = None

    def open(self, link: int, address: str, handshake: SlaveHandshake) -> None:
        """Connect and send the handshake; a failure is told as the end of the stream."""
        self.leave(self._link)
        self._link = link
        self._opening = asyncio.get_running_loop().create_task(self._open(link, address, handshake))

    async def _open(self, link: int, address: str, handshake: SlaveHandshake) -> None:
        host, _, port = address.rpartition(":")
        try:
            async with asyncio.timeout(_CONNECT_SECONDS):
                tls = self._find_tls()
                _, protocol = await asyncio.get_running_loop().create_connection(
                    lambda: _Stream(link, self._replica), host.strip("[]"), int(port), ssl=tls
                )
        except (OSError, ValueError, TimeoutError) as error:
            _log.debug("master=%s: no stream: %s", address, error)
            self._replica.master_closed(link)
            return
        self._stream = stream = protocol
        stream.write(encode_slave_handshake(handshake))

    def report(self, link: int, report: Report) -> None:
        """Send a report, if the stream is still open."""
        if self._stream is not None and self._stream.link == link:
            self._stream.report(report)

    def close(self) -> None:
        """Close the present stream."""
        self.leave(self._link)

    def leave(self, link: int) -> None:
        """Close the stream of an attempt, or give it up; nothing more of it is told."""
        if self._opening is not None and self._link == link:
            self._opening.cancel()
        if self._stream is not None and self._stream.link == link:
            self._stream.leave()
            self._stream = None


class _Stream(asyncio.Protocol):
    def __init__(self, link: int, replica: OfMaster) -> None:
        self.link = link
        self._replica: OfMaster | None = replica
        self._reader = MasterStreamReader()
        self._transport: asyncio.Transport | None = None
        self._is_reading = False
        self._report: Report | None = None  # what is to be told of the frames of the present read

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self._is_reading = True
        try:
            for message in self._reader.feed(data):
                if self._replica is None:
                    return
                self._replica.from_master(self.link, message)
        except MalformedStream as error:
            _log.warning("the master's stream cannot be read: %s", error)
            self._close()
        finally:
            self._is_reading = False
            self._tell()

    def report(self, report: Report) -> None:
        """Send a report; of all the frames of one read the last one says it all."""
        self._report = report
        if not self._is_reading:
            self._tell()

    def _tell(self) -> None:
        report, self._report = self._report, None
        if report is not None:
            self.write(encode_report(report))

    def connection_lost(self, _: Exception | None) -> None:
        replica, self._replica = self._replica, None
        if replica is not None:
            replica.master_closed(self.link)

    def write(self, data: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(data)

    def leave(self) -> None:
        self._replica = None
        self._close()

    def _close(self) -> None:
        if self._transport is not None:
            self._transport.abort()
