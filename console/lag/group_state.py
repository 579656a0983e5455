"""Makes the state of a consumer group from a reading. Unknown is None, never zero."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from typing import Final

from broker_core.client.admin.groups import Group, GroupConnections, GroupStats
from broker_core.protocol.bodies import MessageModel, MessageQueue, OffsetWrapper, SubscriptionGroupConfig
from broker_core.protocol.topics import is_retry_topic
from console.lag.facts import BrokerFacts, Delay
from console.lag.following import Changed
from console.lag.rates import WINDOW_MS, Rates
from console.lag.reading import LagReading, Missing
from console.lag.shapes import (
    DrainUnknown,
    GroupConfig,
    GroupDelivery,
    GroupLastKnown,
    GroupMode,
    GroupQueue,
    GroupState,
    GroupSummary,
    GroupWord,
    LeaseConsumerState,
    MissingBroker,
)
from console.lag.trends import Trend
from console.moments import rfc3339

_MODES: Final[dict[MessageModel, GroupMode]] = {
    MessageModel.CLUSTERING: "clustering",
    MessageModel.BROADCASTING: "broadcast",
}
# Where a group without an offset will begin is up to its first client: its lag is unknown, not zero.
# Two rates of half a minute that differ by less are the same for an estimate.
_RATE_NOISE: Final = 0.05
_LONGEST_DRAIN_MS: Final = 365 * 24 * 3600 * 1000
NO_OFFSET: Final = "it has not consumed yet: it has no offset in any queue"
_NOT_BEGUN: Final = "it has no offset on {} yet: where it will begin there is not known"
_Part = tuple[BrokerFacts, GroupStats]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    """The part of a reading about one group."""

    name: str
    parts: list[_Part]
    """What each answering broker says about it."""
    offsets: dict[MessageQueue, OffsetWrapper]
    topics: list[str]
    missing: list[Missing]
    reason: str | None
    """Why nothing is known of it now; None when its brokers answer."""
    not_begun: list[GroupQueue]
    """The queues of answering brokers on which it has no offset in a topic that it consumes from others."""
    lag: int | None
    """None, too, if there are messages in a queue of `not_begun`, or may be."""
    leases: int | None
    """How many messages are delivered and not settled; None unless all queues say how far they were delivered."""
    members: GroupConnections | None
    consumers: list[LeaseConsumerState] | None

    @property
    def is_known(self) -> bool:
        return self.reason is None

    @property
    def is_leased(self) -> bool:
        """Whether a consumer over HTTP or WebSocket holds messages of it now."""
        return any(each.in_flight for each in self.consumers or ())

    @property
    def has_nobody(self) -> bool:
        """Whether it is known that no client and no consumer by lease is there."""
        return self.members is not None and not self.members.members and self.consumers == []


@dataclass(frozen=True, slots=True)
class _Lateness:
    """How old the oldest message is that a group has not consumed."""

    ms: int | None
    measured_at: int
    is_known: bool


class GroupStates:
    """Makes the states of one cluster's groups; remembers what rates, trends and last known figures need."""

    def __init__(self) -> None:
        # By broker: what one of them confirms says nothing of another.
        self._stored: defaultdict[str, Rates[MessageQueue]] = defaultdict(Rates)
        # Consumption becomes visible when a group commits, so only a whole window gives a rate.
        self._consumed: defaultdict[str, Rates[tuple[str, MessageQueue]]] = defaultdict(
            lambda: Rates(shortest_ms=WINDOW_MS)
        )
        self._readers: defaultdict[str, set[str]] = defaultdict(set)
        self._trends: dict[str, Trend] = {}
        self._read_at: dict[str, int] = {}
        self._last: Mapping[str, GroupLastKnown] = {}
        self.untimed: set[str] = set()
        """Groups that are behind and whose time lag was not read yet."""

    def begin_with(self, last: Mapping[str, GroupLastKnown]) -> None:
        """Take over the last known figures, by group, from before this process started."""
        self._last = last

    def see(self, reading: LagReading) -> None:
        """Record what the brokers said since the last reading."""
        read_at = {name: facts.at for name, facts in reading.facts.items()}
        if read_at == self._read_at:
            return
        for name, facts in reading.facts.items():
            if facts.at != self._read_at.get(name):
                self._see_all(name, facts)
                if facts.followed_at:
                    self._confirm(name, facts.at)
        for gone in self._trends.keys() - reading.groups.keys():
            del self._trends[gone]
        self.untimed &= reading.groups.keys()
        self._read_at = read_at

    def see_changed(self, reading: LagReading, changed: Mapping[str, Changed]) -> None:
        """Record what the brokers said of the groups that changed; all others are as they were."""
        for name, facts in reading.facts.items():
            if facts.at == self._read_at.get(name):
                continue
            for group in changed[name].groups:
                stats = facts.stats.get(group) or GroupStats()
                self._note(name, facts.at, {group: stats})
            self._confirm(name, facts.at)
            self._read_at[name] = facts.at

    def _see_all(self, broker: str, facts: BrokerFacts) -> None:
        self._note(broker, facts.at, facts.stats)
        self._stored[broker].keep({queue for stats in facts.stats.values() for queue in stats.queues})
        self._consumed[broker].keep({(group, queue) for group, stats in facts.stats.items() for queue in stats.queues})

    def _note(self, broker: str, at: int, groups: Mapping[str, GroupStats]) -> None:
        offsets = [(group, queue, offset) for group, stats in groups.items() for queue, offset in stats.queues.items()]
        self._stored[broker].see(at, {queue: offset.broker_offset for _, queue, offset in offsets})
        self._consumed[broker].see(at, {(group, queue): offset.consumer_offset for group, queue, offset in offsets})
        for group, queue, _ in offsets:
            self._readers[queue.topic].add(group)

    def _confirm(self, broker: str, at: int) -> None:
        self._stored[broker].confirm(at)
        self._consumed[broker].confirm(at)

    def note_moved(self, groups: Collection[str]) -> None:
        """Let the consumption of groups be unknown until it was seen anew: their offsets were moved, not consumed."""
        for rates in self._consumed.values():
            rates.restart([key for key in rates if key[0] in groups])
        for name in groups:
            self._trends.pop(name, None)

    def topic_rate(self, reading: LagReading, topic: str) -> float | None:
        """Return the messages a second that all groups together consume of a topic; None if one is not known."""
        total = 0.0
        for name, facts in reading.facts.items():
            for group in self._readers.get(topic, ()):
                stats = facts.stats.get(group)
                for queue in () if stats is None else stats.queues:
                    if queue.topic == topic:
                        rate = self._consumed[name].find((group, queue))
                        if rate is None:
                            return None
                        total += rate
        return total

    def of(self, reading: LagReading, group: Group, before: GroupState | None, until: int) -> GroupState:
        """Return the state of one group; `before` is the last one, which lasted `until` (ms)."""
        seen = _seen(reading, group)
        late = _lateness(reading, group.name, seen.parts)
        in_rate, out_rate = self._rates(seen)
        # Before its first commit a group has no lag that could grow or shrink.
        steady_until = until if before is not None and before.lag is not None else None
        if before is not None and _is_moved_back(before, seen):
            self._trends.pop(group.name, None)
            steady_until = None
        trend = self._trend_of(group.name, reading.at, seen.lag, steady_until, reads=bool(seen.offsets))
        word = _state(seen, trend, self._is_consumed(seen, out_rate))
        if (seen.lag is not None or word == "consuming") and group.name in reading.disagreeing:
            word = "inconsistent"
        eta, no_eta = drain_estimate(seen.lag, trend, in_rate, out_rate)
        measured_at = None if seen.lag is None else min([late.measured_at, *(facts.at for facts, _ in seen.parts)])
        shown = GroupState(
            name=group.name,
            at=rfc3339(reading.at),
            measured_at=None if measured_at is None else rfc3339(measured_at),
            state=word,
            mode=_mode(seen.members),
            clients=None if seen.members is None else len(seen.members.members),
            lease_consumers=seen.consumers,
            topics=[name for name in seen.topics if not is_retry_topic(name)],
            lag=seen.lag,
            time_lag_ms=None if seen.lag is None else late.ms if seen.lag else 0,
            in_rate=in_rate,
            out_rate=out_rate,
            lag_per_second=None if trend is None else trend.per_second,
            drain_eta_ms=eta,
            drain_unknown=no_eta,
            leases=seen.leases,
            unknown_reason=_reason_of(seen),
            missing=missing_of(seen.missing),
            queues=[*_queues(reading, seen), *_missing_queues(seen)],
            config=None if group.config is None else config_of(group.config),
            delivery=None if seen.missing else delivery_of(group),
        )
        self.untimed.discard(shown.name)
        if shown.lag and not late.is_known:
            self.untimed.add(shown.name)
        if shown.measured_at is None:
            shown.last_known = self._last.get(shown.name) if before is None else last_known_of(before)
        return shown

    def _rates(self, seen: _Seen) -> tuple[float | None, float | None]:
        """Return the messages a second that arrive, and those that are consumed."""
        if not seen.is_known:
            return None, None
        stored = [self._stored[queue.broker_name].find(queue) for queue in seen.offsets]
        if any(each.lag is None for each in seen.not_begun):
            stored.append(None)  # what arrives there is its, too
        consumed = [self._consumed[queue.broker_name].find((seen.name, queue)) for queue in seen.offsets]
        return _whole_sum(stored), _whole_sum(consumed)

    def _is_consumed(self, seen: _Seen, out_rate: float | None) -> bool | None:
        """Return whether somebody consumes it; None while nothing was seen of it, and somebody may."""
        if out_rate is not None:
            return out_rate > 0
        queues = seen.offsets if seen.is_known else ()
        if seen.is_leased or any(self._consumed[each.broker_name].has_grown((seen.name, each)) for each in queues):
            return True
        return False if seen.has_nobody else None

    def _trend_of(self, name: str, at: int, lag: int | None, steady_until: int | None, *, reads: bool) -> Trend | None:
        if lag is None:
            return None
        trend = self._trends.setdefault(name, Trend())
        if steady_until is not None:
            trend.hold(steady_until)
        if reads:
            trend.see(at, lag)
        return trend


