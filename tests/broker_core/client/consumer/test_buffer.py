"""The pulled messages of one queue, and the offset to commit."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from broker_core.client.config import PushConfig
from broker_core.client.consumer.buffer import QueueBuffer
from broker_core.protocol.bodies.queues import MessageQueue
from tests.support.stored import stored

QUEUE = MessageQueue("orders", "broker-a", 0)


def buffer_with(*offsets: int, config: PushConfig | None = None) -> QueueBuffer:
    buffer = QueueBuffer(QUEUE, config or PushConfig())
    buffer.put([stored(queue_offset=offset) for offset in offsets])
    return buffer


def test_one_that_is_still_handled_holds_the_commit() -> None:
    buffer = buffer_with(10, 11, 12)

    assert buffer.done(stored(queue_offset=11)) == 10
    assert buffer.done(stored(queue_offset=12)) == 10
    assert buffer.done(stored(queue_offset=10)) == 13


def test_messages_are_taken_in_queue_order_and_stay_in_the_buffer() -> None:
    buffer = buffer_with(1, 2)

    taken = [buffer.take(), buffer.take(), buffer.take()]

    assert [message and message.queue_offset for message in taken] == [1, 2, None]
    assert len(buffer) == 2


def test_what_is_put_back_comes_first() -> None:
    buffer = buffer_with(1, 2)
    first = buffer.take()
    assert first is not None

    buffer.put_back(first)

    again = buffer.take()
    assert again is not None
    assert again.queue_offset == 1


def test_the_same_message_is_not_taken_twice() -> None:
    buffer = buffer_with(1, 2)
    buffer.put([stored(queue_offset=2), stored(queue_offset=3)])

    assert len(buffer) == 3


def test_a_message_done_twice_changes_nothing() -> None:
    buffer = buffer_with(1, 2)
    buffer.done(stored(queue_offset=1))

    assert buffer.done(stored(queue_offset=1)) is None


def test_filtered_messages_are_passed_only_when_the_buffer_is_empty() -> None:
    buffer = buffer_with(1)

    assert buffer.passed(9) is None
    buffer.done(stored(queue_offset=1))
    assert buffer.passed(9) == 9


def test_too_many_messages_fill_it() -> None:
    assert not buffer_with(*range(10), config=PushConfig(queue_max_messages=10)).is_full
    assert buffer_with(*range(11), config=PushConfig(queue_max_messages=10)).is_full


def test_too_many_bytes_fill_it() -> None:
    buffer = QueueBuffer(QUEUE, PushConfig(queue_max_bytes=10))
    buffer.put([stored(queue_offset=1, body=b"x" * 11)])

    assert buffer.is_full


def test_a_long_row_after_one_message_fills_it_unless_it_is_orderly() -> None:
    assert buffer_with(1, 3_000).is_full
    assert not buffer_with(1, 3_000, config=PushConfig(orderly=True)).is_full


def test_the_limits_of_a_topic_are_parted_among_its_queues() -> None:
    buffer = buffer_with(*range(4), config=PushConfig(topic_max_messages=9, topic_max_bytes=2))

    buffer.share_limits(3)

    assert (buffer.max_messages, buffer.max_bytes) == (3, 1)
    assert buffer.is_full
    unlimited = buffer_with(*range(4))
    unlimited.share_limits(3)
    assert not unlimited.is_full


def test_a_dropped_buffer_returns_nothing() -> None:
    buffer = buffer_with(1, 2)

    buffer.drop()

    assert buffer.take() is None


@given(st.sets(st.integers(0, 500), min_size=1), st.randoms(use_true_random=False))
def test_the_commit_is_always_the_smallest_in_the_buffer(offsets: set[int], rnd: random.Random) -> None:
    buffer = buffer_with(*sorted(offsets))
    order = rnd.sample(sorted(offsets), len(offsets))

    for position, offset in enumerate(order):
        left = order[position + 1 :]
        assert buffer.done(stored(queue_offset=offset)) == (min(left) if left else max(offsets) + 1)
    assert buffer.size_bytes == 0
