"""What extended queues keep beside their units, as RocketMQ's files have it."""

from __future__ import annotations

import shutil
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from broker_core.protocol.string_hash import tags_code
from broker_core.store import MessageStore, StoreConfig
from broker_core.store.extension import ExtensionUnit, QueueExtension, is_address
from broker_core.store.fetch import Accept, BitTest
from broker_core.store.reader import StoreReader
from broker_core.store.units import UNIT
from broker_core.store.verify import Findings, verify
from tests.support.stores import NOW, bodies, crashed, fill, opened, overwrite, put, small

BASE = -(1 << 63)
EXTENDED: Mapping[str, Any] = {"extends_queues": True, "extension_file_size": 512}
BITS = bytes.fromhex("0880000000000000000000000020")


def extension_file(folder: Path, start: int = 0) -> Path:
    return folder / "consumequeue_ext/T/0" / f"{start:020d}"


def checked(folder: Path) -> Findings:
    with StoreReader.open(folder, small(folder)) as reader:
        return verify(reader)


def addresses(folder: Path) -> list[int]:
    data = b"".join(path.read_bytes() for path in sorted((folder / "consumequeue/T/0").iterdir()))
    return [code for _, size, code in UNIT.iter_unpack(data) if size]


def selected(store: MessageStore, accept: Accept) -> list[int]:
    """Return the queue offsets of what a consumer gets."""
    found, offset = [], int(store.min_offset("T", 0))
    while offset < store.max_offset("T", 0):
        answer = store.get("T", 0, offset, max_messages=32, max_bytes=1 << 20, accept=accept)
        found += [struct.unpack_from(">q", record, 20)[0] for record in answer.records]
        offset = answer.next_offset
    return found


# -- files


def test_a_unit_has_the_bytes_that_rocketmq_writes(tmp_path: Path) -> None:
    unit = ExtensionUnit(tags_code("TagA"), 1_700_000_000_005, BITS)
    assert unit.pack().hex() == f"002200000000{2598919:08x}0000018bcfe56805000e{BITS.hex()}"
    extension = QueueExtension.load(tmp_path, "T", 0, file_size=512)
    first, second = extension.append([unit, ExtensionUnit(-1, 7)])
    assert (first, second) == (BASE, BASE + 34)
    assert (extension.find(first), extension.find(second)) == (unit, ExtensionUnit(-1, 7))
    assert [extension.find(address) for address in (first + 1, second + 20, 5, first + 512)] == [None] * 4
    assert is_address(second)
    assert not is_address(-(1 << 31))


def test_a_unit_that_does_not_fit_begins_the_next_file(tmp_path: Path) -> None:
    extension = QueueExtension.load(tmp_path, "T", 0, file_size=100)
    places = extension.append([ExtensionUnit(number, 7, BITS) for number in range(4)])
    # Two of 34 bytes, and 4 bytes stay free for the end
    assert [place - BASE for place in places] == [0, 34, 100, 134]
    assert extension_file(tmp_path).read_bytes()[68:70] == b"\xff\xff"
    again = QueueExtension.load(tmp_path, "T", 0, file_size=100)
    assert again.recover(trusted=True) == BASE + 168
    assert [unit and unit.tags_code for unit in map(again.find, places)] == [0, 1, 2, 3]
    # After a crash the last one may be torn
    assert again.recover(trusted=False) == BASE + 134
    assert again.find(places[3]) is None


# -- stores


