"""Dead letters of groups that consume by lease: messages delivered too often, copied to the group's own topic."""

from __future__ import annotations

from collections.abc import Callable

from broker_core.broker.intake import Intake
from broker_core.broker.retries import TO_DEAD_LETTERS, GroupTopics, send_back
from broker_core.logs import get_logger
from broker_core.protocol.dead_letters import LEASE_ENDED, NO_SEPARATORS, REASON, cause_of
from broker_core.protocol.message import Message, StoredMessage
from broker_core.protocol.properties import MAX_PROPERTIES_BYTES, format_properties
from broker_core.protocol.record import decode_one

_log = get_logger(__name__)


class DeadLetters:
    """Stores dead letters."""

    def __init__(self, *, group_topics: GroupTopics, intake: Intake, clock: Callable[[], int]) -> None:
        self._group_topics = group_topics
        self._intake = intake
        self._clock = clock

    def put(self, group: str, record: bytes, deliveries: int, reason: str | None) -> None:
        """Store a copy of `record` in the dead letters of `group`, with why; raises the errors of the store.

        `reason` is the last one that a consumer gave, empty if it gave none, None if all leases just ended.
        """
        now = self._clock()
        stored = decode_one(record, decompress=False)
        dead = send_back(stored, group, delay_level=TO_DEAD_LETTERS, max_times=0)
        letter = _with_cause(dead.message, stored, reason)
        self._group_topics.get_or_create(letter.topic, queues=1, now=now)
        origin = self._intake.origin_of_copy(stored, now=now, reconsume_times=stored.reconsume_times + deliveries)
        self._intake.put_message(letter, 0, origin)
        _log.warning(
            "group=%s topic=%s queue=%d offset=%d: delivered too often, moved to the dead letters",
            group,
            stored.topic,
            stored.queue_id,
            stored.queue_offset,
        )


def _with_cause(letter: Message, stored: StoredMessage, reason: str | None) -> Message:
    """Return the dead letter with its cause, or as it is where the cause has no room: it has to be stored."""
    if reason is None and cause_of(stored).text is None:
        reason = LEASE_ENDED
    if not reason:
        return letter
    properties = {**letter.properties, REASON: reason.translate(NO_SEPARATORS)}
    size = len(format_properties(properties).encode())
    return (
        letter
        if size > MAX_PROPERTIES_BYTES
        else Message(letter.topic, letter.body, properties, letter.flag, letter.sys_flag)
    )
