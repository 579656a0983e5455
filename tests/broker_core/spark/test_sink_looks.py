"""A sink whose sends are not confirmed: replicas that hang, a master that changes, and what is in the topic then."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pytest

from broker_core.client.admin.settled import Mastership, Settled
from broker_core.client.blocking import BlockingSession
from broker_core.client.config import ClientConfig
from broker_core.protocol.bodies import coder
from broker_core.protocol.bodies.routes import KVTable
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers.send import SendMessageResponse
from broker_core.protocol.topics import SCHEDULE_TOPIC
from broker_core.spark import outcomes
from broker_core.spark.errors import NotSent
from broker_core.spark.sink_batches import BatchSender, Counts, Origin
from broker_core.spark.sink_options import QueueSelector, SinkOptions
from broker_core.spark.sink_rows import RowReader
from tests.broker_core.broker.replication.switching import slave_of, stop, unconfirmed
from tests.broker_core.client.admin.test_settled import SOON
from tests.support.replays import read_topic
from tests.support.replica_group import ReplicaGroup, replica_group
from tests.support.scripted import Cluster, hang_up, refuse, scripted_cluster, succeed
from tests.support.wait import eventually

ROWS = [str(number) for number in range(100)]
SEND = RequestCode.SEND_MESSAGE_V2
FIRST = Origin("r1", "", 0)


@dataclass
class Writing:
    """Writes rows from threads, as tasks do."""

    name_server: str
    looks: list[str] = field(default_factory=list)
    """One for each time that masters were waited for, in vain or not."""

    async def send(
        self, rows: list[str], *, topic: str = "T", origin: Origin | None = None, delay_level: int | None = None
    ) -> Counts:
        """Write rows in batches of ten."""
        return await asyncio.to_thread(self._send, rows, topic, origin, delay_level)

    def _send(self, rows: list[str], topic: str, origin: Origin | None, delay_level: int | None) -> Counts:
        options = SinkOptions(name_servers=(self.name_server,), topic=topic, messages_per_second=100_000)
        with BlockingSession(ClientConfig((self.name_server,))) as session:
            sender = BatchSender(session, options, QueueSelector.ROUND_ROBIN, task=0, origin=origin)
            columns: dict[str, object] = {"body": rows}
            if delay_level is not None:
                columns["delay_level"] = [delay_level] * len(rows)
            limits = lambda: session.run(session.admin.timers.limits())  # noqa: E731
            for number, row in enumerate(RowReader(options, 0, limits).rows(pa.RecordBatch.from_pydict(columns)), 1):
                sender.put(row)
                if number % 10 == 0:
                    sender.finish()
            return sender.finish()

    async def stored(self, topic: str = "T") -> list[str]:
        """Return the bodies of a topic, in order."""
        return await asyncio.to_thread(self._stored, topic)

    def _stored(self, topic: str) -> list[str]:
        with BlockingSession(ClientConfig((self.name_server,))) as session:
            return [message.body.decode() for found in read_topic(session, topic).values() for message in found]

    async def looked(self, times: int) -> None:
        """Return when it was asked so often what became of a send."""
        await eventually(lambda: len(self.looks) >= times)


@contextmanager
def counted() -> Iterator[list[str]]:
    """Count how often masters are waited for, in vain or not."""
    whole, looks = Settled.masters, list[str]()

    async def masters(settled: Settled, topic: str, **options: Any) -> frozenset[Mastership]:
        try:
            return await whole(settled, topic, **options)
        finally:
            looks.append(topic)

    with patch.object(Settled, "masters", masters):
        yield looks


@pytest.fixture
async def group(tmp_path: Path) -> AsyncIterator[ReplicaGroup]:
    """Two replicas, whose master says after 50 ms that it waits for the other one."""
    async with replica_group(tmp_path, more={"replication": SOON}) as running:
        yield running


@pytest.fixture
def writing(group: ReplicaGroup) -> Iterator[Writing]:
    """A sink whose questions are counted."""
    with counted() as looks:
        yield Writing(group.name_server, looks)


async def appended(group: ReplicaGroup) -> int:
    """Return the end of the master's log, with what nobody is shown yet."""
    return (await group.master()).store.appended_log_offset


