"""JSON shapes of dead letters, made from stored messages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import asdict

from broker_core.client.admin.placed import PlacedMessage
from broker_core.protocol import properties as names
from broker_core.protocol.dead_letters import Cause, ReadFrom, cause_of, origin_of
from broker_core.protocol.message import StoredMessage
from console.lag.shapes import MissingBroker
from console.moments import Moment, rfc3339
from gateway.control.message_shapes import MessageSummary, ReadFromSlave, summary_of


class DeadLetterCause(Struct, frozen=True, kw_only=True):
    """The dead letters with one cause, among those read."""

    reason: Annotated[str | None, Meta(description="As the consumer or its exception gave it; null if neither did.")]
    read_from: Annotated[ReadFrom, Meta(description="Which of them gave it.")]
    count: int
    topics: Annotated[list[str], Meta(description="The topics they came from, as far as they say so.")]
    first_at: Moment
    last_at: Moment
    last_message_id: str


class DeadLetterCauses(Struct, frozen=True, kw_only=True):
    """The causes of a group's newest dead letters, the most frequent first."""

    items: list[DeadLetterCause]
    read: Annotated[int, Meta(description="How many dead letters were read.")]
    stored: Annotated[int | None, Meta(description="How many there are; null if a master does not say.")]
    complete: Annotated[bool, Meta(description="Whether all dead letters were read.")]
    missing: list[MissingBroker]
    from_slaves: list[ReadFromSlave]


class DeadLetter(MessageSummary, kw_only=True):
    """A dead letter in one line."""

    offset_id: str
    origin_topic: Annotated[str | None, Meta(description="The topic it was consumed from; null if it does not say.")]
    origin_message_id: Annotated[str | None, Meta(description="Offset id of the message that could not be consumed.")]
    cause: str | None
    cause_read_from: ReadFrom


class DeadLetters(Struct, frozen=True, kw_only=True):
    """Dead letters of a group, the newest first."""

    items: list[DeadLetter]
    next_cursor: Annotated[
        str | None, Meta(description="Also given where a page has no match, but there is more to read.")
    ]
    read: Annotated[int, Meta(description="How many dead letters were read for this page.")]
    stored: Annotated[int | None, Meta(description="How many the group has; null if a master does not say.")]
    missing: list[MissingBroker]
    from_slaves: list[ReadFromSlave]


class DeadLetterGroup(Struct, kw_only=True):
    """The dead letters of a group in one line; null where it is not known."""

    name: str
    messages: int | None
    first_at: Annotated[Moment | None, Meta(description="When the oldest that is still stored became a dead letter.")]
    last_at: Moment | None
    topics: Annotated[list[str], Meta(description="Where the newest ones came from, as far as they say so.")]
    top_cause: Annotated[DeadLetterCause | None, Meta(description="The most frequent one among the newest.")]
    causes: Annotated[int | None, Meta(description="How many causes the newest ones have.")]
    read: Annotated[int, Meta(description="From how many of the newest ones topics and causes were read.")]
    retries_waiting: Annotated[
        int | None,
        Meta(description="In its retry topic and not consumed again yet; those still delayed are not counted."),
    ]
    unknown_reason: Annotated[str | None, Meta(description="Why figures are null.")]
    from_slaves: Annotated[
        list[ReadFromSlave], Meta(description="Of which brokers a slave told topics and causes, as of some time ago.")
    ]


class DeadLetterGroups(Struct, frozen=True, kw_only=True):
    """The groups of a cluster that have dead letters."""

    items: list[DeadLetterGroup]
    next_cursor: str | None
    prev_cursor: str | None
    total: int
    messages: Annotated[int | None, Meta(description="Over all groups, not only this page; null if one is unknown.")]
    groups: Annotated[int | None, Meta(description="How many groups the caller may read.")]


def dead_letter_of(placed: PlacedMessage) -> DeadLetter:
    """Return the line of a dead letter."""
    message = placed.message
    cause = cause_of(message)
    return DeadLetter(
        **asdict(summary_of(placed)),
        offset_id=message.offset_id,
        origin_topic=origin_of(message),
        origin_message_id=message.properties.get(names.ORIGIN_MESSAGE_ID),
        cause=cause.text,
        cause_read_from=cause.read_from,
    )


def causes_of(found: Iterable[PlacedMessage]) -> list[DeadLetterCause]:
    """Return the causes of dead letters given the newest first; the most frequent cause comes first."""
    by_cause: dict[Cause, list[StoredMessage]] = {}
    for placed in found:
        by_cause.setdefault(cause_of(placed.message), []).append(placed.message)
    causes = [_cause(cause, messages) for cause, messages in by_cause.items()]
    return sorted(causes, key=lambda cause: cause.count, reverse=True)


def origins(found: Iterable[StoredMessage]) -> list[str]:
    """Return the topics that dead letters came from, by name."""
    return sorted({topic for each in found if (topic := origin_of(each))})


def _cause(cause: Cause, found: Sequence[StoredMessage]) -> DeadLetterCause:
    return DeadLetterCause(
        reason=cause.text,
        read_from=cause.read_from,
        count=len(found),
        topics=origins(found),
        first_at=rfc3339(found[-1].store_timestamp),
        last_at=rfc3339(found[0].store_timestamp),
        last_message_id=found[0].message_id,
    )
