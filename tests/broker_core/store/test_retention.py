"""What leaves the store, and what stays."""

from __future__ import annotations

import os
from pathlib import Path

from broker_core.store.retention import Dropped
from tests.support.stores import NOW, bodies, fill, opened, put, segment

HOUR = 3_600_000


def age(path: Path, modified: int) -> None:
    os.utime(path, (modified / 1000, modified / 1000))


def segments(folder: Path) -> list[int]:
    return sorted(int(path.name) for path in (folder / "commitlog").iterdir())


def test_segments_leave_72_hours_after_their_last_write(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        fill(store, 100)
        count = len(segments(tmp_path))
        for start in (0, 2048):
            age(segment(tmp_path, start), NOW - 72 * HOUR)
        assert store.drop_expired(NOW - 1).segments == 0
        dropped = store.drop_expired(NOW)
        assert (dropped.segments, dropped.log_bytes) == (2, 4096)
        assert len(segments(tmp_path)) == count - 2
        assert store.begin_log_offset == 4096
        low = store.min_offset("T", 0)
        assert bodies(store) == [b"%d" % number for number in range(low, 100)]
        assert dropped.queue_files == low // 8
        assert dropped.index_files == 2
    with opened(tmp_path) as store:
        assert (store.begin_log_offset, store.min_offset("T", 0)) == (4096, low)


def test_a_segment_that_is_too_young_protects_those_behind_it(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        fill(store, 100)
        age(segment(tmp_path, 2048), NOW - 100 * HOUR)
        assert store.drop_expired(NOW).segments == 0


def test_the_segment_that_is_written_to_stays_and_so_do_the_offsets(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        fill(store, 100)
        for _ in range(3):
            store.drop_expired(NOW * 2)
        assert len(segments(tmp_path)) == 1
        assert put(store).queue_offset == 100


def test_a_queue_whose_messages_all_left_keeps_counting(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        fill(store, 10, topic="Old")
        fill(store, 100)
        store.drop_expired(NOW * 2)
        assert (store.min_offset("Old", 0), store.max_offset("Old", 0)) == (10, 10)
    with opened(tmp_path) as store:
        assert (store.min_offset("Old", 0), store.max_offset("Old", 0)) == (10, 10)
        assert put(store, b"new", topic="Old").queue_offset == 10
        assert bodies(store, "Old") == [b"new"]


def test_one_pass_drops_ten_segments_at_most(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        fill(store, 400)
        assert store.drop_expired(NOW * 2).segments == 10


def test_a_log_larger_than_allowed_loses_its_oldest_segments(tmp_path: Path) -> None:
    with opened(tmp_path, max_log_bytes=6000) as store:
        fill(store, 100)
        store.drop_expired(NOW)
        assert 6000 - 2048 < store.stats().log_bytes <= 6000


def test_a_disk_short_of_room_costs_the_oldest_segments_and_then_refuses(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        fill(store, 40)
        assert store.drop_expired(NOW).has_room
    with opened(tmp_path, min_free_bytes=1 << 60) as store:
        dropped: Dropped = store.drop_expired(NOW)
        assert len(segments(tmp_path)) == 1
        assert not dropped.has_room


def test_an_old_store_is_cleaned_when_it_is_opened(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        fill(store, 40)
    age(segment(tmp_path), NOW - 100 * HOUR)
    with opened(tmp_path, now=NOW) as store:
        assert store.begin_log_offset == 2048
