"""Peers of other protocols are recognised, and answered in their protocol, on a real socket."""

from __future__ import annotations

import asyncio
import http.client
import ssl

import pytest

from broker_core.namesrv.config import NameServerConfig
from broker_core.namesrv.server import NameServer
from broker_core.remoting.other_protocols import recognize
from tests.support.remoting import calling, question, serving
from tests.support.wait import eventually

_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_HEADERS = b"\x00\x00\x01\x01\x05\x00\x00\x00\x01\x88"


async def said_to(port: int, data: bytes) -> bytes:
    """Return the answer until the connection is closed."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(data)
    answer = await reader.read()
    writer.close()
    return answer


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH"])
async def test_http_is_answered_with_where_the_http_api_is(method: str, caplog: pytest.LogCaptureFixture) -> None:
    def ask() -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
        connection.request(method, "/api/v1/topics", body=b"x" * 100_000 if method == "POST" else None)
        response = connection.getresponse()
        return response.status, response.read().decode()

    async with serving() as server:
        status, text = await asyncio.to_thread(ask)

    assert status == 400
    assert method == "HEAD" or "GANTRY_HTTP_PORT" in text
    assert "HTTP on a remoting port" in caplog.text


async def test_a_grpc_client_is_answered_in_http_2(caplog: pytest.LogCaptureFixture) -> None:
    async with serving() as server:
        answer = await said_to(server.port, _PREFACE + _HEADERS)

    settings, goaway = answer[:9], answer[9:]
    assert settings == b"\x00\x00\x00\x04\x00\x00\x00\x00\x00"
    assert (int.from_bytes(goaway[:3], "big"), goaway[3]) == (len(goaway) - 9, 7)
    assert b"not gRPC" in goaway
    assert "HTTP/2 on a remoting port" in caplog.text


async def test_tls_is_answered_with_an_alert(caplog: pytest.LogCaptureFixture) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    async with serving() as server:
        with pytest.raises(ssl.SSLError, match=r"(?i)alert"):
            await asyncio.open_connection("127.0.0.1", server.port, ssl=context)

    assert "TLS on a plain port" in caplog.text


async def test_a_name_server_does_the_same(caplog: pytest.LogCaptureFixture) -> None:
    name_server = NameServer(NameServerConfig(port=0))
    await name_server.start()
    answer = await said_to(name_server.port, b"GET / HTTP/1.1\r\n\r\n")
    await name_server.close()

    assert answer.startswith(b"HTTP/1.1 400 ")
    assert "HTTP on a remoting port" in caplog.text


async def test_a_stranger_that_stays_is_sent_away_and_leaves_nothing() -> None:
    async with serving() as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(_PREFACE)
        await reader.readexactly(9)
        assert list(server.connections)

        await eventually(lambda: not list(server.connections))
        writer.close()


async def test_bytes_of_no_protocol_are_a_malformed_frame_as_before(caplog: pytest.LogCaptureFixture) -> None:
    async with serving() as server:
        assert await said_to(server.port, b"\xff\xff\xff\xff garbage") == b""

    assert "a frame of" in caplog.text


async def test_a_client_that_reached_an_http_server_says_so() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(4)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        await writer.drain()
        writer.close()

    stranger = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = stranger.sockets[0].getsockname()[1]
    async with calling() as client:
        with pytest.raises(Exception, match="HTTP server, not a name server or broker"):
            await client.invoke(f"127.0.0.1:{port}", question(), 5000)
    stranger.close()


@pytest.mark.parametrize("head", [b"\x00\x00\x00\x50", b"", b"SSH-2.0", b"\x16\x01"])
def test_what_is_not_known_is_not_guessed(head: bytes) -> None:
    assert recognize(head) is None
