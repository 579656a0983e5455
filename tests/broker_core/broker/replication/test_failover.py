import asyncio
from collections.abc import Callable
from dataclasses import replace
from errno import EIO
from pathlib import Path

import pytest

from broker_core.broker import Broker
from broker_core.broker.config import FailoverSettings
from broker_core.broker.replication.identity_file import save_identity
from broker_core.broker.replication.messages import Identity, Refusal
from broker_core.broker.role import RoleKind
from broker_core.client.admin import Admin
from broker_core.client.config import ClientConfig
from broker_core.client.session import Session
from broker_core.protocol import bodies
from broker_core.protocol.bodies.controller import decode_state, encode_state
from broker_core.protocol.bodies.replicas import EpochEntryCache, HaClientRuntimeInfo, HaRuntimeInfo
from broker_core.protocol.bodies.routes import KVTable
from broker_core.protocol.codes import ResponseCode
from broker_core.protocol.headers import controller as headers
from broker_core.protocol.headers.admin import GetBrokerRuntimeInfoRequest
from broker_core.protocol.headers.replication import GetBrokerHaStatusRequest
from broker_core.protocol.headers.send import SendMessageResponse
from broker_core.protocol.headers.topics import CreateTopicRequest
from tests.broker_core.broker.replication.switching import failover_of
from tests.support.full_disk import no_room
from tests.support.replica_group import ReplicaGroup, in_sync_set, replica_group
from tests.support.wait import eventually


async def test_what_was_answered_is_on_every_replica_and_outlives_its_master(tmp_path: Path) -> None:
    async with replica_group(tmp_path) as group:
        master = await group.master()
        for number in range(5):
            assert (await group.send(master, b"%d" % number)).code == ResponseCode.SUCCESS
        (other,) = [each for each in group.brokers.values() if each is not master]
        assert other.store.appended_log_offset == master.store.appended_log_offset

        await group.stop(next(number for number, each in group.brokers.items() if each is master))
        successor = await group.master()

        assert successor is other
        answer = await group.send(successor, b"5")
        assert answer.header(SendMessageResponse).queue_offset == 5
        assert await group.read(successor) == [b"0", b"1", b"2", b"3", b"4", b"5"]


async def test_with_synchronous_flush_an_answer_says_that_every_replica_has_it_on_its_disk(tmp_path: Path) -> None:
    async with replica_group(tmp_path, flush="sync") as group:
        master = await group.master()
        for number in range(3):
            assert (await group.send(master, b"%d" % number)).code == ResponseCode.SUCCESS
            end = master.store.confirmed_log_offset
            assert end == master.store.appended_log_offset
            assert all(each.store.flushed_log_offset >= end for each in group.brokers.values())


async def test_a_living_replica_that_is_removed_leaves_the_routes_at_once(tmp_path: Path) -> None:
    async with replica_group(tmp_path, count=3) as group, Session(ClientConfig((group.name_server,))) as session:
        admin, gone = Admin(session), group.slaves()[0]
        addresses = {each.address for each in group.brokers.values()}

        async def listed() -> set[str]:
            return {each.addr for each in await admin.clusters.brokers_now()}

        async def is_listed(wanted: set[str]) -> bool:
            return await listed() == wanted

        await eventually(lambda: is_listed(addresses))
        await admin.replication.remove("b", [gone.components.roles.now.broker_id], even_living=True)
        await eventually(lambda: is_listed(addresses - {gone.address}))
        assert gone.components.roles.now.kind is RoleKind.FENCED
        assert (await group.send(await group.master(), b"a")).code == ResponseCode.SUCCESS


async def test_a_master_that_comes_back_follows_and_joins_the_set(tmp_path: Path) -> None:
    async with replica_group(tmp_path) as group:
        (first,) = group.masters()
        await group.stop(first)
        successor = await group.master()
        await eventually(lambda: len(in_sync_set(successor)) == 1)
        await group.send(successor, b"alone")

        returned = await group.start(first)
        await eventually(lambda: len(in_sync_set(successor)) == 2)

        assert returned.components.roles.now.kind is RoleKind.SLAVE
        assert returned.components.roles.now.master == successor.address
        await eventually(lambda: returned.store.dispatched_log_offset == successor.store.appended_log_offset)


