"""Sends are counted by topic, group and connection, within limits."""

from __future__ import annotations

import pytest

from broker_core.broker.topic_producers import MINUTE_MS, Key, Sends, TopicProducers


def send(producers: TopicProducers, key: Key, *, messages: int = 1, now: int) -> None:
    sends = producers.find(key)
    if sends is None:
        sends = Sends("", 0, 0)
        producers.add(key, sends)
    producers.count(key, sends, messages, now)


def key(topic: str, number: int) -> Key:
    return topic, "shop", f"10.0.0.1:{number}"


def test_the_rate_is_that_of_the_last_minute() -> None:
    producers, one = TopicProducers(0), key("orders", 1)
    send(producers, one, messages=600, now=MINUTE_MS)
    sends = producers.find(one)
    assert sends is not None

    rates = [producers.rate(sends, MINUTE_MS + later) for later in (0, MINUTE_MS, 3 * MINUTE_MS // 2, 2 * MINUTE_MS)]

    assert rates == [10.0, 10.0, 5.0, 0.0]
    send(producers, one, messages=60, now=5 * MINUTE_MS)
    assert (producers.rate(sends, 5 * MINUTE_MS), sends.messages, sends.last_at) == (1.0, 660, 5 * MINUTE_MS)


def test_no_rate_is_known_in_the_first_minute() -> None:
    producers, one = TopicProducers(1_000), key("orders", 1)
    send(producers, one, now=2_000)
    sends = producers.find(one)
    assert sends is not None
    assert producers.rate(sends, 60_999) is None
    assert producers.rate(sends, 61_000) is not None


@pytest.mark.parametrize("limits", [{"most_of_topic": 2}, {"most": 2}])
def test_beyond_a_limit_the_longest_silent_goes_and_the_list_says_since_when_it_is_whole(
    limits: dict[str, int],
) -> None:
    producers = TopicProducers(0, **limits)
    send(producers, key("orders", 1), now=10)
    send(producers, key("orders", 2), now=20)
    send(producers, key("orders", 1), now=MINUTE_MS)

    send(producers, key("orders", 3), now=MINUTE_MS + 1)

    assert set(producers.of("orders")) == {key("orders", 1), key("orders", 3)}
    assert (len(producers), producers.complete_since("orders"), producers.complete_since("bills")) == (2, 21, 0)


def test_a_deleted_topic_is_forgotten() -> None:
    producers = TopicProducers(0)
    send(producers, key("orders", 1), now=10)
    send(producers, key("bills", 1), now=10)

    producers.forget("orders")

    assert (len(producers), dict(producers.of("orders"))) == (1, {})
    assert producers.find(key("orders", 1)) is None
