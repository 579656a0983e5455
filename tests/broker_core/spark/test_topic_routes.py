"""Topics that a name server does not know yet, as after its restart, and topics that do not exist."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql.streaming.datasource import ReadAllAvailable

from broker_core.client.admin import Admin
from broker_core.client.blocking import BlockingSession
from broker_core.client.config import ClientConfig
from broker_core.client.errors import ClientError
from broker_core.client.producer import Producer
from broker_core.spark import places, stream, wire
from broker_core.spark.errors import UnknownOption, Unreachable
from broker_core.spark.options import parse_source_options
from broker_core.spark.partitions import WirePartition
from broker_core.spark.reading import plan
from broker_core.spark.replay_plan import make_plan
from broker_core.spark.stream import RocketMQStreamReader
from broker_core.spark.topic_routes import route_of
from tests.support.cluster import SeveralBrokers, create_topic, several_brokers
from tests.support.topics import order
from tests.support.wait import eventually


@pytest.fixture
async def cluster(tmp_path: Path) -> AsyncIterator[SeveralBrokers]:
    """A broker with one message in the topic `orders`."""
    async with several_brokers(tmp_path, names=["broker-a"]) as running:
        async with running.session() as session:
            await create_topic(session, "orders", queues=1)
            await Producer(session).send(order(1))
        yield running


def given(cluster: SeveralBrokers, **more: str) -> dict[str, str]:
    topic = {} if "topicPattern" in more else {"topic": "orders"}
    return {"nameServer": f"127.0.0.1:{cluster.name_server.port}", **topic, **more}


def stream_of(cluster: SeveralBrokers, **more: str) -> RocketMQStreamReader:
    return RocketMQStreamReader(parse_source_options(given(cluster, **more), is_stream=True), ("body",))


async def with_the_broker_back_after_a_failure(
    cluster: SeveralBrokers, monkeypatch: pytest.MonkeyPatch, at: tuple[Any, str], ask: Callable[[], Any]
) -> Any:
    """Return what `ask` returns, with the broker started after `at` has failed."""
    owner, name = at
    real, failures = getattr(owner, name), list[Exception]()

    def watched(*arguments: Any) -> Any:
        try:
            return real(*arguments)
        except Exception as error:
            failures.append(error)
            raise

    monkeypatch.setattr(owner, name, watched)
    asking = asyncio.create_task(asyncio.to_thread(ask))
    await eventually(lambda: failures)
    await cluster.start("broker-a")
    return await asking


async def test_a_topic_that_does_not_exist_is_an_error_at_once(cluster: SeveralBrokers) -> None:
    with pytest.raises(UnknownOption, match="unknown topic 'oders'; did you mean 'orders'"):
        await asyncio.to_thread(plan, parse_source_options(given(cluster) | {"topic": "oders"}))


@pytest.mark.parametrize("more", [{}, {"topicPattern": "ord.*"}])
async def test_a_name_server_without_brokers_is_said_so(cluster: SeveralBrokers, more: dict[str, str]) -> None:
    await cluster.stop("broker-a")
    options = parse_source_options(given(cluster, **more))
    with pytest.raises(Unreachable, match=r"127\.0\.0\.1:\d+: the name server answers, but no broker has registered"):
        await asyncio.to_thread(lambda: plan(places.resolved(options)))


async def test_nor_is_the_target_of_a_replay_taken_for_a_fault_of_the_request(cluster: SeveralBrokers) -> None:
    await cluster.stop("broker-a")
    store = parse_source_options({"store": str(cluster.data / "broker-a"), "topic": "orders"})

    def planned() -> None:
        with BlockingSession(ClientConfig([given(cluster)["nameServer"]])) as session:
            make_plan(store, session, "target")

    with pytest.raises(Unreachable, match="no broker has registered"):
        await asyncio.to_thread(planned)


async def test_a_topic_that_only_its_broker_knows_is_not_suggested_for_itself(cluster: SeveralBrokers) -> None:
    # A broker whose registration is under way: the name server has the broker, and not the topic
    async with cluster.session() as session:
        cluster.name_server.routes.delete_topic("orders")
        with pytest.raises(Unreachable, match="topic 'orders' exists on broker-a, which has not told the name server"):
            await route_of(Admin(session), "orders")


@pytest.mark.parametrize("more", [{}, {"topicPattern": "ord.*"}, {"broker": "broker-a"}, {"queues": "broker-a:0"}])
async def test_a_stream_waits_for_a_broker_that_has_not_registered(
    cluster: SeveralBrokers, monkeypatch: pytest.MonkeyPatch, more: dict[str, str]
) -> None:
    start = await asyncio.to_thread(stream_of(cluster, startingOffsets="earliest", **more).initialOffset)
    await cluster.stop("broker-a")
    # Started again from its checkpoint
    again = stream_of(cluster, **more)
    end = await with_the_broker_back_after_a_failure(
        cluster, monkeypatch, (RocketMQStreamReader, "_latest"), lambda: again.latestOffset(start, ReadAllAvailable())
    )
    assert end["topics"] == {"orders": {"broker-a": {"0": 1}}}


@pytest.mark.parametrize("more", [{}, {"topicPattern": "ord.*"}, {"broker": "broker-a"}, {"queues": "broker-a:0"}])
async def test_a_stream_waits_for_what_it_has_read_while_others_are_there(
    cluster: SeveralBrokers, monkeypatch: pytest.MonkeyPatch, more: dict[str, str]
) -> None:
    start = await asyncio.to_thread(stream_of(cluster, startingOffsets="earliest", **more).initialOffset)
    await cluster.stop("broker-a")
    await cluster.start("broker-b")
    again = stream_of(cluster, **more)
    end = await with_the_broker_back_after_a_failure(
        cluster, monkeypatch, (RocketMQStreamReader, "_latest"), lambda: again.latestOffset(start, ReadAllAvailable())
    )
    assert end["topics"]["orders"]["broker-a"] == {"0": 1}


async def test_a_stream_that_is_started_waits_as_well(cluster: SeveralBrokers, monkeypatch: pytest.MonkeyPatch) -> None:
    await cluster.stop("broker-a")
    running = stream_of(cluster, startingOffsets="earliest")
    start = await with_the_broker_back_after_a_failure(
        cluster, monkeypatch, (RocketMQStreamReader, "_initial"), running.initialOffset
    )
    assert start["topics"] == {"orders": {"broker-a": {"0": 0}}}
    monkeypatch.setattr(stream, "_GIVE_UP_AFTER_S", 0.1)
    await cluster.stop("broker-a")
    with pytest.raises(Unreachable):
        await asyncio.to_thread(stream_of(cluster).prepareForTriggerAvailableNow)


async def test_a_pull_waits_for_a_broker_that_has_not_registered(
    cluster: SeveralBrokers, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = parse_source_options(given(cluster))
    (part,) = await asyncio.to_thread(plan, options)
    assert isinstance(part, WirePartition)
    await cluster.stop("broker-a")
    # A worker that does not know the broker yet
    await asyncio.to_thread(wire.close_sessions)
    real, failures = wire._Puller._pull_once, list[Exception]()

    async def watched(*arguments: Any) -> Any:
        try:
            return await real(*arguments)
        except ClientError as error:
            failures.append(error)
            raise

    monkeypatch.setattr(wire._Puller, "_pull_once", watched)
    reading = asyncio.create_task(asyncio.to_thread(lambda: list(wire.read_wire_blocks(part, options))))
    await eventually(lambda: failures)
    await cluster.start("broker-a")
    assert sum(len(block.queue_offsets) for block in await reading) == 1
