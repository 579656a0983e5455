"""The frames of a tail, from and to the client."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta, Struct

from console.moments import Moment
from gateway.data.schemas import Body
from gateway.live.tail.filters import TailFilter

MOST_TOPICS: Final = 20
MOST_SHOWN_A_SECOND: Final = 1_000
MOST_BODY_BYTES: Final = 64 * 1024
Name = Annotated[str, Meta(min_length=1, max_length=255)]

Phase = Literal["catching_up", "live"]
DropReason = Literal["max_rate", "slow_client", "reader_behind", "deleted"]
DoneReason = Literal["stopped", "replaced"]


class StartFrame(Struct, forbid_unknown_fields=True):
    """Begin to read; a tail that runs already ends first."""

    type: Literal["start"]
    topics: Annotated[list[Name], Meta(min_length=1, max_length=MOST_TOPICS)]
    cluster: str = "local"
    begin: Annotated[str, Meta(max_length=64)] = msgspec.field(default="now", name="from")
    resume: Annotated[str, Meta(max_length=60_000)] | None = None
    filter: TailFilter = msgspec.field(default_factory=TailFilter)
    sample: Annotated[int, Meta(ge=1, le=10_000)] = 1
    max_rate: Annotated[int, Meta(ge=1, le=MOST_SHOWN_A_SECOND)] = 50
    max_body_bytes: Annotated[int, Meta(ge=0, le=MOST_BODY_BYTES)] = 4096


class StopFrame(Struct, forbid_unknown_fields=True):
    """End the tail; the socket stays open."""

    type: Literal["stop"]


class PhaseFrame(Struct, frozen=True, kw_only=True, tag_field="type", tag="phase"):
    """What the tail does from now on."""

    phase: Phase
    topics: Sequence[str]


class MessageFrame(Struct, frozen=True, kw_only=True, tag_field="type", tag="message"):
    """A message that passed; `unjudged` says which condition could not be tried on it."""

    message_id: str
    topic: str
    broker: str
    queue_id: int
    offset: int
    stored_at: Moment
    tag: str | None
    keys: Sequence[str]
    size_bytes: int
    reconsume_times: int
    properties: Mapping[str, str] | None
    body: Body | None
    body_hidden: str | None
    unjudged: str | None


class Counts(Struct, kw_only=True):
    """What a tail did since it began."""

    stored: int = 0
    """Messages that came by: those read, sampled out and skipped."""
    read: int = 0
    matched: int = 0
    shown: int = 0
    dropped: int = 0
    bytes: int = 0
    """Size of the records read."""


class ProgressFrame(Counts, kw_only=True, tag_field="type", tag="progress"):
    """The counts so far, once a second; `resume` begins another tail where this one is."""

    at: Moment
    resume: str


class DroppedFrame(Struct, frozen=True, kw_only=True, tag_field="type", tag="dropped"):
    """Messages that were not shown: how many, why, and when they were stored (null: not known)."""

    n: int
    reason: DropReason
    begin: Moment | None = msgspec.field(name="from")
    to: Moment | None


class UnknownFrame(Struct, frozen=True, kw_only=True, tag_field="type", tag="unknown"):
    """A topic or broker that cannot be read now; it is tried again. `reason` null: it is read again."""

    topic: str
    broker: str | None
    reason: str | None


class DoneFrame(Struct, frozen=True, kw_only=True, tag_field="type", tag="done"):
    """The tail has ended."""

    reason: DoneReason


Frame = PhaseFrame | MessageFrame | ProgressFrame | DroppedFrame | UnknownFrame | DoneFrame
