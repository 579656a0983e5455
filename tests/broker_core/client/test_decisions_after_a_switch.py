"""A decision on a transaction whose half message a former master took: it is told to the master of now."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from broker_core.client.admin import Admin
from broker_core.client.config import ClientConfig
from broker_core.client.errors import BrokerUnavailable
from broker_core.client.members import Prepared
from broker_core.client.session import Session
from broker_core.client.transactions import Decision, TransactionProducer, end_transaction
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.message import LogOffset, Message, QueueOffset
from broker_core.remoting.dispatch import Handler
from tests.broker_core.client.test_switches import is_at, session_of, switch
from tests.support.replica_group import ReplicaGroup, replica_group
from tests.support.scripted import Cluster, hang_up, refuse, scripted_cluster, succeed
from tests.support.wait import eventually

END = RequestCode.END_TRANSACTION
A_SLAVE = refuse(ResponseCode.SLAVE_NOT_AVAILABLE, "service not available now: this broker is a slave")
HALF = Prepared("b", QueueOffset(0), LogOffset(0), "AC11000100002A9F4E")


def unsure(_: object) -> Decision:
    return Decision.UNKNOWN


async def hand_over(group: ReplicaGroup, session: Session) -> None:
    """Make another replica the master; the former one lives on."""
    (first,) = group.masters()
    state = (await Admin(session).replication.state("b")).state
    assert state.master is not None
    other = next(each for each in state.in_sync if each != state.master.id)
    await Admin(session).replication.elect("b", other)
    await eventually(lambda: group.masters() not in ([], [first]))


async def bodies(group: ReplicaGroup) -> list[bytes]:
    return await group.read(await group.master())


async def test_a_decision_goes_to_the_master_that_took_over(tmp_path: Path) -> None:
    async with (
        replica_group(tmp_path) as group,
        session_of(group) as session,
        TransactionProducer(session, "payers", unsure) as payer,
    ):
        _, committed = await payer.prepare(Message("T", b"committed"))
        _, dropped = await payer.prepare(Message("T", b"dropped"))

        await hand_over(group, session)
        await payer.end(committed, Decision.COMMIT)
        await payer.end(dropped, Decision.ROLLBACK)

        assert await bodies(group) == [b"committed"]


async def test_a_decision_waits_for_the_successor_of_a_dead_master(tmp_path: Path) -> None:
    async with (
        replica_group(tmp_path) as group,
        session_of(group) as session,
        TransactionProducer(session, "payers", unsure) as payer,
    ):
        _, prepared = await payer.prepare(Message("T", b"committed"))

        switching = asyncio.create_task(switch(group))
        await payer.end(prepared, Decision.COMMIT)
        await switching

        await payer.end(prepared, Decision.COMMIT)
        assert await bodies(group) == [b"committed"]


# Brokers as a test says


@pytest.fixture
async def cluster() -> AsyncIterator[Cluster]:
    """Two brokers of one name, which take decisions; no route names them yet."""
    async with scripted_cluster("one", "two") as cluster:
        for name in ("one", "two"):
            cluster[name].on(END, succeed())
        is_at(cluster, "one", "two")
        yield cluster


@pytest.fixture
async def session(cluster: Cluster) -> AsyncIterator[Session]:
    async with Session(ClientConfig(name_servers=(cluster.name_server.addr,), timeout_ms=1_000)) as session:
        yield session


@pytest.mark.parametrize("former", [A_SLAVE, hang_up()], ids=["slave", "gone"])
async def test_a_former_master_is_asked_until_another_one_is_known(
    cluster: Cluster, session: Session, former: Handler
) -> None:
    await session.routes.get("orders")
    cluster["one"].on(END, former)
    ending = asyncio.ensure_future(end_transaction(session, "payers", HALF, Decision.COMMIT))
    await eventually(lambda: len(cluster["one"].asked(END)) >= 1)

    is_at(cluster, "two", "one")

    assert await ending
    assert len(cluster["two"].asked(END)) == 1


async def test_a_slave_that_stays_one_decides_nothing(cluster: Cluster, session: Session) -> None:
    await session.routes.get("orders")
    cluster["one"].on(END, A_SLAVE)

    with pytest.raises(BrokerUnavailable, match="this broker is a slave"):
        await end_transaction(session, "payers", HALF, Decision.COMMIT)

    assert len(cluster["one"].asked(END)) > 1


async def test_a_refused_decision_stays_refused_when_there_is_no_time_for_another_answer(cluster: Cluster) -> None:
    """Brokers that refuse, and do not answer any more in the last quarter of a second."""
    async with Session(ClientConfig(name_servers=(cluster.name_server.addr,), timeout_ms=3_000)) as session:
        await session.routes.get("orders")
        ends = time.monotonic() + 2.75
        cluster["one"].on(END, lambda *asked: A_SLAVE(*asked) if time.monotonic() < ends else None)

        with pytest.raises(BrokerUnavailable, match="this broker is a slave"):
            await end_transaction(session, "payers", HALF, Decision.COMMIT)


async def test_a_decision_that_no_slave_has_yet_is_stored_and_not_said_again(
    cluster: Cluster, session: Session
) -> None:
    await session.routes.get("orders")
    cluster["one"].on(
        END, refuse(ResponseCode.SLAVE_NOT_AVAILABLE, "done, but no slave is near enough to be waited for")
    )

    assert not await end_transaction(session, "payers", HALF, Decision.COMMIT)

    assert len(cluster["one"].asked(END)) == 1


async def test_the_successor_of_a_master_is_found_without_a_route_to_it(cluster: Cluster, session: Session) -> None:
    """As in another process than the one that sent the half message."""
    cluster.list_as("b", "one", "two")
    cluster["one"].on(END, A_SLAVE)
    ending = asyncio.ensure_future(end_transaction(session, "payers", HALF, Decision.COMMIT))
    await eventually(lambda: len(cluster["one"].asked(END)) >= 1)

    cluster.list_as("b", "two", "one")

    assert await ending
    assert len(cluster["two"].asked(END)) == 1
