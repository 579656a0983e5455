"""Receipts built from the answers of brokers."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.client.consumer.leases import LeaseReceipt, Receipts
from broker_core.protocol.headers.pop import ChangeInvisibleTimeResponse, PopMessageResponse
from tests.support.stored import stored

ANSWER = PopMessageResponse(
    pop_time=1_000,
    invisible_time=30_000,
    revive_qid=3,
    rest_num=0,
    start_offset_info="0 2 40;1 0 7",
    msg_offset_info="0 2 40,42;1 0 7",
)


def test_the_receipt_says_where_the_pop_began() -> None:
    leased = Receipts("billing", "orders", "broker-a", ANSWER).leased(stored(queue_id=2, queue_offset=42))

    assert leased.receipt.extra_info == "40 1000 30000 3 0 broker-a 2 42"
    assert leased.receipt.expires_at == 31_000
    assert leased.delivery_count == 1


def test_a_retried_message_is_shown_under_its_topic_and_settled_in_the_retry_topic() -> None:
    message = stored(topic="%RETRY%billing_orders", queue_id=0, queue_offset=7, reconsume_times=2)

    leased = Receipts("billing", "orders", "broker-a", ANSWER).leased(message)

    assert leased.message.topic == "orders"
    assert leased.receipt.topic == "%RETRY%billing_orders"
    assert leased.receipt.extra_info == "7 1000 30000 3 1 broker-a 0 7"
    assert leased.delivery_count == 3


def test_a_receipt_that_a_sender_put_into_the_message_counts_for_nothing() -> None:
    message = stored(queue_id=2, queue_offset=42, properties={"POP_CK": "1 2 3 4 0 b 5 6", "1ST_POP_TIME": "5"})

    leased = Receipts("g", "orders", "broker-a", ANSWER).leased(message)

    assert leased.receipt.extra_info == "40 1000 30000 3 0 broker-a 2 42"
    assert leased.first_delivered_at == 1_000


@pytest.mark.parametrize(("flag", "place"), [("1", "%RETRY%billing_orders"), ("2", "%RETRY%billing+orders")])
def test_a_retried_message_under_its_own_topic_is_settled_where_the_header_says(flag: str, place: str) -> None:
    answer = replace(ANSWER, start_offset_info=f"{flag} 0 7", msg_offset_info=f"{flag} 0 7")

    receipt = Receipts("billing", "orders", "broker-a", answer).leased(stored(queue_id=0, queue_offset=7)).receipt

    assert receipt.topic == place
    assert receipt.extra_info == f"7 1000 30000 3 {flag} broker-a 0 7"


@pytest.mark.parametrize(
    ("own", "flag"),
    [("7 1000 30000 3 1 broker-a 0 7", "1"), ("7 999 30000 3 1 broker-a 0 7", "0"), ("7 1000", "0"), ("", "0")],
)
def test_its_own_receipt_decides_between_two_equal_places(own: str, flag: str) -> None:
    answer = replace(ANSWER, start_offset_info="0 0 7;1 0 7", msg_offset_info="0 0 7;1 0 7")
    message = stored(queue_id=0, queue_offset=7, properties={"POP_CK": own} if own else {})

    receipt = Receipts("billing", "orders", "broker-a", answer).leased(message).receipt

    assert receipt.extra_info.split(" ")[4] == flag


@pytest.mark.parametrize(
    ("properties", "first"), [({"1ST_POP_TIME": "900"}, 900), ({}, None), ({"1ST_POP_TIME": "soon"}, None)]
)
def test_the_first_delivery_of_a_message_that_is_redelivered_is_as_the_broker_says(
    properties: dict[str, str], first: int | None
) -> None:
    message = stored(queue_id=2, queue_offset=42, reconsume_times=1, properties=properties)

    assert Receipts("billing", "orders", "broker-a", ANSWER).leased(message).first_delivered_at == first


def test_a_renewed_receipt_has_the_new_times() -> None:
    receipt = Receipts("g", "orders", "broker-a", ANSWER).leased(stored(queue_id=2, queue_offset=42)).receipt

    renewed = receipt.renewed(ChangeInvisibleTimeResponse(pop_time=5_000, invisible_time=60_000, revive_qid=1))

    assert renewed.extra_info == "40 5000 60000 1 0 broker-a 2 42"
    assert renewed.expires_at == 65_000


_words = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\n"), min_size=1)
_numbers = st.integers(0, 2**62)


@given(st.builds(LeaseReceipt, _words, _words, _words, _numbers, _numbers, _words, _numbers, _numbers))
def test_a_receipt_survives_being_text(receipt: LeaseReceipt) -> None:
    assert LeaseReceipt.from_text(receipt.to_text()) == receipt


@pytest.mark.parametrize("text", ["", "a\nb", "g\nb\nt\nx\n1\n1\n1\ne"])
def test_other_text_is_not_a_receipt(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        LeaseReceipt.from_text(text)
