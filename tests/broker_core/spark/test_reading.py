"""Reading a range of store files: filters, damaged records, lost messages."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from broker_core.protocol import sys_flag as flags
from broker_core.protocol.compression import compress
from broker_core.protocol.message import Message
from broker_core.spark.bytes_read import BytesRead
from broker_core.spark.counting import RowCounter
from broker_core.spark.errors import DamagedRecord, DataLoss
from broker_core.spark.options import Mode, SourceOptions
from broker_core.spark.partitions import FilePartition, plan_files
from broker_core.spark.reading import plan, read_rows
from broker_core.spark.rows import MOST_BATCH_BYTES
from broker_core.spark.schema import COLUMNS as COLUMNS_OF_ALL
from broker_core.spark.schema import asks_for_bodies
from tests.support.stores import NOW, opened, overwrite, put, queue_file, segment
from tests.support.topics import order, orders, write_topic
from tests.support.wait import wait_until

COLUMNS = ("queue_id", "queue_offset", "tag", "body", "_error")


def options_of(store: Path, **changes: Any) -> SourceOptions:
    return SourceOptions(**{"topics": ("orders",), "stores": (store,), "brokers": ("broker-a",), **changes})


def rows(store: Path, *columns: str, **changes: Any) -> list[dict[str, Any]]:
    options = options_of(store, **changes)
    wanted = columns or COLUMNS
    return [
        row
        for partition in plan(options)
        for batch in read_rows(partition, options, wanted)
        for row in batch.to_pylist()
    ]


def numbers(store: Path, **changes: Any) -> list[int]:
    return sorted(int(row["body"][5:-1]) for row in rows(store, "body", **changes))


def test_every_message_is_read_once_over_many_segments_and_queue_files(tmp_path: Path) -> None:
    write_topic(tmp_path, orders(2000), queues=3, segment_bytes=16384)
    assert numbers(tmp_path) == list(range(2000))
    assert numbers(tmp_path, max_partition_bytes=5000) == list(range(2000))


def test_rows_of_a_queue_come_in_its_order(tmp_path: Path) -> None:
    write_topic(tmp_path, orders(300), queues=1)
    assert [row["queue_offset"] for row in rows(tmp_path)] == list(range(300))


def test_a_time_range_is_exact_to_the_ms(tmp_path: Path) -> None:
    write_topic(tmp_path, orders(100), step_ms=10)
    assert numbers(tmp_path, starting_timestamp=NOW + 200, ending_timestamp=NOW + 300) == list(range(20, 30))


def test_tags_are_compared_by_text_where_hashes_collide(tmp_path: Path) -> None:
    # "Aa" and "BB" have one hash.
    write_topic(tmp_path, orders(10, tags=("Aa", "BB")), queues=1)
    assert numbers(tmp_path, tags=frozenset({"Aa"})) == [0, 2, 4, 6, 8]


def test_keys_find_by_any_key_and_by_unique_id(tmp_path: Path) -> None:
    write_topic(tmp_path, orders(50))
    assert numbers(tmp_path, keys=frozenset({"k7", f"{9:032X}", "absent"})) == [7, 9]
    assert numbers(tmp_path, keys=frozenset({"all"})) == list(range(50))


def test_a_key_whose_messages_all_have_another_tag_finds_none(tmp_path: Path) -> None:
    write_topic(tmp_path, [order(1, tag="A"), order(2, tag="B")], queues=1)
    assert numbers(tmp_path, keys=frozenset({"k1"}), tags=frozenset({"B"})) == []


def test_a_message_without_keys_and_tag_matches_none(tmp_path: Path) -> None:
    write_topic(tmp_path, [Message("orders", b'{"n":1}'), order(2, tag="A")], queues=1)
    assert numbers(tmp_path, keys=frozenset({"k2"})) == [2]
    assert numbers(tmp_path, tags=frozenset({"A"})) == [2]


def test_another_topic_of_the_store_is_not_seen(tmp_path: Path) -> None:
    write_topic(tmp_path, [order(1), order(2, topic="other"), order(3)], queues=1)
    assert numbers(tmp_path) == [1, 3]


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    """Five orders of which the third has lost its magic."""
    write_topic(tmp_path, [order(number, tag="A", body=b"x" * 100) for number in range(5)], queues=1)
    data = segment(tmp_path).read_bytes()
    third = data.index(b"k2 all")
    overwrite(segment(tmp_path), data.rindex(bytes.fromhex("DAA320A7"), 0, third), b"\0\0\0\0")
    return tmp_path


def test_a_damaged_record_is_a_row_with_its_place_and_its_damage(damaged: Path) -> None:
    found = rows(damaged)
    assert [row["queue_offset"] for row in found] == [0, 1, 2, 3, 4]
    assert found[2] == {
        "queue_id": 0, "queue_offset": 2, "tag": None, "body": None, "_error": "no record begins here"
    }  # fmt: skip
    assert found[3]["_error"] is None


def test_damaged_records_can_be_left_out_and_are_counted(damaged: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert [row["queue_offset"] for row in rows(damaged, mode=Mode.DROP_MALFORMED)] == [0, 1, 3, 4]
    told = "left out 1 damaged messages: broker-a topic=orders queue=0 offsets 0 to 4"
    assert [record.getMessage() for record in caplog.records] == [f"mode=dropMalformed {told}"]


def test_damaged_records_can_end_the_read(damaged: Path) -> None:
    with pytest.raises(DamagedRecord, match="topic=orders queue=0 offset=2: no record begins here"):
        rows(damaged, mode=Mode.FAIL_FAST)


def test_a_unit_that_points_elsewhere_is_damage_and_no_foreign_message(tmp_path: Path) -> None:
    write_topic(tmp_path, orders(4), queues=1)
    units = queue_file(tmp_path, "orders")
    overwrite(units, 40, units.read_bytes()[:20])
    assert [row["_error"] for row in rows(tmp_path)] == [None, None, "the record states another log offset", None]


def test_properties_that_are_no_utf_8_are_damage_inside_a_row(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    write_topic(tmp_path, orders(3), queues=1)
    overwrite(segment(tmp_path), segment(tmp_path).read_bytes().index(b"k1 all"), b"\xff")
    assert [row["_error"] for row in rows(tmp_path)] == [None, "the properties are not UTF-8", None]
    assert numbers(tmp_path, mode=Mode.DROP_MALFORMED) == [0, 1, 2]
    read = rows(tmp_path, "key", "body", mode=Mode.DROP_MALFORMED)
    assert [row["key"] for row in read] == ["k0", "k2"]
    assert "left out 1 damaged messages" in caplog.text
    with pytest.raises(DamagedRecord, match="offset=1: the properties"):
        rows(tmp_path, "key", mode=Mode.FAIL_FAST)


def test_the_first_malformed_message_ends_the_read_whatever_kind_it_is(damaged: Path) -> None:
    overwrite(segment(damaged), segment(damaged).read_bytes().index(b"k1 all"), b"\xff")
    with pytest.raises(DamagedRecord, match="offset=1: the properties"):
        rows(damaged, "key", mode=Mode.FAIL_FAST)


@pytest.mark.parametrize("filters", [{"tags": frozenset({"A"})}, {"keys": frozenset({"k0"})}], ids=["tag", "key"])
def test_a_filter_does_not_hide_a_message_that_it_cannot_judge(tmp_path: Path, filters: dict[str, Any]) -> None:
    write_topic(tmp_path, orders(4, tags=("A", "B")), queues=1)
    at = segment(tmp_path).read_bytes().index(b"k2 all")
    overwrite(segment(tmp_path), at, b"\xff")
    shutil.rmtree(tmp_path / "index")  # which knows the keys that the message had
    damage = [row["_error"] for row in rows(tmp_path, "queue_offset", "_error", **filters)]
    assert damage == [None, "the properties are not UTF-8"]


@pytest.fixture
def flipped(tmp_path: Path) -> Path:
    """Three orders; one bit of the second one's body is flipped."""
    write_topic(tmp_path, orders(3), queues=1)
    overwrite(segment(tmp_path), segment(tmp_path).read_bytes().index(b'{"n":1}'), b"z")
    return tmp_path


