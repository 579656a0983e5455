"""Three replicas under controllers: whatever befalls the master, nothing acknowledged is lost, changed or doubled.

Set ``GANTRY_SWITCHES`` for more changes of master than a usual run makes.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from broker_core.client.session import Session
from tests.scenarios.failover import checks
from tests.scenarios.failover.at_work import QUEUES, TOPIC, at_rest, at_work, check_files
from tests.scenarios.failover.cluster import Group, failover_group
from tests.scenarios.failover.java_clients import SHORT_POLL_MS, USUAL_POLL_MS, java_clients
from tests.scenarios.failover.nemesis import Kind, Step
from tests.scenarios.failover.operations import Record
from tests.scenarios.failover.switching import Gap, Switching, told
from tests.scenarios.failover.workloads import Clients
from tests.support.cluster import create_topic
from tests.support.etcd import NOT_INSTALLED, Etcd, etcd, find_etcd
from tests.support.wait import eventually

pytestmark = pytest.mark.scenario

OFFSETS_FOLLOW_S = 2.0
SWITCHES = int(os.environ.get("GANTRY_SWITCHES", "10"))
ETCD_SWITCHES = int(os.environ.get("GANTRY_SWITCHES", "6"))


@pytest.fixture
def group(tmp_path: Path) -> Iterator[Group]:
    with failover_group(tmp_path) as made:
        yield made


async def change_master(switching: Switching, number: int) -> Gap:
    """Make the change of this number, each kind in turn."""
    match number % 5:
        case 0:
            return await switching.by_fault(Kind.KILL, seconds=0.0)
        case 1:
            return await switching.by_fault(Kind.PAUSE, seconds=4.0)
        case 2:
            return await switching.by_hand()
        case 3:
            return await switching.by_fault(Kind.STALL, seconds=4.0)
        case _:
            return await switching.by_restart()


async def test_nothing_acknowledged_is_lost_however_the_master_changes(
    group: Group, capsys: pytest.CaptureFixture[str]
) -> None:
    record, gaps = Record(group.folder / "operations.jsonl"), []
    async with at_work(group, record) as (switching, its):
        for number in range(SWITCHES):
            gaps.append(await change_master(switching, number))
            await switching.until_all_in_sync()
    async with Session(group.config()) as session:
        switching.session = session
        await at_rest(switching, record)
    check_files(group, record)
    with capsys.disabled():
        print(f"\n{told(gaps)}")
    stalls = [(fault.began, fault.ended) for fault in record.faults if fault.kind == Kind.STALL]
    offsets = checks.turned_back(record.commits, OFFSETS_FOLLOW_S, stalls)
    turned_back = {"readers": its.turned_back, "offsets": offsets}
    assert turned_back == {"readers": [], "offsets": []}


async def test_a_topic_is_there_after_its_master_is_killed_as_soon_as_it_was_created(group: Group) -> None:
    record = Record(group.folder / "operations.jsonl")
    async with at_work(group, record) as (switching, its):
        old = await switching.master()
        await create_topic(switching.session, "young", queues=QUEUES)
        its.begin(its.produce("another", topic="young"))
        await eventually(lambda: any(send.queue[0] == "young" for send in record.acknowledged()))
        async with switching.nemesis.fault(Kind.KILL, old.name):
            began = record.now()
            await eventually(
                lambda: any(send.queue[0] == "young" and send.began > began for send in record.acknowledged()),
                within=30.0,
            )


@pytest.mark.skipif(find_etcd() is None, reason=NOT_INSTALLED)
async def test_nothing_acknowledged_is_lost_whoever_decides_fails_beside_the_master(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gaps = []
    with etcd(tmp_path / "etcd", 3) as engine, failover_group(tmp_path, engine=engine) as group:
        record = Record(group.folder / "operations.jsonl")
        async with at_work(group, record, engine.members) as (switching, _):
            for number in range(ETCD_SWITCHES):
                gaps.append(await change_beside(switching, engine, number))
                await switching.until_all_in_sync()
        async with Session(group.config()) as session:
            switching.session = session
            await at_rest(switching, record)
        check_files(group, record)
    with capsys.disabled():
        print(f"\n{told(gaps)}")


async def change_beside(switching: Switching, engine: Etcd, number: int) -> Gap:
    """Let the fault of this number befall controllers or etcd, and at once another one the master."""
    leading, first = await switching.leading_controller(), engine.leader()
    assert first is not None
    others = [each.name for each in engine.members if each is not first]
    faults: list[tuple[str, Kind, list[str], float]] = [
        ("controller killed", Kind.KILL, [leading], 3.0),
        ("controller stopped", Kind.PAUSE, [leading], 6.0),
        ("controller cut off", Kind.STALL, [f"to etcd from {leading}"], 6.0),
        ("etcd's leader killed", Kind.KILL, [first.name], 3.0),
        ("etcd's leader stopped", Kind.PAUSE, [first.name], 4.0),
        ("etcd's majority killed", Kind.KILL, others, 4.0),
    ]
    why, kind, targets, seconds = faults[number % len(faults)]
    beside = [Step(kind, target, seconds, 0.0) for target in targets]
    of_master, lasts = (Kind.PAUSE, 4.0) if number % 2 else (Kind.KILL, 0.0)
    return await switching.by_fault(of_master, seconds=lasts, beside=beside, why=why)


async def test_members_of_an_orderly_group_do_not_share_a_queue_over_a_switch(group: Group) -> None:
    record = Record(group.folder / "operations.jsonl")
    async with at_work(group, record) as (switching, its), Session(group.config()) as other:
        beside = Clients(other, record, TOPIC, QUEUES, its.stop)
        its.begin(its.consume_in_order("one", "billing"), beside.consume_in_order("other", "billing"))
        for kind in (Kind.KILL, Kind.PAUSE):
            await switching.by_fault(kind, seconds=4.0)
            await switching.until_all_in_sync()
        worked = len(record.works)
        await eventually(lambda: len(record.works) > worked + 20)
        # Who began while there was no master joins at its next try.
        await eventually(lambda: {work.client for work in record.works} == {"one", "other"}, within=60.0)
    assert checks.overlapping(record.works, record.switches()) == []


@pytest.mark.parametrize("poll_ms", [SHORT_POLL_MS, USUAL_POLL_MS])
async def test_the_java_client_goes_on_at_the_new_master(group: Group, tmp_path: Path, poll_ms: int) -> None:
    record, stop = Record(group.folder / "operations.jsonl"), asyncio.Event()
    async with at_work(group, record) as (switching, _):
        with java_clients(tmp_path / "java", group, record) as java:
            producer = await asyncio.to_thread(java.producer, "java", poll_ms)
            working = asyncio.ensure_future(java.produce(producer, "java", TOPIC, 0, stop))
            await eventually(lambda: has_sent(record, 0.0))
            await switching.by_fault(Kind.KILL, seconds=0.0)
            began = record.now()
            await eventually(lambda: has_sent(record, began))
            stop.set()
            await working
    async with Session(group.config()) as session:
        switching.session = session
        await at_rest(switching, record)


def has_sent(record: Record, after: float) -> bool:
    """Whether the Java client was answered 0 after a moment."""
    return any(send.client == "java" and send.began > after for send in record.acknowledged())
