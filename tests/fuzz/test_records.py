"""Records, batches, properties, ids, hosts, compressed bodies: damaged ones raise the right error."""

from __future__ import annotations

import struct
import zlib
from random import Random
from typing import Final

import lz4.frame
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.protocol import record, sys_flag
from broker_core.protocol.batch import decode_batch, encode_batch
from broker_core.protocol.compression import MAX_UNPACKED_BYTES, compress, decompress
from broker_core.protocol.errors import (
    MalformedBatch,
    MalformedCompression,
    MalformedHost,
    MalformedMessageId,
    MalformedProperties,
    MalformedRecord,
    MessageError,
)
from broker_core.protocol.host import encode_host, parse_host
from broker_core.protocol.message_id import born_time_of_unique_id, format_offset_id, parse_offset_id
from broker_core.protocol.properties import (
    check_properties,
    format_properties,
    join_keys,
    parse_properties,
    split_keys,
)
from tests.fuzz import samples
from tests.fuzz.cases import run_cases
from tests.fuzz.mutations import mutate, mutate_text

HOSTS: Final = (encode_host("10.0.0.1", 5000), encode_host("fe80::1", 10911))
PACKED: Final = (0, sys_flag.COMPRESSOR_ZLIB, sys_flag.COMPRESSOR_LZ4, sys_flag.COMPRESSOR_ZSTD)


def v1(random: Random) -> bytes:
    """Return a record as the store writes it, sometimes with a compressed body."""
    message = samples.message(random)
    flag, body = 0, message.body
    if random.random() < 0.3:
        flag = sys_flag.COMPRESSED | random.choice(PACKED)
        body = compress(body, flag)
    topic, properties = record.encode_topic(message.topic), format_properties(message.properties).encode()
    origin = record.MessageOrigin(1, random.choice(HOSTS), 2, random.choice(HOSTS))
    size = record.size_of(topic, body, properties, origin)
    return record.encode(topic, body, properties, origin, size, 3, 17, 176, flag, message.flag)


def v2(random: Random) -> bytes:
    """Return the same with a topic length of two bytes, as Apache RocketMQ 5 writes long names."""
    data = v1(random)
    head = record.read_head(data)
    topic = data[head.topic_begin : head.topic_end] * random.choice((1, 40))
    parts = (data[: head.topic_begin - 1], struct.pack(">h", len(topic)), topic, data[head.topic_end :])
    changed = bytearray(b"".join(parts))
    struct.pack_into(">ii", changed, 0, len(changed), record.MAGIC_V2)
    return bytes(changed)


def test_damaged_records() -> None:
    def case(random: Random) -> None:
        data = mutate(random, random.choice((v1, v2))(random), [v1(random)])
        message = record.decode_one(data)
        assert message.store_size <= len(data)
        record.body_is_sound(data, record.read_head(data))
        assert len(message.keys) <= len(data)
        message.offset_id, message.message_id, message.tag  # noqa: B018 - that they can be asked for is the point

    run_cases(25_000, case, named=MessageError)


def test_damaged_rows_of_records() -> None:
    def case(random: Random) -> None:
        row = b"".join(random.choice((v1, v2))(random) for _ in range(random.randrange(1, 4)))
        found = record.decode_many(mutate(random, row), decompress=False)
        assert len(found) <= len(row)

    run_cases(8_000, case, named=MessageError)


def test_records_of_both_forms_are_read() -> None:
    def case(random: Random) -> None:
        assert record.decode_one(v1(random)).topic == "orders"
        assert record.decode_one(v2(random)).topic.startswith("orders")

    run_cases(500, case, named=())


def test_damaged_batches() -> None:
    def case(random: Random) -> None:
        body = encode_batch(samples.message(random) for _ in range(random.randrange(1, 4)))
        entries = decode_batch(mutate(random, body))
        assert sum(len(entry.body) for entry in entries) <= 4 * len(body) + 8192

    run_cases(12_000, case, named=MalformedBatch)


def test_damaged_properties() -> None:
    def case(random: Random) -> None:
        pairs = parse_properties(mutate_text(random, samples.property_text(random)))
        assert all(name and value for name, value in pairs.items())
        assert parse_properties(format_properties(pairs)) == pairs
        check_properties(pairs)
        join_keys(split_keys(pairs.get("KEYS")))

    run_cases(12_000, case, named=MalformedProperties)


@given(st.dictionaries(st.text(max_size=6), st.text(max_size=6), max_size=4))
@settings(max_examples=300)
def test_properties_survive_or_are_refused(pairs: dict[str, str]) -> None:
    try:
        check_properties(pairs)
    except MalformedProperties:
        return
    assert parse_properties(format_properties(pairs)) == pairs


def test_damaged_ids_and_hosts() -> None:
    def case(random: Random) -> None:
        offset_id = mutate_text(random, format_offset_id(random.choice(HOSTS), 4711))
        which = random.randrange(3)
        if which == 0:
            assert parse_offset_id(offset_id).log_offset >= 0
        elif which == 1:
            born_time_of_unique_id(offset_id, 1_700_000_000_000)
        else:
            encode_host(*parse_host(mutate_text(random, random.choice(("10.0.0.1:5000", "[fe80::1%eth0]:10911")))))

    run_cases(10_000, case, named=(MalformedMessageId, MalformedHost))


def test_damaged_packed_bodies() -> None:
    def case(random: Random) -> None:
        flag = sys_flag.COMPRESSED | random.choice(PACKED)
        packed = mutate(random, compress(random.choice((b"x" * 3000, random.randbytes(200))), flag))
        assert len(decompress(packed, flag, max_bytes=1 << 20)) <= 1 << 20

    run_cases(6_000, case, named=MalformedCompression)


BOMB: Final = bytes(4 * MAX_UNPACKED_BYTES)


@pytest.mark.parametrize(
    ("flag", "pack"),
    [
        (sys_flag.COMPRESSOR_ZLIB, lambda data: zlib.compress(data, 9)),
        (sys_flag.COMPRESSOR_LZ4, lz4.frame.compress),
        (sys_flag.COMPRESSOR_ZSTD, zstandard.ZstdCompressor().compress),
        (sys_flag.COMPRESSOR_ZSTD, lambda data: zstandard.ZstdCompressor(write_content_size=False).compress(data)),
    ],
)  # fmt: skip
def test_a_small_body_that_unpacks_to_too_much_is_refused(flag: int, pack: object) -> None:
    assert callable(pack)
    packed = pack(BOMB)

    def case(_: Random) -> None:
        with pytest.raises(MalformedCompression):
            decompress(packed, sys_flag.COMPRESSED | flag)

    assert len(packed) < len(BOMB) // 100
    run_cases(1, case, named=())


def test_a_record_whose_body_is_a_bomb_is_damaged_and_not_unpacked() -> None:
    body = zlib.compress(BOMB, 9)
    origin = record.MessageOrigin(1, HOSTS[0], 2, HOSTS[0])
    topic = record.encode_topic("orders")
    size = record.size_of(topic, body, b"", origin)
    data = record.encode(topic, body, b"", origin, size, 0, 0, 0, sys_flag.COMPRESSED)
    message = record.decode_one(data)
    assert message.body == body
    assert message.damage is not None
    with pytest.raises(MalformedRecord):
        record.decode_one(data[:-1])
