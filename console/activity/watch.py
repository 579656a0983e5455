"""The sampler's door to the feed: one call for each round, with what is in memory already."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

import msgspec
import redis
import redis.asyncio
from asgiref.sync import sync_to_async
from django.db import Error as DatabaseError

from console.activity import audited, feed
from console.activity.audited import AuditPlace
from console.activity.behind import BehindSeen
from console.activity.brokers import BrokersSeen
from console.activity.masters import MastersSeen
from console.activity.members import MembersSeen
from console.activity.moves import MovesSeen
from console.activity.names import NamesSeen
from console.activity.shapes import ActivityEvent, EventAlert, EventKind
from console.alerts.board import Change
from console.alerts.models import Rule
from console.lag.reading import LagReading
from console.lag.state import ClusterState
from console.moments import rfc3339

MOST_OF_A_KIND: Final = 20
"""More events of one kind in one round are counted, not told one by one."""
_MOST_WAITING: Final = 200
_AUDIT_EVERY_MS: Final = 2_000
# What the sampler sees may be the work of somebody who is in the audit a moment later.
_HOLD_MS: Final = 5_000
# Of a change over Gantry the sampler may hear so much later: lists are read the less often the longer they are.
_SAME_MS: Final = 60_000
_FAMILIES: Final = {"group_paused": "group_changed", "group_resumed": "group_changed"}

_Key = tuple[str, str | None, str | None]
_log = logging.getLogger(__name__)


class ActivityWatch:
    """Writes the feed of one cluster, round by round. Nothing that was so at its first round is an event."""

    def __init__(self, cluster: str, store: redis.asyncio.Redis) -> None:
        self._cluster = cluster
        self._store = store
        self._brokers = BrokersSeen()
        self._masters = MastersSeen()
        self._members = MembersSeen()
        self._names = NamesSeen()
        self._moves = MovesSeen()
        self._behind = BehindSeen()
        self._place: AuditPlace | None = None
        self._audit_at = 0
        self._held: list[tuple[int, ActivityEvent]] = []
        self._done: defaultdict[_Key, list[int]] = defaultdict(list)
        self._waiting: list[ActivityEvent] = []
        self._has_begun = False
        self._moved: set[str] = set()
        self._failed_before = False

    async def see(self, now: int, reading: LagReading, state: ClusterState, alerts: Sequence[Change] = ()) -> None:
        """Write down what happened until the round at `now` (ms); `alerts` are the changes of this round.

        A failure of the database or of Redis ends no round: the next one writes what is waiting.
        """
        noticed = self._brokers.step(reading, led=state.decided.keys())
        noticed += self._masters.step(now, state.decided)
        unsettled = self._brokers.unsettled(now)
        noticed += self._members.step(reading, unsettled)
        noticed += self._moves.step(reading)
        noticed += self._behind.step(now, state)
        self._held += [(now, event) for event in self._names.step(reading, unsettled)]
        self._waiting += _limited(noticed, now)
        try:
            await self._begin(now)
            await self._ask_database(now, alerts)
            self._release(now)
            await self._write()
            self._failed_before = False
        except (redis.RedisError, OSError) as error:
            self._note_failure(error)
            self._shorten(now)

    def take_moved(self) -> set[str]:
        """Return, once, the groups whose offsets were moved by a change that is in the audit."""
        moved, self._moved = self._moved, set()
        return moved

    def miss(self) -> None:
        """Note that a round ended before `see`."""
        self._behind.miss()

    async def _begin(self, now: int) -> None:
        if not self._has_begun:
            self._place = _decoded(await feed.kept_place(self._cluster, store=self._store))
            self._waiting.insert(0, ActivityEvent(seen_at=rfc3339(now), kind="watch_began"))
            self._has_begun = True

    async def _ask_database(self, now: int, alerts: Sequence[Change]) -> None:
        """Take what alerts and audit tell; without the database everything else is told all the same."""
        try:
            if alerts:
                self._waiting += await sync_to_async(_of_alerts)(alerts, now)
            if self._place is None:
                self._place = await sync_to_async(audited.place_at)(now)
            elif now - self._audit_at >= _AUDIT_EVERY_MS:
                await self._take_audit(now, self._place)
        except DatabaseError as error:
            self._note_failure(error)

    async def _take_audit(self, now: int, place: AuditPlace) -> None:
        events = await sync_to_async(audited.read)(self._cluster, place, now)
        self._audit_at = now
        for event in events:
            self._done[_key(event)].append(now)
            if event.kind == "offsets_changed" and event.group is not None:
                self._moved.add(event.group)
        self._waiting += _limited(events, now)

    def _note_failure(self, error: Exception) -> None:
        if not self._failed_before:
            _log.warning("cluster=%s: some events were not read or written (%s)", self._cluster, error)
        self._failed_before = True

    def _shorten(self, now: int) -> None:
        """Keep the newest of what waits for Redis, and how many were dropped."""
        dropped = len(self._waiting) - _MOST_WAITING
        if dropped > 0:
            before = sum(each.left_out or 0 for each in self._waiting[:dropped])
            told = sum(each.kind != "left_out" for each in self._waiting[:dropped])
            lost = ActivityEvent(seen_at=rfc3339(now), kind="left_out", left_out=before + told)
            self._waiting = [lost, *self._waiting[dropped:]]

    def _release(self, now: int) -> None:
        """Tell what is nobody's work over Gantry, and forget what is."""
        self._done = defaultdict(
            list, {key: kept for key, times in self._done.items() if (kept := [t for t in times if now - t < _SAME_MS])}
        )
        held, due = [], []
        for since, event in self._held:
            if self._done.get(_key(event)):
                self._done[_key(event)].pop(0)
            elif now - since < _HOLD_MS:
                held.append((since, event))
            else:
                due.append(event)
        self._held = held
        self._waiting += _limited(due, now)

    async def _write(self) -> None:
        if self._waiting:
            place = None if self._place is None else msgspec.json.encode(self._place)
            await feed.append(self._cluster, self._waiting, place, store=self._store)
            self._waiting = []


