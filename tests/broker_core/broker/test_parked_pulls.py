"""Requests that wait are woken by their place, ended by their time, and never kept beyond either."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from broker_core.broker.parked_pulls import SLOT_MS, Parked


@dataclass(frozen=True, eq=False)
class Waits:
    place: str
    deadline: int


def parked_with(*requests: Waits, limit: int = 100) -> Parked[Waits]:
    parked: Parked[Waits] = Parked(limit)
    for request in requests:
        parked.park(request)
    return parked


def test_requests_of_a_place_come_in_the_order_they_were_parked() -> None:
    first, other, second = Waits("a", 900), Waits("b", 900), Waits("a", 100)
    parked = parked_with(first, other, second)

    assert parked.at("a") == [first, second]
    assert parked.at("c") == []


def test_a_request_that_was_removed_waits_nowhere() -> None:
    request = Waits("a", 500)
    parked = parked_with(request)

    parked.remove(request)

    assert not parked.waits_at("a")
    assert parked.expire(10_000) == []
    assert len(parked) == 0


def test_a_request_ends_not_before_its_deadline_and_at_most_one_slot_later() -> None:
    request = Waits("a", 1_234)
    parked = parked_with(request)

    assert parked.expire(1_233) == []
    assert parked.expire(1_234 + SLOT_MS) == [request]
    assert not parked.waits_at("a")


def test_a_deadline_that_is_over_already_ends_with_the_next_step() -> None:
    parked = parked_with()
    parked.expire(10_000)
    late = Waits("a", 5)
    parked.park(late)

    assert parked.expire(10_000 + SLOT_MS) == [late]


def test_a_clock_that_stands_still_for_hours_is_caught_up_at_once() -> None:
    requests = [Waits("a", 100), Waits("b", 3_600_000)]
    parked = parked_with(*requests)

    assert parked.expire(10**12) == requests


def test_the_limit_is_told_before_it_is_broken() -> None:
    parked = parked_with(Waits("a", 1), limit=2)
    assert parked.has_room

    parked.park(Waits("b", 1))

    assert not parked.has_room


def test_a_broker_that_stops_gets_every_request() -> None:
    requests = [Waits("a", 100), Waits("b", 200)]
    parked = parked_with(*requests)

    assert parked.drain() == requests
    assert len(parked) == 0
    assert parked.expire(10_000) == []


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 5_000)), max_size=30), st.lists(st.integers(0, 400)))
def test_every_request_leaves_exactly_once(wanted: list[tuple[str, int]], steps: list[int]) -> None:
    requests = [Waits(place, deadline) for place, deadline in wanted]
    parked = parked_with(*requests, limit=1_000)
    left: list[Waits] = []
    now = 0
    for step in steps:
        now += step
        ended = parked.expire(now)
        assert all(request.deadline <= now for request in ended)
        left += ended
        for request in parked.at("a")[:1]:
            parked.remove(request)
            left.append(request)
    left += parked.expire(10_000)

    assert sorted(left, key=id) == sorted(requests, key=id)
    assert len(parked) == 0
