"""Publishes the replicas of the broker names whose pages are open, so that a switch shows there by itself."""

from __future__ import annotations

import logging
from collections.abc import Collection
from typing import Any

import redis.asyncio
from asgiref.sync import sync_to_async
from django.db import DatabaseError
from redis.exceptions import RedisError

from broker_core.client.admin import Admin
from broker_core.errors import GantryError
from console import live
from console.clusters.reasons import reason_of
from console.replicas import history
from console.replicas.reading import asked, past_of, shown
from console.replicas.rounds import EVERY_MS, KEEP_SECONDS, Rounds
from console.replicas.shapes import Replicas

with_since = sync_to_async(history.with_since)
seen_before = sync_to_async(past_of)
_log = logging.getLogger(__name__)


class ReplicaPages:
    """Asks the processes of a name only while somebody watches it: thousands of replicas cost nothing else."""

    def __init__(self, cluster: str, store: redis.asyncio.Redis) -> None:
        self._cluster = cluster
        self._store = store
        self._publisher = live.Publisher(store, keep_seconds=KEEP_SECONDS)
        self._rounds = Rounds(f"replicas of {cluster}", EVERY_MS)
        self._failed_before = False

    def begin(self, admin: Admin, names: Collection[str], now: int) -> None:
        """Begin a round at `now` (ms) if one is due; `names` are the broker names that there are."""
        self._rounds.begin(now, lambda: self._look(admin, names))

    async def close(self) -> None:
        """Cancel a running round."""
        await self._rounds.close()

    async def look(self, admin: Admin, names: Collection[str]) -> None:
        """Publish each name that is watched, as a whole; raise what the client, Redis and the database raise."""
        states: dict[str, Replicas] = {}
        for name in await self._watched(sorted(names)):
            said = await asked(admin, name, await seen_before(self._cluster, name))
            if said.listed:
                states[live.replicas(self._cluster, name)] = await with_since(self._cluster, shown(name, said))
        await self._publisher.publish(states)

    async def _look(self, admin: Admin, names: Collection[str]) -> None:
        try:
            await self.look(admin, names)
            self._failed_before = False
        except (GantryError, RedisError, DatabaseError) as error:
            if not self._failed_before:
                words = reason_of(error) if isinstance(error, GantryError) else str(error)
                _log.warning("cluster=%s: open pages do not hear of replicas (%s)", self._cluster, words)
            self._failed_before = True

    async def _watched(self, names: list[str]) -> list[str]:
        pipe: Any = self._store.pipeline(transaction=False)
        for name in names:
            pipe.exists(live.watchers_key(live.replicas(self._cluster, name)))
        found = await pipe.execute()
        return [name for name, watchers in zip(names, found, strict=True) if watchers]
