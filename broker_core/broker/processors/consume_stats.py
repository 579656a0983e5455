"""The progress of groups: offsets, lag and times."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from broker_core.broker.clients import Clients
from broker_core.broker.groups import Groups
from broker_core.broker.offsets import ConsumerOffsets
from broker_core.broker.pop.leases import Leases
from broker_core.broker.processors.handlers import Handlers
from broker_core.broker.stats import Stats
from broker_core.broker.topics import Topics
from broker_core.protocol import bodies
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.bodies.stats import (
    ConsumeStats,
    ConsumeStatsList,
    OffsetWrapper,
    QueryConsumeTimeSpanBody,
    QueueTimeSpan,
)
from broker_core.protocol.bodies.topics import TopicConfig
from broker_core.protocol.codes import PULL_OFFSET_VERSION, RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers import groups as headers
from broker_core.protocol.topics import OFFSET_MOVED_EVENT
from broker_core.remoting.connection import Connection
from broker_core.store import MessageStore


class ConsumeStatsProcessor:
    """Answers 208, 303 and 317."""

    def __init__(
        self,
        *,
        progress: GroupProgress,
        topics: Topics,
        groups: Groups,
        stats: Stats,
        address: str,
        clock: Callable[[], int],
    ) -> None:
        self._progress = progress
        self._topics = topics
        self._groups = groups
        self._stats = stats
        self._address = address
        self._clock = clock

    def handlers(self) -> Handlers:
        return {
            RequestCode.GET_CONSUME_STATS: self.stats,
            RequestCode.GET_BROKER_CONSUME_STATS: self.all_stats,
            RequestCode.QUERY_CONSUME_TIME_SPAN: self.time_span,
        }

    def stats(self, request: Command, _: Connection) -> Command:
        """Return the group's offset and the queue's end for each queue that it reads; an unknown group reads none."""
        header = request.header(headers.GetConsumeStatsRequest)
        table: dict[MessageQueue, OffsetWrapper] = {}
        tps = 0.0
        named = [each for each in (header.topic_list or "").split(";") if each]
        topics = self._progress.named(named) if named else self._progress.topics(header.consumer_group, header.topic)
        for topic in topics:
            offsets = self._progress.offsets(header.consumer_group, topic, topic.read_queue_nums)
            table.update(_as_read_by(request, offsets))
            tps += self._stats.consume_tps(header.consumer_group, topic.topic_name)
        return Command.response(ResponseCode.SUCCESS, body=bodies.encode(ConsumeStats(table, tps)))

    def all_stats(self, request: Command, _: Connection) -> Command:
        """Return the same for every group, by topic."""
        ordered_only = request.header(headers.GetBrokerConsumeStatsRequest).is_order
        groups: list[dict[str, list[ConsumeStats]]] = []
        total = 0
        for config in self._groups.all():
            group = config.group_name
            found = []
            for topic in self._progress.topics(group):
                if ordered_only and not topic.order:
                    continue
                table = dict(_as_read_by(request, self._progress.offsets(group, topic, topic.write_queue_nums)))
                total += sum(each.broker_offset - each.consumer_offset for each in table.values())
                found.append(ConsumeStats(table, self._stats.consume_tps(group, topic.topic_name)))
            groups.append({group: found})
        body = ConsumeStatsList(groups, self._address, total)
        return Command.response(ResponseCode.SUCCESS, body=bodies.encode(body))

    def time_span(self, request: Command, _: Connection) -> Command:
        """Return the time range of each queue and the time lag of a group there."""
        header = request.header(headers.QueryConsumeTimeSpanRequest)
        topic = self._topics.get(header.topic)
        now = self._clock()
        spans = [self._progress.span(header.group, topic, queue_id, now) for queue_id in range(topic.write_queue_nums)]
        return Command.response(ResponseCode.SUCCESS, body=bodies.encode(QueryConsumeTimeSpanBody(spans)))


def _as_read_by(
    request: Command, offsets: Iterator[tuple[MessageQueue, OffsetWrapper]]
) -> Iterator[tuple[MessageQueue, OffsetWrapper]]:
    """Return the offsets so that clients of 5.x, which subtract what is consumed from what is pulled, get 0 or more.

    Others are told a pulled offset only where there are leases.
    """
    for queue, offset in offsets:
        if offset.pull_offset is None and request.version >= PULL_OFFSET_VERSION:
            yield queue, replace(offset, pull_offset=offset.consumer_offset)
        else:
            yield queue, offset


class GroupProgress:
    """Compares the offsets and leases of groups with the queues of the store."""

    def __init__(
        self,
        *,
        store: MessageStore,
        topics: Topics,
        clients: Clients[Connection],
        offsets: ConsumerOffsets,
        leases: Leases,
        broker_name: str,
    ) -> None:
        self._store = store
        self._topics = topics
        self._clients = clients
        self._offsets = offsets
        self._leases = leases
        self._broker_name = broker_name

    def named(self, topics: Sequence[str]) -> Iterator[TopicConfig]:
        """Return those of the topics that exist."""
        return (config for config in map(self._topics.find, dict.fromkeys(topics)) if config is not None)

    def topics(self, group: str, topic: str | None = None) -> Iterator[TopicConfig]:
        """Return the existing topics that a group still reads, according to its members; or only the given one."""
        online = self._clients.find_consumers(group)
        for name in [topic] if topic else self._offsets.topics_of(group):
            config = self._topics.find(name)
            if config is None or name == OFFSET_MOVED_EVENT:
                continue
            if online is None or name in online.subscriptions or self._leases.takes(group, name):
                yield config

    def offsets(self, group: str, topic: TopicConfig, queues: int) -> Iterator[tuple[MessageQueue, OffsetWrapper]]:
        """Return, for each of a topic's first queues, the group's offset and the queue's end."""
        store, name = self._store, topic.topic_name
        committed = self._offsets.of(group, name)
        takes = self._leases.takes(group, name)
        for queue_id in range(queues):
            consumed = max(committed.get(queue_id, 0), 0)
            last = store.store_time(name, queue_id, consumed - 1) if consumed else None
            queue = MessageQueue(name, self._broker_name, queue_id)
            leased = self._leases.find(group, name, queue_id)
            # Readers take the difference of both offsets for the messages in flight: with leases, those on lease.
            pulled = consumed + (leased.held_count if leased else 0) if takes else None
            yield queue, OffsetWrapper(store.max_offset(name, queue_id), consumed, last or 0, pulled)

    def span(self, group: str, topic: TopicConfig, queue_id: int, now: int) -> QueueTimeSpan:
        """Return the time range of a queue (ms) and the time lag of a group there."""
        store, name = self._store, topic.topic_name
        low, high = store.min_offset(name, queue_id), store.max_offset(name, queue_id)
        consumed = self._offsets.find(group, name, queue_id) or 0
        first = store.store_time(name, queue_id, low) or 0
        last_read = store.store_time(name, queue_id, consumed - 1) if consumed > low else None
        unread = store.store_time(name, queue_id, consumed) if consumed < high else None
        return QueueTimeSpan(
            MessageQueue(name, self._broker_name, queue_id),
            first,
            store.store_time(name, queue_id, high - 1) or 0,
            first if last_read is None else last_read,
            0 if unread is None else now - unread,
        )
