"""Where the offsets of a group are stored."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from broker_core.client.config import ClientConfig
from broker_core.client.consumer.offsets import BrokerOffsets, FileOffsets
from broker_core.client.errors import BrokerRefused, OffsetsDamaged, Unreachable
from broker_core.client.session import Session
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers.offsets import QueryConsumerOffsetResponse, UpdateConsumerOffsetRequest
from broker_core.remoting.connection import Connection
from tests.support.scripted import Cluster, refuse, say_nothing, scripted_cluster, succeed
from tests.support.wait import eventually

FIRST, SECOND = MessageQueue("orders", "broker-a", 0), MessageQueue("orders", "broker-a", 1)


@pytest.fixture
async def cluster() -> AsyncIterator[Cluster]:
    async with scripted_cluster("broker-a") as cluster:
        cluster.add_topic("orders")
        cluster["broker-a"].on(RequestCode.UPDATE_CONSUMER_OFFSET, succeed())
        cluster["broker-a"].on(RequestCode.QUERY_CONSUMER_OFFSET, refuse(ResponseCode.QUERY_NOT_FOUND))
        yield cluster


@pytest.fixture
async def offsets(cluster: Cluster) -> AsyncIterator[BrokerOffsets]:
    async with Session(ClientConfig([cluster.name_server.addr])) as session:
        yield BrokerOffsets(session, "billing")


def stored(cluster: Cluster) -> list[tuple[int, int]]:
    """Return the queue ids and offsets that the broker received."""
    headers = [
        request.header(UpdateConsumerOffsetRequest)
        for request in cluster["broker-a"].asked(RequestCode.UPDATE_CONSUMER_OFFSET)
    ]
    return [(header.queue_id, header.commit_offset) for header in headers]


async def test_the_broker_is_asked_for_what_it_stored(cluster: Cluster, offsets: BrokerOffsets) -> None:
    answer = QueryConsumerOffsetResponse(7)
    broker = cluster["broker-a"]

    broker.on(RequestCode.QUERY_CONSUMER_OFFSET, succeed(lambda _: Command.response(ResponseCode.SUCCESS, answer)))
    assert await offsets.stored(FIRST) == 7
    broker.on(RequestCode.QUERY_CONSUMER_OFFSET, refuse(ResponseCode.QUERY_NOT_FOUND))
    assert await offsets.stored(FIRST) is None
    broker.on(RequestCode.QUERY_CONSUMER_OFFSET, refuse(ResponseCode.SYSTEM_ERROR))
    with pytest.raises(BrokerRefused):
        await offsets.stored(FIRST)
    await broker.stop()
    with pytest.raises(Unreachable):
        await offsets.stored(FIRST)


def test_a_smaller_offset_is_taken_only_if_said_so(tmp_path: Path) -> None:
    offsets = FileOffsets(tmp_path / "offsets.json")
    offsets.note(FIRST, 5)

    offsets.note(FIRST, 3)
    assert offsets.find(FIRST) == 5

    offsets.note(FIRST, 3, may_go_back=True)
    assert offsets.find(FIRST) == 3


async def test_recorded_offsets_are_sent_to_the_broker(cluster: Cluster, offsets: BrokerOffsets) -> None:
    offsets.note(FIRST, 5)

    await offsets.persist([FIRST, SECOND])

    assert stored(cluster) == [(0, 5)]


async def test_the_offset_of_a_queue_given_up_is_sent_a_last_time(cluster: Cluster, offsets: BrokerOffsets) -> None:
    offsets.note(FIRST, 5)

    await offsets.give_up([FIRST])
    await offsets.persist([FIRST])

    assert stored(cluster) == [(0, 5)]
    assert offsets.find(FIRST) is None


async def test_a_store_waits_for_the_answer_to_the_one_before_it(cluster: Cluster, offsets: BrokerOffsets) -> None:
    """Ours waits for each answer before it sends the next store (broker_core/client/README.md)."""
    may_answer = asyncio.Event()

    async def later(_request: Command, _: Connection) -> Command:
        await may_answer.wait()
        return Command.response(ResponseCode.SUCCESS)

    cluster["broker-a"].on(RequestCode.UPDATE_CONSUMER_OFFSET, later)
    # Given a store that is not answered yet when nobody waits for it any more
    offsets.note(FIRST, 0)
    first = asyncio.create_task(offsets.persist([FIRST]))
    await eventually(lambda: stored(cluster) == [(0, 0)])
    first.cancel()
    # When the queue is given up
    offsets.note(FIRST, 5)
    last = asyncio.create_task(offsets.give_up([FIRST]))
    # Then its last offset stays here, although the broker answers other requests
    assert await offsets.stored(SECOND) is None
    assert stored(cluster) == [(0, 0)]
    # Until the first store is answered
    may_answer.set()
    await last
    assert stored(cluster) == [(0, 0), (0, 5)]


async def test_one_queue_of_a_topic_is_stored_before_the_others(cluster: Cluster, offsets: BrokerOffsets) -> None:
    """Ours stores one queue of a topic and broker alone before the others (broker_core/client/README.md)."""
    cluster.add_topic("refunds", on=("broker-a",))
    may_answer = asyncio.Event()

    async def later(_request: Command, _: Connection) -> Command:
        await may_answer.wait()
        return Command.response(ResponseCode.SUCCESS)

    cluster["broker-a"].on(RequestCode.UPDATE_CONSUMER_OFFSET, later)
    queues = [MessageQueue(topic, "broker-a", number) for topic in ("orders", "refunds") for number in range(4)]
    # Given offsets of two topics, but none of one queue
    for queue in queues[:-1]:
        offsets.note(queue, 5)
    # When they are stored, then one of each topic is sent first
    storing = asyncio.create_task(offsets.persist(queues))
    await eventually(lambda: len(stored(cluster)) == 2)
    assert await offsets.stored(FIRST) is None
    assert len(stored(cluster)) == 2
    # And all others together when these are answered
    may_answer.set()
    await storing
    assert sorted(stored(cluster)) == sorted((queue.queue_id, 5) for queue in queues[:-1])


async def test_a_broker_that_does_not_answer_holds_up_no_other() -> None:
    async with (
        scripted_cluster("broker-a", "broker-b") as cluster,
        Session(ClientConfig([cluster.name_server.addr])) as session,
    ):
        cluster.add_topic("orders")
        cluster["broker-a"].on(RequestCode.UPDATE_CONSUMER_OFFSET, say_nothing())
        cluster["broker-b"].on(RequestCode.UPDATE_CONSUMER_OFFSET, succeed())
        offsets = BrokerOffsets(session, "billing")
        queues = [FIRST, MessageQueue("orders", "broker-b", 0)]
        for queue in queues:
            offsets.note(queue, 5)
        first = asyncio.create_task(offsets.persist(queues))
        await eventually(lambda: stored(cluster) == [(0, 5)])
        # When the next store begins while the first is not answered, then only the other broker gets it
        second = asyncio.create_task(offsets.persist(queues))
        await eventually(lambda: len(cluster["broker-b"].asked(RequestCode.UPDATE_CONSUMER_OFFSET)) == 2)
        first.cancel()
        second.cancel()
        assert stored(cluster) == [(0, 5)]


async def test_an_offset_that_the_broker_refuses_is_logged_and_sent_again(
    cluster: Cluster, offsets: BrokerOffsets, caplog: pytest.LogCaptureFixture
) -> None:
    cluster["broker-a"].on(RequestCode.UPDATE_CONSUMER_OFFSET, refuse(ResponseCode.SYSTEM_ERROR, "not now"))
    offsets.note(FIRST, 5)

    await offsets.persist([FIRST])
    await offsets.persist([FIRST])

    assert "offset 5 not stored" in caplog.text
    assert "not now" in caplog.text
    assert stored(cluster) == [(0, 5), (0, 5)]


async def test_an_unreachable_broker_gets_the_offset_next_time(cluster: Cluster, offsets: BrokerOffsets) -> None:
    await cluster["broker-a"].stop()
    offsets.note(FIRST, 5)

    await offsets.persist([FIRST])

    assert offsets.find(FIRST) == 5


async def test_a_file_keeps_offsets_for_the_next_start(tmp_path: Path) -> None:
    path = tmp_path / "of" / "billing.json"
    offsets = FileOffsets(path)
    offsets.note(FIRST, 5)
    offsets.note(SECOND, 6)

    await offsets.persist([FIRST, SECOND])

    again = FileOffsets(path)
    assert (await again.stored(FIRST), await again.stored(SECOND)) == (5, 6)
    assert [each.name for each in path.parent.iterdir()] == ["billing.json"]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"orders": 1}', '{"orders@a@0": "x"}', '{"orders@a@0": null}'])
def test_a_damaged_file_is_not_taken_for_an_empty_one(tmp_path: Path, text: str) -> None:
    path = tmp_path / "offsets.json"
    path.write_text(text)

    with pytest.raises(OffsetsDamaged, match=r"offsets\.json"):
        FileOffsets(path)
