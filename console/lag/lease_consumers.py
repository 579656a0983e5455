"""Who receives by lease over HTTP and WebSocket: what the gateway processes keep in Redis, added together.

Each process writes one field of the cluster's hash, and drops it when it ends. A process that was killed leaves a field
that nobody renews; it counts for half a minute. Knows no Django: the gateway's data plane writes here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypedDict

import orjson
import redis
import redis.asyncio

# A field is renewed well before; longer than this it is of a process that is no more.
STALE_MS: Final = 30_000

_Key = tuple[str, str, str, str, str]


class LeaseConsumer(TypedDict):
    """A token of a user, or the user in person, at one address, for a group."""

    caller: str
    user: str
    kind: str
    address: str
    since: str
    in_flight: int
    last_receive_at: str


def key(cluster: str) -> str:
    """Return the hash of a cluster: process → `field_of` what it knows."""
    return f"gantry:lease-consumers:{cluster}"


def field_of(at: int, groups: Mapping[str, list[LeaseConsumer]]) -> bytes:
    """Return what a process writes at `at` (ms)."""
    return orjson.dumps({"at": at, "groups": groups})


async def find(store: redis.asyncio.Redis, cluster: str, now: int) -> dict[str, list[LeaseConsumer]] | None:
    """Return the consumers of each group that has any; None when Redis does not answer."""
    try:
        fields: Any = await store.hgetall(key(cluster))
    except redis.RedisError:
        return None
    return added(fields, now)


def find_sync(store: redis.Redis, cluster: str, now: int) -> dict[str, list[LeaseConsumer]] | None:
    """Return the consumers of each group that has any; None when Redis does not answer."""
    try:
        fields: Any = store.hgetall(key(cluster))
    except redis.RedisError:
        return None
    return added(fields, now)


def added(fields: Mapping[bytes, bytes], now: int) -> dict[str, list[LeaseConsumer]]:
    """Return what all processes know together: a caller that two of them see is one consumer."""
    found: dict[_Key, LeaseConsumer] = {}
    for field in fields.values():
        known = orjson.loads(field)
        if known["at"] < now - STALE_MS:
            continue
        for group, consumers in known["groups"].items():
            for consumer in consumers:
                place = (group, consumer["kind"], consumer["user"], consumer["caller"], consumer["address"])
                found[place] = _together(found[place], consumer) if place in found else consumer
    groups: dict[str, list[LeaseConsumer]] = {}
    for (group, *_), consumer in sorted(found.items(), key=lambda each: each[0]):
        groups.setdefault(group, []).append(consumer)
    return groups


def _together(one: LeaseConsumer, other: LeaseConsumer) -> LeaseConsumer:
    return {
        **one,
        "since": min(one["since"], other["since"]),
        "in_flight": one["in_flight"] + other["in_flight"],
        "last_receive_at": max(one["last_receive_at"], other["last_receive_at"]),
    }
