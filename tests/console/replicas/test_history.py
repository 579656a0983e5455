"""Requirements of `console.replicas.history` and `watch`: each switch is kept once, with why and when."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from asgiref.sync import sync_to_async

from broker_core.client.errors import NotSupported
from broker_core.protocol.bodies.controller import Election, LastChange, MasterLife, NameState, ReplicaState, new_state
from console.clusters.models import Cluster
from console.replicas import history
from console.replicas.figures import DecidedFigures
from console.replicas.models import SeenDecision
from console.replicas.shapes import FailoverOfReplica, Replica, Replicas
from console.replicas.watch import ReplicaWatch
from tests.console.replicas.administered import administered
from tests.support.cast import Cast
from tests.support.replica_group import replica_group
from tests.support.scripted import scripted_cluster
from tests.support.wait import eventually

AT = 1_777_622_400_000


@pytest.fixture
def cluster(transactional_db: None) -> Cluster:
    return Cluster.objects.create(name="prod", name_servers=["127.0.0.1:1"])


def state(epoch: int, master: int | None, *in_sync: int, version: int = 1, why: str = "killed") -> NameState:
    life = None if master is None else MasterLife(master, "1-a")
    last = LastChange(why, "n1", AT)
    return replace(new_state("b", "C"), epoch=epoch, version=version, master=life, in_sync=list(in_sync), last=last)


def elected(epoch: int, master: int, *in_sync: int, why: str) -> Election:
    life = MasterLife(master, "1-a")
    return Election(epoch=epoch, version=1, master=life, in_sync=list(in_sync), why=why, by="n2", at=AT + epoch)


def at_moment(decided: NameState, at: int) -> NameState:
    return replace(decided, last=LastChange("killed", "n1", at))


def replicas(*ids: int) -> Replicas:
    """Return replicas that are in sync, as the API shows them."""
    fields = dict.fromkeys(Replica.__struct_fields__)
    led = FailoverOfReplica(in_sync=True, heard=True, clean=True, life="1-a", confirm=None, last_epoch=1, epochs=None)
    rows = [Replica(**{**fields, "broker_id": number, "failover": led}) for number in ids]  # type: ignore[arg-type]
    return Replicas(
        broker="b",
        at="",
        mode="failover",
        master_id=1,
        failover=None,
        failover_reason=None,
        may_adopt=False,
        told=None,
        last_known=None,
        replicas=rows,
        streams=None,
        streams_reason=None,
        silent_name_servers=[],
    )


def kept(limit: int = 20) -> list[tuple[int, int | None, list[int]]]:
    return [(each.epoch, each.master_id, each.in_sync) for each in history.read("prod", "b", limit).items]


def test_what_differs_in_epoch_master_or_set_is_kept_with_why_and_when(cluster: Cluster) -> None:
    for each in (
        state(1, 1, 1, 2),
        state(1, 1, 2, 1, version=2),
        state(1, 1, 1, version=3),
        state(1, None, 1, version=4),
    ):
        history.keep("prod", [each], AT + 5)
    history.keep("prod", [state(2, 2, 2, why="replica 1 is not heard")], AT + 7)

    assert kept() == [(2, 2, [2]), (1, None, [1]), (1, 1, [1]), (1, 1, [1, 2])]
    newest = history.read("prod", "b", 1).items[0]
    assert (newest.why, newest.by) == ("replica 1 is not heard", "n1")
    assert (newest.at, newest.seen_at) == ("2026-05-01T08:00:00.000Z", "2026-05-01T08:00:00.007Z")
    assert history.read("prod", "other", 20).items == []


def test_each_election_is_kept_with_its_reason_also_when_more_was_decided_since(cluster: Cluster) -> None:
    elections = [elected(1, 1, 1, 2, why="without master"), elected(2, 2, 1, 2, why="killed")]
    started = replace(state(2, 2, 1, 2, version=9, why="replica 1 started"), elected=elections)
    history.keep("prod", [started], AT + 5)
    assert [(each.epoch, each.why, each.by) for each in history.read("prod", "b", 9).items] == [(2, "killed", "n2")]

    more = [*elections, elected(3, 1, 1, 2, why="silent"), elected(4, 2, 1, 2, why="by hand")]
    left = replace(state(4, 2, 2), last=LastChange("replica 1 left the in-sync set", "n1", AT + 8), elected=more)
    for _ in range(2):
        history.keep("prod", [left], AT + 9)
    assert [(each.epoch, each.why, each.in_sync) for each in history.read("prod", "b", 9).items] == [
        (4, "replica 1 left the in-sync set", [2]),
        (4, "by hand", [1, 2]),
        (3, "silent", [1, 2]),
        (2, "killed", [1, 2]),
    ]
    assert history.elections("prod", AT + 5) == {"b": [AT + 9, AT + 9]}


def with_replicas(decided: NameState, *ids: int) -> NameState:
    return replace(decided, replicas={each: ReplicaState("h:1", "h:2", "1-a", "c", True, 1) for each in ids})


def test_a_replica_that_came_and_one_that_went_are_told_also_outside_the_set(cluster: Cluster) -> None:
    # Another change may follow within the two seconds between looks, so the last one need not say that it is new.
    for each in (
        with_replicas(state(1, 1, 1, 2), 1, 2, 3),
        with_replicas(state(1, 1, 1, 2, version=2, why="replica 4 started"), 1, 2, 3, 4),
        with_replicas(state(1, 1, 1, 2, version=3, why="replica 3 removed"), 1, 2, 4),
        with_replicas(state(1, 1, 1, 2, 4, version=4, why="replica 4 joined the in-sync set"), 1, 2, 4),
    ):
        for _ in range(2):
            history.keep("prod", [each], AT)

    found = history.read("prod", "b", 3).items
    assert [(each.why, each.added, each.removed) for each in found] == [
        ("replica 4 joined the in-sync set", [], []),
        ("replica 3 removed", [], [3]),
        ("replica 4 started", [4], []),
    ]


def test_an_election_between_two_looks_hides_no_new_replica(cluster: Cluster) -> None:
    history.keep("prod", [with_replicas(state(1, 1, 1, 2), 1, 2)], AT)
    new = LastChange("replica 3 is new", "n1", AT + 5)
    after = replace(state(2, 2, 1, 2, version=2), last=new, elected=[elected(2, 2, 1, 2, why="killed")])
    history.keep("prod", [with_replicas(after, 1, 2, 3)], AT)

    found = history.read("prod", "b", 9).items
    assert [(each.why, each.added) for each in found][:2] == [("replica 3 is new", [3]), ("killed", [])]


def test_what_was_kept_before_replicas_were_is_no_change_of_them(cluster: Cluster) -> None:
    history.keep("prod", [state(1, 1, 1, 2)], AT)
    SeenDecision.objects.update(replicas=None)
    history.keep("prod", [with_replicas(state(1, 1, 1, 2), 1, 2)], AT)
    history.keep("prod", [with_replicas(state(1, 1, 1, 2, version=2, why="replica 3 is new"), 1, 2, 3)], AT)

    assert [each.added for each in history.read("prod", "b", 9).items] == [[3], []]


def test_of_each_name_the_oldest_go(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "MAX_KEPT", 3)
    for epoch in range(1, 6):
        history.keep("prod", [state(epoch, 1, 1)], AT)
    assert [epoch for epoch, _, _ in kept()] == [5, 4, 3]


def test_an_election_is_another_epoch_than_before_and_not_the_first_that_is_seen(cluster: Cluster) -> None:
    set_back = state(3, 1, 1), state(4, 2, 2)
    states = state(3, 1, 1), state(3, 1, 1, 2), state(4, 2, 2), *set_back, state(4, None, 2), state(7, 1, 1)
    for at, each in enumerate(states):
        history.keep("prod", [each], AT + at)

    assert history.elections("prod", AT) == {"b": [AT + 2, AT + 6]}
    assert history.elections("prod", AT + 2) == {"b": [AT + 6]}
    assert history.elections("prod", AT + 9) == {}
    assert (history.names("prod"), history.names("other")) == (["b"], [])


def test_what_an_engine_tells_again_after_it_was_restored_is_kept_once_in_the_order_of_its_time(
    cluster: Cluster,
) -> None:
    led = [at_moment(state(epoch, 1, 1, 2, version=epoch), AT + epoch) for epoch in (1, 2, 3)]
    for each in led:
        history.keep("prod", [each], AT + 10)
    # Restored from a copy of epoch 1: it tells that again, and then what was decided after it
    for each in (led[0], led[2]):
        history.keep("prod", [each], AT + 20)
    history.keep("prod", [at_moment(state(1003, 2, 2, version=9), AT + 30)], AT + 30)
    assert [epoch for epoch, _, _ in kept()] == [1003, 3, 2, 1]


def test_an_adoption_is_an_entry_with_the_user_and_no_election(cluster: Cluster) -> None:
    history.keep("prod", [state(2, 1, 1, 2)], AT)
    adopted = replace(state(1002, None, 1, 2, version=3), last=LastChange("adopted with 1, 2", "n1", AT + 5))
    made = replace(state(1003, 2, 1, 2, version=4), last=LastChange("without master", "n1", AT + 6))
    # The sampler may have seen it too, and the election before the console notes who adopted it
    history.keep("prod", [adopted], AT + 5)
    history.keep("prod", [made], AT + 7)
    history.keep_adoption("prod", adopted, "alice", AT + 8)
    history.keep("prod", [made], AT + 9)

    assert [(each.epoch, each.why) for each in history.read("prod", "b", 9).items] == [
        (1003, "without master"),
        (1002, "adopted with 1, 2 by alice"),
        (2, "killed"),
    ]
    assert history.elections("prod", AT) == {"b": [AT + 7]}


def test_a_replica_is_in_sync_since_it_entered_the_set_last(cluster: Cluster) -> None:
    sets = (1, 2), (1,), (1, 2), (1, 2, 3), (1, 2)
    for at, in_sync in enumerate(sets):
        history.keep("prod", [at_moment(state(1, 1, *in_sync, version=at), AT + at)], AT + at)

    def since(*ids: int) -> list[str | None]:
        rows = history.with_since("prod", replicas(*ids)).replicas
        return [None if each.failover is None else each.failover.in_sync_since for each in rows]

    assert since(1, 2) == ["2026-05-01T08:00:00.000Z", "2026-05-01T08:00:00.002Z"]
    assert since(3) == [None]


def test_nothing_is_kept_of_a_cluster_that_was_removed(cluster: Cluster) -> None:
    cluster.delete()
    history.keep("prod", [state(1, 1, 1)], AT)
    assert kept() == []


def test_readers_of_the_whole_cluster_see_it(cluster: Cluster, cast: Cast) -> None:
    history.keep("prod", [state(1, 1, 1, 2)], AT)
    history.keep("prod", [state(2, None, 2)], AT)
    path = "/api/v1/clusters/prod/brokers/b/replicas/history"

    viewer = cast.browser("viewer")
    found = viewer.get(path, {"limit": 1}).json()

    assert found == {"broker": "b", "items": [{
        "epoch": 2, "version": 1, "master_id": None, "in_sync": [2], "added": [], "removed": [],
        "why": "killed", "by": "n1",
        "at": "2026-05-01T08:00:00.000Z", "seen_at": "2026-05-01T08:00:00.000Z",
    }]}  # fmt: skip
    assert viewer.get(path, {"limit": 0}).status_code == 422


async def test_a_switch_is_seen_once(cluster: Cluster, tmp_path: Path) -> None:
    watch = ReplicaWatch("prod")
    async with replica_group(tmp_path) as group, administered(group.name_server) as admin:
        await watch.look(admin, AT)
        assert watch.figures == {"b": DecidedFigures(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)}
        await watch.look(admin, AT)
        (successor,) = group.slaves()
        number = successor.components.roles.now.broker_id
        await admin.replication.elect("b", number)
        await eventually(lambda: successor.components.roles.now.is_master)
        await watch.look(admin, AT)
        # Another sampler that takes over keeps nothing twice
        await ReplicaWatch("prod").look(admin, AT)
        before = await sync_to_async(kept)()
    assert before == [(2, number, [1, 2]), (1, 3 - number, [1, 2]), (1, 3 - number, [3 - number])]


async def test_without_controllers_there_is_nothing_to_keep(cluster: Cluster) -> None:
    async with scripted_cluster("b") as scripted, administered(scripted.name_server.addr) as admin:
        with pytest.raises(NotSupported):
            await ReplicaWatch("prod").look(admin, AT)
