"""Requirements of `console.deltas`: a delta is small, and turns the last state into the next one."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from console.deltas import ListDelta, delta_of, moment_in, moments_of
from console.lag.shapes import TopicState

_rows: st.SearchStrategy[dict[str, dict[str, Any]]] = st.dictionaries(
    st.sampled_from("abcdefg"),
    st.builds(dict, messages=st.integers(0, 2), measured_at=st.none() | st.sampled_from(["1", "2", "3"])),
)


def states(rows: dict[str, dict[str, Any]]) -> dict[str, TopicState]:
    return {name: TopicState(name=name, **row) for name, row in rows.items()}


def between(before: dict[str, TopicState], after: dict[str, TopicState]) -> ListDelta[TopicState]:
    """Return the delta that tells of every row that is new or differs, and of rows that were never measured."""
    changed = {
        name
        for name, row in after.items()
        if name not in before
        or (before[name].messages, before[name].measured_at is None) != (row.messages, row.measured_at is None)
    }
    return delta_of("now", list(after.values()), changed, before.keys() - after.keys())


def applied(before: dict[str, TopicState], delta: ListDelta[TopicState]) -> dict[str, TopicState]:
    """Return the rows by name after a reader has applied a delta."""
    rows = {
        name: msgspec.structs.replace(row, measured_at=row.measured_at and moment_in(delta.measured, name))
        for name, row in before.items()
        if name not in delta.removed
    }
    return rows | {row.name: row for row in delta.changed}


@given(_rows, _rows)
def test_whoever_has_the_last_state_and_the_delta_has_the_next_state(
    one: dict[str, dict[str, Any]], other: dict[str, dict[str, Any]]
) -> None:
    before, after = states(one), states(other)
    assert applied(before, between(before, after)) == after


@given(_rows)
def test_the_moment_of_each_row_is_told(rows: dict[str, dict[str, Any]]) -> None:
    told = moments_of(states(rows).values())
    assert all(moment_in(told, name) == row["measured_at"] for name, row in rows.items() if row["measured_at"])


def test_two_thousand_topics_of_which_three_move_are_told_in_a_kilobyte() -> None:
    def topics(moment: str, moving: int) -> dict[str, TopicState]:
        return states({f"t{n}": {"messages": moving if n < 3 else 5, "measured_at": moment} for n in range(2_000)})

    before, after = topics("1", 10), topics("2", 11)
    delta = between(before, after)
    assert [row.name for row in delta.changed] == ["t0", "t1", "t2"]
    assert len(msgspec.json.encode(list(after.values()))) > 100_000
    assert len(msgspec.json.encode(delta)) < 1_000
