"""Requirements of `console.replicas.reading`: every process of a name, and none taken for healthy that is silent."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from broker_core.broker.config import FailoverSettings
from broker_core.client.admin import Admin
from broker_core.client.answers import Answers
from broker_core.client.config import ClientConfig
from broker_core.client.producer import Producer
from broker_core.client.session import Session
from broker_core.protocol.bodies.coder import encode_strict
from broker_core.protocol.bodies.controller import encode_state
from broker_core.protocol.bodies.replicas import ControllerInfo
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers import controller as headers
from broker_core.protocol.message import Message
from console.clusters.memory import RememberedBroker, RememberedProcess
from console.errors import BrokersSilent
from console.replicas.changing import known_state
from console.replicas.reading import Asked, Past, asked, shown, with_unlisted
from console.replicas.shapes import PastDecision, Replicas
from tests.console.replicas.administered import administered
from tests.support.cluster import create_topic, several_brokers
from tests.support.ports import free_ports
from tests.support.replica_group import replica_group
from tests.support.scripted import say_nothing, scripted_cluster, succeed
from tests.support.wait import eventually

SEEN_AT = datetime(2026, 5, 1, 8, tzinfo=UTC)
SEEN_TEXT = "2026-05-01T08:00:00.000Z"


async def read(session: Session) -> Replicas:
    return shown("broker-a", await asked(Admin(session), "broker-a"))


async def send_to_master(session: Session) -> None:
    await create_topic(session, "orders", queues=1)
    producer = Producer(session)
    await producer.start()
    await producer.send(Message("orders", b"x" * 1_000))
    await producer.close()


def without(said: Asked, address: str) -> Asked:
    """Return the same as if nobody answered at `address`."""
    found = {addr: runtime for addr, runtime in said.found.items() if addr != address}
    copying = {addr: told for addr, told in said.copying.found.items() if addr != address}
    return replace(said, found=found, reasons={address: "it is gone"}, copying=Answers(copying))


async def test_a_process_that_accepts_and_says_nothing_is_unknown_soon() -> None:
    async with scripted_cluster("broker-a") as cluster, Session(ClientConfig([cluster.name_server.addr])) as session:
        cluster["broker-a"].on(RequestCode.GET_BROKER_RUNTIME_INFO, say_nothing())
        (frozen,) = (await read(session)).replicas
        assert (frozen.reachable, frozen.log_end) == (False, None)
        assert (frozen.reason or "").endswith("did not answer within 1 s")


async def test_a_frozen_name_server_is_named_and_costs_no_more_than_a_process() -> None:
    async with scripted_cluster("broker-a") as frozen, scripted_cluster("broker-a") as cluster:
        for code in (RequestCode.GET_BROKER_CLUSTER_INFO, RequestCode.NAME_STATE):
            frozen.name_server.on(code, say_nothing())
        servers = [frozen.name_server.addr, cluster.name_server.addr]
        async with Session(ClientConfig(servers)) as session:
            found = await read(session)
        (silent,) = found.silent_name_servers
        assert silent.address == frozen.name_server.addr
        assert silent.reason.endswith("did not answer within 1 s")
        (process,) = found.replicas
        assert process.address == cluster["broker-a"].addr


async def test_a_controller_whose_engine_is_silent_keeps_nobody_back() -> None:
    async with scripted_cluster("broker-a") as cluster, Session(ClientConfig([cluster.name_server.addr])) as session:
        told = headers.GetMetadataInfoResponse("local", "n1", "n1", is_leader=False, peers="n1")
        info = encode_strict(ControllerInfo(controller_id="n1"))
        cluster.name_server.on(RequestCode.NAME_STATE, say_nothing())
        cluster.name_server.on(
            RequestCode.CONTROLLER_GET_METADATA_INFO, succeed(lambda _: Command.response(0, told, info))
        )
        cluster["broker-a"].on(RequestCode.GET_BROKER_RUNTIME_INFO, say_nothing())
        found = await read(session)
        assert (found.mode, found.failover, [each.broker_id for each in found.replicas]) == ("failover", None, [0])
        assert found.failover_reason == "what keeps the controllers' decisions does not answer them"
        with pytest.raises(BrokersSilent, match="what keeps the controllers' decisions"):
            await known_state(Admin(session), "broker-a")


async def test_each_process_is_listed_with_what_it_lacks(tmp_path: Path) -> None:
    async with several_brokers(tmp_path, names=["broker-a", "broker-b"]) as cluster, cluster.session() as session:
        await cluster.start("broker-a", broker_id=1)
        await send_to_master(session)

        async def has_all() -> Replicas | None:
            found = await read(session)
            return found if found.replicas[1].behind_bytes == 0 else None

        await eventually(has_all)
        found = await read(session)

        assert (found.mode, found.master_id, found.failover, found.may_adopt) == ("static", 0, None, False)
        master, slave = found.replicas
        assert (master.broker_id, master.role, master.behind_bytes) == (0, "master", None)
        assert (slave.broker_id, slave.role, slave.reachable) == (1, "slave", True)
        assert slave.log_end == master.log_end
        assert (slave.behind_bytes, slave.behind_ms) == (0, 0)
        assert slave.started_at is not None


async def test_who_copies_the_log_is_told_by_master_and_slave(tmp_path: Path) -> None:
    async with several_brokers(tmp_path, names=[]) as cluster, cluster.session() as session:
        await cluster.start("broker-a", port=free_ports(2))
        await cluster.start("broker-a", broker_id=1)
        await send_to_master(session)

        async def stream() -> Replicas | None:
            found = await read(session)
            return found if found.streams and found.streams[0].lacking_bytes == 0 else None

        await eventually(stream)
        found = await read(session)

        master, slave = found.replicas
        assert found.streams is not None
        (only,) = found.streams
        assert (only.broker_id, only.acked, only.in_sync, found.streams_reason) == (None, master.log_end, True, None)
        assert (master.follows, slave.follows) == (None, master.address)
        said = await asked(Admin(session), "broker-a")
        silent = shown("broker-a", without(said, master.address))
        assert (silent.streams, silent.streams_reason) == (None, "it is gone")


async def test_the_master_itself_says_whether_sends_are_taken_and_which_replica_copies(tmp_path: Path) -> None:
    settings = FailoverSettings(is_on=True, heartbeat_ms=100, gone_ms=500, min_in_sync=2)
    async with (
        replica_group(tmp_path, settings=settings) as group,
        Session(ClientConfig(name_servers=(group.name_server,))) as session,
    ):
        admin = Admin(session)
        found = shown("b", await asked(admin, "b"))
        assert found.failover is not None
        assert found.streams is not None
        # The policy asks for one: the larger number counts
        assert (found.failover.min_in_sync, found.failover.effective_min_in_sync) == (1, 2)
        assert (found.failover.writable, found.failover.writable_reason) == (True, None)
        (slave,) = group.slaves()
        number = slave.components.roles.now.broker_id
        assert [(each.broker_id, each.in_sync) for each in found.streams] == [(number, True)]

        await group.stop(next(each for each, broker in group.brokers.items() if broker is slave))

        async def refused() -> bool:
            now = shown("b", await asked(admin, "b")).failover
            return now is not None and now.writable is False and "minInSyncReplicas" in (now.writable_reason or "")

        await eventually(refused)


async def test_who_stays_away_for_good_is_not_taken_for_caught_up_and_named_where_sends_wait(tmp_path: Path) -> None:
    async with replica_group(tmp_path, count=3) as group, administered(group.name_server) as admin:
        had_more = await group.lose()
        for number in had_more:
            await group.start(number)
        await admin.replication.set_policy("b", min_in_sync=2)

        async def both_are_held() -> Replicas | None:
            found = shown("b", await asked(admin, "b"))
            is_refused = found.failover is not None and found.failover.writable is False
            return found if is_refused and sum(each.held is not None for each in found.replicas) == 2 else None

        await eventually(both_are_held)
        found = shown("b", await asked(admin, "b"))
    master = next(each for each in found.replicas if each.role == "master")
    assert master.held is None
    held = [each for each in found.replicas if each is not master]
    for each in held:
        assert each.reachable
        assert (each.behind_bytes, each.behind_ms, each.follows) == (None, None, None)
        assert each.held is not None
        assert (each.held.code, each.held.common_end) == ("ahead", master.log_end)
        assert each.held.more_bytes == (each.log_end or 0) - (master.log_end or 0) > 0
    assert found.failover is not None
    assert found.failover.writable_reason == "; ".join(
        [
            "fewer replicas are in sync than minInSyncReplicas asks for",
            *(
                f"replica {each.broker_id} does not join by itself: "
                "keep a copy of its folder, remove it, empty the folder and start it again"
                for each in held
            ),
        ]
    )


async def test_a_slave_that_does_not_answer_is_unknown_and_one_without_master_is_not_caught_up(tmp_path: Path) -> None:
    async with several_brokers(tmp_path, names=["broker-a"]) as cluster, cluster.session() as session:
        await cluster.start("broker-a", broker_id=1)
        await send_to_master(session)
        said = await asked(Admin(session), "broker-a")
        master_at, slave_at = (each.addr for each in said.listed)

        silent = shown("broker-a", without(said, slave_at))
        alone = shown("broker-a", without(said, master_at))
        await cluster.stop("broker-a")
        left = await read(session)

        slave = silent.replicas[1]
        assert (slave.reachable, slave.reason, slave.log_end, slave.behind_bytes) == (False, "it is gone", None, None)
        assert (alone.replicas[1].log_end is None, alone.replicas[1].behind_bytes) == (False, None)
        assert [each.broker_id for each in left.replicas][-1] == 1


async def test_a_replica_whose_address_another_one_has_now_tells_nothing(tmp_path: Path) -> None:
    async with replica_group(tmp_path) as group, administered(group.name_server) as admin:
        master = await group.master()
        await group.send(master, b"x")
        said = await asked(admin, "b")
        assert said.decision is not None
        assert said.decision.known is not None
        now = said.decision.known.state
        # The master lost its folder: its process is replica 9, and master 1 of the decision is no more.
        gone = said.listed[[each.broker_id for each in said.listed].index(said.master_id or 0)]
        replicas = {**now.replicas, 9: now.replicas[gone.broker_id]}
        known = replace(said.decision.known, state=replace(now, replicas=replicas))
        heard = frozenset({*now.replicas, 9}) - {gone.broker_id}
        listed = [*said.listed, replace(gone, broker_id=9)]

        found = shown("b", replace(said, listed=listed, decision=replace(said.decision, known=known, heard=heard)))

    rows = {each.broker_id: each for each in found.replicas}
    old = rows.pop(gone.broker_id)
    assert (old.role, old.reachable, old.log_end) == ("master", False, None)
    assert old.reason == "replica 9 is at its address now"
    assert old.failover is not None
    assert (old.failover.confirm, old.failover.epochs) == (None, None)
    assert rows[9].reachable
    assert rows[9].log_end
    assert {each.behind_bytes for each in rows.values()} == {None}, "behind a master that nobody asked"


async def test_what_no_name_server_lists_any_more_stays_with_when_it_was_seen(tmp_path: Path) -> None:
    at = datetime(2026, 5, 1, 8, tzinfo=UTC)
    was = [RememberedProcess(0, "127.0.0.1:1", at), RememberedProcess(1, "127.0.0.1:2", at)]
    known = RememberedBroker("broker-a", {}, at, at, processes=was)
    async with several_brokers(tmp_path, names=["broker-a"]) as cluster, cluster.session() as session:
        found = shown("broker-a", with_unlisted(await asked(Admin(session), "broker-a"), known))
        master, slave = found.replicas
        assert (master.reachable, master.last_seen_at) == (True, None)
        assert (slave.broker_id, slave.role, slave.reachable) == (1, "slave", False)
        assert (slave.last_seen_at, slave.behind_bytes) == ("2026-05-01T08:00:00.000Z", None)
        assert slave.reason == "broker-a 1 is not listed by any name server"


def seen(*addresses: str, led_by: int | None = None) -> Past:
    """Return what the console saw: the processes as name servers list them, the first of them as master."""
    known = RememberedBroker("b", dict(enumerate(addresses)), SEEN_AT, SEEN_AT)
    decision = PastDecision(
        epoch=4,
        version=9,
        master_id=led_by,
        in_sync=[1, 2],
        added=[],
        removed=[],
        why="killed",
        by="n1",
        at=SEEN_TEXT,
        seen_at=SEEN_TEXT,
    )
    return Past(known, None if led_by is None else decision)


async def told_alone(past: Past, *, name: str = "b") -> Replicas:
    """Return the replicas as they are shown while the only name server accepts connections and is silent."""
    async with scripted_cluster("x") as frozen:
        for code in (RequestCode.GET_BROKER_CLUSTER_INFO, RequestCode.NAME_STATE):
            frozen.name_server.on(code, say_nothing())
        async with Session(ClientConfig([frozen.name_server.addr])) as session:
            return shown(name, await asked(Admin(session), name, past))


async def test_while_name_servers_are_frozen_the_replicas_tell_who_is_master_and_who_is_in_sync(tmp_path: Path) -> None:
    async with replica_group(tmp_path, count=3) as group:
        master = await group.master()
        number = master.failover.replica.identity.broker_id if master.failover else 0
        first, *others = group.slaves()
        # Those that were listed last: as master another one than the one that is it now, and one too few
        found = await told_alone(seen(first.address, master.address, led_by=9))
        asked_too = {each.address for each in others}

    assert (found.mode, found.master_id, found.failover) == ("failover", number, None)
    assert (found.failover_reason or "").startswith("name server 127.0.0.1:")
    assert found.told is not None
    assert (found.told.master_id, found.told.epoch, found.told.in_sync) == (number, 1, [1, 2, 3])
    assert (found.told.writable, found.told.writable_reason) == (True, None)
    assert [(each.broker_id, each.reachable, each.listed) for each in found.replicas] == [
        (1, True, None), (2, True, None), (3, True, None),
    ]  # fmt: skip
    assert asked_too < {each.address for each in found.replicas}
    roles = {each.broker_id: each.role for each in found.replicas}
    assert roles == {each: "master" if each == number else "slave" for each in (1, 2, 3)}
    assert {each.behind_bytes for each in found.replicas if each.broker_id != number} == {0}
    assert all(each.failover and each.failover.in_sync and each.failover.heard is None for each in found.replicas)
    assert found.streams is not None
    assert found.last_known is None


async def test_what_nobody_tells_is_not_known_and_what_was_decided_last_has_its_age() -> None:
    found = await told_alone(seen("127.0.0.1:1", "127.0.0.1:2", led_by=2))
    assert (found.mode, found.master_id, found.failover, found.told) == ("failover", None, None, None)
    assert [(each.broker_id, each.role, each.reachable) for each in found.replicas] == [
        (1, None, False), (2, None, False),
    ]  # fmt: skip
    assert all((each.reason or "").endswith("refused the connection") for each in found.replicas)
    assert {(each.listed, each.last_seen_at) for each in found.replicas} == {(None, SEEN_TEXT)}
    assert found.last_known is not None
    assert (found.last_known.epoch, found.last_known.master_id, found.last_known.at) == (4, 2, SEEN_TEXT)

    fixed = await told_alone(seen("127.0.0.1:1", "127.0.0.1:2"))
    assert (fixed.mode, fixed.master_id, fixed.last_known) == ("static", 0, None)
    assert [each.role for each in fixed.replicas] == ["master", "slave"]


async def test_what_the_replicas_say_counts_where_the_engine_was_set_back(tmp_path: Path) -> None:
    """docs/replication.md#restore-etcd: controllers hold an older decision, and decide nothing."""
    async with replica_group(tmp_path) as group, scripted_cluster("x") as restored:
        (successor,) = group.slaves()
        number = successor.components.roles.now.broker_id
        async with administered(group.name_server) as admin:
            old = (await admin.replication.state("b")).state
            await admin.replication.elect("b", number)
        await eventually(lambda: successor.components.roles.now.is_master)
        answer = Command.response(0, headers.NameStateResponse(leading=True, set_back=True), encode_state(old))
        restored.name_server.on(RequestCode.NAME_STATE, succeed(lambda _: answer))
        async with Session(ClientConfig([restored.name_server.addr])) as session:
            found = shown("b", await asked(Admin(session), "b"))
            await group.stop(next(each for each, broker in group.brokers.items() if broker is successor))
            dead = shown("b", await asked(Admin(session), "b"))

    assert found.may_adopt
    # The master that the others name has died: it is called silent, as any other
    row = next(each for each in dead.replicas if each.broker_id == number)
    assert (dead.master_id, row.role, row.reachable, row.log_end) == (number, "master", False, None)
    assert (row.reason or "").endswith("refused the connection")
    assert dead.told is not None
    assert (dead.told.writable, dead.told.writable_reason) == (None, row.reason)
    assert found.failover is not None
    assert found.told is not None
    assert (found.failover.set_back, found.failover.master_id, found.failover.epoch) == (True, 3 - number, 1)
    assert (found.told.master_id, found.told.epoch, found.master_id) == (number, 2, number)
    assert found.told.writable == found.failover.writable
    roles = {each.broker_id: each.role for each in found.replicas}
    assert roles == {number: "master", 3 - number: "slave"}
    assert found.streams is not None


