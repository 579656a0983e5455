"""Damage to every field of every kind of file: the store opens, reports it, and never returns a wrong message.

Each field is overwritten in a cleanly closed store and in a crashed one. Fields without a checksum (a time, a flag, a
property) may have other values; a message's topic, queue, offset and body never do.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from broker_core.protocol.record import decode_many
from broker_core.store import MessageStore
from broker_core.store.errors import MessageDamaged, StoreError
from broker_core.store.reader import StoreReader
from broker_core.store.verify import verify
from tests.support.stores import NOW, bodies, fill, opened, overwrite, put, queue_file, segment, small

COUNT = 30
# Each message is in one record of this many bytes: 88, a body of 2, topic T, KEYS=k10.
SIZE = 88 + 2 + 2 + 2 + 8
VICTIM = 12
TOPICS = ("T", "Other")

RECORD_FIELDS = {
    "size": (0, 4),
    "magic": (4, 4),
    "body checksum": (8, 4),
    "queue id": (12, 4),
    "flag": (16, 4),
    "queue offset": (20, 8),
    "log offset": (28, 8),
    "sys flag": (36, 4),
    "born time": (40, 8),
    "born host": (48, 8),
    "store time": (56, 8),
    "store host": (64, 8),
    "times consumed": (72, 4),
    "prepared offset": (76, 8),
    "body length": (84, 4),
    "body": (88, 2),
    "topic length": (90, 1),
    "topic": (91, 1),
    "properties length": (92, 2),
    "properties": (94, 8),
}
# Fields of a message that are not covered by a checksum.
UNCOVERED = {"flag", "born time", "born host", "store time", "store host", "times consumed", "prepared offset"}
UNIT_FIELDS = {"log offset": (0, 8), "size": (8, 4), "tags code": (12, 8)}
INDEX_HEADER = {
    "begin time": (0, 8),
    "end time": (8, 8),
    "begin log offset": (16, 8),
    "end log offset": (24, 8),
    "slots in use": (32, 4),
    "count": (36, 4),
}
ENTRY_FIELDS = {"hash": (0, 4), "log offset": (4, 8), "seconds": (12, 4), "older": (16, 4)}
CHECKPOINT_FIELDS = {"log": (0, 8), "queues": (8, 8), "index": (16, 8)}
# How a field is overwritten: with zeros, ones, and by a flip of its lowest and its highest bit.
WAYS = ("zeros", "ones", "lowest bit", "highest bit")


def damage(path: Path, at: int, length: int, way: str) -> bool:
    """Overwrite a field; return whether that changed it."""
    before = path.read_bytes()[at : at + length]
    after = bytearray(before)
    match way:
        case "zeros":
            after[:] = bytes(length)
        case "ones":
            after[:] = b"\xff" * length
        case "lowest bit":
            after[-1] ^= 1
        case _:
            after[0] ^= 0x80
    overwrite(path, at, bytes(after))
    return bytes(after) != before


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of several files of each kind; the last message of one queue is far from the end of the log."""
    folder = tmp_path_factory.mktemp("origin") / "store"
    with opened(folder) as store:
        for number in range(10, 10 + COUNT):
            result = put(store, b"%d" % number, now=NOW + number, keys=[f"k{number}"])
            assert result.size == SIZE
            if number % 5 == 0:
                put(store, b"o%d" % number, now=NOW + number, topic="Other", keys=[f"o{number}"])
    return folder


