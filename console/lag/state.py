"""Makes the states of a cluster, its groups and its topics from readings. Unknown is None, never zero."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from broker_core.client.admin.clusters import BrokerAddress
from broker_core.client.admin.topics import Topic, TopicKind
from broker_core.protocol.topics import dead_letter_topic
from console.lag.group_state import GroupStates, has_no_offset, missing_of
from console.lag.rates import Rates
from console.lag.reading import LagReading, Missing
from console.lag.shapes import (
    BrokerState,
    GroupState,
    LastKnown,
    OverviewLastKnown,
    OverviewState,
    TopicLastKnown,
    TopicState,
)
from console.moments import rfc3339

WORST_GROUPS: Final = 5
_DISK_SPAN_MS: Final = 24 * 3600 * 1000
# Less than an hour is too short to extrapolate when a disk will be full.
_DISK_SHORTEST_MS: Final = 3600 * 1000
_DISK_STEP_MS: Final = 60 * 1000
# Among many topics a quiet one is read once in minutes; its rate is as old as its figures, which show their age.
_TOPIC_STALE_MS: Final = 15 * 60 * 1000


@dataclass(frozen=True, slots=True)
class ClusterState:
    """The states of one second, to be published and stored."""

    overview: OverviewState
    groups: dict[str, GroupState]
    topics: dict[str, TopicState]


@dataclass(frozen=True, slots=True)
class _Lags:
    """The lag of all groups together; a figure that is unknown for any of them is None."""

    unknown_groups: int
    total: int | None = None
    groups_behind: int | None = None
    groups_timed: int | None = None
    oldest_ms: int | None = None
    oldest_group: str | None = None


class StateBuilder:
    """Makes states from the readings of one cluster; remembers only what rates, trends and last known figures need."""

    def __init__(self) -> None:
        self._groups = GroupStates()
        self._topic_written: Rates[tuple[str, str]] = Rates(stale_ms=_TOPIC_STALE_MS)
        self._topic_seen: dict[tuple[str, str], int] = {}
        self._broker_in: Rates[str] = Rates()
        self._broker_out: Rates[str] = Rates()
        self._disk: deque[tuple[int, float]] = deque()
        self._last_overview: OverviewLastKnown | None = None
        self._last_topics: dict[str, TopicLastKnown] = {}

    def begin_with(self, last: LastKnown) -> None:
        """Take over what `last_known` returned before this process started."""
        self._last_overview = self._last_overview or last.overview
        self._last_topics = {**last.topics, **self._last_topics}
        self._groups.begin_with(last.groups)

    def last_known(self) -> LastKnown:
        """Return all last known figures."""
        return LastKnown(overview=self._last_overview, topics=self._last_topics, groups=self._groups.last_known())

    def step(self, reading: LagReading) -> ClusterState:
        """Return the state that `reading` shows."""
        self._groups.see(reading)
        self._see(reading)
        visible = (group for group in reading.groups.values() if not group.is_built_in)
        groups = {group.name: self._groups.of(reading, group) for group in visible}
        lags = _lags_by_topic(groups.values())
        topics = {name: self._topic(reading, topic, lags.get(name, [])) for name, topic in reading.topics.items()}
        self._add_out_rates(reading, groups.values(), topics)
        for name, group in groups.items():
            group.dead_letters = _dead_letters_of(reading, name, topics)
        return ClusterState(self._overview(reading, groups, topics), groups, topics)

    def _see(self, reading: LagReading) -> None:
        for broker, facts in reading.facts.items():
            for topic, at in facts.ends_at.items():
                if self._topic_seen.get((broker, topic)) != at:
                    self._topic_seen[broker, topic] = at
                    written = sum(end.max_offset for end in facts.ends[topic].values())
                    self._topic_written.see(at, {(broker, topic): written})
        for broker, topic in [key for key in self._topic_seen if key[1] not in reading.topics]:
            del self._topic_seen[broker, topic]
        self._topic_written.keep(self._topic_seen)
        if reading.facts:
            for gone in self._last_topics.keys() - reading.topics.keys():
                del self._last_topics[gone]
        runtimes = reading.runtimes.items()
        self._broker_in.see(reading.at, {a: r.stored_total for a, r in runtimes if r.stored_total is not None})
        self._broker_out.see(reading.at, {a: r.handed_out_total for a, r in runtimes if r.handed_out_total is not None})

    # One topic

    def _topic(self, reading: LagReading, topic: Topic, lags: list[int | None]) -> TopicState:
        name = topic.name
        missing = [each for each in reading.missing if each.holds_topic(name)]
        facts = [facts for broker in topic.configs if (facts := reading.facts.get(broker)) is not None]
        known = [lag for lag in lags if lag is not None]
        shown = TopicState(
            name=name,
            groups=len(lags),
            max_lag=max(known, default=0) if len(known) == len(lags) and not missing and facts else None,
            missing=missing_of(missing),
        )
        if missing or not facts or not all(name in each.ends for each in facts):
            shown.last_known = self._last_topics.get(name)
            return shown
        ends = [end for each in facts for end in each.ends.get(name, {}).values()]
        stored_at = max((end.last_update_timestamp for end in ends), default=0)
        shown.measured_at = rfc3339(min(each.ends_at[name] for each in facts))
        shown.messages = sum(end.max_offset - end.min_offset for end in ends)
        shown.size_bytes = _whole_sum(each.kept_bytes.get(name) for each in facts)
        shown.in_rate = self._topic_written.find(*((broker, name) for broker in topic.configs))
        shown.last_stored_at = rfc3339(stored_at) if stored_at else None
        self._last_topics[name] = TopicLastKnown(
            at=shown.measured_at,
            messages=shown.messages,
            in_rate=shown.in_rate,
            last_stored_at=shown.last_stored_at,
            max_lag=shown.max_lag,
        )
        return shown

    def _add_out_rates(
        self, reading: LagReading, groups: Iterable[GroupState], topics: Mapping[str, TopicState]
    ) -> None:
        rates = self._groups.topic_rates(reading)
        unknown = {topic for group in groups if group.unknown_reason is not None for topic in group.topics}
        for name, topic in topics.items():
            if topic.messages is not None and name not in unknown:
                topic.out_rate = rates.get(name, 0.0)

    # The cluster

    def _overview(
        self, reading: LagReading, groups: Mapping[str, GroupState], topics: Mapping[str, TopicState]
    ) -> OverviewState:
        brokers = self._brokers(reading)
        is_whole = not reading.missing and bool(reading.facts)
        lags = self._lags(groups.values(), is_whole=is_whole)
        dead = _dead_letters(reading, topics) if is_whole else None
        ratios = [broker.disk_used_ratio for broker in brokers if broker.disk_used_ratio is not None]
        ratio = max(ratios, default=None) if is_whole else None
        visible = sum(topic.kind is TopicKind.NORMAL for topic in reading.topics.values())
        are_names_known = bool(reading.brokers) and all(each.topics for each in reading.missing)
        shown = OverviewState(
            at=rfc3339(reading.at),
            in_rate=_sum(broker.in_rate for broker in brokers) if is_whole else None,
            out_rate=_sum(broker.out_rate for broker in brokers) if is_whole else None,
            total_lag=lags.total,
            lag_unknown_groups=lags.unknown_groups,
            oldest_unconsumed_ms=lags.oldest_ms,
            oldest_group=lags.oldest_group,
            groups_behind=lags.groups_behind,
            groups_timed=lags.groups_timed,
            dead_letters=None if dead is None else sum(dead),
            dead_letter_groups=None if dead is None else sum(1 for count in dead if count),
            disk_used_ratio=ratio,
            disk_days_to_full=self._days_to_full(reading.at, ratio),
            uptime_ms=min((broker.uptime_ms for broker in brokers if broker.uptime_ms is not None), default=None),
            brokers=brokers,
            brokers_answering=sum(broker.reachable for broker in brokers),
            topics=visible if are_names_known else None,
            groups=len(groups) if are_names_known else None,
            worst_groups=[group.summary() for group in _worst(groups.values())],
            missing=missing_of(reading.missing),
            unknown_reason=_why_unknown(reading),
            name_server_reason=reading.name_server_reason,
        )
        self._remember(shown)
        return shown

    def _remember(self, shown: OverviewState) -> None:
        """Remember the key figures if all are known; otherwise show the last known ones."""
        if shown.total_lag is None:
            shown.last_known = self._last_overview
            return
        self._last_overview = OverviewLastKnown(
            at=shown.at,
            total_lag=shown.total_lag,
            oldest_unconsumed_ms=shown.oldest_unconsumed_ms,
            dead_letters=shown.dead_letters,
            topics=shown.topics,
            groups=shown.groups,
            in_rate=shown.in_rate,
            out_rate=shown.out_rate,
            disk_used_ratio=shown.disk_used_ratio,
        )

    def _lags(self, groups: Collection[GroupState], *, is_whole: bool) -> _Lags:
        known = [(group.lag, group) for group in groups if group.lag is not None]
        unknown = sum(group.lag is None and not has_no_offset(group) for group in groups)
        if not is_whole or unknown:
            return _Lags(unknown)
        behind = [group for lag, group in known if lag]
        untimed = self._groups.untimed
        timed = [(group.time_lag_ms, group.name) for group in behind if group.time_lag_ms]
        oldest_ms, oldest_group = max(timed, key=lambda each: each[0], default=(None if behind else 0, None))
        return _Lags(
            unknown,
            total=sum(lag for lag, _ in known),
            groups_behind=len(behind),
            groups_timed=len(behind) - len(untimed),
            oldest_ms=None if untimed else oldest_ms,
            oldest_group=None if untimed else oldest_group,
        )

    def _brokers(self, reading: LagReading) -> list[BrokerState]:
        listed = [self._broker(reading, broker) for broker in reading.brokers]
        names = {broker.name for broker in listed}
        return listed + [_silent(each) for each in reading.missing if each.broker not in names]

    def _broker(self, reading: LagReading, broker: BrokerAddress) -> BrokerState:
        runtime = reading.runtimes.get(broker.addr)
        shown = BrokerState(
            name=broker.name,
            address=broker.addr,
            broker_id=broker.broker_id,
            reachable=runtime is not None,
            reason=None if runtime is not None else reading.reasons[broker.addr],
        )
        if runtime is not None:
            shown.version = runtime.version
            shown.in_rate = self._broker_in.find(broker.addr)
            shown.out_rate = self._broker_out.find(broker.addr)
            shown.uptime_ms = max(0, reading.at - runtime.booted_at) if runtime.booted_at else None
            shown.disk_used_ratio = runtime.disk_used_ratio
            shown.commit_log_bytes = runtime.commit_log_bytes
        return shown

    def _days_to_full(self, at: int, ratio: float | None) -> float | None:
        """Return the days until the disk is full at the rate of the last day; None if it does not fill."""
        if ratio is None:
            return None
        if not self._disk or at - self._disk[-1][0] >= _DISK_STEP_MS:
            self._disk.append((at, ratio))
        while self._disk[0][0] < at - _DISK_SPAN_MS:
            self._disk.popleft()
        began, before = self._disk[0]
        if at - began < _DISK_SHORTEST_MS or ratio <= before:
            return None
        return (1 - ratio) / (ratio - before) * (at - began) / _DISK_SPAN_MS


def _silent(missing: Missing) -> BrokerState:
    return BrokerState(
        name=missing.broker, address=missing.address, broker_id=0, reachable=False, reason=missing.reason
    )


def _why_unknown(reading: LagReading) -> str | None:
    if reading.missing:
        return reading.missing[0].reason
    return reading.nothing_known


def _dead_letters(reading: LagReading, topics: Mapping[str, TopicState]) -> list[int] | None:
    """Return how many messages each dead letter topic holds; None when one of them was not counted."""
    names = [name for name, topic in reading.topics.items() if topic.kind is TopicKind.DEAD_LETTER]
    counted = [count for name in names if (count := topics[name].messages) is not None]
    return counted if len(counted) == len(names) else None


def _dead_letters_of(reading: LagReading, group: str, topics: Mapping[str, TopicState]) -> int | None:
    """Return how many messages a group gave up; None while a broker that may hold some does not answer."""
    topic = topics.get(dead_letter_topic(group))
    if topic is None:
        return None if reading.missing or not reading.facts else 0
    return topic.messages


def _lags_by_topic(groups: Iterable[GroupState]) -> dict[str, list[int | None]]:
    """Return the lags of the groups that read each topic."""
    found: dict[str, list[int | None]] = {}
    for group in groups:
        lags: dict[str, int | None] = dict.fromkeys(group.topics, None if group.lag is None else 0)
        for queue in group.queues if group.lag is not None else ():
            lags[queue.topic] = (lags.get(queue.topic) or 0) + (queue.lag or 0)
        for topic, lag in lags.items():
            found.setdefault(topic, []).append(lag)
    return found


def _worst(groups: Iterable[GroupState]) -> list[GroupState]:
    troubled = [group for group in groups if not has_no_offset(group) and (group.lag is None or group.lag > 0)]
    return sorted(troubled, key=lambda group: (group.lag is not None, -(group.lag or 0)))[:WORST_GROUPS]


def _sum(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _whole_sum(values: Iterable[int | None]) -> int | None:
    """Return the sum; None if one of them is unknown."""
    found = list(values)
    known = [value for value in found if value is not None]
    return sum(known) if len(known) == len(found) else None
