"""What replicas leave behind after changes of master, Apache RocketMQ serves; and what that leaves, Gantry.

A folder is taken over for good: what tells of epochs and of the replica is removed, as docs/replication.md says.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from broker_core.broker.replication.identity_file import FILE_NAME as IDENTITY
from broker_core.client.producer import Producer
from broker_core.client.session import Session
from broker_core.protocol.message import Message
from broker_core.store.layout import EPOCHS
from broker_core.store.reader import StoreReader
from broker_core.store.verify import verify
from tests.compat import java_build
from tests.compat.driver import Driver, started_driver
from tests.scenarios.failover import checks
from tests.scenarios.failover.at_work import QUEUES, TOPIC, at_rest, at_work
from tests.scenarios.failover.cluster import BROKER_NAME, CLUSTER, SEGMENT_BYTES, Group, Replica, failover_group
from tests.scenarios.failover.java_clients import reads_of
from tests.scenarios.failover.nemesis import Kind
from tests.scenarios.failover.operations import Read, Record
from tests.scenarios.failover.reading import look_up, read_all, read_store
from tests.scenarios.failover.workloads import KEYS
from tests.support.apache import ApacheBroker, started_apache
from tests.support.cluster import RunningBroker
from tests.support.wait import eventually

pytestmark = pytest.mark.scenario

SIZES = {"mappedFileSizeCommitLog": str(SEGMENT_BYTES)}
OTHERS = [b"by Apache RocketMQ %d" % number for number in range(20)]


@pytest.fixture
def driver(tmp_path: Path) -> Iterator[Driver]:
    missing = java_build.missing_tool()
    if missing is not None:
        pytest.skip(f"left out: Apache RocketMQ needs a JDK with a compiler and Maven, and there is no {missing}")
    java_build.CLIENT.build()
    java_build.SERVER.build()
    with started_driver(tmp_path / "java") as started:
        yield started


async def test_apache_rocketmq_accepts_the_files_of_every_replica(tmp_path: Path, driver: Driver) -> None:
    record = Record(tmp_path / "operations.jsonl")
    with failover_group(tmp_path) as group:
        final = await after_changes_of_master(group, record)
        # Given one that stopped well, and two that were killed
        group.master.node.stop()
        for replica in group.replicas:
            replica.node.kill()
            forget_the_group(replica)
    for replica in group.replicas:
        with started_apache(replica.node.folder, settings=SIZES, broker_name=BROKER_NAME, cluster=CLUSTER) as apache:
            async with apache.session() as session:
                assert where(await read_all(session, TOPIC, QUEUES, replica.name)) == where(final)
                assert checks.stale(record.of(TOPIC).sends, await newest_values(session)) == []
                await the_java_client_reads(driver, apache, final)
                await send_others(session)
    for replica in group.replicas:
        await gantry_goes_on(replica, final)


async def after_changes_of_master(group: Group, record: Record) -> list[Read]:
    """Let three replicas have their turn as masters, with a tail that is cut; return what all of them show."""
    async with at_work(group, record) as (switching, _):
        for change in (Kind.KILL, Kind.PAUSE, Kind.STALL):
            await switching.by_fault(change, seconds=0.0 if change is Kind.KILL else 4.0)
            await switching.until_all_in_sync()
        await switching.by_hand()
    async with Session(group.config()) as session:
        switching.session = session
        return await at_rest(switching, record)


def forget_the_group(replica: Replica) -> None:
    """Remove what only a group of replicas needs."""
    for name in (EPOCHS, f"{EPOCHS}.bak", IDENTITY):
        (replica.store / name).unlink()


def where(reads: list[Read]) -> list[tuple[object, ...]]:
    """Return which messages were read, and where they lie in queue and log."""
    return [(read.queue, read.queue_offset, read.log_offset, read.text) for read in reads]


async def newest_values(session: Session) -> dict[str, list[Read]]:
    """Return what is found by each key of the producer."""
    keys = [f"producer-{queue_id}-key-{number}" for queue_id in range(QUEUES) for number in range(KEYS)]
    return {key: await look_up(session, TOPIC, key, "finder") for key in keys}


async def the_java_client_reads(driver: Driver, apache: ApacheBroker, final: list[Read]) -> None:
    """Have a new group of the Java client consume all of the topic."""
    consumer = await asyncio.to_thread(driver.push_consumer, apache.name_server, "another", {TOPIC: "*"})
    await eventually(lambda: len(consumer.events) >= len(final))
    reads = sorted(reads_of(consumer, "java"), key=lambda read: (read.queue, read.queue_offset))
    assert where(reads) == where(final)
    await asyncio.to_thread(consumer.shutdown)


async def send_others(session: Session) -> None:
    async with Producer(session) as producer:
        results = await producer.send_many(Message.create(TOPIC, body) for body in OTHERS)
    assert all(not isinstance(result, Exception) for result in results), results


async def gantry_goes_on(replica: Replica, final: list[Read]) -> None:
    """Open what Apache RocketMQ left: all is there, also what that took, and it is a sound store."""
    sizes = ("--commit-log-file-size", str(SEGMENT_BYTES))
    broker = RunningBroker(replica.node.folder, arguments=sizes, broker_name=BROKER_NAME, cluster=CLUSTER)
    broker.start()
    try:
        async with broker.session() as session:
            found = await read_all(session, TOPIC, QUEUES, "again")
    finally:
        broker.stop()
    old = {(read.queue, read.queue_offset) for read in final}
    assert where([read for read in found if (read.queue, read.queue_offset) in old]) == where(final)
    assert sorted(read.text for read in found)[: len(OTHERS)] == sorted(body.decode() for body in OTHERS)
    assert len(found) == len(final) + len(OTHERS)
    assert len(read_store(replica.store, TOPIC, "log")) == len(found)
    with StoreReader.open(replica.store) as reader:
        assert verify(reader).told == []
