"""Records as columns, compared with the same records decoded one by one."""

from __future__ import annotations

from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.protocol.host import encode_host
from broker_core.protocol.record import MessageOrigin, decode_many, encode, encode_topic, read_head, size_of
from broker_core.store import columns as columns_module
from broker_core.store.columns import UNIT, Damage, Records, Span, Wanted, find_records
from broker_core.store.reader import StoreReader
from tests.support.stores import fill, opened, small

_hosts: Any = st.sampled_from(["10.0.0.1", "fe80::1", "192.168.255.255"])
_records: Any = st.fixed_dictionaries(
    {
        "topic": st.sampled_from(["T", "orders", "t" * 127]),
        "body": st.binary(max_size=80),
        "properties": st.sampled_from([b"", b"TAGS\x01TagA", b"KEYS\x01k1 k2\x02TAGS\x01x"]),
        "born": _hosts,
        "stored": _hosts,
        "flag": st.integers(-5, 5),
        "version": st.sampled_from([1, 1, 2]),
    }
)


def encoded(words: dict[str, Any], queue_offset: int, log_offset: int) -> bytes:
    topic = encode_topic(words["topic"])
    origin = MessageOrigin(111, encode_host(words["born"], 1), 222, encode_host(words["stored"], 2), 3, 4)
    size = size_of(topic, words["body"], words["properties"], origin)
    data = encode(
        topic, words["body"], words["properties"], origin, size, 7, queue_offset, log_offset, 0, words["flag"]
    )
    if words["version"] == 1:
        return data
    at = read_head(data).topic_begin - 1
    return (len(data) + 1).to_bytes(4, "big") + bytes.fromhex("DAA320AB") + data[8:at] + b"\0" + data[at:]


def log_of(records: list[dict[str, Any]]) -> bytes:
    log = b""
    for number, words in enumerate(records):
        log += encoded(words, number, len(log))
    return log


def cut(data: bytes, span: Span) -> list[bytes]:
    return [data[start : start + length] for start, length in zip(span.start, span.length, strict=True)]


@given(st.lists(_records, max_size=20))
def test_columns_say_what_the_records_say(records: list[dict[str, Any]]) -> None:
    log = log_of(records)
    data = np.frombuffer(log, np.uint8)
    columns = Records(data, find_records(log))
    heads = [read_head(log, position) for position in columns.positions.tolist()]
    assert len(columns) == len(records)
    if not records:
        return
    assert not columns.find_damage(log_offsets=columns.positions).any()
    for name, field in (
        ("total_size", "size"),
        ("body_crc", "body_crc"),
        ("queue_id", "queue_id"),
        ("flag", "flag"),
        ("queue_offset", "queue_offset"),
        ("log_offset", "log_offset"),
        ("sys_flag", "sys_flag"),
        ("born_timestamp", "born_timestamp"),
        ("store_timestamp", "store_timestamp"),
        ("reconsume_times", "reconsume_times"),
        ("prepared_offset", "prepared_transaction_offset"),
        ("body_length", "body_length"),
    ):
        assert columns.column(name).tolist() == [getattr(head, field) for head in heads]
    assert cut(log, columns.body) == [words["body"] for words in records]
    assert cut(log, columns.topic) == [words["topic"].encode() for words in records]
    assert cut(log, columns.properties) == [words["properties"] for words in records]
    assert cut(log, columns.born_host) == [encode_host(words["born"], 1) for words in records]
    assert cut(log, columns.store_host) == [encode_host(words["stored"], 2) for words in records]


@settings(max_examples=200)
@given(st.lists(_records, min_size=1, max_size=5), st.data())
def test_any_damage_is_found_before_a_column_is_read(records: list[dict[str, Any]], data: st.DataObject) -> None:
    log = bytearray(log_of(records))
    positions = find_records(bytes(log))
    at = data.draw(st.integers(0, len(log) - 1))
    log[at] ^= data.draw(st.integers(1, 255))
    columns = Records(np.frombuffer(bytes(log), np.uint8), positions)
    damage = columns.find_damage()
    sound = columns.take(damage == Damage.NONE)
    messages = [decode_many(bytes(log[start : start + size]), decompress=False)[0] for start, size in _spans(sound)]
    assert cut(bytes(log), sound.body) == [message.body for message in messages]
    assert sound.column("queue_offset").tolist() == [message.queue_offset for message in messages]


