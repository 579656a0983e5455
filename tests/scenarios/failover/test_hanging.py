"""Replicas that hang, with their connections open: what they acknowledged counts once, and the master says so."""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from broker_core.broker.replication.messages import Refusal
from broker_core.client.admin import Admin
from broker_core.client.admin.clusters import BrokerRuntime
from tests.scenarios.failover.at_work import at_work, check_files
from tests.scenarios.failover.cluster import failover_group
from tests.scenarios.failover.nemesis import Kind
from tests.scenarios.failover.operations import Record
from tests.support.wait import eventually

pytestmark = pytest.mark.scenario


async def test_of_two_slaves_that_hang_one_leaves_once_and_sends_are_refused_when_the_other_counts_as_gone(
    tmp_path: Path,
) -> None:
    record = Record(tmp_path / "operations.jsonl")
    with failover_group(tmp_path, haMaxTimeSlaveNotCatchup="2000", haHousekeepingInterval="8000") as group:
        async with at_work(group, record) as (switching, _):
            before, master = await switching.state(), await switching.master()

            async def told() -> BrokerRuntime:
                return await Admin(switching.session).clusters.runtime_of(master.address)

            async def refuses() -> bool:
                return (await told()).send_refusal == Refusal.SET_TOO_SMALL.value

            async def waits_for_long() -> bool:
                runtime = await told()
                assert runtime.send_refusal == ""
                return (runtime.unconfirmed_ms or 0) > 3_000

            async with AsyncExitStack() as faults:
                for slave in group.replicas:
                    if slave is not master:
                        await faults.enter_async_context(switching.nemesis.fault(Kind.PAUSE, slave.name))
                await eventually(waits_for_long, within=30.0)
                await eventually(refuses, within=30.0)
                after = await switching.state()
                assert (after.epoch, after.set_version) == (before.epoch, before.set_version + 1)
                assert len(after.in_sync) == 2
            await switching.until_all_in_sync()
        check_files(group, record)
