"""Which processes of a broker name an overview shows."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from broker_core.client.admin.clusters import BrokerAddress
from broker_core.protocol.bodies.controller import MasterLife, NameState, ReplicaState, new_state
from console.clusters.memory import RememberedBroker, RememberedProcess
from console.lag.processes import Process, processes_of

SEEN = datetime(2026, 5, 1, 8, tzinfo=UTC)


def listed(broker_id: int, port: int) -> BrokerAddress:
    return BrokerAddress("C", "b", broker_id, f"h:{port}")


def led(addresses: dict[int, int], master: int | None) -> NameState:
    """Return a state with replicas at these ports."""
    replicas = {number: ReplicaState(f"h:{port}", "", "1-a", "", True, 1) for number, port in addresses.items()}
    return replace(new_state("b", "C"), replicas=replicas, master=None if master is None else MasterLife(master, "1-a"))


def known(*processes: tuple[int, int]) -> RememberedBroker:
    """Return a broker of which these processes were seen: their ids and ports."""
    gone = [RememberedProcess(number, f"h:{port}", SEEN) for number, port in processes]
    return RememberedBroker("b", {}, SEEN, SEEN, processes=gone)


def shown(found: list[Process]) -> list[tuple[int | None, int, str, str | None]]:
    return [(each.replica_id, each.broker_id, each.role, each.gone) for each in found]


def test_a_master_has_the_id_of_its_replica_and_a_dead_one_is_still_there() -> None:
    found = processes_of([listed(0, 2), listed(3, 3)], {"b": led({1: 1, 2: 2, 3: 3}, 2)}, {})
    gone = "b 1 is not listed by any name server"
    assert shown(found) == [(1, 1, "slave", gone), (2, 0, "master", None), (3, 3, "slave", None)]


def test_the_last_master_is_shown_as_such_until_another_one_is_listed() -> None:
    state = led({1: 1, 2: 2}, 1)
    assert [each.role for each in processes_of([listed(2, 2)], {"b": state}, {})] == ["master", "slave"]
    assert [each.role for each in processes_of([listed(0, 2)], {"b": state}, {})] == ["slave", "master"]


def test_a_replica_whose_folder_was_lost_has_a_successor_at_its_address() -> None:
    found = processes_of([listed(0, 1), listed(4, 2)], {"b": led({1: 1, 2: 2, 4: 2}, 1)}, {})
    assert [(each.replica_id, each.gone) for each in found] == [
        (1, None), (2, "replica 4 is at its address now"), (4, None),
    ]  # fmt: skip


def test_a_process_that_no_controller_knows_yet_has_no_replica_id() -> None:
    found = processes_of([listed(0, 1), listed(7, 9)], {"b": led({1: 1}, 1)}, {})
    assert [(each.replica_id, each.role) for each in found] == [(1, "master"), (None, "slave")]


def test_a_slave_is_remembered_where_roles_are_fixed() -> None:
    found = processes_of([listed(0, 1)], {}, {"b": known((0, 1), (1, 2), (2, 3))})
    assert [(each.broker_id, each.role, each.address) for each in found] == [
        (0, "master", "h:1"), (1, "slave", "h:2"), (2, "slave", "h:3"),
    ]  # fmt: skip
    assert [each.gone for each in found][1:] == [f"b {number} is not listed by any name server" for number in (1, 2)]


def test_in_the_place_of_a_process_there_may_be_another_one() -> None:
    remembered = {"b": known((0, 1), (1, 2))}
    assert [each.broker_id for each in processes_of([listed(0, 2), listed(1, 9)], {}, remembered)] == [0, 1]
    assert [each.broker_id for each in processes_of([listed(0, 1), listed(5, 2)], {}, remembered)] == [0, 5]


def test_a_name_that_nobody_lists_keeps_its_processes() -> None:
    assert [each.broker_id for each in processes_of([], {}, {"b": known((0, 1), (1, 2))})] == [0, 1]
    assert [each.replica_id for each in processes_of([], {"b": led({1: 1, 2: 2}, None)}, {})] == [1, 2]
