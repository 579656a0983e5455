"""Requirements of `console.activity.names`: what was created, changed and deleted, and never because of a silence."""

from __future__ import annotations

import pytest

from broker_core.protocol.bodies import MessageQueue
from console.activity.behind import BEHIND_AFTER_MS, BehindSeen
from console.activity.moves import MovesSeen
from console.activity.names import NamesSeen
from tests.console.activity.readings import Scene, T
from tests.console.alerts.figures import group, state


@pytest.fixture
def scene() -> Scene:
    """Two brokers."""
    found = Scene()
    found.add("broker-b")
    return found


def test_a_topic_on_two_brokers_is_created_changed_and_deleted_once(scene: Scene) -> None:
    names = NamesSeen()

    def seen(broker: str, **queues: int) -> list[tuple[str, str | None, list[str | None]]]:
        scene.list_topics(broker, **queues)
        found = names.step(scene.after(3), frozenset())
        return [(each.kind, each.topic, [change.after for change in each.changes]) for each in found]

    assert seen("broker-a", orders=4) == []
    assert seen("broker-a", orders=4, new=1) == [("topic_created", "new", [])]
    assert seen("broker-b", orders=4, new=1) == []
    assert seen("broker-a", orders=8, new=1) == [("topic_changed", "orders", ["8", "8"])]
    assert seen("broker-b", orders=8, new=1) == []
    assert seen("broker-a", orders=8) == []
    assert seen("broker-b", orders=8) == [("topic_deleted", "new", [])]


def test_a_broker_that_is_silent_or_was_just_started_deletes_nothing(scene: Scene) -> None:
    names = NamesSeen()
    scene.list_topics("broker-b", only=1)
    names.step(scene.after(1), frozenset())
    scene.silent["broker-b"] = "silent"
    assert names.step(scene.after(1), frozenset()) == []
    scene.silent.clear()
    scene.list_topics("broker-b")
    assert names.step(scene.after(1), frozenset({"broker-b"})) == []
    scene.list_topics("broker-b", only=1)
    assert names.step(scene.after(60), frozenset()) == []


def test_retries_and_dead_letters_are_no_topics_that_somebody_made(scene: Scene) -> None:
    names = NamesSeen()
    names.step(scene.after(1), frozenset())
    scene.list_topics("broker-a", **{"orders": 4, "%RETRY%billing": 1, "%DLQ%billing": 1})
    assert names.step(scene.after(1), frozenset()) == []


def test_a_group_is_created_paused_resumed_and_deleted(scene: Scene) -> None:
    names = NamesSeen()
    kinds = []
    for groups in ({}, {"billing": True}, {"billing": False}, {"billing": True}, {}):
        scene.list_groups("broker-a", **groups)
        kinds += [(each.kind, each.group) for each in names.step(scene.after(1), frozenset())]
    assert kinds == [
        ("group_created", "billing"), ("group_paused", "billing"), ("group_resumed", "billing"),
        ("group_deleted", "billing"),
    ]  # fmt: skip


def test_queues_move_when_their_new_reader_is_known(scene: Scene) -> None:
    moves = MovesSeen()
    scene.list_groups("broker-a", billing=True)
    first, second = (MessageQueue("orders", "broker-a", number) for number in range(2))

    def seen(**owners: str) -> list[tuple[int, str | None, str]]:
        scene.owners = {
            "billing": {queue: owners[name] for name, queue in (("q0", first), ("q1", second)) if name in owners}
        }
        found = moves.step(scene.after(10))
        return [(move.queue_id, move.from_client, move.to_client) for each in found for move in each.moves]

    assert seen(q0="one", q1="one") == []
    assert seen(q0="one", q1="one") == []
    # One has given a queue away that nobody claims yet
    assert seen(q0="one") == []
    assert seen(q0="one", q1="two") == [(1, "one", "two")]
    # And when nobody says anything any more, nothing moved
    scene.owners = {}
    assert moves.step(scene.after(10)) == []
    assert seen(q0="two", q1="two") == [(0, "one", "two")]


def test_a_group_that_is_behind_for_a_while_and_catches_up() -> None:
    behind = BehindSeen()
    after = T

    def seen(word: str, seconds: int) -> list[tuple[str, int | None]]:
        nonlocal after
        after += seconds * 1000
        return [(each.kind, each.lag) for each in behind.step(after, state(group("billing", 7, state=word)))]

    assert seen("caught_up", 1) == []
    assert seen("growing", 1) == []
    assert seen("caught_up", 5) == []
    assert seen("growing", 1) == []
    assert seen("stalled", BEHIND_AFTER_MS // 1000) == [("group_behind", 7)]
    # An unknown lag is no end of it
    assert [seen("unknown", 60), seen("stalled", 60), seen("consuming", 60)] == [[], [], []]
    assert seen("caught_up", 1) == [("group_caught_up", 7)]
