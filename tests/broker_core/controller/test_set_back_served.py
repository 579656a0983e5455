"""A controller whose decisions were copied back, or lost: nothing is decided until it heals, or an operator adopts."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from broker_core.controller.seen import Seen
from broker_core.protocol import ResponseCode, bodies
from broker_core.protocol.bodies.controller import MasterLife, NameState
from broker_core.protocol.bodies.replicas import ControllerInfo, Preview
from broker_core.protocol.headers import controller as headers
from tests.broker_core.controller.hosted import Broker, Hosted, brokers, hosted
from tests.support.wait import eventually


async def led(served: Hosted, replica: int) -> NameState:
    return await served.until(lambda state: state.master is not None and state.master.id == replica)


async def set_back(served: Hosted) -> list[str]:
    info = await served.ask(headers.GetMetadataInfoRequest())
    return bodies.decode(ControllerInfo, info.body).set_back


async def is_seen(served: Hosted) -> bool:
    return await set_back(served) == ["b"]


async def moved(old: Broker, served: Hosted) -> Broker:
    """Return a replica that goes on in its life, with what it was told, at a controller that was started again."""
    await old.leave()
    return Broker(
        served, old.id, old.life, old.address, old.end, old.last_epoch, old.name, old.view, told=list(old.told)
    )


@pytest.mark.parametrize("is_lost", [False, True])
async def test_what_the_living_master_knows_heals_a_name(tmp_path: Path, is_lost: bool) -> None:
    folder, copy = tmp_path / "controller", tmp_path / "copy"
    async with hosted(folder) as served, brokers(served, 1, 2) as running:
        await led(served, 1)
        shutil.copy(folder / "decisions.json", copy)
        assert (await running[0].alter(await served.state(), 1, 2)).code == ResponseCode.SUCCESS
        newest = await served.state()
        await eventually(lambda: all(each.view == newest.view for each in running))
    (folder / "decisions.json").unlink()
    if not is_lost:
        shutil.copy(copy, folder / "decisions.json")
    async with hosted(folder) as served:
        first, second = [await moved(each, served) for each in running]
        await first.beat()
        await eventually(lambda: is_seen(served))
        refused = await first.alter(newest, 1)
        assert refused.code == ResponseCode.CONTROLLER_NOT_LEADER
        assert "was set back" in (refused.remark or "")
        refused = await served.ask(headers.GetNextBrokerIdRequest("C", "b"))
        assert refused.code == ResponseCode.CONTROLLER_NOT_LEADER
        for each in (first, second):
            each.begin()

        async def is_healed() -> bool:
            return await set_back(served) == []

        await eventually(is_healed)
        healed = await served.state()
        assert (healed.in_sync, healed.master, healed.epoch) == ([1, 2], MasterLife(1, "1-a"), newest.epoch)
        assert healed.version == newest.version + 1
        for each in (first, second):
            await each.leave()


async def test_an_operator_adopts_when_nobody_can_heal(tmp_path: Path) -> None:
    async with hosted(tmp_path) as served, brokers(served, 1, 2) as running:
        await led(served, 1)
        await eventually(lambda: running[1].view[0] == 1)
        known = running[1].view
    (tmp_path / "decisions.json").unlink()
    async with hosted(tmp_path) as served:
        alone = await moved(running[1], served)
        alone.begin()
        alone.life = "2-b"
        adopt = headers.AdoptStateRequest("b", "C", "2", dry_run=True)

        await eventually(lambda: is_seen(served))
        would = bodies.decode(Preview, (await served.ask(adopt)).body)
        assert (would.after.epoch, would.after.in_sync, would.before) == (known[0] + 1000, [2], None)
        assert await set_back(served) == ["b"]
        assert (await served.ask(headers.AdoptStateRequest("b", "C", "2"))).code == ResponseCode.SUCCESS
        registered = await alone.register()
        assert registered.code == ResponseCode.SUCCESS, registered.remark
        state = await led(served, 2)
        assert state.epoch == known[0] + 1001
        again = await served.ask(headers.AdoptStateRequest("b", "C", "2"))
        assert (again.code, again.remark) == (2005, "the state of b was not set back")
        await alone.leave()


async def test_after_a_restore_nothing_is_decided_until_all_replicas_are_heard(tmp_path: Path) -> None:
    async with hosted(tmp_path) as served, brokers(served, 1, 2) as running:
        state = await led(served, 1)
        await eventually(lambda: running[1].view[0] == 1)
    Seen(tmp_path / "seen.json").mark()
    async with hosted(tmp_path) as served:
        first, second = [await moved(each, served) for each in running]
        assert await set_back(served) == ["b"]
        first.begin()
        assert (await first.alter(state, 1)).code == ResponseCode.CONTROLLER_NOT_LEADER
        second.begin()

        async def is_trusted() -> bool:
            return await set_back(served) == []

        await eventually(is_trusted)
        assert (await first.alter(state, 1, 2)).code == ResponseCode.SUCCESS
        for each in (first, second):
            await each.leave()
    async with hosted(tmp_path) as served:
        assert await set_back(served) == []


async def test_a_replica_without_an_id_shows_that_the_state_was_set_back(tmp_path: Path) -> None:
    async with hosted(tmp_path) as served, brokers(served, 1) as [first]:
        state = await led(served, 1)
        asked = headers.ApplyBrokerIdRequest("C", "b", 2, "check2", state.epoch, state.version + 1)
        assert (await first.ask(asked)).code == ResponseCode.CONTROLLER_NOT_LEADER
        await eventually(lambda: is_seen(served))
