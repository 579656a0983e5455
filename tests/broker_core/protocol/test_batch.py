"""Many messages in one body."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.protocol.batch import BatchEntry, decode_batch, encode_batch
from broker_core.protocol.errors import MalformedBatch, MalformedProperties
from broker_core.protocol.message import Message
from broker_core.protocol.properties import parse_properties

ONE = bytes.fromhex("0000001e 00000000 00000000 00000000 00000002 6231 0006 544147530178")


def test_one_entry_goes_both_ways() -> None:
    assert encode_batch([Message("any", b"b1", {"TAGS": "x"})]) == ONE
    assert decode_batch(ONE) == [BatchEntry(0, b"b1", "TAGS\x01x")]


def test_size_magic_and_checksum_of_an_entry_are_not_looked_at() -> None:
    assert decode_batch(b"\xff" * 12 + ONE[12:]) == decode_batch(ONE)


@pytest.mark.parametrize("length", range(len(ONE)))
def test_a_batch_cut_anywhere_is_refused(length: int) -> None:
    with pytest.raises(MalformedBatch):
        decode_batch(ONE[:length])
    if length:
        with pytest.raises(MalformedBatch):
            decode_batch(ONE + ONE[:length])


@pytest.mark.parametrize(
    "data",
    [
        ONE[:16] + b"\xff\xff\xff\xff" + ONE[20:],
        ONE[:16] + b"\x7f\xff\xff\xff" + ONE[20:],
        ONE[:22] + b"\xff\xff" + ONE[24:],
        ONE[:22] + b"\x7f\xff" + ONE[24:],
        ONE[:24] + b"\xff" * 6,
    ],
)
def test_lengths_that_do_not_fit_and_text_that_is_none_are_refused(data: bytes) -> None:
    with pytest.raises(MalformedBatch):
        decode_batch(data)


def test_properties_beyond_the_length_field_are_refused() -> None:
    with pytest.raises(MalformedProperties):
        encode_batch([Message("any", b"", {"a": "b" * 40_000})])


_messages = st.builds(
    Message,
    st.just("any"),
    st.binary(max_size=200),
    st.dictionaries(st.sampled_from(["TAGS", "KEYS", "x"]), st.text("abc订", min_size=1, max_size=10)),
    st.integers(-(1 << 31), (1 << 31) - 1),
)


@given(st.lists(_messages, min_size=1, max_size=10))
def test_any_batch_comes_back(messages: list[Message]) -> None:
    entries = decode_batch(encode_batch(messages))
    assert [(entry.flag, entry.body) for entry in entries] == [(message.flag, message.body) for message in messages]
    assert [parse_properties(entry.properties) for entry in entries] == [message.properties for message in messages]
