"""Requirements of `console.clusters.connections`: one started client per cluster, for all threads."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from asgiref.sync import ThreadSensitiveContext, sync_to_async

from broker_core.client.admin import Admin
from broker_core.client.errors import ClientClosed, Unreachable
from broker_core.protocol.message import Message
from console.clusters import connections
from console.clusters.connections import (
    LOOK_UP_SECONDS,
    MAX_LEASE_CONSUMERS,
    ClusterAddress,
    ClusterNotFound,
    ClusterSilent,
    Connections,
    ask,
)
from tests.support.cluster import RunningBroker, create_topic
from tests.support.wait import eventually


class Book:
    """A look-up that counts its calls."""

    def __init__(self, **addresses: str) -> None:
        self.addresses = addresses
        self.asked = 0

    async def find(self, name: str) -> ClusterAddress | None:
        self.asked += 1
        await asyncio.sleep(0)
        address = self.addresses.get(name)
        return None if address is None else ClusterAddress(name, (address,))


@pytest.fixture
def book(shared_broker: RunningBroker) -> Book:
    """Knows the cluster ``local``."""
    return Book(local=shared_broker.name_server)


@pytest.fixture
async def opened(book: Book) -> AsyncIterator[Connections]:
    """Connections of this loop."""
    found = Connections(book.find)
    yield found
    await found.close()


@pytest.fixture
def threads(book: Book) -> Iterator[None]:
    """Let threads ask through a separate loop."""
    found = connections._process.find_cluster
    connections.use(None)
    connections.look_up_by(book.find)
    yield
    connections.use(None)
    if found is not None:
        connections.look_up_by(found)


async def brokers(admin: Admin) -> int:
    return len(await admin.clusters.brokers())


async def test_all_who_ask_at_once_share_one_session(opened: Connections, book: Book) -> None:
    sessions = await asyncio.gather(*(opened.session("local") for _ in range(20)))
    assert len(set(map(id, sessions))) == 1
    assert book.asked == 1
    assert await brokers(await opened.admin("local")) == 1


async def test_a_producer_and_a_lease_consumer_are_made_once(opened: Connections) -> None:
    producer = await opened.producer("local")
    assert producer is await opened.producer("local")
    await create_topic(await opened.session("local"), "connections", queues=1)
    await producer.send(Message("connections", b"hi"))
    consumer = await opened.lease_consumer("local", "billing")
    assert consumer is await opened.lease_consumer("local", "billing")
    assert consumer is not await opened.lease_consumer("local", "shipping")
    received = await consumer.receive("connections", max_messages=1, wait_ms=5_000, lease_ms=1_000)
    assert received.messages[0].message.body == b"hi"


async def test_consumers_of_groups_nobody_uses_any_more_are_forgotten(
    opened: Connections, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert MAX_LEASE_CONSUMERS >= 1_000
    monkeypatch.setattr(connections, "MAX_LEASE_CONSUMERS", 2)
    first = await opened.lease_consumer("local", "a")
    await opened.lease_consumer("local", "b")
    assert await opened.lease_consumer("local", "a") is first
    await opened.lease_consumer("local", "c")
    assert await opened.lease_consumer("local", "a") is first, "b was the longest unused"


async def test_a_cluster_that_nobody_knows_is_not_found(opened: Connections) -> None:
    for _ in range(2):
        with pytest.raises(ClusterNotFound, match="mars"):
            await opened.session("mars")


async def test_a_cluster_that_moved_is_followed_and_one_that_went_is_left(
    opened: Connections, book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = await opened.session("local")
    # While the address is cached, it is not looked up
    book.addresses["local"] = "127.0.0.1:1"
    assert await opened.session("local") is first
    # When it is looked up again
    monkeypatch.setattr(connections, "LOOK_UP_SECONDS", 0.0)
    moved = await opened.session("local")
    # Then the old session is closed and the new address asked
    assert moved is not first
    with pytest.raises(ClientClosed):
        await Admin(first).clusters.brokers()
    with pytest.raises(Unreachable):
        await Admin(moved).clusters.brokers()
    del book.addresses["local"]
    with pytest.raises(ClusterNotFound):
        await opened.session("local")
    assert LOOK_UP_SECONDS <= 5


async def test_a_cluster_that_was_changed_here_is_looked_up_at_its_next_use(opened: Connections, book: Book) -> None:
    first = await opened.session("local")
    opened.look_up_again("local")
    assert await opened.session("local") is first, "it is where it was"
    book.addresses["local"] = "127.0.0.1:1"
    opened.look_up_again("local")
    assert await opened.session("local") is not first


async def test_a_cluster_that_was_deleted_is_left_though_nobody_asks_for_it(
    opened: Connections, book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "LOOK_UP_SECONDS", 0.01)
    session = await opened.session("local")
    await Admin(session).clusters.brokers()
    del book.addresses["local"]
    await eventually(lambda: not opened._open)
    # What is asked while it closes is lost with the connection.
    with pytest.raises((ClientClosed, Unreachable), match="closed"):
        await Admin(session).clusters.brokers()


async def test_what_is_open_to_a_cluster_can_be_left(opened: Connections) -> None:
    session = await opened.session("local")
    await opened.leave("local")
    await opened.leave("local")
    assert await opened.session("local") is not session


def test_threads_ask_and_wait(threads: None, book: Book) -> None:
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda _: ask("local", brokers), range(32))) == [1] * 32
    assert book.asked == 1


def test_what_a_question_raises_reaches_who_asked(threads: None) -> None:
    async def fails(_: Admin) -> None:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        ask("local", fails)
    with pytest.raises(ClusterNotFound):
        ask("mars", brokers)


def test_a_cluster_that_says_nothing_is_not_waited_for(threads: None, book: Book) -> None:
    # Given something that accepts connections and never answers
    with socket.create_server(("127.0.0.1", 0)) as mute:
        book.addresses["mute"] = f"127.0.0.1:{mute.getsockname()[1]}"
        with pytest.raises(ClusterSilent, match="mute"):
            ask("mute", brokers, seconds=0.2)


async def test_threads_use_the_loop_that_was_handed_in(opened: Connections, book: Book) -> None:
    loop = asyncio.get_running_loop()
    connections.use(opened, loop)

    async def where(_: Admin) -> asyncio.AbstractEventLoop:
        return asyncio.get_running_loop()

    try:
        assert await asyncio.to_thread(ask, "local", where) is loop
        # On the loop itself it would wait for itself forever
        with pytest.raises(RuntimeError):
            ask("local", where)
    finally:
        connections.use(None)


async def test_a_view_may_ask_for_a_cluster_that_is_to_be_looked_up(book: Book) -> None:
    # Given a look-up that must run in the thread of its request, like that of the database
    async def find(name: str) -> ClusterAddress | None:
        address = await sync_to_async(book.addresses.get, thread_sensitive=True)(name)
        return None if address is None else ClusterAddress(name, (address,))

    opened = Connections(find)
    connections.use(opened, asyncio.get_running_loop())
    try:
        # When a view, which blocks that thread, asks
        async with ThreadSensitiveContext():
            answer = await sync_to_async(ask, thread_sensitive=True)("local", brokers, seconds=5)
        # Then they do not wait for each other
        assert answer == 1
    finally:
        connections.use(None)
        await opened.close()


def test_a_forked_process_opens_connections_of_its_own(threads: None) -> None:
    assert ask("local", brokers) == 1
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(write, b"%d" % ask("local", brokers))
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as answer:
        assert answer.read() == b"1"
    os.waitpid(child, 0)
    assert ask("local", brokers) == 1
