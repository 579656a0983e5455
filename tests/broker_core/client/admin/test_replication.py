"""What operators ask of controllers, over a real one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from broker_core.client.admin import Admin
from broker_core.client.config import ClientConfig
from broker_core.client.errors import BrokerRefused, NotSupported, TimedOut, Unreachable
from broker_core.client.session import Session
from broker_core.namesrv.config import NameServerConfig
from broker_core.namesrv.server import NameServer
from broker_core.protocol import RequestCode, ResponseCode
from broker_core.protocol.bodies.controller import MasterLife
from tests.broker_core.controller.hosted import Broker, Hosted, brokers, hosted
from tests.support.ports import free_ports
from tests.support.scripted import Peer, say_nothing


@dataclass
class Setting:
    """A controller with two replicas, both in sync; a name server that hosts none; and one that is away."""

    hosted: Hosted
    admin: Admin
    replicas: list[Broker]
    plain: str
    away: str


@pytest.fixture
async def setting(tmp_path: Path) -> AsyncIterator[Setting]:
    plain = NameServer(NameServerConfig(port=0))
    await plain.start()
    away = f"127.0.0.1:{free_ports(1)}"
    async with hosted(tmp_path) as served, brokers(served, 1, 2) as replicas:
        state = await served.until(lambda each: each.master == MasterLife(1, "1-a"))
        assert (await replicas[0].alter(state, 1, 2)).code == ResponseCode.SUCCESS
        names = (away, f"127.0.0.1:{plain.port}", served.address)
        async with Session(ClientConfig(name_servers=names)) as session:
            yield Setting(served, Admin(session), replicas, names[1], away)
    await plain.close()


async def test_every_controller_tells_of_itself(setting: Setting) -> None:
    answers = await setting.admin.replication.controllers()
    [status] = answers.found.values()
    assert (status.is_leading, status.leader, status.info.engine) == (True, "n1", "file")
    assert {address: type(error) for address, error in answers.failed.items()} == {
        setting.plain: NotSupported, setting.away: Unreachable,
    }  # fmt: skip


async def test_replicas_and_states_are_told(setting: Setting) -> None:
    replication = setting.admin.replication
    for names in (None, ["b"], ["b", "x"]):
        table = await replication.in_sync(names)
        assert [each.broker_id for each in table["b"].in_sync_replicas] == [1, 2]
    known = await replication.state("b")
    assert (known.state.master, known.is_set_back, known.stuck) == (MasterLife(1, "1-a"), False, None)
    with pytest.raises(BrokerRefused, match="no replica of x ever took an id") as refused:
        await replication.state("x")
    assert refused.value.code == ResponseCode.CONTROLLER_BROKER_METADATA_NOT_EXIST


async def test_a_controller_that_is_silent_keeps_no_other_back(setting: Setting) -> None:
    silent = Peer("silent")
    silent.on(RequestCode.NAME_STATE, say_nothing())
    await silent.start()
    async with Session(ClientConfig(name_servers=(silent.addr, setting.hosted.address))) as session:
        assert (await Admin(session).replication.state("b")).state.epoch == 1
    async with Session(ClientConfig(name_servers=(silent.addr, setting.plain))) as session:
        with pytest.raises(TimedOut):
            await Admin(session).replication.state("b")
    await silent.stop()


async def test_a_master_is_elected_after_a_preview(setting: Setting) -> None:
    replication = setting.admin.replication
    would = await replication.preview_election("b", 2)
    assert would.before is not None
    assert (would.before.master, would.after.master) == (MasterLife(1, "1-a"), MasterLife(2, "1-a"))
    assert [(each.id, each.end) for each in would.heard] == [(1, 100), (2, 100)]
    assert (await replication.elect("b", 2)).master_broker_id == 2
    assert setting.replicas[0].handed_over
    with pytest.raises(BrokerRefused) as refused:
        await replication.elect("b")
    assert refused.value.code == ResponseCode.CONTROLLER_MASTER_STILL_EXIST


async def test_policies_replicas_and_losses(setting: Setting) -> None:
    replication = setting.admin.replication
    assert (await replication.set_policy("b", min_in_sync=2, dry_run=True)).after.policy.min_in_sync == 2
    assert (await replication.set_policy("b", min_in_sync=2)).after.policy.min_in_sync == 2
    for asked in (
        replication.remove("b", [2]),
        replication.accept_loss("b", 2),
        replication.adopt("b", "C", [2]),
        replication.remove("b", [1], even_living=True, forced=True),
    ):
        with pytest.raises(BrokerRefused):
            await asked
    gone = await replication.remove("b", [2], even_living=True, forced=True)
    assert sorted(gone.after.replicas) == [1]


async def test_without_a_controller_that_is_said(setting: Setting) -> None:
    async with Session(ClientConfig(name_servers=(setting.plain, setting.away))) as session:
        with pytest.raises(Unreachable):
            await Admin(session).replication.state("b")
    async with Session(ClientConfig(name_servers=(setting.plain,))) as session:
        with pytest.raises(NotSupported, match="enableControllerInNamesrv"):
            await Admin(session).replication.state("b")
