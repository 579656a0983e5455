"""The body of a registration, in both forms."""

from __future__ import annotations

import struct
import zlib
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.protocol import bodies
from broker_core.protocol.bodies.registration import checksum, decode_registration
from broker_core.protocol.errors import MalformedBody

TOPICS = bodies.TopicConfigSerializeWrapper(
    bodies.DataVersion(3, 1700000000000), {"Orders": bodies.TopicConfig("Orders", 4, 8, 6)}
)
BODY = bodies.RegisterBrokerBody(TOPICS)


def text(data: bytes) -> bytes:
    return struct.pack(">i", len(data)) + data


VERSION = text(b'{"counter":3,"timestamp":1700000000000}')
ORDERS = text(b"Orders 4 8 6 SINGLE_TAG")


def test_both_forms_say_the_same() -> None:
    packed = zlib.compress(VERSION + struct.pack(">i", 1) + ORDERS + text(b"[]"), 9)
    assert decode_registration(packed, compressed=True) == BODY
    assert decode_registration(bodies.encode(BODY), compressed=False) == BODY


def test_a_broker_without_topics_sends_no_body() -> None:
    assert decode_registration(b"", compressed=False) == bodies.RegisterBrokerBody()


def test_the_checksum_has_31_bits() -> None:
    assert (checksum(b"hi"), checksum(b"hello")) == (1486039724, 907060870)  # 10.3


@pytest.mark.parametrize(
    "plain",
    [
        b"",
        VERSION,
        VERSION + struct.pack(">i", 2) + ORDERS,
        VERSION + struct.pack(">i", 2**31 - 1),
        VERSION + struct.pack(">i", 1) + text(b"Orders 4 8 6"),
        VERSION + struct.pack(">i", 1) + text(b"Orders x 8 6 SINGLE_TAG"),
        VERSION + struct.pack(">i", 1) + text(b"\xff 4 8 6 SINGLE_TAG"),
        VERSION + struct.pack(">i", 0) + text(b"7"),
        VERSION + struct.pack(">i", 0) + text(b"{"),
        text(b"[]"),
        struct.pack(">i", -1),
    ],
)
def test_what_is_cut_or_wrong_is_refused(plain: bytes) -> None:
    with pytest.raises(MalformedBody):
        decode_registration(zlib.compress(plain), compressed=True)


def test_a_small_body_cannot_unpack_to_more_than_the_limit() -> None:
    with pytest.raises(MalformedBody):
        decode_registration(zlib.compress(bytes(70 * 1024 * 1024), 9), compressed=True)


@given(st.binary(max_size=60), st.booleans())
def test_no_bytes_crash_it(data: bytes, packed: bool) -> None:
    with suppress(MalformedBody):
        decode_registration(zlib.compress(data) if packed else data, compressed=True)
