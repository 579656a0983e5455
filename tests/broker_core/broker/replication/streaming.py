"""A stand-in for the replication port of a master: sends a real store's log as a master of 4.9 does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from broker_core.protocol.ha_plain import ReportReader, encode_frame_head
from broker_core.store import MessageStore

FRAME_BYTES = 1_000


@dataclass
class Stream:
    """What happened at the port; `is_silent` sends nothing, `frame_bytes` is the most of one frame."""

    store: MessageStore
    is_silent: bool = False
    connections: int = 0
    reports: list[int] = field(default_factory=list)
    writers: set[asyncio.StreamWriter] = field(default_factory=set)
    port: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Send the log from the first report on."""
        self.connections += 1
        self.writers.add(writer)
        reports = ReportReader()
        sending: asyncio.Task[None] | None = None
        try:
            while data := await reader.read(1 << 16):
                report = reports.feed(data)
                if report is None:
                    continue
                self.reports.append(report)
                if sending is None and not self.is_silent:
                    sending = asyncio.create_task(self._send(report or self._newest(), writer))
        except ConnectionError:
            pass
        finally:
            self.writers.discard(writer)
            if sending is not None:
                sending.cancel()
            writer.transport.abort()

    def _newest(self) -> int:
        end = self.store.appended_log_offset
        return end - end % self.store.segment_bytes

    async def _send(self, at: int, writer: asyncio.StreamWriter) -> None:
        while True:
            data = bytes(self.store.read_log(at, FRAME_BYTES)) if at < self.store.appended_log_offset else b""
            if data:
                writer.write(encode_frame_head(at, len(data)) + data)
                at += len(data)
                await writer.drain()
            else:
                await asyncio.sleep(0.01)

    def cut(self) -> None:
        """Close every connection."""
        for writer in list(self.writers):
            writer.transport.abort()


@asynccontextmanager
async def streaming(store: MessageStore) -> AsyncIterator[Stream]:
    """Serve the log of a store at a free port."""
    stream = Stream(store)
    server = await asyncio.start_server(stream.serve, "127.0.0.1", 0)
    stream.port = server.sockets[0].getsockname()[1]
    try:
        yield stream
    finally:
        server.close()
        stream.cut()
