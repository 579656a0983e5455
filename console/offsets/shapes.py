"""The shapes of offset changes: what a preview shows, what was moved, what can be undone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final, Literal, get_args

from msgspec import Meta, Struct

from broker_core.structs import decoded
from console.moments import Moment

Mode = Literal["time", "earliest", "latest", "offset", "shift", "copy_from"]
MODES: Final[tuple[Mode, ...]] = get_args(Mode)
QueueWarning = Literal["clamped", "no_offset", "no_source"]
QUEUE_WARNINGS: Final[tuple[QueueWarning, ...]] = get_args(QueueWarning)


@decoded
class PlannedQueue(Struct, frozen=True, kw_only=True):
    """One queue of a plan."""

    broker: str
    queue_id: int
    current: Annotated[int | None, Meta(description="Null if the group has no offset in this queue.")]
    new: Annotated[int | None, Meta(description="Null if the queue stays as it is.")]
    delta: Annotated[int | None, Meta(description="Null if it is not known.")]
    min: Annotated[int, Meta(description="The first offset that can be read.")]
    max: Annotated[int, Meta(description="The offset of the next message.")]
    to_replay: Annotated[int, Meta(description="Messages that the group gets again, as far as they are still there.")]
    skipped: Annotated[int, Meta(description="Messages that the group will not get.")]
    warning: Annotated[
        QueueWarning | None,
        Meta(
            description="clamped: the wanted offset is outside the queue. no_offset: the group has none here and gets "
            "one. no_source: the other group has none here, so the queue stays."
        ),
    ] = None

    @property
    def place(self) -> tuple[str, int]:
        """Broker and queue id."""
        return self.broker, self.queue_id


class UnknownQueues(Struct, frozen=True, kw_only=True):
    """A broker whose queues are not part of the plan, because it did not answer."""

    broker: str
    reason: str


class OffsetPlanState(Struct, frozen=True, kw_only=True):
    """What a change of offsets would do; nothing is changed yet."""

    plan_id: str
    expires_at: Moment
    group: str
    topic: str
    mode: Mode
    queues: Sequence[PlannedQueue]
    to_replay: int
    skipped: int
    members: Annotated[int | None, Meta(description="Connected native clients of the group; null if unknown.")]
    unknown: Sequence[UnknownQueues]


@decoded
class MovedQueue(Struct, frozen=True, kw_only=True):
    """The outcome of a change in one queue."""

    broker: str
    queue_id: int
    before: int | None
    after: int
    done: Annotated[
        bool | None, Meta(description="Null if the change was sent and not answered: the queue may have been moved.")
    ]
    reason: Annotated[str | None, Meta(description="Why the queue was not moved, or nobody knows.")] = None


class OffsetsMoved(Struct, frozen=True, kw_only=True):
    """The outcome of a change: of a plan that was applied, or of an undo."""

    snapshot_id: Annotated[str, Meta(description="For `:undo`.")]
    group: str
    topic: str
    queues: Sequence[MovedQueue]


class OffsetSnapshotState(Struct, frozen=True, kw_only=True):
    """A change that was made, with the offsets before it."""

    snapshot_id: str
    topic: str
    mode: Literal["time", "earliest", "latest", "offset", "shift", "copy_from", "undo"]
    created_by: str
    created_at: Moment
    undone_at: Moment | None
    queues: Sequence[MovedQueue]


class OffsetSnapshots(Struct, frozen=True):
    """The last changes of a group's offsets, newest first."""

    items: Sequence[OffsetSnapshotState]
