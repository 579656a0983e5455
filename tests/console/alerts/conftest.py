"""Rules, and a watch that a test drives round by round."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
import redis.asyncio

from console.alerts import rules
from console.alerts.models import Rule
from console.alerts.watch import ClusterWatch
from console.audit.record import Actor
from gateway.celery import app
from gateway.env import celery_url

BY = Actor.system("test")


@pytest.fixture(autouse=True)
def celery_of_test(redis_of_test: str) -> Iterator[None]:
    """Let hints go to the Redis of the tests."""
    before = app.conf.broker_url
    app.conf.update(broker_url=celery_url(redis_of_test))
    yield
    app.conf.update(broker_url=before)


@pytest.fixture
async def store(redis_of_test: str) -> AsyncIterator[redis.asyncio.Redis]:
    """An empty Redis."""
    async with redis.asyncio.Redis.from_url(redis_of_test) as found:
        await found.flushdb()
        yield found


@pytest.fixture
async def watch(store: redis.asyncio.Redis) -> ClusterWatch:
    """The evaluation of the cluster ``local``."""
    return ClusterWatch("local", store)


def rule(**fields: Any) -> Rule:
    """Return a kept rule: the lag of any group over 100 for ten seconds."""
    return rules.add(BY, {"name": "lag", "metric": "group_lag", "limit": 100.0, "for_ms": 10_000, **fields})
