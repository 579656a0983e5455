"""The contents of a topic's queues: their ranges, and their entries as stored."""

from __future__ import annotations

from typing import Final

from broker_core.broker.clients import Clients
from broker_core.broker.errors import MessageGone
from broker_core.broker.processors.handlers import Handlers
from broker_core.broker.stats import Stats
from broker_core.broker.topics import Topics
from broker_core.protocol import bodies
from broker_core.protocol.bodies.heartbeat import SubscriptionData
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.bodies.stats import TopicOffset, TopicStatsTable
from broker_core.protocol.bodies.topics import ConsumeQueueData, QueryConsumeQueueResponseBody
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers.topics import GetTopicStatsInfoRequest, QueryConsumeQueueRequest
from broker_core.remoting.connection import Connection
from broker_core.store import MessageStore

MAX_ENTRIES: Final = 4096
"""Entries in one answer; RocketMQ returns the rest of a file."""


class QueueProcessor:
    """Answers 202 and 321."""

    def __init__(
        self, *, store: MessageStore, topics: Topics, clients: Clients[Connection], stats: Stats, broker_name: str
    ) -> None:
        self._store = store
        self._topics = topics
        self._clients = clients
        self._stats = stats
        self._broker_name = broker_name

    def handlers(self) -> Handlers:
        return {
            RequestCode.GET_TOPIC_STATS_INFO: self.stats,
            RequestCode.QUERY_CONSUME_QUEUE: self.entries,
        }

    def stats(self, request: Command, _: Connection) -> Command:
        """Return the range of each write queue, when its last message was stored, and how many arrive per second."""
        topic = request.header(GetTopicStatsInfoRequest).topic
        config = self._topics.get(topic)
        store, broker = self._store, self._broker_name
        table = {}
        for queue_id in range(config.write_queue_nums):
            low, high = store.min_offset(topic, queue_id), store.max_offset(topic, queue_id)
            last = store.store_time(topic, queue_id, high - 1) if high > low else None
            table[MessageQueue(topic, broker, queue_id)] = TopicOffset(low, high, last or 0)
        kept = [store.kept_bytes(topic, queue_id) for queue_id in range(config.write_queue_nums)]
        kept_bytes = None if None in kept else sum(each for each in kept if each is not None)
        body = TopicStatsTable(table, self._stats.put_tps(topic), kept_bytes)
        return Command.response(ResponseCode.SUCCESS, body=bodies.encode(body))

    def entries(self, request: Command, _: Connection) -> Command:
        """Return entries from an index on, with a group's subscription but, as in RocketMQ, without its filter.

        For an index outside the queue there are no entries; RocketMQ sends no body then, which breaks its own tool.
        """
        header = request.header(QueryConsumeQueueRequest)
        store, topic, queue_id = self._store, header.topic, header.queue_id
        low, high = store.min_offset(topic, queue_id), store.max_offset(topic, queue_id)
        if not high and not self._has_queue(topic, queue_id):
            raise MessageGone(f"{queue_id}@{topic} is not exist!")
        subscription = self._subscription(header)
        units = store.units(topic, queue_id, header.index, min(header.count, MAX_ENTRIES))
        data = [ConsumeQueueData(*unit) for unit in units]
        body = QueryConsumeQueueResponseBody(data, high, low, subscription, _filter_of(header, subscription))
        remark = None if data else f"Index {header.index} of {queue_id}@{topic} is not exist!"
        return Command.response(ResponseCode.SUCCESS, body=bodies.encode(body), remark=remark)

    def _has_queue(self, topic: str, queue_id: int) -> bool:
        config = self._topics.find(topic)
        return config is not None and 0 <= queue_id < max(config.read_queue_nums, config.write_queue_nums)

    def _subscription(self, header: QueryConsumeQueueRequest) -> SubscriptionData | None:
        group = self._clients.find_consumers(header.consumer_group or "")
        return group.subscriptions.get(header.topic) if group is not None else None


def _filter_of(header: QueryConsumeQueueRequest, subscription: SubscriptionData | None) -> str | None:
    """Return the text about a group's compiled filter: a tag filter is not compiled."""
    if not header.consumer_group:
        return None
    return "null" if subscription is not None else f"{header.consumer_group}@{header.topic} is not online!"
