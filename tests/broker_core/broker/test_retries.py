"""The destination of a message that could not be consumed."""

from __future__ import annotations

import pytest

from broker_core.broker.retries import exhausted_retry, send_back
from broker_core.protocol.message import LogOffset, QueueOffset, StoredMessage


def stored(tries: int = 0, **properties: str) -> StoredMessage:
    return StoredMessage(
        topic="orders",
        queue_id=1,
        queue_offset=QueueOffset(5),
        log_offset=LogOffset(4096),
        body=b"x",
        properties=properties,
        flag=7,
        sys_flag=0,
        born_timestamp=1,
        born_host="10.0.0.9:1",
        store_timestamp=2,
        store_host="10.0.0.5:10911",
        reconsume_times=tries,
        prepared_transaction_offset=0,
        body_crc=0,
        store_size=100,
    )


@pytest.mark.parametrize(("tries", "level"), [(0, 3), (1, 4), (15, 18)])
def test_each_try_waits_longer(tries: int, level: int) -> None:
    retry = send_back(stored(tries), "billing", delay_level=0, max_times=16)

    assert (retry.message.topic, retry.delay_level, retry.reconsume_times) == ("%RETRY%billing", level, tries + 1)


def test_a_client_may_choose_the_level() -> None:
    assert send_back(stored(), "billing", delay_level=9, max_times=16).delay_level == 9


@pytest.mark.parametrize(("tries", "level"), [(16, 0), (0, -1)])
def test_the_last_try_makes_a_dead_letter(tries: int, level: int) -> None:
    retry = send_back(stored(tries), "billing", delay_level=level, max_times=16)

    assert retry.is_dead_letter
    assert (retry.message.topic, retry.delay_level) == ("%DLQ%billing", 0)
    assert retry.message.properties["DELAY"] == "0"


def test_the_first_topic_and_the_first_id_are_kept_over_all_tries() -> None:
    first = send_back(stored(KEYS="A17"), "billing", delay_level=0, max_times=16)
    again = send_back(stored(1, **first.message.properties), "billing", delay_level=0, max_times=16)

    assert again.message.properties["RETRY_TOPIC"] == "orders"
    assert again.message.properties["ORIGIN_MESSAGE_ID"] == "0A00000500002A9F0000000000001000"
    assert again.message.properties["KEYS"] == "A17"
    assert again.message.flag == 7


@pytest.mark.parametrize(("tries", "topic"), [(15, None), (16, "%DLQ%billing")])
def test_a_retry_of_a_client_s_own_ends_as_a_dead_letter(tries: int, topic: str | None) -> None:
    assert exhausted_retry("%RETRY%billing", tries, 16) == topic
