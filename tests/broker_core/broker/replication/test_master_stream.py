"""A slave's stream to its master, in failover mode: what is told of what comes."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from broker_core.broker.replication.master_stream import MasterStreams
from broker_core.protocol.ha_epochs import (
    Data,
    EpochStart,
    FromMaster,
    FromSlave,
    MasterHandshake,
    Report,
    SlaveHandshake,
    SlaveStreamReader,
    encode_data_head,
    encode_master_handshake,
)
from tests.support.wait import eventually

FRAMES = (b"abc", b"def", b"ghi")


@dataclass
class Follower:
    """Reports each frame."""

    streams: MasterStreams = field(init=False)
    heard: list[FromMaster] = field(default_factory=list)
    closed: list[int] = field(default_factory=list)

    def from_master(self, link: int, message: FromMaster) -> None:
        self.heard.append(message)
        if isinstance(message, Data):
            self.streams.report(link, Report(message.log_offset + len(message.data)))

    def master_closed(self, link: int) -> None:
        self.closed.append(link)


def frame(log_offset: int, data: bytes) -> bytes:
    return encode_data_head(Data(log_offset, 1, 0, 0), len(data)) + data


async def test_of_all_frames_of_one_read_the_last_report_alone_is_sent() -> None:
    told = list[FromSlave]()
    is_closed = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        read = SlaveStreamReader()
        writer.write(
            encode_master_handshake(MasterHandshake(1, 9, (EpochStart(1, 0),)))
            + b"".join(map(frame, (0, 3, 6), FRAMES))
        )
        while data := await reader.read(1024):
            told.extend(read.feed(data))
        writer.close()
        is_closed.set()

    follower = Follower()
    follower.streams = MasterStreams(follower, lambda: None)
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    handshake = SlaveHandshake(2, 7, False, False)
    follower.streams.open(1, f"127.0.0.1:{port}", handshake)
    await eventually(lambda: len(told) > 1)
    follower.streams.report(1, Report(8))
    await eventually(lambda: told[-1] == Report(8))
    assert len(follower.heard) == 4
    assert told == [handshake, Report(9), Report(8)]
    follower.streams.close()
    await is_closed.wait()
    server.close()
