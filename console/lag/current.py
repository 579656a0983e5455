"""The current state of a cluster: the last one that the sampler published, or else the answers of its brokers."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final, TypeVar

import redis

from broker_core.client.admin import Admin
from broker_core.client.errors import GroupNotFound
from broker_core.clock import now_ms
from broker_core.protocol.codes import ResponseCode
from console import live
from console.accounts.rights import Resource
from console.clusters import connections
from console.clusters.connections import ClusterUnknown
from console.clusters.memory import Remembered, Sighting, aremembered
from console.clusters.single_flight import SingleFlight
from console.errors import RedisUnreachable
from console.lag import history, lease_consumers, limited, lists, shown
from console.lag.group_state import has_no_offset
from console.lag.limited import Sight
from console.lag.overview_state import WORST_GROUPS
from console.lag.reading import Reader
from console.lag.shapes import (
    GroupState,
    GroupSummary,
    LagHistory,
    LagSeries,
    OverviewHistory,
    OverviewSeries,
    OverviewState,
    Points,
    TopicState,
)
from console.lag.state import ClusterState, StateBuilder
from console.moments import rfc3339
from console.redis_client import store

# An older state no longer says whether a cluster can be reached.
_FRESH_MS: Final = 15_000
# A single request waits longer for the brokers than a step of the sampler, which repeats.
_PATIENCE_SECONDS: Final = 3.0

S = TypeVar("S")
R = TypeVar("R", GroupSummary, TopicState)

_log = logging.getLogger(__name__)
_single_flight: SingleFlight[ClusterState] = SingleFlight()


def overview(cluster: str) -> OverviewState:
    """Return the key figures; raise ClusterNotFound."""
    return _sampled(live.overview(cluster), OverviewState) or _asked(cluster).overview


def groups(cluster: str) -> list[GroupSummary]:
    """Return the summary of every consumer group; raise ClusterNotFound or ClusterUnknown."""
    sampled = _listed(cluster, lists.find_groups)
    rows = sampled.items if sampled else [group.summary() for group in _asked(cluster).groups.values()]
    if not rows:
        _require_known(cluster)
    return rows


def find_group(cluster: str, name: str) -> GroupState | None:
    """Return one group as sampled last, queue by queue, or None; asks no broker."""
    try:
        detail = live.last_detail(cluster, name, store=store())
    except redis.RedisError:
        return None
    return None if detail is None else live.read(detail, GroupState)


def group(cluster: str, name: str) -> GroupState:
    """Return one group, queue by queue; raise ClusterNotFound, ClusterUnknown or GroupNotFound."""
    sampled = find_group(cluster, name)
    if sampled:
        return sampled
    # A request that was already running may have begun before the group was created.
    asked = _asked(cluster).groups.get(name) or _asked(cluster).groups.get(name)
    if asked is None:
        _require_known(cluster)
        raise GroupNotFound(ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST, f"no consumer group is named {name!r}", cluster)
    return asked


def _require_known(cluster: str) -> None:
    """Raise ClusterUnknown if no broker ever reported the content of the cluster: an empty list would be wrong."""
    shown = overview(cluster)
    if shown.groups is None:
        raise ClusterUnknown(cluster, shown.unknown_reason or "no broker has answered yet")


def topics(cluster: str) -> Mapping[str, TopicState]:
    """Return the figures of every topic by name; raise ClusterNotFound."""
    sampled = _listed(cluster, lists.find_topics)
    return sampled.by_name if sampled else _asked(cluster).topics


def note_shown(cluster: str, *, topics: Iterable[str] = (), groups: Iterable[str] = ()) -> None:
    """Ask the sampler to measure first what a page shows now."""
    try:
        shown.note_shown(store(), cluster, topics=topics, groups=groups)
    except redis.RedisError as error:
        _log.warning("redis: the watched topics and groups were not recorded (%s)", error)


def find_overview(cluster: str) -> OverviewState | None:
    """Return the key figures as sampled in the last seconds, or None; asks no broker."""
    sampled = _sampled(live.overview(cluster), OverviewState)
    return None if sampled is None or sampled.at < rfc3339(now_ms() - _FRESH_MS) else sampled


def overview_seen(cluster: str, sight: Sight) -> OverviewState:
    """Return the key figures of what a caller may read who may not read everything; raise ClusterNotFound."""
    whole = overview(cluster)
    # Of a cluster that never answered nothing is known, whatever one may read.
    found = [] if whole.groups is None else sight.groups(groups(cluster))
    shown = sight.topics(topics(cluster).values(), found)
    return limited.overview_of(whole, found, shown, reads_cluster=sight.may_read(Resource("cluster", cluster)))


def overview_history(cluster: str, wanted: str, sight: Sight | None = None) -> OverviewHistory:
    """Return the history of the key figures over one of `history.RANGES`, with the lag of the worst groups.

    `sight` limits it to what the caller may read.
    """
    range_ = history.RANGES[wanted]
    end = history.end_of(range_, now_ms())
    shown = groups(cluster) if sight is None else sight.groups(groups(cluster))
    counted = (each for each in shown if not has_no_offset(each))
    worst = sorted(counted, key=lambda each: each.lag or 0, reverse=True)[:WORST_GROUPS]
    series = OverviewSeries(**_series(history.overview_key(cluster), OverviewSeries.__struct_fields__, range_, end))
    if sight is not None:
        summed = [] if len(shown) > limited.MOST_SUMMED else shown
        of_groups = [_series(history.group_key(cluster, g.name), history.GROUP_COLUMNS, range_, end) for g in summed]
        reads_cluster = sight.may_read(Resource("cluster", cluster))
        series = limited.series_of(of_groups, series, reads_cluster=reads_cluster)
    return OverviewHistory(
        step_ms=range_.step_ms,
        begin=rfc3339(end - range_.span_ms),
        to=rfc3339(end),
        series=series,
        group_lag={each.name: _lag_series(cluster, each.name, range_, end).lag for each in worst},
    )


def group_history(cluster: str, name: str, wanted: str) -> LagHistory:
    """Return the history of a group's lag over one of `history.RANGES`."""
    range_ = history.RANGES[wanted]
    end = history.end_of(range_, now_ms())
    return LagHistory(
        step_ms=range_.step_ms,
        begin=rfc3339(end - range_.span_ms),
        to=rfc3339(end),
        series=_lag_series(cluster, name, range_, end),
    )


