"""Messages as applications create and read them."""

from __future__ import annotations

import pytest

from broker_core.protocol.errors import MalformedProperties
from broker_core.protocol.message import LogOffset, Message, QueueOffset, StoredMessage


def stored(properties: dict[str, str], *, store_host: str = "10.0.0.5:10911", sys_flag: int = 0) -> StoredMessage:
    return StoredMessage(
        topic="Orders",
        queue_id=3,
        queue_offset=QueueOffset(41),
        log_offset=LogOffset(4096),
        body=b"hi",
        properties=properties,
        flag=0,
        sys_flag=sys_flag,
        born_timestamp=1,
        born_host="10.0.0.9:51234",
        store_timestamp=2,
        store_host=store_host,
        reconsume_times=0,
        prepared_transaction_offset=0,
        body_crc=0,
        store_size=116,
    )


def test_keys_tag_and_delay_become_properties() -> None:
    message = Message.create("Orders", b"hi", keys=["k1", "k2"], tag="created", delay_level=3, properties={"a": "b"})
    assert message.properties == {"a": "b", "KEYS": "k1 k2", "TAGS": "created", "DELAY": "3"}
    assert (message.keys, message.tag, message.delay_level) == (["k1", "k2"], "created", 3)


def test_a_plain_message_has_none_of_them() -> None:
    message = Message("Orders", b"hi")
    assert (message.keys, message.tag, message.unique_id, message.delay_level) == ([], None, None, 0)
    assert message.waits_for_store


def test_a_message_that_need_not_wait_says_so() -> None:
    assert not Message("Orders", b"", {"WAIT": "false"}).waits_for_store


def test_a_delay_that_is_not_a_number_is_none() -> None:
    assert Message("Orders", b"", {"DELAY": "soon"}).delay_level == 0


@pytest.mark.parametrize("bad", [{"keys": ["a b"]}, {"tag": "a\x02b"}, {"properties": {"a": ""}}])
def test_what_the_wire_cannot_carry_is_refused(bad: dict[str, object]) -> None:
    with pytest.raises(MalformedProperties):
        Message.create("Orders", b"", **bad)  # type: ignore[arg-type]


def test_the_message_id_is_the_producers_or_else_the_brokers() -> None:
    assert stored({"UNIQ_KEY": "U"}).message_id == "U"
    assert stored({}).message_id == "0A00000500002A9F0000000000001000"


def test_an_ipv6_broker_makes_a_longer_offset_id() -> None:
    assert stored({}, store_host="[::1]:10911").offset_id == "0" * 31 + "1" + "00002A9F" + "0000000000001000"


def test_a_stored_message_shows_keys_tag_and_compression() -> None:
    message = stored({"KEYS": "k1 k2", "TAGS": "t"}, sys_flag=1)
    assert (message.keys, message.tag, message.is_compressed) == (["k1", "k2"], "t", True)


def test_a_string_is_not_a_list_of_keys() -> None:
    with pytest.raises(TypeError, match="keys must be a list"):
        Message.create("orders", b"hi", keys="A17")
