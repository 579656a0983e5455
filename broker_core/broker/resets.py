"""Setting a group's offset from outside: what it has on lease there is forgotten, so that it really begins there."""

from __future__ import annotations

from broker_core.broker.limits import BrokerLimits
from broker_core.broker.offsets import ConsumerOffsets
from broker_core.broker.pop.leases import Leases


class Resets:
    """The only way by which offsets are set other than by acknowledging leases."""

    def __init__(self, offsets: ConsumerOffsets, leases: Leases, limits: BrokerLimits) -> None:
        self._offsets = offsets
        self._leases = leases
        self._limits = limits

    def set_offset(self, group: str, topic: str, queue_id: int, offset: int) -> None:
        """Let a group go on at `offset` of a queue; telling what is so already changes nothing.

        Neither group nor topic need to be known, as in the reference; so their number is limited here. Raises
        LimitReached.
        """
        if self._offsets.find(group, topic, queue_id) is None:
            self._check_room(group, topic)
        queue = self._leases.find(group, topic, queue_id)
        if queue is not None and queue.committed != offset:
            self._leases.open(group, topic, queue_id, offset)
        self._offsets.commit(group, topic, queue_id, offset)

    def _check_room(self, group: str, topic: str) -> None:
        if len(self._offsets.of(group, topic)) >= self._limits.queues_per_topic:
            raise self._limits.refuse("queues_per_topic", f"no offset was kept for group {group!r} in topic {topic!r}")
        groups, topics = self._offsets.groups(), self._offsets.topics_of(group)
        if group not in groups and len(groups) >= self._limits.groups:
            raise self._limits.refuse("groups", f"no offset was kept for group {group!r}")
        if topic not in topics and len(topics) >= self._limits.topics:
            raise self._limits.refuse("topics", f"no offset was kept for group {group!r} in topic {topic!r}")
