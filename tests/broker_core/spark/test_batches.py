"""Every column of a batch, compared with the records decoded one by one."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.native import native
from broker_core.protocol import sys_flag as flags
from broker_core.protocol.compression import compress
from broker_core.protocol.host import encode_host
from broker_core.protocol.message import StoredMessage
from broker_core.protocol.record import MessageOrigin, decode_many, encode, encode_topic, read_head, size_of
from broker_core.spark.batches import MADE_OF, Batch, RowOrigin
from broker_core.spark.schema import COLUMNS, arrow_schema
from broker_core.store.columns import Damage, Records, Wanted, find_records

_hosts: Any = st.sampled_from(["10.0.0.1", "fe80::1"])
_records: Any = st.fixed_dictionaries(
    {
        "topic": st.sampled_from(["orders", "t" * 127]),
        "body": st.binary(max_size=60),
        "properties": st.sampled_from(
            [
                "",
                "TAGS\x01A",
                "KEYS\x01k1  k2\x02UNIQ_KEY\x01ID",
                "KEYS\x01ключ",
                "a\x01b\x02a\x01c\x02",
                "UNIQ_KEY\x01X",
            ]
        ),
        "born": _hosts,
        "stored": _hosts,
        "sys_flag": st.sampled_from([0, flags.COMPRESSED, flags.COMPRESSED | flags.COMPRESSOR_LZ4]),
        "version": st.sampled_from([1, 1, 2]),
    }
)


def encoded(words: dict[str, Any], queue_offset: int, log_offset: int) -> bytes:
    topic, text, sys_flag = encode_topic(words["topic"]), words["properties"], words["sys_flag"]
    text = text.encode() if isinstance(text, str) else text
    body = compress(words["body"], sys_flag) if sys_flag else words["body"]
    origin = MessageOrigin(111, encode_host(words["born"], 1), 222, encode_host(words["stored"], 2), 3, 4)
    size = size_of(topic, body, text, origin)
    data = encode(topic, body, text, origin, size, 7, queue_offset, log_offset, sys_flag, 5)
    if words["version"] == 1:
        return data
    at = read_head(data).topic_begin - 1
    return (len(data) + 1).to_bytes(4, "big") + bytes.fromhex("DAA320AB") + data[8:at] + b"\0" + data[at:]


def log_of(records: list[dict[str, Any]]) -> bytes:
    log = b""
    for number, words in enumerate(records):
        log += encoded(words, number, len(log))
    return log


def batch_of(log: bytes, **origin: Any) -> Batch:
    return Batch(
        Records(np.frombuffer(log, np.uint8), find_records(log)), RowOrigin(**{"topic": None, "broker": "b", **origin})
    )


def expected(message: StoredMessage) -> dict[str, Any]:
    return {
        "topic": message.topic,
        "broker": "b",
        "queue_id": message.queue_id,
        "queue_offset": message.queue_offset,
        "log_offset": message.log_offset,
        "message_id": message.message_id,
        "unique_id": message.unique_id,
        "key": message.keys[0] if message.keys else None,
        "keys": message.keys,
        "tag": message.tag,
        "body": message.body,
        "properties": list(message.properties.items()),
        "born_timestamp": message.born_timestamp,
        "store_timestamp": message.store_timestamp,
        "born_host": message.born_host,
        "store_host": message.store_host,
        "flag": message.flag,
        "sys_flag": message.sys_flag,
        "reconsume_times": message.reconsume_times,
        "record_size": message.store_size,
        "prepared_offset": message.prepared_transaction_offset,
        "offset_id": message.offset_id,
        "crc_ok": True,
    }


def plain(name: str, value: Any) -> Any:
    if name.endswith("_timestamp"):
        return round(value.timestamp() * 1000)
    return sorted(value) if name == "properties" else value


@given(st.lists(_records, max_size=12))
def test_a_batch_says_what_its_records_say(records: list[dict[str, Any]]) -> None:
    log = log_of(records)
    batch = batch_of(log)
    columns = {name: batch.column(name) for name in COLUMNS if name != "_error"}
    for name, column in columns.items():
        assert column.type == arrow_schema([name]).field(name).type, name
        column.validate(full=True)
    for row, message in enumerate(decode_many(log)):
        for name, value in expected(message).items():
            found = plain(name, columns[name][row].as_py())
            assert found == (sorted(value) if name == "properties" else value), name


_odd_texts = st.one_of(
    st.lists(
        st.sampled_from(["KEYS", "TAGS", "UNIQ_KEY", "a", "k1", " ", "  k2 ", "\x01", "\x02", "ключ"]), max_size=9
    )
    .map("".join)
    .map(str.encode),
    st.sampled_from([b"a\x01b\x02" * 70, b"TAGS\x01\xff", b"KEYS\x01  \x02TAGS\x01A\x02TAGS\x01B"]),
)  # fmt: skip


@pytest.mark.skipif(native is None, reason="there are no compiled functions to compare")
@given(st.lists(st.tuples(_records, _odd_texts), min_size=1, max_size=12), st.sampled_from(list(MADE_OF)), st.data())
def test_what_a_check_makes_in_its_pass_is_what_is_made_of_spans(
    records: list[tuple[dict[str, Any], bytes]], name: str, data: st.DataObject
) -> None:
    """Also of texts that are no UTF-8, and of logs with a damaged byte: then it makes nothing, or the same."""
    log = bytearray(log_of([words | {"properties": text} for words, text in records]))
    places = find_records(bytes(log))
    if data.draw(st.booleans()):
        log[data.draw(st.integers(0, len(log) - 1))] ^= 1
    plain, made = (Records(np.frombuffer(bytes(log), np.uint8), places) for _ in range(2))
    wanted = data.draw(st.sampled_from(list(Wanted))) | MADE_OF[name] | Wanted.CHECKED_BODIES
    damage = plain._find_damage()
    assert made.find_damage(wanted=wanted).tolist() == damage.tolist()
    sound = damage == Damage.NONE
    assert made.decoded is None or sound.all()
    batches = [Batch(each.take(sound), RowOrigin("orders", "b")) for each in (plain, made)]
    columns = [batch.column(name) for batch in batches]
    columns[1].validate(full=True)
    assert columns[1].type == columns[0].type
    assert columns[1].to_pylist() == columns[0].to_pylist()
    assert batches[1].errors == batches[0].errors


def test_bodies_stay_packed_when_that_is_asked_for() -> None:
    log = log_of([{"topic": "T", "body": b"x" * 50, "properties": "", "born": "10.0.0.1", "stored": "10.0.0.1",
                   "sys_flag": flags.COMPRESSED, "version": 1}])  # fmt: skip
    packed = batch_of(log, decompress=False).column("body")[0].as_py()
    assert zlib.decompress(packed) == b"x" * 50


def test_a_topic_that_is_known_is_not_read() -> None:
    log = log_of([{"topic": "T", "body": b"", "properties": "", "born": "10.0.0.1", "stored": "10.0.0.1",
                   "sys_flag": 0, "version": 1}])  # fmt: skip
    assert batch_of(log, topic="orders").column("topic").to_pylist() == ["orders"]


@pytest.mark.parametrize("name", ["properties", "tag", "keys"])
def test_properties_that_are_no_utf_8_are_repaired_and_the_row_is_marked(name: str) -> None:
    sound = {"topic": "T", "body": b"", "properties": "TAGS\x01A", "born": "10.0.0.1", "stored": "10.0.0.1",
             "sys_flag": 0, "version": 1}  # fmt: skip
    log = bytearray(log_of([sound, sound]))
    log[-1:] = b"\xff"
    batch = batch_of(bytes(log))
    batch.column(name).validate(full=True)
    assert batch.column("tag").to_pylist() == ["A", "\ufffd"]
    assert list(batch.errors) == [1]


def test_a_body_that_does_not_unpack_is_null_and_the_row_is_marked() -> None:
    words = {"topic": "T", "body": b"x" * 50, "properties": "", "born": "10.0.0.1", "stored": "10.0.0.1",
             "sys_flag": flags.COMPRESSED, "version": 1}  # fmt: skip
    log = bytearray(log_of([words]))
    log[90:94] = b"\0\0\0\0"
    batch = batch_of(bytes(log))
    assert batch.column("body").to_pylist() == [None]
    assert list(batch.errors) == [0]
