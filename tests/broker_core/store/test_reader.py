"""Reading a store beside its writer."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.protocol.record import decode_one
from broker_core.store import MessageStore, StoreConfig
from broker_core.store.errors import Corrupt, QueueNotFound
from broker_core.store.reader import StoreReader
from broker_core.store.units import UNIT
from tests.support.stores import NOW, crashed, files_of, fill, opened, put, small


def reader_of(folder: Path) -> StoreReader:
    return StoreReader.open(folder, small(folder))


def test_everything_put_before_is_seen_while_the_writer_continues(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        fill(store, 50)
        with reader_of(tmp_path) as reader:
            fill(store, 50)
            assert reader.queues() == [("T", 0)]
            assert reader.range("T", 0) == (0, 50)
            assert reader.is_open_elsewhere
            message = reader.search("T", "k49", begin=0, end=1 << 60, max_count=3).messages[0]
            assert (message.body, message.queue_offset) == (b"49", 49)
            assert reader.find(message.log_offset) == message
            assert reader.log_end == message.log_offset + message.store_size
        with reader_of(tmp_path) as reader:
            assert reader.range("T", 0) == (0, 100)


def test_a_reader_changes_nothing(tmp_path: Path) -> None:
    store = opened(tmp_path)
    fill(store, 50)
    folder = crashed(tmp_path)
    store.close()
    before = files_of(folder)
    with reader_of(folder) as reader:
        assert reader.range("T", 0) == (0, 50)
    assert files_of(folder) == before


def test_units_come_raw_file_by_file(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        fill(store, 30)
        with reader_of(tmp_path) as reader:
            parts = [list(UNIT.iter_unpack(part)) for part in reader.units("T", 0, 5, 20)]
            assert [len(part) for part in parts] == [3, 8, 4]
            places = [unit[0] for part in parts for unit in part]
            found = [reader.find_raw(place) for place in places]
            assert [decode_one(record).queue_offset for record in found if record] == list(range(5, 20))
            assert sum(len(part) // 20 for part in reader.units("T", 0, -5, 1 << 40)) == 30
            with pytest.raises(QueueNotFound):
                next(reader.units("T", 9, 0, 1))
            del parts, found


def test_segments_are_reported_with_place_and_size(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        fill(store, 50)
        with reader_of(tmp_path) as reader:
            segments = reader.segments()
            assert [segment.start for segment in segments] == [number * 2048 for number in range(len(segments))]
            assert {segment.size for segment in segments} == {2048} == {reader.segment_size}
            view = reader.view_segment(2048)
            assert view is not None
            assert view == segments[1].path.read_bytes()
            assert reader.view_segment(2049) is None
            del view


def test_a_short_copy_of_the_last_segment_can_be_read(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        fill(store, 30)
        end = store.appended_log_offset
    last = sorted((tmp_path / "commitlog").iterdir())[-1]
    last.write_bytes(last.read_bytes()[: end - int(last.name)])
    with reader_of(tmp_path) as reader:
        assert [head.queue_offset for head, _ in reader.walk(check_crc=True)] == list(range(30))
        assert reader.find(end - 1) is None


def test_the_sizes_of_index_files_are_determined_from_their_length(tmp_path: Path) -> None:
    with MessageStore.open(StoreConfig.embedded(tmp_path), now=NOW) as store:
        fill(store, 3)
        with StoreReader.open(tmp_path) as reader:
            assert (reader.config.index_slots, reader.config.index_entries) == (500_000, 2_000_000)
            assert len(reader.search("T", "k1", begin=0, end=1 << 60, max_count=3).records) == 1


def test_odd_index_files_are_measured(tmp_path: Path) -> None:
    with opened(tmp_path, index_entries=21) as store:
        fill(store, 3)
    with StoreReader.open(tmp_path) as reader:
        assert (reader.config.index_slots, reader.config.index_entries) == (10, 21)
        assert len(reader.search("T", "k1", begin=0, end=1 << 62, max_count=9).records) == 1


def test_a_folder_without_a_log_is_not_a_store(tmp_path: Path) -> None:
    with pytest.raises(Corrupt, match="it is not a store"):
        StoreReader.open(tmp_path)


def test_a_store_without_a_message_is_one(tmp_path: Path) -> None:
    with opened(tmp_path), StoreReader.open(tmp_path) as reader:
        assert (reader.segments(), reader.range("T", 0)) == ([], (0, 0))


def test_offsets_by_time_and_messages_by_offset(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        fill(store, 30)
        with reader_of(tmp_path) as reader:
            assert reader.offset_at_time("T", 0, NOW + 12) == 12
            assert reader.offset_at_time("T", 0, NOW + 99) == 30
            assert reader.offset_at_time("None", 0, NOW) == 0
            assert reader.range("None", 0) == (0, 0)
            answer = reader.get("T", 0, 16, max_messages=5)
            assert [decode_one(record).body for record in answer.records] == [b"%d" % n for n in range(16, 21)]
            unit = reader.find_unit("T", 0, 16)
            assert unit is not None
            assert unit.size == len(answer.records[0])
            assert reader.find_unit("None", 0, 0) is None
            del answer


def test_the_queues_of_one_topic_can_be_asked_for(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        for topic, queue_id in (("a", 1), ("a", 0), ("b", 0)):
            put(store, topic=topic, queue_id=queue_id)
        store.checkpoint()
        with reader_of(tmp_path) as reader:
            assert reader.queues("a") == [("a", 0), ("a", 1)]
            assert reader.checkpoint().log == NOW
            assert reader.log_begin == 0