def test_a_body_with_another_checksum_is_damage_in_every_mode(flipped: Path) -> None:
    found = rows(flipped)
    assert [row["body"] for row in found] == [b'{"n":0}', None, b'{"n":2}']
    assert found[1]["_error"] == "the body does not match the checksum in the record"
    assert numbers(flipped, mode=Mode.DROP_MALFORMED) == [0, 2]
    with pytest.raises(DamagedRecord, match="offset=1: the body does not match the checksum"):
        rows(flipped, "queue_offset", "body", mode=Mode.FAIL_FAST)
    assert [row["crc_ok"] for row in rows(flipped, "crc_ok")] == [True, False, True]


@pytest.mark.parametrize("asked", ["body", "crc_ok", "_error"])
def test_the_checksum_of_a_body_is_compared_only_if_the_read_asks_for_it(flipped: Path, asked: str) -> None:
    others = tuple(name for name in COLUMNS_OF_ALL if not asks_for_bodies([name]))
    assert len(rows(flipped, *others, mode=Mode.FAIL_FAST)) == 3
    with pytest.raises(DamagedRecord, match="offset=1: the body does not match the checksum"):
        rows(flipped, "queue_offset", asked, mode=Mode.FAIL_FAST)


def test_columns_never_asked_for_are_never_decoded(flipped: Path) -> None:
    """What must not be looked at is damaged: a body, and a property text that is no UTF-8."""
    overwrite(segment(flipped), segment(flipped).read_bytes().index(b"k1 all"), b"\xff")
    damage = {"body": "the body", "crc_ok": "the body", "_error": "the body"}
    damage |= dict.fromkeys(("message_id", "unique_id", "key", "keys", "tag", "properties"), "the properties")
    for name in COLUMNS_OF_ALL:
        if name not in damage:
            assert len(rows(flipped, name, mode=Mode.FAIL_FAST)) == 3
            continue
        with pytest.raises(DamagedRecord, match=f"offset=1: {damage[name]}"):
            rows(flipped, name, mode=Mode.FAIL_FAST)


