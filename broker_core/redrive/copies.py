"""The copy of a dead letter: what it keeps, where it goes, and what says that it is a copy."""

from __future__ import annotations

from datetime import UTC, datetime

from broker_core.client.admin.placed import PlacedMessage
from broker_core.errors import GantryError
from broker_core.protocol import properties as names
from broker_core.protocol.copies import COPIED_AT, COPIED_BY, JOB, SOURCE, SOURCE_ID, kept_properties
from broker_core.protocol.dead_letters import EXCEPTIONS, REASON, origin_of
from broker_core.protocol.message import Message, StoredMessage
from broker_core.protocol.topics import retry_topic
from broker_core.redrive.journal import Outcome
from broker_core.redrive.request import RedriveRequest

_OF_ITS_DEATH = frozenset({REASON, *EXCEPTIONS})


def moment_text() -> str:
    """Return the present moment: RFC 3339 in UTC with milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class NotPossible(GantryError):
    """This dead letter cannot be sent again as wanted."""


def target_of(message: StoredMessage, request: RedriveRequest) -> str:
    """Return the topic of the copy; raise NotPossible for a message that cannot be sent there."""
    asked, origin = request.asked, origin_of(message)
    if message.damage is not None:
        raise NotPossible(f"its body is damaged: {message.damage}")
    if asked.target.to == "other" and asked.target.topic:
        return asked.target.topic
    if origin is None:
        raise NotPossible("it does not say which topic it came from")
    if asked.target.to == "failed_group":
        return retry_topic(asked.group)
    if origin not in asked.topics:
        raise NotPossible(f"it came from topic {origin!r}, for which the rights were not checked when the job began")
    return origin


def copy_of(placed: PlacedMessage, topic: str, copy_id: str, request: RedriveRequest) -> Message:
    """Return the copy for a topic: the tries start again, and nothing is left of the cause of its death."""
    message = placed.message
    kept = {name: value for name, value in kept_properties(message.properties).items() if name not in _OF_ITS_DEATH}
    source = f"{request.cluster}/{placed.broker_name}/{message.topic}/{message.queue_id}/{message.queue_offset}"
    kept |= {
        JOB: request.job_id,
        SOURCE: source,
        SOURCE_ID: message.message_id,
        COPIED_AT: moment_text(),
        COPIED_BY: request.created_by,
        names.UNIQ_KEY: copy_id,
    }
    if request.asked.target.to == "failed_group":
        # By these a consumer sees its own topic and the first message, as in any other retry.
        kept[names.RETRY_TOPIC] = origin_of(message) or ""
        kept[names.ORIGIN_MESSAGE_ID] = message.properties.get(names.ORIGIN_MESSAGE_ID, message.offset_id)
    return Message(topic, message.body, kept, message.flag)


def outcome_of(placed: PlacedMessage, cause: str | None) -> Outcome:
    """Return the outcome of a message that failed for a reason that is still to be added."""
    message = placed.message
    return Outcome(
        at=moment_text(),
        broker=placed.broker_name,
        queue_id=message.queue_id,
        offset=message.queue_offset,
        message_id=message.message_id,
        keys=message.keys,
        cause=cause,
        outcome="failed",
    )