async def test_a_name_that_the_controllers_lost_is_told_by_its_replicas(tmp_path: Path) -> None:
    async with replica_group(tmp_path) as group, scripted_cluster("x") as empty:
        master = await group.master()
        lost = Command.response(ResponseCode.CONTROLLER_BROKER_METADATA_NOT_EXIST, remark="no replica of b")
        empty.name_server.on(RequestCode.NAME_STATE, succeed(lambda _: lost))
        async with Session(ClientConfig([empty.name_server.addr])) as session:
            silent = shown("b", await asked(Admin(session), "b", seen(master.address, led_by=1)))
            told = headers.GetMetadataInfoResponse("local", "n1", "n1", is_leader=True, peers="n1")
            info = encode_strict(ControllerInfo(controller_id="n1", set_back=["b"]))
            empty.name_server.on(
                RequestCode.CONTROLLER_GET_METADATA_INFO, succeed(lambda _: Command.response(0, told, info))
            )
            found = shown("b", await asked(Admin(session), "b", seen(master.address, led_by=1)))
    assert (silent.may_adopt, found.may_adopt) == (None, True)
    assert (found.mode, found.failover, found.failover_reason) == ("failover", None, "b is not known here")
    assert found.told is not None
    assert found.told.master_id == found.master_id
    assert {each.listed for each in found.replicas} == {False}
