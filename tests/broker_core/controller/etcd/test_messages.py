"""What the gateway is asked and answers."""

from __future__ import annotations

from base64 import b64decode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.controller.etcd import messages
from broker_core.controller.etcd.messages import KeyValue, Mark

ANY_BYTES = st.binary(max_size=64)


@given(ANY_BYTES)
def test_texts_survive_whatever_their_bytes(raw: bytes) -> None:
    text = raw.decode(errors="surrogateescape")
    assert b64decode(messages.packed(text)) == raw
    assert messages.unpacked(messages.packed(text)) == text


@given(st.text(max_size=20), st.text(max_size=20))
def test_the_end_of_a_prefix_is_behind_its_keys_and_before_others(prefix: str, more: str) -> None:
    folder = f"{prefix}/"
    end = b64decode(messages.end_of(folder))
    assert folder.encode(errors="surrogateescape") <= f"{folder}{more}".encode(errors="surrogateescape") < end
    assert not f"{prefix}0{more}".encode(errors="surrogateescape") < end


def test_what_is_left_out_is_zero_or_empty() -> None:
    assert messages.key_value({"key": "YQ=="}) == KeyValue("a", "", Mark(0, 0), 0)
    assert messages.revision_of({}) == 0
    assert messages.key_values({}) == []


def test_numbers_come_as_texts() -> None:
    pair = {"key": "YQ==", "value": "Yg==", "mod_revision": "9007199254740993", "create_revision": "2", "lease": "7"}
    assert messages.key_value(pair) == KeyValue("a", "b", Mark(9007199254740993, 2), 7)


def test_what_a_transaction_read_is_none_where_there_is_nothing() -> None:
    answer = {"responses": [{"response_range": {"header": {}}}, {"response_range": {"kvs": [{"key": "YQ=="}]}}]}
    assert messages.ranges_of(answer) == [None, KeyValue("a", "", Mark(0, 0), 0)]


def test_what_is_no_base64_is_an_error() -> None:
    with pytest.raises(ValueError, match="base64"):
        messages.unpacked("?")
