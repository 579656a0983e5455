"""Computes a plan: which offset each queue of a group gets, and what that means. Pure; asks nobody."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from console.offsets.shapes import PlannedQueue, QueueWarning


@dataclass(frozen=True, slots=True)
class QueueReading:
    """What the brokers say of one queue, and where the group wants to go there."""

    broker: str
    queue_id: int
    current: int | None
    min: int
    max: int
    target: int | None
    """None: the source of the change says nothing about this queue, so it stays."""


def plan(readings: Iterable[QueueReading]) -> list[PlannedQueue]:
    """Return a row for each queue, by broker and queue id."""
    return [_planned(each) for each in sorted(readings, key=lambda each: (each.broker, each.queue_id))]


def changes_nothing(rows: Iterable[PlannedQueue]) -> bool:
    """Return whether every queue keeps its offset."""
    return all(row.new is None or row.new == row.current for row in rows)


def moved_since(rows: Iterable[PlannedQueue], now: dict[tuple[str, int], int]) -> list[PlannedQueue]:
    """Return the rows whose group has another offset than when the plan was made."""
    return [row for row in rows if row.new is not None and now.get(row.place) != row.current]


def _planned(reading: QueueReading) -> PlannedQueue:
    if reading.target is None:
        return _row(reading, None, "no_source")
    new = min(max(reading.target, reading.min), reading.max)
    if new != reading.target:
        return _row(reading, new, "clamped")
    return _row(reading, new, "no_offset" if reading.current is None else None)


def _row(reading: QueueReading, new: int | None, warning: QueueWarning | None) -> PlannedQueue:
    current = reading.current
    delta = None if new is None or current is None else new - current
    return PlannedQueue(
        broker=reading.broker,
        queue_id=reading.queue_id,
        current=current,
        new=new,
        delta=delta,
        min=reading.min,
        max=reading.max,
        to_replay=_again(reading, new),
        skipped=_skipped(reading, new),
        warning=warning,
    )


def _again(reading: QueueReading, new: int | None) -> int:
    """Return how many messages before the current offset come again: those that are still in the queue."""
    if new is None or reading.current is None:
        return 0
    return max(0, min(reading.current, reading.max) - max(new, reading.min))


def _skipped(reading: QueueReading, new: int | None) -> int:
    """Return how many messages that the group has not had will not come."""
    if new is None or reading.current is None:
        return 0
    return max(0, min(new, reading.max) - max(reading.current, reading.min))
