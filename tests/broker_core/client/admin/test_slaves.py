"""Reading messages while the master of a broker is away: a slave answers, and the answer says so."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final
from unittest.mock import AsyncMock

import pytest

from broker_core.client.admin import Admin
from broker_core.client.admin.replica_reads import at_replica
from broker_core.client.admin.requests import AdminRequests
from broker_core.client.config import ClientConfig
from broker_core.client.errors import NoMaster, Unreachable
from broker_core.client.session import Session
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers.offsets import GetMaxOffsetRequest, GetMaxOffsetResponse
from broker_core.protocol.headers.pull import PullMessageResponse
from broker_core.remoting.dispatch import Handler
from tests.support.cluster import SeveralBrokers, several_brokers
from tests.support.orphaned import KEY, send_to_both, start_pair
from tests.support.scripted import Cluster, hang_up, refuse, say_nothing, scripted_cluster, succeed

QUEUE: Final = MessageQueue("orders", "broker-a", 0)


@pytest.fixture
async def pair(tmp_path: Path) -> AsyncIterator[SeveralBrokers]:
    """A master, and a slave that never takes its place."""
    async with several_brokers(tmp_path, names=()) as running:
        await start_pair(running)
        yield running


@pytest.fixture
async def admin(pair: SeveralBrokers) -> AsyncIterator[Admin]:
    async with pair.session() as session:
        yield Admin(session)


async def test_a_message_is_found_at_a_slave_by_key_id_time_and_place(pair: SeveralBrokers, admin: Admin) -> None:
    sent = await send_to_both(pair)
    before = await admin.messages.search("orders", KEY, with_slaves=True)
    assert (before.complete, before.slaves) == (True, {})
    await pair.stop("broker-a")

    found = await admin.messages.search("orders", KEY, with_slaves=True)
    browsed = await admin.messages.browse("orders", with_slaves=True)
    newer = await admin.messages.browse_newer("orders", {QUEUE: 1}, with_slaves=True)
    page = await admin.messages.page(QUEUE, 0, 10, with_slaves=True)
    lookup = await admin.messages.key_lookup(["orders"], begin=0, end=1 << 60, limit=9, with_slaves=True)
    looked_up = await lookup.find(KEY, ends=float("inf"))
    one = await admin.messages.find("orders", sent[1].message_id, with_slaves=True)
    placed = await admin.messages.find("orders", sent[1].offset_id, with_slaves=True)

    assert [each.message.body for each in found.messages] == [b"2", b"1", b"0"]
    assert [each.message for each in browsed.messages] == [each.message for each in found.messages]
    assert [each.message.body for each in newer.messages] == [b"1", b"2"]
    assert [each.message.body for each in page.messages] == [b"0", b"1", b"2"]
    assert len(looked_up.messages) == 3
    assert one is not None
    assert placed is not None
    assert one.message == placed.message
    slaves = [found.slaves, browsed.slaves, newer.slaves, page.slaves, looked_up.slaves]
    slaves += [{"broker-a": each.slave} for each in (one, placed) if each.slave is not None]
    assert [(each["broker-a"].broker_id, type(each["broker-a"].why)) for each in slaves] == [(1, NoMaster)] * 7
    assert not found.complete, "the slave may lack the newest messages"


@pytest.mark.parametrize("recalls", [False, True], ids=["used before", "seen by somebody else"])
async def test_ids_and_keys_are_looked_up_where_they_were_last_while_no_name_server_answers(
    pair: SeveralBrokers, recalls: bool
) -> None:
    sent = await send_to_both(pair)
    async with pair.session() as asked:
        seen = (await asked.routes.get("orders")).data
    config = ClientConfig([f"127.0.0.1:{pair.name_server.port}"])
    async with Session(config, recall=AsyncMock(return_value=seen) if recalls else None) as session:
        messages = Admin(session).messages
        if not recalls:
            await session.routes.get("orders")
        await pair.name_server.close()

        one = await messages.find("orders", sent[1].message_id, with_slaves=True)
        placed = await messages.find("orders", sent[2].offset_id, with_slaves=True)
        of_one = await messages.key_lookup(["orders"], begin=0, end=1 << 60, limit=9, with_slaves=True)
        of_all = await messages.key_lookup(["orders", "x"], begin=0, end=1 << 60, limit=9, with_slaves=True)
        found = [await each.find(KEY, ends=float("inf")) for each in (of_one, of_all)]
        with pytest.raises(Unreachable) as nowhere:
            await messages.find("orders", "no such id", with_slaves=True)

    assert [one and one.message.body, placed and placed.message.body] == [b"1", b"2"]
    assert [len(each.messages) for each in found] == [3, 3]
    assert [(each.is_told, each.asked) for each in (of_one, of_all)] == [(False, frozenset({"broker-a"}))] * 2
    assert nowhere.value.of_name_server, "other brokers may have it"


async def test_what_a_slave_does_not_have_is_not_said_to_be_nowhere(pair: SeveralBrokers, admin: Admin) -> None:
    await send_to_both(pair)
    assert await admin.messages.find("orders", "no such id") is None
    await pair.stop("broker-a")

    with pytest.raises(NoMaster, match="'broker-a'"):
        await admin.messages.find("orders", "no such id", with_slaves=True)


async def test_only_who_says_so_gets_what_a_slave_has(pair: SeveralBrokers, admin: Admin) -> None:
    sent = await send_to_both(pair)
    await pair.stop("broker-a")

    found = await admin.messages.search("orders", KEY)

    assert (found.messages, list(found.failed)) == ([], ["broker-a"])
    for question in (
        admin.messages.browse("orders"),
        admin.messages.find("orders", sent[1].message_id),
        admin.offsets.max(QUEUE),
    ):
        with pytest.raises(NoMaster):
            await question


@pytest.fixture
async def cluster() -> AsyncIterator[Cluster]:
    """A master that is listed and hangs up, and two slaves."""
    async with scripted_cluster("master", "one", "two") as cluster:
        cluster.list_as("b", "master", "one", "two")
        cluster.add_topic("orders", queues=1)
        for code in (RequestCode.GET_MAX_OFFSET, RequestCode.PULL_MESSAGE):
            cluster["master"].on(code, hang_up())
        yield cluster


async def max_at(session: Session) -> tuple[int, int | None]:
    requests = AdminRequests(session)

    async def ask(addr: str) -> int:
        answer = await requests.ask(addr, GetMaxOffsetRequest("orders", 0))
        return requests.read(GetMaxOffsetResponse, answer, addr).offset

    offset, slave = await at_replica(requests, "b", ask)
    return offset, None if slave is None else slave.broker_id


async def test_the_next_slave_is_asked_if_one_does_not_answer_either(cluster: Cluster) -> None:
    cluster["one"].on(RequestCode.GET_MAX_OFFSET, hang_up())
    cluster["two"].on(RequestCode.GET_MAX_OFFSET, succeed(lambda _: Command.response(0, GetMaxOffsetResponse(7))))
    async with client_of(cluster) as session:
        assert await max_at(session) == (7, 2)

        cluster["two"].on(RequestCode.GET_MAX_OFFSET, refuse(ResponseCode.SYSTEM_ERROR))
        with pytest.raises(Unreachable) as failure:
            await max_at(session)

    assert failure.value.addr == cluster["master"].addr


async def test_an_offset_before_the_queue_of_a_slave_ends_a_page(cluster: Cluster) -> None:
    """A slave answers as if nothing matched, and names the same offset as the next one."""
    outside = PullMessageResponse(0, next_begin_offset=3, min_offset=10, max_offset=20)
    code = ResponseCode.PULL_RETRY_IMMEDIATELY
    cluster["one"].on(RequestCode.PULL_MESSAGE, lambda _, __: Command.response(code, outside))
    async with client_of(cluster) as session:
        page = await Admin(session).messages.page(MessageQueue("orders", "b", 0), 3, 10, with_slaves=True)

    assert (page.messages, page.min_offset, page.max_offset) == ([], 10, 20)


def client_of(cluster: Cluster) -> Session:
    return Session(ClientConfig([cluster.name_server.addr], timeout_ms=2_000, admin_timeout_ms=1_000))


@pytest.mark.parametrize("silence", [hang_up(), say_nothing()], ids=["is gone", "hangs"])
async def test_a_slave_is_searched_while_no_name_server_answers_either(cluster: Cluster, silence: Handler) -> None:
    nothing = refuse(ResponseCode.QUERY_NOT_FOUND)
    cluster["one"].on(RequestCode.QUERY_MESSAGE, nothing)
    async with client_of(cluster) as session:
        await session.routes.get("orders")
        for code in (RequestCode.GET_ROUTEINFO_BY_TOPIC, RequestCode.GET_BROKER_CLUSTER_INFO):
            cluster.name_server.on(code, silence)
        cluster["master"].on(RequestCode.QUERY_MESSAGE, silence)

        found = await Admin(session).messages.search("orders", KEY, with_slaves=True)

        assert ({name: slave.broker_id for name, slave in found.slaves.items()}, found.failed) == ({"b": 1}, {})
        assert not found.complete

        cluster["master"].on(RequestCode.QUERY_MESSAGE, nothing)
        with pytest.raises(Unreachable) as failure:
            await Admin(session).messages.search("orders", KEY, with_slaves=True)

    assert failure.value.of_name_server, "masters alone answered, and there may be more of them"
