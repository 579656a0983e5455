"""A controller in a name server, asked over real sockets."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from broker_core.protocol import Command, ResponseCode, bodies
from broker_core.protocol.bodies.controller import MasterLife
from broker_core.protocol.bodies.replicas import BrokerReplicasInfo, ControllerInfo, Preview, SyncStateSet
from broker_core.protocol.headers import controller as headers
from tests.broker_core.controller.hosted import TIMEOUT_MS, Broker, Hosted, brokers, hosted
from tests.support.wait import eventually


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[Hosted]:
    async with hosted(tmp_path) as running:
        yield running


async def elected(served: Hosted, *ids: int) -> None:
    await served.until(lambda state: state.master is not None and state.master.id in ids)


async def test_the_first_replica_becomes_master_and_is_granted_a_lease(served: Hosted) -> None:
    next_id = await served.ask(headers.GetNextBrokerIdRequest("C", "b"))
    assert next_id.header(headers.GetNextBrokerIdResponse).next_broker_id == 1
    async with brokers(served, 1) as [first]:
        await elected(served, 1)
        await eventually(lambda: first.answers and first.answers[-1].grant_ms)
    state = first.told[-1]
    assert (state.master, state.in_sync, state.epoch) == (MasterLife(1, "1-a"), [1], 1)
    assert state.last.by == "n1"
    assert first.answers[-1].leading
    assert 0 < first.answers[-1].grant_ms <= 2500


async def test_only_the_master_is_granted_a_lease(served: Hosted) -> None:
    async with brokers(served, 1, 2) as [_, second]:
        await elected(served, 1)
        second.answers.clear()
        await eventually(lambda: len(second.answers) >= 3)
        assert [each.grant_ms for each in second.answers[:3]] == [0, 0, 0]


async def test_a_change_is_told_to_the_replicas_at_once(served: Hosted) -> None:
    async with brokers(served, 1, 2) as [first, second]:
        await elected(served, 1)
        await second.leave_beating()
        state = await served.state()
        answer = await first.alter(state, 1, 2)
        assert answer.code == ResponseCode.SUCCESS, answer.remark
        assert answer.header(headers.AlterSyncStateSetResponse).new_sync_state_set_epoch == state.set_version + 1
        assert bodies.decode(SyncStateSet, answer.body).sync_state_set == [1, 2]
        await eventually(lambda: second.told[-1].in_sync == [1, 2])


async def test_a_killed_master_is_replaced_sooner_than_a_silent_one(tmp_path: Path) -> None:
    async with hosted(tmp_path, timeout_seconds=3600.0) as served, brokers(served, 1, 2) as [first, second]:
        await elected(served, 1)
        assert (await first.alter(await served.state(), 1, 2)).code == ResponseCode.SUCCESS
        await first.leave()  # its port, 1, refuses
        await elected(served, 2)
        state = await served.state()
        assert (state.last.why, state.epoch, state.in_sync) == ("killed", 2, [1, 2])
        await eventually(lambda: second.told[-1].master == MasterLife(2, "1-a"))


async def test_the_only_controller_leads_on_while_all_replicas_are_away(tmp_path: Path) -> None:
    async with hosted(tmp_path, timeout_seconds=0.3) as served, brokers(served, 1) as [first]:
        await elected(served, 1)
        parts = served.controller.parts
        await first.leave()
        await eventually(lambda: not parts.hearing.hears_anybody(parts.clock()))
        known = parts.clock() + parts.leader.state.valid_seconds(parts.clock())
        # The next step: it renews the lead.
        await eventually(lambda: parts.clock() + parts.leader.state.valid_seconds(parts.clock()) > known + 0.1)
        assert parts.leader.is_leading


async def test_a_stranger_makes_the_controller_connect_nowhere(tmp_path: Path) -> None:
    tried: list[asyncio.StreamWriter] = []

    async def accept(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tried.append(writer)
        writer.close()

    port = await asyncio.start_server(accept, "127.0.0.1", 0)
    address = f"127.0.0.1:{port.sockets[0].getsockname()[1]}"
    async with hosted(tmp_path, timeout_seconds=3600.0) as served, brokers(served, 1, 2) as [first, _], port:
        await elected(served, 1)
        assert (await first.alter(await served.state(), 1, 2)).code == ResponseCode.SUCCESS
        for stranger in (Broker(served, 9, address=address), Broker(served, 1, address=address, name="else")):
            assert (await stranger.beat()).code != ResponseCode.SUCCESS
            await stranger.leave()
        await first.leave()
        await elected(served, 2)  # the port of the master was tried twice meanwhile
    assert not tried


async def test_an_epoch_that_nobody_can_know_is_not_believed(served: Hosted) -> None:
    async with brokers(served, 1):
        await elected(served, 1)
        stranger = Broker(served, 2, last_epoch=(1 << 31) - 1)
        assert (await stranger.apply()).code == ResponseCode.SUCCESS
        for answer in (await stranger.register(), await stranger.beat()):
            assert answer.code == ResponseCode.CONTROLLER_INVALID_REQUEST
            assert "epoch 2147483647 is told" in (answer.remark or "")
        assert (await served.state()).top_epoch == 0
        await stranger.leave()


async def test_what_no_replica_says_is_not_kept(served: Hosted) -> None:
    async with brokers(served, 1):
        await elected(served, 1)
        for stranger in (Broker(served, 2, address="h" * 300), Broker(served, 2, view=(1, 1 << 41))):
            answer = await stranger.beat()
            assert answer.code == ResponseCode.CONTROLLER_INVALID_REQUEST
            assert "300 characters" in (answer.remark or "") or "version 2199023255552 is told" in (answer.remark or "")
            await stranger.leave()
        told = await served.ask(headers.NameStateRequest("b"))
        assert not told.header(headers.NameStateResponse).set_back


async def test_a_silent_master_is_replaced(tmp_path: Path) -> None:
    async with hosted(tmp_path, timeout_seconds=0.5) as served, brokers(served, 1, 2) as [first, _]:
        await elected(served, 1)
        assert (await first.alter(await served.state(), 1, 2)).code == ResponseCode.SUCCESS
        await first.leave_beating()
        await elected(served, 2)
        assert (await served.state()).last.why == "silent"


async def test_a_restarted_master_needs_a_new_epoch(served: Hosted) -> None:
    async with brokers(served, 1) as [first]:
        await elected(served, 1)
        await first.leave_beating()
        again = Broker(served, 1, life="2-b", last_epoch=1)
        refused = await again.beat()
        assert refused.code == ResponseCode.CONTROLLER_BROKER_NEED_TO_BE_REGISTERED
        await again.join()
        state = await served.until(lambda each: each.master == MasterLife(1, "2-b"))
        assert state.epoch == 2
        late = await first.alter(state, 1)
        assert late.code == ResponseCode.CONTROLLER_INVALID_MASTER
        await again.leave()


async def test_an_unclean_replica_alone_waits_for_an_operator(served: Hosted) -> None:
    alone = Broker(served, 1)
    await alone.join(clean=False)
    told = await served.ask(headers.NameStateRequest("b"))
    assert "may have lost" in (told.header(headers.NameStateResponse).stuck or "")
    preview = await served.ask(headers.AcceptLossRequest("b", 1, dry_run=True))
    assert preview.code == ResponseCode.SUCCESS, preview.remark
    would = bodies.decode(Preview, preview.body)
    assert would.after.master == MasterLife(1, "1-a")
    assert "process has stopped" in would.warnings[1]
    assert would.loss is None, "nobody was heard that had everything"
    assert (await served.state()).master is None
    assert (await served.ask(headers.AcceptLossRequest("b", 1))).code == ResponseCode.SUCCESS
    assert (await served.state()).master == MasterLife(1, "1-a")
    await alone.leave()


async def test_an_accepted_loss_says_how_much_was_there_when_the_last_whole_log_was_heard(served: Hosted) -> None:
    async with brokers(served, 1, 2) as [first, _]:
        await elected(served, 1)
        first.end, first.last_epoch = 170, 1
        answers = len(first.answers)
        await eventually(lambda: len(first.answers) > answers + 1)
        await first.leave_beating()
        again = Broker(served, 1, life="2-b", end=150, last_epoch=1)
        assert (await again.register(clean=False)).code == ResponseCode.SUCCESS
        again.begin()
        wanted = headers.AcceptLossRequest("b", 1, dry_run=True)

        async def is_heard() -> bool:
            return (await served.ask(wanted)).code == ResponseCode.SUCCESS

        await eventually(is_heard)
        would = bodies.decode(Preview, (await served.ask(wanted)).body)
        other = bodies.decode(Preview, (await served.ask(headers.AcceptLossRequest("b", 2, dry_run=True))).body)
        made = bodies.decode(Preview, (await served.ask(headers.AcceptLossRequest("b", 1))).body)
        await again.leave()
    assert would.loss is not None
    assert (would.loss.most_bytes, would.loss.id, would.loss.end) == (20, 1, 170)
    assert would.loss.age_ms > 0
    # Its log is of an earlier epoch: equal as far as it was confirmed
    assert other.loss is not None
    assert other.loss.most_bytes == 70
    assert made.loss is not None
    assert made.loss.most_bytes == 20


async def test_an_operator_hands_over(served: Hosted) -> None:
    async with brokers(served, 1, 2) as [first, _]:
        await elected(served, 1)
        assert (await first.alter(await served.state(), 1, 2)).code == ResponseCode.SUCCESS
        wanted = headers.ElectMasterRequest("C", "b", 2, designate_elect=True, dry_run=True)
        would = bodies.decode(Preview, (await served.ask(wanted)).body)
        assert (would.after.master, would.after.epoch) == (MasterLife(2, "1-a"), 2)
        assert not first.handed_over
        first.hand_over = ResponseCode.SYSTEM_BUSY
        wanted = headers.ElectMasterRequest("C", "b", 2, designate_elect=True)
        refused = await served.ask(wanted)
        assert (refused.code, refused.remark) == (2012, "replica 2 is 7 bytes behind")
        first.hand_over = ResponseCode.SUCCESS
        answer = await served.ask(wanted)
        assert answer.header(headers.ElectMasterResponse) == headers.ElectMasterResponse(
            2, "127.0.0.1:1", 2, 2, handed_over=True
        )
        assert first.handed_over[-1] == headers.HandOverRequest("b", 1, 2, 3000)
        assert (await served.state()).last.why == "by hand"


ELECT = {"clusterName": "C", "brokerName": "b", "brokerId": "2", "designateElect": "true"}


@pytest.mark.parametrize(
    ("code", "fields", "said"),
    [
        *(
            (1002, ELECT | {"dryRun": text}, f"dryRun is {text!r}, which is neither true nor false")
            for text in ("yes", "1", "")
        ),
        *(
            (1002, ELECT | {name: "true"}, f"the field {name!r} is not served: dryRun is")
            for name in ("dryrun", "dry_run", "DryRun")
        ),
        (1002, ELECT | {"designateElect": "on"}, "designateElect is 'on', which is neither true nor false"),
        (1002, ELECT | {"handed-over": "true"}, "the field 'handed-over' is not served: handedOver is"),
        (
            1011,
            {"brokerName": "b", "isCleanLivingBroker": "1"},
            "isCleanLivingBroker is '1', which is neither true nor false",
        ),
        (1011, {"brokerName": "b", "dry_run": "true"}, "the field 'dry_run' is not served: dryRun is"),
        (1011, {"brokerName": "b", "forced": "no"}, "forced is 'no', which is neither true nor false"),
        (
            9004,
            {"brokerName": "b", "uncleanAllowed": "yes"},
            "uncleanAllowed is 'yes', which is neither true nor false",
        ),
        (9004, {"brokerName": "b", "minInSync": "1"}, "the field 'minInSync' is not served"),
        (9005, {"brokerName": "b", "brokerId": "2", "preview": "true"}, "the field 'preview' is not served"),
        (
            9006,
            {"brokerName": "b", "clusterName": "C", "brokerIds": "2", "dryRun": "y"},
            "dryRun is 'y', which is neither true nor false",
        ),
    ],
)
async def test_an_option_that_would_not_be_obeyed_is_refused_by_name(
    served: Hosted, code: int, fields: dict[str, str], said: str
) -> None:
    async with brokers(served, 1, 2) as [first, _]:
        await elected(served, 1)
        assert (await first.alter(await served.state(), 1, 2)).code == ResponseCode.SUCCESS
        refused = await served.client.invoke(served.address, Command(code, ext_fields=dict(fields)), TIMEOUT_MS)
        assert (refused.code, refused.remark) == (2005, f"request {code}: {said}")
        assert not first.handed_over
        assert (await served.state()).epoch == 1


async def test_what_apaches_tools_and_accounts_send_besides_is_taken(served: Hosted) -> None:
    signed = {"AccessKey": "operator", "Signature": "c2lnbmVk", "SecurityToken": "t"}
    async with brokers(served, 1, 2) as [first, _]:
        await elected(served, 1)
        assert (await first.alter(await served.state(), 1, 2)).code == ResponseCode.SUCCESS
        policy = Command(9004, ext_fields={"brokerName": "b", "minInSyncReplicas": "1", "dryRun": "TRUE"} | signed)
        assert (await served.client.invoke(served.address, policy, TIMEOUT_MS)).code == ResponseCode.SUCCESS
        elect = Command(1002, ext_fields=ELECT | {"invokeTime": "1700000000000"} | signed)
        assert (await served.client.invoke(served.address, elect, TIMEOUT_MS)).code == ResponseCode.SUCCESS
        assert (await served.state()).master == MasterLife(2, "1-a")


async def test_what_no_controller_serves_is_refused_for_what_it_is(served: Hosted) -> None:
    for code in (1007, 1008, 1009, 1010, 9002, 9003):
        refused = await served.client.invoke(served.address, Command(code), TIMEOUT_MS)
        assert refused.code == ResponseCode.REQUEST_CODE_NOT_SUPPORTED
        whose = "settings that its process was started with" if code in (1009, 1010) else "brokers that are replicas"
        assert whose in (refused.remark or "")
        assert "no controller" not in (refused.remark or "")


async def test_there_is_nothing_to_elect_while_the_master_lives(served: Hosted) -> None:
    async with brokers(served, 1, 2):
        await elected(served, 1)
        for header in (
            headers.ElectMasterRequest("C", "b"),
            headers.ElectMasterRequest("C", "b", 1, designate_elect=True),
        ):
            assert (await served.ask(header)).code == ResponseCode.CONTROLLER_MASTER_STILL_EXIST


async def test_replicas_are_removed(served: Hosted) -> None:
    async with brokers(served, 1, 2) as [_, second]:
        await elected(served, 1)
        lives = await served.ask(headers.CleanBrokerDataRequest("b", "C", "2"))
        assert (lives.code, lives.remark) == (2009, "replica 2 of b lives: stop it first")
        for dry_run in (True, False):
            gone = await served.ask(headers.CleanBrokerDataRequest("b", "C", "3", dry_run=dry_run))
            assert (gone.code, gone.remark) == (2003, "b has no replica 3")
        await second.leave_beating()
        would = await served.ask(
            headers.CleanBrokerDataRequest("b", "C", "2", is_clean_living_broker=True, dry_run=True)
        )
        assert sorted(bodies.decode(Preview, would.body).after.replicas) == [1]
        assert sorted((await served.state()).replicas) == [1, 2]
        done = await served.ask(headers.CleanBrokerDataRequest("b", "C", "2", is_clean_living_broker=True))
        assert done.code == ResponseCode.SUCCESS, done.remark
        assert sorted((await served.state()).replicas) == [1]
        # Its process goes on, so it is heard, but what is asked for a replica that is gone is told so
        assert (await second.beat()).code == ResponseCode.CONTROLLER_BROKER_NEED_TO_BE_REGISTERED
        for header in (
            headers.CleanBrokerDataRequest("b", "C", "2"),
            headers.CleanBrokerDataRequest("b", "C", "2", dry_run=True),
            headers.CleanBrokerDataRequest("b", "C", "2", is_clean_living_broker=True),
            headers.ElectMasterRequest("C", "b", 2, designate_elect=True),
            headers.AcceptLossRequest("b", 2),
        ):
            gone = await served.ask(header)
            assert (gone.code, gone.remark) == (2003, "b has no replica 2")
        assert (await second.register()).code == ResponseCode.CONTROLLER_BROKER_NEED_TO_BE_REGISTERED


async def test_policy(served: Hosted) -> None:
    async with brokers(served, 1, 2):
        would = await served.ask(headers.SetReplicaPolicyRequest("b", 2, dry_run=True))
        assert bodies.decode(Preview, would.body).after.policy.min_in_sync == 2
        assert (await served.state()).policy.min_in_sync == 1
        assert (await served.ask(headers.SetReplicaPolicyRequest("b", 2))).code == ResponseCode.SUCCESS
        assert (await served.state()).policy.min_in_sync == 2
        assert (await served.ask(headers.SetReplicaPolicyRequest("b", 3))).code == 2005
        nothing = await served.ask(headers.SetReplicaPolicyRequest("b"))
        assert (nothing.code, nothing.remark) == (2005, "neither minInSyncReplicas nor uncleanAllowed is to be changed")
        assert bodies.decode(Preview, would.body).warnings == []
        risky = await served.ask(headers.SetReplicaPolicyRequest("b", unclean_allowed=True, dry_run=True))
        (warning,) = bodies.decode(Preview, risky.body).warnings
        assert "lost" in warning


async def test_it_tells_of_replicas_and_of_itself(served: Hosted) -> None:
    async with brokers(served, 1, 2):
        await elected(served, 1)
        info = await served.ask(headers.GetMetadataInfoRequest())
        assert info.header(headers.GetMetadataInfoResponse) == headers.GetMetadataInfoResponse(
            "C", "n1", "n1", is_leader=True, peers="n1"
        )
        told = bodies.decode(ControllerInfo, info.body)
        assert (told.engine, told.names, told.set_back) == ("file", ["b"], [])
        for body in (b"", b'["b"]', b'["b", "x"]'):
            data = await served.ask(headers.GetSyncStateDataRequest(), body)
            table = bodies.decode(BrokerReplicasInfo, data.body).replicas_info_table
            assert (table["b"].master_broker_id, table["b"].master_epoch) == (1, 1)
            assert [each.broker_id for each in table["b"].not_in_sync_replicas] == [2]
            assert table["b"].in_sync_replicas[0].alive
        replica = await served.ask(headers.GetReplicaInfoRequest("b"))
        assert replica.header(headers.GetReplicaInfoResponse) == headers.GetReplicaInfoResponse(1, "127.0.0.1:1", 1)
        assert bodies.decode(SyncStateSet, replica.body).sync_state_set == [1]
        assert (await served.ask(headers.GetReplicaInfoRequest("x"))).code == 2008


async def test_what_is_of_another_cluster_is_refused(served: Hosted) -> None:
    answer = await served.ask(headers.GetNextBrokerIdRequest("D", "b"))
    assert answer.code == ResponseCode.CONTROLLER_INVALID_REQUEST
    assert "controllerClusterName" in (answer.remark or "")


async def test_decisions_outlive_the_controller(tmp_path: Path) -> None:
    async with hosted(tmp_path) as served, brokers(served, 1):
        await elected(served, 1)
        before = await served.state()
    async with hosted(tmp_path) as served:
        assert await served.state() == before


async def test_a_list_of_names_is_read_only_if_it_can_be_one(served: Hosted) -> None:
    async with brokers(served, 1):
        await elected(served, 1)
        twice = await served.ask(headers.GetSyncStateDataRequest(), b'["b","b"]')
        assert list(bodies.decode(BrokerReplicasInfo, twice.body).replicas_info_table) == ["b"]
        many = b"[" + b",".join([b'"b"'] * 5_001) + b"]"
        loose = b"['b'" + b" " * 100_000 + b"]"
        for body, said in ((many, "not a list of at most 5000 broker names"), (loose, "not strict JSON")):
            refused = await served.ask(headers.GetSyncStateDataRequest(), body)
            assert refused.code == ResponseCode.SYSTEM_ERROR
            assert said in (refused.remark or "")
        proposed = headers.AlterSyncStateSetRequest("b", 1, 1, "1-a")
        refused = await served.ask(proposed, b"{syncStateSet:[1]" + b" " * 100_000 + b"}")
        assert "not strict JSON" in (refused.remark or "")


@pytest.mark.parametrize("address", ["", "nowhere", "<b>:1", "h:1\nforged", "h:70000"])
async def test_a_replica_without_an_address_is_neither_registered_nor_heard(served: Hosted, address: str) -> None:
    replica = Broker(served, 1)
    await replica.apply()
    replica.address = address
    for answer in (await replica.register(), await replica.beat()):
        assert (answer.code, answer.remark) == (2005, f"{address[:80]!r} is not the address of a replica, host:port")
    await replica.leave()
