"""JSON shapes of messages that wait for their delivery time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from msgspec import Meta, Struct
from msgspec.structs import asdict

from broker_core.protocol.bodies.timers import WaitingMessage
from broker_core.protocol.message import StoredMessage
from broker_core.protocol.properties import split_keys
from console.lag.shapes import MissingBroker
from console.moments import Moment, rfc3339
from gateway.control.message_shapes import StoredBody, body_of


class ScheduledMessage(Struct, kw_only=True):
    """A message that waits."""

    message_id: str
    topic: str
    queue_id: int
    broker: str
    due_at: Moment
    keys: Sequence[str]
    tag: str | None
    stored_at: Annotated[Moment, Meta(description="When it was sent; moving it to another time does not change this.")]
    born_at: Moment
    born_host: str
    body_bytes: int


class ScheduledMessages(Struct, frozen=True, kw_only=True):
    """Messages that wait, first those that are due first; those of the brokers in `missing` are not included."""

    items: list[ScheduledMessage]
    next_cursor: str | None
    missing: list[MissingBroker]


class ScheduledDetail(ScheduledMessage, kw_only=True):
    """The whole of a message that waits."""

    body: StoredBody | None
    properties: Mapping[str, str] | None
    hidden: Annotated[str | None, Meta(description="Why body and properties are null: the right that is missing.")]


class ScheduledTopic(Struct, frozen=True, kw_only=True):
    """What waits for one topic."""

    topic: str
    waiting: int
    first_due_at: Moment
    last_due_at: Moment


class ScheduledBucket(Struct, frozen=True, kw_only=True, rename={"begin": "from"}):
    """How many messages of a topic are due from a moment on, for the length of a bucket."""

    begin: Moment
    topic: str
    due: int


class ScheduledDay(Struct, frozen=True, kw_only=True):
    """What happened in the last 24 hours, by whole hours, on all brokers that answered."""

    delivered: int
    late: Annotated[int, Meta(description="Delivered more than a second after their time.")]
    worst_late_ms: int
    recalled: int
    since: Annotated[Moment, Meta(description="When the figures begin, if that is less than 24 hours ago.")]


class ScheduledSummary(Struct, frozen=True, kw_only=True):
    """Everything that waits, in figures: those of topics that the caller may read, on the brokers that answered.

    While `missing` names a broker, there is at least so much.
    """

    waiting: int
    topics: list[ScheduledTopic]
    buckets: list[ScheduledBucket]
    bucket_ms: int
    partial: Annotated[bool, Meta(description="Whether there were more buckets than a broker counts.")]
    last_day: Annotated[
        ScheduledDay | None,
        Meta(description="Of all topics; null where unknown or without `read` on the cluster."),
    ]
    max_delay_ms: Annotated[int | None, Meta(description="How far ahead a message may be scheduled.")]
    missing: list[MissingBroker]


class ScheduleOutcome(Struct, frozen=True, kw_only=True):
    """What became of a message that was to be recalled or moved."""

    message_id: str
    topic: str
    broker: str
    outcome: Literal["recalled", "rescheduled"]
    due_at: Annotated[Moment | None, Meta(description="When it is due now; null for a recalled one.")]


def scheduled_of(waiting: WaitingMessage, broker: str) -> ScheduledMessage:
    """Return a line of the list."""
    return ScheduledMessage(
        message_id=waiting.msg_id,
        topic=waiting.topic,
        queue_id=waiting.queue_id,
        broker=broker,
        due_at=rfc3339(waiting.due),
        keys=split_keys(waiting.keys),
        tag=waiting.tags,
        stored_at=rfc3339(waiting.stored_at),
        born_at=rfc3339(waiting.born_at),
        born_host=waiting.born_host,
        body_bytes=waiting.body_size,
    )


def scheduled_detail(line: ScheduledMessage, message: StoredMessage, *, hidden: str | None) -> ScheduledDetail:
    """Return the whole message; if `hidden` says that a right is missing, without body and properties."""
    return ScheduledDetail(
        **asdict(line),
        body=None if hidden else body_of(message),
        properties=None if hidden else message.properties,
        hidden=hidden,
    )