async def test_a_master_is_registered_and_locks_queues_only_with_a_lease(tmp_path: Path) -> None:
    async with replica_group(tmp_path) as group:
        master = await group.master()
        components = master.components
        failover = master.failover
        assert failover is not None
        await eventually(failover.has_lease)
        queue = ("T", "b", 0)
        assert components.locks.lock("g", "c1", [queue], now=0) == [queue]

        failover.controllers.send = lambda beat: None  # type: ignore[method-assign]
        await eventually(lambda: not failover.has_lease())

        assert components.locks.lock("g", "c1", [queue], now=0) == []
        assert not components.master_work.is_on()
        assert (await group.send(master, b"x")).code == ResponseCode.SUCCESS
        assert await components.rest.registration.register() == 0


async def test_with_too_small_a_set_a_message_is_refused_before_it_is_stored(tmp_path: Path) -> None:
    settings = FailoverSettings(is_on=True, heartbeat_ms=100, gone_ms=300, min_in_sync=2)
    async with replica_group(tmp_path, settings=settings) as group:
        master = await group.master()
        await group.stop(next(number for number, each in group.brokers.items() if each is not master))
        await eventually(lambda: failover_of(master).refusal() is not None)
        end = master.store.appended_log_offset

        answer = await group.send(master, b"x")

        assert answer.code == ResponseCode.SERVICE_NOT_AVAILABLE
        assert "minInSyncReplicas" in (answer.remark or "")
        assert master.store.appended_log_offset == end


async def test_a_replica_tells_its_epochs_and_the_state_of_its_name(tmp_path: Path) -> None:
    async with replica_group(tmp_path) as group:
        master = await group.master()
        await group.send(master, b"x")

        epochs = bodies.decode(EpochEntryCache, (await group.ask(master, headers.GetBrokerEpochCacheRequest())).body)
        state = decode_state((await group.ask(master, headers.NameStateRequest("b"))).body)

        assert (epochs.cluster_name, epochs.broker_name, epochs.max_offset) == (
            "C",
            "b",
            master.store.appended_log_offset,
        )
        assert [each.epoch for each in epochs.epoch_list] == [state.epoch]
        assert state.in_sync == in_sync_set(master)


async def test_whoever_reaches_the_main_port_cannot_depose_the_master(tmp_path: Path) -> None:
    async with replica_group(tmp_path) as group:
        master = await group.master()
        state = decode_state((await group.ask(master, headers.NameStateRequest("b"))).body)
        forged = replace(state, epoch=state.epoch + 1, master=None)

        pushed = await group.ask(master, headers.NameStateRequest("b"), encode_state(forged))
        switch = await group.ask(master, headers.HandOverRequest("b", state.epoch, 2, 10_000))

        assert (pushed.code, switch.code) == (
            ResponseCode.ILLEGAL_OPERATION,
            ResponseCode.REQUEST_CODE_NOT_SUPPORTED,
        )
        assert decode_state((await group.ask(master, headers.NameStateRequest("b"))).body) == state
        assert (await group.send(master, b"x")).code == ResponseCode.SUCCESS


async def test_master_and_slave_tell_who_copies_the_log_and_how_far(tmp_path: Path) -> None:
    async with replica_group(tmp_path) as group:
        master = await group.master()
        await group.send(master, b"x")
        (slave,) = [each for each in group.brokers.values() if each is not master]
        end = master.store.appended_log_offset

        of_master = bodies.decode(HaRuntimeInfo, (await group.ask(master, GetBrokerHaStatusRequest())).body)
        of_slave = bodies.decode(HaRuntimeInfo, (await group.ask(slave, GetBrokerHaStatusRequest())).body)
        table = bodies.decode(KVTable, (await group.ask(master, GetBrokerRuntimeInfoRequest())).body).table

        assert (of_master.master, of_master.master_commit_log_max_offset, of_master.in_sync_slave_nums) == (
            True,
            end,
            1,
        )
        (connection,) = of_master.ha_connection_info
        number = slave.components.roles.now.broker_id
        assert (connection.slave_ack_offset, connection.in_sync, connection.broker_id) == (end, True, number)
        assert not of_slave.master
        assert of_slave.ha_client_runtime_info == HaClientRuntimeInfo(master.address, end)
        assert (table["inSyncSet"], table["confirmOffset"], table["slaveConnections"]) == ("1,2", str(end), "1")
        assert int(table["leaseRemainingMs"]) > 0
        assert int(table["roleChanges"]) >= 1
        assert table["cutBytes"] == "0"


