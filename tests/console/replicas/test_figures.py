"""Requirements of `console.replicas.figures`: what is not known is not healthy."""

from __future__ import annotations

from dataclasses import replace

from broker_core.client.admin.replication import ControllerStatus, KnownState
from broker_core.protocol.bodies.controller import ReplicaState, new_state
from broker_core.protocol.bodies.replicas import ControllerInfo, ReplicaIdentity, ReplicasInfo
from console.replicas.engine import OLD_MS
from console.replicas.figures import ControllerFigures, best, figures_of, is_troubled, of_controllers


def status(*, leads: bool = False, **info: object) -> ControllerStatus:
    return ControllerStatus(leads, None, ControllerInfo(**{"age_ms": 5, **info}))  # type: ignore[arg-type]


def replicas(master: int | None, *, alive: bool = True) -> ReplicasInfo:
    rows = [ReplicaIdentity("b", number, f"x:{number}", alive) for number in (1, 2)]
    return ReplicasInfo(master, None, 1, 1, rows[:1], rows[1:])


def test_a_master_that_is_not_heard_is_none() -> None:
    known = KnownState(new_state("b", "C"), is_set_back=False, stuck="no one is heard", age_ms=0)

    def without_master(info: ReplicasInfo) -> float | None:
        return figures_of(info, known, elections=0, is_set_back=False).without_master

    assert [without_master(each) for each in (replicas(1), replicas(1, alive=False), replicas(None))] == [0, 1, 1]
    healthy = replace(known, stuck=None)
    assert [is_troubled(replicas(1), each) for each in (healthy, known, None)] == [False, True, True]
    assert is_troubled(replicas(1, alive=False), healthy)


def test_unclean_replicas_and_a_stuck_name_are_told_by_the_whole_state_alone() -> None:
    unclean = {1: ReplicaState("x:1", "x:2", "1-a", "", False, 1), 2: ReplicaState("x:3", "x:4", "1-a", "", True, 1)}
    known = KnownState(replace(new_state("b", "C"), replicas=unclean), is_set_back=True, stuck="why", age_ms=0)

    found = figures_of(replicas(1), known, elections=2, is_set_back=True)
    assert (found.out_of_sync, found.unclean, found.stuck, found.set_back, found.elections) == (1, 1, 1, 1, 2)
    unknown = figures_of(replicas(1), None, elections=0, is_set_back=False)
    assert (unknown.unclean, unknown.stuck) == (None, None)


def test_an_engine_is_up_while_one_controller_reads_it_and_hears_no_alarm() -> None:
    def down(**controllers: ControllerStatus) -> float | None:
        return of_controllers(controllers, []).engine_down

    assert down(a=status(alarms=[])) == 0
    assert down(a=status(age_ms=OLD_MS + 1), b=status()) == 0
    assert down(a=status(age_ms=OLD_MS + 1), b=status(age_ms=None)) == 1
    assert down(a=status(alarms=["NOSPACE"])) == 1


def test_controllers_that_all_are_silent_say_nothing_of_leader_and_engine() -> None:
    assert of_controllers({}, ["a", "b"]) == ControllerFigures(silent=2)
    assert of_controllers({"a": status(leads=True, size_bytes=3, quota_bytes=4)}, ["b"]) == ControllerFigures(
        1, 0, 0, 0.75
    )
    assert of_controllers({"a": status()}, []).leaderless == 1


def test_the_leading_controller_is_asked_unless_it_knows_only_what_was_long_ago() -> None:
    leading, other = status(leads=True, age_ms=900), status(age_ms=1)
    assert best({"a": other, "b": leading}) == "b"
    assert best({"a": other, "b": status(leads=True, age_ms=OLD_MS + 1)}) == "a"
    assert best({"b": status(age_ms=None)}) is None
