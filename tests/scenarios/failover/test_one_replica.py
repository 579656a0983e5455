"""A broker without replicas under every fault: nothing is lost, and the harness is tried on what is simple."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from broker_core.client.session import Session
from tests.scenarios.failover import checks
from tests.scenarios.failover.cluster import ANNOUNCED, Group, group_in
from tests.scenarios.failover.java_clients import SHORT_POLL_MS, USUAL_POLL_MS, java_clients, reads_of
from tests.scenarios.failover.nemesis import Kind, Nemesis, Step, full_disk
from tests.scenarios.failover.operations import Outcome, Record
from tests.scenarios.failover.reading import look_up, read_all, read_store
from tests.scenarios.failover.workloads import KEYS, clients, until_acknowledged
from tests.support.cluster import create_topic
from tests.support.small_disk import small_disk
from tests.support.wait import eventually

pytestmark = pytest.mark.scenario

TOPIC, DELAYED, QUEUES = "orders", "reminders", 2
DISK_BYTES = 32 * 1024 * 1024
FAULTS = (
    Step(Kind.KILL, "replica", 0.0, 0.5),
    Step(Kind.PAUSE, "replica", 1.5, 0.5),
    Step(Kind.CUT, "clients", 0.5, 0.5),
    Step(Kind.STALL, "clients", 1.0, 0.5),
    Step(Kind.ONE_WAY, "clients", 1.0, 0.5),
    Step(Kind.SLOW, "clients", 1.0, 0.5),
    Step(Kind.KILL, "replica", 1.0, 0.5),
)


@pytest.fixture
def group(tmp_path: Path) -> Iterator[Group]:
    with group_in(tmp_path) as made:
        made.add_name_server({})
        made.add_replica(lambda _: {})
        made.start()
        yield made


async def test_nothing_is_lost_changed_or_doubled_by_any_fault(group: Group) -> None:
    record = Record(group.folder / "operations.jsonl")
    wires = group.around(group.master, with_clients=True)
    nemesis = Nemesis(record, {"replica": group.master.node}, {"clients": wires})
    async with Session(group.config()) as session, clients(session, record, TOPIC, QUEUES) as its:
        for topic in (TOPIC, DELAYED):
            await create_topic(session, topic, queues=QUEUES)
        assert session.routes.master("b") == f"{ANNOUNCED}:{group.master.port}"
        its.begin(its.produce("producer"), its.tail("reader"), its.consume_in_order("member", "billing"))
        its.begin(its.produce("late", delay_level=1, topic=DELAYED), its.receive_delayed("waiter", DELAYED))
        its.begin(its.commit("counter"))
        await until_acknowledged(record, 0.0, 10)
        await nemesis.run(FAULTS)
        await until_acknowledged(record, record.now(), 10)
        await asyncio.sleep(1.0)  # what is delayed by a second comes
        await its.end()
        await check(record, session)
        assert its.turned_back == []
    group.master.node.kill()
    assert checks.lost(record.of(TOPIC).sends, read_store(group.master.store, TOPIC, "log")) == []


async def check(record: Record, session: Session) -> None:
    """Check what must hold of a broker that loses nothing when it is killed."""
    final = await read_all(session, TOPIC, QUEUES, "last")
    orders = record.of(TOPIC)
    assert len(orders.acknowledged()) > 50
    assert len(orders.reads) > 50
    assert checks.broken(orders, final) == {}
    assert checks.vanished(orders.reads, final) == []
    found = {}
    for queue_id in range(QUEUES):
        for number in range(KEYS):
            key = f"producer-{queue_id}-key-{number}"
            found[key] = await look_up(session, TOPIC, key, "finder")
    assert checks.stale(orders.sends, found) == []
    delayed = record.of(DELAYED)
    assert len(delayed.reads) > 10
    assert checks.early(delayed.sends, delayed.reads, 1.0) == []
    assert checks.phantoms(delayed.sends, delayed.reads) == []
    assert len(record.works) > 50
    assert checks.overlapping(record.works) == []
    assert len(record.commits) > 10
    # A killed broker has the offsets of its last save; the saves are 5 s apart
    assert checks.turned_back(record.commits, 8.0) == []


async def test_the_java_client_finds_all_it_was_told_of(group: Group, tmp_path: Path) -> None:
    record, stop = Record(group.folder / "operations.jsonl"), asyncio.Event()
    wires = group.around(group.master, with_clients=True)
    nemesis = Nemesis(record, {"replica": group.master.node}, {"clients": wires})
    async with Session(group.config()) as session:
        await create_topic(session, TOPIC, queues=QUEUES)
        with java_clients(tmp_path / "java", group, record) as java:
            consumer = await asyncio.to_thread(java.consumer, "billing", TOPIC, SHORT_POLL_MS)
            producer = await asyncio.to_thread(java.producer, "java", USUAL_POLL_MS)
            async with asyncio.TaskGroup() as working:
                working.create_task(java.produce(producer, "java", TOPIC, 0, stop))
                await until_acknowledged(record, 0.0, 10)
                await nemesis.run(FAULTS[:3])
                await until_acknowledged(record, record.now(), 10)
                stop.set()
            final = await read_all(session, TOPIC, QUEUES, "last")
            await eventually(lambda: len(set(consumer.bodies)) == len({read.text for read in final}))
            reads = reads_of(consumer, "java")
    assert checks.broken(record, final) == {}
    assert checks.changed([*final, *reads]) == []
    assert checks.phantoms(record.sends, reads) == []


async def test_a_full_disk_is_an_answer_and_no_loss(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", DISK_BYTES) as disk, group_in(tmp_path) as group:
        group.add_name_server({})
        group.add_replica(lambda _: {}, store=disk / "store")
        group.start()
        record = Record()
        async with Session(group.config()) as session, clients(session, record, TOPIC, QUEUES) as its:
            await create_topic(session, TOPIC, queues=QUEUES)
            its.begin(its.produce("producer", pause_s=0.0))
            await until_acknowledged(record, 0.0, 10)
            async with full_disk(record, disk):
                await eventually(lambda: record.sends[-1].outcome is not Outcome.ACKNOWLEDGED)
            await until_acknowledged(record, record.now(), 10)
            await its.end()
            final = await read_all(session, TOPIC, QUEUES, "last")
        assert checks.broken(record, final) == {}