def place_of(folder: Path, queue_offset: int) -> tuple[Path, int]:
    """Return segment and position of the record of a message of T."""
    with StoreReader.open(folder, small(folder)) as reader:
        unit = reader.find_unit("T", 0, queue_offset)
        assert unit is not None
        return segment(folder, unit.log_offset // 2048 * 2048), unit.log_offset % 2048


def copies(origin: Path, folder: Path, place: tuple[Path, int], field: tuple[int, int]) -> list[tuple[str, Path]]:
    """Return copies of a store, each with one field overwritten in a different way, closed cleanly or not."""
    made = []
    path, begin = place
    for way in WAYS:
        for end in ("well", "badly"):
            copy = shutil.copytree(origin, folder / f"{way} {end}")
            if not damage(copy / path.relative_to(origin), begin + field[0], field[1], way):
                continue
            if end == "badly":
                (copy / "abort").touch()
            made.append((f"{way}, closed {end}", copy))
    return made


def read(store: MessageStore) -> dict[tuple[str, int], bytes]:
    """Return all bodies of queue 0 of each topic by topic and offset; check that each message is the right one."""
    found = {}
    for topic in TOPICS:
        offset = int(store.min_offset(topic, 0))
        while offset < store.max_offset(topic, 0):
            answer = store.get(topic, 0, offset, max_messages=4, max_bytes=1 << 20)
            assert answer.next_offset > offset
            for message in decode_many(b"".join(answer.records), decompress=False):
                assert (message.topic, message.queue_id) == (topic, 0)
                assert offset <= message.queue_offset < answer.next_offset
                found[topic, int(message.queue_offset)] = message.body
            offset = answer.next_offset
    return found


def whole() -> dict[tuple[str, int], bytes]:
    found = {("T", number): b"%d" % (10 + number) for number in range(COUNT)}
    return found | {("Other", number): b"o%d" % (10 + 5 * number) for number in range(COUNT // 5)}


def by_keys(store: MessageStore) -> dict[str, list[bytes]]:
    return {
        f"k{number}": [
            message.body for message in store.search("T", f"k{number}", begin=0, end=1 << 60, max_count=9).messages
        ]
        for number in range(10, 10 + COUNT)
    }


def is_reported(folder: Path) -> bool:
    """Return whether the check of the closed store reports damage."""
    try:
        with StoreReader.open(folder, small(folder)) as reader:
            return not verify(reader).is_sound
    except StoreError:
        return True


@pytest.mark.parametrize("name", RECORD_FIELDS)
def test_a_damaged_record_costs_its_own_message_and_no_other(origin: Path, tmp_path: Path, name: str) -> None:
    for said, folder in copies(origin, tmp_path, place_of(origin, VICTIM), RECORD_FIELDS[name]):
        reported = is_reported(folder)
        with opened(folder) as store:
            found = read(store)
            named = store.damage.take_new()
            lost = whole().items() - found.items()
            assert found.items() <= whole().items(), said
            assert lost <= {(("T", VICTIM), b"22")}, said
            assert bool(named) == bool(lost), said
            assert all(damaged.queue_offset == VICTIM for damaged in named), said
            assert put(store, b"next").queue_offset == COUNT, said
            assert put(store, b"next", topic="Other").queue_offset == COUNT // 5, said
        assert reported or not lost, said
        if name not in UNCOVERED | {"properties", "sys flag"}:
            assert lost, said


@pytest.mark.parametrize("name", UNIT_FIELDS)
@pytest.mark.parametrize("queue_offset", [0, VICTIM, COUNT - 1])
def test_a_damaged_unit_costs_its_own_message_and_no_other(
    origin: Path, tmp_path: Path, name: str, queue_offset: int
) -> None:
    place = (queue_file(origin, start=queue_offset // 8 * 160), queue_offset % 8 * 20)
    for said, folder in copies(origin, tmp_path, place, UNIT_FIELDS[name]):
        reported = is_reported(folder)
        with opened(folder) as store:
            found = read(store)
            lost = whole().items() - found.items()
            assert found.items() <= whole().items(), said
            assert {key for key, _ in lost} <= {("T", queue_offset)}, said
            assert {damaged.queue_offset for damaged in store.damage.take_new()} == {key[1] for key, _ in lost}, said
            # A unit on the path of the recovery walk is rebuilt.
            assert not lost or "well" in said, said
            assert not lost or queue_offset < COUNT - 1, said
            assert put(store, b"next").queue_offset == COUNT, said
        assert reported or name == "tags code", said


@pytest.mark.parametrize("name", INDEX_HEADER)
@pytest.mark.parametrize("which", [0, -1])
def test_an_index_file_with_a_damaged_header_is_rebuilt(origin: Path, tmp_path: Path, name: str, which: int) -> None:
    path = sorted((origin / "index").iterdir())[which]
    for said, folder in copies(origin, tmp_path, (path, 0), INDEX_HEADER[name]):
        with opened(folder) as store:
            assert read(store) == whole(), said
            if name != "slots in use":
                assert by_keys(store) == {f"k{number}": [b"%d" % number] for number in range(10, 40)}, said
            put(store, b"next", keys=["k99"], now=NOW + 99)
            assert [message.body for message in store.search("T", "k99", begin=0, end=1 << 60, max_count=2).messages]


@pytest.mark.parametrize("name", ENTRY_FIELDS)
def test_a_damaged_entry_finds_no_wrong_message(origin: Path, tmp_path: Path, name: str) -> None:
    path = min((origin / "index").iterdir())
    place = (path, 40 + 10 * 4 + 5 * 20)
    for said, folder in copies(origin, tmp_path, place, ENTRY_FIELDS[name]):
        reported = is_reported(folder)
        with opened(folder) as store:
            assert read(store) == whole(), said
            for key, found in by_keys(store).items():
                assert found in ([key[1:].encode()], []), said
        # Any invalid number may mark the end of a chain.
        assert reported or name in ("seconds", "older"), said


@pytest.mark.parametrize("way", WAYS)
def test_a_damaged_slot_finds_no_wrong_message(origin: Path, tmp_path: Path, way: str) -> None:
    for slot in range(10):
        folder = shutil.copytree(origin, tmp_path / str(slot))
        damage(min((folder / "index").iterdir()), 40 + slot * 4, 4, way)
        with opened(folder) as store:
            for key, found in by_keys(store).items():
                assert found in ([key[1:].encode()], [])


@pytest.mark.parametrize("name", CHECKPOINT_FIELDS)
def test_a_damaged_checkpoint_costs_nothing(origin: Path, tmp_path: Path, name: str) -> None:
    for said, folder in copies(origin, tmp_path, (origin / "checkpoint", 0), CHECKPOINT_FIELDS[name]):
        # Given an index file torn by a power failure, and a queue that it removed
        shutil.rmtree(folder / "consumequeue" / "Other")
        (folder / "abort").touch()
        with opened(folder) as store:
            assert {key: body for key, body in read(store).items() if key[0] == "T"} == {
                key: body for key, body in whole().items() if key[0] == "T"
            }, said
            assert by_keys(store) == {f"k{number}": [b"%d" % number] for number in range(10, 40)}, said


@pytest.mark.parametrize("length", [0, 5, 23, 24, 4095])
def test_a_checkpoint_of_any_length_is_taken(origin: Path, tmp_path: Path, length: int) -> None:
    folder = shutil.copytree(origin, tmp_path / "store")
    (folder / "checkpoint").write_bytes((origin / "checkpoint").read_bytes()[:length])
    (folder / "abort").touch()
    with opened(folder) as store:
        assert read(store) == whole()


def test_a_flipped_byte_anywhere_in_a_body_is_named_for_that_message_only(tmp_path: Path) -> None:
    # Given an open store, as a broker has it
    body = bytes(range(200))
    with opened(tmp_path) as store:
        fill(store, 3)
        result = put(store, body, keys=["k"])
        fill(store, 3, now=NOW + 10)
        for position in range(len(body)):
            place = result.log_offset % 2048 + 88 + position
            path = segment(tmp_path, result.log_offset // 2048 * 2048)
            # When one byte of its body changes on the disk
            overwrite(path, place, bytes([body[position] ^ 0x10]))
            # Then reading by queue, by log offset and by key reports that message, and returns the others
            answer = store.get("T", 0, 0, max_messages=32, max_bytes=1 << 20)
            assert [damaged.queue_offset for damaged in answer.damaged] == [3]
            assert len(answer.records) == 3 or answer.next_offset == 7
            with pytest.raises(MessageDamaged, match=r"topic=T queue=0 offset=3 .* checksum"):
                store.find_raw(result.log_offset)
            found = store.search("T", "k", begin=0, end=1 << 60, max_count=9)
            assert (found.records, [damaged.queue_offset for damaged in found.damaged]) == ([], [3])
            overwrite(path, place, body[position : position + 1])
        # It is reported once.
        assert len(store.damage.take_new()) == 1
        assert len(bodies(store)) == 7


@pytest.mark.parametrize("end", ["well", "badly"])
def test_a_flipped_byte_in_an_older_body_costs_nothing_after_it(tmp_path: Path, end: str) -> None:
    with opened(tmp_path) as store:
        fill(store, 100)
        unit = store.get("T", 0, 40, max_messages=1, max_bytes=1).records[0]
        log_offset = int.from_bytes(unit[28:36], "big")
        del unit
    overwrite(segment(tmp_path, log_offset // 2048 * 2048), log_offset % 2048 + 88, b"X")
    if end == "badly":
        (tmp_path / "abort").touch()
    with opened(tmp_path) as store:
        assert bodies(store) == [b"%d" % number for number in range(100) if number != 40]
        assert [damaged.queue_offset for damaged in store.damage.take_new()] == [40]
        if end == "badly":
            assert [place[0] for place in store.recovered.damaged] == [log_offset]
