"""What came while the process stood still is not handled."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from broker_core.broker.replication.standstill import BACKLOG_S, LONGEST_S, Standstill
from broker_core.clock import boot_seconds
from broker_core.protocol.codes import ResponseCode
from broker_core.protocol.command import Command
from broker_core.remoting import Server
from broker_core.remoting.connection import Connection
from tests.support.remoting import dispatch_of, question, raw_peer


class Stage:
    """A server whose clock can be put forward, as if the process had stood still."""

    def __init__(self) -> None:
        self.later = 0.0
        self.is_surely_master = False
        self.handled: list[bytes] = []
        self.standstill = Standstill(lambda: boot_seconds() + self.later)
        self.server = Server(dispatch_of(self._answer), before_work=self.standstill.check)

    def _answer(self, request: Command, _: Connection) -> Command:
        self.handled.append(request.body)
        return Command.response(ResponseCode.SUCCESS)


@asynccontextmanager
async def watched() -> AsyncIterator[Stage]:
    stage = Stage()
    await stage.server.start()
    stage.standstill.begin([stage.server], lambda: stage.is_surely_master)
    try:
        yield stage
    finally:
        await stage.server.close()


async def test_what_lay_in_a_socket_during_a_standstill_is_not_handled() -> None:
    async with watched() as stage, raw_peer(stage.server) as peer:
        peer.send(question(body=b"before"))
        await peer.command()
        stage.later = LONGEST_S + 1.0
        peer.send(question(body=b"meanwhile"))

        assert await peer.is_closed_by_peer()
        assert stage.handled == [b"before"]


async def test_connections_of_before_close_also_where_nothing_came() -> None:
    async with watched() as stage, raw_peer(stage.server) as one, raw_peer(stage.server) as other:
        for peer in (one, other):
            peer.send(question(body=b""))
            await peer.command()
        stage.later = LONGEST_S + 1.0
        stage.standstill.look()

        assert await one.is_closed_by_peer()
        assert await other.is_closed_by_peer()


async def test_a_connection_that_waited_to_be_accepted_is_closed_too() -> None:
    async with watched() as stage:
        stage.later = LONGEST_S + 1.0
        stage.standstill.look()
        async with raw_peer(stage.server) as peer:
            peer.send(question(body=b"meanwhile"))

            assert await peer.is_closed_by_peer()
        assert stage.handled == []


async def test_a_connection_of_afterwards_is_served() -> None:
    async with watched() as stage:
        stage.later = -(BACKLOG_S + 2 * LONGEST_S)
        stage.standstill.begin([stage.server], lambda: False)
        stage.later = -BACKLOG_S - 0.1
        stage.standstill.look()
        async with raw_peer(stage.server) as peer:
            peer.send(question(body=b"afterwards"))
            await peer.command()
        assert stage.handled == [b"afterwards"]


async def test_nothing_is_old_where_no_other_master_can_have_been_elected() -> None:
    async with watched() as stage, raw_peer(stage.server) as peer:
        peer.send(question(body=b"before"))
        await peer.command()
        stage.later, stage.is_surely_master = LONGEST_S + 1.0, True
        peer.send(question(body=b"meanwhile"))
        await peer.command()
        assert stage.handled == [b"before", b"meanwhile"]


async def test_a_time_without_requests_is_no_standstill_while_it_is_looked_at_the_clock() -> None:
    async with watched() as stage, raw_peer(stage.server) as peer:
        peer.send(question(body=b"one"))
        await peer.command()
        for _ in range(3):
            stage.later += 0.6 * LONGEST_S
            stage.standstill.look()
        peer.send(question(body=b"other"))
        await peer.command()
        assert stage.handled == [b"one", b"other"]