def last_known_of(state: GroupState) -> GroupLastKnown | None:
    """Return the figures of a state, or those that it shows as the last known ones."""
    if state.measured_at is None:
        return state.last_known
    return GroupLastKnown(
        at=state.measured_at,
        lag=state.lag,
        time_lag_ms=state.time_lag_ms,
        in_rate=state.in_rate,
        out_rate=state.out_rate,
    )


def _is_moved_back(before: GroupState, seen: _Seen) -> bool:
    """Return whether an offset is below the last one: then the lag has changed by what no consumer did."""
    old = {MessageQueue(each.topic, each.broker, each.queue_id): each.group_offset for each in before.queues}
    return any(0 <= each.consumer_offset < (old.get(queue) or 0) for queue, each in seen.offsets.items())


def _whole_sum(rates: list[float | None]) -> float | None:
    known = [rate for rate in rates if rate is not None]
    return sum(known) if known and len(known) == len(rates) else None


def _seen(reading: LagReading, group: Group) -> _Seen:
    parts = [(facts, stats) for facts in reading.facts.values() if (stats := facts.stats.get(group.name))]
    offsets = dict(sorted((queue, offset) for _, stats in parts for queue, offset in stats.queues.items()))
    topics = sorted({queue.topic for queue in offsets} | set(group.topics))
    missing = [each for each in reading.missing if each.holds_group(group.name, topics)]
    reason = _why_unknown(reading, missing, parts)
    consumers = reading.lease_consumers
    not_begun = list(_not_begun(reading, group.name, {queue.topic for queue in offsets}))
    is_measured = reason is None and offsets and all(each.lag is not None for each in not_begun)
    return _Seen(
        name=group.name,
        parts=parts,
        offsets=offsets,
        topics=topics,
        missing=missing,
        reason=reason,
        not_begun=not_begun,
        lag=_lag(offsets.values()) if is_measured else None,
        leases=_leases(offsets.values()) if reason is None else None,
        members=reading.members(group.name) if reason is None else None,
        consumers=None if consumers is None else list(consumers.get(group.name, ())),
    )