def test_a_read_of_other_columns_touches_no_body_and_counts_no_byte_of_one(tmp_path: Path) -> None:
    bodies = [b"x" * 10_000] * 4
    write_topic(tmp_path, [order(number, body=body) for number, body in enumerate(bodies)], queues=1)
    options = options_of(tmp_path)
    (part,) = plan(options)
    small, whole = BytesRead(), BytesRead()
    (batch,) = read_rows(part, options, ("record_size",), small)
    list(read_rows(part, options, ("record_size", "body"), whole))
    assert whole.log == sum(batch.column(0).to_pylist())
    assert small.log == whole.log - 40_000


@pytest.mark.parametrize(
    ("unit", "damage"),
    [
        (bytes(20), "the queue entry names no record"),
        ((1 << 40).to_bytes(8, "big") + bytes([0, 0, 0, 99]) + bytes(8), "the queue entry names a place outside"),
    ],
    ids=["zeroed", "elsewhere"],
)
def test_a_unit_that_names_no_record_is_damage(tmp_path: Path, unit: bytes, damage: str) -> None:
    write_topic(tmp_path, orders(4, tags=("A",)), queues=1)
    overwrite(queue_file(tmp_path, "orders"), 20, unit)
    found = rows(tmp_path, "queue_offset", "_error")
    assert [row["queue_offset"] for row in found] == [0, 1, 2, 3]
    assert found[1]["_error"].startswith(damage)
    assert [row["queue_offset"] for row in rows(tmp_path, "queue_offset", tags=frozenset({"A"}))] == [0, 1, 2, 3]
    with pytest.raises(DamagedRecord, match=f"offset=1: {damage}"):
        rows(tmp_path, mode=Mode.FAIL_FAST)


def test_a_queue_that_has_lost_all_its_units_but_the_last_is_all_damage(tmp_path: Path) -> None:
    write_topic(tmp_path, orders(4), queues=1)
    overwrite(queue_file(tmp_path, "orders"), 0, bytes(60))
    assert [row["_error"] is None for row in rows(tmp_path)] == [False, False, False, True]
    assert len(rows(tmp_path, mode=Mode.DROP_MALFORMED)) == 1


