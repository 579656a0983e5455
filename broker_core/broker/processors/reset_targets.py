"""The offsets that a reset sends a group to: by time, to the end, or as the request says."""

from __future__ import annotations

from typing import Final

from broker_core.broker.errors import GroupNotFound, IllegalQueue, OffsetOutOfRange, OffsetUnknown
from broker_core.broker.groups import Groups
from broker_core.broker.offsets import ConsumerOffsets
from broker_core.broker.topics import Topics
from broker_core.protocol.headers.offsets import ResetOffsetRequest
from broker_core.store import MessageStore

TO_THE_END: Final = -1
"""The timestamp that means "after the last message"."""
_NONE: Final = -1
"""What 5.x sends for no offset; 4.x does not know the field."""


class ResetTargets:
    """Finds them; nothing is changed here."""

    def __init__(self, *, store: MessageStore, topics: Topics, groups: Groups, offsets: ConsumerOffsets) -> None:
        self._store = store
        self._topics = topics
        self._groups = groups
        self._offsets = offsets

    def in_queue(self, header: ResetOffsetRequest, queue_id: int) -> int:
        """Return the offset for one queue; raise IllegalQueue, GroupNotFound or OffsetOutOfRange."""
        queues = self._topics.get(header.topic).read_queue_nums
        if queue_id >= queues:
            raise IllegalQueue(header.topic, queue_id, queues)
        known = self._groups.find(header.group) is not None
        if not known and not self._offsets.of(header.group, header.topic):
            raise GroupNotFound(header.group)
        if header.offset is None or header.offset == _NONE:
            return self._by_time(header, queue_id)
        store = self._store
        low, high = store.min_offset(header.topic, queue_id), store.max_offset(header.topic, queue_id)
        if not low <= header.offset <= high:
            raise OffsetOutOfRange(header.offset, low, high)
        return header.offset

    def in_topic(self, header: ResetOffsetRequest) -> dict[int, int]:
        """Return the offset for each queue of a topic, further ahead only by force; raise OffsetUnknown."""
        targets = {}
        for queue_id in range(self._topics.get(header.topic).write_queue_nums):
            current = self._offsets.find(header.group, header.topic, queue_id)
            if current is None:
                raise OffsetUnknown(f"THe consumer group <{header.group}> not exist")
            target = self._by_time(header, queue_id)
            targets[queue_id] = target if header.is_force or target < current else current
        return targets

    def _by_time(self, header: ResetOffsetRequest, queue_id: int) -> int:
        store = self._store
        if header.timestamp == TO_THE_END:
            return store.max_offset(header.topic, queue_id)
        return max(store.offset_by_time(header.topic, queue_id, header.timestamp), 0)
