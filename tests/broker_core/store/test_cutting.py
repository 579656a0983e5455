"""A log that was cut equals one that never had the tail: while the store is open, after a close and after a kill."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.protocol.message import Message
from broker_core.store import MessageStore
from broker_core.store.checkpoint import read_checkpoint
from broker_core.store.errors import FlushFailed, StoreClosed, StoreFull
from broker_core.store.reader import StoreReader
from broker_core.store.verify import verify
from tests.support.full_disk import no_room
from tests.support.replicated import MESSAGES, fill_with, follow, found, log_of, logs_and_queues, ranges_of
from tests.support.stores import NOW, bodies, crashed, fill, incoming, opened, put, put_batch, segment, small

SEGMENT = 2048


def is_sound(folder: Path) -> bool:
    with StoreReader.open(folder, small(folder)) as reader:
        findings = verify(reader)
    assert findings.told == []
    return findings.is_sound


def next_offsets(store: MessageStore) -> dict[tuple[str, int], int]:
    """Put a message into each queue and return the offsets they got."""
    places = [(topic, queue_id) for topic in ("T", "other") for queue_id in range(3)]
    offsets = {place: put(store, b"next", topic=place[0], queue_id=place[1]).queue_offset for place in places}
    return {place: int(offset) for place, offset in offsets.items()}


def cut_anywhere(folder: Path, messages: Sequence[Any], at: int, limit: int | None, *, follows: bool) -> MessageStore:
    """Return a store with these messages that was cut; those behind `limit` were not dispatched by then."""
    store = opened(folder / "cut")
    store.limit_dispatch(limit)
    if follows:
        with opened(folder / "origin") as origin:
            fill_with(origin, messages)
            follow(store, log_of(origin))
    else:
        fill_with(store, messages)
    ends = [0, *(head.log_offset + head.size for head, _ in store.walk(0))]
    before = store.appended_log_offset
    store.cut(at)
    expected = at if at % SEGMENT == 0 else max(end for end in ends if end <= at)
    assert store.appended_log_offset == store.followed_log_offset == min(before, expected if at < before else before)
    return store


@settings(max_examples=80, deadline=None)
@given(
    messages=MESSAGES,
    at=st.integers(0, 9000),
    limit=st.none() | st.integers(0, 9000),
    follows=st.booleans(),
    end=st.sampled_from(["open", "closed", "killed"]),
)
def test_a_log_that_was_cut_equals_one_that_never_had_the_tail(
    messages: Sequence[Any], at: int, limit: int | None, follows: bool, end: str
) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        store = cut_anywhere(folder, messages, at, limit, follows=follows)
        log = log_of(store)
        assert store.flushed_log_offset <= len(log)
        store.limit_dispatch(None)
        place = folder / "cut"
        if end != "open":
            killed = crashed(place)
            store.close()
            place = killed if end == "killed" else place
            store = opened(place)
            assert store.recovered.was_clean is (end == "closed")
        with opened(folder / "short") as short:
            follow(short, log)
            short.take_over()
            store.take_over()
            store.dispatch()
            assert ranges_of(store) == ranges_of(short)
            assert found(store) == found(short)
            assert next_offsets(store) == next_offsets(short)
        store.close()
        assert logs_and_queues(place) == logs_and_queues(folder / "short")
        assert is_sound(place)


def test_a_cut_that_is_cut_again_and_again_goes_on(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        for at in (3000, 700, 5000, 2048, 0, 900):
            fill(store, 40)
            store.cut(at)
            count = len(bodies(store))
            assert put(store, b"next").queue_offset == count
            assert bodies(store)[-1] == b"next"
    assert is_sound(tmp_path)


def test_what_is_behind_a_cut_is_zero_and_later_segments_are_gone(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        fill(store, 60)
        ends = [head.log_offset + head.size for head, _ in store.walk(0)]
        store.cut(ends[10] + 1)
        assert store.appended_log_offset == ends[10]
        assert sorted(path.name for path in (tmp_path / "commitlog").iterdir()) == [segment(tmp_path).name]
        assert not any(segment(tmp_path).read_bytes()[ends[10] :])


def test_nothing_is_cut_at_the_end_and_beyond(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        fill(store, 3)
        before = logs_and_queues(tmp_path)
        for at in (store.appended_log_offset, store.appended_log_offset + 1, 1 << 40):
            store.cut(at)
        assert logs_and_queues(tmp_path) == before
        store.cut(0)
        assert (store.appended_log_offset, bodies(store)) == (0, [])


def test_the_log_is_not_cut_before_its_beginning(tmp_path: Path) -> None:
    with opened(tmp_path, retention_ms=0) as store:
        fill(store, 60, now=0)
        store.drop_expired(NOW * 10)
        assert store.begin_log_offset
        with pytest.raises(ValueError, match=f"the log begins at {store.begin_log_offset}: it cannot be cut at 7"):
            store.cut(7)


@pytest.mark.parametrize("is_killed", [False, True])
def test_queues_whose_messages_are_all_gone_go_on_at_their_offset(tmp_path: Path, is_killed: bool) -> None:
    for extra in range(9):
        folder = tmp_path / str(extra)
        with opened(folder, max_log_bytes=3 * SEGMENT) as store:
            # Given a queue of which retention left the last file, which begins with a message of the last segments
            for number in range(60 + extra):
                put(store, b"%d" % number, now=1)
                put(store, b"x" * 200, topic="other", now=1)
            for _ in range(3):
                store.drop_expired(NOW)
            begin = store.begin_log_offset
            assert begin > 0
            low, high = store.ranges()["T", 0]
            assert low < high
            # When the log is cut at its beginning
            store.cut(begin)
            # Then the queue goes on, and so it does after it is opened again
            assert store.ranges()["T", 0] == (low, low)
        with opened(crashed(folder) if is_killed else folder) as store:
            assert store.ranges()["T", 0] == (low, low)
            assert put(store, b"next").queue_offset == low
            assert bodies(store) == [b"next"]


def test_the_marks_fall_with_the_log_and_rise_again(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        fill(store, 30)
        store.checkpoint()
        at = store.walk(0)
        ends = [head.log_offset + head.size for head, _ in at]
        plan_before = store.plan_flush()
        store.cut(ends[9])
        assert plan_before is None
        assert store.flushed_log_offset == store.dispatched_log_offset == store.appended_log_offset == ends[9]
        checkpoint = read_checkpoint(tmp_path)
        assert checkpoint.covered is not None
        assert checkpoint.covered <= ends[9]
        assert (checkpoint.log, checkpoint.queues) == (NOW + 9, NOW + 9) == (store.newest_store_time,) * 2
        fill(store, 5)
        assert store.flushed_log_offset == ends[9]
        store.flush()
        assert store.flushed_log_offset == store.appended_log_offset


def test_a_flush_that_began_before_a_cut_tells_nothing_of_what_comes_after_it(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        fill(store, 5)
        store.flush()
        put(store, b"tail")
        plan = store.plan_flush()
        assert plan is not None
        store.cut(0)
        fill(store, 9)
        store.note_flushed(plan, 1)
        assert store.flushed_log_offset == 0


def test_a_checkpoint_that_began_before_a_cut_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(tmp_path) as store:
        fill(store, 30)
        sync = store._queues.sync

        def cut_meanwhile() -> None:
            monkeypatch.setattr(store._queues, "sync", sync)
            store.cut(500)
            sync()

        monkeypatch.setattr(store._queues, "sync", cut_meanwhile)
        store.checkpoint()
        covered = read_checkpoint(tmp_path).covered
        assert covered is not None
        assert covered <= 500


def test_sums_and_purges_follow_a_cut(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        fill(store, 10)
        store.purge("T", {0: 8})
        sizes = [unit.size for unit in store.units("T", 0, 0, 10)] or [head.size for head, _ in store.walk(0)]
        assert store.kept_bytes("T", 0) == sum(sizes[8:])
        store.cut(sum(sizes[:5]))
        assert (store.ranges()["T", 0], store.kept_bytes("T", 0)) == ((5, 5), 0)
        fill(store, 5)
        assert bodies(store) == [b"0", b"1", b"2", b"3", b"4"]
        assert store.kept_bytes("T", 0) == store.appended_log_offset - sum(sizes[:5])
    with opened(tmp_path) as store:
        assert store.ranges()["T", 0] == (5, 10)


def test_what_was_not_dispatched_is_cut_too(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        fill(store, 2)
        store.limit_dispatch(store.appended_log_offset)
        batch = put_batch(store, [Message("T", b"%d" % number) for number in (2, 3, 4)])
        store.put(incoming(Message("T", b"gone")))
        store.cut(batch.end - 1)
        assert store.put(incoming(Message("T", b"4"))).queue_offset == 4
        store.limit_dispatch(None)
        assert [(arrived.begin, arrived.end) for arrived in store.dispatch()] == [(2, 5)]
        assert bodies(store) == [b"0", b"1", b"2", b"3", b"4"]


def test_a_store_that_failed_or_is_closed_is_not_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = opened(tmp_path)
    fill(store, 3)

    def broken(*_: object) -> None:
        raise OSError("the disk is broken")

    monkeypatch.setattr("broker_core.store.syncing.replace_checkpoint", broken)
    for _ in range(2):
        with pytest.raises(FlushFailed, match="the disk is broken"):
            store.cut(0)
    assert store.appended_log_offset
    store.close()
    with pytest.raises(StoreClosed):
        store.cut(0)


def test_without_room_for_a_checkpoint_nothing_is_cut_and_a_second_call_does(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        first = put(store, b"stays")
        put(store, b"goes")
        store.checkpoint()
        end = store.appended_log_offset
        with no_room(), pytest.raises(StoreFull):
            store.cut(first.end)
        assert (store.appended_log_offset, bodies(store)) == (end, [b"stays", b"goes"])
        store.cut(first.end)
        assert bodies(store) == [b"stays"]
        assert put(store, b"next").queue_offset == 1
    assert is_sound(tmp_path)
