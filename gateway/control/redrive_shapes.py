"""JSON shapes of redrives: what a dry run says, and what became of each dead letter."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from console.lag.shapes import MissingBroker
from console.moments import Moment
from gateway.control.dead_letter_shapes import DeadLetter

OriginalState = Literal["kept", "waiting", "consumed", "unknown"]
OutcomeWord = Literal["redriven", "failed", "skipped", "unknown"]


class RedriveTopic(Struct, frozen=True, kw_only=True):
    """A topic that would get copies."""

    topic: str
    messages: int
    refused: Annotated[str | None, Meta(description="Why it takes none; its messages would fail.")]


class RedriveGroup(Struct, frozen=True, kw_only=True):
    """A group that would receive copies."""

    name: str
    topics: list[str]
    failed: Annotated[bool, Meta(description="Whether it is the group whose dead letters these are.")]


class RedrivePreview(Struct, frozen=True, kw_only=True):
    """What a redrive would do; figures are of what was read."""

    messages: Annotated[int, Meta(description="Copies that would be sent, those that will fail included.")]
    bytes: Annotated[int, Meta(description="Of the bodies; copies also store properties and where they came from.")]
    causes: int
    failing: Annotated[int, Meta(description="Damaged ones, and those whose target takes none.")]
    skipped: Annotated[int, Meta(description="Sent again by an earlier job; not among `messages`.")]
    takes_ms: Annotated[int, Meta(description="At the rate of the request.")]
    topics: list[RedriveTopic]
    groups: Annotated[list[RedriveGroup], Meta(description="Those that the caller may read.")]
    hidden_groups: Annotated[int, Meta(description="Others, which the caller may not read.")]
    needs_allow_live_target: bool
    warning: Annotated[str | None, Meta(description="Why the group may not receive what is sent to it alone.")]
    first: Annotated[list[DeadLetter], Meta(description="The ten that would be sent first.")]
    last: Annotated[list[DeadLetter], Meta(description="The ten that would be sent last, if there are more.")]
    read: int
    stored: int | None
    complete: Annotated[bool, Meta(description="Whether all dead letters were read.")]
    missing: list[MissingBroker]


class RedriveOutcome(Struct, frozen=True, kw_only=True):
    """What became of one dead letter."""

    at: Moment
    outcome: OutcomeWord
    message_id: str
    keys: list[str]
    cause: str | None
    broker: str
    queue_id: int
    offset: int
    topic: Annotated[str | None, Meta(description="Where the copy went, or would have gone.")]
    target_broker: str | None
    target_queue_id: int | None
    target_offset: int | None
    copy_id: Annotated[
        str | None, Meta(description="If skipped: of the earlier copy. If unknown: of the one that may be stored.")
    ]
    why: str | None
    original: Annotated[
        OriginalState,
        Meta(
            description="Brokers keep every original. `waiting`: the group has not consumed the copy yet; `consumed`: "
            "it has; `kept`: nothing more is expected; `unknown`: the group's offset is not known."
        ),
    ]


class RedriveOutcomes(Struct, frozen=True, kw_only=True):
    """The outcomes of a job, the newest first."""

    items: list[RedriveOutcome]
    next_cursor: str | None
    prev_cursor: str | None
    total: Annotated[int, Meta(description="With the chosen outcome.")]
    counts: Annotated[dict[str, int], Meta(description="By outcome.")]