@pytest.mark.parametrize("origin", [None, FIRST], ids=["at least once", "with an id"])
async def test_what_replicas_that_hang_do_not_confirm_is_sent_once(
    group: ReplicaGroup, writing: Writing, origin: Origin | None
) -> None:
    master = await group.master()
    with unconfirmed(master):
        sending = asyncio.create_task(writing.send(ROWS, origin=origin))
        # With an id it looks once before it sends.
        await eventually(lambda: master.store.appended_log_offset > 0)
        first_batch = await appended(group)
        await writing.looked(len(writing.looks) + 2)
        assert await appended(group) == first_batch

    counts = await sending

    assert (counts.sent, counts.known) == (len(ROWS), 0)
    assert await writing.stored() == ROWS


async def test_what_another_master_shows_is_not_sent_again(group: ReplicaGroup, writing: Writing) -> None:
    master = await group.master()
    with unconfirmed(master):
        sending = asyncio.create_task(writing.send(ROWS))
        await writing.looked(1)
        slave = slave_of(group, master)
        await eventually(lambda: slave.store.appended_log_offset == master.store.appended_log_offset)
        await stop(group, master)

    assert (await sending).sent == len(ROWS)
    assert await writing.stored() == ROWS


async def test_when_nobody_can_say_the_task_fails_and_the_next_attempt_stores_nothing_twice(
    group: ReplicaGroup, writing: Writing
) -> None:
    with unconfirmed(await group.master()):
        with patch.object(outcomes, "PATIENCE_S", 0.5), pytest.raises(NotSent, match="not known whether 10 messages"):
            await writing.send(ROWS, origin=FIRST)
        first_batch = await appended(group)
        again = asyncio.create_task(writing.send(ROWS, origin=FIRST))
        await writing.looked(len(writing.looks) + 1)
        assert await appended(group) == first_batch

    counts = await again

    assert (counts.sent, counts.known) == (len(ROWS) - 10, 10)
    assert await writing.stored() == ROWS


async def test_a_message_that_waits_for_its_time_is_found_too(group: ReplicaGroup, writing: Writing) -> None:
    with unconfirmed(await group.master()):
        sending = asyncio.create_task(writing.send(["later"], delay_level=10))
        await writing.looked(1)

    assert (await sending).sent == 1
    assert (await group.master()).store.max_offset(SCHEDULE_TOPIC, 9) == 1


# Brokers as a test says


def figures(**more: str) -> Command:
    table = {"bootTimestamp": "1", "commitLogMaxOffset": "100", "dispatchBehindBytes": "0", **more}
    return Command.response(ResponseCode.SUCCESS, body=coder.encode(KVTable(table)))


def serve(cluster: Cluster, name: str) -> None:
    """Have a master show all that it has, which is nothing of ours."""
    cluster[name].on(RequestCode.GET_BROKER_RUNTIME_INFO, succeed(lambda _: figures()))
    cluster[name].on(RequestCode.QUERY_MESSAGE, refuse(ResponseCode.QUERY_NOT_FOUND))
    cluster[name].on(SEND, succeed(lambda _: Command.response(0, header=SendMessageResponse("00", 0, 0))))


async def test_what_a_master_took_along_is_sent_to_the_next_one_once() -> None:
    async with scripted_cluster("first", "second") as cluster:
        cluster.list_as("b", "first", "second")
        cluster.add_topic("T", queues=1)
        for name in ("first", "second"):
            serve(cluster, name)
        cluster["first"].on(SEND, hang_up())
        cluster["first"].on(RequestCode.GET_BROKER_RUNTIME_INFO, succeed(lambda _: figures(dispatchBehindBytes="9")))
        sending = asyncio.create_task(Writing(cluster.name_server.addr).send(["x"]))
        await eventually(lambda: len(cluster["first"].asked(RequestCode.GET_BROKER_RUNTIME_INFO)) > 2)
        assert not cluster["second"].asked(SEND)
        cluster.list_as("b", "second")
        cluster.add_topic("T", queues=1)

        assert (await sending).sent == 1
        assert [len(cluster[name].asked(SEND)) for name in ("first", "second")] == [1, 1]


async def test_a_master_that_takes_no_messages_does_not_say_that_one_is_not_there() -> None:
    async with scripted_cluster("first") as cluster:
        cluster.add_topic("T", queues=1)
        serve(cluster, "first")
        cluster["first"].on(SEND, hang_up())
        refusal = figures(sendRefusal="this replica is not the master")
        cluster["first"].on(RequestCode.GET_BROKER_RUNTIME_INFO, succeed(lambda _: refusal))

        with patch.object(outcomes, "PATIENCE_S", 0.1), pytest.raises(NotSent, match="is not the master"):
            await Writing(cluster.name_server.addr).send(["x"])
        assert len(cluster["first"].asked(SEND)) == 1