def _not_begun(reading: LagReading, group: str, topics: Set[str]) -> Iterator[GroupQueue]:
    """Yield a row for each queue of `topics` on the brokers that know no offset of the group in that topic."""
    for name, facts in reading.facts.items() if len(reading.facts) > 1 else ():
        stats = facts.stats.get(group)
        begun = set() if stats is None else {queue.topic for queue in stats.queues}
        for topic in topics - begun:
            config = facts.topics.get(topic)
            ends = facts.ends.get(topic, {})
            for queue_id in range(config.read_queue_nums if config else 0):
                end = ends.get(MessageQueue(topic, name, queue_id))
                is_empty = end is not None and end.max_offset <= end.min_offset
                yield GroupQueue(
                    topic=topic,
                    broker=name,
                    queue_id=queue_id,
                    broker_offset=None if end is None else end.max_offset,
                    lag=0 if is_empty else None,
                    time_lag_ms=0 if is_empty else None,
                    unknown_reason=None if is_empty else _NOT_BEGUN.format(name),
                )


def _reason_of(seen: _Seen) -> str | None:
    """Return why its lag is unknown; None if it is known."""
    if seen.reason is None and not seen.offsets:
        return NO_OFFSET
    return seen.reason or next((each.unknown_reason for each in seen.not_begun if each.unknown_reason), None)


def _lag(offsets: Iterable[OffsetWrapper]) -> int:
    return sum(max(0, each.broker_offset - each.consumer_offset) for each in offsets)


def _leases(offsets: Collection[OffsetWrapper]) -> int | None:
    """Return how many messages are out; None where no broker tells, or one does not of a queue where messages wait."""
    if all(each.pull_offset is None for each in offsets):
        return None
    total = 0
    for each in offsets:
        if each.broker_offset > each.consumer_offset:
            if each.pull_offset is None:
                return None
            total += max(0, each.pull_offset - each.consumer_offset)
    return total


