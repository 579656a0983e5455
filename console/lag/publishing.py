"""Publishes the states of one cluster: what late readers find, and what subscribers hear.

The lists of groups and topics are kept as whole events and as what changed since the event before (`console.deltas`);
whoever watches a list is told only that there is a new one, and reads it once for all sockets of a process. The details
of groups are fields of one hash, of which only those that changed are written again; its field `live.MOMENTS` says when
each of them was measured. So what stays as it is costs Redis and sockets nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final, TypeVar

import msgspec
import redis.asyncio
from channels.layers import get_channel_layer

from broker_core.clock import now_ms
from console import live
from console.deltas import ListDelta, delta_of, moments_of
from console.lag.shapes import GroupList, GroupState, GroupSummary, TopicList, TopicState
from console.lag.state import ClusterState, differ
from console.moments import rfc3339

R = TypeVar("R", GroupState, TopicState)

_AT_ONCE: Final = 1000


class ClusterPublisher:
    """Publishes one cluster; remembers what it published last."""

    def __init__(self, cluster: str, store: redis.asyncio.Redis) -> None:
        self._cluster = cluster
        self._store = store
        self._last: ClusterState | None = None
        """None until something was published, and after a failure: then readers get everything."""
        self._rows: dict[str, GroupSummary] = {}
        self._numbers: dict[str, int] = {}

    async def publish(self, state: ClusterState, shown: Collection[str]) -> set[str]:
        """Publish a state in two round trips; return the subjects with subscribers.

        Subscribers of single groups are looked for among `shown`; among all when nothing was published before.
        """
        last, self._last = self._last, None
        changed = _changed_groups(last, state)
        self._summarize(state, changed)
        lists = self._lists(last, state, changed)
        subject = live.overview(self._cluster)
        numbers = await live.number([subject, *lists], self._store)
        at = rfc3339(now_ms())
        overview = live.event(subject, numbers[subject], at, state.overview)
        names = state.groups if last is None else (name for name in shown if name in state.groups)
        details = {live.group(self._cluster, name): name for name in names}
        watched = await self._keep(state, changed, last, lists, numbers, overview, at, details)
        heard = [overview] if subject in watched else []
        heard += [_notice(each, numbers[each], at) for each in lists if each in watched]
        watched_details = await live.number([each for each in details if each in watched], self._store)
        heard += [live.event(each, seq, at, state.groups[details[each]]) for each, seq in watched_details.items()]
        await _tell(heard)
        self._last, self._numbers = state, numbers
        return watched

    def _summarize(self, state: ClusterState, changed: Collection[str] | None) -> None:
        rows = self._rows
        for name, group in state.groups.items():
            row = rows.get(name)
            if row is None or changed is None or name in changed:
                rows[name] = group.summary()
            else:
                row.measured_at = group.measured_at
        if len(rows) > len(state.groups) or changed is None:
            self._rows = {name: rows[name] for name in state.groups}

    def _lists(
        self, last: ClusterState | None, state: ClusterState, changed: Collection[str] | None
    ) -> dict[str, tuple[GroupList | TopicList, ListDelta[Any] | None]]:
        at = state.overview.at
        groups = GroupList(at=at, items=list(self._rows.values()))
        topics = TopicList(at=at, items=list(state.topics.values()))
        deltas: tuple[ListDelta[Any] | None, ListDelta[Any] | None] = None, None
        if last is not None:
            assert changed is not None
            moved = _changed_in(last.topics, state.topics, None if state.changed is None else state.changed.topics)
            deltas = (
                delta_of(at, groups.items, set(changed), last.groups.keys() - state.groups.keys()),
                delta_of(at, topics.items, moved, last.topics.keys() - state.topics.keys()),
            )
        return {
            live.groups(self._cluster): (groups, deltas[0]),
            live.topics(self._cluster): (topics, deltas[1]),
        }

    async def _keep(
        self,
        state: ClusterState,
        changed: Collection[str] | None,
        last: ClusterState | None,
        lists: Mapping[str, tuple[GroupList | TopicList, ListDelta[Any] | None]],
        numbers: Mapping[str, int],
        overview: live.Event,
        at: str,
        details: Collection[str],
    ) -> set[str]:
        pipe = self._store.pipeline(transaction=True)
        live.keep(pipe, overview["subject"], msgspec.json.encode(overview))
        for subject, (whole, delta) in lists.items():
            number = numbers[subject]
            live.keep(pipe, subject, msgspec.json.encode(live.event(subject, number, at, whole, plain=False)))
            if delta is not None and self._numbers.get(subject) == number - 1:
                kept = msgspec.json.encode(live.event(subject, number, at, delta, kind="delta", plain=False))
                pipe.set(live.delta_key(subject), kept, ex=live.KEEP_SECONDS)
            else:
                pipe.delete(live.delta_key(subject))
        self._keep_details(pipe, state, changed, last)
        asked = [*numbers, *details]
        for subject in asked:
            pipe.exists(live.watchers_key(subject))
        answers = await pipe.execute()
        return {subject for subject, found in zip(asked, answers[-len(asked) :], strict=True) if found}

    def _keep_details(
        self,
        pipe: Any,
        state: ClusterState,
        changed: Collection[str] | None,
        last: ClusterState | None,
    ) -> None:
        key = live.details_key(self._cluster)
        if last is None:
            pipe.delete(key)
        written = list(state.groups) if last is None or changed is None else list(changed)
        for begin in range(0, len(written), _AT_ONCE):
            part = written[begin : begin + _AT_ONCE]
            pipe.hset(key, mapping={name: msgspec.json.encode(state.groups[name]) for name in part})
        gone = [] if last is None else list(last.groups.keys() - state.groups.keys())
        if gone:
            pipe.hdel(key, *gone)
        moments = live.Moments(at=state.overview.at, measured=moments_of(state.groups.values()))
        pipe.hset(key, live.MOMENTS, msgspec.json.encode(moments))
        pipe.expire(key, live.KEEP_SECONDS)


def _changed_groups(last: ClusterState | None, state: ClusterState) -> set[str] | None:
    """Return the groups that are new or differ since the state published last; None if that is not known."""
    if last is None:
        return None
    return _changed_in(last.groups, state.groups, None if state.changed is None else state.changed.groups)


def _changed_in(before: Mapping[str, R], now: Mapping[str, R], told: Iterable[str] | None) -> set[str]:
    if told is not None:
        return set(told)
    return {name for name, row in now.items() if name not in before or differ(before[name], row)}


def _notice(subject: str, number: int, at: str) -> live.Event:
    """Return what subscribers of a list hear: that it is another one."""
    return live.Event(type="delta", subject=subject, seq=number, at=at, data=None)


async def _tell(events: Iterable[live.Event]) -> None:
    layer = get_channel_layer()
    assert layer is not None
    for event in events:
        await layer.group_send(live.channel_group(event["subject"]), dict(event))
