"""A group under controllers with every workload at work, and what must hold of it once all is calm."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Final

from broker_core.client.session import Session
from broker_core.errors import GantryError
from broker_core.store.reader import StoreReader
from broker_core.store.verify import verify
from tests.scenarios.failover import checks
from tests.scenarios.failover.cluster import Group
from tests.scenarios.failover.nemesis import Nemesis, Process
from tests.scenarios.failover.operations import Read, Record
from tests.scenarios.failover.reading import read_all, read_store
from tests.scenarios.failover.switching import Switching
from tests.scenarios.failover.workloads import Clients, clients, until_acknowledged
from tests.support.cluster import create_topic
from tests.support.etcd import Member
from tests.support.wait import eventually

TOPIC: Final = "orders"
QUEUES: Final = 2


@asynccontextmanager
async def at_work(
    group: Group, record: Record, engine: Sequence[Member] = ()
) -> AsyncIterator[tuple[Switching, Clients]]:
    """Have every workload run, and something to make changes of master with, until the block ends."""
    nodes: dict[str, Process] = {each.name: each for each in group.nodes}
    nodes |= {each.name: each for each in engine}
    links = {f"around {replica.name}": group.around(replica) for replica in group.replicas}
    if engine:
        links |= {f"to etcd from {each.name}": group.to_etcd(each) for each in group.name_servers}
    async with Session(group.config()) as session:
        switching = Switching(group, record, session, Nemesis(record, nodes, links))
        await eventually(lambda: can_create(session, TOPIC))
        await switching.until_all_in_sync()
        for replica in group.replicas:
            await eventually(lambda replica=replica: knows_topic(session, replica.address))
        async with clients(session, record, TOPIC, QUEUES) as its:
            its.begin(its.produce("producer"), its.tail("reader"), its.commit("counter"))
            its.begin(*(its.tail(f"reader of {replica.name}", replica.address) for replica in group.replicas))
            await until_acknowledged(record, 0.0, 10)
            yield switching, its
            await until_acknowledged(record, record.now(), 10)


async def can_create(session: Session, topic: str) -> bool:
    """Whether a topic could be created."""
    try:
        await create_topic(session, topic, queues=QUEUES)
    except GantryError:
        return False
    return True


async def knows_topic(session: Session, replica: str) -> bool:
    """Whether a replica answers for the topic."""
    try:
        await read_all(session, TOPIC, QUEUES, "asking", replica=replica)
    except GantryError:
        return False
    return True


async def at_rest(switching: Switching, record: Record) -> list[Read]:
    """Check what the last master shows, and wait until every replica shows as much; return it."""
    await switching.until_all_in_sync()
    final = await read_all(switching.session, TOPIC, QUEUES, "last")
    assert checks.broken(record.of(TOPIC), final) == {}
    assert checks.vanished(record.of(TOPIC).reads, final) == []
    for replica in switching.group.replicas:
        await eventually(lambda replica=replica: shows_as_much(switching.session, replica.address, final))
    return final


async def shows_as_much(session: Session, replica: str, final: list[Read]) -> bool:
    """Whether a replica shows as many messages as the master."""
    return len(await read_all(session, TOPIC, QUEUES, "waiting", replica=replica)) == len(final)


def check_files(group: Group, record: Record) -> None:
    """End all replicas at once and check what each has in its files."""
    for replica in group.replicas:
        replica.node.kill()
    for replica in group.replicas:
        final = read_store(replica.store, TOPIC, replica.name)
        assert checks.broken(record.of(TOPIC), final) == {}
        with StoreReader.open(replica.store) as reader:
            assert verify(reader).told == []
