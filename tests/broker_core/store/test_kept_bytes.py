"""Requirements of `broker_core.store.kept_bytes`."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.store import kept_bytes
from broker_core.store.consume_queue import ConsumeQueue
from broker_core.store.kept_bytes import KeptBytes
from broker_core.store.units import FILLER, FILLER_SIZE, UNIT


def queue_in(root: Path) -> ConsumeQueue:
    """Return an empty queue of files of 8 units."""
    queue = ConsumeQueue.load(root, "T", 0, file_units=8)
    queue.recover(trusted=True)
    return queue


def put(queue: ConsumeQueue, *sizes: int) -> None:
    """Append units of records of these sizes."""
    for size in sizes:
        first, begin = queue.max_offset, max(0, queue.max_physical)
        queue.append(UNIT.pack(begin, size, 0), first=first, physical_end=begin + size)


def test_an_empty_queue_keeps_nothing(tmp_path: Path) -> None:
    assert KeptBytes().of(queue_in(tmp_path)) == 0


@given(steps=st.lists(st.tuples(st.lists(st.integers(91, 2**22), max_size=12), st.integers(0, 40)), max_size=6))
def test_it_is_the_sum_over_the_readable_messages_whatever_comes_and_goes(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[list[int], int]]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kept_bytes, "BLOCK_UNITS", 5)
        queue, kept, stored = queue_in(tmp_path_factory.mktemp("q")), KeptBytes(), list[int]()
        for sizes, gone in steps:
            put(queue, *sizes)
            stored += sizes
            queue.drop_before(sum(stored[:gone]))
            assert kept.of(queue) == sum(stored[queue.min_offset :])
        queue.close()


def test_fillers_take_nothing(tmp_path: Path) -> None:
    queue = queue_in(tmp_path)
    put(queue, 100)
    queue.append(FILLER * 2 + UNIT.pack(100, 200, 0), first=1, physical_end=300)
    assert queue.max_offset == 4
    assert KeptBytes().of(queue) == 300 < FILLER_SIZE


def test_a_long_queue_is_unknown_until_all_of_it_was_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_bytes, "BLOCK_UNITS", 4)
    monkeypatch.setattr(kept_bytes, "MOST_UNITS", 8)
    queue, kept = queue_in(tmp_path), KeptBytes()
    put(queue, *[100] * 20)
    assert [kept.of(queue) for _ in range(3)] == [None, None, 2000]


def test_a_queue_that_was_deleted_and_made_again_starts_over(tmp_path: Path) -> None:
    kept, old = KeptBytes(), queue_in(tmp_path)
    put(old, 100, 100)
    assert kept.of(old) == 200
    old.delete()
    new = queue_in(tmp_path)
    put(new, 300)
    assert kept.of(new) == 300
