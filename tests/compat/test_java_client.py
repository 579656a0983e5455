"""An unmodified RocketMQ 4.9.8 client sends, consumes, and goes on after a restart of the broker."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.compat.java_client import Consumer, consuming, send
from tests.support.cluster import RunningBroker, started_broker
from tests.support.wait import wait_until

pytestmark = [pytest.mark.compat, pytest.mark.timeout(300)]

COUNT = 500


def numbers(consumer: Consumer) -> set[int]:
    return {message.number for message in consumer.received}


def sent(running: RunningBroker, topic: str, first: int, count: int) -> list[list[str]]:
    rows = send(running.name_server, topic, first=first, count=count)
    assert [row[2] for row in rows] == ["SEND_OK"] * count
    return rows


def test_what_a_java_producer_sends_a_java_consumer_receives_whole_and_in_order(tmp_path: Path) -> None:
    with started_broker(tmp_path) as running:
        # Given messages with keys, tags and properties on a topic that the first send creates
        rows = sent(running, "orders", 0, COUNT)
        # When a push consumer of a group reads from the first offset
        with consuming(running.name_server, "billing", "orders") as consumer:
            wait_until(lambda: len(numbers(consumer)) == COUNT, within=60)
        # Then each came with what it was sent with, at the place the producer was told, and in order within its queue
        received = {message.number: message for message in consumer.received}
        assert len(consumer.received) == COUNT
        for _, number, _, _, _, queue_id, queue_offset in rows:
            message = received[int(number)]
            assert (message.queue_id, message.queue_offset) == (int(queue_id), int(queue_offset))
            assert (message.key, message.body) == (f"key-{number}", f"body-{number}")
            assert message.tag == ("even" if int(number) % 2 == 0 else "odd")
            assert message.reconsume_times == 0


def test_a_consumer_asks_for_a_tag_and_gets_no_other(tmp_path: Path) -> None:
    with started_broker(tmp_path) as running:
        sent(running, "orders", 0, 100)
        with consuming(running.name_server, "even-only", "orders", "even") as consumer:
            wait_until(lambda: len(consumer.received) == 50, within=60)
        assert {message.tag for message in consumer.received} == {"even"}


@pytest.mark.parametrize("kill", [False, True], ids=["clean stop", "kill -9"])
def test_a_push_consumer_goes_on_where_it_was_after_a_broker_restart(tmp_path: Path, kill: bool) -> None:
    with started_broker(tmp_path) as running:
        sent(running, "orders", 0, COUNT)
        with consuming(running.name_server, "billing", "orders") as consumer:
            wait_until(lambda: len(numbers(consumer)) == COUNT, within=60)
            # When the broker restarts under the running consumer
            running.restart(kill=kill)
            sent(running, "orders", COUNT, COUNT)
            # Then it receives what came after, and everything once unless offsets of the last seconds were lost
            wait_until(lambda: len(numbers(consumer)) == 2 * COUNT, within=90)
        assert numbers(consumer) == set(range(2 * COUNT))
        if not kill:
            assert len(consumer.received) == 2 * COUNT
        # And the group's offsets outlive its members: a new member has nothing left to do but the new messages
        sent(running, "orders", 2 * COUNT, 10)
        with consuming(running.name_server, "billing", "orders") as second:
            wait_until(lambda: len(numbers(second)) >= 10, within=60)
        assert numbers(second) == set(range(2 * COUNT, 2 * COUNT + 10))


def test_two_consumers_of_a_group_share_the_queues_and_one_takes_over_from_the_other(tmp_path: Path) -> None:
    with started_broker(tmp_path) as running:
        sent(running, "orders", 0, 8)
        with consuming(running.name_server, "billing", "orders") as first:
            wait_until(lambda: len(numbers(first)) == 8, within=60)
            with consuming(running.name_server, "billing", "orders") as second:
                wait_until(lambda: second.said("started"), within=60)
                wait_until(lambda: _both_receive(running, first, second), within=90)
            # When the second has left, the first receives everything again
            before = len(first.received)
            sent(running, "orders", 10_000, 40)
            wait_until(lambda: set(range(10_000, 10_040)) <= numbers(first), within=90)
            assert len(first.received) >= before + 40


def _both_receive(running: RunningBroker, first: Consumer, second: Consumer) -> bool:
    """Send a round of messages; True once both consumers have got some of the same round."""
    round_ = 100 + 8 * (len(first.received) + len(second.received))
    sent(running, "orders", round_, 8)
    wanted = set(range(round_, round_ + 8))
    wait_until(lambda: wanted <= numbers(first) | numbers(second), within=60)
    return bool(wanted & numbers(first)) and bool(wanted & numbers(second))
