"""The settings say once and for all what a broker is."""

from __future__ import annotations

from pathlib import Path

from broker_core.broker.modes.master import StaticMaster
from broker_core.broker.modes.replica import FailoverReplica
from broker_core.broker.modes.slave import StaticSlave
from tests.support.broker import started
from tests.support.replica_group import replica_group


async def test_a_master_for_good_lets_in_all_and_waits_for_nobody(tmp_path: Path) -> None:
    async with started(tmp_path) as wire:
        mode = wire.broker.components.mode
        assert isinstance(mode, StaticMaster)
        assert (mode.admission, mode.waits, mode.on_stored) == (None, None, None)
        assert wire.broker.components.state_of_master is None


async def test_a_synchronous_master_waits_for_slaves_and_tells_them_at_once(tmp_path: Path) -> None:
    async with started(tmp_path, settings={"brokerRole": "SYNC_MASTER"}) as wire:
        mode = wire.broker.components.mode
        assert isinstance(mode, StaticMaster)
        assert mode.waits is not None
        assert mode.on_stored is not None


async def test_a_slave_for_good_takes_over_the_state_of_its_master(tmp_path: Path) -> None:
    async with started(tmp_path, broker_id=1) as wire:
        assert isinstance(wire.broker.components.mode, StaticSlave)
        assert wire.broker.components.state_of_master is not None


async def test_where_controllers_decide_the_in_sync_set_lets_in_and_is_waited_for(tmp_path: Path) -> None:
    async with replica_group(tmp_path, count=1) as group:
        master = await group.master()
        mode = master.components.mode
        assert isinstance(mode, FailoverReplica)
        assert mode.admission is master.failover
        assert mode.waits is not None
        assert mode.standing.epoch == mode.failover.epoch
