"""Requirements of `console.replicas.adding` and `starting`: what one more replica would be, and how it is started."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from broker_core.client.admin.clusters import BrokerRuntime
from broker_core.client.admin.replication import KnownState
from broker_core.protocol.bodies.controller import (
    STATE_BYTES,
    MasterLife,
    NamePolicy,
    NameState,
    ReplicaState,
    has_room_for_another,
    new_state,
)
from console.errors import Conflict
from console.replicas import adding
from console.replicas.adding import Said, shown
from console.replicas.starting import Place, Start, on_a_machine
from tests.console.replicas.administered import administered
from tests.support.replica_group import replica_group

SETTINGS = {
    "namesrvAddr": "10.0.0.11:9876;10.0.0.12:9876",
    "controllerAddr": "10.0.0.11:9876;10.0.0.12:9876",
    "minInSyncReplicas": "2",
    "flushDiskType": "SYNC_FLUSH",
    "mappedFileSizeCommitLog": "134217728",
    "aclEnable": "false",
    "maxHaTransferByteInSecond": "104857600",
}
MASTER = BrokerRuntime({"commitLogMinOffset": "1000", "commitLogMaxOffset": "6000", "minInSyncReplicas": "2"})
HERE = Start("GANTRY_REPLICAS=4 make up")


def three(**fields: object) -> NameState:
    kept = {each: ReplicaState(f"10.0.0.1{each}:10911", "h:2", "1-a", "c", True, 1) for each in (1, 2, 4)}
    state = replace(
        new_state("broker-a", "shop"),
        master=MasterLife(2, "1-a"), in_sync=[1, 2], replicas=kept, next_id=5, policy=NamePolicy(min_in_sync=1),
    )  # fmt: skip
    return replace(state, **fields)  # type: ignore[arg-type]


def said(state: NameState, master: BrokerRuntime | None = MASTER, settings: Mapping[str, str] = SETTINGS) -> Said:
    return Said(KnownState(state, False, None, 0), master, 2 if settings else None, settings)


def test_it_gets_the_next_id_and_counts_for_nothing_until_it_has_the_log() -> None:
    found = shown(said(three()), HERE)

    assert (found.replica_id, found.master_id, found.refused, found.most_replicas) == (5, 2, None, None)
    assert (found.copy_bytes, found.copy_bytes_per_second) == (5000, 104857600)
    assert [
        (each.replicas, each.in_sync, each.failures) for each in (found.before, found.started, found.caught_up)
    ] == [
        ([1, 2, 4], [1, 2], 0),
        ([1, 2, 4, 5], [1, 2], 0),
        ([1, 2, 4, 5], [1, 2, 5], 1),
    ]


def test_what_a_silent_master_does_not_tell_is_unknown() -> None:
    found = shown(said(three(), master=None, settings={}), HERE)

    assert (found.copy_bytes, found.copy_bytes_per_second, found.settings_of) == (None, None, None)
    assert (found.before.effective_min_in_sync, found.before.failures, found.caught_up.failures) == (None, None, None)


def test_make_up_wants_two_in_sync_from_three_replicas_on_and_starts_five_at_most() -> None:
    two = BrokerRuntime({**MASTER.table, "minInSyncReplicas": "1"})
    found = shown(said(three(), two), HERE, least=2, started_here=3)
    assert (found.before.failures, found.started.failures, found.caught_up.failures) == (1, 0, 1)
    assert (found.most_replicas, found.refused) == (5, None)
    assert shown(said(three()), HERE, least=2, started_here=6).refused == "most_here"


def test_where_nothing_is_decided_or_there_is_no_room_none_can_be_added() -> None:
    set_back = Said(KnownState(three(), True, None, 0))
    assert shown(set_back, HERE).refused == "set_back"
    many = {each: ReplicaState("10.0.0.1:10911", "h:2", "1-a", "c" * 99, True, 1) for each in range(1, 400)}
    full = three(replicas=many, next_id=400)
    assert not has_room_for_another(full)
    assert STATE_BYTES // 2 < 400 * 99
    assert shown(said(full), HERE).refused == "no_room"


def test_the_file_of_a_machine_has_the_values_of_the_others() -> None:
    found = on_a_machine(three(), SETTINGS, ["127.0.0.1:1"], Place("10.0.0.14"), has_tls=False)

    assert found.configuration == (
        "brokerClusterName=shop\n"
        "brokerName=broker-a\n"
        "brokerIP1=10.0.0.14\n"
        "listenPort=10911\n"
        "storePathRootDir=/var/lib/gantry/a/store\n"
        "namesrvAddr=10.0.0.11:9876;10.0.0.12:9876\n"
        "enableControllerMode=true\n"
        "controllerAddr=10.0.0.11:9876;10.0.0.12:9876\n"
        "minInSyncReplicas=2\n"
        "flushDiskType=SYNC_FLUSH\n"
        "mappedFileSizeCommitLog=134217728\n"
    )
    assert (found.file, found.command) == ("/etc/gantry/broker-a.conf", "systemctl enable --now gantry-broker@a")
    assert found.missing == []


def test_what_the_file_lacks_is_named() -> None:
    alone = on_a_machine(three(name="b|1"), {}, ["127.0.0.1:9876"], Place(port=10921), has_tls=True)
    assert alone.missing == ["address", "settings", "tls", "reachable_names"]
    assert "brokerIP1" not in str(alone.configuration)
    assert "listenPort=10921\n" in str(alone.configuration)
    assert alone.command == "systemctl enable --now gantry-broker@b-1"

    guarded = {**SETTINGS, "aclEnable": "true", "aclReplicaAccount": "copies"}
    found = on_a_machine(three(), guarded, [], Place("10.0.0.14"), has_tls=False)
    assert found.missing == ["accounts"]
    assert str(found.configuration).endswith("aclEnable=true\naclReplicaAccount=copies\n")


def test_a_place_where_another_replica_is_is_refused() -> None:
    for taken in (Place("10.0.0.12"), Place("10.0.0.12", 10911)):
        with pytest.raises(Conflict, match=r"Replica 2 of broker-a is at 10\.0\.0\.12:10911"):
            adding.check_free(three(), taken)
    for free in (Place(), Place("10.0.0.13"), Place("10.0.0.12", 10921)):
        adding.check_free(three(), free)


async def test_what_the_processes_tell_is_asked_of_the_master_and_of_another_where_it_is_silent(tmp_path: Path) -> None:
    async with replica_group(tmp_path) as group, administered(group.name_server) as admin:
        master = await group.master()
        await group.send(master, b"x")
        heard = await adding.asked(admin, "b")
        old = heard.settings_of
        await group.stop(group.masters()[0])
        silent = await adding.asked(admin, "b")

    assert (heard.known.state.next_id, heard.settings["enableControllerMode"]) == (3, "true")
    assert old == 1 or old == 2
    assert heard.master is not None
    assert heard.master.commit_log_bytes is not None
    assert silent.settings_of == 3 - old
