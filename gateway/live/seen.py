"""The lists of groups and topics as callers see them who may not read every name, made once for all of equal rights.

A row of a group names topics, and a row of a topic counts groups, so whoever may read the row may still not read what
is in it. What changed is told by comparing what was seen: the sampler's own list of changes would tell of the others.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final
from weakref import WeakKeyDictionary

import redis.asyncio

from console import live
from console.accounts.deciding import Rights
from console.deltas import ListDelta, delta_of
from console.lag.limited import Sight
from console.lag.lists import Kept
from console.lag.shapes import GroupSummary
from console.lag.state import differ
from gateway.live.latest import Latest, latest

_MOST_KEPT: Final = 256

Readers = Mapping[str, Sequence[GroupSummary]]
Names = tuple[str, ...] | None
"""The rows that are shown; None for all."""


class Seen:
    """One list of a cluster for callers of equal rights; a row is filtered when somebody first asks for it."""

    def __init__(self, kept: Kept[Any], sight: Sight, readers: Readers | None) -> None:
        self.kept = kept
        self.before: Seen | None = None
        """What was seen with the event before this one; None if nobody looked then."""
        self._sight = sight
        self._readers = readers
        self._rows: dict[str, Any] = {}
        self._changes: dict[Names, ListDelta[Any]] = {}

    def items(self, names: Names) -> list[Any]:
        """Return these rows, as far as there are such and the caller may read them."""
        wanted = self.kept.by_name if names is None else names
        return [row for name in wanted if (row := self._row(name)) is not None]

    def changes(self, names: Names) -> ListDelta[Any] | None:
        """Return what of these rows changed with this event; None if it is not known what was seen before."""
        if self.before is None:
            return None
        found = self._changes.get(names)
        if found is None:
            rows = self.items(names)
            old = {row.name: row for row in self.before.items(names)}
            changed = {row.name for row in rows if row.name not in old or differ(old[row.name], row)}
            gone = old.keys() - {row.name for row in rows}
            found = self._changes[names] = delta_of(self.kept.as_of, rows, changed, sorted(gone))
        return found

    def _row(self, name: str) -> Any:
        if name not in self._rows:
            whole = self.kept.by_name.get(name)
            self._rows[name] = None if whole is None else self._filtered(whole)
        return self._rows[name]

    def _filtered(self, whole: Any) -> Any:
        readers = self._readers
        seen: Sequence[Any] = (
            self._sight.groups([whole]) if readers is None else self._sight.topics([whole], readers.get(whole.name, ()))
        )
        return seen[0] if seen else None


class SeenLists:
    """What the sockets of one Redis client share."""

    def __init__(self, latest: Latest) -> None:
        self._latest = latest
        self._seen: dict[tuple[str, Rights], Seen] = {}
        self._readers: dict[str, tuple[Kept[GroupSummary] | None, Readers]] = {}

    async def of(self, subject: str, rights: Rights, *, seq: int | None = None) -> Seen | None:
        """Return a list as of the event `seq`, by default as it is now; None if none was published for a minute."""
        kept = await self._latest.whole(subject, seq=seq)
        if kept is None:
            return None
        readers = await self._readers_of(subject)
        known = self._seen.pop((subject, rights), None)
        if known is None or known.kept is not kept:
            now = Seen(kept, Sight(lambda resource: rights.may("read", resource)), readers)
            if known is not None and known.kept.seq == kept.seq - 1:
                known.before, now.before = None, known
            known = now
        # The one that was asked for last stands last, so the first is the one to forget.
        self._seen[subject, rights] = known
        if len(self._seen) > _MOST_KEPT:
            del self._seen[next(iter(self._seen))]
        return known

    async def _readers_of(self, subject: str) -> Readers | None:
        """Return the groups that consume each topic, if the list is one of topics."""
        kind, _, cluster = subject.partition(":")
        if kind != "topics":
            return None
        kept = await self._latest.whole(live.groups(cluster))
        found = self._readers.get(cluster)
        if found is None or found[0] is not kept:
            found = self._readers[cluster] = kept, _by_topic([] if kept is None else kept.items)
        return found[1]


def _by_topic(groups: Iterable[GroupSummary]) -> Readers:
    readers: defaultdict[str, list[GroupSummary]] = defaultdict(list)
    for group in groups:
        for topic in group.topics:
            readers[topic].append(group)
    return readers


_of_store: Final[WeakKeyDictionary[redis.asyncio.Redis, SeenLists]] = WeakKeyDictionary()


def seen_lists(store: redis.asyncio.Redis) -> SeenLists:
    """Return what the sockets of this Redis client share."""
    found = _of_store.get(store)
    if found is None:
        found = _of_store[store] = SeenLists(latest(store))
    return found
