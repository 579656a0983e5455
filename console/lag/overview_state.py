"""Makes the key figures of a cluster from a reading and the states of its groups and topics."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, TypeVar

from broker_core.client.admin.clusters import BrokerRuntime
from broker_core.client.admin.topics import TopicKind
from broker_core.client.routes import MASTER_ID
from console.lag.group_state import has_no_offset, missing_of
from console.lag.processes import Process, processes_of
from console.lag.rates import Rates
from console.lag.reading import LagReading, Missing
from console.lag.shapes import BrokerState, GroupState, GroupSummary, OverviewLastKnown, OverviewState, TopicState
from console.moments import rfc3339
from console.replicas.behind import behind_of
from console.replicas.held import held_of, why_away
from console.replicas.sending import why_no_sends
from console.replicas.shapes import HeldReplica

G = TypeVar("G", bound=GroupSummary)

WORST_GROUPS: Final = 5
_DISK_SPAN_MS: Final = 24 * 3600 * 1000
# Less than an hour is too short to extrapolate when a disk will be full.
_DISK_SHORTEST_MS: Final = 3600 * 1000
_DISK_STEP_MS: Final = 60 * 1000


@dataclass(frozen=True, slots=True)
class _Lags:
    """The lag of all groups together; a figure that is unknown for any of them is None."""

    unknown_groups: int
    total: int | None = None
    groups_behind: int | None = None
    groups_timed: int | None = None
    oldest_ms: int | None = None
    oldest_group: str | None = None


class OverviewStates:
    """Makes the key figures of one cluster; remembers what rates and the last known figures need."""

    def __init__(self) -> None:
        self.last: OverviewLastKnown | None = None
        """The last known figures."""
        self._broker_in: Rates[str] = Rates()
        self._broker_out: Rates[str] = Rates()
        self._disk: deque[tuple[int, float]] = deque()

    def see(self, reading: LagReading) -> None:
        """Record the totals of the brokers."""
        runtimes = reading.runtimes.items()
        # A slave stores what its master stored: counted again, each message would have been sent twice.
        masters = {broker.addr for broker in reading.brokers if broker.is_master}
        stored = {a: r.stored_total for a, r in runtimes if a in masters and r.stored_total is not None}
        self._broker_in.see(reading.at, stored)
        # Who was master before takes no sends; what it took then does not count when it is master again.
        self._broker_in.keep(masters.intersection(self._broker_in))
        self._broker_out.see(reading.at, {a: r.handed_out_total for a, r in runtimes if r.handed_out_total is not None})

    def of(
        self,
        reading: LagReading,
        groups: Mapping[str, GroupState],
        topics: Mapping[str, TopicState],
        untimed: Collection[str],
    ) -> OverviewState:
        """Return the key figures; `untimed` are the groups that are behind and whose time lag was not read yet."""
        brokers = self._brokers(reading)
        is_whole = not reading.missing and bool(reading.facts)
        lags = _lags(groups.values(), untimed, is_whole=is_whole)
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
            lag_per_second=None if lags.total is None else lag_per_second_of(groups.values()),
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
            worst_groups=[group.summary() for group in worst(groups.values())],
            missing=missing_of(reading.missing),
            unknown_reason=_why_unknown(reading),
            name_server_reason=reading.name_server_reason,
        )
        self._remember(shown)
        return shown

    def _remember(self, shown: OverviewState) -> None:
        """Remember the key figures if all are known; otherwise show the last known ones."""
        if shown.total_lag is None:
            shown.last_known = self.last
            return
        self.last = OverviewLastKnown(
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

    def _brokers(self, reading: LagReading) -> list[BrokerState]:
        shown = [
            self._broker(reading, each) for each in processes_of(reading.brokers, reading.decided, reading.remembered)
        ]
        names = {broker.name for broker in shown}
        return shown + [_silent(each) for each in reading.missing if each.broker not in names]

    def _broker(self, reading: LagReading, broker: Process) -> BrokerState:
        runtime = reading.runtimes.get(broker.address) if broker.gone is None else None
        held = _held(reading, broker, runtime)
        shown = BrokerState(
            name=broker.name,
            address=broker.address,
            broker_id=broker.broker_id,
            role=broker.role,
            replica_id=broker.replica_id,
            reachable=runtime is not None,
            reason=None if runtime is not None else broker.gone or reading.reasons[broker.address],
            held=held,
        )
        if runtime is None and held is not None:
            shown.reason = why_away(broker.replica_id or broker.broker_id, held)
        if runtime is not None:
            shown.version = runtime.version
            shown.in_rate = self._broker_in.find(broker.address)
            shown.out_rate = self._broker_out.find(broker.address)
            shown.uptime_ms = max(0, reading.at - runtime.booted_at) if runtime.booted_at else None
            shown.disk_used_ratio = runtime.disk_used_ratio
            shown.commit_log_bytes = runtime.commit_log_bytes
            shown.log_end = runtime.log_end
            if broker.broker_id == MASTER_ID:
                shown.send_refusal = why_no_sends(runtime)
            elif held is None:
                behind = behind_of(_master_of(reading, broker.name), runtime)
                shown.behind_bytes, shown.behind_ms = behind.bytes, behind.ms
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


def _lags(groups: Collection[GroupState], untimed: Collection[str], *, is_whole: bool) -> _Lags:
    known = [(group.lag, group) for group in groups if group.lag is not None]
    unknown = sum(group.lag is None and not has_no_offset(group) for group in groups)
    if not is_whole or unknown:
        return _Lags(unknown)
    behind = [group for lag, group in known if lag]
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


def lag_per_second_of(groups: Iterable[GroupSummary]) -> float | None:
    """Return how fast the lag of these groups together changes; None while it is unknown of one of them."""
    slopes = [group.lag_per_second for group in groups if group.lag is not None]
    return None if None in slopes else sum(each for each in slopes if each is not None)


def _master_of(reading: LagReading, name: str) -> BrokerRuntime | None:
    """Return what the master of a broker name said last; None if it does not answer."""
    facts = reading.facts.get(name)
    return None if facts is None else facts.runtime


def _held(reading: LagReading, broker: Process, runtime: BrokerRuntime | None) -> HeldReplica | None:
    """Return why a process takes no part by itself; None while it does, or nobody knows."""
    if runtime is not None or broker.replica_id is None:
        return held_of(runtime)
    return reading.held.get((broker.address, broker.replica_id))


def _silent(missing: Missing) -> BrokerState:
    return BrokerState(
        name=missing.broker,
        address=missing.address,
        broker_id=MASTER_ID,
        role="master",
        reachable=False,
        reason=missing.reason,
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


def worst(groups: Iterable[G]) -> list[G]:
    """Return the groups whose lag is unknown, then those that are furthest behind; at most `WORST_GROUPS`."""
    troubled = [group for group in groups if not has_no_offset(group) and (group.lag is None or group.lag > 0)]
    return sorted(troubled, key=lambda group: (group.lag is not None, -(group.lag or 0)))[:WORST_GROUPS]


def _sum(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None
