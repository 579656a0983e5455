"""A copy that begins late goes on where the queues end of which it gets no message."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.store import MessageStore
from broker_core.store.consume_queue import QueueEnd
from broker_core.store.reader import StoreReader
from broker_core.store.units import FILLER, FILLER_SIZE, UNIT, leading_fillers
from broker_core.store.verify import verify
from tests.support.replicated import follow, log_of, ranges_of
from tests.support.stores import NOW, bodies, crashed, fill, opened, put, queue_file, small

IDLE = ("idle", 3)


def begun_late(folder: Path, idle: int = 11) -> MessageStore:
    """Return a store whose log has lost all messages of one queue, and goes on with another one."""
    store = opened(folder)
    fill(store, idle, topic="idle", queue_id=3)
    fill(store, 100)
    store.drop_expired(NOW * 2)
    assert (store.min_offset(*IDLE), store.max_offset(*IDLE)) == (idle, idle)
    assert store.min_offset("T", 0) > 0
    return store


def copy_of(store: MessageStore, folder: Path) -> MessageStore:
    copy = opened(folder, is_replica=True)
    copy.begin_behind(store.queue_ends(store.begin_log_offset))
    follow(copy, log_of(store), begin=int(store.begin_log_offset))
    copy.limit_dispatch(None)
    copy.dispatch()
    return copy


def is_sound(folder: Path) -> bool:
    with StoreReader.open(folder, small(folder)) as reader:
        return verify(reader).is_sound


@pytest.mark.parametrize("idle", [1, 7, 8, 9, 16, 17])
@pytest.mark.parametrize("is_killed", [False, True])
def test_the_next_offset_of_an_idle_queue_comes_along_and_stays(tmp_path: Path, idle: int, is_killed: bool) -> None:
    with begun_late(tmp_path / "master", idle) as master:
        ends = master.queue_ends(master.begin_log_offset)
        assert {key: end.next_offset for key, end in ends.items()} == {IDLE: idle}
        copy = copy_of(master, tmp_path / "copy")
        for _ in range(2):
            assert ranges_of(copy) == ranges_of(master)
            assert copy.queue_ends(copy.begin_log_offset) == ends
            assert bodies(copy) == bodies(master)
            folder = crashed(tmp_path / "copy") if is_killed else tmp_path / "copy"
            copy.close()
            copy = opened(folder, is_replica=True)
        copy.take_over()
        copy.limit_dispatch(None)
        for store in (copy, master):
            assert put(store, b"next", topic="idle", queue_id=3).queue_offset == idle
        assert ranges_of(copy) == ranges_of(master)
        assert bodies(copy, *IDLE) == [b"next"]
        copy.close()
        assert is_sound(folder)


def test_a_message_that_is_cut_leaves_the_next_offset_as_it_was(tmp_path: Path) -> None:
    with begun_late(tmp_path / "master") as master, copy_of(master, tmp_path / "copy") as copy:
        end = int(master.appended_log_offset)
        put(master, topic="idle", queue_id=3)
        for is_shown in (False, True):
            copy.limit_dispatch(None if is_shown else end)
            follow(copy, bytes(master.read_log(end, 1 << 20)), begin=end)
            assert copy.max_offset(*IDLE) == (12 if is_shown else 11)
            copy.cut(end)
        copy.take_over()
        assert put(copy, topic="idle", queue_id=3).queue_offset == 11


def test_a_copy_of_a_copy_knows_the_queue_too(tmp_path: Path) -> None:
    with (
        begun_late(tmp_path / "a") as first,
        copy_of(first, tmp_path / "b") as second,
        copy_of(second, tmp_path / "c") as third,
    ):
        assert ranges_of(third) == ranges_of(first)


def test_only_queues_without_a_confirmed_message_behind_the_begin_are_told(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        assert store.queue_ends(0) == {}
        first = put(store)
        second = put(store)
        assert store.queue_ends(first.end) == {}
        assert store.queue_ends(second.end) == {("T", 0): QueueEnd(2, second.log_offset, second.size)}
        # What nobody confirmed may be cut from all logs but one.
        store.limit_dispatch(second.end)
        put(store)
        assert store.queue_ends(second.end) == {("T", 0): QueueEnd(2, second.log_offset, second.size)}


def test_a_store_without_records_has_what_it_was_told_last_and_nothing_else(tmp_path: Path) -> None:
    with opened(tmp_path, is_replica=True) as store:
        store.begin_behind({("a", 0): QueueEnd(9, 100, 50), ("b", 0): QueueEnd(3, 0, FILLER_SIZE)})
        kept = queue_file(tmp_path, "a", 0, 160).stat().st_ino
        store.begin_behind({("a", 0): QueueEnd(9, 100, 50), ("c", 1): QueueEnd(2, 200, 50)})
        assert {(topic, at): store.max_offset(topic, at) for topic, at in store.queues()} == {("a", 0): 9, ("c", 1): 2}
        assert queue_file(tmp_path, "a", 0, 160).stat().st_ino == kept
    # Without a record there is nothing that they are before; the next master tells anew.
    with opened(tmp_path, is_replica=True) as store:
        store.begin_behind({("a", 0): QueueEnd(9, 100, 50)})
        assert {key: store.max_offset(*key) for key in store.queues()} == {("a", 0): 9}


def test_a_log_that_was_cut_to_nothing_may_begin_late(tmp_path: Path) -> None:
    with begun_late(tmp_path / "master") as master, opened(tmp_path / "copy", is_replica=True) as copy:
        with opened(tmp_path / "other") as other:
            put(other)
            copy.append_raw(0, log_of(other))
        copy.cut(0)
        copy.begin_behind(master.queue_ends(master.begin_log_offset))
        follow(copy, log_of(master), begin=int(master.begin_log_offset))
        assert copy.begin_log_offset == master.begin_log_offset


def test_a_store_with_records_is_left_alone(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        put(store)
        with pytest.raises(ValueError, match="has records"):
            store.begin_behind({})
        assert bodies(store) == [b"hi"]


@settings(max_examples=20, deadline=None)
@given(fillers=st.integers(0, 1200), others=st.integers(0, 2))
def test_fillers_are_counted_up_to_the_first_other_unit(fillers: int, others: int) -> None:
    units = FILLER * fillers + UNIT.pack(0, 91, 0) * others + FILLER * (3 if others else 0)
    assert leading_fillers(memoryview(units)) == fillers
