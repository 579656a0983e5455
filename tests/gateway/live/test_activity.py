"""Requirements of `gateway.live.activity`: who watches a cluster hears of its events, and knows what is lost."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any
from uuid import uuid4

import pytest
import redis.asyncio
from pytest_django.fixtures import Settings

from console.activity import feed
from console.activity.shapes import ActivityEvent
from tests.gateway.installation import Installation
from tests.gateway.live.conftest import listening
from tests.gateway.live.test_event_stream import reading

AT = "2026-05-01T08:00:00.000Z"
Happen = Callable[..., Awaitable[None]]


@pytest.fixture
def name(installation: Installation) -> Iterator[str]:
    """A cluster in which nothing has happened."""
    name = f"c{uuid4().hex[:8]}"
    with installation.client() as admin:
        made = admin.post("/api/v1/clusters", json={"name": name, "name_servers": ["127.0.0.1:1"]})
        assert made.status_code == 201, made.text
        yield name
        tag = {"If-Match": made.json()["etag"]}
        assert admin.delete(f"/api/v1/clusters/{name}", headers=tag).status_code == 204


@pytest.fixture
async def happen(settings: Settings, redis_url: str, name: str) -> AsyncIterator[Happen]:
    """Let topics be created in the cluster, in one round."""
    layer = settings.CHANNEL_LAYERS["default"]
    settings.CHANNEL_LAYERS = {"default": {**layer, "CONFIG": {**layer["CONFIG"], "hosts": [redis_url]}}}
    settings.GANTRY_ACTIVITY_KEPT = 10
    async with redis.asyncio.Redis.from_url(redis_url) as store:

        async def act(*topics: str) -> None:
            events = [ActivityEvent(seen_at=AT, kind="topic_created", topic=topic, by="maria") for topic in topics]
            await feed.append(name, events, None, store=store)

        yield act


def topics(frame: dict[str, Any]) -> list[str]:
    return [event["topic"] for event in frame["data"]["items"]]


async def test_the_first_frame_has_what_is_kept_and_the_next_ones_what_is_new(
    installation: Installation, happen: Happen, name: str
) -> None:
    await happen("a", "b")
    async with listening(installation, "events", "operator") as socket:
        await socket.say(type="subscribe", subjects=[f"activity:{name}"])
        first = await socket.hear()
        assert (first["type"], topics(first), first["data"]["complete"]) == ("state", ["a", "b"], True)
        assert first["data"]["items"][0]["by"] == "maria"
        await happen("c", "d")
        news = await socket.hear()
        assert (news["type"], news["after"], topics(news)) == ("events", first["seq"], ["c", "d"])
        assert (news["seq"], news["data"]["complete"]) == (first["seq"] + 2, True)
    # Who comes back goes on there
    await happen("e")
    async with listening(installation, "events") as socket:
        await socket.say(type="subscribe", subjects=[f"activity:{name}"], after={f"activity:{name}": news["seq"]})
        missed = await socket.hear()
        assert (missed["type"], topics(missed), missed["data"]["complete"]) == ("events", ["e"], True)
        assert missed["data"]["items"][0]["by"] is None, "a viewer may not read the audit"
    # And is told when that was too long ago
    await happen(*(f"t{number}" for number in range(20)))
    async with listening(installation, "events") as socket:
        await socket.say(type="subscribe", subjects=[f"activity:{name}"], after={f"activity:{name}": news["seq"]})
        rest = await socket.hear()
        assert (topics(rest)[0], topics(rest)[-1], rest["data"]["complete"]) == ("t10", "t19", False)


async def test_nothing_is_told_of_names_that_one_may_not_read(
    installation: Installation, happen: Happen, name: str
) -> None:
    await happen("payments", "orders")
    async with listening(installation, "events", "narrow") as socket:
        await socket.say(type="subscribe", subjects=[f"activity:{name}"])
        assert topics(await socket.hear()) == ["orders"]
        await happen("payments-2")
        await happen("payments-3", "orders-2")
        assert topics(await socket.hear()) == ["orders-2"]


async def test_an_activity_goes_on_as_server_sent_events(installation: Installation, happen: Happen, name: str) -> None:
    await happen("a")
    path = f"/ws/v1/events?subjects=activity:{name}"
    async with reading(installation, path) as (_, events):
        await events.next()
        first = await events.next()
        assert (topics(first["data"]), first["id"]) == (["a"], f"activity:{name}={first['data']['seq']}")
    await happen("b")
    async with reading(installation, path, **{"Last-Event-ID": first["id"]}) as (_, events):
        await events.next()
        assert topics((await events.next())["data"]) == ["b"]


async def test_after_names_an_activity_that_is_watched(installation: Installation) -> None:
    async with listening(installation, "events") as socket:
        await socket.say(type="subscribe", subjects=["groups:local"], after={"groups:local": 4})
        assert (await socket.hear())["problem"]["code"] == "INVALID"


async def test_a_cluster_that_there_is_not_has_no_activity(installation: Installation) -> None:
    async with listening(installation, "events") as socket:
        await socket.say(type="subscribe", subjects=["activity:nope"])
        heard = await socket.hear()
        assert (heard["type"], heard["detail"]) == ("denied", "There is no cluster 'nope'.")
