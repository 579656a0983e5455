"""The entries of a consume queue as they lie in the store."""

from __future__ import annotations

from typing import Final

from broker_core.broker.clients import Clients
from broker_core.broker.errors import MessageGone
from broker_core.broker.processors.handlers import Handlers
from broker_core.broker.topics import Topics
from broker_core.protocol import bodies
from broker_core.protocol.bodies.heartbeat import SubscriptionData
from broker_core.protocol.bodies.topics import ConsumeQueueData, QueryConsumeQueueResponseBody
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers.topics import QueryConsumeQueueRequest
from broker_core.remoting.connection import Connection
from broker_core.store import MessageStore

MAX_ENTRIES: Final = 4096
"""Entries of one answer; RocketMQ gives what is left of a file."""


class QueueProcessor:
    """Answers 321."""

    def __init__(self, *, store: MessageStore, topics: Topics, clients: Clients[Connection]) -> None:
        self._store = store
        self._topics = topics
        self._clients = clients

    def handlers(self) -> Handlers:
        return {RequestCode.QUERY_CONSUME_QUEUE: self.entries}

    def entries(self, request: Command, _: Connection) -> Command:
        """Return entries from an index on, with a group's subscription; nothing is said of its filter, as there.

        An index outside the queue is answered with no entries; RocketMQ sends no body then, at which its tool breaks.
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
    """Return what is said of a group's compiled filter: by tag there is none."""
    if not header.consumer_group:
        return None
    return "null" if subscription is not None else f"{header.consumer_group}@{header.topic} is not online!"
