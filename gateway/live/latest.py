"""The last lists of groups and topics of each cluster, and what changed, read once for all sockets of a process."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Final
from weakref import WeakKeyDictionary

import msgspec
import redis.asyncio
from msgspec import Raw, Struct

from console import live
from console.deltas import ListDelta
from console.lag.lists import Kept, decoded_groups, decoded_topics
from console.lag.shapes import GroupSummary

_WILD: Final = frozenset("*?[")


class _Event(Struct):
    seq: int
    at: str
    data: ListDelta[Raw]


class _Named(Struct):
    name: str


_EVENT: Final = msgspec.json.Decoder(_Event)
_NAMED: Final = msgspec.json.Decoder(_Named)


@dataclass
class Groups:
    """The groups of a cluster as they were published at `at`."""

    at: str
    kept: Kept[GroupSummary]
    _found: dict[str, list[GroupSummary]] = field(default_factory=dict)

    def matching(self, pattern: str) -> list[GroupSummary]:
        """Return the groups of a name or pattern; looked for once for all sockets that watch the same."""
        found = self._found.get(pattern)
        if found is None:
            if _WILD.isdisjoint(pattern):
                group = self.kept.by_name.get(pattern)
                found = [] if group is None else [group]
            else:
                found = [group for group in self.kept.items if fnmatchcase(group.name, pattern)]
            self._found[pattern] = found
        return found


class Changes:
    """What changed of a list: the whole event as text, and its rows by name."""

    def __init__(self, text: bytes) -> None:
        event = _EVENT.decode(text)
        self.text = text.decode()
        self.seq = event.seq
        self.at = event.at
        self._as_of = event.data.at
        self._rows = {_NAMED.decode(row).name: row for row in event.data.changed}
        self._removed = frozenset(event.data.removed)
        self._usual = [(moment, names) for moment, names in event.data.measured if names is None]
        self._moments = {name: moment for moment, names in event.data.measured for name in names or ()}

    def of(self, names: Collection[str]) -> ListDelta[Raw]:
        """Return what changed of these rows alone."""
        moments: defaultdict[str, list[str]] = defaultdict(list)
        for name in names:
            if name in self._moments:
                moments[self._moments[name]].append(name)
        return ListDelta(
            at=self._as_of,
            changed=[self._rows[name] for name in names if name in self._rows],
            removed=[name for name in names if name in self._removed],
            measured=[*self._usual, *moments.items()],
        )


class Latest:
    """Reads what one Redis keeps; a thousand sockets that hear of one event cause one read."""

    def __init__(self, store: redis.asyncio.Redis) -> None:
        self._store = store
        self._groups: dict[str, Groups] = {}
        self._wholes: dict[str, tuple[int, Kept[Any]]] = {}
        self._changes: dict[str, tuple[int, Changes | None]] = {}
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def whole(self, subject: str, *, seq: int | None = None) -> Kept[Any] | None:
        """Return a list as of the event `seq`, by default as it is now; None if none was published for a minute."""
        async with self._turns[subject]:
            known = self._wholes.get(subject)
            # Equal, not at least: numbers begin again when Redis has lost its data.
            if known is not None and known[0] == seq:
                return known[1]
            if not await self._store.exists(live.state_key(subject)):
                self._wholes.pop(subject, None)
                return None
            number = await live.number_of(subject, store=self._store)
            if known is not None and known[0] == number:
                return known[1]
            text: Any = await self._store.get(live.state_key(subject))
            decode = decoded_groups if subject.startswith("groups:") else decoded_topics
            kept: Kept[Any] | None = None if text is None else decode(text)
            if kept is None:
                self._wholes.pop(subject, None)
            else:
                self._wholes[subject] = kept.seq, kept
            return kept

    async def groups(self, subject: str, *, seq: int | None = None) -> Groups | None:
        """Return the list of groups in the same way."""
        kept = await self.whole(subject, seq=seq)
        if kept is None:
            return None
        known = self._groups.get(subject)
        if known is None or known.kept is not kept:
            known = self._groups[subject] = Groups(kept.at, kept)
        return known

    async def changes(self, event: live.Event) -> Changes | None:
        """Return what changed with this event; None if that is not kept any more."""
        subject, seq = event["subject"], event["seq"]
        async with self._turns[f"changes of {subject}"]:
            known = self._changes.get(subject)
            if known is None or known[0] != seq:
                text: Any = await self._store.get(live.delta_key(subject))
                changes = None if text is None else Changes(text)
                known = self._changes[subject] = seq, changes if changes is not None and changes.seq == seq else None
            return known[1]


def rows_of(kept: Kept[Any], names: Iterable[str]) -> list[Any]:
    """Return the rows of these names that there are."""
    return [kept.by_name[name] for name in names if name in kept.by_name]


_of_store: Final[WeakKeyDictionary[redis.asyncio.Redis, Latest]] = WeakKeyDictionary()


def latest(store: redis.asyncio.Redis) -> Latest:
    """Return what the sockets of this Redis client share."""
    found = _of_store.get(store)
    if found is None:
        found = _of_store[store] = Latest(store)
    return found
