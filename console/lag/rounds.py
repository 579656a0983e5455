"""When the sampler last ended a round of each cluster: a round that finds a cluster silent is one, too."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

import redis.asyncio

_KEY: Final = "gantry:sampler:rounds"


async def keep(store: redis.asyncio.Redis, ended: Mapping[str, int]) -> None:
    """Keep the ends (ms since the epoch) of the last rounds, by cluster."""
    if ended:
        await store.hset(_KEY, mapping={name: str(at) for name, at in ended.items()})


async def forget(store: redis.asyncio.Redis, clusters: Collection[str]) -> None:
    """Drop the rounds of deleted clusters."""
    await store.hdel(_KEY, *clusters)


async def ends(store: redis.asyncio.Redis) -> dict[str, int]:
    """Return the end (ms since the epoch) of the last round by cluster."""
    kept: Any = await store.hgetall(_KEY)
    return {name.decode(): int(at) for name, at in kept.items()}
