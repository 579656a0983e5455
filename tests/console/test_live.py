"""Requirements of `console.live`: numbered whole states for current and later subscribers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import pytest
import redis
import redis.asyncio
from asgiref.sync import sync_to_async
from channels.layers import get_channel_layer
from hypothesis import given
from hypothesis import strategies as st
from pytest_django import Settings

from console import live
from console.lag.shapes import GroupList


@pytest.fixture
def subject(redis_of_test: str) -> str:
    """An unused subject."""
    return live.group("local", f"billing-{uuid4().hex}")


@pytest.fixture
async def publisher(redis_of_test: str) -> AsyncIterator[live.Publisher]:
    async with redis.asyncio.Redis.from_url(redis_of_test) as store:
        yield live.Publisher(store)


async def watching(subject: str) -> tuple[Any, str]:
    """Return the channel layer, and a channel that subscribes to a subject."""
    layer = get_channel_layer()
    channel = await layer.new_channel()
    await layer.group_add(live.channel_group(subject), channel)
    return layer, channel


async def test_who_watches_gets_the_whole_state_and_a_number(subject: str, publisher: live.Publisher) -> None:
    layer, channel = await watching(subject)
    await publisher.publish({subject: {"lag": 5}})
    await publisher.publish({subject: {"lag": 6}})
    first, second = [await asyncio.wait_for(layer.receive(channel), 5) for _ in range(2)]
    assert (first["type"], first["subject"], first["data"]) == ("state", subject, {"lag": 5})
    assert (second["data"], second["seq"]) == ({"lag": 6}, first["seq"] + 1)
    assert second["at"].endswith("Z")


async def test_who_comes_late_gets_the_last_state(subject: str, redis_of_test: str) -> None:
    async with redis.asyncio.Redis.from_url(redis_of_test) as store:
        assert await live.last_state(subject, store=store) is None
        await live.Publisher(store).publish({subject: {"lag": 5}})
        await live.Publisher(store).publish({subject: {"lag": 6}})
        event = await live.last_state(subject, store=store)
    assert event is not None
    assert (event["data"], event["seq"]) == ({"lag": 6}, 2)
    with redis.Redis.from_url(redis_of_test) as same:
        assert live.last_state_sync(subject, store=same) == event
        assert 0 < int(str(same.ttl(f"gantry:live:{subject}"))) <= live.KEEP_SECONDS


async def test_many_subjects_travel_together_each_to_its_own(subject: str, publisher: live.Publisher) -> None:
    other = f"{subject}-other"
    layer, channel = await watching(other)
    await publisher.publish({subject: {"lag": 1}, other: {"lag": 2}})
    assert (await asyncio.wait_for(layer.receive(channel), 5))["data"] == {"lag": 2}
    await publisher.publish({})


async def test_code_without_a_loop_publishes_too(subject: str) -> None:
    layer, channel = await watching(subject)
    for lag in (1, 2):
        await sync_to_async(live.publish_sync)(subject, {"lag": lag})
        assert (await asyncio.wait_for(layer.receive(channel), 5))["data"] == {"lag": lag}


async def test_publishing_from_threads_keeps_its_connections_open(subject: str, redis_of_test: str) -> None:
    await watching(subject)
    publish = sync_to_async(live.publish_sync, thread_sensitive=False)
    await publish(subject, {"lag": 0})
    async with redis.asyncio.Redis.from_url(redis_of_test) as store:
        before = await connected(store)
        for lag in range(20):
            await publish(subject, {"lag": lag})
        assert await connected(store) == before
        event = await live.last_state(subject, store=store)
    assert event is not None
    assert event["data"] == {"lag": 19}


async def test_a_redis_that_is_away_is_said_to_who_publishes(settings: Settings) -> None:
    settings.GANTRY_REDIS_URL = "unix:///nowhere.sock"
    with pytest.raises(redis.RedisError):
        await sync_to_async(live.publish_sync)("job:none", {})


async def connected(store: redis.asyncio.Redis) -> int:
    """Return the number of connections that Redis has accepted."""
    stats: dict[str, int] = await store.info("stats")
    return stats["total_connections_received"]


@given(st.text(max_size=300), st.text(max_size=300))
def test_every_subject_has_a_group_of_its_own_with_a_plain_name(one: str, other: str) -> None:
    name = live.channel_group(live.group("local", one))
    get_channel_layer().require_valid_group_name(name)
    assert (name == live.channel_group(live.group("local", other))) == (one == other)


def test_a_state_of_another_shape_is_not_read() -> None:
    assert live.read({"at": "", "items": [{"name": "a"}]}, GroupList) is None
    assert live.read({"at": "", "items": []}, GroupList) == GroupList(at="", items=[])