def test_a_record_of_another_queue_is_damage_and_no_foreign_message(tmp_path: Path) -> None:
    write_topic(tmp_path, [order(0), order(1, topic="others")], queues=1)
    overwrite(queue_file(tmp_path, "orders"), 0, queue_file(tmp_path, "others").read_bytes()[:20])
    assert [row["_error"] for row in rows(tmp_path)] == ["the record belongs to another queue"]


def test_a_segment_that_went_after_planning_is_data_loss(tmp_path: Path) -> None:
    write_topic(tmp_path, orders(400), queues=1, segment_bytes=16384)
    options = options_of(tmp_path)
    partitions = plan_files(options)
    segment(tmp_path).unlink()
    with pytest.raises(DataLoss, match="topic=orders queue=0"):
        list(read_rows(partitions[0], options, ("body",)))
    lax = options_of(tmp_path, fail_on_data_loss=False)
    left = [
        row for part in partitions for batch in read_rows(part, lax, ("queue_offset",)) for row in batch.to_pylist()
    ]
    assert 0 < len(left) < 400
    assert left[-1]["queue_offset"] == 399


def test_a_store_that_grew_is_reopened(tmp_path: Path) -> None:
    write_topic(tmp_path, orders(10), queues=1)
    assert len(rows(tmp_path)) == 10
    write_topic(tmp_path, orders(5), queues=1)
    assert len(rows(tmp_path)) == 15


def test_a_store_that_was_replaced_under_its_name_is_reopened(tmp_path: Path) -> None:
    # Given a store that was read, and another one with as many messages
    here, other = tmp_path / "here", tmp_path / "other"
    write_topic(here, orders(10), queues=1)
    write_topic(other, [order(number) for number in range(100, 110)], queues=1)
    assert numbers(here) == list(range(10))
    # When the other one replaces the first
    here.rename(tmp_path / "away")
    other.rename(here)
    # Then the other one is read
    assert numbers(here) == list(range(100, 110))


def test_a_store_that_was_removed_and_written_again_is_reopened(tmp_path: Path) -> None:
    write_topic(tmp_path / "store", orders(10), queues=1)
    assert numbers(tmp_path / "store") == list(range(10))
    shutil.rmtree(tmp_path / "store")
    write_topic(tmp_path / "store", [order(number) for number in range(100, 110)], queues=1)
    assert numbers(tmp_path / "store") == list(range(100, 110))


def test_rows_are_counted_for_the_driver_while_they_are_read(tmp_path: Path) -> None:
    write_topic(tmp_path, orders(300), queues=2)
    counter = RowCounter()
    try:
        rows(tmp_path, "body", count_to=counter.start())
        wait_until(lambda: counter.rows() == 300)
    finally:
        counter.close()


def test_bodies_that_unpack_to_much_come_in_batches_that_are_not_large(tmp_path: Path) -> None:
    # Given 100 MiB of text in 100 KiB of records
    bodies = [bytes([number]) * (4 << 20) for number in range(25)]
    flag = flags.COMPRESSED | flags.COMPRESSOR_ZLIB
    with opened(tmp_path, commit_log_file_size=1 << 20, index_slots=100, index_entries=400) as store:
        for number, body in enumerate(bodies):
            put(store, compress(body, flag), topic="orders", sys_flag=flag, now=NOW + number)
            store.dispatch()
    # When they are read
    options = options_of(tmp_path)
    (part,) = plan(options)
    batches = list(read_rows(part, options, ("queue_offset", "body")))
    # Then all are read, in batches of limited size
    assert [body for batch in batches for body in batch.column(1).to_pylist()] == bodies
    assert [offset for batch in batches for offset in batch.column(0).to_pylist()] == list(range(25))
    assert max(batch.nbytes for batch in batches) <= MOST_BATCH_BYTES


def test_no_partition_reads_beyond_its_range(tmp_path: Path) -> None:
    write_topic(tmp_path, orders(100), queues=1)
    part = FilePartition(str(tmp_path), "broker-a", "orders", 0, 20, 30)
    (batch,) = read_rows(part, options_of(tmp_path), ("queue_offset",))
    assert batch.column(0).to_pylist() == list(range(20, 30))
