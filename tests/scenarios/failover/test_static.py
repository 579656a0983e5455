"""SYNC_MASTER with one slave under faults: whatever was answered 0 is on the slave when the master's disk is gone.

Set ``GANTRY_FAULTS`` to draw more faults than a usual run does, ``GANTRY_SEED`` to draw others.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from broker_core.client.sending import SendStatus
from broker_core.client.session import Session
from broker_core.store.reader import StoreReader
from broker_core.store.verify import verify
from tests.scenarios.failover import checks
from tests.scenarios.failover.cluster import Group, static_group
from tests.scenarios.failover.nemesis import Kind, Nemesis, Step, schedule
from tests.scenarios.failover.operations import Outcome, Read, Record
from tests.scenarios.failover.reading import read_all, read_store
from tests.scenarios.failover.workloads import clients, until_acknowledged
from tests.support.cluster import create_topic
from tests.support.wait import eventually

pytestmark = pytest.mark.scenario

TOPIC, QUEUES = "orders", 2
DRAWN = int(os.environ.get("GANTRY_FAULTS", "6"))
SEED = int(os.environ.get("GANTRY_SEED", "1"))
LONG_S = 4.0
"""Longer than a send waits for a slave."""
OF_SLAVE = (
    Step(Kind.KILL, "slave", 0.0, 1.0),
    Step(Kind.PAUSE, "slave", LONG_S, 1.0),
    Step(Kind.CUT, "between", 1.0, 1.0),
    Step(Kind.STALL, "between", LONG_S, 1.0),
    Step(Kind.ONE_WAY, "between", LONG_S, 1.0),
    Step(Kind.SLOW, "between", 1.0, 1.0),
    Step(Kind.KILL, "slave", LONG_S, 1.0),
)


@pytest.fixture
def group(tmp_path: Path) -> Iterator[Group]:
    with static_group(tmp_path) as made:
        yield made


def nemesis_of(group: Group, record: Record) -> Nemesis:
    return Nemesis(
        record,
        {"master": group.master.node, "slave": group.slave.node},
        {"between": group.between(group.master, group.slave), "back": group.between(group.slave, group.master)},
    )


@asynccontextmanager
async def under_faults(group: Group, record: Record, steps: Sequence[Step]) -> AsyncIterator[Session]:
    """Send and read at both replicas while the nemesis is at work, and go on so until the block ends."""
    nemesis = nemesis_of(group, record)
    async with Session(group.config()) as session, clients(session, record, TOPIC, QUEUES) as its:
        await create_topic(session, TOPIC, queues=QUEUES)
        its.begin(its.produce("producer"), its.tail("reader"), its.tail("reader of the slave", group.slave.address))
        await until_acknowledged(record, 0.0, 10)
        await nemesis.run(steps)
        await until_acknowledged(record, record.now(), 10)
        yield session
    assert its.turned_back == []


async def at_rest(group: Group, record: Record, steps: Sequence[Step]) -> None:
    """Do the same, and wait at the end until the slave shows what the master has."""
    async with under_faults(group, record, steps):
        pass
    async with Session(group.config()) as session:
        final = await read_all(session, TOPIC, QUEUES, "last at the master")
        await eventually(lambda: has_all(session, group.slave.address, final))
    check(record, final)


async def has_all(session: Session, replica: str, final: Sequence[Read]) -> bool:
    """Whether a replica shows as much as the master."""
    return len(await read_all(session, TOPIC, QUEUES, "waiting", replica=replica)) == len(final)


def check(record: Record, final: Sequence[Read]) -> None:
    """Check a replica that has all that anybody saw."""
    assert checks.broken(record, final) == {}
    assert checks.vanished(record.reads, final) == []


def check_slave(group: Group, record: Record) -> None:
    """Throw the master away and check what the slave's files hold."""
    for replica in group.replicas:
        replica.node.kill()
    check_same_log(group)
    check(record, read_store(group.master.store, TOPIC, "the master's log"))
    shutil.rmtree(group.master.store)
    final = read_store(group.slave.store, TOPIC, "the slave's log")
    assert checks.broken(record, final) == {}
    # What the slave showed is in its files; the master may have shown what nobody was answered 0 for
    assert checks.vanished((read for read in record.reads if read.replica == group.slave.address), final) == []
    with StoreReader.open(group.slave.store) as reader:
        assert verify(reader).told == []


def check_same_log(group: Group) -> None:
    """Check that the slave's log is the master's, byte for byte, up to where it ends."""
    with StoreReader.open(group.slave.store) as slave:
        end = slave.log_end
    files = {path.name: path for path in (group.slave.store / "commitlog").iterdir()}
    for name in sorted(files):
        size = min(end - int(name), files[name].stat().st_size)
        if size > 0:
            theirs = (group.master.store / "commitlog" / name).read_bytes()
            assert files[name].read_bytes()[:size] == theirs[:size]


async def test_what_was_answered_0_is_on_the_slave_whatever_befell_it(group: Group) -> None:
    record = Record(group.folder / "operations.jsonl")
    async with under_faults(group, record, OF_SLAVE):
        await asyncio.to_thread(group.master.node.kill)
    answers = Counter(send.why for send in record.sends if send.outcome in (Outcome.ACKNOWLEDGED, Outcome.STORED))
    assert answers[SendStatus.SEND_OK] > 50
    assert answers[SendStatus.SLAVE_NOT_AVAILABLE] > 0
    assert answers[SendStatus.FLUSH_SLAVE_TIMEOUT] > 0
    assert set(answers) == {
        SendStatus.SEND_OK, SendStatus.SLAVE_NOT_AVAILABLE, SendStatus.FLUSH_SLAVE_TIMEOUT,
    }  # fmt: skip
    check_slave(group, record)


async def test_a_master_that_is_killed_and_stopped_goes_on_with_its_slave(group: Group) -> None:
    record = Record(group.folder / "operations.jsonl")
    steps = [
        Step(Kind.KILL, "master", 0.0, 1.0),
        Step(Kind.PAUSE, "master", 2.0, 1.0),
        Step(Kind.ONE_WAY, "back", LONG_S, 1.0),
        Step(Kind.KILL, "master", 1.0, 1.0),
    ]
    await at_rest(group, record, steps)
    check_slave(group, record)


async def test_faults_that_are_drawn_break_nothing(group: Group) -> None:
    record = Record(group.folder / "operations.jsonl")
    steps = schedule(SEED, DRAWN, nodes=("master", "slave"), links=("between", "back"), longest_s=5.0)
    await at_rest(group, record, steps)
    check_slave(group, record)
