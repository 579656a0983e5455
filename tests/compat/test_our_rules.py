"""The rules that all members of a group, and all producers, have to follow alike, beside Java's own classes."""

from __future__ import annotations

import random
from typing import Any

import pytest

from broker_core.client.config import Strategy
from broker_core.client.consumer.rebalance import allot
from broker_core.client.consumer.strategies import consistent_hash, fixed, machine_room
from broker_core.client.faults import FaultAvoidance, Faults
from broker_core.client.selection import queue_for_key
from broker_core.protocol.allocation import average, average_by_circle
from broker_core.protocol.bodies.queues import MessageQueue
from tests.compat.driver import Driver, JavaObject
from tests.compat.java_values import JavaMessage, Queue

pytestmark = pytest.mark.compat

_REBALANCE = "org.apache.rocketmq.client.consumer.rebalance.AllocateMessage"
_ROOMS = ["north", "south"]


def cases() -> list[tuple[list[MessageQueue], list[str]]]:
    """Return queues and members: all small counts, and some odd ones."""
    generator = random.Random(4)
    found = []
    for queues in (1, 2, 3, 4, 5, 8, 16, 31):
        for members in (1, 2, 3, 4, 7, 17):
            names = [f"10.0.0.{generator.randrange(256)}@{generator.randrange(10**6)}#{n}" for n in range(members)]
            brokers = [generator.choice(("north@a", "south@b", "east@c", "broker-d")) for _ in range(queues)]
            found.append(([MessageQueue("orders", broker, n) for n, broker in enumerate(brokers)], names))
    return found


def made(driver: Driver, kind: str, settings: dict[str, Any]) -> JavaObject:
    """Return an object of RocketMQ's that is no client: there is nothing to shut down."""
    java = driver.new(kind, settings=settings)
    del driver.live[java.name]
    return java


@pytest.mark.parametrize(
    ("java_class", "strategy", "settings"),
    [
        ("QueueAveragely", average, {}),
        ("QueueAveragelyByCircle", average_by_circle, {}),
        ("QueueConsistentHash", consistent_hash, {}),
        ("QueueByMachineRoom", machine_room(_ROOMS), {"consumeridcs": _ROOMS}),
    ],
)
def test_queues_are_shared_as_java_shares_them(
    driver: Driver, java_class: str, strategy: Strategy, settings: dict[str, Any]
) -> None:
    java = made(driver, _REBALANCE + java_class, settings)
    for queues, members in cases():
        ordered, names = sorted(queues), sorted(members)
        tree = [Queue(queue.topic, queue.queue_id, queue.broker_name) for queue in ordered]
        for member in (names[0], names[-1], "a stranger"):
            theirs = [Queue.of(each) for each in java.call("allocate", "billing", member, tree, names)]
            ours = [Queue(q.topic, q.queue_id, q.broker_name) for q in allot(member, queues, members, strategy)]
            assert ours == theirs


def test_a_fixed_share_is_what_was_given() -> None:
    queues = [MessageQueue("orders", "broker-a", n) for n in range(3)]
    assert allot("me", queues, ["me", "you"], fixed(queues[:2])) == queues[:2]


def test_brokers_pause_as_java_has_them_pause(driver: Driver) -> None:
    java = made(driver, "org.apache.rocketmq.client.latency.MQFaultStrategy", {"sendLatencyFaultEnable": True})
    latencies, pauses = java.call("getLatencyMax"), java.call("getNotAvailableDuration")
    for latency, pause in zip(latencies, pauses, strict=True):
        for taken, expected in ((latency, pause), (latency - 1, None)):
            faults = Faults(FaultAvoidance.V4)
            faults.note_latency("broker-a", taken, now=0)
            wanted = pause if expected is not None else _pause_of(taken, latencies, pauses)
            assert faults.is_available("broker-a", now=wanted)
            assert not wanted or not faults.is_available("broker-a", now=wanted - 1)


def _pause_of(latency: int, latencies: list[int], pauses: list[int]) -> int:
    return max((pause for threshold, pause in zip(latencies, pauses, strict=True) if latency >= threshold), default=0)


def _chosen_by_java(java: JavaObject, queues: list[MessageQueue], key: str) -> int:
    tree = [Queue(queue.topic, queue.queue_id, queue.broker_name) for queue in queues]
    return int(java.call("select", tree, JavaMessage("orders"), key)["queueId"])


def test_a_key_goes_to_the_queue_that_java_takes(driver: Driver) -> None:
    java = made(driver, "org.apache.rocketmq.client.producer.selector.SelectMessageQueueByHash", {})
    for count in (1, 3, 4, 7):
        queues = [MessageQueue("orders", "broker-a", n) for n in range(count)]
        for key in ("A17", "order-1", "ключ", "", "polygenelubricants"):
            assert queue_for_key(queues, key).queue_id == _chosen_by_java(java, queues, key)
