"""Looks for the batches of a task in the brokers' indexes: what is there is not sent again.

A batch is stored as a whole or not at all, so its first unique id stands for all of it.
"""

from __future__ import annotations

from typing import Final

from broker_core.client.admin import Mastership
from broker_core.client.blocking import BlockingSession
from broker_core.protocol.message import Message
from broker_core.protocol.topics import SCHEDULE_TOPIC, TIMER_TOPIC
from broker_core.spark.outcomes import until_known
from broker_core.spark.sink_rows import is_alone

_WAITING_IN: Final = (TIMER_TOPIC, SCHEDULE_TOPIC)


class Looks:
    """What one task asks. Every question is asked until it is answered, and raises NotKnown after a minute."""

    def __init__(self, session: BlockingSession) -> None:
        self._session = session
        self._masters: dict[str, frozenset[Mastership]] = {}
        """By topic: those that had shown all that was sent before this task."""

    def was_sent_before(self, topic: str, unique_id: str) -> bool:
        """Return whether an earlier attempt of this task stored a batch."""
        return until_known(lambda: self._session.run(self._look(topic, unique_id)))

    def is_stored(self, message: Message, unique_id: str, broker_name: str) -> bool:
        """Return whether a batch is stored that begins with `message`, was sent to a broker and was not confirmed."""
        waiting_in = _WAITING_IN if is_alone(message) else ()
        settled = self._session.admin.settled
        return until_known(
            lambda: self._session.run(
                settled.find(message.topic, unique_id, broker_name=broker_name, waiting_in=waiting_in)
            )
        ) is not None  # fmt: skip

    async def _look(self, topic: str, unique_id: str) -> bool:
        settled = self._session.admin.settled
        if topic not in self._masters:
            masters = await settled.masters(topic)
            await settled.check(masters, topic)
            self._masters[topic] = masters
        try:
            return await settled.look(topic, unique_id, self._masters[topic]) is not None
        except Exception:
            del self._masters[topic]
            raise
