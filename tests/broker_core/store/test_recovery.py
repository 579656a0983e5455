"""Opening a store after clean stops and crashes, with every kind of damage that recovery handles."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.protocol.message import Message
from broker_core.store import MessageStore
from broker_core.store.checkpoint import write_checkpoint
from broker_core.store.errors import Corrupt
from broker_core.store.reader import StoreReader
from broker_core.store.units import FILLER
from broker_core.store.verify import verify
from tests.support.stores import (
    BROKER,
    NOW,
    PRODUCER,
    bodies,
    crashed,
    fill,
    incoming,
    opened,
    put,
    queue_file,
    segment,
    small,
)
from tests.support.stores import overwrite as patch


def numbers(count: int, first: int = 0) -> list[bytes]:
    return [b"%d" % number for number in range(first, first + count)]


def found(store: MessageStore, key: str) -> list[bytes]:
    return [message.body for message in store.search("T", key, begin=0, end=1 << 60, max_count=99).messages]


def is_sound(folder: Path) -> bool:
    with StoreReader.open(folder, small(folder)) as reader:
        findings = verify(reader)
    assert findings.told == []
    return findings.is_sound


def test_an_empty_folder_becomes_a_store(tmp_path: Path) -> None:
    with opened(tmp_path / "new") as store:
        assert (store.recovered.was_clean, store.recovered.walked_records) == (True, 0)
        assert (tmp_path / "new" / "abort").exists()
    assert not (tmp_path / "new" / "abort").exists()
    with opened(tmp_path / "new") as store:
        assert store.appended_log_offset == 0


def test_after_a_good_stop_nothing_is_read_again(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        fill(store, 100)
        end = store.appended_log_offset
    with opened(tmp_path) as store:
        assert (store.recovered.was_clean, store.recovered.walked_records) == (True, 0)
        assert store.appended_log_offset == store.flushed_log_offset == store.dispatched_log_offset == end
        assert bodies(store) == numbers(100)
        assert put(store, b"next").queue_offset == 100
    assert is_sound(tmp_path)


def test_after_a_bad_stop_everything_that_was_put_is_there(tmp_path: Path) -> None:
    store = opened(tmp_path)
    fill(store, 100)
    with opened(crashed(tmp_path)) as again:
        assert not again.recovered.was_clean
        assert again.recovered.walked_records == 100
        assert bodies(again) == numbers(100)
        assert [found(again, f"k{number}") for number in (0, 50, 99)] == [[b"0"], [b"50"], [b"99"]]
        assert put(again, b"next").queue_offset == 100
    store.close()


def test_messages_that_were_not_dispatched_are_dispatched(tmp_path: Path) -> None:
    store = opened(tmp_path)
    fill(store, 10)
    for number in range(10, 20):
        store.put(
            incoming(
                Message("T", b"%d" % number, {"KEYS": f"k{number}"}),
                queue_id=0,
                born_timestamp=1,
                born_host=PRODUCER,
                store_host=BROKER,
                now=NOW,
            )
        )
    with opened(crashed(tmp_path)) as again:
        assert bodies(again) == numbers(20)
        assert found(again, "k19") == [b"19"]
    store.close()


def test_the_reason_for_a_cut_is_reported(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        fill(store, 3)
        last = put(store, b"last")
    patch(segment(tmp_path), last.log_offset + 88, b"L")
    with opened(tmp_path) as store:
        assert store.recovered.cut_reason == "its body does not match its checksum"
        assert bodies(store) == numbers(3)


def test_bodies_are_not_compared_with_their_checksum_when_switched_off(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        last = put(store, b"last")
    patch(segment(tmp_path), last.log_offset + 88, b"L")
    (tmp_path / "abort").touch()
    with opened(tmp_path, check_crc_on_recover=False) as store:
        # It is not cut off; a reader gets an error.
        assert store.appended_log_offset == last.end
        assert bodies(store) == []
        assert [damaged.log_offset for damaged in store.damage.take_new()] == [last.log_offset]


def test_an_old_record_after_a_cut_never_reappears(tmp_path: Path) -> None:
    # Given four equally long records, of which the second is damaged, and no queue that knows the later ones
    with opened(tmp_path) as store:
        second = [put(store, body) for body in (b"a", b"b", b"c", b"d")][1]
    patch(segment(tmp_path), second.log_offset + 88, b"B")
    (tmp_path / "abort").touch()
    shutil.rmtree(tmp_path / "consumequeue")
    # When the log is cut there and a record of the same length follows
    with opened(tmp_path) as store:
        assert bodies(store) == [b"a"]
        put(store, b"e")
    (tmp_path / "abort").touch()
    # Then the third and fourth, whose bytes followed it, do not reappear
    with opened(tmp_path) as store:
        assert bodies(store) == [b"a", b"e"]
    assert is_sound(tmp_path)


def test_segments_after_the_end_of_the_log_are_removed(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        fill(store, 100)
        assert len(list((tmp_path / "commitlog").iterdir())) > 3
    patch(segment(tmp_path, 2048), 0, bytes(100))
    (tmp_path / "abort").touch()
    with opened(tmp_path) as store:
        assert [path.name for path in (tmp_path / "commitlog").iterdir()] == [segment(tmp_path).name]
        count = len(bodies(store))
        assert bodies(store) == numbers(count)
        assert found(store, "k99") == []
    assert is_sound(tmp_path)


def test_a_segment_that_was_only_prepared_is_removed(tmp_path: Path) -> None:
    # Apache RocketMQ creates the next segment in advance, and leaves it behind when it is killed.
    with opened(tmp_path) as store:
        fill(store, 5)
    segment(tmp_path, 2048).write_bytes(bytes(2048))
    (tmp_path / "abort").touch()
    with opened(tmp_path) as store:
        assert bodies(store) == numbers(5)
        assert not segment(tmp_path, 2048).exists()


def test_a_log_that_ends_with_a_blank_continues_after_it(tmp_path: Path) -> None:
    # Given a crash right after the end of a segment and before the record that did not fit
    store = opened(tmp_path)
    put(store, b"x" * 1500)
    put(store, b"y" * 1500)
    folder = crashed(tmp_path)
    store.close()
    patch(segment(folder, 2048), 0, bytes(2048))
    with opened(folder) as again:
        assert bodies(again) == [b"x" * 1500]
        assert put(again, b"z" * 1500).log_offset == 2048
    assert is_sound(folder)


def test_queues_are_rebuilt_from_the_log(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        fill(store, 100)
        put(store, b"other", topic="Other", queue_id=3, tag="t")
    before = queue_file(tmp_path, start=160).read_bytes()
    shutil.rmtree(tmp_path / "consumequeue")
    with opened(tmp_path) as store:
        assert store.recovered.walked_records == 101
        assert bodies(store) == numbers(100)
        assert bodies(store, "Other", 3) == [b"other"]
    assert queue_file(tmp_path, start=160).read_bytes() == before
    assert is_sound(tmp_path)


def test_queues_rebuilt_after_the_beginning_of_the_log_expired_keep_their_offsets(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        fill(store, 100)
    segment(tmp_path).unlink()
    shutil.rmtree(tmp_path / "consumequeue")
    shutil.rmtree(tmp_path / "index")
    with opened(tmp_path) as store:
        low, high = store.min_offset("T", 0), store.max_offset("T", 0)
        assert 0 < low < high == 100
        assert bodies(store) == numbers(100 - low, first=low)
        first = low // 8 * 8
        data = queue_file(tmp_path, start=first * 20).read_bytes()
        assert data[: (low - first) * 20] == FILLER * (low - first)
    assert is_sound(tmp_path)


@pytest.mark.parametrize("was_clean", [True, False])
def test_an_index_that_was_removed_is_rebuilt(tmp_path: Path, was_clean: bool) -> None:
    with opened(tmp_path) as store:
        fill(store, 50)
    shutil.rmtree(tmp_path / "index")
    if not was_clean:
        (tmp_path / "abort").touch()
    with opened(tmp_path) as store:
        assert [found(store, f"k{number}") for number in range(50)] == [[body] for body in numbers(50)]


def test_after_a_bad_stop_only_what_the_checkpoint_does_not_vouch_for_is_read_again(tmp_path: Path) -> None:
    # Given a hundred messages of which all but the last few are checkpointed, and an index that ends every KiB of log
    store = opened(tmp_path, index_roll_bytes=1024)
    for number in range(100):
        put(store, b"%d" % number, now=NOW + number * 1000, keys=[f"k{number}"])
        if number == 90:
            store.checkpoint()
    # When the process is killed
    with opened(crashed(tmp_path), index_roll_bytes=1024) as again:
        # Then the first segments are not read, and still every message and key is found
        assert 10 <= again.recovered.walked_records <= 45
        assert again.recovered.walked_from > 0
        assert bodies(again) == numbers(100)
        assert [found(again, f"k{number}") for number in range(100)] == [[body] for body in numbers(100)]
    store.close()


@pytest.mark.parametrize("burst", [30, 45])
def test_after_a_bad_stop_keys_are_found_whatever_ended_within_one_millisecond(tmp_path: Path, burst: int) -> None:
    store = opened(tmp_path / "store", index_roll_bytes=1 << 30)
    for number in range(100):
        put(store, b"%d" % number, now=NOW + number // burst * 10_000, keys=[f"k{number}"])
        store.checkpoint()
        folder = crashed(tmp_path / "store")
        with opened(folder, index_roll_bytes=1 << 30) as again:
            assert [key for key in range(number + 1) if found(again, f"k{key}") != [b"%d" % key]] == []
        shutil.rmtree(folder)
    store.close()


@pytest.mark.parametrize("back_ms", [1_000, 28_000, 3_600_000])
@pytest.mark.parametrize("checkpointed", [10, 50, 90])
def test_after_the_clock_was_set_back_and_a_bad_stop_every_key_is_found(
    tmp_path: Path, back_ms: int, checkpointed: int
) -> None:
    store = opened(tmp_path, index_roll_bytes=1024)
    for number in range(100):
        now = NOW + number * 100 - (back_ms if number >= 60 else 0)
        put(store, b"%d" % number, now=now, keys=[f"k{number}"])
        if number == checkpointed:
            store.checkpoint()
    with opened(crashed(tmp_path), index_roll_bytes=1024) as again:
        assert again.recovered.walked_records < 100 - checkpointed + 45
        assert bodies(again) == numbers(100)
        assert [found(again, f"k{number}") for number in range(100)] == [[body] for body in numbers(100)]
    store.close()


def test_after_a_checkpoint_of_apache_rocketmq_its_times_say_what_is_read_again(tmp_path: Path) -> None:
    store = opened(tmp_path, index_roll_bytes=1024)
    for number in range(100):
        put(store, b"%d" % number, now=NOW + number * 1000, keys=[f"k{number}"])
    times = store.checkpoint()
    folder = crashed(tmp_path)
    write_checkpoint(folder, replace(times, log=times.log - 40_000, covered=None))
    with opened(folder, index_roll_bytes=1024) as again:
        assert 43 <= again.recovered.walked_records < 43 + 45
        assert [found(again, f"k{number}") for number in range(100)] == [[body] for body in numbers(100)]
    store.close()


@pytest.mark.parametrize("was_clean", [True, False])
@pytest.mark.parametrize("removed", [0, 1, -1])
def test_an_index_file_that_was_removed_is_made_again(tmp_path: Path, removed: int, was_clean: bool) -> None:
    # Given four index files, of which one is removed while no broker runs
    store = opened(tmp_path)
    fill(store, 70)
    if was_clean:
        store.close()
    folder = tmp_path if was_clean else crashed(tmp_path)
    files = sorted((folder / "index").iterdir())
    assert len(files) == 4
    files[removed].unlink()
    # Then each message is found by its key, and the files before the gap are as they were
    kept = [file.stat().st_ino for file in files[:removed]]
    with opened(folder) as again:
        assert [found(again, f"k{number}") for number in range(70)] == [[body] for body in numbers(70)]
    assert [file.stat().st_ino for file in files[: removed if was_clean else 0]] == (kept if was_clean else [])
    assert is_sound(folder)


def test_messages_without_keys_are_not_read_again_for_the_index(tmp_path: Path) -> None:
    store = opened(tmp_path)
    for number in range(100):
        put(store, b"%d" % number, now=NOW + number * 1000)
    store.checkpoint()
    with opened(crashed(tmp_path)) as again:
        assert again.recovered.walked_records < 45
        assert bodies(again) == numbers(100)
    store.close()


def test_a_checkpoint_survives_an_idle_run(tmp_path: Path) -> None:
    with opened(tmp_path, index_roll_bytes=1024) as store:
        for number in range(100):
            put(store, b"%d" % number, now=NOW + number * 1000)
    store = opened(tmp_path, index_roll_bytes=1024)
    with opened(crashed(tmp_path), index_roll_bytes=1024) as again:
        assert again.recovered.walked_records < 45
    store.close()


def test_scratch_files_of_a_crash_are_removed(tmp_path: Path) -> None:
    opened(tmp_path).close()
    (tmp_path / "new-123-0").write_bytes(bytes(100))
    opened(tmp_path).close()
    assert list(tmp_path.glob("new-*")) == []


def test_a_log_that_is_gone_takes_the_queues_with_it(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        fill(store, 20)
    shutil.rmtree(tmp_path / "commitlog")
    with opened(tmp_path) as store:
        assert (store.max_offset("T", 0), store.queues()) == (0, [])
        assert put(store, b"new").queue_offset == 0
        assert bodies(store) == [b"new"]
    assert is_sound(tmp_path)


def test_a_gap_in_the_log_is_refused_and_nothing_is_changed(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        fill(store, 100)
    segment(tmp_path, 2048).unlink()
    with pytest.raises(Corrupt):
        opened(tmp_path)
    assert not (tmp_path / "abort").exists()
    # The lock was released.
    with pytest.raises(Corrupt):
        opened(tmp_path)


def test_records_of_topics_that_can_be_no_folder_are_kept_and_followed_nowhere(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        first = put(store, b"a", topic="T-T")
        put(store, b"b")
    topic_at = first.log_offset + 88 + 1 + 1
    patch(segment(tmp_path), topic_at, b"../")
    (tmp_path / "abort").touch()
    shutil.rmtree(tmp_path / "consumequeue")
    with opened(tmp_path) as store:
        assert store.queues() == [("T", 0)]
        assert bodies(store) == [b"b"]
        kept = store.find(first.log_offset)
        assert kept is not None
        assert kept.topic == "../"


def test_a_queue_file_that_the_disk_lost_is_rebuilt(tmp_path: Path) -> None:
    # Given a power failure that lost the pages of a queue but not those of the log
    with opened(tmp_path) as store:
        fill(store, 30)
    patch(queue_file(tmp_path, start=160), 0, bytes(160))
    (tmp_path / "abort").touch()
    (tmp_path / "checkpoint").unlink()
    with opened(tmp_path) as store:
        assert bodies(store) == numbers(30)
    assert is_sound(tmp_path)


@settings(max_examples=60)
@given(st.data())
def test_whatever_byte_of_the_log_is_lost_what_is_before_stays_and_the_store_continues(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("store")
    count = data.draw(st.integers(1, 60), "messages")
    with opened(folder) as store:
        fill(store, count)
        ends = [store.get("T", 0, number, max_messages=1, max_bytes=1).records for number in range(count)]
        ends_at = [int.from_bytes(record[0][28:36], "big") + len(record[0]) for record in ends]
        del ends
    lost = data.draw(st.integers(0, ends_at[-1] - 1), "first lost byte")
    for start in range(lost // 2048 * 2048, ends_at[-1], 2048):
        begin = max(lost, start)
        patch(segment(folder, start), begin - start, bytes(start + 2048 - begin))
    (folder / "abort").touch()
    with opened(folder) as store:
        kept = sum(end <= lost for end in ends_at)
        whole = bodies(store)
        # A record whose lost bytes were zeros is complete.
        assert whole == numbers(len(whole))
        assert kept <= len(whole) <= kept + 1
        assert put(store, b"next").queue_offset == len(whole)
        assert bodies(store) == [*whole, b"next"]
    assert is_sound(folder)
