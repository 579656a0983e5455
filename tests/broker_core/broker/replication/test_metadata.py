"""A slave takes over topics, groups, offsets and delay levels, and passes on what is committed to it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from broker_core.broker.registration import MasterPlace
from broker_core.broker.replication.metadata import Metadata
from broker_core.broker.replication.passed_on import PassedOn, QueueOfGroup
from broker_core.broker.role import Role, Roles
from broker_core.protocol import properties as names
from broker_core.protocol.bodies.groups import SubscriptionGroupConfig
from broker_core.protocol.codes import ResponseCode
from broker_core.protocol.headers.offsets import UpdateConsumerOffsetRequest
from broker_core.protocol.headers.topics import DeleteTopicRequest
from broker_core.protocol.topics import SCHEDULE_TOPIC
from tests.support.broker import Wire, started
from tests.support.wait import eventually

QUEUE = QueueOfGroup("readers", "orders", 0)


@asynccontextmanager
async def both(tmp_path: Path) -> AsyncIterator[tuple[Wire, Wire, Metadata]]:
    """Start a master and a slave that gets its metadata, and no log."""
    quick = {"syncMetadataPeriod": "100"}
    async with (
        started(tmp_path / "master") as master,
        started(tmp_path / "slave", broker_id=1, settings=quick) as slave,
    ):
        components = slave.broker.components
        components.mode.master_told(MasterPlace(master.address, "127.0.0.1:1"))
        assert isinstance(components.state_of_master, Metadata)
        yield master, slave, components.state_of_master


async def commit(wire: Wire, offset: int) -> None:
    answer = await wire.ask(UpdateConsumerOffsetRequest(*QUEUE, offset))
    assert answer.code == ResponseCode.SUCCESS


async def test_topics_and_groups_become_those_of_the_master(tmp_path: Path) -> None:
    async with both(tmp_path) as (master, slave, _):
        own, theirs = slave.broker.components, master.broker.components
        await master.create_topic("orders", queues=3)
        theirs.groups.put(SubscriptionGroupConfig("readers", retry_max_times=3), now=5)
        await eventually(lambda: own.topics.version == theirs.topics.version)
        await eventually(lambda: own.groups.version == theirs.groups.version)
        assert own.topics.wrapper() == theirs.topics.wrapper()
        assert own.groups.wrapper() == theirs.groups.wrapper()

        assert (await master.ask(DeleteTopicRequest("orders"))).code == ResponseCode.SUCCESS
        await eventually(lambda: own.topics.find("orders") is None)

        own.topics.touch(now=9)
        await eventually(lambda: own.topics.version == theirs.topics.version)


async def test_what_was_taken_over_is_saved(tmp_path: Path) -> None:
    async with both(tmp_path) as (master, slave, _):
        await master.create_topic("orders", queues=3)
        await commit(master, 7)
        await eventually(lambda: slave.broker.components.offsets.find(*QUEUE) == 7)
    async with started(tmp_path / "slave", broker_id=1) as slave:
        assert slave.broker.components.topics.get("orders").read_queue_nums == 3
        assert slave.broker.components.offsets.find(*QUEUE) == 7


async def test_offsets_are_put_over_the_own_ones_and_none_is_lost(tmp_path: Path) -> None:
    async with both(tmp_path) as (master, slave, _):
        offsets = slave.broker.components.offsets
        offsets.commit("only-here", "orders", 0, 5)
        await commit(master, 7)
        await eventually(lambda: offsets.find(*QUEUE) == 7)
        await commit(master, 3)
        await eventually(lambda: offsets.find(*QUEUE) == 3)
        assert offsets.find("only-here", "orders", 0) == 5


async def test_a_commit_at_the_slave_reaches_the_master(tmp_path: Path) -> None:
    async with both(tmp_path) as (master, slave, _):
        await commit(master, 3)
        await eventually(lambda: slave.broker.components.offsets.find(*QUEUE) == 3)
        await commit(slave, 4)
        await eventually(lambda: master.broker.components.offsets.find(*QUEUE) == 4)
        assert slave.broker.components.offsets.find(*QUEUE) == 4
        await eventually(lambda: len(slave.broker.components.rest.passed_on) == 0)


async def test_a_commit_does_not_turn_back_who_went_on_at_the_master(tmp_path: Path) -> None:
    async with both(tmp_path) as (master, slave, _):
        await commit(master, 9)
        await eventually(lambda: slave.broker.components.offsets.find(*QUEUE) == 9)
        await commit(slave, 5)
        await eventually(lambda: slave.broker.components.offsets.find(*QUEUE) == 9)
        assert master.broker.components.offsets.find(*QUEUE) == 9


async def test_delay_levels_follow(tmp_path: Path) -> None:
    async with both(tmp_path) as (master, slave, _):
        await master.create_topic("orders")
        await master.send("orders", b"later", properties={names.DELAY: "1"})
        # A slave has the queue by the log; this one has no log.
        store = master.broker.store
        await eventually(lambda: store.max_offset(SCHEDULE_TOPIC, 0) == 1)
        await eventually(lambda: store.max_offset("orders", 0) == 1)
        await eventually(lambda: slave.broker.components.delay.offset_of(1) == 1)


async def test_a_broker_that_is_no_slave_any_more_keeps_its_own_state(tmp_path: Path) -> None:
    async with both(tmp_path) as (master, slave, metadata):
        await eventually(lambda: metadata.synced_at is not None)
        slave.broker.components.roles.become(Role.of_id(0))
        synced_at = metadata.synced_at
        await slave.create_topic("own")
        await metadata.round(master.address)
        assert slave.broker.components.topics.find("own") is not None
        assert metadata.synced_at == synced_at


def test_only_a_slave_notes_commits_and_the_newest_of_each_queue() -> None:
    roles = Roles(Role.of_id(0))
    passed_on = PassedOn(roles)
    passed_on.note(*QUEUE, 5)
    assert not passed_on
    roles.become(Role.of_id(1))
    passed_on.note(*QUEUE, 5)
    passed_on.note(*QUEUE, 6)
    assert passed_on.above({}) == {QUEUE: 6}
    passed_on.done(QUEUE, 5)
    assert QUEUE in passed_on
    assert passed_on.above({QUEUE: 6}) == {}
    assert len(passed_on) == 0
