"""Makes the dead-letter topics of groups: each once, however many dead letters ask for it at the same time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

import redis.asyncio
from redis.exceptions import RedisError

from broker_core.client.errors import TopicNotFound
from console.clusters.connections import Connections
from gateway.data.audit_notes import Note
from gateway.data.consumers import Caller

# Longer than a creation takes: a process that ends meanwhile does not hold up the others for ever.
_LOCK_S: Final = 10.0

_log = logging.getLogger(__name__)


class DeadLetterTopics:
    """The dead-letter topics that are being made, and the reports of them to the audit."""

    def __init__(self, connections: Connections, store: redis.asyncio.Redis, note: Callable[[Note], None]) -> None:
        self._connections = connections
        self._store = store
        self._note = note
        self._making: dict[tuple[str, str], asyncio.Task[None]] = {}

    async def make(self, cluster: str, topic: str, who: Caller, request_id: str) -> None:
        """Return when the topic exists; report it as created by `who` if this call made it."""
        place = cluster, topic
        making = self._making.get(place)
        if making is None:
            making = self._making[place] = asyncio.create_task(self._make(cluster, topic, who, request_id))
            making.add_done_callback(lambda _: self._making.pop(place))
        # Others wait for it, too: it goes on if the request that began it ends.
        await asyncio.shield(making)

    async def _make(self, cluster: str, topic: str, who: Caller, request_id: str) -> None:
        admin = await self._connections.admin(cluster)
        async with self._alone(cluster, topic):
            try:
                await admin.topics.route(topic)
            except TopicNotFound:
                (await admin.topics.create(topic, read_queues=1, write_queues=1)).raise_if_none()
                made = f"{cluster}/topics/{topic}"
                self._note(Note(who, "topic.create", made, "ok", request_id, "made by its first dead letter"))

    @asynccontextmanager
    async def _alone(self, cluster: str, topic: str) -> AsyncIterator[None]:
        """Keep out the other processes; without Redis nobody is kept out, which at worst reports the topic twice."""
        lock = self._store.lock(f"gantry:making:{cluster}/{topic}", timeout=_LOCK_S, blocking_timeout=_LOCK_S)
        is_held = False
        try:
            is_held = await lock.acquire()
        except RedisError as error:
            _log.warning("topic=%s: made without a lock: %s", topic, error)
        try:
            yield
        finally:
            if is_held:
                await self._release(lock, topic)

    async def _release(self, lock: redis.asyncio.lock.Lock, topic: str) -> None:
        try:
            await lock.release()
        except RedisError as error:
            _log.warning("topic=%s: its lock ends by itself: %s", topic, error)
