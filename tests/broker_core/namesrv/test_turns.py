"""Requests that take long do not keep others waiting, and keep their order."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import cast

import pytest

from broker_core.namesrv.config import NameServerConfig
from broker_core.namesrv.routes import Registration
from broker_core.namesrv.server import NameServer
from broker_core.namesrv.turns import Turns
from broker_core.protocol import Command, ResponseCode, bodies
from broker_core.protocol.headers import routes as headers
from broker_core.remoting import Connection, RemotingClient
from broker_core.remoting.connection import Result

FLOOD = 100


async def test_a_flood_of_requests_that_take_long_leaves_time_for_others(tmp_path: Path) -> None:
    # Given so many topics that each look at all of them takes some milliseconds
    server = NameServer(NameServerConfig(port=0))
    await server.start()
    address, flooding, other = f"127.0.0.1:{server.port}", RemotingClient(), RemotingClient()
    topics = {f"t{each}": bodies.TopicConfig(f"t{each}", 4, 4, 6) for each in range(30_000)}
    broker = Registration("east", "broker-a", 0, "127.0.0.1:10911", "", bodies.DataVersion(1, 1), topics)
    server.routes.register(broker, holder=None, now=0)
    # When many such requests come at once
    flood = [
        asyncio.create_task(
            flooding.invoke(address, Command.request(headers.GetTopicsByClusterRequest("none")), 60_000)
        )
        for _ in range(FLOOD)
    ]
    await asyncio.wait(flood, return_when=asyncio.FIRST_COMPLETED)
    # Then what others ask is answered before all of them are, and these are answered too
    for _ in range(3):
        route = await other.invoke(address, Command.request(headers.GetRouteInfoRequest("t7")), 60_000)
        assert route.code == ResponseCode.SUCCESS
    assert not all(each.done() for each in flood)
    assert {(await each).code for each in flood} == {ResponseCode.SUCCESS}
    await flooding.close()
    await other.close()
    await server.close()


class Peer:
    """What is looked at of a connection."""

    is_closing = False


class Server:
    """A handler that notes what it carries out; each request takes so many seconds of its clock."""

    def __init__(self, seconds: float) -> None:
        self.now = 0.0
        self.done: list[int] = []
        self._seconds = seconds
        self.turns = Turns(lambda: self.now)
        self.ask = self.turns.limited(self._handle)

    def asked(self, code: int, peer: Peer) -> Result:
        return self.ask(Command(code), cast(Connection, peer))

    def _handle(self, request: Command, _: Connection) -> Result:
        self.now += self._seconds
        self.done.append(request.code)
        if request.code == 666:
            raise ValueError("of the handler")
        return self._written(request) if request.code > 100 else Command(request.code)

    async def _written(self, request: Command) -> Command:
        return Command(request.code)


async def test_what_is_quick_is_carried_out_at_once_and_in_one_turn() -> None:
    server, peer = Server(0.001), Peer()
    assert [cast(Command, server.asked(code, peer)).code for code in range(15)] == list(range(15))


async def test_connections_take_turns_and_each_keeps_its_order() -> None:
    server, one, two = Server(0.05), Peer(), Peer()
    assert isinstance(server.asked(0, one), Command)
    waiting = [cast(asyncio.Future[Command], server.asked(code, one)) for code in (1, 2, 103)]
    waiting += [cast(asyncio.Future[Command], server.asked(code, two)) for code in (11, 12)]
    assert server.done == [0]
    answers = await asyncio.gather(*waiting)
    assert server.done == [0, 1, 11, 2, 12, 103]
    assert [each.code for each in answers] == [1, 2, 103, 11, 12]


async def test_who_has_gone_is_not_answered_and_an_error_is_the_outcome() -> None:
    server, one, two = Server(0.05), Peer(), Peer()
    server.asked(0, one)
    gone = cast(asyncio.Future[Command], server.asked(1, one))
    failed = cast(asyncio.Future[Command], server.asked(666, two))
    one.is_closing = True
    with pytest.raises(ValueError, match="of the handler"):
        await failed
    assert gone.cancelled()
    assert server.done == [0, 666]


async def test_what_waits_when_the_server_closes_is_not_carried_out() -> None:
    server, peer = Server(0.05), Peer()
    server.asked(0, peer)
    waiting = [cast(asyncio.Future[Command], server.asked(code, peer)) for code in (1, 2)]
    await server.turns.close()
    assert all(each.cancelled() for each in waiting)
    assert server.done == [0]
