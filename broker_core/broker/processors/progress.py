"""How far a group is in the queues of a topic: in offsets and in time."""

from __future__ import annotations

from collections.abc import Iterator

from broker_core.broker.clients import Clients
from broker_core.broker.offsets import ConsumerOffsets
from broker_core.broker.pop.leases import Leases
from broker_core.broker.topics import Topics
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.bodies.stats import OffsetWrapper, QueueTimeSpan
from broker_core.protocol.bodies.topics import TopicConfig
from broker_core.protocol.topics import OFFSET_MOVED_EVENT
from broker_core.remoting.connection import Connection
from broker_core.store import MessageStore


class GroupProgress:
    """Reads the offsets and leases of groups beside the queues of the store."""

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

    def topics(self, group: str, topic: str | None = None) -> Iterator[TopicConfig]:
        """Return the topics that exist and that a group still reads, as far as its members say; or the one given."""
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
        for queue_id in range(queues):
            consumed = max(committed.get(queue_id, 0), 0)
            last = store.store_time(name, queue_id, consumed - 1) if consumed else None
            queue = MessageQueue(name, self._broker_name, queue_id)
            leased = self._leases.find(group, name, queue_id)
            # Readers take the difference of both offsets for what is in flight: with leases, what is out on lease.
            pulled = None if leased is None else consumed + leased.held_count
            yield queue, OffsetWrapper(store.max_offset(name, queue_id), consumed, last or 0, pulled)

    def span(self, group: str, topic: TopicConfig, queue_id: int, now: int) -> QueueTimeSpan:
        """Return the range of a queue in time (ms), and how late a group is there."""
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