def _key(event: ActivityEvent) -> _Key:
    return _FAMILIES.get(event.kind, event.kind), event.topic, event.group


def _limited(events: Iterable[ActivityEvent], now: int) -> list[ActivityEvent]:
    """Return the events of one round; of many of one kind the first ones, and the number of the others."""
    kept: list[ActivityEvent] = []
    counts: defaultdict[EventKind, int] = defaultdict(int)
    for event in events:
        counts[event.kind] += 1
        if counts[event.kind] <= MOST_OF_A_KIND:
            kept.append(event)
    at = rfc3339(now)
    return kept + [
        ActivityEvent(seen_at=at, kind="left_out", left_out=count - MOST_OF_A_KIND, left_out_kind=kind)
        for kind, count in counts.items()
        if count > MOST_OF_A_KIND
    ]


def _of_alerts(changes: Sequence[Change], now: int) -> list[ActivityEvent]:
    """Return what fired and what was resolved; a limit that was crossed for too short a time is no event."""
    told: list[tuple[EventKind, Change]] = []
    for change in changes:
        if change.after.word == "firing" and change.before.fired_at is None:
            told.append(("alert_fired", change))
        elif change.after.word == "quiet" and change.before.fired_at is not None:
            told.append(("alert_resolved", change))
    rules = Rule.objects.in_bulk([change.rule for _, change in told])
    found = [
        ActivityEvent(
            seen_at=rfc3339(now),
            kind=kind,
            alert=EventAlert(rule=rule.name, metric=rule.metric, subject=change.subject),
        )
        for kind, change in told
        if (rule := rules.get(change.rule)) is not None
    ]
    return _limited(found, now)


def _decoded(kept: bytes | None) -> AuditPlace | None:
    if kept is None:
        return None
    try:
        return msgspec.json.decode(kept, type=AuditPlace)
    except msgspec.DecodeError as error:
        _log.warning("the place in the audit could not be read: %s", error)
        return None
