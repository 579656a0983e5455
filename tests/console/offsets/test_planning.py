"""Requirements of `console.offsets.planning`."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from console.offsets.planning import QueueReading, changes_nothing, moved_since, plan

OFFSETS = st.integers(0, 200)


@st.composite
def readings(draw: st.DrawFn) -> QueueReading:
    low = draw(OFFSETS)
    current, target = draw(st.none() | OFFSETS), draw(st.none() | st.integers(-50, 300))
    return QueueReading("broker-a", draw(st.integers(0, 3)), current, low, low + draw(OFFSETS), target)


@given(readings())
def test_a_queue_never_leaves_its_bounds_and_counts_what_is_there(reading: QueueReading) -> None:
    [row] = plan([reading])
    if reading.target is None:
        assert (row.new, row.delta, row.to_replay, row.skipped, row.warning) == (None, None, 0, 0, "no_source")
        return
    assert row.new is not None
    assert reading.min <= row.new <= reading.max
    assert (row.warning == "clamped") == (row.new != reading.target)
    if reading.current is None:
        assert (row.delta, row.to_replay, row.skipped) == (None, 0, 0)
        return
    there = range(reading.min, reading.max)
    assert row.to_replay == sum(row.new <= offset < reading.current for offset in there)
    assert row.skipped == sum(reading.current <= offset < row.new for offset in there)
    assert row.delta == row.new - reading.current


def reading(current: int | None, target: int | None) -> QueueReading:
    return QueueReading("broker-a", 0, current, 0, 10, target)


def test_a_plan_changes_nothing_where_every_queue_stays() -> None:
    assert changes_nothing(plan([reading(5, 5), reading(5, None)]))
    assert not changes_nothing(plan([reading(5, 5), reading(None, 5)]))


def test_what_moved_since_the_plan_is_found() -> None:
    rows = plan([reading(5, 2)])
    assert moved_since(rows, {("broker-a", 0): 5}) == []
    assert moved_since(rows, {("broker-a", 0): 6}) == rows
    assert moved_since(rows, {}) == rows
    assert moved_since(plan([reading(5, None)]), {}) == [], "a queue that stays may move"
