"""JSON shapes of the life of a message."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from console.lag.shapes import MissingBroker
from console.moments import Moment

EventKind = Literal[
    "copied_from", "sent", "due", "committed", "stored", "consumed", "retried", "dead", "sent_again", "redriven",
    "delivered",
]  # fmt: skip
GroupState = Literal["consumed", "not_reached", "retrying", "dead", "unknown"]


class TimelineEvent(Struct, frozen=True, kw_only=True):
    """Something that happened to a message or to a copy of it; null where it does not apply or is not recorded."""

    at: Annotated[Moment | None, Meta(description="Null: it happened, but nobody recorded when.")]
    kind: EventKind
    message_id: Annotated[str | None, Meta(description="Of the copy, or the original of a copy.")] = None
    group: str | None = None
    topic: str | None = None
    broker: str | None = None
    queue_id: int | None = None
    offset: int | None = None
    host: Annotated[str | None, Meta(description="Where it was sent from, or the client.")] = None
    tries: Annotated[int | None, Meta(description="Deliveries before this one.")] = None
    reason: str | None = None
    by: Annotated[str | None, Meta(description="Who did it.")] = None
    job: str | None = None


class TimelineGroup(Struct, frozen=True, kw_only=True):
    """What became of a message in one group."""

    group: str
    state: GroupState
    behind: Annotated[int | None, Meta(description="Messages that the group has before this one.")]
    tries: Annotated[int, Meta(description="How often it was returned, as far as stored retries tell.")]


class Timeline(Struct, frozen=True, kw_only=True):
    """The life of a message, the oldest event first; those without a time come last."""

    events: list[TimelineEvent]
    groups: list[TimelineGroup]
    complete: Annotated[bool, Meta(description="Whether every known broker was asked.")]
    missing: list[MissingBroker]
    not_known: Annotated[list[str], Meta(description="What no record can tell, in sentences.")]