def has_no_offset(group: GroupSummary) -> bool:
    """Return whether a group has committed nothing yet: its lag is open, and hides nothing of the total."""
    return group.lag is None and group.unknown_reason == NO_OFFSET


def config_of(config: SubscriptionGroupConfig) -> GroupConfig:
    """Return the settings of a group as the API shows them."""
    return GroupConfig(
        consume_enabled=config.consume_enable,
        consume_broadcast_enabled=config.consume_broadcast_enable,
        retry_queue_nums=config.retry_queue_nums,
        retry_max_times=config.retry_max_times,
    )


def delivery_of(group: Group) -> GroupDelivery | None:
    """Return whether the brokers that have a group's settings deliver to it; None if none has any."""
    switches = {config.consume_enable for config in group.configs.values()}
    if not switches:
        return None
    return "partly_paused" if len(switches) > 1 else "on" if True in switches else "paused"


def missing_of(missing: Iterable[Missing]) -> list[MissingBroker]:
    """Return the brokers that did not answer, as the API shows them."""
    return [
        MissingBroker(broker=each.broker, reason=each.reason, since=None if each.since is None else rfc3339(each.since))
        for each in missing
    ]


def _why_unknown(reading: LagReading, missing: list[Missing], parts: list[_Part]) -> str | None:
    """Return why the lag is unknown, None when it is known."""
    if missing:
        return missing[0].reason
    if not reading.facts:
        return reading.nothing_known or "no broker has answered yet"
    return None if parts else "its lag has not been read yet"


def _lateness(reading: LagReading, group: str, parts: list[_Part]) -> _Lateness:
    """Return the age of the oldest message not consumed, over the queues whose brokers report it."""
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


def _queues(reading: LagReading, seen: _Seen) -> list[GroupQueue]:
    owners = reading.owners.get(seen.name, {})
    rows = [
        _queue(reading.at, facts.delays.get((seen.name, queue)), queue, offset, owners.get(queue))
        for facts, stats in seen.parts
        for queue, offset in stats.queues.items()
    ]
    return sorted([*rows, *seen.not_begun], key=lambda row: (row.topic, row.broker, row.queue_id))


def _queue(at: int, delay: Delay | None, queue: MessageQueue, offset: OffsetWrapper, client: str | None) -> GroupQueue:
    lag = max(0, offset.broker_offset - offset.consumer_offset)
    age = None if delay is None else delay.age(at, offset.consumer_offset)
    return GroupQueue(
        topic=queue.topic,
        broker=queue.broker_name,
        queue_id=queue.queue_id,
        client=client,
        broker_offset=offset.broker_offset,
        group_offset=offset.consumer_offset,
        lag=lag,
        time_lag_ms=age if lag else 0,
    )


def _missing_queues(seen: _Seen) -> Iterator[GroupQueue]:
    """Yield a row for each known queue of a broker that does not answer."""
    for each in seen.missing:
        for topic in seen.topics:
            counts = each.topics.get(topic)
            for queue_id in range(counts.read if counts else 0):
                yield GroupQueue(topic=topic, broker=each.broker, queue_id=queue_id, unknown_reason=each.reason)


def _mode(members: GroupConnections | None) -> GroupMode | None:
    model = members.message_model if members else None
    return None if model is None else _MODES.get(model)


def drain_estimate(
    lag: int | None, trend: Trend | None, in_rate: float | None, out_rate: float | None
) -> tuple[int | None, DrainUnknown | None]:
    """Return how long the lag lasts at the shown rates; or None and why, where it is not falling."""
    if lag == 0:
        return 0, None
    if lag is None:
        return None, "lag_unknown"
    if in_rate is None or out_rate is None:
        return None, "rates_unknown"
    if out_rate - in_rate <= in_rate * _RATE_NOISE:
        return None, "not_falling"
    if trend is not None and (trend.is_growing or (trend.per_second or 0) > 0):
        return None, "growing"
    return min(_LONGEST_DRAIN_MS, int(lag / (out_rate - in_rate) * 1000)), None


def _state(seen: _Seen, trend: Trend | None, is_consumed: bool | None) -> GroupWord:
    """Return the state of a group; unknown, too, while nobody can say whether it is consumed."""
    if seen.is_known and not seen.offsets:
        # What native clients read stays in their own memory until they commit; a lease is read for certain.
        return "consuming" if seen.is_leased else "idle"
    if seen.lag is None or trend is None:
        return "unknown"
    if seen.lag == 0:
        return "caught_up"
    if trend.is_growing:
        return "growing"
    if is_consumed is None:
        return "unknown"
    return "consuming" if is_consumed else "stalled"
