"""The port for slaves, with real sockets and the log of a real store."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace

import pytest

from broker_core.broker.config import ReplicationSettings
from broker_core.broker.replication import ha_listener
from broker_core.broker.replication.ha_listener import MOST_LINKS, HaListener, HaPort, loop_ms
from broker_core.broker.replication.slaves import Slaves
from broker_core.protocol.ha_plain import Frame, FrameReader, encode_report
from broker_core.protocol.networks import Networks
from broker_core.remoting.limits import ConnectionLimits
from broker_core.remoting.open_files import Sockets
from broker_core.store.errors import NotInLog
from tests.support.wait import eventually

SEGMENT = 1 << 20


@dataclass
class Log:
    """A log in memory."""

    data: bytearray
    segment_bytes: int = SEGMENT

    @property
    def appended_log_offset(self) -> int:
        return len(self.data)

    def read_log(self, log_offset: int, most: int) -> memoryview:
        if log_offset > len(self.data):
            raise NotInLog(log_offset, 0, len(self.data))
        end = min(log_offset + most, log_offset - log_offset % SEGMENT + SEGMENT)
        return memoryview(bytes(self.data[log_offset:end]))


@asynccontextmanager
async def listening(
    log: Log,
    *,
    networks: Networks | None = None,
    sockets: Sockets | None = None,
    settings: ReplicationSettings | None = None,
) -> AsyncIterator[tuple[HaListener, Slaves]]:
    present = settings or ReplicationSettings()
    slaves = Slaves(log, lambda: present, loop_ms)
    port = HaPort(
        host="127.0.0.1", port=0, networks=networks, limits=ConnectionLimits(), sockets=sockets or Sockets(1_000)
    )
    listener = HaListener(port)
    await listener.start(slaves.connect)
    try:
        yield listener, slaves
    finally:
        await listener.close()


@dataclass
class Slave:
    """A slave of a test."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    def report(self, log_offset: int) -> None:
        self.writer.write(encode_report(log_offset))

    async def read(self, until: Callable[[list[Frame]], bool]) -> list[Frame]:
        frames: list[Frame] = []
        of_master = FrameReader()
        while not until(frames):
            data = await self.reader.read(65_536)
            assert data, "the master closed"
            frames += of_master.feed(data)
        return frames


@asynccontextmanager
async def slave_of(listener: HaListener) -> AsyncIterator[Slave]:
    reader, writer = await asyncio.open_connection("127.0.0.1", listener.port)
    try:
        yield Slave(reader, writer)
    finally:
        writer.close()


def size_of(frames: list[Frame]) -> int:
    return sum(len(frame.data) for frame in frames)


async def test_a_slave_gets_the_log_and_then_what_is_appended() -> None:
    log = Log(bytearray(bytes(range(200)) * 500))
    async with listening(log) as (listener, slaves), slave_of(listener) as slave:
        slave.report(0)
        frames = await slave.read(lambda got: size_of(got) == 100_000)
        assert b"".join(frame.data for frame in frames) == log.data
        slave.report(100_000)
        await eventually(lambda: slaves.position() == 100_000)

        log.data += b"more"
        listener.wake()
        assert await slave.read(bool) == [Frame(100_000, b"more")]
        (state,) = slaves.states()
        assert (state.acked, state.lag, state.began_at, state.sent_bytes) == (100_000, 4, 0, 100_004)
    await eventually(lambda: not list(slaves.states()))
    assert slaves.position() == 0


async def test_what_a_slave_does_not_read_stays_in_the_log() -> None:
    log = Log(bytearray(32 * SEGMENT))
    async with listening(log) as (listener, slaves), slave_of(listener) as slave:
        slave.reader._transport.pause_reading()  # type: ignore[attr-defined]
        slave.report(1)
        await eventually(lambda: next(slaves.states()).sent_bytes > 0)
        before = -1
        while (sent := next(slaves.states()).sent_bytes) != before:
            before = sent
            await asyncio.sleep(0.05)
        assert sent < 16 * SEGMENT, "more than a socket holds"

        slave.reader._transport.resume_reading()  # type: ignore[attr-defined]
        frames = await slave.read(lambda got: size_of(got) == len(log.data) - 1)
        assert frames[-1].log_offset + len(frames[-1].data) == len(log.data)


async def test_heartbeats_go_on_and_silence_ends_a_connection() -> None:
    settings = replace(ReplicationSettings(), heartbeat_ms=20, silence_ms=200)
    async with listening(Log(bytearray(9)), settings=settings) as (listener, _), slave_of(listener) as slave:
        slave.report(9)
        while listener_has_links := list(listener.links):
            listener.step(0)
            await asyncio.sleep(0.01)
        assert not listener_has_links
        received = await slave.reader.read()
        assert set(FrameReader().feed(received)) == {Frame(9)}


async def test_a_false_report_ends_a_connection_and_counts_for_nothing(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    async with listening(Log(bytearray(9))) as (listener, slaves), slave_of(listener) as slave:
        slave.report(10)
        assert await slave.reader.read() == b""
        assert slaves.position() == 0
        assert not list(listener.links)
    assert caplog.text.count("closed, it reported a log that ends at 10, and this one ends at 9") == 1
    assert caplog.text.count("closed,") == 1


async def test_who_is_not_in_the_networks_is_closed_before_anything_is_read(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    names = iter(["192.0.2.7:40000", "192.0.2.1:10912"])
    monkeypatch.setattr(ha_listener, "socket_name", lambda _: next(names))
    async with listening(Log(bytearray(9)), networks=Networks.parse("10.0.0.0/8")) as (listener, slaves):
        async with slave_of(listener) as slave:
            slave.report(0)
            assert await slave.reader.read() == b""
        assert not list(slaves.states())
    assert "refused, it is not on this machine nor in haSlaveNetworks=10.0.0.0/8" in caplog.text


async def test_whoever_says_nothing_makes_room_for_a_slave_and_few_lines(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    async with AsyncExitStack() as strangers, listening(Log(bytearray(9))) as (listener, slaves):
        for _ in range(MOST_LINKS + 100):
            await strangers.enter_async_context(slave_of(listener))
        await eventually(lambda: len(list(listener.links)) == MOST_LINKS)
        async with slave_of(listener) as slave:
            slave.report(1)
            assert size_of(await slave.read(bool)) == 8
            assert len(list(listener.links)) == MOST_LINKS
            assert [state.acked for state in slaves.states() if state.sent_bytes] == [1]
    assert caplog.text.count(": connected") == 1
    assert caplog.text.count("has not said who it is") < 50


async def test_places_are_limited_and_given_back() -> None:
    sockets = Sockets(4)
    async with listening(Log(bytearray(9)), sockets=sockets) as (listener, _):
        async with slave_of(listener), slave_of(listener):
            await eventually(lambda: len(list(listener.links)) == 2)
            async with slave_of(listener) as refused:
                assert await refused.reader.read() == b""
            assert len(list(listener.links)) == 2
        await eventually(lambda: sockets.open == 0)


async def test_closing_the_port_closes_every_connection() -> None:
    async with listening(Log(bytearray(9))) as (listener, _), slave_of(listener) as slave:
        await eventually(lambda: bool(list(listener.links)))
        await listener.close()
        assert await slave.reader.read() == b""
