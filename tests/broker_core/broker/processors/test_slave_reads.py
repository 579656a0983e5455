"""Where pulls are sent to, and that a slave moves no consumer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from broker_core.broker.processors import suggestions
from broker_core.broker.role import Role
from broker_core.protocol.bodies.groups import SubscriptionGroupConfig
from broker_core.protocol.codes import PULL_COMMIT_OFFSET, PULL_SUBSCRIPTION, ResponseCode
from broker_core.protocol.headers.admin import UpdateBrokerConfigRequest
from broker_core.protocol.headers.pull import PullMessageResponse
from tests.support.broker import Wire, started


async def suggested(wire: Wire, offset: int = 0, group: str = "readers") -> int:
    answer = await wire.try_pull("orders", offset, group=group)
    return answer.header(PullMessageResponse).suggest_which_broker_id


async def test_consumers_stay_at_the_master_unless_slave_reads_are_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(suggestions, "_MEMORY_BYTES", 1_000)
    async with started(tmp_path) as wire:
        groups = wire.broker.components.groups
        await wire.fill("orders", *(b"message",) * 40)
        groups.put(SubscriptionGroupConfig("readers", broker_id=2, which_broker_when_consume_slowly=3), now=1)
        assert await suggested(wire) == 0

        on = await wire.ask(UpdateBrokerConfigRequest(), b"slaveReadEnable=true")
        assert on.code == ResponseCode.SUCCESS, on.remark
        assert await suggested(wire, 0) == 3
        assert await suggested(wire, 39) == 2
        assert await suggested(wire, 40) == 2, "nothing to read is not slow"
        assert await suggested(wire, 0, "others") == 1


@pytest.mark.parametrize("offset", [5, 9_999])
async def test_a_slave_answers_with_the_offset_that_was_asked_for(tmp_path: Path, offset: int) -> None:
    async with started(tmp_path) as wire:
        await wire.fill("orders", b"one", b"two")
        moved = await wire.try_pull("orders", offset)
        assert (moved.code, moved.header(PullMessageResponse).next_begin_offset) == (ResponseCode.PULL_OFFSET_MOVED, 2)

        wire.broker.components.roles.become(Role.of_id(1))
        kept = await wire.try_pull("orders", offset)
        header = kept.header(PullMessageResponse)
        assert (kept.code, header.next_begin_offset) == (ResponseCode.PULL_RETRY_IMMEDIATELY, offset)
        assert (header.suggest_which_broker_id, kept.remark) == (0, "OFFSET_OVERFLOW_BADLY")

        await wire.ask(UpdateBrokerConfigRequest(), b"offsetCheckInSlave=true")
        assert (await wire.try_pull("orders", offset)).code == ResponseCode.PULL_OFFSET_MOVED


async def test_a_slave_takes_no_commit_from_a_pull(tmp_path: Path) -> None:
    async with started(tmp_path) as wire:
        await wire.fill("orders", b"one", b"two")
        offsets = wire.broker.components.offsets
        commits: dict[str, Any] = {"sys_flag": PULL_SUBSCRIPTION | PULL_COMMIT_OFFSET, "commit_offset": 1}
        await wire.try_pull("orders", 1, **commits)
        assert offsets.find("readers", "orders", 0) == 1
        wire.broker.components.roles.become(Role.of_id(1))
        await wire.try_pull("orders", 2, **(commits | {"commit_offset": 2}))
        assert offsets.find("readers", "orders", 0) == 1
