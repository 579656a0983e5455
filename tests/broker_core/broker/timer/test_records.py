"""The records of the timer's topic: what is written is read back, and what is none says nothing."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.broker.errors import MessageIllegal
from broker_core.broker.timer import records
from broker_core.broker.timer.records import Done, Parked, Recalled, event_of
from broker_core.protocol.message import LogOffset, Message, QueueOffset, StoredMessage

TIMES = st.integers(0, 2**63 - 1)
WORDS = st.text("abcXYZ019-_", min_size=1, max_size=8)


def stored(message: Message, *, queue_offset: int = 5, log_offset: int = 700, at: int = 1_000) -> StoredMessage:
    return StoredMessage(
        topic=message.topic, queue_id=0, queue_offset=QueueOffset(queue_offset), log_offset=LogOffset(log_offset),
        body=message.body, properties=message.properties, flag=message.flag, sys_flag=message.sys_flag,
        born_timestamp=1, born_host="127.0.0.1:1", store_timestamp=at, store_host="127.0.0.1:2", reconsume_times=0,
        prepared_transaction_offset=0, body_crc=0, store_size=100,
    )  # fmt: skip


@settings(max_examples=30)
@given(due=TIMES, queue_id=st.integers(0, 2**31 - 1), key=WORDS, unique_id=WORDS, body=st.binary(max_size=20))
def test_a_message_is_delivered_as_it_was_sent(due: int, queue_id: int, key: str, unique_id: str, body: bytes) -> None:
    sent = Message("orders", body, {"KEYS": f"{key} B", "UNIQ_KEY": unique_id}, 3, 1)

    parked = stored(records.parked(sent, queue_id, due))
    event = event_of(parked)
    message, where = records.delivered(parked, 5)

    assert event == Parked(5, due, 700, "orders", 1_000, (f"key:{key}", "key:B", f"id:{unique_id}"))
    assert (message.topic, message.body, message.flag, message.sys_flag, where) == ("orders", body, 3, 1, queue_id)
    assert message.properties == sent.properties | {"TIMER_OUT_MS": str(due), "TIMER_SEQ": "5"}


@settings(max_examples=30)
@given(due=TIMES, later=TIMES)
def test_a_message_keeps_its_number_and_its_first_time_when_it_is_parked_again(due: int, later: int) -> None:
    first = stored(records.parked(Message("orders", b"x"), 2, due))
    event = event_of(first)
    assert isinstance(event, Parked)

    again = stored(records.parked_again(first, event._replace(due=later)), queue_offset=99, log_offset=5_000, at=8_000)

    assert event_of(again) == Parked(5, later, 5_000, "orders", 1_000)


@settings(max_examples=30)
@given(TIMES)
def test_marks_are_read_back(number: int) -> None:
    assert event_of(stored(records.recalled(number))) == Recalled(number, 1_000)
    assert event_of(stored(records.done(number, 600))) == Done(number, 700, 600)


@settings(max_examples=30)
@given(
    st.dictionaries(st.sampled_from(["TIMER_OUT_MS", "REAL_TOPIC", "TIMER_SEQ", "TIMER_RECALLED"]), st.text(max_size=9))
)
def test_a_foreign_record_never_fails(pairs: dict[str, str]) -> None:
    event_of(stored(Message("rmq_sys_wheel_timer", b"", pairs)))


def test_properties_that_leave_no_room_for_the_timer_are_refused_before_they_are_stored() -> None:
    with pytest.raises(MessageIllegal, match="at most 32767"):
        records.parked(Message("orders", b"x", {"a": "x" * 32_700}), 0, 1)
