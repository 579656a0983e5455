"""Requirements of `console.lag.sampler`, `reading` and `current`: a real broker, sampled step by step."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import pytest
import redis
import redis.asyncio
from asgiref.sync import sync_to_async
from django.db import OperationalError
from msgspec.structs import asdict

from broker_core.client.consumer.pop import LeaseConsumer
from broker_core.client.errors import GroupNotFound
from broker_core.client.producer import Producer
from broker_core.clock import now_ms
from broker_core.protocol.message import Message
from console import live
from console.clusters import connections as cluster_connections
from console.clusters.connections import ClusterAddress, Connections
from console.clusters.memory import remembered
from console.clusters.models import Cluster
from console.clusters.services import MAX_CLUSTERS, ensure_embedded
from console.lag import current, history, rounds
from console.lag import sampler as sampler_module
from console.lag.broker_watch import Shown
from console.lag.sampler import BEAT_KEY, LEADER_KEY, ClusterSampler, Sampler
from console.lag.shown import KEEP_MS, ShownNames
from console.moments import rfc3339
from tests.console.lag.figures import InProcess
from tests.support.cluster import RunningBroker, create_topic, started_broker
from tests.support.wait import eventually


@dataclass
class Sampled:
    """A cluster that the test samples step by step, under an unused name."""

    name: str
    connections: Connections
    store: redis.asyncio.Redis
    sampler: ClusterSampler
    memory: InProcess

    async def step(self, now: int | None = None) -> None:
        await self.sampler.step(now or time.time_ns() // 1_000_000)

    async def last(self, subject: str) -> Any:
        event = await live.last_state(subject, store=self.store)
        return None if event is None else event["data"]

    async def produce(self, topic: str, count: int) -> None:
        producer = Producer(await self.connections.session(self.name))
        await producer.start()
        for number in range(count):
            await producer.send(Message(topic, str(number).encode()))
        await producer.close()


@asynccontextmanager
async def sampled(name_server: str, redis_url: str) -> AsyncIterator[Sampled]:
    name = f"c{uuid4().hex[:8]}"

    async def find(_: str) -> ClusterAddress | None:
        return ClusterAddress(name, (name_server,))

    connections = Connections(find)
    async with redis.asyncio.Redis.from_url(redis_url) as store:
        memory = InProcess()
        sampler = ClusterSampler(name, connections, store, memory)
        try:
            yield Sampled(name, connections, store, sampler, memory)
        finally:
            await sampler.close()
            await connections.close()


@pytest.fixture
async def cluster(shared_broker: RunningBroker, redis_of_test: str) -> AsyncIterator[Sampled]:
    """The broker of all tests, sampled."""
    async with sampled(shared_broker.name_server, redis_of_test) as found:
        yield found


async def test_lag_and_rates_follow_what_is_stored_and_consumed(cluster: Sampled) -> None:
    # Given a group that took three of ten messages
    topic, group = f"orders-{cluster.name}", f"billing-{cluster.name}"
    session = await cluster.connections.session(cluster.name)
    await create_topic(session, topic, queues=1)
    await cluster.produce(topic, 10)
    consumer = LeaseConsumer(session, group)
    received = await consumer.receive(topic, max_messages=3, wait_ms=5_000, lease_ms=60_000)
    for message in received.messages:
        await consumer.ack(message.receipt)
    # When it is sampled
    await cluster.step()
    # Then group, groups, topics and overview show the same
    detail = await cluster.last(live.group(cluster.name, group))
    assert (detail["lag"], detail["topics"], detail["state"]) == (7, [topic], "stalled")
    assert detail["time_lag_ms"] > 0
    line = next(each for each in (await cluster.last(live.groups(cluster.name)))["items"] if each["name"] == group)
    assert line.items() <= detail.items()
    figures = {each["name"]: each for each in (await cluster.last(live.topics(cluster.name)))["items"]}
    assert (figures[topic]["messages"], figures[topic]["max_lag"], figures[topic]["groups"]) == (10, 7, 1)
    overview = await cluster.last(live.overview(cluster.name))
    assert overview["total_lag"] >= 7
    assert overview["brokers"][0]["reachable"]
    # And after more is stored, the rate
    await cluster.produce(topic, 4)
    await cluster.step()
    assert (await cluster.last(live.group(cluster.name, group)))["in_rate"] > 0
    assert (await cluster.last(live.group(cluster.name, group)))["out_rate"] is None, "nobody watched for long enough"


async def test_a_broker_that_died_makes_figures_unknown_and_comes_back(tmp_path: Any, redis_of_test: str) -> None:
    with started_broker(tmp_path) as broker:
        async with sampled(broker.name_server, redis_of_test) as cluster:
            session = await cluster.connections.session(cluster.name)
            await create_topic(session, "orders", queues=1)
            await LeaseConsumer(session, "billing").receive("orders", max_messages=1, wait_ms=0, lease_ms=1_000)
            begin = time.time_ns() // 1_000_000 - 60_000
            await cluster.step(begin)
            assert (await cluster.last(live.overview(cluster.name)))["total_lag"] == 0
            # When name server and broker have stopped
            await asyncio.to_thread(broker.stop, kill=True)
            await cluster.step(begin + 30_000)
            # Then the figures are unknown, with a reason, and not zero
            overview = await cluster.last(live.overview(cluster.name))
            assert (overview["total_lag"], overview["in_rate"], overview["brokers_answering"]) == (None, None, 0)
            groups = (await cluster.last(live.groups(cluster.name)))["items"]
            assert all((group["lag"], group["state"]) == (None, "unknown") for group in groups)
            assert all("refused the connection" in group["unknown_reason"] for group in groups)
            assert next(group for group in groups if group["name"] == "billing")["last_known"]["lag"] == 0
            # And the history has no zeros
            await cluster.step(begin + 31_000)
            shown = await sync_to_async(current.overview_history)(cluster.name, "15m")
            assert [lag for lag in shown.series.total_lag if lag is not None] == [0], "one second of it was seen"
            # And known again after they have started again
            await asyncio.to_thread(broker.start)

            async def is_back() -> bool:
                await cluster.step()
                return bool((await cluster.last(live.overview(cluster.name)))["total_lag"] == 0)

            await eventually(is_back)


async def test_what_was_sampled_is_told_without_asking_a_broker(cluster: Sampled, redis_of_test: str) -> None:
    await cluster.step()
    cluster_connections.use(None)
    overview = await sync_to_async(current.overview)(cluster.name)
    assert overview.brokers_answering == 1
    groups = await sync_to_async(current.groups)(cluster.name)
    assert {group.name for group in groups} == {
        g["name"] for g in (await cluster.last(live.groups(cluster.name)))["items"]
    }


async def test_what_was_last_known_outlives_the_sampler(tmp_path: Any, redis_of_test: str) -> None:
    with started_broker(tmp_path) as broker:
        async with sampled(broker.name_server, redis_of_test) as cluster:
            await create_topic(await cluster.connections.session(cluster.name), "orders", queues=1)
            await cluster.step()
            await cluster.step(time.time_ns() // 1_000_000 + 20_000)
            # When sampler and broker stop, and the sampler starts first
            await asyncio.to_thread(broker.stop, kill=True)
            await cluster.sampler.close()
            cluster.sampler = ClusterSampler(cluster.name, cluster.connections, cluster.store, cluster.memory)
            await cluster.step()
            overview = await cluster.last(live.overview(cluster.name))
            assert (overview["total_lag"], overview["last_known"]["total_lag"]) == (None, 0)
            assert (overview["topics"], overview["last_known"]["topics"]) == (1, 1)


async def test_an_old_state_is_told_with_its_age_and_no_broker_is_asked(cluster: Sampled) -> None:
    old = time.time_ns() // 1_000_000 - 40_000
    await cluster.step(old)
    asked: list[str] = []

    async def find(name: str) -> ClusterAddress | None:
        asked.append(name)
        return None

    cluster_connections.use(Connections(find), asyncio.get_running_loop())
    try:
        overview = await asyncio.to_thread(current.overview, cluster.name)
        groups = await asyncio.to_thread(current.groups, cluster.name)
        assert await asyncio.to_thread(current.find_overview, cluster.name) is None, "too old to say who answers"
    finally:
        cluster_connections.use(None)
    assert (overview.at, asked) == (rfc3339(old), [])
    assert groups is not None


async def test_what_a_page_shows_is_measured_first(cluster: Sampled) -> None:
    await asyncio.to_thread(current.note_shown, cluster.name, topics=["orders"], groups=["billing"])
    names = ShownNames(cluster.name, cluster.store)
    names.watched = {live.group(cluster.name, "shipping"), live.overview(cluster.name)}
    now = time.time_ns() // 1_000_000
    assert await names.now(now) == Shown(frozenset({"orders"}), frozenset({"billing", "shipping"}))
    names.watched = set()
    assert await names.now(now + 2 * KEEP_MS) == Shown(), "nobody looks any more"


async def test_history_begins_with_the_first_step(cluster: Sampled) -> None:
    now = time.time_ns() // 1_000_000
    for second in range(12):
        await cluster.step(now - 12_000 + second * 1_000)
    shown = await sync_to_async(current.overview_history)(cluster.name, "15m")
    lags = shown.series.total_lag
    assert len(lags) == 900
    assert 8 <= sum(lag is not None for lag in lags) <= 12
    # Dead letters are kept for alert rules alone.
    assert set(asdict(shown.series)) == set(history.OVERVIEW_COLUMNS) - {"dead_letters"}


@pytest.mark.django_db(transaction=True)
async def test_a_group_that_nobody_made_is_not_found(cluster: Sampled) -> None:
    await cluster.step()
    cluster_connections.use(cluster.connections, asyncio.get_running_loop())
    try:
        with pytest.raises(GroupNotFound):
            await asyncio.to_thread(current.group, cluster.name, "nobody")
    finally:
        cluster_connections.use(None)


@pytest.mark.django_db(transaction=True)
async def test_one_sampler_works_and_another_takes_over(
    shared_broker: RunningBroker, redis_of_test: str, settings: Any
) -> None:
    settings.GANTRY_NAME_SERVERS = [shared_broker.name_server]
    await sync_to_async(ensure_embedded)()
    async with redis.asyncio.Redis.from_url(redis_of_test) as store:
        await store.delete(LEADER_KEY, BEAT_KEY)
        # Given a running sampler
        first = asyncio.create_task(Sampler().run())
        await eventually(lambda: store.get(BEAT_KEY))
        await eventually(lambda: live.last_state(live.overview("local"), store=store))
        leader = await store.get(LEADER_KEY)
        # When a second one starts, it waits
        second = asyncio.create_task(Sampler().run())
        assert await store.get(LEADER_KEY) == leader
        # Then it takes over after the first one has stopped
        await _end(first)
        await eventually(lambda: store.get(LEADER_KEY))
        assert await store.get(LEADER_KEY) != leader
        event = await live.last_state(live.overview("local"), store=store)
        before = event["seq"] if event else 0

        async def speaks() -> bool:
            event = await live.last_state(live.overview("local"), store=store)
            return event is not None and event["seq"] > before

        await eventually(speaks)
        await _end(second)


def _is_remembered(broker: str) -> bool:
    try:
        return broker in remembered("local").brokers
    except OperationalError:  # SQLite in memory does not wait for whoever writes
        return False


async def _end(task: asyncio.Task[None]) -> None:
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


@pytest.mark.django_db(transaction=True)
async def test_a_deleted_cluster_is_left(
    shared_broker: RunningBroker, redis_of_test: str, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sampler_module, "_CLUSTERS_EVERY_SECONDS", 0.05)
    settings.GANTRY_NAME_SERVERS = [shared_broker.name_server]
    await sync_to_async(ensure_embedded)()
    async with redis.asyncio.Redis.from_url(redis_of_test) as store:
        await store.delete(LEADER_KEY)
        sampler = Sampler()
        work = asyncio.create_task(sampler.run())
        # The database has what was seen, for all processes
        await eventually(lambda: sync_to_async(_is_remembered)("broker-a"))
        assert "TBW102" in (await sync_to_async(remembered)("local")).brokers["broker-a"].topics
        # When the cluster is deleted
        await Cluster.objects.all().adelete()
        await eventually(lambda: not sampler._connections._open)
        await _end(work)


@pytest.mark.django_db(transaction=True)
async def test_a_round_that_passes_over_its_cancellation_is_the_last(
    redis_of_test: str, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.GANTRY_NAME_SERVERS = ["127.0.0.1:1"]
    await sync_to_async(ensure_embedded)()
    rounds = 0
    is_cancelled, is_asked = asyncio.Event(), asyncio.Event()

    async def step(_: ClusterSampler, __: int) -> None:
        nonlocal rounds
        rounds += 1
        is_asked.set()
        with suppress(asyncio.CancelledError):
            await is_cancelled.wait()

    monkeypatch.setattr(ClusterSampler, "step", step)
    async with redis.asyncio.Redis.from_url(redis_of_test) as store:
        await store.delete(LEADER_KEY)
        work = asyncio.create_task(Sampler().run())
        await is_asked.wait()
        work.cancel()
        await asyncio.wait([work], timeout=10)

        assert work.cancelled()
        assert rounds == 1


@pytest.mark.django_db(transaction=True)
async def test_as_many_clusters_as_are_allowed_share_a_few_connections(
    redis_of_test: str, settings: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(sampler_module, "_CONNECTIONS", 2)
    settings.GANTRY_NAME_SERVERS = ["127.0.0.1:1"]
    await sync_to_async(ensure_embedded)()
    names = [f"c{number}" for number in range(MAX_CLUSTERS - 1)]
    for name in names:
        await Cluster.objects.acreate(name=name, name_servers=["127.0.0.1:1"])
    async with redis.asyncio.Redis.from_url(redis_of_test) as store:
        await store.delete(LEADER_KEY)
        work = asyncio.create_task(Sampler().run())
        for _ in range(2):  # also after all of them have begun
            begun = now_ms()

            async def all_were_sampled(since: int = begun) -> bool:
                ends = await rounds.ends(store)
                return all(ends.get(name, 0) >= since for name in ["local", *names])

            await eventually(all_were_sampled)
        await _end(work)
    assert "sampling failed" not in caplog.text


@pytest.mark.django_db(transaction=True)
async def test_rounds_that_fail_for_one_reason_are_one_line(
    redis_of_test: str, settings: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    settings.GANTRY_NAME_SERVERS = ["127.0.0.1:1"]
    await sync_to_async(ensure_embedded)()
    await Cluster.objects.acreate(name="east", name_servers=["127.0.0.1:1"])
    failed: set[str] = set()

    async def step(sampler: ClusterSampler, __: int) -> None:
        failed.add(sampler._name)
        raise redis.ConnectionError("No connection available.")

    monkeypatch.setattr(ClusterSampler, "step", step)
    async with redis.asyncio.Redis.from_url(redis_of_test) as store:
        await store.delete(LEADER_KEY, BEAT_KEY)
        await rounds.forget(store, ["local", "east"])
        work = asyncio.create_task(Sampler().run())
        await eventually(lambda: failed == {"local", "east"})
        await _end(work)
        assert not {"local", "east"} & (await rounds.ends(store)).keys()
    lines = [each for each in caplog.records if "sampling failed" in each.getMessage()]
    assert [(each.exc_info, each.levelname) for each in lines] == [(None, "WARNING")]
