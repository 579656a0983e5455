"""Requirements of `console.clusters.single_flight`: concurrent callers share one question."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from console.clusters.single_flight import SingleFlight
from tests.support.wait import wait_until


def test_many_who_want_to_know_ask_once() -> None:
    single_flight = SingleFlight[int]()
    asked: list[int] = []
    may_end = threading.Event()

    def ask() -> int:
        asked.append(1)
        may_end.wait()
        return 7

    with ThreadPoolExecutor(20) as pool:
        first = pool.submit(single_flight.join, "local", ask)
        wait_until(lambda: asked)
        others = [pool.submit(single_flight.join, "local", ask) for _ in range(10)]
        elsewhere = pool.submit(single_flight.join, "prod", lambda: 8)
        assert elsewhere.result() == 8
        may_end.set()
        assert {each.result() for each in (first, *others)} == {7}
    assert len(asked) <= 2, "one that began after the first had ended may ask again"
    assert single_flight.join("local", lambda: 9) == 9


def test_what_fails_fails_for_all_and_is_asked_anew() -> None:
    single_flight = SingleFlight[int]()

    def fail() -> int:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        single_flight.join("local", fail)
    assert single_flight.join("local", lambda: 1) == 1
