"""JSON shapes of what clients traced of a message."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from console.lag.shapes import MissingBroker
from console.moments import Moment
from gateway.control.message_shapes import ReadFromSlave

TraceState = Literal["traced", "none", "no_topic", "unknown"]
MessageType = Literal["normal", "half", "end", "delayed", "ordered"]
Outcome = Literal["success", "timeout", "exception", "returned_null", "failed"]

_Client = Annotated[str, Meta(description="Address of the client that wrote the trace.")]


class TracedSend(Struct, frozen=True, kw_only=True):
    """A send that a producer got an answer to."""

    at: Annotated[Moment, Meta(description="When it began, by the producer's clock.")]
    cost_ms: int
    group: str | None
    client: _Client
    type: Annotated[MessageType | None, Meta(description="Null: a number that is not known.")]
    success: Annotated[bool, Meta(description="False: stored less safely than the broker promises.")]
    store_host: str | None
    offset_id: str | None
    tag: str | None
    keys: list[str]
    body_bytes: int


class TracedConsumption(Struct, frozen=True, kw_only=True):
    """One call of a consumer's listener with the message."""

    group: str
    client: _Client
    started_at: Annotated[Moment | None, Meta(description="By the consumer's clock; null: its record was not found.")]
    ended_at: Annotated[Moment | None, Meta(description="Null: no end was found, or an old client wrote no time.")]
    cost_ms: Annotated[int | None, Meta(description="Null: no end was found. Of several messages, the share of each.")]
    success: Annotated[bool | None, Meta(description="Null: no end was found; it may be running, or was cut off.")]
    outcome: Annotated[Outcome | None, Meta(description="Null: not known.")]
    tries: Annotated[int | None, Meta(description="Deliveries to the group before this one.")]


class TracedEnd(Struct, frozen=True, kw_only=True):
    """A producer's decision on a transaction."""

    at: Moment
    group: str | None
    client: _Client
    state: Annotated[str, Meta(description="COMMIT_MESSAGE, ROLLBACK_MESSAGE or UNKNOW.")]
    from_check: Annotated[bool, Meta(description="Whether the broker had asked.")]


class TracedRecall(Struct, frozen=True, kw_only=True):
    """A recall of a message before its delivery time."""

    at: Moment
    group: str | None
    client: _Client
    success: bool


class MessageTrace(Struct, frozen=True, kw_only=True):
    """What clients traced of a message, each list the oldest first."""

    message_id: str
    trace_topic: str
    state: Annotated[
        TraceState,
        Meta(
            description="none: everything was searched, and no client traced the message. no_topic: there is no such "
            "topic, so nothing is traced. unknown: nothing was found, but not everything was searched."
        ),
    ]
    complete: Annotated[
        bool,
        Meta(
            description="Whether all traces of the message were searched, and are told: of trace messages of more than "
            "4 MiB or 20,000 records together, or of more than 1,000 records of the message, the first are."
        ),
    ]
    missing: list[MissingBroker]
    from_slaves: list[ReadFromSlave]
    sent: list[TracedSend]
    consumed: list[TracedConsumption]
    ended: list[TracedEnd]
    recalled: list[TracedRecall]
    hidden: Annotated[int, Meta(description="Calls in groups that the caller may not read.")]
    unread: Annotated[int, Meta(description="Records beside them that could not be read.")]
