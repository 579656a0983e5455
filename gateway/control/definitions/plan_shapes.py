"""JSON shapes of what a file would change, and of what was changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal, get_args

from msgspec import Meta, Struct

from console.clusters.outcomes import BrokerOutcome
from gateway.control.definitions.shapes import Section

Action = Literal["create", "change", "refused"]
Result = Literal["done", "partial", "failed", "refused", "waiting"]
ACTIONS: Final[tuple[Action, ...]] = get_args(Action)
RESULTS: Final[tuple[Result, ...]] = get_args(Result)


class FieldChange(Struct, frozen=True, kw_only=True):
    """A field that differs."""

    field: str
    before: Annotated[Any, Meta(description="By broker if they differ; null if it is not there or not known.")]
    after: Any


class PlannedItem(Struct, frozen=True, kw_only=True):
    """An item of the file that is not there, or that is different."""

    section: Section
    cluster: str | None
    name: str
    action: Action
    changes: Sequence[FieldChange]
    reason: Annotated[str | None, Meta(description="Why it is refused.")] = None


class PlanCounts(Struct, frozen=True, kw_only=True):
    """How many items there are of each kind."""

    create: int
    change: int
    refused: int
    same: int
    kept: Annotated[int, Meta(description="Are there and not in the given sections of the file; they stay.")]


class DefinitionsPlan(Struct, frozen=True, kw_only=True):
    """What the file would change; items that are as in the file are only counted."""

    items: list[PlannedItem]
    counts: PlanCounts


class AppliedItem(Struct, frozen=True, kw_only=True):
    """What became of an item of the plan."""

    section: Section
    cluster: str | None
    name: str
    action: Action
    result: Result
    reason: str | None
    brokers: Sequence[BrokerOutcome]


class AppliedCounts(Struct, frozen=True, kw_only=True):
    """How many items ended how."""

    done: int
    partial: int
    failed: int
    refused: int
    waiting: Annotated[int, Meta(description="Not begun, because one request makes at most so many changes.")]


class DefinitionsApplied(Struct, frozen=True, kw_only=True):
    """What became of each item of the plan."""

    items: list[AppliedItem]
    counts: AppliedCounts
