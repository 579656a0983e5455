"""What is removed from the store, and what stays."""

from __future__ import annotations

import os
import shutil
from collections import namedtuple
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from broker_core.store.config import StoreConfig
from broker_core.store.consume_queue import ConsumeQueue
from broker_core.store.layout import COMMIT_LOG, segment_files
from broker_core.store.retention import DiskUsage, Dropped, measure_disk, refusal_of
from tests.support.stores import NOW, bodies, fill, opened, put, segment

HOUR = 3_600_000
Usage = namedtuple("Usage", "total used free")


class FullDisk:
    """A disk of 100 segments, of which other programs use some."""

    def __init__(self, folder: Path, others: int) -> None:
        self.folder = folder
        self.others = others

    def usage(self, _: Path) -> Usage:
        used = (self.others + len(segment_files(self.folder / COMMIT_LOG))) * 2048
        return Usage(100 * 2048, used, 100 * 2048 - used)


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FullDisk:
    disk = FullDisk(tmp_path, 0)
    monkeypatch.setattr(shutil, "disk_usage", disk.usage)
    return disk


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


def test_a_segment_that_is_too_young_protects_those_after_it(tmp_path: Path) -> None:
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


def hour_of(now: int) -> int:
    return datetime.fromtimestamp(now / 1000).astimezone().hour


def test_expired_segments_leave_in_their_hour_only(tmp_path: Path) -> None:
    hour = hour_of(NOW)
    with opened(tmp_path, delete_when=((hour + 1) % 24, (hour + 5) % 24)) as store:
        fill(store, 100)
        age(segment(tmp_path), NOW - 100 * HOUR)
        assert store.drop_expired(NOW).segments == 0
        assert store.drop_expired(NOW + HOUR).segments == 1
        age(segment(tmp_path, 2048), NOW - 100 * HOUR)
        assert store.drop_expired(NOW + 2 * HOUR).segments == 0
        assert store.drop_expired(NOW + 5 * HOUR).segments == 1
        age(segment(tmp_path, 4096), NOW - 100 * HOUR)
        assert store.drop_expired(NOW, at_any_hour=True).segments == 1


def test_new_settings_hold_from_then_on(tmp_path: Path) -> None:
    with opened(tmp_path, delete_when=()) as store:
        fill(store, 100)
        age(segment(tmp_path), NOW - 2 * HOUR)
        assert store.drop_expired(NOW).segments == 0
        store.reconfigure(replace(store.config, retention_ms=HOUR, delete_when=(hour_of(NOW),)))
        assert store.drop_expired(NOW).segments == 1


def test_a_rather_full_disk_costs_expired_segments_at_any_hour(tmp_path: Path, disk: FullDisk) -> None:
    with opened(tmp_path, delete_when=(), max_used_ratio=0.75) as store:
        fill(store, 100)
        age(segment(tmp_path), NOW - 100 * HOUR)
        disk.others = 75 - len(segments(tmp_path))
        assert store.drop_expired(NOW).segments == 0
        disk.others += 1
        # The others are not expired.
        assert store.drop_expired(NOW).segments == 1


def test_a_nearly_full_disk_costs_the_oldest_segments_whatever_their_age(tmp_path: Path, disk: FullDisk) -> None:
    with opened(tmp_path, forced_used_ratio=0.85) as store:
        fill(store, 100)
        count = len(segments(tmp_path))
        disk.others = 85 + 3 - count
        # As few as necessary.
        assert store.drop_expired(NOW).segments == 3
        store.reconfigure(replace(store.config, clean_forcibly=False))
        disk.others += 3
        dropped = store.drop_expired(NOW)
        assert (dropped.segments, dropped.used_ratio) == (0, 0.88)


def test_a_full_disk_refuses_until_there_is_room_again_and_reads_continue(tmp_path: Path, disk: FullDisk) -> None:
    with opened(tmp_path, full_used_ratio=0.90, clean_forcibly=False) as store:
        fill(store, 20)
        disk.others = 90 - len(segments(tmp_path))
        assert store.drop_expired(NOW).has_room
        disk.others += 1
        dropped = store.drop_expired(NOW)
        assert not dropped.has_room
        assert dropped.refusal == "the disk is full: 91% of it is used; messages are accepted again at 90% or less"
        assert bodies(store) == [b"%d" % number for number in range(20)]
        disk.others -= 1
        assert store.drop_expired(NOW).has_room


