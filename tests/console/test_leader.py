"""Requirements of `console.leader`: one leads, and another one takes over."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import redis.asyncio

from console.leader import Leadership

KEY = "gantry:test:leader"


@pytest.fixture
async def store(redis_url: str) -> AsyncIterator[redis.asyncio.Redis]:
    """An empty Redis."""
    found = redis.asyncio.Redis.from_url(redis_url)
    await found.delete(KEY)
    yield found
    await found.aclose()


async def test_one_leads_until_it_steps_down(store: redis.asyncio.Redis) -> None:
    first, second = Leadership(store, KEY), Leadership(store, KEY)
    assert [await first.leads(), await second.leads(), await first.leads()] == [True, False, True]
    assert 0 < await store.pttl(KEY) <= 10_000
    await second.step_down()
    assert await first.leads(), "only its own key is given back"
    await first.step_down()
    assert [await second.leads(), await first.leads()] == [True, False]


async def test_nobody_leads_without_redis() -> None:
    nowhere = redis.asyncio.Redis.from_url("redis://127.0.0.1:1/0")
    alone = Leadership(nowhere, KEY)
    assert not await alone.leads()
    await alone.step_down()
    await nowhere.aclose()
