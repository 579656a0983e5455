"""Messages are spread over the queues, avoiding failing brokers."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.client.faults import FaultAvoidance, Faults
from broker_core.client.selection import QueuePicker, queue_for_key
from broker_core.protocol.bodies.queues import MessageQueue


def queues(**counts: int) -> list[MessageQueue]:
    return [MessageQueue("orders", broker, index) for broker, count in counts.items() for index in range(count)]


def test_every_queue_has_its_turn() -> None:
    picker = QueuePicker(queues(a=3, b=2), start=0)

    picked = [picker.pick(Faults(), now=0) for _ in range(10)]

    assert picked == queues(a=3, b=2) * 2


def test_a_topic_without_queues_gives_none() -> None:
    assert QueuePicker([]).pick(Faults(), now=0) is None


def test_the_next_attempt_goes_to_another_broker() -> None:
    picker = QueuePicker(queues(a=8, b=1), start=0)

    for _ in range(5):
        picked = picker.pick(Faults(), now=0, last_broker="a")
        assert picked is not None
        assert picked.broker_name == "b"


def test_the_same_broker_is_better_than_none() -> None:
    picker = QueuePicker(queues(a=2))

    assert picker.pick(Faults(), now=0, last_broker="a") is not None


def test_a_broker_that_pauses_gets_nothing_while_others_are_there() -> None:
    faults = Faults()
    faults.note_failure("a", now=0)
    picker = QueuePicker(queues(a=4, b=4))

    before = Counter(queue.broker_name for queue in (picker.pick(faults, now=1) for _ in range(20)) if queue)
    after = Counter(queue.broker_name for queue in (picker.pick(faults, now=10_000) for _ in range(20)) if queue)

    assert before == {"b": 20}
    assert set(after) == {"a", "b"}


def test_when_all_pause_the_other_broker_is_tried() -> None:
    faults = Faults()
    faults.note_failure("a", now=0)
    faults.note_failure("b", now=0)
    picker = QueuePicker(queues(a=4, b=1))

    picked = picker.pick(faults, now=1, last_broker="a")

    assert picked is not None
    assert picked.broker_name == "b"


@given(st.integers(1, 20), st.integers(0, 100))
def test_any_start_is_fair(count: int, start: int) -> None:
    picker = QueuePicker(queues(a=count), start=start)

    picked = Counter(picker.pick(Faults(), now=0) for _ in range(3 * count))

    assert set(picked.values()) == {3}


@pytest.mark.parametrize(("key", "index"), [("TagA", 2598919 % 5), ("order_created_event", 2143158446 % 5), ("", 0)])
def test_a_key_has_the_queue_that_java_takes(key: str, index: int) -> None:
    assert queue_for_key(queues(a=5), key).queue_id == index


def test_without_queues_there_is_none_to_choose() -> None:
    with pytest.raises(ValueError, match="no queue"):
        queue_for_key([], "A17")


def test_without_avoidance_a_retry_goes_elsewhere_and_nothing_else_does() -> None:
    faults = Faults(FaultAvoidance.OFF)
    faults.note_failure("a", now=0)
    picker = QueuePicker(queues(a=1, b=1), start=0)

    picked = [picker.pick(faults, now=0, last_broker=last) for last in (None, None, "b", "b")]

    assert [queue.broker_name for queue in picked if queue] == ["a", "b", "a", "a"]


def test_4_9_takes_an_available_broker_even_after_its_own_failure() -> None:
    faults = Faults(FaultAvoidance.V4)
    faults.note_failure("a", now=0)
    picker = QueuePicker(queues(a=2, b=2), start=0)

    picked = [picker.pick(faults, now=1, last_broker="b") for _ in range(8)]

    assert {queue.broker_name for queue in picked if queue} == {"b"}


def test_4_9_picks_one_at_least_with_a_queue_that_it_has() -> None:
    faults = Faults(FaultAvoidance.V4)
    faults.note_latency("a", 600, now=0)
    faults.note_failure("b", now=0)
    picker = QueuePicker(queues(a=2, b=6), start=0)

    picked = {picker.pick(faults, now=1) for _ in range(20)}

    assert picked <= set(queues(a=2))


def test_4_9_forgets_a_broker_that_the_topic_has_left() -> None:
    faults = Faults(FaultAvoidance.V4)
    faults.note_latency("gone", 600, now=0)
    faults.note_failure("a", now=0)
    picker = QueuePicker(queues(a=2), start=0)

    assert picker.pick(faults, now=1) in queues(a=2)
    assert faults.pick_one_at_least(now=1) == "a"
