"""Group commit: one flush answers all sends that it covers, and a failed flush is final."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Event

import pytest

from broker_core.broker.disk import Done, ThreadedDisk
from broker_core.broker.durability import DiskPace, GroupCommit
from broker_core.broker.errors import WaitingFull
from broker_core.broker.limits import BrokerLimits
from tests.support.wait import eventually


@dataclass
class Disk:
    """A disk whose duration the test controls."""

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


@pytest.fixture
def disk(executor: ThreadPoolExecutor) -> Iterator[Disk]:
    """A disk whose flushes end with the test, because the executor waits for its thread."""
    disk = Disk()
    yield disk
    disk.free.set()


def commit_of(disk: Disk, executor: ThreadPoolExecutor, *, limit: int = 100) -> GroupCommit:
    return GroupCommit(
        disk, ThreadedDisk(disk.flush, executor), limits=BrokerLimits(unflushed_waiters=limit), timeout_ms=1_000
    )


async def test_one_flush_serves_all_waiting_sends_and_later_ones_get_the_next(
    disk: Disk, executor: ThreadPoolExecutor
) -> None:
    disk.appended = 200
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


async def test_enough_waiting_sends_get_a_flush_before_the_turn_ends(disk: Disk) -> None:
    begun: list[int] = []

    class Begun:
        """A disk on which a flush only begins."""

        def flush(self, done: Done) -> None:
            begun.append(disk.appended)

        def look(self) -> None:
            """No flush has ended."""

        def close(self) -> None:
            """There is nothing to close."""

    commit = GroupCommit(disk, Begun(), limits=BrokerLimits(), timeout_ms=1_000)
    for number in range(1, 25):
        assert begun == []
        disk.appended = number
        commit.wait(number, lambda flushed: None, now=0)
    assert begun == [24]
    await asyncio.sleep(0)  # the flush that the first send asked for has become needless
    assert begun == [24]


async def test_without_anybody_waiting_it_flushes_now_and_then(disk: Disk, executor: ThreadPoolExecutor) -> None:
    disk.free.set()
    task = asyncio.create_task(commit_of(disk, executor).run(10))

    await eventually(lambda: disk.flushes > 2)
    task.cancel()


async def test_however_often_a_flush_is_wanted_only_one_runs_and_one_more_follows(
    disk: Disk, executor: ThreadPoolExecutor
) -> None:
    # Given a slave that asks with each read from its master, faster than the disk
    commit = commit_of(disk, executor)
    ended: list[int] = []
    commit.watch(lambda: ended.append(disk.flushed_log_offset))
    commit.want()
    await eventually(lambda: disk.flushes == 1)
    # When many reads come while a flush runs
    for end in range(1, 101):
        disk.appended = end
        commit.want()
        await asyncio.sleep(0)
    assert disk.flushes == 1
    # Then the next flush is for all of them
    disk.free.set()
    await eventually(lambda: ended == [0, 100])
    await asyncio.sleep(0)
    assert disk.flushes == 2
    commit.close()


async def test_a_send_waits_no_longer_than_its_time(disk: Disk, executor: ThreadPoolExecutor) -> None:
    commit = commit_of(disk, executor)
    answers: list[bool] = []
    commit.wait(100, answers.append, now=5_000)

    commit.expire(5_999)
    assert answers == []
    commit.expire(6_000)
    assert answers == [False]


async def test_a_disk_that_failed_once_is_not_believed_again(disk: Disk, executor: ThreadPoolExecutor) -> None:
    disk.appended, disk.broken = 100, True
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


async def test_one_waiting_send_too_many_is_refused_before_it_is_stored(
    disk: Disk, executor: ThreadPoolExecutor
) -> None:
    commit = commit_of(disk, executor, limit=1)
    commit.check_room()
    commit.wait(100, lambda ok: None, now=0)

    with pytest.raises(WaitingFull, match="unflushed_waiters=1"):
        commit.check_room()


async def test_a_run_of_sends_waits_as_so_many(disk: Disk, executor: ThreadPoolExecutor) -> None:
    commit = commit_of(disk, executor, limit=30)
    answers: list[bool] = []

    commit.wait(10, answers.append, now=0, sends=29)
    assert (len(commit), commit.room) == (29, 1)
    assert disk.flushes == 1, "so many are worth a flush at once"
    commit.wait(20, answers.append, now=0, sends=5)
    assert (len(commit), commit.room) == (34, 0)
    with pytest.raises(WaitingFull):
        commit.check_room()

    commit.expire(10_000)
    assert answers == [False, False]
    assert (len(commit), commit.room) == (0, 30)


async def test_a_quick_disk_is_asked_between_two_turns_of_the_loop(disk: Disk, executor: ThreadPoolExecutor) -> None:
    """No thread is used once the disk has proved quick, until one slow flush."""
    elsewhere: list[int] = []

    class Counted(ThreadedDisk):
        def flush(self, done: Done) -> None:
            elsewhere.append(disk.flushes)
            super().flush(done)

    disk.flush_ns = 50_000
    disk.free.set()
    commit = GroupCommit(disk, Counted(disk.flush, executor), limits=BrokerLimits(), timeout_ms=1_000)

    async def send() -> None:
        disk.appended += 100
        answered: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        commit.wait(disk.appended, answered.set_result, now=0)
        assert await answered

    for _ in range(200):
        await send()
    assert 0 < len(elsewhere) < 150
    quick = len(elsewhere)
    disk.flush_ns = 5_000_000
    await send()
    assert len(elsewhere) == quick
    await send()
    assert len(elsewhere) == quick + 1


def test_the_pace_of_a_disk_is_its_slowest_answer_fading() -> None:
    pace = DiskPace()

    def is_quick_after(*flushes: int) -> bool:
        for each in flushes:
            pace.learn(each)
        return pace.is_quick

    assert not is_quick_after()
    assert is_quick_after(*[60_000] * 100)
    assert not is_quick_after(3_000_000)
    assert not is_quick_after(*[60_000] * 20)
    assert is_quick_after(*[60_000] * 60)
