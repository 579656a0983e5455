"""Compiled records, batches, units and index entries equal those of their Python twins, byte for byte."""

from __future__ import annotations

import re
import struct
import zlib
from pathlib import Path
from typing import Any, Final
from unittest import mock

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from broker_core import native
from broker_core.broker import sent_batch
from broker_core.protocol import message_id, record
from broker_core.protocol.batch import BatchEntry, decode_batch, encode_batch
from broker_core.protocol.errors import MalformedBatch, MalformedProperties, MalformedRecord
from broker_core.protocol.message import Message, StoredMessage
from broker_core.store import appender, dispatcher, index_file, mapped_file
from broker_core.store.appended import AppendedRecord
from broker_core.store.incoming import Incoming
from broker_core.store.index_file import ENTRY, HEADER, file_bytes
from tests.broker_core.native.twins import I32, I64, QUEUES, TEXT, TEXTS, TOPIC, Queue, compiled
from tests.support.stores import packed

SOURCES: Final = Path(native.__file__).parent / "src"
HOST: Final = st.sampled_from([bytes(range(8)), bytes(range(20))])
ORIGIN: Final = st.builds(record.MessageOrigin, I64, HOST, I64, HOST, I32, I64)


@given(st.binary(max_size=300), st.integers(0, 5000))
def test_checksum(data: bytes, repeats: int) -> None:
    many = data * (repeats % 40)
    assert compiled.crc32(many) == zlib.crc32(many)
    assert compiled.crc32(memoryview(many)[3:]) == zlib.crc32(many[3:])


# -- records


@given(
    st.binary(max_size=50), TEXT, ORIGIN, st.tuples(I32, I64, I64, I32, I32), st.integers(0, 40), st.integers(-60, 400)
)
def test_record(
    body: bytes, text: str, origin: record.MessageOrigin, numbers: tuple[int, int, int, int, int], at: int, slack: int
) -> None:
    queue_id, queue_offset, log_offset, sys_flag, flag = numbers
    properties = text.encode()
    size = record.size_of(TOPIC, body, properties, origin)
    into = bytearray(b"\xaa" * 600)
    limit = at + size + slack
    incoming = Incoming("T", queue_id, body, text, flag, sys_flag, *origin)
    written = compiled.write_record(
        AppendedRecord, QUEUES[0], into, at, limit, TOPIC, incoming, queue_offset, log_offset
    )
    if slack < 0 or at + size > len(into):
        assert (written, bytes(into)) == (None, b"\xaa" * 600)
        return
    stored = AppendedRecord(QUEUES[0], log_offset, size, queue_offset, *origin[2:4], sys_flag, text, None)  # type: ignore[arg-type]
    assert (type(written), written) == (AppendedRecord, stored)
    assert bytes(into[at : at + size]) == record.encode(
        TOPIC, body, properties, origin, size, queue_id, queue_offset, log_offset, sys_flag, flag
    )
    assert set(into[:at]) | set(into[at + size :]) <= {0xAA}


@given(
    st.lists(st.tuples(st.binary(max_size=50), TEXT, ORIGIN, st.tuples(I32, I64, I64, I32, I32)), max_size=4),
    st.binary(max_size=3),
    st.lists(st.tuples(st.integers(0, 400), st.integers(0, 255)), max_size=2),
    st.booleans(),
)
def test_messages_of_records(
    parts: list[tuple[bytes, str, record.MessageOrigin, tuple[int, int, int, int, int]]],
    torn: bytes,
    changed: list[tuple[int, int]],
    decompress: bool,
) -> None:
    block = bytearray(b"".join(_record(*each) for each in parts) + torn)
    for at, value in changed:
        if at < len(block):
            block[at] = value

    def outcome() -> list[Any] | str:
        try:
            return record.decode_many(bytes(block), decompress=decompress)
        except MalformedRecord as error:
            return str(error)

    with mock.patch.object(record, "native", None):
        plain = outcome()
    assert outcome() == plain


def _record(body: bytes, text: str, origin: record.MessageOrigin, numbers: tuple[int, int, int, int, int]) -> bytes:
    queue_id, queue_offset, log_offset, sys_flag, flag = numbers
    size = record.size_of(TOPIC, body, text.encode(), origin)
    return record.encode(TOPIC, body, text.encode(), origin, size, queue_id, queue_offset, log_offset, sys_flag, flag)