def _lag_series(cluster: str, name: str, range_: history.Range, end: int) -> LagSeries:
    return LagSeries(**_series(history.group_key(cluster, name), LagSeries.__struct_fields__, range_, end))


def _series(key: str, columns: Sequence[str], range_: history.Range, end: int) -> dict[str, Points]:
    try:
        return history.read(store(), key, columns, range_, end=end)
    except redis.RedisError as error:
        raise RedisUnreachable from error


def _sampled(subject: str, shape: type[S]) -> S | None:
    """Return the newest state of the last minute, or None; asking the brokers would take longer."""
    try:
        event = live.last_state_sync(subject, store=store())
    except redis.RedisError:  # without Redis there are no samples, but the brokers can still be asked
        return None
    return None if event is None else live.read(event["data"], shape)


def _listed(cluster: str, find: Callable[[str, redis.Redis], lists.Kept[R] | None]) -> lists.Kept[R] | None:
    """Return the newest list of the last minute, or None; asking the brokers would take longer."""
    try:
        return find(cluster, store())
    except redis.RedisError:
        return None


def _asked(cluster: str) -> ClusterState:
    """Ask the brokers; concurrent callers share one question."""
    now = now_ms()
    consumers = lease_consumers.find_sync(store(), cluster, now)
    wanted = shown.find_shown(store(), cluster, now)

    async def question(admin: Admin) -> ClusterState:
        reader = Reader(admin, _Recalled(cluster), first_patience=_PATIENCE_SECONDS)
        try:
            reading = await reader.step(now_ms(), wanted)
            reading.lease_consumers = consumers
            return StateBuilder().step(reading)
        finally:
            await reader.close()

    return _single_flight.join(cluster, lambda: connections.ask(cluster, question))


class _Recalled:
    """The memory of a cluster, read only: only the sampler writes it."""

    def __init__(self, cluster: str) -> None:
        self._cluster = cluster

    async def recall(self) -> Remembered:
        return await aremembered(self._cluster)

    async def keep(self, sightings: Iterable[Sighting], at: datetime) -> None:
        """Do nothing: the sampler writes the memory."""
