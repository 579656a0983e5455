"""Requirements of `console.replicas.pages` and of what `watch` publishes: a switch reaches an open page by itself."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import redis.asyncio
from channels.layers import get_channel_layer

from broker_core.errors import GantryError
from console import live
from console.clusters.models import Cluster
from console.replicas.pages import ReplicaPages
from console.replicas.rounds import KEEP_SECONDS
from console.replicas.shapes import Controllers, DecidedNames, Replicas
from console.replicas.watch import ReplicaWatch
from tests.console.replicas.administered import administered
from tests.support.replica_group import replica_group
from tests.support.wait import eventually

AT = 1_777_622_400_000
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
async def store(redis_of_test: str) -> AsyncIterator[redis.asyncio.Redis]:
    async with redis.asyncio.Redis.from_url(redis_of_test) as found:
        await found.flushdb()
        yield found


async def subscribed(*subjects: str) -> str:
    """Return the channel of a page that watches these subjects."""
    layer = get_channel_layer()
    channel: str = await layer.new_channel()
    for subject in subjects:
        await layer.group_add(live.channel_group(subject), channel)
    return channel


async def heard(channel: str) -> live.Event:
    layer: Any = get_channel_layer()
    found: live.Event = await layer.receive(channel)
    return found


async def test_an_open_page_hears_of_another_master(store: redis.asyncio.Redis, tmp_path: Path) -> None:
    pages = ReplicaPages("prod", store)
    async with replica_group(tmp_path) as group, administered(group.name_server) as admin:
        await pages.look(admin, {"b", "other"})
        assert await live.last_state("replicas:prod:b", store=store) is None, "nobody watches it"
        page = await subscribed("replicas:prod:b")
        await pages.look(admin, {"b", "other"})
        before = live.read((await heard(page))["data"], Replicas)
        (successor,) = group.slaves()
        await admin.replication.elect("b", successor.components.roles.now.broker_id)
        await eventually(lambda: successor.components.roles.now.is_master)
        await pages.look(admin, {"b"})
        event = await heard(page)
        after = live.read(event["data"], Replicas)

    assert event["subject"] == "replicas:prod:b"
    assert before is not None
    assert after is not None
    assert before.failover is not None
    assert after.failover is not None
    assert (before.failover.epoch, after.failover.epoch) == (1, 2)
    assert {before.master_id, after.master_id} == {1, 2}


async def test_what_an_ended_sampler_saw_is_soon_forgotten(store: redis.asyncio.Redis, tmp_path: Path) -> None:
    pages, watch = ReplicaPages("prod", store), ReplicaWatch("prod", store)
    await Cluster.objects.acreate(name="prod", name_servers=["127.0.0.1:1"])
    await subscribed("replicas:prod:b")
    async with replica_group(tmp_path) as group, administered(group.name_server) as admin:
        await pages.look(admin, {"b"})
        await watch.look(admin, AT)
    for subject in ("replicas:prod:b", "controllers:prod", "decisions:prod"):
        assert 0 < await store.ttl(live.state_key(subject)) <= KEEP_SECONDS < live.KEEP_SECONDS, subject


async def test_it_hears_who_leads_and_that_controllers_are_silent(store: redis.asyncio.Redis, tmp_path: Path) -> None:
    await Cluster.objects.acreate(name="prod", name_servers=["127.0.0.1:1"])
    watch = ReplicaWatch("prod", store)
    page = await subscribed("controllers:prod")
    async with replica_group(tmp_path) as group:
        address = group.name_server
        async with administered(address) as admin:
            await watch.look(admin, AT)
    led = live.read((await heard(page))["data"], Controllers)
    decided = await live.last_state("decisions:prod", store=store)
    async with administered(address) as admin:
        with pytest.raises(GantryError):
            await watch.look(admin, AT)
    silent = live.read((await heard(page))["data"], Controllers)
    unknown = await live.last_state("decisions:prod", store=store)

    assert led is not None
    assert silent is not None
    assert decided is not None
    assert unknown is not None
    assert (led.leader, [each.reachable for each in led.controllers]) == (address, [True])
    assert (silent.leader, [each.reachable for each in silent.controllers]) == (None, [False])
    names = live.read(decided["data"], DecidedNames)
    assert names is not None
    assert [(each.broker, each.in_sync, each.replicas) for each in names.items] == [("b", [1, 2], [1, 2])]
    assert live.read(unknown["data"], DecidedNames) == DecidedNames(items=[])
