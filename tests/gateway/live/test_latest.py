"""Requirements of `gateway.live.latest`: sockets that hear of one event share one read."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
import redis.asyncio

from console import live
from gateway.live.latest import Latest
from tests.console.lag.figures import group, groups
from tests.gateway.live.conftest import Publish, PublishTopics

pytestmark = pytest.mark.in_process


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The keys that were read from Redis since."""
    keys: list[str] = []
    get = redis.asyncio.Redis.get

    async def counted(store: Any, key: str) -> Any:
        keys.append(key)
        return await get(store, key)

    monkeypatch.setattr(redis.asyncio.Redis, "get", counted)
    return keys


async def test_a_thousand_sockets_cause_one_read_for_each_event(
    publish: Publish, redis_url: str, reads: list[str]
) -> None:
    subject = "groups:thousand"
    async with redis.asyncio.Redis.from_url(redis_url) as store:
        latest = Latest(store)
        for lag in (1, 2):
            await publish({subject: groups(group("billing", lag))})
            seq = await live.number_of(subject, store=store)
            reads.clear()
            seen = await asyncio.gather(*(latest.groups(subject, seq=seq) for _ in range(1000)))
            assert {shown.matching("bill*")[0].lag for shown in seen if shown is not None} == {lag}
            assert len({id(shown) for shown in seen}) == 1
            assert reads.count(live.state_key(subject)) == 1


async def test_what_changed_is_read_once_for_all_sockets(
    publish_topics: PublishTopics, redis_url: str, reads: list[str]
) -> None:
    subject = "topics:changes"
    async with redis.asyncio.Redis.from_url(redis_url) as store:
        await publish_topics("changes", orders=1)
        await publish_topics("changes", orders=2)
        seq = await live.number_of(subject, store=store)
        event = live.event(subject, seq, "now", None, kind="delta")
        latest = Latest(store)
        reads.clear()
        seen = await asyncio.gather(*(latest.changes(event) for _ in range(1000)))
        assert reads == [live.delta_key(subject)]
        assert len({id(changes) for changes in seen}) == 1
        assert await latest.changes({**event, "seq": seq - 1}) is None, "of an earlier event nothing is kept"
