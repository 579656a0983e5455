"""Every member computes its share, and the shares cover each queue once."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.client.config import Strategy
from broker_core.client.consumer import strategies
from broker_core.client.consumer.strategies import STRATEGIES
from broker_core.protocol.allocation import average
from broker_core.protocol.bodies.queues import MessageQueue


def queues(count: int, broker: str = "a") -> list[MessageQueue]:
    return [MessageQueue("orders", broker, index) for index in range(count)]


def ids(found: list[MessageQueue]) -> list[int]:
    return [queue.queue_id for queue in found]


@pytest.mark.parametrize("strategy", STRATEGIES.values(), ids=STRATEGIES)
def test_who_is_not_listed_gets_nothing(strategy: Strategy) -> None:
    assert strategy("stranger", queues(8), ["m0", "m1"]) == []


@given(st.sampled_from(sorted(STRATEGIES)), st.integers(1, 40), st.integers(1, 12))
def test_each_queue_has_exactly_one_reader(name: str, count: int, members: int) -> None:
    names = [f"10.0.0.{index}@{index}" for index in range(members)]

    given_out = Counter(queue for member in names for queue in STRATEGIES[name](member, queues(count), names))

    assert given_out == dict.fromkeys(queues(count), 1)


def test_consistent_hash_moves_little_when_a_member_goes() -> None:
    names = ["m0", "m1", "m2", "m3"]
    before = {queue: name for name in names for queue in strategies.consistent_hash(name, queues(64), names)}

    stay = names[:-1]
    after = {queue: name for name in stay for queue in strategies.consistent_hash(name, queues(64), stay)}

    assert all(after[queue] == owner for queue, owner in before.items() if owner != "m3")


def test_fixed_ignores_everybody() -> None:
    assert strategies.fixed(queues(2))("m0", queues(8), []) == queues(2)


def test_machine_room_shares_only_its_own_brokers() -> None:
    everywhere = queues(3, "room1@a") + queues(4, "room2@b") + queues(2, "plain")
    names = ["m0", "m1"]

    shares = [strategies.machine_room({"room1"})(name, everywhere, names) for name in names]

    assert shares == [[everywhere[0], everywhere[2]], [everywhere[1]]]


def test_a_room_without_members_is_shared_by_all() -> None:
    everywhere = queues(2, "room1@a") + queues(4, "room2@b")
    names = ["room1-x", "room1-y"]
    strategy = strategies.machine_room_nearby(
        average,
        room_of_queue=lambda queue: queue.broker_name.split("@")[0],
        room_of_client=lambda client: client.split("-")[0],
    )

    shares = [strategy(name, everywhere, names) for name in names]

    assert shares == [[everywhere[0], *everywhere[2:4]], [everywhere[1], *everywhere[4:]]]
    assert len(strategy("room2-z", everywhere, [*names, "room2-z"])) == 4
