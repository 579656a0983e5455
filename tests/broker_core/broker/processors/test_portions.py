"""A crowd that waits is served in portions, with turns of the loop in between; nobody in it is left out."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from broker_core.broker.limits import BrokerLimits
from broker_core.broker.processors.parked import Parked
from broker_core.broker.processors.portions import PORTION, Portions
from broker_core.remoting.memory import ConnectionMemory
from tests.broker_core.broker.processors.test_parked import Waits

COUNT = 3 * PORTION + 1


class Crowd:
    """Requests that wait at places; `served` says who was, in which order."""

    def __init__(self, *, keeps_waiting: bool = False) -> None:
        self.parked: Parked[Waits] = Parked(BrokerLimits(), "parked_pulls", ConnectionMemory(1 << 30))
        self.portions = Portions(self.parked, self._serve)
        self.served: list[Waits] = []
        self._keeps_waiting = keeps_waiting

    def wait(self, place: str, count: int = COUNT) -> list[Waits]:
        requests = [Waits(place, 900) for _ in range(count)]
        for request in requests:
            self.parked.park(request)
        return requests

    def _serve(self, request: Waits) -> None:
        self.served.append(request)
        if not self._keeps_waiting:
            self.parked.remove(request)


async def turns_until(condition: Callable[[], bool]) -> int:
    """Return after how many turns of the loop a condition holds."""
    for turn in range(100):
        if condition():
            return turn
        await asyncio.sleep(0)
    pytest.fail("nothing goes on")


async def test_a_few_are_served_at_once() -> None:
    crowd = Crowd()
    few = crowd.wait("a", PORTION)
    crowd.portions.wake("a")
    assert crowd.served == few


async def test_a_crowd_is_served_in_portions_and_in_its_order() -> None:
    crowd = Crowd()
    many = crowd.wait("a")
    crowd.portions.wake("a")
    assert crowd.served == many[:PORTION]
    assert await turns_until(lambda: len(crowd.served) == COUNT) >= 3
    assert crowd.served == many


async def test_places_take_turns() -> None:
    crowd = Crowd()
    crowds = {place: crowd.wait(place) for place in "ab"}
    for place in crowds:
        crowd.portions.wake(place)
    await turns_until(lambda: len(crowd.served) >= 4 * PORTION)
    assert {place: sum(request.place == place for request in crowd.served) for place in crowds} == {
        "a": 2 * PORTION,
        "b": 2 * PORTION,
    }


async def test_what_arrives_meanwhile_is_seen_by_all_who_keep_waiting() -> None:
    crowd = Crowd(keeps_waiting=True)
    many = crowd.wait("a")
    crowd.portions.wake("a")
    crowd.portions.wake("a")
    assert len(crowd.served) == PORTION
    await turns_until(lambda: len(crowd.served) == 2 * COUNT)
    assert crowd.served == many * 2


async def test_who_has_left_meanwhile_is_not_served() -> None:
    crowd = Crowd()
    many = crowd.wait("a")
    crowd.portions.wake("a")
    crowd.parked.remove(many[-1])
    await turns_until(lambda: len(crowd.parked) == 0)
    assert crowd.served == many[:-1]
