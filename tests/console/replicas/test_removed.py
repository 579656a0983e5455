"""Requirements of `console.replicas.removed`: where the process of a removed replica is, and that nobody stops it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from broker_core.protocol.bodies.controller import NameState, ReplicaState, new_state
from broker_core.protocol.bodies.replicas import Preview
from console.replicas.removed import removed_of
from tests.console.replicas.administered import administered
from tests.support.replica_group import replica_group


def state(**addresses: str) -> NameState:
    replicas = {int(name[1:]): ReplicaState(addr, "", "1-a", "c", True, 1) for name, addr in addresses.items()}
    return replace(new_state("b", "C"), replicas=replicas)


async def test_the_process_of_a_removed_replica_goes_on_and_tells_where_its_folder_is(tmp_path: Path) -> None:
    async with replica_group(tmp_path) as group, administered(group.name_server) as admin:
        await group.master()
        (slave,) = group.slaves()
        number = slave.components.roles.now.broker_id
        would = await admin.replication.remove("b", [number], even_living=True, dry_run=True)
        previewed = await removed_of(admin, would)
        kept = await removed_of(admin, await admin.replication.set_policy("b", min_in_sync=1, dry_run=True))

        made = await removed_of(admin, await admin.replication.remove("b", [number], even_living=True))
        address, folder = slave.address, next(each for each, one in group.brokers.items() if one is slave)
        await group.stop(folder)
        stopped = await removed_of(admin, would)

    assert previewed is not None
    assert (previewed.replica_id, previewed.address, previewed.runs) == (number, address, True)
    assert previewed.folder == str(tmp_path / f"b{folder}")
    assert previewed.advice.startswith("its process goes on without a part, and serves nothing: stop it")
    assert kept is None
    assert made == previewed
    assert stopped is not None
    assert (stopped.address, stopped.runs, stopped.folder) == (address, None, None)
    assert stopped.advice.startswith("see that its process is stopped")


async def test_nobody_is_told_to_stop_another_replica_at_the_address(tmp_path: Path) -> None:
    async with replica_group(tmp_path) as group, administered(group.name_server) as admin:
        master = await group.master()
        number, at = master.failover.replica.identity.broker_id if master.failover else 0, master.address
        before, after = state(r9=at, r1="127.0.0.1:1"), state(r1="127.0.0.1:1")
        answers = await removed_of(admin, Preview(after, before))
        silent, after = "127.0.0.1:1", state(r8="127.0.0.1:1")
        registered = await removed_of(admin, Preview(after, state(r8=silent, r9=silent)))
        never = await removed_of(admin, Preview(state(), state(r9="")))

    assert answers is not None
    assert (answers.runs, answers.successor_id, answers.folder) == (False, number, None)
    assert answers.advice == f"replica {number} is at its address now: leave that process and its folder alone"
    assert registered is not None
    assert (registered.runs, registered.successor_id, registered.folder) == (None, 8, None)
    assert never is not None
    assert (never.address, never.runs, never.folder) == (None, None, None)
