"""A change of master while messages wait for their time, and a disk that is full: of the master, and of a slave."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from broker_core.client.session import Session
from tests.scenarios.failover import checks
from tests.scenarios.failover.at_work import QUEUES, TOPIC, at_rest, at_work, can_create, check_files
from tests.scenarios.failover.cluster import Group, failover_group
from tests.scenarios.failover.nemesis import Kind, full_disk
from tests.scenarios.failover.operations import Outcome, Record
from tests.scenarios.failover.reading import read_all
from tests.scenarios.failover.switching import Switching
from tests.scenarios.failover.workloads import until_acknowledged
from tests.support.small_disk import small_disk
from tests.support.wait import eventually

pytestmark = pytest.mark.scenario

DELAYED = "reminders"
DELAY_S = 1.0
DISK_BYTES = 64 * 1024 * 1024
SEGMENT_BYTES = 512 * 1024
"""A full disk shows with the next one."""


@pytest.fixture
def group(tmp_path: Path) -> Iterator[Group]:
    with failover_group(tmp_path) as made:
        yield made


async def test_what_waits_for_its_time_comes_from_the_next_master(group: Group) -> None:
    record = Record(group.folder / "operations.jsonl")
    async with at_work(group, record) as (switching, its):
        await eventually(lambda: can_create(switching.session, DELAYED))
        its.begin(its.produce("late", delay_level=1, topic=DELAYED), its.receive_delayed("waiter", DELAYED))
        await eventually(lambda: record.of(DELAYED).reads)
        for kind in (Kind.KILL, Kind.PAUSE):
            await switching.by_fault(kind, seconds=4.0)
            await switching.until_all_in_sync()
    sends = record.of(DELAYED).sends
    wanted = {send.text for send in sends if send.outcome is Outcome.ACKNOWLEDGED}
    async with Session(group.config()) as session:

        async def have_come() -> bool:
            return wanted <= {read.text for read in await read_all(session, DELAYED, QUEUES, "last")}

        await eventually(have_come)
        switching.session = session
        await at_rest(switching, record)
    assert len(wanted) > 50
    assert checks.early(sends, record.of(DELAYED).reads, DELAY_S) == []
    assert checks.phantoms(sends, record.of(DELAYED).reads) == []


async def test_a_full_disk_is_an_answer_of_the_master_and_a_member_waits_for_room(tmp_path: Path) -> None:
    with (
        small_disk(tmp_path / "disk", DISK_BYTES) as disk,
        failover_group(
            tmp_path,
            first_store=disk / "store",
            mappedFileSizeCommitLog=str(SEGMENT_BYTES),
            haMaxTimeSlaveNotCatchup="3000",
        ) as group,
    ):
        record, first = Record(group.folder / "operations.jsonl"), group.replicas[0]
        async with at_work(group, record) as (switching, _):
            if await switching.master() is not first:
                await switching.by_hand(first)
            async with full_disk(record, disk):
                await eventually(lambda: record.of(TOPIC).sends[-1].outcome is not Outcome.ACKNOWLEDGED)
            await until_acknowledged(record, record.now(), 10)
            await switching.by_hand()
            async with full_disk(record, disk):
                await eventually(lambda: lacks_a_member(switching))
                await until_acknowledged(record, record.now(), 10)
                assert first.node.is_running
            await eventually(lambda: are_all_in_sync(switching), within=90.0)
            assert first.node.is_running
        async with Session(group.config()) as session:
            switching.session = session
            await at_rest(switching, record)
        check_files(group, record)


async def are_all_in_sync(switching: Switching) -> bool:
    """Whether every replica is in the in-sync set."""
    return not await lacks_a_member(switching)


async def lacks_a_member(switching: Switching) -> bool:
    """Whether a replica has left the in-sync set."""
    return len((await switching.state()).in_sync) < len(switching.group.replicas)
