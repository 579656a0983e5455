"""Requirements of the way through an ingress to the server, with a server that only repeats or records."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

import pytest

from gateway.data.app import DataPlane
from gateway.data.parts import DataPlaneParts
from gateway.ingress import connection, tunnel
from gateway.ingress.listener import Ingress
from gateway.ingress.places import Address, Places
from tests.gateway.running import make_parts
from tests.support.ports import free_ports
from tests.support.wait import eventually

OTHER = b"GET /topics HTTP/1.1\r\nHost: a\r\n\r\n"
SLOW = b"POST /api/v1/clusters/local/topics/orders/messages HTTP/1.1\r\nHost: a\r\nX: " + b"x" * 4000


class Server:
    """What stands behind the ingress: it keeps what it gets and repeats it in capitals."""

    def __init__(self) -> None:
        self.got = b""
        self.peers: list[tuple[str, int]] = []
        self.ended = 0
        self.answer: Callable[[bytes], bytes] = bytes.upper
        self.close: Callable[[], None] = lambda: None

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.peers.append(writer.get_extra_info("peername"))
        while data := await reader.read(65_536):
            self.got += data
            writer.write(self.answer(data))
        writer.write(b"THE END")
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()
        self.ended += 1


@pytest.fixture
def parts() -> DataPlaneParts:
    """The parts of a data plane that nobody asks here."""
    return make_parts("127.0.0.1:1", "redis://127.0.0.1:1")


@pytest.fixture(autouse=True)
def silence(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a second without an answer is enough here."""
    monkeypatch.setattr(tunnel, "_SILENT_SECONDS", 0.5)


@asynccontextmanager
async def running(parts: DataPlaneParts, port: int, server: Server) -> AsyncIterator[Ingress]:
    """Run an ingress at `port`, with a server behind it."""
    behind = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    server.close = behind.close
    places = Places(Address("127.0.0.1", port), Address(*behind.sockets[0].getsockname()))
    ingress = Ingress(DataPlane(parts), places)
    await ingress.bind()
    await ingress.open()
    try:
        yield ingress
    finally:
        await ingress.stop()
        behind.close()
        await eventually(lambda: server.ended == len(server.peers))


async def test_bytes_go_both_ways_unchanged_to_the_end(parts: DataPlaneParts) -> None:
    server, port, more = Server(), free_ports(), b"b" * 3_000_000
    async with running(parts, port, server) as ingress:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(OTHER)
        assert await reader.readexactly(len(OTHER)) == OTHER.upper()
        seen = ingress.client_of({"client": server.peers[-1]})
        assert seen == ("127.0.0.1", str(writer.get_extra_info("sockname")[1]))
        writer.write(more)
        assert await reader.readexactly(len(more)) == more.upper()
        writer.write_eof()
        assert await reader.read() == b"THE END"  # what the server still had to say
        assert server.got == OTHER + more
        writer.close()
        await writer.wait_closed()
        await eventually(lambda: server.ended == len(server.peers))
        # What the server begins late is still that client's, not this machine's.
        assert ingress.client_of({"client": server.peers[-1]}) == seen


async def test_a_client_that_goes_is_gone_for_the_server(parts: DataPlaneParts) -> None:
    server, port = Server(), free_ports()
    async with running(parts, port, server):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(OTHER)
        await reader.readexactly(len(OTHER))
        writer.transport.abort()
        await eventually(lambda: server.ended)


async def test_a_head_goes_to_the_server_as_a_whole_and_ends_the_connection_when_it_is_late(
    parts: DataPlaneParts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "_LATE_HEAD_SECONDS", 2.0)
    server, port = Server(), free_ports()
    async with running(parts, port, server):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for drop in OTHER:
            assert not server.got
            writer.write(bytes((drop,)))
            await asyncio.sleep(0.01)
        assert await reader.readexactly(len(OTHER)) == OTHER.upper()
        writer.close()
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(SLOW)
        assert await reader.read() == b""
        assert server.got == OTHER
        writer.close()


