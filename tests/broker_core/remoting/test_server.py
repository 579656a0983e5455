"""Listening, limits, draining, closing."""

from __future__ import annotations

import asyncio

import pytest

from broker_core.protocol import Command
from broker_core.remoting import (
    AddressInUse,
    AddressRefused,
    Connection,
    ConnectionClosed,
    ConnectionLimits,
    ConnectRefused,
    Server,
)
from broker_core.remoting.open_files import Sockets
from tests.support.remoting import address_of, calling, dispatch_of, echo, question, raw_peer, serving
from tests.support.wait import eventually


async def test_one_server_may_listen_on_several_ports() -> None:
    server = Server(dispatch_of(), port=[0, 0])
    await server.start()
    async with calling() as client:
        for port in server.ports:
            assert (await client.invoke(f"127.0.0.1:{port}", question(), 5000)).code == 0
    assert len(set(server.ports)) == 2
    await server.close()


async def test_a_port_in_use_is_named_and_nothing_is_left_listening() -> None:
    async with serving() as server:
        second = Server(dispatch_of(), port=[0, server.port])
        with pytest.raises(AddressInUse, match=address_of(server)):
            await second.start()
        async with calling() as client:
            with pytest.raises(ConnectRefused):
                await client.connection(f"127.0.0.1:{second.ports[0] if second.ports else 1}")


async def test_an_address_of_another_machine_is_refused() -> None:
    with pytest.raises(AddressRefused, match=r"192\.0\.2\.1"):
        await Server(dispatch_of(), host="192.0.2.1").start()


async def test_one_connection_too_many_is_closed_and_the_others_live(caplog: pytest.LogCaptureFixture) -> None:
    async with serving(limits=ConnectionLimits(connections=1)) as server:
        async with raw_peer(server) as first:
            first.send(question())
            await first.command()
            async with raw_peer(server) as second:
                assert await second.is_closed_by_peer()
            first.send(question())
            assert (await first.command()).code == 0
            assert "closed, limit connections=1 reached; 1 refused" in caplog.text
        await eventually(lambda: not list(server.connections))
        async with raw_peer(server) as third:
            third.send(question())
            assert (await third.command()).code == 0


async def test_servers_of_one_process_share_the_connections_that_it_may_have() -> None:
    sockets = Sockets(4)
    servers = [Server(dispatch_of(), sockets=sockets) for _ in range(2)]
    for server in servers:
        await server.start()
    async with raw_peer(servers[0]) as first, raw_peer(servers[1]) as second:
        for peer in (first, second):
            peer.send(question())
            await peer.command()
        async with raw_peer(servers[0]) as third:
            assert await third.is_closed_by_peer()
    for server in servers:
        await server.close()
    assert sockets.open == 0


async def test_closing_lets_handlers_finish_within_their_time() -> None:
    started = asyncio.Event()
    go_on = asyncio.Event()

    async def work(request: Command, connection: Connection) -> Command:
        started.set()
        await go_on.wait()
        return echo(request, connection)

    async with serving(work) as server, calling() as client:
        call = asyncio.ensure_future(client.invoke(address_of(server), question("at last"), 5000))
        await started.wait()
        closing = asyncio.ensure_future(server.close(drain_seconds=5))
        with pytest.raises(ConnectRefused):
            async with calling() as other:
                await other.connection(address_of(server))
        go_on.set()
        assert (await call).remark == "at last"
        await closing


async def test_closing_cancels_handlers_that_take_too_long() -> None:
    cancelled = asyncio.Event()
    started = asyncio.Event()

    async def work(request: Command, connection: Connection) -> Command:
        started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise
        return echo(request, connection)

    async with serving(work) as server, calling() as client:
        call = asyncio.ensure_future(client.invoke(address_of(server), question(), 5000))
        await started.wait()
        await server.close()
        assert cancelled.is_set()
        with pytest.raises(ConnectionClosed):
            await call


async def test_closing_waits_for_the_handlers_of_peers_that_have_left() -> None:
    finished = asyncio.Event()
    started = asyncio.Event()
    go_on = asyncio.Event()

    async def work(request: Command, connection: Connection) -> Command:
        started.set()
        await go_on.wait()
        finished.set()
        return echo(request, connection)

    async with serving(work) as server:
        async with raw_peer(server) as peer:
            peer.send(question())
            await started.wait()
        await eventually(lambda: not list(server.connections))
        closing = asyncio.ensure_future(server.close(drain_seconds=5))
        await asyncio.sleep(0)
        go_on.set()
        await closing
    assert finished.is_set()


async def test_closing_is_not_held_up_by_a_peer_that_reads_nothing() -> None:
    def answer_much(request: Command, connection: Connection) -> Command:
        return Command.response(0, body=bytes(8 * 1024 * 1024))

    async with serving(answer_much) as server, raw_peer(server) as peer:
        peer.stop_reading()
        peer.send(question(), question())
        await eventually(lambda: any(each._outbox.is_full for each in server.connections))
        await asyncio.wait_for(server.close(), 10)
        assert not list(server.connections)


async def test_closing_twice_is_allowed() -> None:
    async with serving() as server:
        await server.close()
