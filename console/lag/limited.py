"""What a caller who may read some names alone is shown of a cluster. Unknown is None, never zero.

What is counted over all names together, such as the rates and the disks of brokers, would tell of the others: it is
None for whoever may not read the cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from msgspec.structs import replace

from broker_core.client.admin.topics import TopicKind, kind_of
from broker_core.protocol.topics import dead_letter_topic, retry_topic
from console.accounts.rights import EVERYTHING, Kind, Resource
from console.lag.group_state import has_no_offset
from console.lag.overview_state import lag_per_second_of, worst
from console.lag.shapes import BrokerState, GroupState, GroupSummary, OverviewSeries, OverviewState, Points, TopicState

MayRead = Callable[[Resource], bool]
G = TypeVar("G", bound=GroupSummary)
MOST_SUMMED: Final = 50
"""The history of more groups is not summed for one request."""


@dataclass(frozen=True, slots=True)
class Sight:
    """What a caller may read."""

    may_read: MayRead

    def is_whole(self, kind: Kind) -> bool:
        """Return whether that is every name of a kind."""
        return self.may_read(Resource(kind, EVERYTHING))

    def topics_of(self, group: str, topics: Iterable[str]) -> list[str]:
        """Return those of a group's topics that the caller may read; its own retries and dead letters belong to it."""
        return [topic for topic in topics if self.sees(group, topic)]

    def sees(self, group: str, topic: str) -> bool:
        """Return whether the caller may read one of a group's topics."""
        return topic in (retry_topic(group), dead_letter_topic(group)) or self.may_read(Resource("topic", topic))

    def group(self, group: G) -> G:
        """Return a group without the topics that the caller may not read."""
        if self.is_whole("topic"):
            return group
        topics = self.topics_of(group.name, group.topics)
        changes: dict[str, Any] = {"topics": topics}
        if isinstance(group, GroupState):
            seen = set(self.topics_of(group.name, {queue.topic for queue in group.queues}))
            changes["queues"] = [queue for queue in group.queues if queue.topic in seen]
            changes["topics_hidden"] = len(topics) < len(group.topics) or len(changes["queues"]) < len(group.queues)
        return replace(group, **changes)

    def groups(self, groups: Iterable[GroupSummary]) -> list[GroupSummary]:
        """Return the groups that the caller may read, each without the topics that it may not."""
        return [self.group(group) for group in groups if self.may_read(Resource("group", group.name))]

    def topics(self, topics: Iterable[TopicState], groups: Iterable[GroupSummary]) -> list[TopicState]:
        """Return the topics that the caller may read, with the figures of the groups that it may."""
        found = [topic for topic in topics if self.may_read(Resource("topic", topic.name))]
        if self.is_whole("group"):
            return found
        readers: dict[str, list[GroupSummary]] = {}
        for group in groups:
            for name in group.topics if self.may_read(Resource("group", group.name)) else ():
                readers.setdefault(name, []).append(group)
        # How far the others are behind, and what they consume, is in the figures of the sampler.
        return [
            replace(topic, groups=len(readers.get(topic.name, ())), max_lag=None, out_rate=None, last_known=None)
            for topic in found
        ]


def overview_of(
    whole: OverviewState, groups: Sequence[GroupSummary], topics: Iterable[TopicState], *, reads_cluster: bool
) -> OverviewState:
    """Return the key figures of these groups and topics, from those of the whole cluster."""
    shown = [topic for topic in topics if kind_of(topic.name) is TopicKind.NORMAL]
    lags, dead = _lags_of(whole, groups), [group.dead_letters for group in groups]
    return replace(
        whole,
        limited=True,
        in_rate=_sum(topic.in_rate for topic in shown),
        out_rate=_sum(group.out_rate for group in groups),
        **lags,
        dead_letters=_sum(dead),
        dead_letter_groups=None if None in dead else sum(bool(count) for count in dead),
        topics=None if whole.topics is None else len(shown),
        groups=None if whole.groups is None else len(groups),
        worst_groups=worst(groups),
        last_known=None,
        **({} if reads_cluster else _without_cluster(whole)),
    )


def series_of(groups: Sequence[Mapping[str, Points]], whole: OverviewSeries, *, reads_cluster: bool) -> OverviewSeries:
    """Return the history of these groups together; of what all names have together only who reads the cluster has it.

    Each group has `lag`, `out_rate` and `time_lag_ms`.
    """
    nothing: Points = [None] * len(whole.total_lag)
    lag, out_rate, oldest = (
        [_joined(points, join) for points in zip(*(group[column] for group in groups), strict=True)] or nothing
        for column, join in (("lag", sum), ("out_rate", sum), ("time_lag_ms", max))
    )
    return OverviewSeries(
        in_rate=nothing,
        out_rate=out_rate,
        total_lag=lag,
        oldest_unconsumed_ms=oldest,
        disk_used_ratio=whole.disk_used_ratio if reads_cluster else nothing,
    )


def _lags_of(whole: OverviewState, groups: Sequence[GroupSummary]) -> dict[str, Any]:
    unknown = sum(group.lag is None and not has_no_offset(group) for group in groups)
    if unknown or whole.missing or whole.unknown_reason is not None:
        names = ("total_lag", "lag_per_second", "oldest_unconsumed_ms", "oldest_group", "groups_behind", "groups_timed")
        return {**dict.fromkeys(names), "lag_unknown_groups": unknown}
    behind = [group for group in groups if group.lag]
    timed = [(group.time_lag_ms, group.name) for group in behind if group.time_lag_ms is not None]
    oldest_ms, oldest_group = max(timed, default=(0, None)) if len(timed) == len(behind) else (None, None)
    return {
        "lag_unknown_groups": 0,
        "total_lag": sum(group.lag or 0 for group in groups),
        "lag_per_second": lag_per_second_of(groups),
        "oldest_unconsumed_ms": oldest_ms,
        "oldest_group": oldest_group,
        "groups_behind": len(behind),
        "groups_timed": len(timed),
    }


def _without_cluster(whole: OverviewState) -> dict[str, Any]:
    brokers = [
        BrokerState(
            name=broker.name,
            address=broker.address,
            broker_id=broker.broker_id,
            role=broker.role,
            replica_id=broker.replica_id,
            reachable=broker.reachable,
            reason=broker.reason,
        )
        for broker in whole.brokers
    ]
    return {"brokers": brokers, **dict.fromkeys(("disk_used_ratio", "disk_days_to_full", "uptime_ms"))}


def _sum(values: Iterable[Any]) -> Any:
    return _joined(list(values), sum)


def _joined(values: Sequence[Any], join: Callable[[Sequence[Any]], Any]) -> Any:
    """Return the values joined; None if one of them is unknown."""
    return None if None in values else join(values)