def test_messages_that_are_no_utf8_are_left_to_python() -> None:
    origin = record.MessageOrigin(1, bytes(8), 2, bytes(8))
    block = _record(b"a", "KEYS\x01k\x02TAGS\x01é", origin, (0, 1, 2, 0, 0))
    messages: list[Any] = []
    assert compiled.decode_messages(StoredMessage, block, 0, messages) == len(block)
    assert messages == [record.decode_one(block)]
    broken = block.replace("é".encode(), b"\xff\xfe")
    assert compiled.decode_messages(StoredMessage, broken, 0, messages) == 0
    with pytest.raises(TypeError):
        compiled.decode_messages(StoredMessage, block, 0, ())  # type: ignore[arg-type]


def test_numbers_and_texts_that_do_not_fit_write_nothing() -> None:
    into = bytearray(200)
    empty = Incoming("T", 0, b"", "", 0, 0, *record.MessageOrigin(0, bytes(8), 0, bytes(8)))

    def write(incoming: Any, *, at: int = 0, limit: int = 200, kind: Any = AppendedRecord) -> object:
        return compiled.write_record(kind, None, into, at, limit, TOPIC, incoming, 0, 0)

    assert write(empty._replace(text="x" * 32768), limit=1 << 60) is None
    for at in (-1, 201, 1 << 62, -(1 << 62)):
        assert write(empty, at=at, limit=1 << 62) is None
    with pytest.raises(OverflowError):
        write(empty._replace(queue_id=1 << 31))
    with pytest.raises(UnicodeEncodeError):
        write(empty._replace(text="\ud800"))
    for odd in (empty._replace(born_host=b"short"), empty._replace(store_host=b"short"), empty[:6]):
        with pytest.raises(TypeError):
            write(odd)
    for kind in (list, "tuple"):
        with pytest.raises(TypeError, match="is a tuple"):
            write(empty, kind=kind)
    assert bytes(into) == bytes(200)


@pytest.mark.parametrize(
    ("kind", "prefix", "file"),
    [
        (Incoming, "INCOMING", "native.h"),
        (AppendedRecord, "APPENDED", "native.h"),
    ],
)
def test_c_knows_the_order_of_the_fields(kind: Any, prefix: str, file: str) -> None:
    source = (SOURCES / file).read_text(encoding="utf-8")
    (listed,) = re.findall(rf"enum {{\s*({prefix}_[^}}]*)}}", source)
    assert re.findall(r"\w+", listed) == [f"{prefix}_{name.upper()}" for name in (*kind._fields, "fields")]


ENTRIES: Final = st.lists(st.tuples(I32, st.binary(max_size=30), TEXTS).map(BatchEntry._make), min_size=1, max_size=5)


def body_of(entries: list[BatchEntry]) -> bytes:
    """Return the body of a batch, whatever the texts are."""
    parts = []
    for flag, body, text in entries:
        properties = text.encode()
        parts += [struct.pack(">iiiii", 0, 0, 0, flag, len(body)), body, struct.pack(">h", len(properties)), properties]
    return b"".join(parts)


@given(ENTRIES, st.data())
def test_batch_looked_at_for_what_it_asks(entries: list[BatchEntry], data: st.DataObject) -> None:
    body = body_of(entries)
    for each in (body, body[: data.draw(st.integers(0, len(body)))], _with_byte(body, data)):
        assert compiled.batch_asks_for_nothing(each) == sent_batch._asks_for_nothing(each)


@given(ENTRIES, TEXTS, ORIGIN, st.integers(0, 1 << 40), st.sampled_from([0, 1, 2, 0x30]), st.sampled_from(QUEUES))
def test_batch_written(
    entries: list[BatchEntry], common: str, origin: record.MessageOrigin, log_offset: int, sys_flag: int, queue: Queue
) -> None:
    """Records, units and keys of a batch equal those that Python makes of each message."""
    body = body_of(entries)
    texts = appender.join_texts(entries, common)
    encoded = [text.encode() for text in texts]
    sizes = [record.size_of(TOPIC, entry[1], text, origin) for entry, text in zip(entries, encoded, strict=True)]
    assert compiled.measure_batch(body, common) == (
        len(entries),
        sum(len(entry[1]) for entry in entries) + sum(map(len, encoded)),
        max(len(entry[1]) for entry in entries),
        max(map(len, encoded)),
    )
    into = bytearray(sum(sizes))
    incoming = Incoming(queue.topic, 3, body, common, 0, sys_flag, *origin)
    arguments = (TOPIC, incoming, len(entries), 40, log_offset)
    places, end, units, keys = compiled.write_batch(into, 0, *arguments)
    assert bytes(into) == b"".join(
        record.encode(TOPIC, entry.body, text, origin, size, 3, 40 + number, place, sys_flag, entry.flag)
        for number, (entry, text, size, place) in enumerate(zip(entries, encoded, sizes, places, strict=True))
    )
    assert [*places, end] == [log_offset + sum(sizes[:number]) for number in range(len(sizes) + 1)]
    pending = [
        AppendedRecord(queue, place, size, 40 + number, *origin[2:4], sys_flag, text, None)  # type: ignore[arg-type]
        for number, (place, size, text) in enumerate(zip(places, sizes, texts, strict=True))
    ]
    assert units == dispatcher._pack_units(pending)
    assert keys == dispatcher._hash_keys(pending, -1)
    for at in (1, -1, 1 << 62):
        with pytest.raises(ValueError, match="does not fit"):
            compiled.write_batch(into, at, *arguments)
    into = bytearray(sum(sizes))
    with pytest.raises(ValueError, match="measured"):
        compiled.write_batch(into, 0, TOPIC, incoming, len(entries) + 1, 40, log_offset)
    assert bytes(into) == bytes(len(into))  # nothing is left of a batch that failed


