"""Calls to any address: sharing, timeouts, reconnecting, closing."""

from __future__ import annotations

import asyncio

import pytest

from broker_core.protocol import Command
from broker_core.remoting import Connection, ConnectionClosed, ConnectionLimits, ConnectRefused, RemotingTimeout
from tests.support.remoting import RawPeer, address_of, calling, echo, question, raw_server, serving
from tests.support.wait import eventually


async def test_concurrent_first_calls_share_one_connection() -> None:
    async with serving() as server, calling() as client:
        answers = await asyncio.gather(*[client.invoke(address_of(server), question(f"T{n}"), 5000) for n in range(50)])
        assert [each.remark for each in answers] == [f"T{n}" for n in range(50)]
        assert len(list(server.connections)) == 1


async def test_a_lost_connection_is_opened_again() -> None:
    async with serving() as server, calling() as client:
        first = await client.connection(address_of(server))
        [connection] = server.connections
        connection.close("for the test")
        await first.closed()
        assert client.find_connection(address_of(server)) is None
        assert (await client.invoke(address_of(server), question("again"), 5000)).remark == "again"
        assert client.find_connection(address_of(server)) not in (None, first)


@pytest.mark.parametrize("address", ["localhost", "127.0.0.1:", ":9876", "127.0.0.1:port"])
async def test_what_is_not_an_address_is_refused_in_words(address: str) -> None:
    async with calling() as client:
        with pytest.raises(ConnectRefused, match="host:port"):
            await client.connection(address)


async def test_a_server_that_is_not_there_is_refused_by_name() -> None:
    async with serving() as server:
        address = address_of(server)
    async with calling() as client:
        with pytest.raises(ConnectRefused, match=address) as caught:
            await client.invoke(address, question(), 5000)
        assert caught.value.address == address


@pytest.mark.parametrize("address", ["nowhere", "127.0.0.1:", "127.0.0.1:x", ":::", "127.0.0.1:99999"])
async def test_an_address_that_is_none_is_refused(address: str) -> None:
    async with calling() as client:
        with pytest.raises(ConnectRefused):
            await client.invoke(address, question(), 2000)


async def test_the_timeout_counts_from_the_call_and_covers_connecting() -> None:
    # Given a server whose backlog is full: connecting never ends
    async with calling(limits=ConnectionLimits(connect_timeout_ms=60_000)) as client:
        started = asyncio.get_running_loop().time()
        with pytest.raises((RemotingTimeout, ConnectRefused)):
            await client.invoke("192.0.2.1:9", question(), 100)  # TEST-NET-1: no host has this address
        assert asyncio.get_running_loop().time() - started < 5


async def test_a_caller_that_gives_up_spoils_no_other() -> None:
    async with serving() as server, calling() as client:
        impatient = asyncio.ensure_future(client.invoke(address_of(server), question(), 5000))
        patient = asyncio.ensure_future(client.invoke(address_of(server), question("patient"), 5000))
        await asyncio.sleep(0)
        impatient.cancel()
        assert (await patient).remark == "patient"


async def test_one_way_requests_arrive() -> None:
    seen: list[Command] = []

    def note(request: Command, connection: Connection) -> Command:
        seen.append(request)
        return echo(request, connection)

    async with serving(note) as server, calling() as client:
        await client.one_way(address_of(server), question("one way"))
        await eventually(lambda: seen)
        assert seen[0].is_one_way


async def test_closing_fails_the_calls_under_way_and_refuses_new_ones() -> None:
    async with serving(lambda request, connection: None) as server, calling() as client:
        call = asyncio.ensure_future(client.invoke(address_of(server), question(), 5000))
        await eventually(lambda: list(server.connections))
        await client.close()
        with pytest.raises(ConnectionClosed):
            await call
        with pytest.raises(ConnectionClosed):
            await client.invoke(address_of(server), question(), 5000)
        await eventually(lambda: not list(server.connections))


async def test_closing_ends_attempts_to_connect() -> None:
    async with calling(limits=ConnectionLimits(connect_timeout_ms=60_000)) as client:
        call = asyncio.ensure_future(client.invoke("192.0.2.1:9", question(), 60_000))
        await asyncio.sleep(0)
        await client.close()
        with pytest.raises((ConnectionClosed, ConnectRefused)):
            await call


async def test_an_address_gets_its_own_connection() -> None:
    async with serving() as one, serving() as two, calling() as client:
        await asyncio.gather(*[client.invoke(address_of(each), question(), 5000) for each in (one, two)])
        assert [len(list(each.connections)) for each in (one, two)] == [1, 1]


async def test_responses_are_matched_by_number_whatever_their_order() -> None:
    async def answer_backwards(peer: RawPeer) -> None:
        requests = [await peer.command() for _ in range(3)]
        for request in reversed(requests):
            response = Command.response(0, remark=request.ext_fields["topic"]).answering(request)
            peer.writer.write(response.encode())

    async with raw_server(answer_backwards) as address, calling() as client:
        answers = await asyncio.gather(*[client.invoke(address, question(f"T{n}"), 5000) for n in range(3)])
        assert [each.remark for each in answers] == ["T0", "T1", "T2"]


async def test_a_server_that_talks_nonsense_closes_the_calls() -> None:
    async def nonsense(peer: RawPeer) -> None:
        await peer.command()
        peer.writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    async with raw_server(nonsense) as address, calling() as client:
        with pytest.raises(ConnectionClosed, match="HTTP server"):
            await client.invoke(address, question(), 5000)
