"""TLS on a port that also accepts plain connections, or does not."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from broker_core.remoting import (
    ConnectionClosed,
    ConnectionLimits,
    ConnectRefused,
    RemotingClient,
    RemotingError,
    Server,
    TlsFiles,
    TlsMode,
)
from broker_core.remoting.tls import client_context, server_context
from tests.support.remoting import address_of, calling, dispatch_of, question, raw_peer
from tests.support.wait import eventually

FOLDER = Path(__file__).parent / "certificates"
FILES = TlsFiles(FOLDER / "server.pem", FOLDER / "server.key")
TRUSTING = TlsFiles(trusted=FOLDER / "server.pem")


@asynccontextmanager
async def serving(mode: TlsMode, *, limits: ConnectionLimits | None = None) -> AsyncIterator[Server]:
    server = Server(dispatch_of(), tls=server_context(FILES), tls_mode=mode, limits=limits)
    await server.start()
    try:
        yield server
    finally:
        await server.close()


async def code_of_answer(server: Server, tls: ssl.SSLContext | None) -> int:
    client = RemotingClient(tls=tls)
    try:
        return (await client.invoke(address_of(server), question(body=bytes(100_000)), 5000)).code
    finally:
        await client.close()


async def test_a_permissive_server_speaks_both() -> None:
    async with serving(TlsMode.PERMISSIVE) as server:
        assert await code_of_answer(server, None) == 0
        assert await code_of_answer(server, client_context()) == 0
        assert await code_of_answer(server, client_context(TRUSTING, checks_host=True)) == 0


async def test_an_enforcing_server_speaks_tls_alone() -> None:
    async with serving(TlsMode.ENFORCING) as server:
        assert await code_of_answer(server, client_context()) == 0
        with pytest.raises(RemotingError):
            await code_of_answer(server, None)


async def test_a_server_without_tls_closes_on_a_handshake() -> None:
    async with serving(TlsMode.DISABLED) as server:
        assert await code_of_answer(server, None) == 0
        with pytest.raises(ConnectRefused):
            await code_of_answer(server, client_context())


async def test_an_untrusted_certificate_is_refused_when_required() -> None:
    async with serving(TlsMode.PERMISSIVE) as server:
        strangers = client_context(TRUSTING)
        strangers.load_default_certs()
        other = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        with pytest.raises((ConnectRefused, ConnectionClosed)):
            await code_of_answer(server, other)
        assert await code_of_answer(server, None) == 0


async def test_a_client_certificate_may_be_required() -> None:
    context = server_context(
        TlsFiles(FILES.certificate, FILES.key, trusted=FILES.certificate), client_certificate="require"
    )
    server = Server(dispatch_of(), tls=context)
    await server.start()
    with pytest.raises(RemotingError):
        await code_of_answer(server, client_context())
    assert await code_of_answer(server, client_context(FILES)) == 0
    await server.close()


async def test_a_silent_peer_is_disconnected() -> None:
    async with (
        serving(TlsMode.PERMISSIVE, limits=ConnectionLimits(idle_seconds=0.1)) as server,
        raw_peer(server) as peer,
    ):
        assert await peer.is_closed_by_peer()


async def test_a_peer_that_leaves_before_its_first_byte_is_forgotten() -> None:
    async with serving(TlsMode.PERMISSIVE) as server:
        async with raw_peer(server) as peer:
            await eventually(lambda: len(server._listening) == 2)
            peer.writer.close()
        await eventually(lambda: len(server._listening) == 1)
        assert await code_of_answer(server, None) == 0


async def test_a_permissive_server_has_the_same_limit_of_connections() -> None:
    async with serving(TlsMode.PERMISSIVE, limits=ConnectionLimits(connections=1)) as server, calling() as client:
        assert (await client.invoke(address_of(server), question(), 5000)).code == 0
        async with raw_peer(server) as second:
            second.writer.write(b"\x00")
            assert await second.is_closed_by_peer()


def test_a_server_needs_a_certificate() -> None:
    with pytest.raises(ValueError, match="certificate"):
        server_context(TlsFiles())
