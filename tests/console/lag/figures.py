"""A broker that reports the figures of a test over real sockets, and a memory for the test."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar

from broker_core.protocol import bodies
from broker_core.protocol.bodies import MessageQueue, OffsetWrapper, TopicConfig, TopicOffset
from broker_core.protocol.bodies.groups import (
    Connection,
    ConsumerConnection,
    ConsumerOffsetSerializeWrapper,
    SubscriptionGroupConfig,
    SubscriptionGroupWrapper,
)
from broker_core.protocol.bodies.routes import KVTable
from broker_core.protocol.bodies.stats import (
    ConsumeStats,
    ConsumeStatsList,
    QueryConsumeTimeSpanBody,
    QueueTimeSpan,
    TopicStatsTable,
)
from broker_core.protocol.bodies.topics import TopicConfigSerializeWrapper
from broker_core.protocol.codes import STORE_ID_KEY, RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers.groups import GetConsumerConnectionListRequest, QueryConsumeTimeSpanRequest
from broker_core.protocol.headers.topics import GetTopicStatsInfoRequest
from broker_core.protocol.topic_attributes import MESSAGE_TYPE
from broker_core.remoting.dispatch import Handler
from console.clusters.memory import Remembered, RememberedBroker, Sighting
from console.lag.shapes import GroupList, GroupSummary
from tests.support.scripted import Peer, succeed

AT = "2026-05-01T08:00:00.000Z"
T = TypeVar("T")


@dataclass
class Figures:
    """Topics with the number of messages in their only queue, and groups with the number consumed of each topic."""

    broker: str = "broker-a"
    written: dict[str, int] = field(default_factory=dict)
    consumed: dict[str, tuple[str, int]] = field(default_factory=dict)
    members: dict[str, list[str]] = field(default_factory=dict)
    delay_ms: int = 5_000
    uncommitted: set[str] = field(default_factory=set)
    """Groups of which the broker says the time lag as Apache RocketMQ does where no offset was committed."""
    fresh: set[str] = field(default_factory=set)
    """Topics whose last message is new; those of the others are old."""
    hidden: set[str] = field(default_factory=set)
    """Groups that are in no list."""
    declared: dict[str, str] = field(default_factory=dict)
    """The message types of topics."""
    store_id: str = ""
    """The identity of its data folder; empty as of Apache RocketMQ, which tells none."""
    asked: Counter[str] = field(default_factory=Counter)
    """How often the broker was asked for a topic's ends, or for a group's time lag."""

    def tell(self, peer: Peer) -> None:
        """Make the peer answer with these figures."""
        peer.on(RequestCode.GET_BROKER_RUNTIME_INFO, self._say(self._runtime))
        peer.on(RequestCode.GET_ALL_TOPIC_CONFIG, self._say(self._topics))
        peer.on(RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG, self._say(self._groups))
        peer.on(RequestCode.GET_ALL_CONSUMER_OFFSET, self._say(self._offsets))
        peer.on(RequestCode.GET_BROKER_CONSUME_STATS, self._say(self.lags))
        peer.on(RequestCode.GET_TOPIC_STATS_INFO, self.tell_ends)
        peer.on(RequestCode.QUERY_CONSUME_TIME_SPAN, self._say(self._span))
        peer.on(RequestCode.GET_CONSUMER_CONNECTION_LIST, self._connections)

    def tell_ends(self, request: Command, connection: object) -> Command:
        """Answer for one topic."""
        return Command.response(ResponseCode.SUCCESS, body=bodies.encode(self._ends(request)))

    @staticmethod
    def _say(make: Callable[[Command], object]) -> Handler:
        return succeed(lambda request: Command.response(ResponseCode.SUCCESS, body=bodies.encode(make(request))))

    def _queue(self, topic: str) -> MessageQueue:
        return MessageQueue(topic, self.broker, 0)

    def _runtime(self, _: Command) -> KVTable:
        figures = {"commitLogDiskRatio": "0.5", "msgPutTotalTodayNow": str(sum(self.written.values()))}
        return KVTable(figures | ({STORE_ID_KEY: self.store_id} if self.store_id else {}))

    def _topics(self, _: Command) -> TopicConfigSerializeWrapper:
        names = [*self.written, self.broker]
        types = {name: {MESSAGE_TYPE: declared} for name, declared in self.declared.items()}
        table = {name: TopicConfig(name, 1, 1, attributes=types.get(name)) for name in names}
        return TopicConfigSerializeWrapper(topic_config_table=table)

    def _groups(self, _: Command) -> SubscriptionGroupWrapper:
        table = {name: SubscriptionGroupConfig(group_name=name) for name in self.consumed.keys() - self.hidden}
        return SubscriptionGroupWrapper(subscription_group_table=table)

    def _offsets(self, _: Command) -> ConsumerOffsetSerializeWrapper:
        table = {
            f"{topic}@{group}": {0: offset}
            for group, (topic, offset) in self.consumed.items()
            if group not in self.hidden
        }
        return ConsumerOffsetSerializeWrapper(table)

    def lags(self, _: Command) -> ConsumeStatsList:
        """Report the position of every group."""
        self.asked["lag"] += 1
        return ConsumeStatsList(
            [
                {group: [ConsumeStats({self._queue(topic): OffsetWrapper(self.written[topic], offset)})]}
                for group, (topic, offset) in self.consumed.items()
            ]
        )

    def _ends(self, request: Command) -> TopicStatsTable:
        topic = request.header(GetTopicStatsInfoRequest).topic
        self.asked[topic] += 1
        stored_at = time.time_ns() // 1_000_000 if topic in self.fresh else 1
        return TopicStatsTable({self._queue(topic): TopicOffset(0, self.written.get(topic, 0), stored_at)})

    def _span(self, request: Command) -> QueryConsumeTimeSpanBody:
        header = request.header(QueryConsumeTimeSpanRequest)
        self.asked[header.group] += 1
        delay = time.time_ns() // 1_000_000 + 1 if header.group in self.uncommitted else self.delay_ms
        return QueryConsumeTimeSpanBody([QueueTimeSpan(self._queue(header.topic), 0, 0, 0, delay)])

    def _connections(self, request: Command, _: object) -> Command:
        members = self.members.get(request.header(GetConsumerConnectionListRequest).consumer_group, [])
        if not members:
            return Command.response(ResponseCode.CONSUMER_NOT_ONLINE, remark="nobody")
        connections = [Connection(name, "127.0.0.1:1") for name in members]
        return Command.response(ResponseCode.SUCCESS, body=bodies.encode(ConsumerConnection(connections)))


class InProcess:
    """A memory for one test."""

    def __init__(self) -> None:
        self.known: dict[str, RememberedBroker] = {}

    async def recall(self) -> Remembered:
        return Remembered(dict(self.known))

    async def keep(self, sightings: Iterable[Sighting], at: datetime) -> None:
        for seen in sightings:
            before = self.known.get(seen.name) or RememberedBroker(seen.name, seen.addresses, at, at)
            self.known[seen.name] = RememberedBroker(
                seen.name,
                seen.addresses,
                before.first_seen_at,
                at,
                before.topics if seen.topics is None else seen.topics,
                before.groups if seen.groups is None else seen.groups,
                before.store_id if seen.store_id is None else seen.store_id,
            )


def known(value: T | None) -> T:
    """Return a figure that must not be unknown."""
    assert value is not None
    return value


def group(name: str, lag: int | None = 0) -> GroupSummary:
    """Return the summary of a group as the sampler publishes it."""
    return GroupSummary(
        name=name,
        measured_at=AT,
        state="unknown" if lag is None else "consuming",
        mode="clustering",
        clients=1,
        lease_consumers=None,
        topics=["orders"],
        lag=lag,
        time_lag_ms=lag,
        in_rate=1.0,
        out_rate=1.0,
        lag_per_second=None,
        drain_eta_ms=None,
        leases=None,
        unknown_reason="broker_unreachable" if lag is None else None,
        missing=[],
    )


def groups(*items: GroupSummary) -> GroupList:
    """Return the list that the sampler publishes."""
    return GroupList(at=AT, items=list(items))
