"""A whole broker as SYNC_MASTER: its sends are answered by what a slave says over a socket."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from broker_core.broker.modes.master import StaticMaster
from broker_core.broker.replication.slaves import Slaves
from broker_core.protocol.batch import encode_batch
from broker_core.protocol.codes import ResponseCode
from broker_core.protocol.ha_plain import FrameReader, encode_report
from broker_core.protocol.message import Message
from tests.support.broker import Wire, small_store, started
from tests.support.ports import free_ports
from tests.support.wait import eventually

SETTINGS = {"brokerRole": "SYNC_MASTER", "slaveTimeout": "300"}


class Slave:
    """A slave that acknowledges what it reads, unless it is stalled."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.is_stalled = False
        self.log = bytearray()
        self._reader, self._writer = reader, writer

    async def run(self) -> None:
        self._writer.write(encode_report(0))
        frames = FrameReader()
        while data := await self._reader.read(65_536):
            for frame in frames.feed(data):
                self.log += frame.data
            if not self.is_stalled:
                self.report()

    def report(self) -> None:
        self._writer.write(encode_report(len(self.log)))


@asynccontextmanager
async def slave_of(port: int) -> AsyncIterator[Slave]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port + 1)
    slave = Slave(reader, writer)
    running = asyncio.create_task(slave.run())
    try:
        yield slave
    finally:
        running.cancel()
        writer.close()


@asynccontextmanager
async def sync_master(folder: Path, *, flush: str = "async") -> AsyncIterator[tuple[Wire, int]]:
    port = free_ports(2)
    async with started(folder, store=small_store(folder, flush=flush), port=port, settings=SETTINGS) as wire:
        await wire.create_topic("orders")
        yield wire, port


def slaves_of(wire: Wire) -> Slaves:
    mode = wire.broker.components.mode
    assert isinstance(mode, StaticMaster)
    return mode.slaves


async def near(wire: Wire) -> None:
    """Wait until a slave has reported."""
    await eventually(lambda: any(each.acked is not None for each in slaves_of(wire).states()))


async def test_without_a_slave_a_send_is_stored_and_told_so_at_once(tmp_path: Path) -> None:
    async with sync_master(tmp_path) as (wire, _):
        answer = await wire.try_send("orders", b"x")
        unknown_topic = await wire.try_send("new", b"x")
        batch = await wire.try_send("orders", encode_batch([Message.create("orders", b"y")]), batch=True)

        assert {each.code for each in (answer, unknown_topic, batch)} == {ResponseCode.SLAVE_NOT_AVAILABLE}
        assert answer.remark == "stored, but no slave is near enough to be waited for"
        assert (await wire.pull("orders", 0))[0].body == b"x"
        assert (await wire.try_send("orders", b"x", properties={"WAIT": "false"})).code == ResponseCode.SUCCESS


async def test_with_a_slave_a_send_is_answered_when_the_slave_has_it(tmp_path: Path) -> None:
    async with sync_master(tmp_path, flush="sync") as (wire, port), slave_of(port) as slave:
        await near(wire)
        answers = await asyncio.gather(*(wire.try_send("orders", b"%d" % number) for number in range(200)))
        assert {each.code for each in answers} == {ResponseCode.SUCCESS}
        end = wire.broker.store.appended_log_offset
        assert len(slave.log) == end
        assert bytes(slave.log) == bytes(wire.broker.store.read_log(0, end))


async def test_a_stalled_slave_makes_sends_late_and_its_return_makes_them_good(tmp_path: Path) -> None:
    async with sync_master(tmp_path) as (wire, port), slave_of(port) as slave:
        await near(wire)
        slave.is_stalled = True
        late = await wire.try_send("orders", b"x")
        assert (late.code, late.remark) == (
            ResponseCode.FLUSH_SLAVE_TIMEOUT,
            "stored, but not known to be on a slave",
        )
        assert (await wire.try_send("orders", b"x", properties={"WAIT": "false"})).code == ResponseCode.SUCCESS
        slave.is_stalled = False
        slave.report()
        assert (await wire.try_send("orders", b"x")).code == ResponseCode.SUCCESS


async def test_what_a_slave_that_has_gone_had_said_counts_no_more(tmp_path: Path) -> None:
    async with sync_master(tmp_path) as (wire, port):
        async with slave_of(port):
            await near(wire)
            assert (await wire.try_send("orders", b"x")).code == ResponseCode.SUCCESS
        await eventually(lambda: not list(slaves_of(wire).states()))
        assert (await wire.try_send("orders", b"x")).code == ResponseCode.SLAVE_NOT_AVAILABLE


async def test_a_broker_that_stops_answers_the_sends_that_wait(tmp_path: Path) -> None:
    async with sync_master(tmp_path) as (wire, port), slave_of(port) as slave:
        await near(wire)
        wire.broker.components.settings.update({"slaveTimeout": "60000"}, now=0)
        slave.is_stalled = True
        sending = asyncio.create_task(wire.try_send("orders", b"x"))
        await eventually(
            lambda: wire.broker.components.waits.room < wire.broker.components.config.limits.unflushed_waiters
        )
        await wire.broker.close()
        assert (await sending).code == ResponseCode.FLUSH_SLAVE_TIMEOUT
