"""Requirements of `console.activity.watch` and `feed`: what really happens in a cluster is in its feed, once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import redis.asyncio
from asgiref.sync import sync_to_async

from broker_core.client import PushConsumer, StoredMessage
from broker_core.client.admin import Admin
from broker_core.client.session import Session
from console.activity import audited, feed
from console.activity.shapes import ActivityEvent
from console.activity.watch import MOST_OF_A_KIND, ActivityWatch
from console.alerts.models import Alert
from console.alerts.watch import ClusterWatch
from console.audit.record import Actor, record
from console.clusters.connections import ClusterAddress, Connections
from console.lag.sampler import ClusterSampler
from console.lag.state import ClusterState
from tests.console.activity.readings import Scene
from tests.console.alerts.conftest import rule
from tests.console.alerts.figures import group, state
from tests.console.lag.figures import InProcess
from tests.support.cluster import RunningBroker, broker, create_topic
from tests.support.wait import eventually

pytestmark = pytest.mark.django_db(transaction=True)
arecord = sync_to_async(record)
BY = Actor(name="maria")


@dataclass
class Sampled:
    """A cluster that the test samples, with its feed."""

    name: str
    sampler: ClusterSampler
    store: redis.asyncio.Redis
    now: int

    async def step(self, seconds: float = 1) -> None:
        self.now += int(seconds * 1000)
        await self.sampler.step(self.now)

    async def told(self, kind: str, seconds: float = 1, **about: Any) -> ActivityEvent:
        """Sample until there is such an event, and return it."""

        found: list[ActivityEvent] = []

        async def is_there() -> bool:
            await self.step(seconds)
            found[:] = [each for each in await self.events(kind) if _is_about(each, about)]
            return bool(found)

        await eventually(is_there)
        return found[0]

    async def events(self, *kinds: str) -> list[ActivityEvent]:
        """Return the events of these kinds, the newest first."""
        return [each for each in (await feed.aread(self.name, store=self.store)).events if each.kind in kinds]


def _is_about(event: ActivityEvent, about: dict[str, Any]) -> bool:
    return all(getattr(event, name) == value for name, value in about.items())


@asynccontextmanager
async def sampled(running: RunningBroker, redis_url: str) -> AsyncIterator[Sampled]:
    name = f"c{uuid4().hex[:8]}"

    async def find(_: str) -> ClusterAddress | None:
        return ClusterAddress(name, (running.name_server,))

    connections = Connections(find)
    async with redis.asyncio.Redis.from_url(redis_url) as store:
        sampler = ClusterSampler(name, connections, store, InProcess(), activity=ActivityWatch(name, store))
        try:
            yield Sampled(name, sampler, store, time.time_ns() // 1_000_000)
        finally:
            await sampler.close()
            await connections.close()


@asynccontextmanager
async def consuming(session: Session, group: str, topic: str) -> AsyncIterator[PushConsumer]:
    async def handle(_: StoredMessage) -> None: ...

    consumer = PushConsumer(session, group, handle)
    consumer.subscribe(topic)
    async with consumer:
        yield consumer


async def test_clients_that_join_and_leave_and_a_broker_that_is_killed(tmp_path: Path, redis_of_test: str) -> None:
    async with (
        broker(tmp_path) as running,
        sampled(running, redis_of_test) as cluster,
        running.session() as first,
        running.session() as second,
    ):
        await create_topic(first, "orders", queues=4)
        async with consuming(first, "billing", "orders"):
            await eventually(lambda: _has_members(first, "billing", 1))
            # Given what the first round finds, which is no event
            await cluster.step()
            whole = await feed.aread(cluster.name, store=cluster.store)
            assert [each.kind for each in whole.events] == ["watch_began"]
            await eventually(lambda: _knows_owners(cluster))
            # When another client joins, then queues move to it
            async with consuming(second, "billing", "orders"):
                joined = await cluster.told("client_joined")
                assert (joined.group, joined.source) == ("billing", "seen")
                assert joined.client is not None
                assert (joined.client.client_id, joined.client.language) == (second.client_id, "PYTHON")
                moved = await cluster.told("group_rebalanced", seconds=11)
                assert {move.to_client for move in moved.moves} == {second.client_id}
                assert {move.from_client for move in moved.moves} == {first.client_id}
            assert (await cluster.told("client_left")).client == joined.client
            # When the broker is killed, that is one event, and nobody left
            await asyncio.to_thread(running.stop, kill=True)
            await cluster.told("broker_went")
            for _ in range(3):
                await cluster.step(60)
            assert len(await cluster.events("client_left")) == len(await cluster.events("broker_went")) == 1
            # And its return is one event, with the client that was there before
            await asyncio.to_thread(running.start)
            await cluster.told("broker_restarted")
            await eventually(lambda: _has_members(first, "billing", 1))
            await cluster.step(120)
            await cluster.step(10)
            assert len(await cluster.events("client_left")) == len(await cluster.events("client_joined")) == 1
            assert not await cluster.events("topic_deleted", "group_deleted", "topic_created", "broker_came")


async def _has_members(session: Session, group: str, count: int) -> bool:
    return len((await Admin(session).groups.connections(group)).members) == count


async def _knows_owners(cluster: Sampled) -> bool:
    await cluster.step(11)
    assert cluster.sampler._reader is not None
    return bool(cluster.sampler._reader._owners.owners.get("billing"))


async def test_what_another_tool_makes_is_seen_and_what_gantry_makes_is_in_the_audit(
    shared_broker: RunningBroker, redis_of_test: str
) -> None:
    async with sampled(shared_broker, redis_of_test) as cluster, shared_broker.session() as session:
        await cluster.step()
        theirs, ours = f"theirs-{cluster.name}", f"ours-{cluster.name}"
        await create_topic(session, theirs)
        await create_topic(session, ours)
        await arecord(BY, "topic.create", f"{cluster.name}/topics/{ours}", after={"read_queues": 4})
        seen = await cluster.told("topic_created", seconds=6, topic=theirs)
        assert (seen.source, seen.by) == ("seen", None)
        # Then the audit's is one event, not two
        await cluster.step(10)
        (made,) = [each for each in await cluster.events("topic_created") if each.topic == ours]
        assert (made.source, made.by, made.partial) == ("audit", "maria", False)


async def test_each_act_over_gantry_is_an_event_once(redis_of_test: str) -> None:
    async with watched(redis_of_test) as (name, see, kinds):
        await see()
        topic, billing = f"{name}/topics/orders", f"{name}/groups/billing"
        await arecord(BY, "topic.pause", topic, before={"perm": 6}, after={"perm": 4})
        await arecord(BY, "topic.update", topic, before={"perm": 4}, after={"perm": 4})
        await arecord(BY, "topic.purge", topic, result="failed", after={"error": "no"})
        await arecord(BY, "topic.purge", topic, result="partial", after={"begins": {}})
        await arecord(BY, "group.pause", billing, before={"consume_enable": True}, after={"consume_enable": False})
        await arecord(BY, "group.offsets", f"{billing}/topics/orders", after={"mode": "time", "broker-a/0": 7})
        await arecord(BY, "broker.update", f"{name}/brokers/broker-a", before={"x": "1"}, after={"x": "2"})
        await arecord(BY, "topic.create", "elsewhere/topics/orders")
        await see()
        told = [(each.kind, each.topic, each.group, each.broker) for each in await kinds()]
        assert told[1:] == [
            ("topic_changed", "orders", None, None),
            ("topic_purged", "orders", None, None),
            ("group_paused", None, "billing", None),
            ("offsets_changed", "orders", "billing", None),
            ("broker_changed", None, None, "broker-a"),
        ]
        assert [each.partial for each in await kinds()] == [False, False, True, False, False, False]
        # And a sampler that takes over tells none of them again, and what was done since the last round
        await arecord(BY, "topic.delete", topic)
        async with watched(redis_of_test, name) as (_, see_again, kinds_again):
            await see_again()
            await see_again()
            assert [each.kind for each in await kinds_again()][6:] == ["watch_began", "topic_deleted"]


async def test_an_alert_fires_and_is_resolved(redis_of_test: str) -> None:
    await sync_to_async(rule)(for_ms=0)
    async with watched(redis_of_test, alerts=True) as (_, see, kinds):
        await see(state(group("billing", 1)))
        await see(state(group("billing", 101)))
        await see(state(group("billing", 102)))
        await see(state(group("billing", 1)))
        found = [(each.kind, each.alert.subject if each.alert else None) for each in await kinds()]
        assert found == [("watch_began", None), ("alert_fired", "billing"), ("alert_resolved", "billing")]
        assert await Alert.objects.acount() == 1


async def test_of_many_at_once_the_first_are_told_and_the_others_counted(redis_of_test: str) -> None:
    scene = Scene()
    async with watched(redis_of_test, scene=scene) as (_, see, kinds):
        await see()
        scene.connect("broker-a", "billing", *(f"client-{number:03}" for number in range(MOST_OF_A_KIND + 30)))
        await see()
        found = await kinds()
        assert len(found) == 1 + MOST_OF_A_KIND + 1
        assert (found[-1].kind, found[-1].left_out, found[-1].left_out_kind) == ("left_out", 30, "client_joined")


async def test_the_feed_keeps_the_newest_and_says_what_is_lost(redis_of_test: str, settings: Any) -> None:
    settings.GANTRY_ACTIVITY_KEPT = 10
    name = f"c{uuid4().hex[:8]}"
    event = ActivityEvent(seen_at="2026-05-01T08:00:00.000Z", kind="watch_began")
    async with redis.asyncio.Redis.from_url(redis_of_test) as store:
        assert (await feed.aread(name, store=store)).is_complete(0)
        for _ in range(15):
            await feed.append(name, [event], None, store=store)
        found = await feed.aread(name, store=store)
        last = found.last_seq
        assert [each.seq for each in found.events] == list(range(last, last - 10, -1))
        assert [found.is_complete(after) for after in (last, last - 10, last - 11)] == [True, True, False]
        assert len(found.since(last - 3)) == 3
        # After a loss of Redis the numbers go on above those that were given
        await asyncio.sleep(0.02)
        await store.delete(*[key async for key in store.scan_iter(f"*{name}*")])
        await feed.append(name, [event], None, store=store)
        again = await feed.aread(name, store=store)
        assert again.last_seq > last
        assert not again.is_complete(last)
        # And a number that was never given is none of this feed's
        assert not again.is_complete(again.last_seq + 5)
        assert len(again.since(again.last_seq + 5)) == 1


@asynccontextmanager
async def watched(
    redis_url: str, name: str | None = None, *, scene: Scene | None = None, alerts: bool = False
) -> AsyncIterator[Any]:
    """Give the watch of a scene: its cluster's name, a function that takes the next round, and its events."""
    name = name or f"c{uuid4().hex[:8]}"
    scene = scene or Scene(now=time.time_ns() // 1_000_000)
    async with redis.asyncio.Redis.from_url(redis_url) as store:
        watch, of_alerts = ActivityWatch(name, store), ClusterWatch(name, store)

        async def see(shown: ClusterState | None = None) -> None:
            reading, shown = scene.after(3), shown or state()
            changes = await of_alerts.see(reading.at, shown) if alerts else []
            await watch.see(reading.at, reading, shown, changes)

        async def events() -> list[ActivityEvent]:
            return list((await feed.aread(name, store=store)).events)[::-1]

        yield name, see, events


async def test_a_group_whose_offsets_were_moved_is_told_once(redis_of_test: str) -> None:
    name, scene = f"c{uuid4().hex[:8]}", Scene(now=time.time_ns() // 1_000_000)
    async with redis.asyncio.Redis.from_url(redis_of_test) as store:
        watch = ActivityWatch(name, store)
        offsets = f"{name}/groups/{{}}/topics/orders"
        await arecord(BY, "group.offsets", offsets.format("early"), after={"mode": "time"})
        await watch.see(scene.now, scene.after(3), state())
        await arecord(BY, "group.offsets", offsets.format("billing"), after={"mode": "time"})
        await arecord(BY, "group.offsets", offsets.format("refused"), result="failed", after={"mode": "time"})
        reading = scene.after(3)
        await watch.see(reading.at, reading, state())
    assert (watch.take_moved(), watch.take_moved()) == ({"billing"}, set())


def test_a_place_forgets_what_no_transaction_can_add_to(cast: Any) -> None:
    now = time.time_ns() // 1_000_000
    record(BY, "topic.create", "local/topics/orders")
    place = audited.AuditPlace(at=now)
    assert len(audited.read("local", place, now + 1_000)) == 1
    assert len(place.taken) == 1
    assert audited.read("local", place, now + 2_000) == []
    assert audited.read("local", place, now + 120_000) == []
    assert place.taken == {}
