"""Requirements of `console.broker_accounts.tags`."""

from __future__ import annotations

import pytest

from console.broker_accounts.tags import is_same, tag_of

READ = tag_of({"broker-a": 1, "broker-b": 2})


@pytest.mark.parametrize(
    ("now", "same"),
    [
        ({"broker-a": 1, "broker-b": 2}, True),
        ({"broker-a": 1}, True),
        ({"broker-b": 2, "broker-c": 3}, True),
        ({"broker-a": 1, "broker-b": 3}, False),
        ({"broker-a": 1, "broker-b": None}, False),
        ({"broker-c": 1}, False),
        ({}, False),
    ],
)
def test_only_brokers_of_both_readings_count(now: dict[str, int | None], same: bool) -> None:
    assert is_same(READ, tag_of(now)) is same


@pytest.mark.parametrize("other", ['"stale"', '""', '"3ad4c1f0"'])
def test_a_tag_of_something_else_is_not_the_same(other: str) -> None:
    assert not is_same(other, READ)
