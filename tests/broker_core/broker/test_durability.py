"""Group commit: one flush answers everybody it serves, and a disk that fails is believed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Event

import pytest

from broker_core.broker.disk import ThreadedDisk
from broker_core.broker.durability import GroupCommit
from broker_core.broker.errors import Overloaded
from broker_core.broker.limits import Limits
from tests.support.wait import eventually


@dataclass
class Disk:
    """A disk that takes as long as the test wants."""

    appended: int = 0
    flushed_log_offset: int = 0
    flushes: int = 0
    flush_ns: int = 50_000_000
    broken: bool = False
    free: Event = field(default_factory=Event)

    def flush(self) -> None:
        end = self.appended
        self.flushes += 1
        self.free.wait(10)
        if self.broken:
            raise OSError("the disk is gone")
        self.flushed_log_offset = end


@pytest.fixture
def executor() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as executor:
        yield executor


def commit_of(disk: Disk, executor: ThreadPoolExecutor, *, limit: int = 100) -> GroupCommit:
    return GroupCommit(
        disk, ThreadedDisk(disk.flush, executor), limits=Limits(unflushed_waiters=limit), timeout_ms=1_000
    )


async def test_one_flush_serves_all_that_wait_and_those_who_come_meanwhile_get_the_next(
    executor: ThreadPoolExecutor,
) -> None:
    disk = Disk(appended=200)
    commit = commit_of(disk, executor)
    answers: list[tuple[str, bool]] = []
    task = asyncio.create_task(commit.run(60_000))

    commit.wait(100, lambda ok: answers.append(("first", ok)), now=0)
    commit.wait(200, lambda ok: answers.append(("second", ok)), now=0)
    await eventually(lambda: disk.flushes == 1)
    disk.appended = 300
    commit.wait(300, lambda ok: answers.append(("late", ok)), now=0)
    assert answers == []
    disk.free.set()

    await eventually(lambda: len(answers) == 3)
    assert answers == [("first", True), ("second", True), ("late", True)]
    assert disk.flushes == 2
    task.cancel()


async def test_without_anybody_waiting_it_flushes_now_and_then(executor: ThreadPoolExecutor) -> None:
    disk = Disk()
    disk.free.set()
    task = asyncio.create_task(commit_of(disk, executor).run(10))

    await eventually(lambda: disk.flushes > 2)
    task.cancel()


async def test_a_send_waits_no_longer_than_its_time(executor: ThreadPoolExecutor) -> None:
    commit = commit_of(Disk(), executor)
    answers: list[bool] = []
    commit.wait(100, answers.append, now=5_000)

    commit.expire(5_999)
    assert answers == []
    commit.expire(6_000)
    assert answers == [False]


async def test_a_disk_that_failed_once_is_not_believed_again(executor: ThreadPoolExecutor) -> None:
    disk = Disk(appended=100, broken=True)
    disk.free.set()
    commit = commit_of(disk, executor)
    answers: list[bool] = []
    commit.wait(100, answers.append, now=0)

    await commit.flush()
    disk.broken = False
    commit.wait(100, answers.append, now=0)
    await commit.flush()

    assert answers == [False, False]
    assert str(commit.failure) == "the disk is gone"


async def test_one_waiting_send_too_many_is_refused_before_it_is_stored(executor: ThreadPoolExecutor) -> None:
    commit = commit_of(Disk(), executor, limit=1)
    commit.check_room()
    commit.wait(100, lambda ok: None, now=0)

    with pytest.raises(Overloaded, match="unflushed_waiters=1"):
        commit.check_room()
