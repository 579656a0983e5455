"""From readings to what people see: the state of a cluster, its groups and its topics. Unknown is None, never zero."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from broker_core.client.admin.groups import Group, GroupStats
from broker_core.client.admin.topics import TopicKind
from broker_core.protocol.bodies import MessageModel, MessageQueue, SubscriptionGroupConfig
from console.lag.rates import Rates
from console.lag.reading import Reading
from console.lag.trends import Trend
from console.live import rfc3339

WORST_GROUPS: Final = 5
_RETRY_PREFIX: Final = "%RETRY%"
_DISK_SPAN_MS: Final = 24 * 3600 * 1000
_DISK_SHORTEST_MS: Final = 10 * 60 * 1000
_DISK_STEP_MS: Final = 60 * 1000


@dataclass(frozen=True, slots=True)
class ClusterState:
    """The events of one second: what is published and kept."""

    overview: dict[str, Any]
    groups: dict[str, dict[str, Any]]
    topics: dict[str, dict[str, Any]]


class StateBuilder:
    """Makes states out of the readings of one cluster; remembers only what rates and trends need."""

    def __init__(self) -> None:
        self._stored: Rates[MessageQueue] = Rates()
        self._consumed: Rates[tuple[str, MessageQueue]] = Rates()
        self._topic_written: Rates[str] = Rates()
        self._broker_in: Rates[str] = Rates()
        self._broker_out: Rates[str] = Rates()
        self._trends: dict[str, Trend] = {}
        self._disk: deque[tuple[int, float]] = deque()

    def step(self, reading: Reading) -> ClusterState:
        """Return the state that `reading` shows."""
        self._see(reading)
        groups = {name: self._group(reading, group) for name, group in reading.groups.items() if not group.is_built_in}
        lags = _lags_by_topic(groups.values())
        topics = {name: self._topic(reading, name, lags.get(name, [])) for name in reading.topics}
        return ClusterState(self._overview(reading, groups), groups, topics)

    def _see(self, reading: Reading) -> None:
        if reading.silent_because is not None:
            return
        at, group_stats = reading.at, reading.group_stats.found
        stored = {q: o.broker_offset for s in group_stats.values() for q, o in s.queues.items()}
        consumed = {(g, q): o.consumer_offset for g, s in group_stats.items() for q, o in s.queues.items()}
        self._stored.see(at, stored)
        self._stored.keep(stored)
        self._consumed.see(at, consumed)
        self._consumed.keep(consumed)
        # A total that lacks a broker would look like a fall, and a jump when the broker is back.
        whole = {name: stats for name in reading.fresh_topics if not (stats := reading.topic_stats[name]).failed}
        self._topic_written.see(at, {name: stats.written for name, stats in whole.items()})
        self._topic_written.keep(reading.topics)
        runtimes = reading.runtimes.found.items()
        self._broker_in.see(at, {a: r.stored_total for a, r in runtimes if r.stored_total is not None})
        self._broker_out.see(at, {a: r.handed_out_total for a, r in runtimes if r.handed_out_total is not None})
        for gone in self._trends.keys() - reading.groups.keys():
            del self._trends[gone]

    # One group

    def _group(self, reading: Reading, group: Group) -> dict[str, Any]:
        stats = None if reading.silent_because else reading.group_stats.found.get(group.name)
        reason = _why_unknown(reading, stats)
        delays = reading.delays.get(group.name, {})
        owners = reading.owners.get(group.name, {})
        queues = [
            _queue(queue, offset.broker_offset, offset.consumer_offset, delays.get(queue), owners.get(queue))
            for queue, offset in (stats.queues if stats else {}).items()
        ]
        lag = stats.lag if stats is not None and reason is None else None
        in_rate = self._stored.find(*(stats.queues if stats else ()))
        out_rate = self._consumed.find(*((group.name, queue) for queue in (stats.queues if stats else ())))
        members = reading.members.get(group.name)
        trend = self._trend_of(group.name, reading.at, lag)
        return {
            "name": group.name,
            "at": rfc3339(reading.at),
            "state": _state(lag, trend, is_active=bool(out_rate or (members and members.members))),
            "mode": _mode(members.message_model if members else None),
            "clients": None if members is None or members.failed else len(members.members),
            "topics": sorted({name for name in _topics_of(queues, group) if not name.startswith(_RETRY_PREFIX)}),
            "lag": lag,
            "time_lag_ms": _oldest(queues) if lag else (0 if lag == 0 else None),
            "in_rate": in_rate,
            "out_rate": out_rate,
            "lag_per_second": None if trend is None else trend.per_second,
            "drain_eta_ms": _drain_eta(lag, in_rate, out_rate),
            "leases": _leases(stats),
            "unknown_reason": reason,
            "queues": queues,
            "config": None if group.config is None else config_of(group.config),
        }

    def _trend_of(self, name: str, at: int, lag: int | None) -> Trend | None:
        if lag is None:
            return None
        trend = self._trends.setdefault(name, Trend())
        trend.see(at, lag)
        return trend

    # One topic

    def _topic(self, reading: Reading, name: str, lags: list[int | None]) -> dict[str, Any]:
        stats = None if reading.silent_because else reading.topic_stats.get(name)
        known = [lag for lag in lags if lag is not None]
        at = stats.last_stored_at if stats else None
        return {
            "name": name,
            "messages": stats.messages if stats and not stats.failed else None,
            "in_rate": self._topic_written.find(name),
            "last_stored_at": rfc3339(at) if at else None,
            "groups": len(lags),
            "max_lag": max(known, default=0) if len(known) == len(lags) else None,
        }

    # The cluster

    def _overview(self, reading: Reading, groups: dict[str, dict[str, Any]]) -> dict[str, Any]:
        brokers = [self._broker(reading, broker.addr, broker.name, broker.broker_id) for broker in reading.brokers]
        answering = [broker for broker in brokers if broker["reachable"]]
        known = [group for group in groups.values() if group["lag"] is not None]
        oldest = max((g for g in known if g["time_lag_ms"]), key=lambda g: g["time_lag_ms"], default=None)
        dead = _dead_letters(reading)
        ratios = [broker["disk_used_ratio"] for broker in answering if broker["disk_used_ratio"] is not None]
        ratio = max(ratios, default=None)
        visible = [topic for topic in reading.topics.values() if topic.kind is TopicKind.NORMAL]
        is_silent = reading.silent_because is not None
        return {
            "at": rfc3339(reading.at),
            "in_rate": _sum(broker["in_rate"] for broker in answering),
            "out_rate": _sum(broker["out_rate"] for broker in answering),
            "total_lag": None if is_silent or (groups and not known) else sum(group["lag"] for group in known),
            "lag_unknown_groups": len(groups) - len(known),
            "oldest_unconsumed_ms": oldest["time_lag_ms"] if oldest else _nothing_waits(known),
            "oldest_group": oldest["name"] if oldest else None,
            "dead_letters": None if dead is None else sum(dead),
            "dead_letter_groups": None if dead is None else sum(1 for count in dead if count),
            "disk_used_ratio": ratio,
            "disk_days_to_full": self._days_to_full(reading.at, ratio),
            "uptime_ms": min((b["uptime_ms"] for b in answering if b["uptime_ms"] is not None), default=None),
            "brokers": brokers,
            "brokers_answering": len(answering),
            "topics": None if is_silent else len(visible),
            "groups": None if is_silent else len(groups),
            "worst_groups": [summary(group) for group in _worst(groups.values())],
        }

    def _broker(self, reading: Reading, address: str, name: str, broker_id: int) -> dict[str, Any]:
        runtime = None if reading.silent_because else reading.runtimes.found.get(address)
        failure = reading.silent_because or str(reading.runtimes.failed.get(address, "not asked yet"))
        booted_at = runtime.booted_at if runtime else None
        return {
            "name": name,
            "address": address,
            "broker_id": broker_id,
            "version": runtime.version if runtime else None,
            "reachable": runtime is not None,
            "reason": None if runtime else failure,
            "in_rate": self._broker_in.find(address) if runtime else None,
            "out_rate": self._broker_out.find(address) if runtime else None,
            "uptime_ms": max(0, reading.at - booted_at) if booted_at else None,
            "disk_used_ratio": runtime.disk_used_ratio if runtime else None,
            "commit_log_bytes": runtime.commit_log_bytes if runtime else None,
        }

    def _days_to_full(self, at: int, ratio: float | None) -> float | None:
        """Return the days until the disk is full if it goes on as in the last day; None when it does not fill."""
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


def _queue(
    queue: MessageQueue, broker_offset: int, group_offset: int, delay: int | None, client: str | None
) -> dict[str, Any]:
    lag = max(0, broker_offset - group_offset)
    return {
        "topic": queue.topic,
        "broker": queue.broker_name,
        "queue_id": queue.queue_id,
        "client": client,
        "broker_offset": broker_offset,
        "group_offset": group_offset,
        "lag": lag,
        "time_lag_ms": delay if lag else 0,
        "unknown_reason": None,
    }


def _why_unknown(reading: Reading, stats: GroupStats | None) -> str | None:
    if reading.silent_because is not None:
        return reading.silent_because
    if stats is None:
        failed = next(iter(reading.group_stats.failed.values()), None)
        return str(failed) if failed else "not asked yet"
    return str(next(iter(stats.failed.values()))) if stats.failed else None


def _oldest(queues: list[dict[str, Any]]) -> int | None:
    ages = [queue["time_lag_ms"] for queue in queues if queue["lag"]]
    known = [age for age in ages if age is not None]
    return max(known) if known and len(known) == len(ages) else None


def _mode(model: MessageModel | None) -> str | None:
    return None if model is None else {"CLUSTERING": "clustering", "BROADCASTING": "broadcast"}.get(model.value)


def _drain_eta(lag: int | None, in_rate: float | None, out_rate: float | None) -> int | None:
    if lag == 0:
        return 0
    if lag is None or in_rate is None or out_rate is None or out_rate <= in_rate:
        return None
    return int(lag / (out_rate - in_rate) * 1000)


def _state(lag: int | None, trend: Trend | None, *, is_active: bool) -> str:
    if lag is None or trend is None:
        return "unknown"
    if lag > 0 and trend.is_growing:
        return "growing"
    return "active" if is_active else "idle"


def _leases(stats: GroupStats | None) -> int | None:
    """Return how many messages are handed out and not settled, where all queues tell how far they were handed out."""
    queues = list(stats.queues.values()) if stats else []
    if not queues or any(queue.pull_offset is None for queue in queues):
        return None
    return sum(max(0, (queue.pull_offset or 0) - queue.consumer_offset) for queue in queues)


def _nothing_waits(known: list[dict[str, Any]]) -> int | None:
    return 0 if known and all(group["lag"] == 0 for group in known) else None


def _dead_letters(reading: Reading) -> list[int] | None:
    """Return how many messages each dead letter topic holds; None when one of them was not counted."""
    names = [name for name, topic in reading.topics.items() if topic.kind is TopicKind.DEAD_LETTER]
    counted = [stats for name in names if (stats := reading.topic_stats.get(name)) is not None and not stats.failed]
    if reading.silent_because is not None or len(counted) < len(names):
        return None
    return [stats.messages for stats in counted]


def _topics_of(queues: list[dict[str, Any]], group: Group) -> set[str]:
    return {queue["topic"] for queue in queues} | set(group.topics)


def _lags_by_topic(groups: Iterable[dict[str, Any]]) -> dict[str, list[int | None]]:
    """Return for each topic the lag of each group that reads it."""
    found: dict[str, list[int | None]] = {}
    for group in groups:
        lags: dict[str, int | None] = dict.fromkeys(group["topics"], None if group["lag"] is None else 0)
        for queue in group["queues"] if group["lag"] is not None else ():
            lags[queue["topic"]] = (lags.get(queue["topic"]) or 0) + queue["lag"]
        for topic, lag in lags.items():
            found.setdefault(topic, []).append(lag)
    return found


def _worst(groups: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    troubled = [group for group in groups if group["lag"] is None or group["lag"] > 0]
    return sorted(troubled, key=lambda group: (group["lag"] is not None, -(group["lag"] or 0)))[:WORST_GROUPS]


def _sum(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None
