"""Shares the buckets of `gateway.rates` among the gateway processes, through Redis.

The shared bucket of a caller is a hash ``gantry:rate:<class>:<caller>`` with `level` and `at` (s, on the clock of
Redis). It expires when it is full, because a full bucket is the same as a missing one.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Sequence
from typing import Any, Final

import redis.asyncio
from redis.exceptions import RedisError

from gateway.rates import RateLimiter

_log = logging.getLogger(__name__)
_PERIOD_SECONDS: Final = 0.1
_MOST_AT_ONCE: Final = 1_000
_SPEND: Final = """
local time = redis.call('time')
local now = time[1] + time[2] / 1000000
local burst, rate, spent = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local held = redis.call('hmget', KEYS[1], 'level', 'at')
local level = burst
if held[1] then
  level = math.min(burst, tonumber(held[1]) + math.max(0, now - tonumber(held[2])) * rate)
end
level = level - spent
redis.call('hset', KEYS[1], 'level', tostring(level), 'at', string.format('%.6f', now))
redis.call('pexpire', KEYS[1], math.ceil((burst - level) / rate * 1000) + 1000)
return tostring(level)
"""


class SharedRates:
    """Reports what callers spent here, and learns what all processes together left of each bucket."""

    def __init__(self, store: redis.asyncio.Redis, limiters: Sequence[RateLimiter], clock: Callable[[], float]) -> None:
        self._script = store.register_script(_SPEND)
        self._store = store
        self._limiters = tuple(limiters)
        self._clock = clock
        self._is_alone = False
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Share every tenth of a second until `stop`."""
        self._task = asyncio.create_task(self._run(), name="rates: share what was spent")

    async def stop(self) -> None:
        """Stop sharing; what was not reported yet is forgotten."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def share(self) -> None:
        """Report and learn once; without Redis each process counts by itself until Redis is back."""
        for limiter in self._limiters:
            spent = limiter.spent()
            callers = list(spent)
            for start in range(0, len(callers), _MOST_AT_ONCE):
                chunk = {caller: spent[caller] for caller in callers[start : start + _MOST_AT_ONCE]}
                await self._share(limiter, chunk)

    async def _share(self, limiter: RateLimiter, spent: dict[str, float]) -> None:
        try:
            levels = await self._spend(limiter, spent)
        except (RedisError, OSError) as error:
            limiter.return_spent(spent, self._clock())
            if not self._is_alone:
                _log.warning("rates count in this process alone until Redis answers: %s", error)
            self._is_alone = True
            return
        self._is_alone = False
        for caller, level in zip(spent, levels, strict=True):
            limiter.learn(caller, float(level), self._clock())

    async def _spend(self, limiter: RateLimiter, spent: dict[str, float]) -> list[Any]:
        rate = limiter.rate
        pipe = self._store.pipeline(transaction=False)
        for caller, amount in spent.items():
            arguments = [rate.burst, rate.per_second, amount]
            await self._script([f"gantry:rate:{rate.name}:{caller}"], arguments, client=pipe)
        found: list[Any] = await pipe.execute()
        return found

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(_PERIOD_SECONDS)
            await self.share()
