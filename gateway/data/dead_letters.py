"""Moves a message that cannot be handled to the dead letters of its group, with the reason.

The names and properties are those of broker_core/broker/README.md#retries-and-dead-letters.
"""

from __future__ import annotations

from typing import Final

from broker_core.client.consumer.leases import LeaseReceipt
from broker_core.client.errors import TopicNotFound
from broker_core.protocol import properties as names
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.dead_letters import NO_SEPARATORS, REASON
from broker_core.protocol.message import Message, StoredMessage
from broker_core.protocol.topics import dead_letter_topic
from gateway.data.leases import LeaseHolder
from gateway.data.parts import DataPlaneParts
from gateway.problems import RECEIPT_EXPIRED, ProblemError

# Properties of one delivery, not of the message.
_LEFT_OUT: Final = (*names.OF_DELIVERIES, *names.TIMERS, names.MIN_OFFSET, names.MAX_OFFSET, names.DELAY)


async def bury(
    parts: DataPlaneParts,
    holder: LeaseHolder,
    handle: LeaseReceipt,
    *,
    deliveries: int,
    reason: str | None,
    request_id: str,
) -> None:
    """Store a copy of the leased message in the group's dead-letter topic; create the topic if it does not exist.

    The lease stays open: acknowledge it afterwards. A failure between the two leaves the message in both places.
    """
    admin = await parts.connections.admin(holder.cluster)
    queue = MessageQueue(handle.topic, handle.broker_name, handle.queue_id)
    placed = await admin.messages.at(queue, handle.queue_offset)
    if placed is None:
        raise ProblemError(RECEIPT_EXPIRED, "The message is no longer stored, so it cannot become a dead letter.")
    letter = dead_letter(placed.message, holder, deliveries, reason)
    producer = await parts.connections.producer(holder.cluster)
    try:
        await producer.send(letter)
    except TopicNotFound:
        await parts.dead_letter_topics.make(holder.cluster, letter.topic, holder.who, request_id)
        await producer.send(letter)


def dead_letter(stored: StoredMessage, holder: LeaseHolder, deliveries: int, reason: str | None) -> Message:
    """Return the dead letter of a message: its body and properties, its origin, the number of tries and why."""
    properties = {name: value for name, value in stored.properties.items() if name not in _LEFT_OUT}
    properties.setdefault(names.RETRY_TOPIC, holder.topic)
    properties.setdefault(names.ORIGIN_MESSAGE_ID, stored.offset_id)
    properties[names.RECONSUME_TIME] = str(deliveries)
    if reason:
        properties[REASON] = reason.translate(NO_SEPARATORS)
    return Message(dead_letter_topic(holder.group), stored.body, properties, stored.flag)
