"""Requirements of `console.replicas.costs`: what another master lacks, and who pauses; what nobody tells is unknown."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from broker_core.protocol import bodies
from broker_core.protocol.bodies.controller import MasterLife, NameState, ReplicaState, new_state
from broker_core.protocol.bodies.locks import LockBatchRequestBody
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.bodies.replicas import HeardReplica, PossibleLoss, Preview
from broker_core.protocol.headers.clients import LockBatchMqRequest
from console.replicas.changing_shapes import LossBound
from console.replicas.costs import costs_of, keeps_acknowledged, lacking_of, loss_of, next_masters, own_least_of
from tests.console.replicas.administered import administered
from tests.support.replica_group import replica_group


def state(master: int | None) -> NameState:
    return replace(new_state("b", "C"), master=None if master is None else MasterLife(master, "1-a"), in_sync=[1, 2])


def lacking(before: NameState | None, after: NameState, *, handed_over: bool | None = None, **ends: int) -> int | None:
    heard = [HeardReplica(int(name[1:]), end=end) for name, end in ends.items()]
    return lacking_of(Preview(after, before, heard, handed_over=handed_over))


def test_a_new_master_lacks_what_the_old_one_had() -> None:
    assert lacking(state(1), state(2), r1=100, r2=70) == 30
    assert lacking(state(1), state(1), r1=100, r2=70) is None


def test_after_an_election_only_what_was_handed_over_or_stood_still_is_known() -> None:
    assert lacking(state(1), state(2), r1=100, r2=70, handed_over=True) == 0
    assert lacking(state(1), state(2), r1=100, r2=70, handed_over=False) is None
    assert lacking(state(None), state(2), r1=100, r2=70, handed_over=False) == 30


def test_what_silent_replicas_had_is_not_known() -> None:
    assert lacking(state(1), state(3), r3=70) is None
    assert lacking(state(1), state(2), r2=70, r3=10) is None
    assert lacking(state(None), state(3), r3=70, r1=100, r2=100) == 30
    assert lacking(None, state(2), r2=70) is None


def test_a_clean_member_of_the_set_has_every_acknowledged_message_and_no_other_is_said_to() -> None:
    def known(replica: int, *, clean: bool) -> NameState:
        return replace(state(1), replicas={replica: ReplicaState("h:1", "h:2", "1-a", "c", clean, 1)})

    assert keeps_acknowledged(Preview(state(2), known(2, clean=True))) is True
    assert keeps_acknowledged(Preview(state(2), known(2, clean=False))) is False
    assert keeps_acknowledged(Preview(state(3), known(3, clean=True))) is False
    assert keeps_acknowledged(Preview(state(1), known(1, clean=True))) is None
    assert keeps_acknowledged(Preview(state(2))) is None


def test_the_bound_of_a_loss_has_its_age_and_none_is_told_where_nothing_is_lost_or_measured() -> None:
    def known(*in_sync: int) -> NameState:
        replicas = {2: ReplicaState("h:1", "h:2", "1-a", "c", True, 1)}
        return replace(state(1), replicas=replicas, in_sync=list(in_sync))

    measured = PossibleLoss(most_bytes=30, id=1, end=100, age_ms=5_000)
    bound = loss_of(Preview(state(2), known(1), loss=measured), 1_777_593_605_000)

    assert bound == LossBound(most_bytes=30, replica_id=1, log_end=100, as_of="2026-05-01T00:00:00.000Z")
    assert loss_of(Preview(state(2), known(1)), 5_000) is None
    assert loss_of(Preview(state(2), known(1, 2), loss=measured), 5_000) is None


def test_after_an_adoption_the_longest_log_of_the_set_is_elected_if_all_are_heard() -> None:
    def elected(*heard: HeardReplica) -> list[int]:
        return next_masters(Preview(state(None), heard=list(heard)))

    one, other = HeardReplica(1, last_epoch=4, end=100), HeardReplica(2, last_epoch=5, end=70)
    assert elected(one, other, HeardReplica(3, last_epoch=9, end=900)) == [2]
    assert elected(one, replace(one, id=2)) == [1, 2]
    assert elected(one) == []
    assert next_masters(Preview(state(1), heard=[one, other])) == []


async def test_groups_that_hold_queues_at_the_old_master_pause(tmp_path: Path) -> None:
    async with replica_group(tmp_path) as group, administered(group.name_server) as admin:
        master = await group.master()
        successor = group.slaves()[0].components.roles.now.broker_id
        await group.send(master, b"x")
        before = await admin.replication.preview_election("b", successor)
        assert (await costs_of(admin, before)).orderly_groups == []
        body = LockBatchRequestBody("billing", "client-1", [MessageQueue("T", "b", 0)])
        await group.ask(master, LockBatchMqRequest(), bodies.encode(body))
        found = await costs_of(admin, await admin.replication.preview_election("b", successor))
        await group.stop(group.masters()[0])
        silent = await costs_of(admin, before)

    assert (found.orderly_groups, found.orderly_groups_total) == (["billing"], 1)
    assert found.has_until is not None
    assert (found.own_least, silent.own_least) == (1, 1)
    assert (silent.orderly_groups, silent.orderly_groups_total) == (None, None)


async def test_what_another_replica_at_the_old_masters_address_says_counts_not(tmp_path: Path) -> None:
    async with replica_group(tmp_path) as group, administered(group.name_server) as admin:
        master = await group.master()
        await group.send(master, b"x")
        successor = group.slaves()[0].components.roles.now.broker_id
        change = await admin.replication.preview_election("b", successor)
        assert change.before is not None
        assert change.before.master is not None
        old = change.before.master.id
        replicas = {**change.before.replicas, 9: change.before.replicas[old]}
        heard = [HeardReplica(9 if each.id == old else each.id, end=each.end) for each in change.heard]
        before, after = replace(change.before, replicas=replicas), replace(change.after, replicas=replicas)

        found = await costs_of(admin, replace(change, before=before, after=after, heard=heard))

    assert found.has_until is not None
    assert (found.orderly_groups, found.orderly_groups_total) == (None, None)


async def test_the_settings_of_a_silent_master_are_not_known(tmp_path: Path) -> None:
    async with replica_group(tmp_path) as group, administered(group.name_server) as admin:
        now = (await admin.replication.state("b")).state
        known = await own_least_of(admin, now)
        await group.stop(group.masters()[0])
        silent = await own_least_of(admin, now)

    assert (known, silent) == (1, None)
