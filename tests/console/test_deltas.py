"""Requirements of `console.deltas`: a delta is small, and turns the last state into the next one."""

from __future__ import annotations

from typing import Any

import orjson
from hypothesis import given
from hypothesis import strategies as st

from console.deltas import difference

_items = st.dictionaries(
    st.sampled_from("abcdefg"),
    st.fixed_dictionaries({"lag": st.integers(0, 2), "measured_at": st.none() | st.sampled_from(["1", "2", "3"])}),
)


def state(items: dict[str, dict[str, Any]], **rest: Any) -> dict[str, Any]:
    return {"at": "now", "items": [{"name": name, **item} for name, item in items.items()], **rest}


def applied(before: dict[str, Any], delta: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the items by name after a reader has applied a delta."""
    items = {item["name"]: dict(item) for item in before["items"] if item["name"] not in delta["removed"]}
    named = {name for _, names in delta["measured"] for name in names or ()}
    for moment, names in delta["measured"]:
        for name in (items.keys() - named) if names is None else names:
            items[name]["measured_at"] = moment
    return items | {item["name"]: item for item in delta["changed"]}


@given(_items, _items)
def test_whoever_has_the_last_state_and_the_delta_has_the_next_state(
    one: dict[str, dict[str, Any]], other: dict[str, dict[str, Any]]
) -> None:
    before, after = state(one), state(other, missing=["b1"])
    delta = difference(before, after)
    assert applied(before, delta) == {item["name"]: item for item in after["items"]}
    assert (delta["at"], delta["missing"]) == ("now", ["b1"])


def test_two_thousand_topics_of_which_three_move_are_told_in_a_kilobyte() -> None:
    def topics(moment: str, moving: int) -> dict[str, Any]:
        return state(
            {
                f"topic-{n}": {"messages": moving if n < 3 else 5, "in_rate": 0.0, "measured_at": moment}
                for n in range(2_000)
            }
        )

    before, after = topics("1", 10), topics("2", 11)
    delta = difference(before, after)
    assert [item["name"] for item in delta["changed"]] == ["topic-0", "topic-1", "topic-2"]
    assert len(orjson.dumps(after)) > 100_000
    assert len(orjson.dumps(delta)) < 1_000
