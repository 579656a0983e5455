"""Two controllers on a real etcd: one leads, both serve, and the other one goes on when it ends."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from broker_core.clock import boot_seconds
from broker_core.controller.commands import Elect
from broker_core.controller.decisions import Lead
from broker_core.controller.errors import Refused
from broker_core.controller.etcd.config import EtcdConfig
from broker_core.controller.file_decisions import FileDecisions
from broker_core.controller.moving import NotMoved, move
from broker_core.protocol import ResponseCode
from broker_core.protocol.bodies.controller import MasterLife, encode_state
from broker_core.protocol.headers import controller as headers
from tests.broker_core.controller.etcd.conftest import Open
from tests.broker_core.controller.hosted import Broker, Hosted, hosted
from tests.broker_core.controller.states import state
from tests.support.wait import eventually


async def leading(*all_of_them: Hosted) -> tuple[Hosted, list[Hosted]]:
    """Return the controller that leads, and the others."""
    await eventually(lambda: any(each.controller.parts.leader.is_leading for each in all_of_them))
    leads = [each for each in all_of_them if each.controller.parts.leader.is_leading]
    assert len(leads) == 1
    return leads[0], [each for each in all_of_them if each is not leads[0]]


async def test_one_leads_both_serve_and_the_other_goes_on(tmp_path: Path, config: EtcdConfig) -> None:
    async with AsyncExitStack() as stack, AsyncExitStack() as first_stack:
        one = await first_stack.enter_async_context(hosted(tmp_path / "1", etcd=config))
        await leading(one)
        two = await stack.enter_async_context(hosted(tmp_path / "2", etcd=config))
        at_one, at_two = [Broker(one, each) for each in (1, 2)], [Broker(two, each) for each in (1, 2)]
        for each in at_two:  # whoever does not lead serves all but elections
            assert (await each.apply()).code == ResponseCode.SUCCESS
            assert (await each.register()).code == ResponseCode.SUCCESS
        for each in (*at_one, *at_two):
            each.begin()
        led = await two.until(lambda each: each.master == MasterLife(1, "1-a"))
        assert (await at_two[0].alter(led, 1, 2)).code == ResponseCode.SUCCESS
        await eventually(lambda: all(each.told and each.told[-1].in_sync == [1, 2] for each in (*at_one, *at_two)))
        refused = await two.ask(headers.ElectMasterRequest("C", "b", 2, designate_elect=True))
        assert refused.code == ResponseCode.CONTROLLER_NOT_LEADER
        await eventually(lambda: at_one[0].answers[-1].grant_ms > 0)
        assert at_two[0].answers[-1].grant_ms == 0

        for each in at_one:
            await each.leave()
        # Nobody leads before the lease of the master has run out.
        lease_ends_at = boot_seconds() + at_one[0].answers[-1].grant_ms / 2000
        ending = asyncio.create_task(first_stack.aclose())
        await eventually(lambda: two.controller.parts.leader.is_leading)
        assert boot_seconds() > lease_ends_at
        await ending
        await at_two[0].leave()
        after = await two.until(lambda each: each.master == MasterLife(2, "1-a"))
        assert (after.epoch, after.last.why) == (led.epoch + 1, "killed")
        await at_two[1].leave()


async def test_decisions_are_moved_from_the_file_and_back(tmp_path: Path, opened: Open) -> None:
    file, etcd = FileDecisions.open(tmp_path / "a"), await opened()
    for name in ("b", "c"):
        await file.put(name, None, encode_state(state(name=name)).decode())
    assert await move(file, etcd) == 2
    back = FileDecisions.open(tmp_path / "b")
    assert await move(etcd, back) == 2
    _, names = await back.read()
    assert {name: kept.text for name, kept in names.items()} == {
        name: encode_state(state(name=name)).decode() for name in ("b", "c")
    }
    with pytest.raises(NotMoved):
        await move(file, etcd)
    for each in (file, back):
        await each.close()


async def test_a_deposed_controller_elects_nobody(tmp_path: Path, config: EtcdConfig) -> None:
    async with hosted(tmp_path / "1", etcd=config) as served:
        await leading(served)
        replica = Broker(served, 1)
        await replica.join()
        led = await served.until(lambda each: each.master is not None)
        lead = served.controller.parts.leader.lead
        assert lead is not None
        old = Lead(lead.who, f"{lead.who} of before", lead.token)
        judged = served.controller.parts.hearing.alive("b", served.controller.parts.clock())

        with pytest.raises(Refused) as refused:
            await served.controller.parts.deciding.carry_out(Elect("b", judged, led.master, "silent"), old)
        assert refused.value.code == ResponseCode.CONTROLLER_NOT_LEADER
        assert (await served.state()).epoch == led.epoch
        await replica.leave()
