"""Requirements of `gateway.live.latest`: sockets that hear of one event share one read."""

from __future__ import annotations

import asyncio

import pytest
import redis.asyncio

from console import live
from gateway.live.latest import latest_groups
from tests.console.lag.figures import group, groups
from tests.gateway.live.conftest import Publish


async def test_a_thousand_sockets_cause_one_read_for_each_event(
    publish: Publish, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads = []

    async def counted(subject: str, *, store: redis.asyncio.Redis) -> live.Event | None:
        reads.append(subject)
        return await last_state(subject, store=store)

    last_state = live.last_state
    monkeypatch.setattr(live, "last_state", counted)
    async with redis.asyncio.Redis.from_url(redis_url) as store:
        for lag in (1, 2):
            await publish({"groups:thousand": groups(group("billing", lag))})
            event = await last_state("groups:thousand", store=store)
            assert event is not None
            seen = await asyncio.gather(*(latest_groups(store).after(event, store=store) for _ in range(1000)))
            assert {shown.items[0].lag for shown in seen if shown is not None} == {lag}
            assert len(reads) == lag
