"""Dead letters of groups that consume by lease: messages delivered too often, copied to the group's own topic."""

from __future__ import annotations

from collections.abc import Callable

from broker_core.broker.intake import Intake
from broker_core.broker.retries import TO_DEAD_LETTERS, GroupTopics, send_back
from broker_core.logs import get_logger
from broker_core.protocol.record import decode_one

_log = get_logger(__name__)


class DeadLetters:
    """Stores dead letters."""

    def __init__(self, *, group_topics: GroupTopics, intake: Intake, clock: Callable[[], int]) -> None:
        self._group_topics = group_topics
        self._intake = intake
        self._clock = clock

    def put(self, group: str, record: bytes) -> None:
        """Store a copy of `record` in the dead letters of `group`; raises the errors of the store."""
        now = self._clock()
        stored = decode_one(record, decompress=False)
        dead = send_back(stored, group, delay_level=TO_DEAD_LETTERS, max_times=0)
        self._group_topics.get_or_create(dead.message.topic, queues=1, now=now)
        origin = self._intake.origin_of_copy(stored, now=now, reconsume_times=dead.reconsume_times)
        self._intake.put_message(dead.message, 0, origin)
        _log.warning(
            "group=%s topic=%s queue=%d offset=%d: delivered too often, moved to the dead letters",
            group,
            stored.topic,
            stored.queue_id,
            stored.queue_offset,
        )
