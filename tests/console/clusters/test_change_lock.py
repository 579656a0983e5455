"""Requirements of `console.clusters.change_lock`."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
from django.conf import settings
from django.test import override_settings

from console.clusters import change_lock as module
from console.clusters.change_lock import change_lock
from console.errors import BrokersSilent, Conflict
from tests.support.wait import wait_until


def test_changes_of_one_resource_follow_one_another() -> None:
    inside: list[int] = []
    most = 0

    def change() -> None:
        nonlocal most
        with change_lock("local", "topics", "orders"):
            inside.append(1)
            most = max(most, len(inside))
            threading.Event().wait(0.005)
            inside.pop()

    with ThreadPoolExecutor(8) as pool:
        for ended in [pool.submit(change) for _ in range(8)]:
            ended.result()
    assert most == 1
    assert not module._locks


def test_another_resource_does_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "WAIT_SECONDS", 0.01)
    with change_lock("local", "topics", "orders"):
        for other in (("local", "groups", "orders"), ("mars", "topics", "orders"), ("local", "topics", "copy")):
            with change_lock(*other):
                pass
        # The same one is refused after a while, and the lock is still held
        for _ in range(2):
            with pytest.raises(Conflict), change_lock("local", "topics", "orders"):
                pass
    assert not module._locks


def test_whoever_waits_hears_that_the_brokers_are_silent_and_finds_it_out_no_second_time() -> None:
    asked, all_wait = [], threading.Event()

    def change() -> None:
        with change_lock("local", "brokers", "broker-a"):
            asked.append(1)
            all_wait.wait(60)
            raise BrokersSilent("the controllers did not answer")

    with ThreadPoolExecutor(20) as pool:
        waiting = [pool.submit(change) for _ in range(20)]
        wait_until(lambda: module._locks.get(("local", "brokers", "broker-a"), (None, 0))[1] == 20)
        all_wait.set()
        errors = [each.exception() for each in waiting]
    assert [str(each) for each in errors] == ["the controllers did not answer"] * 20
    assert len(asked) == 1
    # Who comes later asks for itself
    with change_lock("local", "brokers", "broker-a"):
        pass
    assert not module._silences


def test_a_caller_may_wait_for_less(monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        change_lock("local", "brokers", "broker-a"),
        pytest.raises(Conflict),
        change_lock("local", "brokers", "broker-a", wait_seconds=0.01),
    ):
        pass


def test_another_process_is_waited_for_until_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "WAIT_SECONDS", 0.05)
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    other = context.Process(target=_hold, args=(settings.GANTRY_DATA_DIR, theirs))
    other.start()
    try:
        assert ours.poll(60)
        assert ours.recv() == "held"
        with change_lock("local", "topics", "copy"):
            pass
        with pytest.raises(Conflict), change_lock("local", "topics", "orders"):
            pass
    finally:
        other.kill()
        other.join()
    with change_lock("local", "topics", "orders"):
        pass


def _hold(folder: Path, told: Connection) -> None:
    with override_settings(GANTRY_DATA_DIR=folder), change_lock("local", "topics", "orders"):
        told.send("held")
        told.recv()