async def test_a_request_that_is_cut_off_reaches_the_server_with_its_end(parts: DataPlaneParts) -> None:
    server, port = Server(), free_ports()
    async with running(parts, port, server):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(SLOW)
        writer.write_eof()
        assert await reader.read() == SLOW.upper() + b"THE END"
        writer.close()


async def test_the_server_hears_of_the_end_when_it_has_answered(parts: DataPlaneParts) -> None:
    server, port, told = Server(), free_ports(), asyncio.Event()

    async def slow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer in pieces, as long as the client has not ended."""
        ending = asyncio.create_task(reader.read())
        for piece in range(4):
            done, _ = await asyncio.wait([ending], timeout=0.25)
            if done:
                break
            writer.write(b"%d" % piece)
        await ending
        told.set()
        writer.close()

    server.serve = slow  # type: ignore[method-assign]
    async with running(parts, port, server):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(OTHER)
        writer.write_eof()
        assert await reader.read() == b"0123"
        assert told.is_set()
        writer.close()


@pytest.mark.parametrize("head", [b"HTTP/1.1 101 Switching", b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream"])
async def test_the_server_hears_at_once_that_the_reader_of_an_endless_answer_is_gone(
    parts: DataPlaneParts, monkeypatch: pytest.MonkeyPatch, head: bytes
) -> None:
    monkeypatch.setattr(tunnel, "_SILENT_SECONDS", 3600)
    server, port = Server(), free_ports()
    server.answer = lambda _: head
    async with running(parts, port, server):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(OTHER)
        assert await reader.readexactly(len(head)) == head
        writer.close()
        await eventually(lambda: server.ended)


async def test_a_client_that_still_sends_is_not_reset_when_the_server_has_answered_and_ended(
    parts: DataPlaneParts,
) -> None:
    server, port = Server(), free_ports()

    async def brief(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server.peers.append(writer.get_extra_info("peername"))
        await reader.read(65_536)
        writer.write(b"DONE")
        writer.close()
        await writer.wait_closed()
        server.ended += 1

    server.serve = brief  # type: ignore[method-assign]
    async with running(parts, port, server):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(OTHER)
        assert await reader.read() == b"DONE"
        client: int = writer.get_extra_info("socket").fileno()
        for part in (b"the rest", b"of a body"):  # the second one would find the reset that the first one brought
            assert os.write(client, part) == len(part)
        writer.close()


async def test_without_a_server_the_client_is_told_by_the_end(parts: DataPlaneParts) -> None:
    server, port = Server(), free_ports()
    async with running(parts, port, server):
        server.close()
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(OTHER)
        assert await reader.read() == b""
        writer.close()


async def test_the_port_opens_with_the_server_behind_it(parts: DataPlaneParts) -> None:
    port, behind, server = free_ports(), free_ports(), Server()
    ingress = Ingress(DataPlane(parts), Places(Address("127.0.0.1", port), Address("127.0.0.1", behind)))
    await ingress.bind()
    opening = asyncio.create_task(ingress.open())
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection("127.0.0.1", port)
    listening = await asyncio.start_server(server.serve, "127.0.0.1", behind)
    await opening
    _, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.close()
    await ingress.stop()
    listening.close()
    await eventually(lambda: server.ended == len(server.peers) > 0)


async def test_a_client_with_a_request_counts_as_used_until_the_next_look(parts: DataPlaneParts) -> None:
    server, port = Server(), free_ports()
    async with running(parts, port, server) as ingress:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        client = ("127.0.0.1", str(writer.get_extra_info("sockname")[1]))
        assert client not in ingress.used()
        writer.write(SLOW + b"\r\nContent-Length: 0\r\n\r\n")
        assert (await reader.readuntil(b"\r\n")).startswith(b"HTTP/1.1 401")
        assert client in ingress.used()
        assert client not in ingress.used()
        writer.close()