@given(st.lists(st.tuples(st.binary(max_size=20), st.dictionaries(TEXT, TEXT, max_size=2)), max_size=4), st.data())
def test_batch_that_is_not_intact_is_left_to_python(
    contents: list[tuple[bytes, dict[str, str]]], data: st.DataObject
) -> None:
    try:
        body = encode_batch([Message("t", each, pairs) for each, pairs in contents])
    except MalformedProperties:
        assume(False)
    for damaged in (body, body[: data.draw(st.integers(0, len(body)))], _with_byte(body, data)):
        measured = compiled.measure_batch(damaged, "")
        try:
            entries = decode_batch(damaged)
        except MalformedBatch:
            assert measured is None
        else:
            assert measured is not None
            assert measured[0] == len(entries)


def _with_byte(body: bytes, data: st.DataObject) -> bytes:
    at = data.draw(st.integers(0, len(body)))
    return body[:at] + data.draw(st.binary(max_size=2)) + body[at + 1 :]


@given(HOST, st.lists(st.integers(0, (1 << 63) - 1), max_size=4))
def test_message_ids(host: bytes, log_offsets: list[int]) -> None:
    assert compiled.format_ids(host, log_offsets) == message_id._format_offset_ids(host, log_offsets)


# -- queues and index

PENDING: Final = st.tuples(
    st.sampled_from(QUEUES), I64, I32, I64, I64, HOST, st.sampled_from([0, 4, 8, 12]), TEXTS, st.none() | I64
).map(AppendedRecord._make)


@given(st.lists(PENDING, max_size=6))
def test_units(records: list[AppendedRecord]) -> None:
    assert compiled.pack_units(records) == dispatcher._pack_units(records)


@given(st.lists(PENDING, max_size=6), I64)
def test_keys(records: list[AppendedRecord], known: int) -> None:
    assert compiled.hash_keys(records, known) == dispatcher._hash_keys(records, known)


KEYS: Final = st.tuples(st.integers(0, (1 << 31) - 1), I64, st.integers(-1, 1 << 60))


@given(st.lists(KEYS, max_size=12), st.integers(1, 5), st.integers(0, 1 << 50), st.integers(0, 3))
def test_index_entries(each: list[tuple[int, int, int]], slots: int, begin_time: int, number: int) -> None:
    size, keys = file_bytes(slots, 20), packed(each)
    ours, theirs = bytearray(size), bytearray(size)
    entries_at = HEADER.size + slots * 4
    state = (number, 0, begin_time, 5)
    assert index_file._put_entries(ours, slots, entries_at, *state, keys) == compiled.put_entries(  # type: ignore[arg-type]
        theirs, slots, entries_at, *state, keys
    )
    assert ours == theirs


def test_entries_that_have_no_room_are_refused() -> None:
    into = bytearray(file_bytes(4, 3))
    at = HEADER.size + 16
    for arguments in ((4, at, 3), (4, at, -1), (4, at + 4, 0), (0, HEADER.size, 0), (1 << 40, at, 0), (4, at, 1 << 60)):
        with pytest.raises(ValueError, match="do not fit"):
            compiled.put_entries(into, *arguments, 0, 0, 0, packed([(1, 2, 3)]))
    with pytest.raises(ValueError, match="negative"):
        compiled.put_entries(into, 4, at, 1, 0, 0, 0, packed([(-1, 2, 3)]))
    assert bytes(into) == bytes(file_bytes(4, 3))
    assert ENTRY.size == 20


def test_a_file_is_synced(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"data")
    for sync in (compiled.sync_file, mapped_file._sync_file):
        assert sync(path) > 0
        assert sync(tmp_path / "gone") == 0
        with pytest.raises(OSError, match=str(tmp_path)):
            sync(tmp_path)