@settings(max_examples=200)
@given(st.lists(_records, min_size=1, max_size=5), st.data())
def test_the_compiled_check_says_what_the_one_in_python_says(
    records: list[dict[str, Any]], data: st.DataObject
) -> None:
    """Also of a log that is cut off, of bytes that are anything, and of a queue that says something else."""
    log = bytearray(log_of(records))
    positions = find_records(bytes(log))
    for _ in range(data.draw(st.integers(0, 3))):
        log[data.draw(st.integers(0, len(log) - 1))] = data.draw(st.sampled_from([0, 1, 0x10, 0x7F, 0x80, 0xFF]))
    content = bytes(log[: data.draw(st.integers(0, len(log)))] if data.draw(st.booleans()) else log)
    told = positions + data.draw(st.integers(-1, 1)) * data.draw(st.booleans())
    asked: dict[str, Any] = {"of_queue": data.draw(st.sampled_from([None, (b"orders", 7), (b"T", 7), (b"T", 8)]))}
    asked["wanted"] = data.draw(st.sampled_from(Wanted))
    compiled, plain = (Records(np.frombuffer(content, np.uint8), positions) for _ in range(2))
    damage = compiled.find_damage(None, told, None, **asked)
    assert damage.tolist() == plain._find_damage(None, told, None, **asked).tolist()
    sound = damage == Damage.NONE
    for one, other in ((compiled.take(sound), plain.take(sound)), (compiled.part(0, 0), plain.part(0, 0))):
        for name in ("total_size", "sys_flag", "store_timestamp", "prepared_offset", "body_length"):
            assert one.column(name).tolist() == other.column(name).tolist()


def _spans(records: Records) -> list[tuple[int, int]]:
    return list(zip(records.positions.tolist(), records.column("total_size").tolist(), strict=True))


def test_what_the_queue_says_is_compared_with_the_records() -> None:
    words = {
        "topic": "T",
        "body": b"x",
        "properties": b"",
        "born": "10.0.0.1",
        "stored": "10.0.0.1",
        "flag": 0,
        "version": 1,
    }
    log = log_of([words] * 3)
    columns = Records(np.frombuffer(log, np.uint8), find_records(log))
    sizes = np.array([93, 93, 94])
    assert columns.find_damage(sizes=sizes).tolist() == [Damage.NONE, Damage.NONE, Damage.SIZE]
    assert columns.find_damage(queue_offsets=np.array([0, 5, 2])).tolist() == [Damage.NONE, Damage.PLACE, Damage.NONE]
    beyond = Records(np.frombuffer(log, np.uint8), np.array([0, len(log) - 50, len(log) + 5]))
    assert beyond.find_damage().tolist() == [Damage.NONE, Damage.OUTSIDE, Damage.OUTSIDE]


def test_units_of_a_queue_lead_to_the_records(tmp_path: Path) -> None:
    with opened(tmp_path, commit_log_file_size=1 << 16) as store:
        fill(store, 30)
    with StoreReader.open(tmp_path, small(tmp_path)) as reader:
        units = np.concatenate([np.frombuffer(part, UNIT) for part in reader.units("T", 0, 0, 30)])
        view = reader.view_segment(0)
        assert view is not None
        columns = Records(np.frombuffer(view, np.uint8), units["log_offset"].astype(np.int64))
        assert not columns.find_damage(units["size"].astype(np.int64), columns.positions, np.arange(30)).any()
        assert cut(bytes(view), columns.body) == [b"%d" % number for number in range(30)]
        del view, columns, units


@given(st.lists(st.lists(_records, max_size=4), min_size=1, max_size=4), st.data())
def test_records_of_joined_answers_are_found_compiled_as_in_python(
    answers: list[list[dict[str, Any]]], data: st.DataObject
) -> None:
    """Also where an answer is damaged or cut off: that does not affect the next one."""
    logs = [bytearray(log_of(records)) for records in answers]
    for log in logs:
        if log and data.draw(st.booleans()):
            log[data.draw(st.integers(0, len(log) - 1))] = data.draw(st.sampled_from([0, 1, 0x7F, 0x80, 0xFF]))
            del log[data.draw(st.integers(0, len(log))) :]
    begins = [0, *accumulate(map(len, logs[:-1]))]
    joined = b"".join(logs)
    found = find_records(joined, begins).tolist()
    apart = [place + begin for log, begin in zip(logs, begins, strict=True) for place in find_records(bytes(log))]
    assert found == apart
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(columns_module, "native", None)
        assert find_records(joined, begins).tolist() == found


def test_walking_ends_where_no_record_is() -> None:
    assert find_records(b"").tolist() == []
    assert find_records(bytes(200)).tolist() == []


@pytest.mark.parametrize("length", [0, 50, 90])
def test_data_shorter_than_a_record_holds_none(length: int) -> None:
    columns = Records(np.zeros(length, np.uint8), np.array([0]))
    assert columns.find_damage().tolist() == [Damage.OUTSIDE]
