"""From a reading to what people see of one consumer group. Unknown is None, never zero."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from broker_core.client.admin.groups import Group, GroupConnections, GroupStats
from broker_core.protocol.bodies import MessageModel, MessageQueue, OffsetWrapper, SubscriptionGroupConfig
from console.lag.lease_consumers import LeaseConsumer
from console.lag.rates import WINDOW_MS, Rates
from console.lag.reading import LagReading, Missing
from console.lag.trends import Trend
from console.lag.watching import BrokerFacts
from console.moments import rfc3339

FIGURES: Final = ("lag", "time_lag_ms", "in_rate", "out_rate")
"""What is told as last known while it is unknown."""
_RETRY_PREFIX: Final = "%RETRY%"


@dataclass(frozen=True, slots=True)
class _Lateness:
    """How old the oldest message is that a group has not consumed."""

    ms: int | None
    measured_at: int
    is_known: bool


class GroupStates:
    """Makes the states of one cluster's groups; remembers what rates, trends and last known figures need."""

    def __init__(self) -> None:
        self._stored: Rates[MessageQueue] = Rates()
        # What a group consumed is told when it commits: only a whole window tells a rate.
        self._consumed: Rates[tuple[str, MessageQueue]] = Rates(shortest_ms=WINDOW_MS)
        self._trends: dict[str, Trend] = {}
        self._read_at: dict[str, int] = {}
        self._last: dict[str, dict[str, Any]] = {}
        self.untimed: set[str] = set()
        """Groups that are behind while nobody has read yet for how long."""

    def begin_with(self, last: Mapping[str, dict[str, Any]]) -> None:
        """Take over the figures that were last known before this process began, by group."""
        self._last = {**last, **self._last}

    def last_known(self) -> dict[str, dict[str, Any]]:
        """Return the last known figures of each group."""
        return self._last

    def see(self, reading: LagReading) -> None:
        """Take in what the brokers said since the last reading."""
        read_at = {name: facts.at for name, facts in reading.facts.items()}
        if read_at == self._read_at:
            return
        queues: set[MessageQueue] = set()
        pairs: set[tuple[str, MessageQueue]] = set()
        for name, facts in reading.facts.items():
            stored = {q: o.broker_offset for s in facts.stats.values() for q, o in s.queues.items()}
            consumed = {(g, q): o.consumer_offset for g, s in facts.stats.items() for q, o in s.queues.items()}
            queues |= stored.keys()
            pairs |= consumed.keys()
            if facts.at != self._read_at.get(name):
                self._stored.see(facts.at, stored)
                self._consumed.see(facts.at, consumed)
        self._stored.keep(queues)
        self._consumed.keep(pairs)
        for kept in (self._trends, self._last):
            for gone in kept.keys() - reading.groups.keys():
                del kept[gone]
        self.untimed &= reading.groups.keys()
        self._read_at = read_at

    def of(self, reading: LagReading, group: Group) -> dict[str, Any]:
        """Return the state of one group."""
        parts = [(facts, stats) for facts in reading.facts.values() if (stats := facts.stats.get(group.name))]
        offsets = dict(sorted((queue, offset) for _, stats in parts for queue, offset in stats.queues.items()))
        topics = sorted({queue.topic for queue in offsets} | set(group.topics))
        missing = [each for each in reading.missing if each.holds_group(group.name, topics)]
        reason = _why_unknown(reading, missing, parts)
        late = _lateness(reading, group.name, parts)
        is_known = reason is None
        lag = sum(max(0, each.broker_offset - each.consumer_offset) for each in offsets.values()) if is_known else None
        in_rate = self._stored.find(*offsets) if is_known else None
        out_rate = self._consumed.find(*((group.name, queue) for queue in offsets)) if is_known else None
        members = reading.members(group.name) if is_known else None
        # Before its first commit a group has no lag that could rise or fall.
        trend = self._trend_of(group.name, reading.at, lag, reads=bool(offsets))
        leases = _leases(offsets.values()) if is_known else None
        consumers = _lease_consumers(reading, group.name)
        measured_at = None if lag is None else min([late.measured_at, *(facts.at for facts, _ in parts)])
        queues = [
            *_queues(reading, group.name, parts, reading.owners.get(group.name, {})),
            *_missing_queues(topics, missing),
        ]
        shown = {
            "name": group.name,
            "at": rfc3339(reading.at),
            "measured_at": None if measured_at is None else rfc3339(measured_at),
            "state": _state(lag, trend, out_rate, reads=bool(offsets), is_read=_is_read(members, leases, consumers)),
            "mode": _mode(members.message_model if members else None),
            "clients": None if members is None else len(members.members),
            "lease_consumers": consumers,
            "topics": [name for name in topics if not name.startswith(_RETRY_PREFIX)],
            "lag": lag,
            "time_lag_ms": (late.ms if lag else 0) if is_known else None,
            "in_rate": in_rate,
            "out_rate": out_rate,
            "lag_per_second": None if trend is None else trend.per_second,
            "drain_eta_ms": _drain_eta(lag, in_rate, out_rate),
            "leases": leases,
            "unknown_reason": reason,
            "missing": missing_of(missing),
            "last_known": None,
            "queues": queues,
            "config": None if group.config is None else config_of(group.config),
        }
        self.untimed.discard(group.name)
        if lag and not late.is_known:
            self.untimed.add(group.name)
        if lag is None:
            shown["last_known"] = self._last.get(group.name)
        else:
            self._last[group.name] = {"at": shown["measured_at"], **{name: shown[name] for name in FIGURES}}
        return shown

    def _trend_of(self, name: str, at: int, lag: int | None, *, reads: bool) -> Trend | None:
        if lag is None:
            return None
        trend = self._trends.setdefault(name, Trend())
        if reads:
            trend.see(at, lag)
        return trend


