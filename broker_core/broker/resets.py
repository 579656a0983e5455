"""Setting a group's offset from outside: what it has on lease there is forgotten, so that it really begins there."""

from __future__ import annotations

from broker_core.broker.offsets import ConsumerOffsets
from broker_core.broker.pop.leases import Leases


class Resets:
    """The only way by which offsets are set other than by acknowledging leases."""

    def __init__(self, offsets: ConsumerOffsets, leases: Leases) -> None:
        self._offsets = offsets
        self._leases = leases

    def set_offset(self, group: str, topic: str, queue_id: int, offset: int) -> None:
        """Let a group go on at `offset` of a queue. Telling what is so already changes nothing."""
        queue = self._leases.find(group, topic, queue_id)
        if queue is not None and queue.committed != offset:
            self._leases.open(group, topic, queue_id, offset)
        self._offsets.commit(group, topic, queue_id, offset)
