"""What was settled does not come again after all replicas were stopped, or killed (docs/replication.md)."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest

from broker_core.broker import Broker
from broker_core.broker.config import ReplicationSettings
from broker_core.broker.pop.journal import Journal
from broker_core.broker.pop.leases import Leases
from broker_core.protocol.codes import ResponseCode
from broker_core.protocol.headers.pop import AckMessageRequest, PopMessageRequest, PopMessageResponse
from tests.broker_core.broker.replication.switching import slave_of
from tests.support.replica_group import ReplicaGroup, replica_group
from tests.support.wait import eventually

POP = PopMessageRequest("poppers", "T", 0, 4, 60_000, 0, 0, init_mode=0)
OPEN = 1
RARELY = ReplicationSettings(sync_metadata_ms=60_000)


async def settled_behind_an_open_head(group: ReplicaGroup, master: Broker) -> None:
    """Let a group take four messages and acknowledge all of them but the first."""
    for body in (b"a", b"b", b"c", b"d"):
        await group.send(master, body)
    popped = (await group.ask(master, POP)).header(PopMessageResponse)
    for offset in (1, 2, 3):
        receipt = f"{offset} {popped.pop_time} 60000 0 0 b 0 {offset}"
        answer = await group.ask(master, AckMessageRequest("poppers", "T", 0, receipt, offset))
        assert answer.code == ResponseCode.SUCCESS


def kept_in(config_folder: Path) -> Leases:
    """Return the leases that a replica will have when it is started again."""
    leases, journal = Leases(lambda change: None), Journal(config_folder)
    for change in journal.load():
        leases.apply(change)
    journal.close()
    return leases


async def assert_only_the_head_is_open(group: ReplicaGroup) -> None:
    successor = await group.master()
    await eventually(successor.components.master_work.is_on)
    answer = await group.ask(successor, POP)
    assert answer.code != ResponseCode.SUCCESS, answer.header(PopMessageResponse)
    leased = successor.components.leases.find("poppers", "T", 0)
    assert leased is not None
    assert [offset for offset, _ in leased.leases()] == [0]
    assert leased.next_offset == 4


@pytest.mark.parametrize("first", ["master", "slave"])
async def test_one_that_is_elected_before_it_followed_again_knows_what_was_settled(tmp_path: Path, first: str) -> None:
    async with replica_group(tmp_path) as group:
        master = await group.master()
        (number,) = group.masters()
        slave = slave_of(group, master)
        await settled_behind_an_open_head(group, master)
        await eventually(lambda: slave.components.leases.held_by("poppers") == OPEN)
        await asyncio.gather(group.stop(1), group.stop(2))

        await group.start(number if first == "master" else 3 - number)
        await assert_only_the_head_is_open(group)


async def test_a_replica_that_is_killed_has_written_all_that_it_was_told(tmp_path: Path) -> None:
    async with replica_group(tmp_path) as group:
        master = await group.master()
        slave = slave_of(group, master)
        await settled_behind_an_open_head(group, master)
        await eventually(lambda: slave.components.leases.held_by("poppers") == OPEN)

        for each in (1, 2):
            shutil.copytree(tmp_path / f"b{each}" / "config", tmp_path / f"killed{each}")
            leased = kept_in(tmp_path / f"killed{each}").find("poppers", "T", 0)
            assert leased is not None
            assert ([offset for offset, _ in leased.leases()], leased.next_offset) == ([0], 4)


@pytest.mark.parametrize("order", ["master first", "master last", "together"])
async def test_what_was_settled_at_the_last_moment_before_an_orderly_stop_is_known(tmp_path: Path, order: str) -> None:
    async with replica_group(tmp_path, more={"replication": RARELY}) as group:
        master = await group.master()
        (number,) = group.masters()
        slave = slave_of(group, master)
        await eventually(lambda: slave.components.topics.find("T") is not None)

        await settled_behind_an_open_head(group, master)
        if order == "together":
            await asyncio.gather(group.stop(number), group.stop(3 - number))
        else:
            for each in (number, 3 - number) if order == "master first" else (3 - number, number):
                await group.stop(each)

        leased = kept_in(tmp_path / f"b{3 - number}" / "config").find("poppers", "T", 0)
        assert leased is not None
        assert [offset for offset, _ in leased.leases()] == [0]
        assert leased.next_offset == 4
