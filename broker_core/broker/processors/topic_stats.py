"""What the queues of a topic hold, and how much comes in."""

from __future__ import annotations

from broker_core.broker.processors.handlers import Handlers
from broker_core.broker.stats import Stats
from broker_core.broker.topics import Topics
from broker_core.protocol import bodies
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.bodies.stats import TopicOffset, TopicStatsTable
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers.topics import GetTopicStatsInfoRequest
from broker_core.remoting.connection import Connection
from broker_core.store import MessageStore


class TopicStatsProcessor:
    """Answers 202."""

    def __init__(self, *, store: MessageStore, topics: Topics, stats: Stats, broker_name: str) -> None:
        self._store = store
        self._topics = topics
        self._stats = stats
        self._broker_name = broker_name

    def handlers(self) -> Handlers:
        return {RequestCode.GET_TOPIC_STATS_INFO: self.stats}

    def stats(self, request: Command, _: Connection) -> Command:
        """Return the range of each write queue, when its last message was stored, and how many come a second."""
        topic = request.header(GetTopicStatsInfoRequest).topic
        config = self._topics.get(topic)
        store, broker = self._store, self._broker_name
        table = {}
        for queue_id in range(config.write_queue_nums):
            low, high = store.min_offset(topic, queue_id), store.max_offset(topic, queue_id)
            last = store.store_time(topic, queue_id, high - 1) if high > low else None
            table[MessageQueue(topic, broker, queue_id)] = TopicOffset(low, high, last or 0)
        body = TopicStatsTable(table, self._stats.put_tps(topic))
        return Command.response(ResponseCode.SUCCESS, body=bodies.encode(body))
