"""Requirements of `gateway.replica_metrics`: replicas and controllers tell what they know, and nothing is made up."""

from __future__ import annotations

from collections.abc import Iterable

from prometheus_client.core import Metric

from broker_core.client.admin.clusters import BrokerRuntime
from console.replicas.shapes import Controllers, ControllerState, DecidedName, DecidedNames
from gateway.replica_metrics import of_controllers, of_decisions, of_replicas

AT = "2026-05-01T08:00:00.123Z"


def samples(families: Iterable[Metric]) -> dict[tuple[str, ...], float]:
    return {
        (sample.name.removeprefix("gantry_"), *sample.labels.values()): sample.value
        for family in families
        for sample in family.samples
    }


def test_a_replica_tells_of_itself_what_it_knows_and_a_static_broker_nothing() -> None:
    known = {"replicaId": "2", "masterEpoch": "5", "confirmOffset": "70", "roleChanges": "3", "cutBytes": "9"}
    known |= {"waitsForRoom": "1"}
    fenced = {"replicaId": "3", "confirmOffset": "0", "roleChanges": "0", "cutBytes": "0"}
    tables = (known, fenced, {"confirmOffset": "1"})

    assert samples(of_replicas(("c", "b", BrokerRuntime(table)) for table in tables)) == {
        ("replica_epoch", "c", "b", "2"): 5,
        ("replica_confirm_offset", "c", "b", "2"): 70,
        ("replica_confirm_offset", "c", "b", "3"): 0,
        ("replica_role_changes_total", "c", "b", "2"): 3,
        ("replica_role_changes_total", "c", "b", "3"): 0,
        ("replica_cut_bytes_total", "c", "b", "2"): 9,
        ("replica_cut_bytes_total", "c", "b", "3"): 0,
        ("replica_waits_for_room", "c", "b", "2"): 1,
    }


def test_who_is_in_sync_is_told_of_every_replica_and_of_none_that_nobody_knows() -> None:
    names = DecidedNames(items=[DecidedName(broker="b", in_sync=[1], replicas=[1, 2])])

    found = samples(of_decisions({"c": names, "lost": DecidedNames(items=[])}))
    assert found == {("replica_in_sync", "c", "b", "1"): 1, ("replica_in_sync", "c", "b", "2"): 0}


def controller(address: str, **known: object) -> ControllerState:
    empty: dict[str, object] = dict.fromkeys(ControllerState.__struct_fields__)
    shown = {"reachable": True, "leading": False, "members": [], "names": [], "set_back": [], "unsettled": []}
    return ControllerState(**{**empty, **shown, "address": address, **known})  # type: ignore[arg-type]


def test_a_silent_controller_has_no_samples_and_one_without_its_engine_says_so() -> None:
    rows = [
        controller("a", leading=True, age_ms=5, last_decision_ms=12.5, conflicts=2, unsettled_count=1),
        controller("b", age_ms=60_000, conflicts=0, unsettled_count=0),
        controller("c", reachable=False),
    ]

    assert samples(of_controllers({"x": Controllers(at=AT, leader="a", controllers=rows)})) == {
        ("controller_leading", "x", "a"): 1,
        ("controller_leading", "x", "b"): 0,
        ("controller_engine_up", "x", "a"): 1,
        ("controller_engine_up", "x", "b"): 0,
        ("controller_decisions_seconds", "x", "a"): 0.0125,
        ("controller_conflicts_total", "x", "a"): 2,
        ("controller_conflicts_total", "x", "b"): 0,
        ("controller_unsettled_total", "x", "a"): 1,
        ("controller_unsettled_total", "x", "b"): 0,
    }
