"""JSON shapes of a move of many groups to other offsets: what is asked, what a preview shows, what became of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal

from msgspec import Meta, Struct
from rest_framework import serializers

from console.fields import MomentField
from console.offsets.shapes import OffsetPlanState, QueueWarning, UnknownQueues
from gateway.control.bulk import NamesField
from gateway.control.offset_views import LONGEST, OffsetUndoSerializer, check_value

MOST_GROUPS: Final = 50
"""How many groups one request moves."""
MOST_PLANS: Final = 200
"""How many plans one request makes, applies or undoes: one for each topic of each group."""


class GroupPlan(Struct, frozen=True, kw_only=True):
    """What a move would do to one group in one topic; nothing is changed yet."""

    group: str
    topic: Annotated[str | None, Meta(description="Null if the group is refused.")] = None
    outcome: Annotated[
        Literal["planned", "unchanged", "failed", "refused"],
        Meta(description="unchanged: it is there already. refused: not tried, for the reason given."),
    ]
    reason: str | None = None
    plan_id: Annotated[str | None, Meta(description="For `offsets:apply`, for five minutes.")] = None
    lag: Annotated[int | None, Meta(description="Null if a queue has no offset, or is not known.")] = None
    new_lag: Annotated[int | None, Meta(description="After the move; null as `lag` is.")] = None
    to_replay: Annotated[int | None, Meta(description="Messages that the group gets again; null without a plan.")] = (
        None
    )
    skipped: Annotated[int | None, Meta(description="Messages that the group will not get; null without a plan.")] = (
        None
    )
    members: Annotated[int | None, Meta(description="Connected native clients; null if unknown.")] = None
    warnings: Annotated[Sequence[QueueWarning], Meta(description="Those of its queues, each once.")] = []
    unknown: Annotated[Sequence[UnknownQueues], Meta(description="Brokers that are not part of the plan.")] = []


class GroupPlans(Struct, frozen=True):
    """The plans of all groups, in the order of the request; within a group by topic."""

    items: Sequence[GroupPlan]


class GroupMove(Struct, frozen=True, kw_only=True):
    """What became of one plan, or of the undo of one change."""

    group: str
    topic: Annotated[str | None, Meta(description="Null if nothing was moved.")] = None
    outcome: Annotated[
        Literal["done", "partial", "failed", "refused"],
        Meta(description="partial: not in all queues. refused: not tried, for the reason given."),
    ]
    reason: str | None = None
    snapshot_id: Annotated[str | None, Meta(description="For `offsets:undo`; null if nothing was moved.")] = None


class GroupMoves(Struct, frozen=True):
    """The outcomes, in the order of the request."""

    items: Sequence[GroupMove]


class GroupsPreviewSerializer(serializers.Serializer[Any]):
    """The groups to move, and where to."""

    groups = NamesField(most=MOST_GROUPS)
    topics = NamesField(required=False)
    mode = serializers.ChoiceField(("time", "earliest", "latest", "shift"))
    time = MomentField(required=False, help_text="For the mode time: the first message stored then or later.")
    shift = serializers.IntegerField(
        min_value=-LONGEST,
        max_value=LONGEST,
        required=False,
        help_text="For the mode shift: messages, forward if positive.",
    )

    def validate(self, values: dict[str, Any]) -> dict[str, Any]:
        """Refuse a missing value of the mode, and values of other modes."""
        check_value(values)
        return values


class _GroupSerializer(serializers.Serializer[Any]):
    group = serializers.CharField(max_length=255)


class GroupPlanSerializer(_GroupSerializer):
    """A plan to apply."""

    plan_id = serializers.CharField(max_length=16)


class GroupsApplySerializer(serializers.Serializer[Any]):
    """The plans to apply."""

    plans = serializers.ListField(child=GroupPlanSerializer(), min_length=1, max_length=MOST_PLANS)
    strict = serializers.BooleanField(default=False, help_text="Leave groups that moved since the preview.")


class GroupSnapshotSerializer(_GroupSerializer, OffsetUndoSerializer):
    """A change to undo."""


class GroupsUndoSerializer(serializers.Serializer[Any]):
    """The changes to undo."""

    snapshots = serializers.ListField(child=GroupSnapshotSerializer(), min_length=1, max_length=MOST_PLANS)


def planned(plan: OffsetPlanState) -> GroupPlan:
    """Return what a plan comes to."""
    return GroupPlan(
        group=plan.group,
        topic=plan.topic,
        outcome="planned",
        plan_id=plan.plan_id,
        lag=_lag(plan, [row.current for row in plan.queues]),
        new_lag=_lag(plan, [row.current if row.new is None else row.new for row in plan.queues]),
        to_replay=plan.to_replay,
        skipped=plan.skipped,
        members=plan.members,
        warnings=sorted({row.warning for row in plan.queues if row.warning is not None}),
        unknown=plan.unknown,
    )


def _lag(plan: OffsetPlanState, offsets: Sequence[int | None]) -> int | None:
    known = [max(0, row.max - max(at, row.min)) for row, at in zip(plan.queues, offsets, strict=True) if at is not None]
    return None if plan.unknown or len(known) < len(plan.queues) else sum(known)
