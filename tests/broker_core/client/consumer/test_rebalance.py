"""Changing from the held queues to the allotted queues."""

from __future__ import annotations

import random

from broker_core.client.consumer.rebalance import Change, allot, change
from broker_core.protocol.allocation import average
from broker_core.protocol.bodies.queues import MessageQueue

QUEUES = [MessageQueue("orders", broker, index) for broker in ("broker-a", "broker-b") for index in range(4)]


def test_members_agree_whatever_order_they_hear_things_in() -> None:
    members = ["m2", "m0", "m1"]
    shuffled = random.Random(1).sample(QUEUES, len(QUEUES))

    shares = [allot(member, shuffled, members, average) for member in sorted(members)]

    assert [queue for share in shares for queue in share] == QUEUES


def test_a_member_listed_twice_counts_once() -> None:
    assert allot("m0", QUEUES, ["m0", "m0", "m1"], average) == QUEUES[:4]


def test_nothing_to_share_or_no_one_to_share_with() -> None:
    assert allot("m0", [], ["m0"], average) == []
    assert allot("m0", QUEUES, [], average) == []


def test_only_the_difference_changes() -> None:
    assert change(QUEUES[:4], QUEUES[2:6]) == Change(tuple(QUEUES[:2]), tuple(QUEUES[4:6]))
    assert not change(QUEUES, QUEUES)
