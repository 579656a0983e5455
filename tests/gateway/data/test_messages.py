"""Requirements of `gateway.data.messages`."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.protocol.properties import format_properties, parse_properties
from gateway.data.messages import Draft, draft_of_entry, draft_of_raw, user_properties
from gateway.data.schemas import Entry
from gateway.limits import Sizes
from gateway.problems import ProblemError

SIZES = Sizes(message_bytes=1000, keys=3, properties_bytes=100)
TEXT = {"encoding": "text", "data": "hi"}


def draft(**entry: Any) -> Draft:
    shape = msgspec.json.decode(msgspec.json.encode({"body": TEXT, **entry}), type=Entry)
    return draft_of_entry(shape, "orders", entry_id="a", at="#/messages/0", sizes=SIZES)


def raw(*headers: tuple[str, str], body: bytes = b"hi") -> Draft:
    pairs = [(name.lower().encode(), value.encode()) for name, value in headers]
    return draft_of_raw(pairs, body, "orders", sizes=SIZES)


def test_attributes_of_an_entry_are_the_properties_that_rocketmq_knows() -> None:
    message = draft(keys=["A17", "c9"], tag="created", properties={"source": "web"}, ordering_key="c9").message
    assert (message.topic, message.body) == ("orders", b"hi")
    assert message.properties == {
        "source": "web",
        "KEYS": "A17 c9",
        "TAGS": "created",
        "CONTENT_TYPE": "text/plain",
        "__SHARDINGKEY": "c9",
    }


def test_a_raw_body_takes_its_attributes_from_headers() -> None:
    found = raw(
        ("Content-Type", "text/xml"),
        ("MQ-Key", "A17"),
        ("MQ-Key", "c9"),
        ("MQ-Tag", "created"),
        ("MQ-Ordering-Key", "c9"),
        ("MQ-Delay-Ms", "60000"),
        ("MQ-Property-Source", "wéb"),
        ("X-Other", "1"),
    )
    assert found.message.properties == {
        "source": "wéb",
        "KEYS": "A17 c9",
        "TAGS": "created",
        "CONTENT_TYPE": "text/xml",
        "__SHARDINGKEY": "c9",
        "TIMER_DELAY_MS": "60000",
    }
    assert (found.ordering_key, found.delay_ms) == ("c9", 60_000)


@pytest.mark.parametrize(
    ("entry", "name", "value"),
    [
        ({"delay_ms": 1}, "TIMER_DELAY_MS", "1"),
        ({"delay_ms": 60_000}, "TIMER_DELAY_MS", "60000"),
        ({"deliver_at": "1970-01-01T00:00:01.5Z"}, "TIMER_DELIVER_MS", "1500"),
        ({"deliver_at": "2026-05-01T08:00:00+08:00"}, "TIMER_DELIVER_MS", "1777593600000"),
        ({"deliver_at": "2026-05-01t00:00:00z"}, "TIMER_DELIVER_MS", "1777593600000"),
    ],
)
def test_a_delay_and_a_time_are_asked_for(entry: dict[str, Any], name: str, value: str) -> None:
    found = draft(**entry)
    assert (found.asks_delay, found.message.properties[name]) == (True, value)


def test_no_delay_and_a_delay_of_zero_are_the_same() -> None:
    assert not draft(delay_ms=0).asks_delay
    assert draft(delay_ms=0).message.properties == draft().message.properties


def test_headers_ask_for_a_time_too() -> None:
    assert raw(("MQ-Deliver-At", "1970-01-01T00:00:02Z")).deliver_ms == 2_000


@pytest.mark.parametrize(
    ("entry", "pointer", "code"),
    [
        ({"delay_ms": 1000, "deliver_at": "2026-05-01T08:00:00Z"}, "#/messages/0/deliver_at", "INVALID"),
        ({"deliver_at": "soon"}, "#/messages/0/deliver_at", "INVALID"),
        ({"deliver_at": "2026-05-01T08:00:00"}, "#/messages/0/deliver_at", "INVALID"),
        ({"deliver_at": "2026-W18-5T08:00:00Z"}, "#/messages/0/deliver_at", "INVALID"),
        ({"keys": ["a b"]}, "#/messages/0/keys/0", "INVALID"),
        ({"keys": ["a", "b\x01"]}, "#/messages/0/keys/1", "INVALID"),
        ({"keys": ["a", "b", "c", "d"]}, "#/messages/0/keys", "INVALID"),
        ({"tag": "a||b"}, "#/messages/0/tag", "INVALID"),
        ({"tag": " a"}, "#/messages/0/tag", "INVALID"),
        ({"tag": "*"}, "#/messages/0/tag", "INVALID"),
        ({"properties": {"TAGS": "x"}}, "#/messages/0/properties/TAGS", "INVALID"),
        ({"properties": {"GANTRY_SRC": "x"}}, "#/messages/0/properties/GANTRY_SRC", "INVALID"),
        ({"properties": {"": "x"}}, "#/messages/0/properties/", "INVALID"),
        ({"properties": {"a": ""}}, "#/messages/0/properties/a", "INVALID"),
        ({"properties": {"a": "x\x02"}}, "#/messages/0/properties/a", "INVALID"),
        ({"properties": {"a": "x" * 200}}, "#/messages/0/properties", "INVALID"),
        ({"ordering_key": "\x01"}, "#/messages/0/ordering_key", "INVALID"),
        ({"body": {"encoding": "text", "data": ""}}, "#/messages/0/body", "INVALID"),
        ({"body": {"encoding": "text", "data": "x" * 1001}}, "#/messages/0", "MESSAGE_TOO_LARGE"),
    ],
)
def test_a_fault_of_an_entry_is_told_where_it_stands(entry: dict[str, Any], pointer: str, code: str) -> None:
    with pytest.raises(ProblemError) as caught:
        draft(**entry)
    assert (caught.value.errors[0].pointer, caught.value.kind.code) == (pointer, code)


def test_an_entry_without_body_is_told_so() -> None:
    with pytest.raises(ProblemError) as caught:
        draft_of_entry(Entry(), "orders", entry_id="a", at="#", sizes=SIZES)
    assert caught.value.errors[0].pointer == "#/body"


@pytest.mark.parametrize(
    ("header", "value", "pointer"),
    [
        ("MQ-Delay-Ms", "soon", "MQ-Delay-Ms"),
        ("MQ-Delay-Ms", "٣", "MQ-Delay-Ms"),
        ("MQ-Deliver-At", "tomorrow", "MQ-Deliver-At"),
        ("MQ-Colour", "red", "mq-colour"),
        ("MQ-Key", "", "MQ-Key/0"),
        ("MQ-Property-keys", "\x01", "MQ-Property-keys"),
        ("MQ-Property-Gantry_By", "ann", "MQ-Property-gantry_by"),
        ("MQ-Property-long", "x" * 200, "MQ-Property-"),
        ("MQ-Ordering-Key", "\x01", "MQ-Ordering-Key"),
    ],
)
def test_a_fault_of_a_header_is_told_by_its_name(header: str, value: str, pointer: str) -> None:
    with pytest.raises(ProblemError) as caught:
        raw((header, value))
    assert caught.value.errors[0].pointer == pointer


def test_a_raw_message_without_bytes_is_told_at_the_whole_body() -> None:
    with pytest.raises(ProblemError) as caught:
        raw(body=b"")
    assert caught.value.errors[0].pointer == "#"


def test_the_room_of_properties_is_that_of_all_attributes_with_their_names_and_separators() -> None:
    room = SIZES.properties_bytes - len("CONTENT_TYPE" + "text/plain" + "source" + "TAGS" + "new") - 3 * 2
    assert draft(properties={"source": "x" * room}, tag="new")
    with pytest.raises(ProblemError, match="101 bytes together with their names and separators; the limit is 100"):
        draft(properties={"source": "x" * (room + 1)}, tag="new")


def test_a_header_that_is_not_utf8_is_refused() -> None:
    with pytest.raises(ProblemError):
        draft_of_raw([(b"mq-key", b"\xff")], b"x", "orders", sizes=SIZES)


def test_a_reader_sees_the_properties_of_the_application_alone() -> None:
    stored = {"KEYS": "a", "UNIQ_KEY": "b", "CLUSTER": "c", "POP_CK": "d", "CONTENT_TYPE": "e", "source": "web"}
    assert user_properties(stored) == {"source": "web"}


@given(st.dictionaries(st.text(), st.text(), max_size=5), st.lists(st.text(), max_size=3), st.text())
def test_what_passes_survives_the_way_through_the_wire(properties: dict[str, str], keys: list[str], tag: str) -> None:
    try:
        message = draft(properties=properties, keys=keys, tag=tag).message
    except (ProblemError, msgspec.ValidationError, UnicodeEncodeError):
        return
    assert parse_properties(format_properties(message.properties)) == message.properties
    assert message.keys == keys
    assert message.tag == tag
