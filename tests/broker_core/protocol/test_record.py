"""Stored messages as bytes: captured ones in both directions, then generated ones."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.protocol import record
from broker_core.protocol.compression import compress
from broker_core.protocol.errors import MalformedRecord
from broker_core.protocol.host import encode_host
from broker_core.protocol.properties import format_properties
from broker_core.protocol.record import (
    body_is_sound,
    compressed_bytes,
    crc_of,
    decode_many,
    decode_one,
    encode,
    encode_blank,
    encode_topic,
    read_head,
    size_and_magic,
    size_of,
)
from broker_core.protocol.sys_flag import COMPRESSED

# As Apache RocketMQ 4.9 writes it: a message with tag and key.
ORDERS = bytes.fromhex(
    "00000074 daa320a7 58932aac 00000003 00000000 0000000000000029 0000000000001000 00000000"
    "0000018bcfe56800 0a000009 0000c822 0000018bcfe5687b 0a000005 00002a9f 00000000 0000000000000000"
    "00000002 6869 06 4f7264657273 0011 544147530154616741024b455953016b31"
)
# store/README.md#worked-record
HELLO = bytes.fromhex(
    "000000b0 daa320a7 69c865ed 00000000 00000000 0000000000000000 0000000000000000 00000000"
    "0000018bcfe56800 0a000001 00001388 0000018bcfe56805 0a000002 00002a9f 00000000 0000000000000000"
    "0000000e 48656c6c6f20526f636b65744d51 09 546f70696354657374"
    "003e 4b455953014b31204b3202 554e49515f4b455901304130303030303130303030313842344141433230303030303030303030303002"
    "544147530154616741"
)
ORIGIN = record.MessageOrigin(
    1700000000000, encode_host("10.0.0.9", 51234), 1700000000123, encode_host("10.0.0.5", 10911)
)


def encoded(
    body: bytes = b"hi",
    *,
    topic: str = "Orders",
    properties: str = "TAGS\x01TagA\x02KEYS\x01k1",
    origin: record.MessageOrigin = ORIGIN,
    queue_offset: int = 41,
    log_offset: int = 4096,
    sys_flag: int = 0,
    flag: int = 0,
) -> bytes:
    name, text = encode_topic(topic), properties.encode()
    size = size_of(name, body, text, origin)
    data = encode(name, body, text, origin, size, 3, queue_offset, log_offset, sys_flag, flag)
    assert len(data) == size
    return data


def as_v2(data: bytes, topic_at: int) -> bytes:
    """Return a V1 record in the format of RocketMQ 5 for long topic names: a topic length of two bytes."""
    widened = data[:topic_at] + b"\x00" + data[topic_at:]
    return len(widened).to_bytes(4, "big") + bytes.fromhex("DAA320AB") + widened[8:]


def test_how_much_of_an_answer_is_compressed_is_told_without_reading_it() -> None:
    packed = encoded(b"x" * 500, sys_flag=COMPRESSED)
    assert compressed_bytes(encoded() + packed + encoded() + packed) == 2 * len(packed)
    assert compressed_bytes(packed + encode_blank(4096)) == len(packed)
    for damaged in (b"", bytes(200), packed[:50], b"\xff" * 200):
        assert compressed_bytes(damaged) == 0


def test_a_captured_record_goes_both_ways() -> None:
    assert encoded() == ORDERS
    message = decode_one(ORDERS)
    assert (message.topic, message.body, message.queue_id, message.queue_offset) == ("Orders", b"hi", 3, 41)
    assert (message.log_offset, message.store_size, message.body_crc) == (4096, 116, 1486039724)
    assert (message.born_host, message.store_host) == ("10.0.0.9:51234", "10.0.0.5:10911")
    assert (message.born_timestamp, message.store_timestamp) == (1700000000000, 1700000000123)
    assert message.properties == {"TAGS": "TagA", "KEYS": "k1"}
    assert message.offset_id == "0A00000500002A9F0000000000001000"


def test_the_record_that_the_real_store_accepted_decodes() -> None:
    assert len(HELLO) == 176
    message = decode_one(HELLO)
    assert (message.topic, message.body) == ("TopicTest", b"Hello RocketMQ")
    assert message.properties == {
        "KEYS": "K1 K2",
        "UNIQ_KEY": "0A000001000018B4AAC2000000000000",
        "TAGS": "TagA",
    }
    assert body_is_sound(HELLO, read_head(HELLO))


@pytest.mark.parametrize(
    ("body", "crc"),
    [(b"", 0), (b"123456789", 0x4BF43926), (b"Hello RocketMQ", 0x69C865ED), (b"hi", 1486039724), (b"hello", 907060870)],
)
def test_checksums_have_31_bits(body: bytes, crc: int) -> None:
    assert crc_of(body) == crc


def test_the_smallest_record_has_92_bytes() -> None:
    assert len(encoded(b"", topic="T", properties="")) == 92


@pytest.mark.parametrize(
    ("born", "stored", "bits", "fixed"),
    [
        ("10.0.0.1", "10.0.0.2", 0, 91),
        ("fe80::1", "10.0.0.2", 0x10, 103),
        ("10.0.0.1", "::1", 0x20, 103),
        ("fe80::1", "::1", 0x30, 115),
    ],
)
def test_hosts_set_their_bits_and_move_the_rest(born: str, stored: str, bits: int, fixed: int) -> None:
    origin = record.MessageOrigin(1, encode_host(born, 7), 2, encode_host(stored, 10911), 5, 6)
    data = encoded(b"", topic="T", properties="", origin=origin, sys_flag=0x30 ^ bits | 0x8)
    assert len(data) == fixed + 1
    message = decode_one(data)
    assert message.sys_flag == bits | 0x8
    assert (message.born_timestamp, message.store_timestamp) == (1, 2)
    assert (message.reconsume_times, message.prepared_transaction_offset) == (5, 6)
    assert message.born_host.rpartition(":")[0].strip("[]") == born
    assert message.store_host.rpartition(":")[0].strip("[]") == stored


def test_a_v2_record_has_a_topic_length_of_two_bytes() -> None:
    message = decode_one(as_v2(ORDERS, topic_at=90))
    assert (message.topic, message.properties) == ("Orders", {"TAGS": "TagA", "KEYS": "k1"})


def test_records_back_to_back_come_out_in_order() -> None:
    assert [message.log_offset for message in decode_many(ORDERS + HELLO)] == [4096, 0]
    assert decode_many(b"") == []


@pytest.mark.parametrize("length", range(len(ORDERS)))
def test_a_record_cut_anywhere_is_refused(length: int) -> None:
    with pytest.raises(MalformedRecord):
        decode_one(ORDERS[:length])
    if length:
        with pytest.raises(MalformedRecord):
            decode_many(ORDERS + ORDERS[:length])


@pytest.mark.parametrize(
    ("at", "value"),
    [(0, "00000073"), (0, "0000005a"), (0, "80000000"), (4, "daa320a8"), (4, "cbd43194"), (84, "ffffffff"),
     (84, "00000003"), (84, "7fffffff"), (90, "07"), (90, "ff"), (97, "ffff"), (97, "0010"), (97, "7fff")],
)  # fmt: skip
def test_lengths_and_magic_that_do_not_fit_are_refused(at: int, value: str) -> None:
    patch = bytes.fromhex(value)
    with pytest.raises(MalformedRecord):
        read_head(ORDERS[:at] + patch + ORDERS[at + len(patch) :] + bytes(64))


def test_a_changed_body_is_noticed_by_its_checksum() -> None:
    assert not body_is_sound(HELLO.replace(b"Hello", b"Jello"), read_head(HELLO))


def test_a_compressed_body_is_unpacked_unless_the_reader_wants_it_as_stored() -> None:
    packed = compress(b"z" * 6000, 0x301)
    data = encoded(packed, sys_flag=0x301)
    assert decode_one(data).body == b"z" * 6000
    assert decode_one(data, decompress=False).body == packed


@pytest.mark.parametrize(
    ("body", "sys_flag", "reason"),
    [
        (b"hello", 0x1, "does not unpack"),
        (compress(b"z" * 6000, 0x1)[:-3], 0x1, "ends too early"),
        (b"hello", 0x401, "compressor 4 is not defined"),
    ],
)
def test_a_body_that_does_not_unpack_is_marked_and_its_neighbours_are_read(
    body: bytes, sys_flag: int, reason: str
) -> None:
    damaged = encoded(body, sys_flag=sys_flag)

    before, found, after = decode_many(HELLO + damaged + HELLO)

    assert (found.body, found.sys_flag & 0x701) == (body, sys_flag)
    assert found.damage is not None
    assert reason in found.damage
    assert (before.body, before.damage, after) == (b"Hello RocketMQ", None, before)
    assert decode_one(damaged, decompress=False).damage is None


def test_the_blank_at_the_end_of_a_segment_states_what_is_left() -> None:
    assert encode_blank(1082).hex() == "0000043acbd43194"
    assert size_and_magic(encode_blank(1082), 0) == (1082, record.MAGIC_BLANK)


def test_a_topic_beyond_its_length_byte_is_refused() -> None:
    with pytest.raises(MalformedRecord):
        encode_topic("t" * 128)


_ints = st.integers(-(1 << 31), (1 << 31) - 1)
_longs = st.integers(-(1 << 63), (1 << 63) - 1)
_hosts = st.builds(lambda ip, port: encode_host(str(ip), port), st.ip_addresses(), st.integers(0, 65535))


@given(
    body=st.binary(max_size=300),
    topic=st.text("abcXYZ0129_-%|", min_size=1, max_size=127),
    properties=st.dictionaries(st.text("abc订", min_size=1), st.text("xyz单", min_size=1), max_size=5),
    origin=st.builds(record.MessageOrigin, _longs, _hosts, _longs, _hosts, _ints, _longs),
    queue_offset=_longs,
    log_offset=_longs,
    sys_flag=st.sampled_from([0, 2, 4, 8, 12, 0x30]),
    flag=_ints,
    before=st.binary(max_size=20),
)
def test_any_record_comes_back(
    body: bytes,
    topic: str,
    properties: dict[str, str],
    origin: record.MessageOrigin,
    queue_offset: int,
    log_offset: int,
    sys_flag: int,
    flag: int,
    before: bytes,
) -> None:
    data = encoded(
        body,
        topic=topic,
        properties=format_properties(properties),
        origin=origin,
        queue_offset=queue_offset,
        log_offset=log_offset,
        sys_flag=sys_flag,
        flag=flag,
    )
    for buffer in (before + data, bytearray(before + data), memoryview(before + data)):
        message = decode_one(buffer, len(before))
        assert (message.topic, message.body, message.properties) == (topic, body, properties)
        assert (message.born_timestamp, message.store_timestamp) == (origin.born_timestamp, origin.store_timestamp)
        assert (message.reconsume_times, message.prepared_transaction_offset) == origin[4:]
        assert (message.queue_offset, message.log_offset, message.flag) == (queue_offset, log_offset, flag)
        assert message.sys_flag & 0xF == sys_flag & 0xF
        assert (message.body_crc, message.store_size) == (crc_of(body), len(data))


@given(st.binary(max_size=200))
def test_no_bytes_whatever_do_more_than_be_refused(data: bytes) -> None:
    for candidate in (data, ORDERS[:40] + data, ORDERS[:-20] + data):
        try:
            head = read_head(candidate)
        except MalformedRecord:
            continue
        assert head.size <= len(candidate)