def test_room_that_was_just_made_counts_although_the_system_frees_it_in_a_moment(
    tmp_path: Path, disk: FullDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(tmp_path, forced_used_ratio=0.85, full_used_ratio=0.90) as store:
        fill(store, 100)
        disk.others = 91 - len(segments(tmp_path))
        before = disk.usage(tmp_path)
        monkeypatch.setattr(shutil, "disk_usage", lambda _: before)
        dropped = store.drop_expired(NOW)
        assert dropped.segments
        assert dropped.has_room


def test_ratios_are_rounded_up_as_rocketmq_rounds_them(tmp_path: Path) -> None:
    assert DiskUsage(used=1, free=999).used_ratio == 0.01
    assert DiskUsage(used=900, free=100).used_ratio == 0.9
    assert DiskUsage(used=0, free=0).used_ratio == 0
    assert 0 < measure_disk(tmp_path).used_ratio <= 1


def test_few_free_bytes_refuse_too(tmp_path: Path) -> None:
    config = StoreConfig(tmp_path, min_free_bytes=100 << 20)
    assert refusal_of(config, DiskUsage(used=0, free=50 << 20)) is None
    refusal = refusal_of(config, DiskUsage(used=0, free=(50 << 20) - 1))
    assert refusal == "the disk is full: 49 MiB of it is free; messages are accepted again at 50 MiB or more"


def test_what_is_held_stays_until_it_is_let_go(tmp_path: Path) -> None:
    with opened(tmp_path, max_log_bytes=2048) as store:
        fill(store, 150)
        store.hold_from("a copy", 5000)
        store.hold_from("another", 9000)
        store.drop_expired(NOW)
        assert store.begin_log_offset == 4096
        # What else needs segments counts too, and only that is told to be held back
        assert store.held_back(NOW) is None
        store.hold_from("a copy", None)
        store.hold_from("nobody", None)
        store.needed_from = lambda: 6200
        store.drop_expired(NOW)
        assert store.begin_log_offset == 6144
        assert store.held_back(NOW) == 8192
        store.needed_from = lambda: 1 << 40
        store.drop_expired(NOW)
        assert store.begin_log_offset == 8192
        store.hold_from("another", None)
        store.drop_expired(NOW)
        assert store.begin_log_offset > 8192


def test_a_copy_that_is_too_far_behind_holds_nothing_until_it_is_nearer(tmp_path: Path) -> None:
    with opened(tmp_path, max_log_bytes=4096) as store:
        fill(store, 100)
        end = store.appended_log_offset
        store.hold_from("a copy", 0, most_bytes=end - 1)
        store.hold_from("another", 2048, most_bytes=end - 2048)
        store.drop_expired(NOW)
        assert store.begin_log_offset == 2048
        store.hold_from("another", None)
        store.hold_from("a copy", 4096, most_bytes=end - 1)
        store.drop_expired(NOW)
        assert store.begin_log_offset == 4096


def test_what_is_in_no_queue_yet_stays(tmp_path: Path) -> None:
    with opened(tmp_path, max_log_bytes=1) as store:
        store.limit_dispatch(0)
        fill(store, 100)
        assert store.drop_expired(NOW).segments == 0
        store.limit_dispatch(3000)
        store.dispatch()
        assert store.drop_expired(NOW).segments == 1
        store.limit_dispatch(None)
        store.dispatch()
        assert store.drop_expired(NOW).segments > 1
        assert store.max_offset("T", 0) == 100


def test_units_are_on_the_disk_before_their_records_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(tmp_path) as store:
        put(store, topic="idle")
        fill(store, 100)
        synced: list[str] = []
        right = ConsumeQueue.sync

        def sync(queue: ConsumeQueue) -> None:
            synced.append(queue.topic)
            right(queue)

        monkeypatch.setattr(ConsumeQueue, "sync", sync)
        store.reconfigure(replace(store.config, max_log_bytes=1))
        assert store.drop_expired(NOW).segments > 0
        assert synced == ["idle", "T"]
        # What a checkpoint has covered needs no wait.
        fill(store, 30)
        store.checkpoint()
        synced.clear()
        assert store.drop_expired(NOW).segments > 0
        assert synced == []