def test_tags_and_due_times_are_read_through_addresses(tmp_path: Path) -> None:
    with opened(tmp_path, **EXTENDED) as store:
        for number in range(20):
            put(store, b"%d" % number, tag="odd" if number % 2 else "even", now=NOW + number)
        assert addresses(tmp_path) == [BASE + 20 * number + number // 24 for number in range(20)]
        assert selected(store, Accept((tags_code("odd")).__eq__)) == list(range(1, 20, 2))
        assert store.tags_code("T", 0, 4) == tags_code("even")
        put(store, topic="SCHEDULE_TOPIC_XXXX", properties={"DELAY": "2"}, now=NOW)
        assert store.tags_code("SCHEDULE_TOPIC_XXXX", 0, 0) == NOW + 5_000
    assert checked(tmp_path).is_sound
    # Also where nothing is extended, and from another process
    with opened(tmp_path) as store:
        assert selected(store, Accept((tags_code("even")).__eq__)) == list(range(0, 20, 2))
        put(store, tag="odd")
        assert not is_address(addresses(tmp_path)[-1])
        assert selected(store, Accept((tags_code("odd")).__eq__)) == [*range(1, 20, 2), 20]
    with StoreReader.open(tmp_path) as reader:
        codes = [unit[2] for part in reader.units("T", 0, 0, 99) for unit in UNIT.iter_unpack(part)]
        assert codes == [tags_code("odd" if number % 2 else "even") for number in range(20)] + [tags_code("odd")]
    # And what is written then goes on behind it
    with opened(tmp_path, **EXTENDED) as store:
        put(store, tag="odd")
        assert addresses(tmp_path)[-1] == BASE + 400


def test_bits_decide_without_the_record(tmp_path: Path) -> None:
    with opened(tmp_path, **EXTENDED) as store:
        store.filter_bits_by(lambda topic, record: BITS if topic == "T" and len(record) % 2 else bytes(14))
        for number in range(6):
            put(store, b"x" * number, now=NOW + number)
        odd = selected(store, Accept(bits=BitTest(0, BITS)))
        assert odd in ([0, 2, 4], [1, 3, 5])
        # What was stored before a consumer came, or has bits of another length, is tested by its properties
        assert selected(store, Accept(bits=BitTest(NOW + 3, BITS))) == sorted({0, 1, 2, 3, *odd})
        assert selected(store, Accept(bits=BitTest(0, BITS + b"\xff"))) == list(range(6))
        one_bit = bytes.fromhex("0800000000000000000000000000")
        assert selected(store, Accept(bits=BitTest(0, one_bit))) == odd


def test_a_queue_without_its_extension_is_read_as_rocketmq_reads_it(tmp_path: Path) -> None:
    with opened(tmp_path, **EXTENDED) as store:
        for tag in ("a", "b"):
            put(store, tag=tag)
    shutil.rmtree(tmp_path / "consumequeue_ext")
    assert checked(tmp_path).faults == {"lost extension": 2}
    with opened(tmp_path) as store:
        assert selected(store, Accept((tags_code("a")).__eq__)) == [0, 1]
    # Where it is written again, it is rebuilt with the queue
    with opened(tmp_path, **EXTENDED) as store:
        assert selected(store, Accept((tags_code("a")).__eq__)) == [0]
    assert checked(tmp_path).is_sound


# -- recovery


@pytest.mark.parametrize("was_clean", [True, False])
def test_an_extension_goes_on_where_it_ended(tmp_path: Path, was_clean: bool) -> None:
    folder = tmp_path / "store"
    with opened(folder, **EXTENDED) as store:
        fill(store, 60)
        if not was_clean:
            folder = crashed(folder)
    before = addresses(folder)
    with opened(folder, **EXTENDED) as store:
        assert addresses(folder)[:60] == before[:60]
        fill(store, 10)
        assert bodies(store) == [b"%d" % number for number in (*range(60), *range(10))]
        assert len(set(addresses(folder))) == 70
    assert checked(folder).is_sound


@pytest.mark.parametrize("lost", [0, 24 * 20, 512, 600, 620])
def test_units_whose_extension_a_crash_lost_are_written_again(tmp_path: Path, lost: int) -> None:
    with opened(tmp_path / "store", **EXTENDED) as store:
        for number in range(30):
            put(store, tag="odd" if number % 2 else "even", now=NOW + number)
        folder = crashed(tmp_path / "store")
    for start in (0, 512):
        begin = max(0, lost - start)
        if begin < 512:
            overwrite(extension_file(folder, start), begin, bytes(512 - begin))
    with opened(folder, **EXTENDED) as store:
        assert store.max_offset("T", 0) == 30
        assert selected(store, Accept((tags_code("odd")).__eq__)) == list(range(1, 30, 2))
    assert checked(folder).is_sound


def test_what_the_log_lost_leaves_the_extension_too(tmp_path: Path) -> None:
    with opened(tmp_path / "store", **EXTENDED) as store:
        fill(store, 10)
        folder = crashed(tmp_path / "store")
    segment = folder / "commitlog" / f"{0:020d}"
    with StoreReader.open(folder, small(folder)) as reader:
        unit = reader.find_unit("T", 0, 7)
        assert unit is not None
    overwrite(segment, unit.log_offset, bytes(2048 - unit.log_offset))
    with opened(folder, **EXTENDED) as store:
        assert store.max_offset("T", 0) == 7
        fill(store, 1)
        assert addresses(folder) == [BASE + 20 * number for number in range(8)]


# -- the end of messages


def test_retention_drops_files_that_nothing_names(tmp_path: Path) -> None:
    with opened(tmp_path, **EXTENDED, max_log_bytes=4096) as store:
        fill(store, 200)
        store.drop_expired(NOW)
        assert not extension_file(tmp_path).exists()
        assert len(selected(store, Accept((0).__eq__))) == store.max_offset("T", 0) - store.min_offset("T", 0)
    assert checked(tmp_path).is_sound


def test_a_topic_takes_its_extensions_with_it(tmp_path: Path) -> None:
    with opened(tmp_path, **EXTENDED) as store:
        fill(store, 3)
        store.delete_topic("T")
        assert not (tmp_path / "consumequeue_ext/T").exists()
        fill(store, 2)
        assert addresses(tmp_path) == [BASE, BASE + 20]


def test_files_of_other_lengths_are_rebuilt(tmp_path: Path) -> None:
    with opened(tmp_path, **EXTENDED) as store:
        fill(store, 60)
    with extension_file(tmp_path).open("r+b") as file:
        file.truncate(100)
    with opened(tmp_path, **EXTENDED) as store:
        assert bodies(store) == [b"%d" % number for number in range(60)]
    assert checked(tmp_path).is_sound


def test_the_files_have_the_size_of_rocketmq() -> None:
    assert StoreConfig(Path("x")).extension_file_size == 50_331_648
