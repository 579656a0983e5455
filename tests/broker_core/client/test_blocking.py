"""The synchronous interface."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextvars
import os
import threading
import time
from collections.abc import Iterator

import pytest

from broker_core.client.blocking import BlockingSession, CallEnded, CallTimedOut, LoopThread
from broker_core.client.config import ClientConfig
from broker_core.client.errors import ClientClosed, TopicNotFound
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers.send import SendMessageResponse
from broker_core.protocol.message import Message
from tests.support.scripted import Cluster, succeed
from tests.support.wait import PATIENCE_SECONDS


@pytest.fixture
def door() -> Iterator[LoopThread]:
    door = LoopThread()
    yield door
    door.close()


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    servers = LoopThread("servers")
    cluster = Cluster("broker-a")
    peers = [cluster.name_server, cluster["broker-a"]]
    for peer in peers:
        servers.run(peer.start())
    cluster.add_topic("orders")
    stored = SendMessageResponse("0A00000500002A9F0000000000001000", 0, 41)
    cluster["broker-a"].on(
        RequestCode.SEND_MESSAGE_V2, succeed(lambda _: Command.response(ResponseCode.SUCCESS, stored))
    )
    yield cluster
    for peer in peers:
        servers.run(peer.stop())
    servers.close()


async def thread_name() -> str:
    return threading.current_thread().name


async def fail() -> None:
    raise KeyError("lost")


def test_work_runs_in_a_thread_that_starts_with_the_first_call() -> None:
    before = threading.active_count()
    door = LoopThread("the loop")
    assert threading.active_count() == before

    assert door.run(thread_name()) == "the loop"
    assert door.run(thread_name()) == "the loop"

    assert threading.active_count() == before + 1
    door.close()
    assert threading.active_count() == before


def test_what_the_work_raises_comes_out(door: LoopThread) -> None:
    with pytest.raises(KeyError, match="lost"):
        door.run(fail())


def test_work_that_takes_too_long_is_cancelled(door: LoopThread) -> None:
    ended = threading.Event()

    async def wait() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    with pytest.raises(CallTimedOut):
        door.run(wait(), timeout_s=0.05)

    assert ended.wait(5)


def test_a_time_out_of_the_work_itself_is_its_own(door: LoopThread) -> None:
    async def wait() -> None:
        async with asyncio.timeout(0.01):
            await asyncio.Event().wait()

    with pytest.raises(TimeoutError):
        door.run(wait(), timeout_s=5)


def test_the_context_of_the_caller_stays_with_the_caller(door: LoopThread) -> None:
    name: contextvars.ContextVar[str] = contextvars.ContextVar("name", default="nobody")
    name.set("the caller")

    async def who() -> str:
        return name.get()

    assert door.run(who()) == "nobody"


def test_many_threads_share_the_loop(door: LoopThread) -> None:
    together = asyncio.Barrier(8)

    async def meet() -> str:
        async with asyncio.timeout(PATIENCE_SECONDS):
            await together.wait()
        return threading.current_thread().name

    names: list[str] = []
    threads = [threading.Thread(target=lambda: names.append(door.run(meet()))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(names) == 8
    assert len(set(names)) == 1


def test_the_loop_must_not_wait_for_itself(door: LoopThread) -> None:
    async def inside() -> str:
        return door.run(thread_name())

    with pytest.raises(RuntimeError, match="await it"):
        door.run(inside())


async def test_a_given_loop_is_used_and_left_running() -> None:
    door = LoopThread.on(asyncio.get_running_loop())

    name = await asyncio.to_thread(lambda: door.run(thread_name()))
    await asyncio.to_thread(door.close)

    assert name == threading.current_thread().name


def test_a_child_of_a_fork_has_its_own_loop(door: LoopThread) -> None:
    door.run(thread_name())

    status = in_child(lambda: door.run(thread_name(), timeout_s=10))

    assert status == 0
    assert door.run(thread_name())


def test_a_session_works_for_threads(cluster: Cluster) -> None:
    with BlockingSession(ClientConfig([cluster.name_server.addr])) as session:
        result = session.run(session.producer().send(Message("orders", b"hi")))
        assert result.queue_offset == 41
        assert session.run(session.admin.topics.get("orders")).read_queues == 4
        with pytest.raises(TopicNotFound):
            session.run(session.admin.topics.get("bills"))


def test_a_session_opens_its_connections_again_after_a_fork(cluster: Cluster) -> None:
    with BlockingSession(ClientConfig([cluster.name_server.addr])) as session:
        session.run(session.producer().send(Message("orders", b"hi")))
        before = session.session.client_id

        def in_the_child() -> None:
            assert session.session.client_id != before
            session.run(session.producer().send(Message("orders", b"hi")), timeout_s=10)

        assert in_child(in_the_child) == 0
        assert session.session.client_id == before
        session.run(session.producer().send(Message("orders", b"hi")))
    assert len(cluster["broker-a"].connections) == 2


def test_a_producer_of_the_parent_is_refused_after_a_fork(cluster: Cluster) -> None:
    with BlockingSession(ClientConfig([cluster.name_server.addr])) as session:
        producer = session.producer()
        session.run(producer.send(Message("orders", b"hi")))

        def in_the_child() -> None:
            with pytest.raises(ClientClosed, match="after a fork"):
                session.run(producer.send(Message("orders", b"hi")), timeout_s=10)

        assert in_child(in_the_child) == 0
        session.run(producer.send(Message("orders", b"hi")))


def test_closing_ends_the_calls_of_other_threads() -> None:
    door, begun = LoopThread(), threading.Event()
    ended: list[BaseException | None] = []

    async def wait() -> None:
        begun.set()
        await asyncio.Event().wait()

    def call() -> None:
        try:
            door.run(wait())
        except CallEnded as error:
            ended.append(error)

    caller = threading.Thread(target=call)
    caller.start()
    assert begun.wait(10)
    door.close()
    caller.join(10)

    assert "may have been carried out" in str(ended)


def test_work_that_cancels_itself_is_cancelled(door: LoopThread) -> None:
    async def give_up() -> None:
        raise asyncio.CancelledError

    with pytest.raises(concurrent.futures.CancelledError):
        door.run(give_up())


def in_child(work: object) -> int:
    """Run `work` in a forked child and return its exit status."""
    assert callable(work)
    child = os.fork()
    if not child:
        status = 1
        try:
            work()
            status = 0
        finally:
            os._exit(status)
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return -9
