"""Requirements of `console.activity.masters`, and that a failover is not called a restart."""

from __future__ import annotations

from dataclasses import replace

from broker_core.protocol.bodies.controller import Election, LastChange, MasterLife, NameState, new_state
from console.activity.brokers import BrokersSeen
from console.activity.masters import MastersSeen
from tests.console.activity.readings import Scene, T


def elected(epoch: int, master: int, why: str = "killed") -> Election:
    return Election(epoch=epoch, version=epoch, master=MasterLife(master, "1-a"), in_sync=[], why=why, by="n1", at=T)


def led(epoch: int, master: int | None, *elections: Election) -> dict[str, NameState]:
    """Return a state that was written again after it was elected in."""
    life, last = None if master is None else MasterLife(master, "1-a"), LastChange("replica 1 started", "n1", T)
    return {"b": replace(new_state("b", "C"), epoch=epoch, master=life, last=last, elected=list(elections))}


def test_each_epoch_is_told_once_with_why_and_who_was_master_before() -> None:
    seen = MastersSeen()
    nothing: dict[str, NameState] = {}
    switched = led(2, 2, elected(1, 1), elected(2, 2, "silent"))
    rounds = (led(1, 1), led(1, 1), nothing, led(1, None), switched, switched, led(1, 1), led(2, 2))

    told = [event for now, states in enumerate(rounds, T) for event in seen.step(now, states)]

    assert [(each.kind, each.broker, each.reason) for each in told] == [("master_changed", "b", "silent")]
    assert [(each.name, each.before, each.after) for each in told[0].changes] == [
        ("master_id", "1", "2"), ("epoch", "1", "2")
    ]  # fmt: skip


def test_each_of_two_switches_between_two_rounds_is_told() -> None:
    seen = MastersSeen()
    rounds = led(1, 1), led(3, None, elected(1, 1), elected(2, 2, "killed"), elected(3, 1, "silent")), led(4, 2)

    told = [event for now, states in enumerate(rounds, T) for event in seen.step(now, states)]

    assert [([(one.before, one.after) for one in each.changes], each.reason) for each in told] == [
        ([("1", "2"), ("1", "2")], "killed"),
        ([("2", "1"), ("2", "3")], "silent"),
        ([("1", "2"), ("3", "4")], None),
    ]


def test_another_process_of_a_led_name_is_not_restarted_and_its_clients_need_a_while() -> None:
    scene, seen = Scene(), BrokersSeen()
    seen.step(scene.after(1), led=["broker-a"])
    scene.booted["broker-a"] += 5_000
    scene.ports["broker-a"] = 10921

    reading = scene.after(1)
    assert seen.step(reading, led=["broker-a"]) == []
    assert seen.unsettled(reading.at) == {"broker-a"}
    scene.restart("broker-a")
    assert [each.kind for each in seen.step(scene.after(1), led=["broker-a"])] == ["broker_restarted"]
    # Without controllers a master that answers elsewhere was restarted there
    scene.booted["broker-a"] += 5_000
    scene.ports["broker-a"] = 10911
    assert [each.kind for each in seen.step(scene.after(1))] == ["broker_restarted"]
