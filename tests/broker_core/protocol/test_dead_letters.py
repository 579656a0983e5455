"""Requirements of `broker_core.protocol.dead_letters`."""

from __future__ import annotations

import pytest

from broker_core.protocol.dead_letters import Cause, DeadLetterFilter, cause_of, origin_of
from broker_core.protocol.message import StoredMessage
from tests.support.stored import stored


def letter(at: int = 1_000, **properties: str) -> StoredMessage:
    """Return a dead letter with these properties, stored at a moment."""
    return stored(topic="%DLQ%billing", properties=properties, store_timestamp=at)


def test_the_reason_of_a_consumer_counts_more_than_an_exception() -> None:
    assert cause_of(letter(DEAD_LETTER_REASON="db down", EXCEPTION="E")) == Cause("db down", "reason")
    assert cause_of(letter(EXCEPTION="java.net.ConnectException")) == Cause("java.net.ConnectException", "exception")
    assert cause_of(letter()) == Cause(None, "none")


def test_a_dead_letter_names_the_topic_it_came_from_or_none() -> None:
    assert origin_of(letter(RETRY_TOPIC="orders")) == "orders"
    assert origin_of(letter()) is None


LETTER = letter(RETRY_TOPIC="orders", DEAD_LETTER_REASON="db down", KEYS="O-1 O-2", UNIQ_KEY="A1")


@pytest.mark.parametrize(
    ("wanted", "chosen"),
    [
        (DeadLetterFilter(), True),
        (DeadLetterFilter(causes=("db down", "other")), True),
        (DeadLetterFilter(causes=(None,)), False),
        (DeadLetterFilter(topics=("orders",)), True),
        (DeadLetterFilter(topics=("returns",)), False),
        (DeadLetterFilter(key="O-2"), True),
        (DeadLetterFilter(key="O"), False),
        (DeadLetterFilter(begin_ms=1_000, end_ms=1_001), True),
        (DeadLetterFilter(begin_ms=1_001), False),
        (DeadLetterFilter(end_ms=1_000), False),
        (DeadLetterFilter(ids=frozenset({"A1"})), True),
        (DeadLetterFilter(ids=frozenset({LETTER.offset_id})), True),
        (DeadLetterFilter(ids=frozenset({"A2"})), False),
        (DeadLetterFilter(causes=("db down",), key="O-9"), False),
    ],
)
def test_a_filter_chooses_what_fulfils_every_condition(wanted: DeadLetterFilter, chosen: bool) -> None:
    assert wanted.chooses(LETTER) is chosen
