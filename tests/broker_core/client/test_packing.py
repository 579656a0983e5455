"""Converting a message to a request."""

from __future__ import annotations

import os
from typing import Any

import pytest

from broker_core.client.config import ProducerConfig
from broker_core.client.errors import MessageRefused, MessageTooLarge
from broker_core.client.packing import Packer
from broker_core.protocol import properties as names
from broker_core.protocol import sys_flag as flags
from broker_core.protocol.batch import decode_batch
from broker_core.protocol.compression import decompress
from broker_core.protocol.message import Message
from broker_core.protocol.properties import parse_properties

NOW = 1_700_000_000_000


def packer(*, max_body_bytes: int = 4 * 1024 * 1024) -> Packer:
    return Packer(ProducerConfig(max_body_bytes=max_body_bytes), ip="10.0.0.9", loader=7)


def test_a_message_gets_a_unique_id_and_stays_as_it_was() -> None:
    message = Message.create("orders", b"hi", keys=["A17"], tag="created")

    packed = packer().pack(message, now=NOW)

    assert message.unique_id is None
    sent = parse_properties(packed.properties)
    assert sent == {"KEYS": "A17", "TAGS": "created", "UNIQ_KEY": packed.message_ids[0]}
    assert (packed.topic, packed.body, packed.born_timestamp, packed.sys_flag) == ("orders", b"hi", NOW, 0)


def test_a_unique_id_that_is_there_is_kept() -> None:
    message = Message("orders", b"hi", {names.UNIQ_KEY: "MINE"})

    assert packer().pack(message, now=NOW).message_ids == ("MINE",)


def test_no_two_messages_have_the_same_id() -> None:
    pack = packer()

    ids = {pack.pack(Message("orders", b"hi"), now=NOW).message_ids[0] for _ in range(1_000)}

    assert len(ids) == 1_000


def test_a_large_body_is_compressed() -> None:
    body = b"0123456789" * 1_000

    packed = packer().pack(Message("orders", body), now=NOW)

    assert len(packed.body) < len(body)
    assert packed.sys_flag == flags.COMPRESSED | flags.COMPRESSOR_ZLIB
    assert decompress(packed.body, packed.sys_flag) == body


def test_a_body_that_does_not_shrink_goes_as_it_is() -> None:
    body = os.urandom(10_000)

    packed = packer(max_body_bytes=10_000).pack(Message("orders", body), now=NOW)

    assert (packed.body, packed.sys_flag) == (body, 0)


@pytest.mark.parametrize("body", ["text", None, 5])
def test_what_is_not_bytes_is_refused(body: Any) -> None:
    with pytest.raises(MessageRefused, match="bytes"):
        packer().pack(Message("orders", body), now=NOW)
    with pytest.raises(MessageRefused, match="bytes"):
        packer().pack_batch("orders", [Message("orders", b"hi"), Message("orders", body)], now=NOW)


def test_a_body_beyond_the_limit_is_refused() -> None:
    with pytest.raises(MessageTooLarge) as caught:
        packer(max_body_bytes=10).pack(Message("orders", b"x" * 11), now=NOW)

    assert (caught.value.size, caught.value.limit) == (11, 10)


def test_properties_that_the_wire_cannot_carry_are_refused() -> None:
    with pytest.raises(MessageRefused):
        packer().pack(Message("orders", b"hi", {"a": "b\x02c"}), now=NOW)


def test_a_half_message_is_marked() -> None:
    packed = packer().pack(Message("orders", b"hi", {names.TRAN_MSG: "true"}), now=NOW)

    assert packed.sys_flag & flags.TRANSACTION_MASK == flags.TRANSACTION_PREPARED


def test_retry_counts_go_into_the_header() -> None:
    message = Message("%RETRY%billing", b"hi", {names.RECONSUME_TIME: "3", names.MAX_RECONSUME_TIMES: "16"})

    packed = packer().pack(message, now=NOW)

    assert (packed.reconsume_times, packed.max_reconsume_times) == (3, 16)
    assert set(parse_properties(packed.properties)) == {"UNIQ_KEY"}


def test_a_batch_holds_every_message_with_an_id() -> None:
    messages = [Message.create("orders", body, keys=[f"k{index}"]) for index, body in enumerate((b"a", b"b"))]

    packed = packer().pack_batch("orders", messages, now=NOW)

    entries = decode_batch(packed.body)
    assert packed.is_batch
    assert [entry.body for entry in entries] == [b"a", b"b"]
    sent = [parse_properties(entry.properties) for entry in entries]
    assert [pairs["UNIQ_KEY"] for pairs in sent] == list(packed.message_ids)
    assert [pairs["KEYS"] for pairs in sent] == ["k0", "k1"]


@pytest.mark.parametrize(
    ("topic", "messages"),
    [
        ("orders", []),
        ("orders", [Message("orders", b"a"), Message("bills", b"b")]),
        ("%RETRY%g", [Message("%RETRY%g", b"a")]),
        ("orders", [Message.create("orders", b"a", delay_level=3)]),
        ("orders", [Message("orders", b"a", {names.TRAN_MSG: "true"})]),
        ("orders", [Message("orders", b"a"), Message("orders", b"b", {names.WAIT: "false"})]),
    ],
)
def test_what_cannot_be_a_batch_is_refused(topic: str, messages: list[Message]) -> None:
    with pytest.raises(MessageRefused):
        packer().pack_batch(topic, messages, now=NOW)


def test_a_batch_beyond_the_limit_is_refused() -> None:
    with pytest.raises(MessageTooLarge):
        packer(max_body_bytes=1_000).pack_batch("orders", [Message("orders", os.urandom(600))] * 2, now=NOW)
