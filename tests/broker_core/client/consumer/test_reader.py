"""Reading one queue from misbehaving brokers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator

import pytest

from broker_core.client.config import ClientConfig, PushConfig
from broker_core.client.consumer.offsets import BrokerOffsets
from broker_core.client.consumer.reader import QueueReader
from broker_core.client.consumer.subscriptions import subscription
from broker_core.client.session import Session
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers.pull import PullMessageRequest, PullMessageResponse
from broker_core.remoting.dispatch import Handler
from tests.support.scripted import Cluster, Peer, in_turn, refuse, say_nothing, scripted_cluster, succeed
from tests.support.wait import PATIENCE_SECONDS, eventually

QUEUE = MessageQueue("orders", "broker-a", 0)
CONFIG = PushConfig(pull_error_delay_ms=10, busy_delay_ms=10)


@pytest.fixture
async def cluster() -> AsyncIterator[Cluster]:
    async with scripted_cluster("broker-a") as cluster:
        cluster.add_topic("orders", queues=1)
        yield cluster


@pytest.fixture
async def session(cluster: Cluster) -> AsyncIterator[Session]:
    async with Session(ClientConfig([cluster.name_server.addr])) as session:
        yield session


@pytest.fixture
async def offsets(session: Session) -> BrokerOffsets:
    return BrokerOffsets(session, "billing")


@pytest.fixture
async def reader(session: Session, offsets: BrokerOffsets) -> AsyncIterator[QueueReader]:
    reader = QueueReader(
        session,
        "billing",
        QUEUE,
        5,
        config=CONFIG,
        offsets=offsets,
        subscription=subscription,
        on_arrival=lambda _: None,
    )
    reader.reading = asyncio.create_task(reader.run())
    yield reader
    reader.drop()
    await asyncio.wait([reader.reading])


def answer(code: int, *, next_offset: int) -> Handler:
    header = PullMessageResponse(0, next_offset, 0, 100)
    return succeed(lambda _: Command.response(code, header))


def pulls(peer: Peer) -> list[int]:
    return [request.header(PullMessageRequest).queue_offset for request in peer.asked(RequestCode.PULL_MESSAGE)]


async def test_a_broker_that_holds_no_request_is_not_asked_without_pause(cluster: Cluster, reader: QueueReader) -> None:
    cluster["broker-a"].on(RequestCode.PULL_MESSAGE, answer(ResponseCode.PULL_NOT_FOUND, next_offset=5))

    before, started = len(pulls(cluster["broker-a"])), time.monotonic()
    await eventually(lambda: len(pulls(cluster["broker-a"])) >= before + 3)

    assert time.monotonic() - started >= 2 * CONFIG.pull_idle_delay_ms / 1000


async def test_filtered_messages_are_committed(cluster: Cluster, reader: QueueReader, offsets: BrokerOffsets) -> None:
    matched = answer(ResponseCode.PULL_RETRY_IMMEDIATELY, next_offset=40)
    cluster["broker-a"].on(RequestCode.PULL_MESSAGE, in_turn(matched, say_nothing()))

    await eventually(lambda: offsets.find(QUEUE) == 40)

    await eventually(lambda: pulls(cluster["broker-a"])[-1] == 40)


async def test_an_offset_outside_of_the_queue_is_corrected_and_stored(
    cluster: Cluster, reader: QueueReader, offsets: BrokerOffsets
) -> None:
    moved = answer(ResponseCode.PULL_OFFSET_MOVED, next_offset=2)
    cluster["broker-a"].on(RequestCode.PULL_MESSAGE, in_turn(moved, say_nothing()))

    await eventually(lambda: pulls(cluster["broker-a"])[-1:] == [2])

    assert offsets.find(QUEUE) == 2
    await eventually(lambda: cluster["broker-a"].asked(RequestCode.UPDATE_CONSUMER_OFFSET))


async def test_a_refusal_is_retried(cluster: Cluster, reader: QueueReader) -> None:
    cluster["broker-a"].on(
        RequestCode.PULL_MESSAGE,
        in_turn(refuse(ResponseCode.SYSTEM_ERROR), refuse(ResponseCode.FLOW_CONTROL), say_nothing()),
    )

    await eventually(lambda: pulls(cluster["broker-a"]) == [5, 5, 5])


async def test_what_is_committed_rides_on_the_pull(
    cluster: Cluster, reader: QueueReader, offsets: BrokerOffsets
) -> None:
    offsets.note(QUEUE, 4)
    cluster["broker-a"].on(RequestCode.PULL_MESSAGE, refuse(ResponseCode.SYSTEM_ERROR))

    def last() -> PullMessageRequest:
        return cluster["broker-a"].asked(RequestCode.PULL_MESSAGE)[-1].header(PullMessageRequest)

    await eventually(lambda: cluster["broker-a"].requests and last().commit_offset == 4)

    header = last()
    assert (header.sys_flag, header.subscription) == (3, None)
    assert (header.suspend_timeout_millis, header.max_msg_nums) == (15_000, 32)


async def test_a_dropped_queue_is_left_at_once(cluster: Cluster, reader: QueueReader) -> None:
    cluster["broker-a"].on(RequestCode.PULL_MESSAGE, say_nothing())
    await eventually(lambda: cluster["broker-a"].asked(RequestCode.PULL_MESSAGE))

    reader.drop()

    assert reader.reading is not None
    await asyncio.wait_for(asyncio.wait([reader.reading]), PATIENCE_SECONDS)
