"""Waiting requests are woken by their place, ended by their deadline, and never kept longer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.broker.errors import LimitReached
from broker_core.broker.limits import BrokerLimits
from broker_core.broker.processors.parked import SLOT_MS, Parked
from broker_core.remoting.connection import Connection
from broker_core.remoting.memory import ConnectionMemory

SIZE = 100


class Client:
    """A connection as the parking code sees it: it can close."""

    def __init__(self) -> None:
        self.callbacks: list[Callable[[Connection], None]] = []

    def on_close(self, callback: Callable[[Connection], None]) -> None:
        self.callbacks.append(callback)

    def close(self) -> None:
        for callback in self.callbacks:
            callback(cast(Connection, self))


@dataclass(frozen=True, eq=False)
class Waits:
    place: str
    deadline: int
    client: Client = field(default_factory=Client)
    size_bytes: int = SIZE
    account: str = ""

    @property
    def connection(self) -> Connection:
        return cast(Connection, self.client)


def parked_with(*requests: Waits, limit: int = 100, memory: ConnectionMemory | None = None) -> Parked[Waits]:
    limits = BrokerLimits(parked_pulls=limit)
    parked: Parked[Waits] = Parked(limits, "parked_pulls", memory or ConnectionMemory(1_000_000))
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


def test_a_clock_that_stops_for_hours_is_caught_up_at_once() -> None:
    requests = [Waits("a", 100), Waits("b", 3_600_000)]
    parked = parked_with(*requests)

    assert parked.expire(10**12) == requests


def test_the_limit_is_reported_before_it_is_broken() -> None:
    parked = parked_with(Waits("a", 1), limit=2)
    assert parked.has_room("")

    parked.park(Waits("b", 1))

    assert not parked.has_room("")


def test_what_waits_counts_as_memory_until_it_leaves() -> None:
    memory = ConnectionMemory(4 * SIZE)
    requests = [Waits("a", 100), Waits("a", 200), Waits("b", 300), Waits("c", 10_000)]
    parked = parked_with(*requests, memory=memory)
    assert memory.used == 4 * SIZE

    assert not parked.park(Waits("b", 1))
    assert len(parked) == 4

    parked.remove(requests[0])
    assert parked.park(Waits("b", 400))
    parked.expire(500)
    assert memory.used == SIZE
    parked.drain()
    assert memory.used == 0


def test_a_connection_that_closes_takes_its_requests_with_it_and_no_others() -> None:
    client, other = Client(), Client()
    mine, theirs = [Waits("a", 100, client), Waits("b", 200, client)], Waits("a", 100, other)
    parked = parked_with(*mine, theirs)

    client.close()

    assert parked.at("a") == [theirs]
    assert not parked.waits_at("b")
    assert parked.expire(1_000) == [theirs]


def test_a_connection_is_watched_once_however_often_it_waits() -> None:
    client = Client()
    parked = parked_with()
    for _ in range(3):
        parked.park(Waits("a", 100, client))
        parked.remove(parked.at("a")[0])

    assert len(client.callbacks) == 1


def test_one_among_ten_thousand_is_found_without_looking_at_the_others() -> None:
    looked_at = 0

    class Counted(Waits):
        def __hash__(self) -> int:
            nonlocal looked_at
            looked_at += 1
            return id(self)

    parked: Parked[Waits] = Parked(BrokerLimits(), "parked_pulls", ConnectionMemory(1 << 30))
    for number in range(10_000):
        parked.park(Counted(f"place {number}", 1_000_000 + number))
    looked_at = 0

    [found] = parked.at("place 7000")
    parked.remove(found)

    assert looked_at < 20


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


def test_a_request_can_be_let_end_earlier_and_never_later() -> None:
    early, late = Waits("a", 10 * SLOT_MS), Waits("a", 10 * SLOT_MS)
    parked = parked_with(early, late)

    parked.shorten_wait(early, 5 * SLOT_MS)
    parked.shorten_wait(late, 20 * SLOT_MS)

    assert parked.expire(5 * SLOT_MS) == [early]
    assert parked.expire(10 * SLOT_MS) == [late]
    assert len(parked) == 0


def test_an_account_has_a_quarter_of_the_places_and_gets_back_what_ends() -> None:
    alice, bob = Waits("a", 900, account="alice"), Waits("a", 900, account="bob")
    parked = parked_with(alice, limit=4)
    assert not parked.has_room("alice")
    with pytest.raises(LimitReached, match="limit parked_pulls=4 reached: one account may have 1 / 4 of them; x"):
        parked.check_room("alice", "x")
    parked.check_room("bob", "x")
    parked.park(bob)

    alice.client.close()
    assert parked.has_room("alice")
    parked.expire(10_000)
    assert parked.has_room("bob")
