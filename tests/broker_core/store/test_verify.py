"""The self-check of a store."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.protocol.message import Message
from broker_core.store.reader import StoreReader
from broker_core.store.verify import Findings, verify
from tests.support.stores import NOW, fill, incoming, opened, overwrite, put, queue_file, segment, small


def checked(folder: Path) -> Findings:
    with StoreReader.open(folder, small(folder)) as reader:
        return verify(reader)


def filled(folder: Path) -> None:
    with opened(folder) as store:
        fill(store, 50)
        put(store, topic="Other", sys_flag=0x4, keys=["k"])


def test_an_intact_store_is_reported_as_intact(tmp_path: Path) -> None:
    filled(tmp_path)
    found = checked(tmp_path)
    assert found.is_sound
    assert (found.records, found.units, found.keys, found.index_entries) == (51, 50, 51, 51)
    assert (found.orphans, found.fillers, found.expired_entries) == (0, 0, 0)


def test_a_changed_body_is_found(tmp_path: Path) -> None:
    filled(tmp_path)
    overwrite(segment(tmp_path), 88, b"X")
    found = checked(tmp_path)
    assert not found.is_sound
    # Its key is in the index, but that record is not intact any more.
    assert found.faults == {"damaged message": 1}
    assert found.told[0].startswith("damaged message: T queue 0 offset 0, ")
    assert "checksum" in found.told[0]


def test_every_damage_is_named_and_intact_messages_between_are_not(tmp_path: Path) -> None:
    filled(tmp_path)
    with StoreReader.open(tmp_path, small(tmp_path)) as reader:
        places = [unit.log_offset for number in (3, 4, 20, 49) if (unit := reader.find_unit("T", 0, number))]
    for place, at in zip(places, (88, 0, 4, 12), strict=True):
        overwrite(segment(tmp_path, place // 2048 * 2048), place % 2048 + at, b"\xff")
    listed = checked(tmp_path).told
    for number in (3, 4, 20, 49):
        assert sum(f"T queue 0 offset {number}, " in text for text in listed) == 1
    assert sum("queue 0 offset" in text and text.startswith("damaged message") for text in listed) >= 3


def test_a_checkpoint_that_describes_the_future_is_found(tmp_path: Path) -> None:
    filled(tmp_path)
    overwrite(tmp_path / "checkpoint", 0, b"\x7f")
    assert checked(tmp_path).faults == {"checkpoint": 1}


def test_a_header_of_the_index_that_describes_other_entries_is_found(tmp_path: Path) -> None:
    filled(tmp_path)
    overwrite(min((tmp_path / "index").iterdir()), 16, (7).to_bytes(8, "big"))
    assert "its header" in checked(tmp_path).told[0]


def test_a_unit_that_points_elsewhere_is_found(tmp_path: Path) -> None:
    filled(tmp_path)
    overwrite(queue_file(tmp_path), 3 * 20 + 8, (77).to_bytes(4, "big"))
    found = checked(tmp_path)
    assert found.faults == {"record with another unit": 1, "unit without record": 1}


def test_a_wrong_hash_of_a_tag_is_found(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        for tag in ("A", "B", None):
            put(store, tag=tag)
    overwrite(queue_file(tmp_path), 20 + 12, (77).to_bytes(8, "big"))
    found = checked(tmp_path)
    assert found.faults == {"wrong tag hash": 1}
    assert "T queue 0 offset 1 at" in found.told[0]
    assert "the unit says 77, the tag has 66" in found.told[0]


def test_what_a_writer_is_about_to_do_is_no_fault(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        for number in range(30):
            put(store, keys=[f"k{number}"])
        # Three records that are in no queue yet, and a key that is in no finished index file
        for number in range(3):
            store.put(incoming(Message.create("T", b"new", keys=[f"n{number}"]), queue_id=0, now=NOW))
        found = checked(tmp_path)
        assert found.is_sound, found.told
        assert (found.records, found.pending) == (33, 3)


def test_a_check_tells_how_far_it_is_and_can_be_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(tmp_path)
    monkeypatch.setattr("broker_core.store.verify._LOOK_EVERY", 10)
    seen: list[int] = []

    def look(found: Findings) -> None:
        seen.append(found.records)
        if len(seen) == 3:
            raise InterruptedError

    with StoreReader.open(tmp_path, small(tmp_path)) as reader, pytest.raises(InterruptedError):
        verify(reader, look=look)
    assert seen == [9, 19, 29]


def test_missing_units_are_found(tmp_path: Path) -> None:
    filled(tmp_path)
    last = queue_file(tmp_path, start=48 * 20)
    last.unlink()
    assert checked(tmp_path).faults["record without unit"] == 2


def test_a_wrong_entry_of_the_index_is_found(tmp_path: Path) -> None:
    filled(tmp_path)
    file = min((tmp_path / "index").iterdir())
    overwrite(file, 40 + 40 + 20 + 4, (1).to_bytes(8, "big"))
    # The entry, and the header that describes it.
    assert checked(tmp_path).faults == {"index": 2}


def test_keys_that_are_missing_in_the_index_are_found(tmp_path: Path) -> None:
    filled(tmp_path)
    max((tmp_path / "index").iterdir()).unlink()
    found = checked(tmp_path)
    assert "keys are not in the index" in found.told[0]


def test_records_of_deleted_topics_are_no_fault(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        fill(store, 5, topic="Gone")
        fill(store, 5, topic="Again")
        store.delete_topic("Gone")
        store.delete_topic("Again")
        fill(store, 2, topic="Again")
    found = checked(tmp_path)
    assert (found.is_sound, found.orphans) == (True, 10)


@pytest.mark.parametrize("before", [3, 5])
def test_records_of_purged_messages_are_no_fault(tmp_path: Path, before: int) -> None:
    with opened(tmp_path) as store:
        fill(store, 5)
        store.purge("T", {0: before})
    found = checked(tmp_path)
    assert (found.is_sound, found.purged, found.orphans, found.readable) == (True, before, 0, 5 - before)


def test_expired_keys_are_no_fault(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        for number in range(19):
            put(store, b"x" * 300, keys=["k"], now=NOW + number)
        store.drop_expired(NOW * 2)
    found = checked(tmp_path)
    assert found.is_sound
    assert found.expired_entries > 0


def test_only_the_first_faults_are_described(tmp_path: Path) -> None:
    filled(tmp_path)
    for path in queue_file(tmp_path).parent.iterdir():
        overwrite(path, 0, b"".join((9999).to_bytes(8, "big") + b"\0\0\0\x64" + bytes(8) for _ in range(8)))
    with StoreReader.open(tmp_path, small(tmp_path)) as reader:
        found = verify(reader, most=20)
    assert sum(found.faults.values()) > len(found.told) == 20