async def test_a_stranger_is_not_let_in_by_the_request_before_the_stream(tmp_path: Path) -> None:
    async with replica_group(tmp_path) as group:
        master = await group.master()

        nothing = await group.ask(master, headers.ExchangeHaInfoRequest())
        stranger = await group.ask(
            master, headers.ExchangeHaInfoRequest(broker_id=9, life="1-ab", segment_size=4 << 20, epoch=1)
        )

        assert nothing.code == stranger.code == ResponseCode.ILLEGAL_OPERATION
        assert "no other replica 9" in (stranger.remark or "")


async def test_a_replica_that_comes_late_goes_on_with_queues_whose_messages_are_gone(tmp_path: Path) -> None:
    async with replica_group(tmp_path) as group:
        master = await group.master()
        await group.ask(master, CreateTopicRequest("Idle", 1, 1, 6))
        for _ in range(3):
            assert (await group.send(master, b"old", topic="Idle")).code == ResponseCode.SUCCESS
        for _ in range(5):
            assert (await group.send(master, b"x" * (1 << 20))).code == ResponseCode.SUCCESS
        store = master.store
        store.reconfigure(replace(store.config, max_log_bytes=1))
        await eventually(lambda: store.drop_expired(store.newest_store_time).segments > 0)

        late = await group.start(3)
        await eventually(lambda: len(in_sync_set(master)) == 3)
        assert late.store.begin_log_offset == master.store.begin_log_offset > 0
        assert (late.store.min_offset("Idle", 0), late.store.max_offset("Idle", 0)) == (3, 3)
        for number in (1, 2):
            await group.stop(number)

        assert await group.master() is late
        answer = await group.send(late, b"new", topic="Idle")
        assert answer.header(SendMessageResponse).queue_offset == 3


async def test_an_effect_that_fails_ends_the_replica_and_none_behind_it_is_carried_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with replica_group(tmp_path) as group:
        master = await group.master()
        number = next(number for number, each in group.brokers.items() if each is master)
        folder = master.components.config.store.folder

        def full(where: Path, identity: Identity) -> None:
            if where == folder:
                raise OSError(EIO, "broken")
            save_identity(where, identity)

        monkeypatch.setattr("broker_core.broker.replication.failover.save_identity", full)
        await group.stop(3 - number)  # the smaller set is a newer state, which is to be kept
        async with asyncio.timeout(10):
            await master.failed()

        assert master.components.roles.now.kind is RoleKind.FENCED
        assert (await group.send(master, b"x")).code == ResponseCode.SERVICE_NOT_AVAILABLE
        monkeypatch.undo()
        await group.stop(number)
        await group.start(number)
        assert (await group.send(await group.master(), b"x")).code == ResponseCode.SUCCESS


async def test_a_replica_tells_why_it_takes_no_sends_and_what_its_setting_and_the_policy_ask_for(
    tmp_path: Path,
) -> None:
    settings = FailoverSettings(is_on=True, heartbeat_ms=100, gone_ms=500, min_in_sync=2)
    async with replica_group(tmp_path, settings=settings) as group:
        master = await group.master()
        (slave,) = group.slaves()

        async def told(broker: Broker) -> tuple[str | None, str]:
            table = bodies.decode(KVTable, (await group.ask(broker, GetBrokerRuntimeInfoRequest())).body).table
            return table.get("minInSyncReplicas"), table["sendRefusal"]

        assert await told(master) == ("2", "")
        assert await told(slave) == (None, Refusal.NOT_MASTER.value)
        (number,) = [number for number, each in group.brokers.items() if each is slave]
        await group.stop(number)
        await eventually(lambda: master.failover is not None and master.failover.refusal() is not None)
        assert await told(master) == ("2", Refusal.SET_TOO_SMALL.value)


