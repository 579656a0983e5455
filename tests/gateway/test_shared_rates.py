"""Requirements of `gateway.shared_rates`: processes are limiters that share one Redis."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from itertools import count

import pytest
import redis.asyncio
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from gateway.limits import RateLimit
from gateway.problems import ProblemError
from gateway.rates import RateLimiter
from gateway.shared_rates import SharedRates
from tests.support.wait import eventually

_names = count()


class Process:
    """The limiter of one process, on a clock that stands unless the test moves it."""

    def __init__(self, store: redis.asyncio.Redis, rate: RateLimit) -> None:
        self.now = 0.0
        self.limiter = RateLimiter(rate)
        self.shared = SharedRates(store, [self.limiter], lambda: self.now)

    def passes(self, caller: str, cost: int = 1) -> bool:
        try:
            self.limiter.take(caller, cost, self.now)
        except ProblemError:
            return False
        return True


@pytest.fixture
async def store(redis_url: str) -> AsyncIterator[redis.asyncio.Redis]:
    async with redis.asyncio.Redis.from_url(redis_url) as store:
        yield store


def slow() -> RateLimit:
    """A rate so slow that no token comes back during a test, of a class that no other test uses."""
    return RateLimit(f"class-{next(_names)}", per_second=0.001, burst=10)


async def test_what_one_process_let_pass_the_others_do_not(store: redis.asyncio.Redis) -> None:
    rate = slow()
    a, b = Process(store, rate), Process(store, rate)
    assert a.passes("t1", 9)
    await a.shared.share()
    assert b.passes("t1"), "the last token"
    await b.shared.share()
    assert not b.passes("t1")
    assert b.passes("t2", 10), "another caller has all of its own"


async def test_what_passed_before_the_processes_knew_of_each_other_is_a_debt(store: redis.asyncio.Redis) -> None:
    rate = slow()
    a, b = Process(store, rate), Process(store, rate)
    assert a.passes("t1", 10)
    assert b.passes("t1", 10), "they have not shared yet"
    for process in (a, b):
        await process.shared.share()
    assert not b.passes("t1")
    b.now = 10_500
    assert not b.passes("t1"), "ten of the ten and a half tokens that came back paid the debt"
    b.now = 11_500
    assert b.passes("t1")


async def test_what_is_spent_while_redis_is_asked_counts_once(store: redis.asyncio.Redis) -> None:
    a = Process(store, slow())
    assert a.passes("t1", 4)
    learn = a.limiter.learn

    def spend_first(caller: str, tokens: float, now: float) -> None:
        assert a.passes("t1", 3)
        learn(caller, tokens, now)

    a.limiter.learn = spend_first  # type: ignore[method-assign]
    await a.shared.share()
    a.limiter.learn = learn  # type: ignore[method-assign]
    assert not a.passes("t1", 4)
    assert a.passes("t1", 3)


async def test_a_shared_bucket_fills_and_then_is_gone(store: redis.asyncio.Redis) -> None:
    rate = RateLimit(f"class-{next(_names)}", per_second=1000, burst=1000)
    a = Process(store, rate)
    assert a.passes("t1", 500)
    await a.shared.share()
    left_ms = await store.pttl(f"gantry:rate:{rate.name}:t1")
    assert 1000 < left_ms <= 1500


async def test_without_redis_each_process_counts_alone_and_says_so_once(
    store: redis.asyncio.Redis, caplog: pytest.LogCaptureFixture
) -> None:
    rate = slow()
    a, b = Process(store, rate), Process(store, rate)
    async with redis.asyncio.Redis(host="127.0.0.1", port=1, retry=Retry(NoBackoff(), 0)) as nowhere:
        lost = SharedRates(nowhere, [a.limiter], lambda: a.now)
        assert a.passes("t1", 5)
        with caplog.at_level(logging.WARNING):
            await lost.share()
            await lost.share()
    assert len(caplog.records) == 1
    assert a.passes("t1", 5)
    assert not a.passes("t1")
    await a.shared.share()
    assert b.passes("t1")
    await b.shared.share()
    assert not b.passes("t1"), "what was spent without Redis is reported when it is back"


async def test_it_shares_by_itself(store: redis.asyncio.Redis) -> None:
    rate = slow()
    a = Process(store, rate)
    a.shared.start()
    assert a.passes("t1", 7)
    await eventually(lambda: store.exists(f"gantry:rate:{rate.name}:t1"))
    await a.shared.stop()
