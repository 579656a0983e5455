"""Checking that a record is the message that a queue names."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from broker_core.protocol.host import encode_host
from broker_core.protocol.record import MessageOrigin, encode, encode_topic, size_of
from broker_core.store.errors import MessageDamaged
from broker_core.store.soundness import (
    NO_RECORD,
    OTHER_MESSAGE,
    WRONG_BODY,
    DamageSeen,
    find_damage,
    find_damage_at,
)

IPV4, IPV6 = encode_host("10.0.0.1", 5000), encode_host("fe80::1", 7)
TOPIC = encode_topic("T")
LOG_OFFSET, QUEUE_ID, QUEUE_OFFSET = 4096, 3, 17
UNCOVERED = {*range(16, 20), *range(40, 48), *range(48, 64), *range(64, 84)}
"""Flag, times, hosts, times consumed and prepared offset of a record with IPv4 hosts: no checksum covers these."""


def record_of(body: bytes = b"body", properties: bytes = b"KEYS\x01k", *, born: bytes = IPV4) -> bytearray:
    origin = MessageOrigin(1, born, 2, IPV4)
    size = size_of(TOPIC, body, properties, origin)
    return bytearray(encode(TOPIC, body, properties, origin, size, QUEUE_ID, QUEUE_OFFSET, LOG_OFFSET))


def damage_of(record: bytearray, topic: bytes = TOPIC) -> str | None:
    return find_damage(memoryview(record), LOG_OFFSET, topic, QUEUE_ID, QUEUE_OFFSET)


def test_nothing_is_wrong_with_an_intact_record() -> None:
    for record in (record_of(), record_of(b""), record_of(properties=b""), record_of(born=IPV6)):
        assert damage_of(record) is None


def test_each_kind_of_damage_has_its_words() -> None:
    record = record_of()
    record[88] ^= 1
    assert damage_of(record) == WRONG_BODY
    assert str(damage_of(record_of(), encode_topic("Other"))).startswith(OTHER_MESSAGE)
    record = record_of()
    record[4] ^= 1
    assert str(damage_of(record)).startswith(NO_RECORD)
    assert find_damage_at(memoryview(record_of()), LOG_OFFSET + 1) == f"it states log offset {LOG_OFFSET}"


def test_a_light_queue_names_records_of_other_topics() -> None:
    assert damage_of(record_of(), b"") is None


@given(st.data())
def test_a_change_is_found_wherever_anything_covers_it(data: st.DataObject) -> None:
    # An empty body is valid whatever its checksum.
    record = record_of(data.draw(st.binary(min_size=1, max_size=40)), properties=b"KEYS\x01k")
    at = data.draw(st.integers(0, len(record) - 1))
    record[at] ^= data.draw(st.integers(1, 255))
    text_begins = len(record) - len(b"KEYS\x01k")
    # Bits of the sys flag other than those of the hosts are not checked.
    assert damage_of(record) is not None or at in UNCOVERED or at in range(36, 40) or at >= text_begins


@given(st.binary(max_size=300))
def test_any_bytes_are_damage_and_never_more(data: bytes) -> None:
    assert damage_of(bytearray(data)) is not None


def test_each_damaged_message_is_reported_once() -> None:
    seen = DamageSeen()
    for _ in range(3):
        seen.add([MessageDamaged("T", 0, 5, number, WRONG_BODY) for number in (100, 200)])
    assert [damaged.log_offset for damaged in seen.take_new()] == [100, 200]
    assert seen.take_new() == []
    seen.add(MessageDamaged("T", 0, 5, number, WRONG_BODY) for number in range(10_000))
    assert len(seen.take_new()) == 998
