"""The topics and groups that pages and sockets show now; they are measured first."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, cast

import redis
import redis.asyncio

from broker_core.clock import now_ms
from console import live
from console.lag.broker_watch import Shown

KEEP_MS: Final = 60_000
# A page shows a few dozen; a request for thousands is not a page.
MAX_NAMES: Final = 500
# Without a sampler each question begins anew: what pages showed before the newest two must not crowd those out.
_MOST_ASKED: Final = 100
_KEY: Final = "gantry:shown:"


def note_shown(store: redis.Redis, cluster: str, *, topics: Iterable[str] = (), groups: Iterable[str] = ()) -> None:
    """Note that a page shows these topics and groups now."""
    names = _noted(topics, groups)
    if names:
        pipe = store.pipeline(transaction=False)
        pipe.zadd(_KEY + cluster, names)
        pipe.pexpire(_KEY + cluster, KEEP_MS)
        pipe.execute()


async def anote_shown(
    store: redis.asyncio.Redis, cluster: str, *, topics: Iterable[str] = (), groups: Iterable[str] = ()
) -> None:
    """Do the same in a coroutine."""
    names = _noted(topics, groups)
    if names:
        pipe = store.pipeline(transaction=False)
        pipe.zadd(_KEY + cluster, names)
        pipe.pexpire(_KEY + cluster, KEEP_MS)
        await pipe.execute()


def _noted(topics: Iterable[str], groups: Iterable[str]) -> dict[str, int]:
    names = [f"topic:{name}" for name in topics] + [f"group:{name}" for name in groups]
    return dict.fromkeys(names[:MAX_NAMES], now_ms())


def find_shown(store: redis.Redis, cluster: str, now: int) -> Shown:
    """Return the topics and groups that pages showed last before `now` (ms), as many as one question can measure first.

    None if Redis does not answer.
    """
    try:
        found = store.zrevrangebyscore(_KEY + cluster, "+inf", now - KEEP_MS, start=0, num=_MOST_ASKED)
        return _shown_in(cast("list[bytes]", found))
    except redis.RedisError:
        return Shown()


def _shown_in(names: Iterable[bytes], groups: Iterable[str] = ()) -> Shown:
    kinds = [name.decode().partition(":") for name in names]
    return Shown(
        topics=frozenset(name for kind, _, name in kinds if kind == "topic"),
        groups=frozenset({*groups, *(name for kind, _, name in kinds if kind == "group")}),
    )


class ShownNames:
    """Collects the topics and groups of a cluster that pages and sockets show now."""

    def __init__(self, cluster: str, store: redis.asyncio.Redis) -> None:
        self._cluster = cluster
        self._store = store
        self.watched: set[str] = set()
        """The live subjects that have subscribers."""

    async def now(self, now: int) -> Shown:
        """Return the topics and groups shown at `now` (ms)."""
        key = _KEY + self._cluster
        pipe = self._store.pipeline(transaction=False)
        pipe.zremrangebyscore(key, "-inf", now - KEEP_MS)
        pipe.zrevrange(key, 0, MAX_NAMES - 1)
        _, shown = await pipe.execute()
        prefix = live.group(self._cluster, "")
        return _shown_in(shown, {each.removeprefix(prefix) for each in self.watched if each.startswith(prefix)})
