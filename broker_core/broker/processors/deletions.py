"""Removing a deleted topic or group from every register that refers to it."""

from __future__ import annotations

from broker_core.broker.housekeeping import in_parts
from broker_core.broker.offsets import ConsumerOffsets
from broker_core.broker.pop.leases import Leases
from broker_core.broker.queue_locks import QueueLocks
from broker_core.broker.request_modes import RequestModes
from broker_core.broker.stats import Stats
from broker_core.broker.topic_producers import TopicProducers
from broker_core.store import MessageStore


class Deletions:
    """Removes what remains of a topic or group after its own register has deleted it."""

    def __init__(
        self,
        *,
        store: MessageStore,
        offsets: ConsumerOffsets,
        leases: Leases,
        locks: QueueLocks,
        stats: Stats,
        request_modes: RequestModes,
        producers: TopicProducers,
    ) -> None:
        self._store = store
        self._offsets = offsets
        self._leases = leases
        self._locks = locks
        self._stats = stats
        self._request_modes = request_modes
        self._producers = producers

    async def clear_topic(self, topic: str) -> None:
        """Delete a topic's queues, and the offsets and leases of groups there; only removing files takes time.

        Apache RocketMQ keeps the offsets, so a new topic of the same name starts with offsets beyond its end.
        """
        removing = self._store.detach_topic(topic)[1]
        readers = self._offsets.groups_of(topic)
        self._offsets.drop_topic(topic)
        self._leases.close_matching(topic=topic)
        self._stats.forget([topic, *(f"{topic}@{group}" for group in readers)])
        self._request_modes.forget(topic=topic)
        self._producers.forget(topic)
        await in_parts(removing)

    def clear_group(self, group: str, *, with_offsets: bool) -> None:
        """Delete a group's locks and leases, and its offsets if requested."""
        self._locks.drop_group(group)
        self._leases.close_matching(group=group)
        self._request_modes.forget(group=group)
        self._stats.forget(f"{topic}@{group}" for topic in self._offsets.topics_of(group))
        if with_offsets:
            self._offsets.drop_group(group)
