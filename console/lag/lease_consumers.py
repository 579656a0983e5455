"""Who receives by lease over HTTP and WebSocket: the sum of what the gateway processes keep in Redis.

Each process writes one field of the cluster's hash, and deletes it when it stops. The field of a killed process is not
renewed and counts for half a minute. Knows no Django: the gateway's data plane writes here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec
import redis
import redis.asyncio
from msgspec import Struct

from console.lag.shapes import LeaseConsumerState

# A live process renews its field well before this time.
STALE_MS: Final = 30_000

_Key = tuple[str, str, str, str, str]


class _Written(Struct, frozen=True):
    """What one process knew at `at` (ms), by group."""

    at: int
    groups: Mapping[str, list[LeaseConsumerState]]


_DECODER: Final = msgspec.json.Decoder(_Written)


def key(cluster: str) -> str:
    """Return the hash of a cluster: process → `field_of` what it knows."""
    return f"gantry:lease-consumers:{cluster}"


def field_of(at: int, groups: Mapping[str, list[LeaseConsumerState]]) -> bytes:
    """Return what a process writes at `at` (ms)."""
    return msgspec.json.encode(_Written(at, groups))


async def find(store: redis.asyncio.Redis, cluster: str, now: int) -> dict[str, list[LeaseConsumerState]] | None:
    """Return the consumers of each group that has any; None when Redis does not answer."""
    try:
        fields: Any = await store.hgetall(key(cluster))
    except redis.RedisError:
        return None
    return added(fields, now)


def find_sync(store: redis.Redis, cluster: str, now: int) -> dict[str, list[LeaseConsumerState]] | None:
    """Return the consumers of each group that has any; None when Redis does not answer."""
    try:
        fields: Any = store.hgetall(key(cluster))
    except redis.RedisError:
        return None
    return added(fields, now)


def added(fields: Mapping[bytes, bytes], now: int) -> dict[str, list[LeaseConsumerState]]:
    """Merge what the processes know: a caller that two see is one consumer. Skip a field that cannot be read."""
    found: dict[_Key, LeaseConsumerState] = {}
    for field in fields.values():
        try:
            known = _DECODER.decode(field)
        except msgspec.DecodeError:  # a process of another version wrote it
            continue
        if known.at < now - STALE_MS:
            continue
        for group, consumers in known.groups.items():
            for consumer in consumers:
                place = (group, consumer.kind, consumer.user, consumer.caller, consumer.address)
                found[place] = _together(found[place], consumer) if place in found else consumer
    groups: dict[str, list[LeaseConsumerState]] = {}
    for (group, *_), consumer in sorted(found.items(), key=lambda each: each[0]):
        groups.setdefault(group, []).append(consumer)
    return groups


def _together(one: LeaseConsumerState, other: LeaseConsumerState) -> LeaseConsumerState:
    return msgspec.structs.replace(
        one,
        since=min(one.since, other.since),
        in_flight=one.in_flight + other.in_flight,
        last_receive_at=max(one.last_receive_at, other.last_receive_at),
    )
