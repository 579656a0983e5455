"""Who receives by lease through this process: recorded in memory, and written to Redis at most once a second.

A consumer is a caller at one address, for a group. It exists while it receives, while it holds leases, and for half a
minute after its last request. Other processes tell which of its leases they settled.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Final, Literal

import redis.asyncio
from redis.exceptions import RedisError

from broker_core.client.errors import NotSupported
from broker_core.clock import now_ms
from console.lag import lease_consumers
from console.lag.shapes import LeaseConsumerState
from console.moments import rfc3339
from gateway.auth import Principal

# Above this number the oldest consumer is forgotten: callers choose the number of groups.
MAX_CONSUMERS: Final = 5_000
GONE_AFTER_MS: Final = 30_000
WRITE_SECONDS: Final = 1.0
_RENEW_MS: Final = lease_consumers.STALE_MS // 3

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Caller:
    """A caller by name, and its address."""

    name: str
    user: str
    kind: Literal["token", "user"]
    address: str

    @classmethod
    def of(cls, principal: Principal, address: str) -> Caller:
        """Return the principal as a caller from an address."""
        if principal.token_id is None:
            return cls(principal.name, principal.name, "user", address)
        return cls(principal.token_name or principal.name, principal.name, "token", address)


@dataclass(slots=True)
class _Leases:
    """Open leases of one portion, by queue offset, and when they end (ms)."""

    offsets: set[int]
    until: int


@dataclass(slots=True)
class _Consumer:
    since: int
    asked_at: int
    asking: int = 0
    leases: dict[str, _Leases] = field(default_factory=dict)
    """The open leases by portion."""

    @property
    def in_flight(self) -> int:
        return sum(len(each.offsets) for each in self.leases.values())

    def forget_ended(self, now: int) -> None:
        if any(each.until <= now for each in self.leases.values()):
            self.leases = {portion: each for portion, each in self.leases.items() if each.until > now}

    def is_gone(self, now: int) -> bool:
        return not self.asking and not self.leases and self.asked_at < now - GONE_AFTER_MS


_Place = tuple[str, str, Caller]


class LeaseConsumers:
    """The consumers of one process."""

    def __init__(self, store: redis.asyncio.Redis, *, clock: Callable[[], int] = now_ms) -> None:
        self._store = store
        self._now_ms = clock
        self._process = secrets.token_hex(6)
        self._consumers: dict[_Place, _Consumer] = {}
        self._holders: dict[str, _Consumer] = {}
        self._written: dict[str, tuple[int, dict[str, list[LeaseConsumerState]]]] = {}
        self._writer: asyncio.Task[None] | None = None
        # Not a cancellation: the Redis client may swallow one that coincides with its own time-out.
        self._closing = asyncio.Event()

    @contextmanager
    def asking(self, cluster: str, group: str, caller: Caller) -> Iterator[None]:
        """Record that the caller receives messages of the group until the block ends.

        A caller who is told that the brokers know no leases does not consume: it is forgotten at once.
        """
        consumer = self._consumer(cluster, group, caller)
        consumer.asking += 1
        consumer.asked_at = self._now_ms()
        try:
            yield
        except NotSupported:
            consumer.asked_at = self._now_ms() - GONE_AFTER_MS - 1
            raise
        else:
            consumer.asked_at = self._now_ms()
        finally:
            consumer.asking -= 1

    def leased(
        self, cluster: str, group: str, caller: Caller, portion: str, offsets: Iterable[int], lease_ms: int
    ) -> None:
        """Record that the caller holds leases of a portion from now on."""
        consumer = self._consumer(cluster, group, caller)
        consumer.asked_at = self._now_ms()
        leases = consumer.leases.get(portion)
        if leases is None:
            leases = consumer.leases[portion] = _Leases(set(), 0)
        leases.offsets.update(offsets)
        leases.until = consumer.asked_at + lease_ms
        self._holders[portion] = consumer

    def settled(self, portion: str, offsets: Iterable[int]) -> None:
        """Record that leases of a portion have ended."""
        consumer = self._holders.get(portion)
        leases = None if consumer is None else consumer.leases.get(portion)
        if consumer is None or leases is None:
            return
        leases.offsets.difference_update(offsets)
        if not leases.offsets:
            del consumer.leases[portion]
            del self._holders[portion]

    async def close(self) -> None:
        """Stop writing, and remove these consumers from Redis."""
        self._closing.set()
        if self._writer is not None:
            await self._writer
        with suppress(RedisError):
            for cluster in self._written:
                await self._store.hdel(lease_consumers.key(cluster), self._process)
        self._written.clear()

    def _consumer(self, cluster: str, group: str, caller: Caller) -> _Consumer:
        place = (cluster, group, caller)
        consumer = self._consumers.get(place)
        if consumer is None:
            if len(self._consumers) >= MAX_CONSUMERS:
                self._consumers.pop(next(iter(self._consumers)))
            now = self._now_ms()
            consumer = self._consumers[place] = _Consumer(now, now)
            if self._writer is None or self._writer.done():
                self._writer = asyncio.create_task(self._write_on(), name="lease consumers: write")
        return consumer

    async def _write_on(self) -> None:
        """Write the changes once a second until no consumer is left."""
        while (self._consumers or self._written) and not self._closing.is_set():
            try:
                await self._write(self._now_ms())
            except RedisError as error:
                _log.warning("redis: the lease consumers could not be written (%s)", error)
            with suppress(TimeoutError):
                async with asyncio.timeout(WRITE_SECONDS):
                    await self._closing.wait()

    async def _write(self, now: int) -> None:
        shown = self._shown(now)
        for cluster in shown.keys() | self._written.keys():
            groups = shown.get(cluster, {})
            written_at, written = self._written.get(cluster, (0, {}))
            key = lease_consumers.key(cluster)
            if not groups:
                await self._store.hdel(key, self._process)
                del self._written[cluster]
            elif groups != written or written_at < now - _RENEW_MS:
                await self._store.hset(key, self._process, lease_consumers.field_of(now, groups))
                await self._store.pexpire(key, 2 * lease_consumers.STALE_MS)
                self._written[cluster] = (now, groups)

    def _shown(self, now: int) -> dict[str, dict[str, list[LeaseConsumerState]]]:
        """Return the present consumers by cluster and group; forget the others."""
        for consumer in self._consumers.values():
            consumer.forget_ended(now)
        self._consumers = {place: each for place, each in self._consumers.items() if not each.is_gone(now)}
        if len(self._holders) > 2 * sum(len(each.leases) for each in self._consumers.values()) + 1_000:
            self._holders = {portion: each for each in self._consumers.values() for portion in each.leases}
        clusters: dict[str, dict[str, list[LeaseConsumerState]]] = {}
        for (cluster, group, caller), each in self._consumers.items():
            row = LeaseConsumerState(
                caller=caller.name,
                user=caller.user,
                kind=caller.kind,
                address=caller.address,
                since=rfc3339(each.since),
                in_flight=each.in_flight,
                last_receive_at=rfc3339(each.asked_at),
            )
            clusters.setdefault(cluster, {}).setdefault(group, []).append(row)
        return clusters
