"""The last list of groups of each cluster, read and decoded once for all sockets of a process."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from typing import Final
from weakref import WeakKeyDictionary

import redis.asyncio
from msgspec import Struct

from console import live
from console.lag.shapes import GroupList, GroupSummary
from console.moments import Moment


class Groups(Struct, frozen=True):
    """The groups of a cluster as they were published at `at`."""

    at: Moment
    items: list[GroupSummary]


class LatestGroups:
    """Reads the lists of groups from one Redis; a thousand sockets that hear of one event cause one read."""

    def __init__(self) -> None:
        self._read: dict[str, tuple[int, Groups | None]] = {}
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def after(self, event: live.Event, *, store: redis.asyncio.Redis) -> Groups | None:
        """Return the list as of this event or a later one; None if it is no longer kept."""
        subject, seq = event["subject"], event["seq"]
        async with self._turns[subject]:
            # Equal, not at least: numbers begin again when Redis has lost its data.
            known = self._read.get(subject)
            if known is None or known[0] != seq:
                known = self._read[subject] = (seq, await present(subject, store=store))
            return known[1]


async def present(subject: str, *, store: redis.asyncio.Redis) -> Groups | None:
    """Return the list as it is now; None if none was published for a minute."""
    event = await live.last_state(subject, store=store)
    if event is None:
        return None
    groups = live.read(event, GroupList)
    return Groups(event["at"], [] if groups is None else groups.items)


_of_store: Final[WeakKeyDictionary[redis.asyncio.Redis, LatestGroups]] = WeakKeyDictionary()


def latest_groups(store: redis.asyncio.Redis) -> LatestGroups:
    """Return what the sockets of this Redis client share."""
    return _of_store.setdefault(store, LatestGroups())
