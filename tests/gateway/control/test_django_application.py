"""Requirements of the threads that serve the requests of the control plane."""

from __future__ import annotations

import threading

import pytest

from gateway.control.django_application import Threads


def test_a_thread_serves_one_request_after_another_and_two_at_once_have_two() -> None:
    threads = Threads()
    with threads.lent() as first:
        home = first.submit(threading.get_ident).result()
        with threads.lent() as second:
            assert second.submit(threading.get_ident).result() != home
    with threads.lent() as again:
        assert again.submit(threading.get_ident).result() == home


def test_a_thread_whose_request_was_left_serves_the_next_one_when_it_has_finished() -> None:
    threads, may_end = Threads(), threading.Event()
    with threads.lent() as slow:
        left = slow.submit(may_end.wait)
    with threads.lent() as other:
        assert other is not slow
        may_end.set()
        assert left.result(10)
        slow.submit(int).result(10)  # behind what took the thread back
    with threads.lent() as first, threads.lent() as second:
        assert {first, second} == {other, slow}


def test_threads_that_a_rush_started_end_but_for_those_that_are_kept() -> None:
    threads = Threads(kept=1)
    with threads.lent() as first, threads.lent() as second:
        assert first.submit(int).result() == second.submit(int).result() == 0
    assert second.submit(int).result() == 0
    with pytest.raises(RuntimeError):
        first.submit(int)