def _lease_consumers(reading: LagReading, group: str) -> list[LeaseConsumer] | None:
    return None if reading.lease_consumers is None else list(reading.lease_consumers.get(group, ()))


def summary(group: dict[str, Any]) -> dict[str, Any]:
    """Return the one-line form of a group's state."""
    return {key: value for key, value in group.items() if key not in ("queues", "config", "at")}


def config_of(config: SubscriptionGroupConfig) -> dict[str, Any]:
    """Return the settings of a group as people see them."""
    return {
        "consume_enabled": config.consume_enable,
        "consume_broadcast_enabled": config.consume_broadcast_enable,
        "retry_queue_nums": config.retry_queue_nums,
        "retry_max_times": config.retry_max_times,
    }


def missing_of(missing: Iterable[Missing]) -> list[dict[str, Any]]:
    """Return the brokers whose answer lacks, as people see them."""
    return [
        {"broker": each.broker, "reason": each.reason, "since": None if each.since is None else rfc3339(each.since)}
        for each in missing
    ]


def _why_unknown(
    reading: LagReading, missing: list[Missing], parts: list[tuple[BrokerFacts, GroupStats]]
) -> str | None:
    """Return why the lag is not known, None when it is."""
    if missing:
        return missing[0].reason
    if not reading.facts:
        return reading.nothing_known or "no broker has answered yet"
    return None if parts else "its lag has not been read yet"


def _lateness(reading: LagReading, group: str, parts: list[tuple[BrokerFacts, GroupStats]]) -> _Lateness:
    """Return the age of the oldest message that waits, over the queues whose brokers can say."""
    ages: list[int] = []
    measured_at, is_known = reading.at, True
    for facts, stats in parts:
        for queue, offset in stats.queues.items():
            if offset.broker_offset <= offset.consumer_offset:
                continue
            delay = facts.delays.get((group, queue))
            if delay is None:
                is_known = False
                continue
            age = delay.age(reading.at, offset.consumer_offset)
            if age is not None:
                ages.append(age)
            if delay.offset != offset.consumer_offset:
                measured_at = min(measured_at, delay.at)
    return _Lateness(max(ages, default=None) if is_known else None, measured_at, is_known)


def _queues(
    reading: LagReading, group: str, parts: list[tuple[BrokerFacts, GroupStats]], owners: Mapping[MessageQueue, str]
) -> list[dict[str, Any]]:
    rows = [
        _queue(reading.at, facts, group, queue, offset, owners.get(queue))
        for facts, stats in parts
        for queue, offset in stats.queues.items()
    ]
    return sorted(rows, key=lambda row: (row["topic"], row["broker"], row["queue_id"]))


def _queue(
    at: int, facts: BrokerFacts, group: str, queue: MessageQueue, offset: OffsetWrapper, client: str | None
) -> dict[str, Any]:
    lag = max(0, offset.broker_offset - offset.consumer_offset)
    delay = facts.delays.get((group, queue))
    age = None if delay is None else delay.age(at, offset.consumer_offset)
    return {
        "topic": queue.topic,
        "broker": queue.broker_name,
        "queue_id": queue.queue_id,
        "client": client,
        "broker_offset": offset.broker_offset,
        "group_offset": offset.consumer_offset,
        "lag": lag,
        "time_lag_ms": age if lag else 0,
        "unknown_reason": None,
    }


def _missing_queues(topics: Iterable[str], missing: Iterable[Missing]) -> Iterator[dict[str, Any]]:
    """Yield a row for each queue that is known to be on a broker that does not answer."""
    for each in missing:
        for topic in topics:
            counts = each.topics.get(topic)
            for queue_id in range(counts.read if counts else 0):
                unknown = ("client", "broker_offset", "group_offset", "lag", "time_lag_ms")
                yield {
                    "topic": topic,
                    "broker": each.broker,
                    "queue_id": queue_id,
                    **dict.fromkeys(unknown),
                    "unknown_reason": each.reason,
                }


def _mode(model: MessageModel | None) -> str | None:
    return None if model is None else {"CLUSTERING": "clustering", "BROADCASTING": "broadcast"}.get(model.value)


def _drain_eta(lag: int | None, in_rate: float | None, out_rate: float | None) -> int | None:
    if lag == 0:
        return 0
    if lag is None or in_rate is None or out_rate is None or out_rate <= in_rate:
        return None
    return int(lag / (out_rate - in_rate) * 1000)


def _is_read(members: GroupConnections | None, leases: int | None, consumers: Collection[LeaseConsumer] | None) -> bool:
    return bool(leases or consumers or (members is not None and members.members))


def _state(lag: int | None, trend: Trend | None, out_rate: float | None, *, reads: bool, is_read: bool) -> str:
    """Return the one word for a group; `is_read` decides only while consumption was not watched for long enough."""
    if lag is None or trend is None:
        return "unknown"
    if lag == 0:
        return "caught_up" if reads else "idle"
    if trend.is_growing:
        return "growing"
    is_consumed = is_read if out_rate is None else out_rate > 0
    return "consuming" if is_consumed else "stalled"


def _leases(offsets: Iterable[OffsetWrapper]) -> int | None:
    """Return how many messages are handed out and not settled, where all queues tell how far they were handed out."""
    told = list(offsets)
    if not told or any(each.pull_offset is None for each in told):
        return None
    return sum(max(0, (each.pull_offset or 0) - each.consumer_offset) for each in told)
