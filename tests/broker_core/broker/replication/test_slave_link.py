"""A slave follows a master over sockets: all of its history, after breaks too, and never against its own log."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from broker_core.broker.registration import MasterPlace
from broker_core.broker.replication import slave_link
from broker_core.broker.role import Role
from broker_core.protocol.codes import ResponseCode
from broker_core.protocol.record import decode_many
from broker_core.store import MessageStore
from tests.broker_core.broker.replication.streaming import Stream, streaming
from tests.support.broker import Wire, small_store, started
from tests.support.stores import opened, put
from tests.support.wait import eventually

SEGMENT = 64 * 1024


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slave_link, "PAUSES_S", (0.05,))


@asynccontextmanager
async def both(tmp_path: Path, *, segment: int = SEGMENT, **settings: str) -> AsyncIterator[tuple[Wire, Stream, Wire]]:
    """Start a master with a replication port, and a slave that has not heard of it."""
    sizes: Any = {"commit_log_file_size": SEGMENT}
    async with (
        started(tmp_path / "master", store=small_store(tmp_path / "master", **sizes)) as master,
        streaming(master.broker.store) as stream,
        started(
            tmp_path / "slave",
            store=small_store(tmp_path / "slave", commit_log_file_size=segment),
            broker_id=1,
            settings=settings,
        ) as slave,
    ):
        yield master, stream, slave


def follow(slave: Wire, master: Wire, stream: Stream) -> None:
    slave.broker.components.mode.master_told(MasterPlace(master.address, f"127.0.0.1:{stream.port}"))


def log_of(store: MessageStore) -> bytes:
    parts: list[bytes] = []
    at: int = store.begin_log_offset
    while part := bytes(store.read_log(at, 1 << 20)):
        parts.append(part)
        at += len(part)
    return b"".join(parts)


async def equal(slave: Wire, master: Wire) -> None:
    end = master.broker.store.appended_log_offset
    await eventually(lambda: slave.broker.store.appended_log_offset == end)
    assert log_of(slave.broker.store) == log_of(master.broker.store)
    for topic, queue_id in master.broker.store.queues():
        if master.broker.store.max_offset(topic, queue_id):
            want = master.broker.store.max_offset(topic, queue_id)
            await eventually(lambda at=(topic, queue_id), want=want: slave.broker.store.max_offset(*at) == want)


async def test_an_empty_slave_gets_the_whole_history_of_an_old_master(tmp_path: Path) -> None:
    async with both(tmp_path) as (master, stream, slave):
        await master.fill("orders", *(b"%d" % number * 900 for number in range(200)), queues=3)
        assert master.broker.store.appended_log_offset > 2 * SEGMENT
        follow(slave, master, stream)
        await equal(slave, master)
        await master.fill("orders", b"later")
        await equal(slave, master)
        assert stream.connections == 1
        await eventually(lambda: stream.reports[-1] == master.broker.store.appended_log_offset)


async def test_an_empty_slave_goes_on_with_queues_whose_messages_have_left_the_masters_log(tmp_path: Path) -> None:
    async with both(tmp_path) as (master, stream, slave):
        await master.fill("idle", *(b"old",) * 5, queues=3)
        await master.fill("orders", *(b"x" * 1_000,) * 200)
        store, copy = master.broker.store, slave.broker.store
        store.reconfigure(replace(store.config, max_log_bytes=1))
        assert store.drop_expired(1).segments > 0
        follow(slave, master, stream)
        await equal(slave, master)
        idle = [(store.min_offset("idle", each), store.max_offset("idle", each)) for each in range(3)]
        assert sum(end for _, end in idle) == 5
        assert [(copy.min_offset("idle", each), copy.max_offset("idle", each)) for each in range(3)] == idle
        await master.fill("idle", *(b"new",) * 3, queues=3)
        await equal(slave, master)
        assert [copy.max_offset("idle", each) for each in range(3)] == [end + 1 for _, end in idle]


async def test_a_slave_goes_on_where_it_was_after_a_break(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        async with both(tmp_path) as (master, stream, slave):
            follow(slave, master, stream)
            await master.fill("orders", *(b"first",) * 20)
            await equal(slave, master)
            for _ in range(3):
                stream.cut()
                await master.fill("orders", *(b"more",) * 20)
                await equal(slave, master)
    assert stream.connections == 4
    assert "not followed" in caplog.text


async def test_an_arrival_wakes_a_long_poll_on_the_slave(tmp_path: Path) -> None:
    async with both(tmp_path) as (master, stream, slave):
        follow(slave, master, stream)
        await master.fill("orders", b"one")
        await equal(slave, master)
        slave.broker.components.topics.put(master.broker.components.topics.get("orders"), now=1)
        waits = asyncio.create_task(slave.try_pull("orders", 1, wait_ms=60_000))

        async def is_parked() -> bool:
            return await slave.parked_pulls() == 1

        await eventually(is_parked)
        await master.fill("orders", b"two")
        answer = await waits
        assert answer.code == ResponseCode.SUCCESS
        assert [each.body for each in decode_many(answer.body)] == [b"two"]


async def test_what_is_reported_is_on_the_disk_under_synchronous_flush(tmp_path: Path) -> None:
    async with both(tmp_path, flushDiskType="SYNC_FLUSH") as (master, stream, slave):
        follow(slave, master, stream)
        await master.fill("orders", *(b"one",) * 50)
        end = master.broker.store.appended_log_offset
        await eventually(lambda: stream.reports and stream.reports[-1] == end)
        assert slave.broker.store.flushed_log_offset == end


async def test_logs_with_other_segments_are_not_mixed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with both(tmp_path, segment=2 * SEGMENT) as (master, stream, slave):
        await master.fill("orders", b"one")
        follow(slave, master, stream)
        await eventually(lambda: "mappedFileSizeCommitLog is 131072 here and 65536 at the master" in caplog.text)
        assert (stream.connections, slave.broker.store.appended_log_offset) == (0, 0)


async def test_a_log_that_is_ahead_stays_as_it_is_whatever_the_master_appends(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with both(tmp_path) as (master, stream, slave):
        await master.fill("orders", *(b"one",) * 5)
        follow(slave, master, stream)
        await equal(slave, master)
        slave.broker.components.roles.become(Role.of_id(0))
        slave.broker.store.take_over()
        slave.broker.components.topics.put(master.broker.components.topics.get("orders"), now=1)
        await slave.fill("orders", b"of its own")
        own = slave.broker.store.appended_log_offset
        slave.broker.components.roles.become(Role.of_id(1))
        await eventually(lambda: f"this log ends at {own} and the master's at" in caplog.text)
        connections = stream.connections
        await master.fill("orders", *(b"more",) * 20)
        await asyncio.sleep(0.3)
        assert (stream.connections, slave.broker.store.appended_log_offset) == (connections, own)


@pytest.mark.parametrize("shared", [0, 1])
async def test_another_log_that_is_not_longer_is_not_gone_on_from(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, shared: int
) -> None:
    async with both(tmp_path) as (master, stream, slave):
        await master.fill("orders", *(b"same",) * shared)
        copy, log = slave.broker.store, log_of(master.broker.store)
        with opened(tmp_path / "other", commit_log_file_size=SEGMENT) as other:
            if log:
                other.append_raw(0, log)
                other.take_over()
            put(other, b"one")
            copy.append_raw(0, log_of(other))
        copy.dispatch()
        await master.fill("orders", *(b"another one",) * 5)
        own = copy.appended_log_offset
        assert own < master.broker.store.appended_log_offset
        follow(slave, master, stream)
        await eventually(lambda: f"the record at {len(log)} is another one here than at the master" in caplog.text)
        await asyncio.sleep(0.3)
        assert (stream.connections, copy.appended_log_offset) == (0, own)


async def test_a_silent_master_is_left(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with both(tmp_path, haHousekeepingInterval="300") as (master, stream, slave):
        stream.is_silent = True
        follow(slave, master, stream)
        await eventually(lambda: stream.connections >= 2)
        assert "nothing came from the master for 300 ms" in caplog.text


async def test_another_master_and_another_role_close_the_connection(tmp_path: Path) -> None:
    async with both(tmp_path) as (master, stream, slave), streaming(master.broker.store) as other:
        follow(slave, master, stream)
        await eventually(lambda: len(stream.writers) == 1)
        follow(slave, master, other)
        await eventually(lambda: (len(stream.writers), len(other.writers)) == (0, 1))
        slave.broker.components.roles.become(Role.of_id(0))
        await eventually(lambda: len(other.writers) == 0)