def is_in(folder: Path) -> Callable[[Path], bool]:
    return lambda path: path.is_relative_to(folder)


async def figures(group: ReplicaGroup, broker: Broker) -> dict[str, str]:
    return bodies.decode(KVTable, (await group.ask(broker, GetBrokerRuntimeInfoRequest())).body).table


async def test_a_slave_without_room_for_what_it_is_told_rests_and_goes_on_when_there_is_some(tmp_path: Path) -> None:
    async with replica_group(tmp_path, count=3) as group:
        master = await group.master()
        slave, other = group.slaves()
        epoch = failover_of(slave).epoch
        with no_room(is_in(slave.components.config.store.folder)):
            (number,) = [number for number, each in group.brokers.items() if each is other]
            await group.stop(number)  # the smaller set is a newer state, which is to be kept
            await eventually(lambda: in_sync_set(master) == [master_id(master)])

            told = await figures(group, slave)
            assert (told["waitsForRoom"], told["sendRefusal"]) == ("1", Refusal.NO_ROOM.value)
            assert "no space left on the disk" in told["replicaTrouble"]
            assert (await group.send(master, b"alone")).code == ResponseCode.SUCCESS
            assert slave.store.appended_log_offset < master.store.appended_log_offset

        await eventually(lambda: len(in_sync_set(master)) == 2)
        assert failover_of(slave).epoch == epoch
        assert slave.components.roles.now.kind is RoleKind.SLAVE
        await eventually(lambda: slave.store.dispatched_log_offset == master.store.appended_log_offset)

        async def is_well() -> bool:
            told = await figures(group, slave)
            return (told["waitsForRoom"], told["replicaTrouble"]) == ("0", "")

        await eventually(is_well)


def master_id(master: Broker) -> int:
    return failover_of(master).replica.identity.broker_id


async def test_a_master_without_room_for_what_it_is_told_leaves_its_place_to_another(tmp_path: Path) -> None:
    async with replica_group(tmp_path, count=3) as group:
        master = await group.master()
        successors = group.slaves()
        with no_room(is_in(master.components.config.store.folder)):
            failover_of(successors[0]).masters.close()  # who leaves the set makes a newer state
            failover_of(successors[0]).from_master = lambda *_: None  # type: ignore[method-assign]
            await eventually(lambda: failover_of(master).refusal() is Refusal.NO_ROOM)
            assert (await group.send(master, b"x")).code == ResponseCode.SERVICE_NOT_AVAILABLE
            assert not failover_of(master).has_lease()
            await eventually(lambda: any(each.components.roles.now.is_master for each in successors))
        await eventually(lambda: master.components.roles.now.kind is RoleKind.SLAVE)


async def test_an_elected_replica_without_room_for_its_epoch_leads_when_there_is_some(tmp_path: Path) -> None:
    async with replica_group(tmp_path) as group:
        master = await group.master()
        await group.send(master, b"kept")
        (slave,) = group.slaves()
        folder = slave.components.config.store.folder
        with no_room(lambda path: path.parent == folder and "epoch" in path.name):
            (number,) = [number for number, each in group.brokers.items() if each is master]
            await group.stop(number)
            await eventually(lambda: failover_of(slave).replica.taking_over.trouble != "")
            assert slave.components.roles.now.kind is RoleKind.FENCED
            assert (await group.send(slave, b"x")).code == ResponseCode.SERVICE_NOT_AVAILABLE
            assert "cannot begin here" in (await figures(group, slave))["replicaTrouble"]

        assert await group.master() is slave
        assert (await group.send(slave, b"next")).code == ResponseCode.SUCCESS
        assert await group.read(slave) == [b"kept", b"next"]
