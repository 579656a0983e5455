"""Arrivals: one round per turn of the loop, and every listener is called for every queue."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from broker_core.broker.arrivals import Arrivals, paced
from broker_core.protocol.message import QueueOffset
from broker_core.store import Arrived
from broker_core.store.errors import StoreFull


@dataclass
class Source:
    """A store with arrivals."""

    waiting: list[Arrived] = field(default_factory=list)
    is_full: bool = False
    readable: list[str] = field(default_factory=list)

    def dispatch(self) -> list[Arrived]:
        if self.is_full:
            raise StoreFull(Path(), 1)
        arrived, self.waiting = self.waiting, []
        self.readable += [each.topic for each in arrived]
        return arrived

    def find_named(self, log_offset: int) -> bytes | None:
        return self.readable[log_offset].encode() if log_offset < len(self.readable) else None


def arrived(topic: str, queue_id: int) -> Arrived:
    return Arrived(topic, queue_id, QueueOffset(0), QueueOffset(1))


def test_a_full_disk_is_logged_once_until_there_is_room(caplog: pytest.LogCaptureFixture) -> None:
    source = Source([arrived("orders", 0)], is_full=True)
    arrivals = Arrivals(source, lambda _: None)
    for is_full in (True, True, False, True, True):
        source.is_full = is_full
        arrivals.round()
    assert caplog.text.count("stored but not readable yet") == 2


def test_many_puts_of_a_turn_make_one_round() -> None:
    scheduled: list[Callable[[], None]] = []
    heard: list[tuple[str, int]] = []
    source = Source([arrived("orders", 0), arrived("bills", 1)])
    arrivals = Arrivals(source, scheduled.append)
    arrivals.listen(lambda topic, queue_id: heard.append((topic, queue_id)))

    for _ in range(5):
        arrivals.expect()
    assert len(scheduled) == 1
    scheduled.pop()()

    assert heard == [("orders", 0), ("bills", 1)]
    arrivals.expect()
    assert len(scheduled) == 1


def test_a_request_in_the_meantime_runs_the_round_at_once() -> None:
    scheduled: list[Callable[[], None]] = []
    heard: list[str] = []
    arrivals = Arrivals(Source([arrived("orders", 0)]), scheduled.append)
    arrivals.listen(lambda topic, _: heard.append(topic))

    arrivals.settle()
    assert heard == []
    arrivals.expect()
    arrivals.settle()
    assert heard == ["orders"]
    heard.clear()
    scheduled.pop()()

    assert heard == []


async def test_rounds_are_paced() -> None:
    loop = asyncio.get_running_loop()
    call_soon = paced(loop, 0.05)
    times: list[float] = []
    done = asyncio.Event()

    def note() -> None:
        times.append(loop.time())
        if len(times) < 3:
            call_soon(note)
        else:
            done.set()

    began = loop.time()
    call_soon(note)
    await done.wait()

    assert times[0] - began < 0.05
    assert times[2] - began >= 0.09


def test_what_the_disk_refuses_is_announced_in_a_later_round() -> None:
    heard: list[str] = []
    source = Source([arrived("orders", 0)], is_full=True)
    arrivals = Arrivals(source, lambda _: None)
    arrivals.listen(lambda topic, _: heard.append(topic))

    arrivals.round()
    assert heard == []
    source.is_full = False
    arrivals.round()

    assert heard == ["orders"]


def test_a_record_of_a_moment_ago_is_found_by_its_place() -> None:
    arrivals = Arrivals(Source([arrived("orders", 0)]), lambda _: None)
    assert arrivals.find_named(0) is None
    arrivals.expect()
    assert arrivals.find_named(0) == b"orders"
