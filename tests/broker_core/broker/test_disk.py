"""Flushes by the compiled thread and by Python's: durable up to the end of the log, and failing with the disk."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from broker_core.broker.disk import CompiledDisk, Disk, ThreadedDisk, disk_of
from broker_core.native import native, why_not
from broker_core.native.functions import Syncer
from broker_core.store import MessageStore
from broker_core.store.errors import FlushFailed
from tests.support.stores import opened, put
from tests.support.wait import PATIENCE_SECONDS


class Broken:
    """A compiled thread whose disk fails, unlike the disk of a test."""

    def __init__(self, syncer: Syncer) -> None:
        self._syncer = syncer
        self.begin, self.fileno, self.close, self.is_done = (
            syncer.begin,
            syncer.fileno,
            syncer.close,
            syncer.is_done,
        )

    def end(self) -> int:
        """Raise the error of a broken disk."""
        self._syncer.end()
        raise OSError(5, "Input/output error")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MessageStore]:
    with opened(tmp_path) as store:
        yield store


@pytest.fixture
def syncer() -> Syncer:
    """Return the compiled thread; skip without it."""
    if native is None:
        pytest.skip(f"there is no compiled thread: {why_not}")
    return native.Syncer()


@pytest.fixture
def executor() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as executor:
        yield executor


async def flushed(disk: Disk) -> BaseException | None:
    """Flush once and return the error, if any."""
    done: asyncio.Future[BaseException | None] = asyncio.get_running_loop().create_future()
    disk.flush(done.set_result)
    return await asyncio.wait_for(done, PATIENCE_SECONDS)


@pytest.mark.parametrize("kind", ["usual", "threaded"])
async def test_a_flush_makes_durable_what_was_appended(
    store: MessageStore, executor: ThreadPoolExecutor, kind: str
) -> None:
    disk = disk_of(store, executor) if kind == "usual" else ThreadedDisk(store.flush, executor)
    assert isinstance(disk, CompiledDisk) == (kind == "usual" and native is not None)
    for _ in range(5):
        end = put(store, b"x" * 700).end
        assert store.flushed_log_offset < end
        assert await flushed(disk) is None
        assert store.flushed_log_offset == end
    assert await flushed(disk) is None
    disk.close()


async def test_a_flush_over_two_segments_and_a_new_name_is_left_to_python(
    store: MessageStore, executor: ThreadPoolExecutor, syncer: Syncer
) -> None:
    asked = []

    def flush() -> None:
        asked.append(store.appended_log_offset)
        store.flush()

    disk = CompiledDisk(store, syncer, ThreadedDisk(flush, executor))
    put(store)
    assert await flushed(disk) is None
    ends = [put(store, b"x" * 900).end for _ in range(2)]
    assert await flushed(disk) is None
    last = put(store).end
    assert await flushed(disk) is None
    assert asked == [asked[0], ends[-1]]
    assert store.flushed_log_offset == last
    disk.close()


async def test_a_flush_that_is_over_is_seen_before_the_loop_is_notified(
    store: MessageStore, executor: ThreadPoolExecutor, syncer: Syncer
) -> None:
    disk = CompiledDisk(store, syncer, ThreadedDisk(store.flush, executor))
    put(store)
    assert await flushed(disk) is None
    put(store)
    done: list[BaseException | None] = []
    disk.flush(done.append)
    while not done:
        disk.look()
    assert done == [None]
    assert store.flushed_log_offset == store.appended_log_offset
    await asyncio.sleep(0)
    assert done == [None]
    disk.close()


async def test_a_disk_that_refuses_ends_the_taking_of_messages(
    store: MessageStore, executor: ThreadPoolExecutor, syncer: Syncer
) -> None:
    put(store)
    assert await flushed(ThreadedDisk(store.flush, executor)) is None
    before = store.flushed_log_offset
    put(store)
    disk = CompiledDisk(store, Broken(syncer), ThreadedDisk(store.flush, executor))
    assert isinstance(await flushed(disk), FlushFailed)
    assert store.flushed_log_offset == before
    with pytest.raises(FlushFailed, match="Input/output error"):
        put(store)
    disk.close()


async def test_a_segment_that_is_gone_is_a_refusal_too(
    store: MessageStore, executor: ThreadPoolExecutor, syncer: Syncer
) -> None:
    put(store)
    disk = CompiledDisk(store, syncer, ThreadedDisk(store.flush, executor))
    assert await flushed(disk) is None
    put(store)
    plan = store.plan_flush()
    assert plan is not None
    hidden = plan.path.rename(plan.path.with_name("hidden"))
    assert isinstance(await flushed(disk), FlushFailed)
    hidden.rename(plan.path)
    disk.close()
