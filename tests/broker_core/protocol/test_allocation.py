"""Shares of a topic's queues, as Java computes them."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from broker_core.protocol.allocation import average, average_by_circle
from broker_core.protocol.bodies.queues import MessageQueue


def queues(count: int) -> list[MessageQueue]:
    return [MessageQueue("orders", "a", queue_id) for queue_id in range(count)]


def ids(given: Iterable[MessageQueue]) -> list[int]:
    return [queue.queue_id for queue in given]


@pytest.mark.parametrize(
    ("count", "members", "shares"),
    [
        (8, 3, [[0, 1, 2], [3, 4, 5], [6, 7]]),
        (4, 4, [[0], [1], [2], [3]]),
        (2, 4, [[0], [1], [], []]),
        (5, 2, [[0, 1, 2], [3, 4]]),
        (4, 1, [[0, 1, 2, 3]]),
    ],
)
def test_average_gives_runs(count: int, members: int, shares: list[list[int]]) -> None:
    names = [f"m{index}" for index in range(members)]

    assert [ids(average(name, queues(count), names)) for name in names] == shares


def test_circle_deals_like_cards() -> None:
    names = ["m0", "m1", "m2"]

    assert [ids(average_by_circle(name, queues(8), names)) for name in names] == [
        [0, 3, 6], [1, 4, 7], [2, 5],
    ]  # fmt: skip
