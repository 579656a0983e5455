"""The memory of all connections is bounded; the connection that holds most is closed."""

from __future__ import annotations

import asyncio
import gc
import struct
from collections.abc import Iterable
from pathlib import Path

import pytest

from broker_core.protocol import Command
from broker_core.remoting import Connection, ConnectionLimits
from broker_core.remoting.memory import SMALL, ConnectionMemory
from tests.support.remoting import dispatch_of, question, raw_peer, serving
from tests.support.wait import eventually

MIB = 1024 * 1024


class Held:
    """An object that holds bytes."""

    def __init__(self) -> None:
        self.held_bytes = 0
        self.reason = ""

    def hold(self, memory: ConnectionMemory, size: int) -> None:
        self.held_bytes = size
        memory.hold(self, size)

    def abort(self, reason: str) -> None:
        self.reason = reason


def test_the_largest_holder_is_closed() -> None:
    memory = ConnectionMemory(1000)
    small, large, last = Held(), Held(), Held()
    small.hold(memory, 300)
    large.hold(memory, 600)

    last.hold(memory, 200)

    assert large.reason == "limit memory_bytes=1000 reached: this connection holds 600 of them"
    assert (small.reason, last.reason, memory.used) == ("", "", 500)


def test_what_peers_have_read_in_the_meantime_does_not_count() -> None:
    memory = ConnectionMemory(1000)
    first, second = Held(), Held()
    first.hold(memory, 900)
    first.held_bytes = 100

    second.hold(memory, 500)

    assert (first.reason, second.reason, memory.used) == ("", "", 600)


def test_room_can_be_reserved_while_there_is_some() -> None:
    memory = ConnectionMemory(1000)
    Held().hold(memory, 300)

    assert memory.reserve(700)
    assert not memory.reserve(1)
    memory.release(700)
    assert memory.used == 300


async def test_frames_that_never_become_whole_are_bounded(caplog: pytest.LogCaptureFixture) -> None:
    prefix = struct.pack(">II", 8 * MIB, 2)
    async with serving(limits=ConnectionLimits(memory_bytes=3 * MIB)) as server:
        async with raw_peer(server) as first, raw_peer(server) as second, raw_peer(server) as good:
            # Given a peer that has sent two megabytes of a frame, but not the rest
            first.writer.write(prefix + bytes(2 * MIB))
            await eventually(lambda: server._memory.used > MIB)
            # When another one does the same
            second.writer.write(prefix + bytes(2 * MIB - 1000))
            # Then one of them is closed, and others are served
            closed = [asyncio.ensure_future(each.is_closed_by_peer()) for each in (first, second)]
            await asyncio.wait(closed, return_when=asyncio.FIRST_COMPLETED)
            good.send(question("still"))
            assert (await good.command()).remark == "still"
            for each in closed:
                each.cancel()
        await eventually(lambda: server._memory.used == 0)
    assert "limit memory_bytes=3145728 reached" in caplog.text


async def test_requests_that_handlers_work_on_are_counted_until_they_are_done() -> None:
    go = asyncio.Event()

    async def wait(request: Command, connection: Connection) -> Command:
        await go.wait()
        return Command.response(0)

    async with serving(wait, limits=ConnectionLimits(memory_bytes=3 * MIB)) as server, raw_peer(server) as peer:
        peer.send(question("a", bytes(MIB)), question("b", bytes(MIB)))
        await eventually(lambda: server._memory.used == 2 * MIB)
        go.set()
        await peer.command()
        await peer.command()
        assert server._memory.used == 0


async def test_answers_that_are_not_taken_are_counted() -> None:
    def answer_much(request: Command, connection: Connection) -> Command:
        return Command.response(0, body=bytes(4 * MIB))

    limits = ConnectionLimits(write_buffer_bytes=2 * SMALL, memory_bytes=64 * MIB)
    async with serving(answer_much, limits=limits) as server, raw_peer(server) as peer:
        peer.stop_reading()
        peer.send(*[question() for _ in range(20)])
        await eventually(lambda: server._memory.used > SMALL)
        peer.read_again()
        for _ in range(20):
            await peer.command()
        await eventually(lambda: server._memory.used == 0)


async def test_small_things_are_not_counted() -> None:
    async with serving() as server, raw_peer(server) as peer:
        peer.writer.write(question("whole").encode() + question("half", b"x" * 1000).encode()[:500])
        assert (await peer.command()).remark == "whole"
        assert server._memory.used == 0


class Slow(asyncio.Transport):
    """Reports a full buffer as soon as something large is written, and stores nothing."""

    def __init__(self, connection: Connection) -> None:
        super().__init__()
        self.connection = connection

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None: ...
    def get_write_buffer_size(self) -> int:
        return 0

    def pause_reading(self) -> None: ...
    def resume_reading(self) -> None: ...
    def writelines(self, list_of_data: Iterable[bytes | bytearray | memoryview]) -> None:
        if sum(map(len, list_of_data)) > MIB:
            self.connection.pause_writing()


async def test_requests_that_waited_for_room_count_no_more_once_they_are_answered() -> None:
    def answer(request: Command, connection: Connection) -> Command:
        return Command.response(0, body=bytes(2 * MIB if request.ext_fields["topic"] == "much" else 0))

    memory = ConnectionMemory(64 * MIB)
    connection = Connection(dispatch_of(answer), ConnectionLimits(), stops_reading_when_full=True, memory=memory)
    connection.connection_made(Slow(connection))

    part = question("later", bytes(MIB)).encode()[: 2 * SMALL]
    connection.data_received(question("much").encode() + question("little", bytes(MIB)).encode() + part)
    assert memory.used > MIB

    connection.resume_writing()
    assert memory.used == len(part)
    connection.connection_lost(None)


async def test_half_a_frame_is_freed_with_its_connection() -> None:
    def resident() -> int:
        return int(Path("/proc/self/status").read_text().partition("RssAnon:")[2].split()[0]) * 1024

    limits = ConnectionLimits(frame_bytes=16 * MIB)
    half = struct.pack(">I", 15 * MIB) + b"\0\0\1\0" + bytes(8 * MIB)
    gc.disable()
    try:
        before = resident()
        async with serving(limits=limits) as server:
            for _ in range(20):
                async with raw_peer(server) as peer:
                    peer.writer.write(half)
                    await eventually(lambda: any(each._frames.buffered > 7 * MIB for each in server.connections))
                await eventually(lambda: not list(server.connections))
            assert resident() - before < 60 * MIB
    finally:
        gc.enable()
