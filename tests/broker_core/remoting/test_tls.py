"""TLS on a port that also accepts plain connections, or does not; on real sockets, with an authority of its own."""

from __future__ import annotations

import asyncio
import os
import ssl
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from broker_core.protocol import Command
from broker_core.remoting import (
    ClientAuth,
    ClientTls,
    Connection,
    ConnectionLimits,
    RemotingClient,
    RemotingError,
    Server,
    ServerFiles,
    ServerTls,
    TlsMode,
    TlsOfClient,
    TlsRefused,
)
from broker_core.remoting import tls as module
from broker_core.remoting.client_tls import ClientTlsFiles as TlsFiles
from broker_core.remoting.rare_warnings import PER_SECOND, RareWarnings
from tests.support.certificates import PASSWORD, Authority, Issued, replace_files
from tests.support.remoting import address_of, calling, dispatch_of, echo, question, raw_peer, raw_server, serving
from tests.support.wait import eventually

ANY = ClientTls(checks_certificate=False)


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority.create(tmp_path_factory.mktemp("tls") / "ca")


@pytest.fixture(scope="module")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority.create(tmp_path_factory.mktemp("tls") / "stranger", "somebody else")


@pytest.fixture(scope="module")
def issued(authority: Authority) -> Issued:
    return authority.issue("server")


@asynccontextmanager
async def speaking(tls: ServerTls | None, *, limits: ConnectionLimits | None = None) -> AsyncIterator[Server]:
    server = Server(dispatch_of(), tls=tls, limits=limits)
    await server.start()
    try:
        yield server
    finally:
        await server.close()


async def answer_of(server: Server, tls: TlsOfClient | None, body: bytes = b"x", host: str = "127.0.0.1") -> Command:
    client = RemotingClient(tls=tls)
    try:
        return await client.invoke(f"{host}:{server.port}", question(body=body), 5000)
    finally:
        await client.close()


@pytest.mark.parametrize("size", [1, 100_000, 5_000_000])
async def test_a_permissive_server_speaks_both(authority: Authority, issued: Issued, size: int) -> None:
    body = bytes(size)
    async with speaking(authority.server(issued)) as server:
        assert (await answer_of(server, None, body)).body == body
        assert (await answer_of(server, authority.client(), body)).body == body
        assert (await answer_of(server, ANY, body)).body == body


async def test_an_enforcing_server_speaks_tls_alone(
    authority: Authority, issued: Issued, caplog: pytest.LogCaptureFixture
) -> None:
    async with speaking(authority.server(issued, TlsMode.ENFORCING)) as server:
        assert (await answer_of(server, authority.client())).code == 0
        with pytest.raises(RemotingError, match="the peer speaks TLS; this side does not"):
            await answer_of(server, None)
    assert "plaintext although tls.server.mode is enforcing" in caplog.text


async def test_a_server_without_tls_refuses_a_handshake(authority: Authority, issued: Issued) -> None:
    disabled = authority.server(issued, TlsMode.DISABLED)
    for tls in (None, disabled):
        async with speaking(tls) as server:
            assert (await answer_of(server, None)).code == 0
            with pytest.raises(RemotingError, match="it may speak no TLS"):
                await answer_of(server, authority.client())


async def test_a_server_that_closes_on_a_handshake_may_speak_no_tls(authority: Authority) -> None:
    async with raw_server(lambda peer: peer.writer.close()) as address:
        client = RemotingClient(tls=authority.client())
        with pytest.raises(RemotingError, match="closed during the TLS handshake; the peer may speak no TLS"):
            await client.invoke(address, question(), 5000)
        await client.close()


async def test_a_server_that_answers_something_else_speaks_no_tls(authority: Authority) -> None:
    async with raw_server(lambda peer: peer.writer.write(b"SSH-2.0-OpenSSH_9.2\r\n")) as address:
        client = RemotingClient(tls=authority.client())
        with pytest.raises(RemotingError, match="the peer does not speak TLS"):
            await client.invoke(address, question(), 5000)
        await client.close()


async def test_a_server_that_stays_silent_is_left_in_time(authority: Authority) -> None:
    async with raw_server(lambda peer: None) as address:
        client = RemotingClient(tls=authority.client(), limits=ConnectionLimits(connect_timeout_ms=50))
        with pytest.raises(RemotingError, match="no connection with TLS within 50 ms"):
            await client.invoke(address, question(), 5000)
        await client.close()


async def test_an_untrusted_certificate_is_refused(
    authority: Authority, stranger: Authority, issued: Issued, caplog: pytest.LogCaptureFixture
) -> None:
    async with speaking(authority.server(issued)) as server:
        with pytest.raises(RemotingError, match="certificate is not trusted: unable to get local issuer"):
            await answer_of(server, stranger.client())
        with pytest.raises(RemotingError, match="certificate is not trusted"):
            await answer_of(server, ClientTls())
        await eventually(lambda: "unknown ca" in caplog.text)
        assert (await answer_of(server, None)).code == 0


async def test_a_certificate_for_another_host_is_refused_unless_the_host_does_not_count(authority: Authority) -> None:
    elsewhere = authority.issue("elsewhere", hosts="DNS:broker.example.org")
    async with speaking(authority.server(elsewhere)) as server:
        with pytest.raises(RemotingError, match=r"certificate is for another host.*127\.0\.0\.1"):
            await answer_of(server, authority.client())
        with pytest.raises(RemotingError, match=r"certificate is for another host.*localhost"):
            await answer_of(server, authority.client(), host="localhost")
        assert (await answer_of(server, authority.client(checks_host=False))).code == 0


async def test_a_server_certificate_can_be_trusted_by_itself(authority: Authority, issued: Issued) -> None:
    pinned = ClientTls(authorities=issued.certificate.read_text(encoding="ascii"))
    async with speaking(authority.server(issued)) as server:
        assert (await answer_of(server, pinned)).code == 0
    async with speaking(authority.server(authority.issue("another"))) as server:
        with pytest.raises(RemotingError, match="not trusted"):
            await answer_of(server, pinned)


async def test_a_client_certificate_may_be_required(
    authority: Authority, stranger: Authority, issued: Issued, caplog: pytest.LogCaptureFixture
) -> None:
    mine, foreign = authority.issue("client"), stranger.issue("client")
    async with speaking(authority.server(issued, client_auth=ClientAuth.REQUIRE)) as server:
        assert (await answer_of(server, authority.client(mine))).code == 0
        with pytest.raises(RemotingError, match="the peer requires a client certificate"):
            await answer_of(server, authority.client())
        with pytest.raises(RemotingError, match="the peer refused the TLS session: unknown ca"):
            await answer_of(server, authority.client(foreign))
        await eventually(lambda: "no client certificate, which is required here" in caplog.text)
        await eventually(lambda: "certificate is not trusted: unable to get local issuer" in caplog.text)
        await eventually(lambda: not server._starting)


async def test_an_optional_client_certificate_is_checked_if_there_is_one(
    authority: Authority, stranger: Authority, issued: Issued
) -> None:
    async with speaking(authority.server(issued, client_auth=ClientAuth.OPTIONAL)) as server:
        assert (await answer_of(server, authority.client())).code == 0
        assert (await answer_of(server, authority.client(authority.issue("friend")))).code == 0
        with pytest.raises(RemotingError, match="unknown ca"):
            await answer_of(server, authority.client(stranger.issue("foe")))


async def test_a_changed_certificate_is_used_by_the_next_connection(
    authority: Authority, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    renewing = Authority.create(tmp_path / "ca", "a new authority")
    used = authority.issue("renewed")
    async with speaking(authority.server(used, TlsMode.ENFORCING)) as server:
        before = RemotingClient(tls=authority.client())
        assert (await before.invoke(address_of(server), question(), 5000)).code == 0

        replace_files(used, renewing.issue("renewed"))

        assert (await answer_of(server, renewing.client())).code == 0
        with pytest.raises(RemotingError, match="not trusted"):
            await answer_of(server, authority.client())
        assert (await before.invoke(address_of(server), question(), 5000)).code == 0
        await before.close()
    assert "was read again" in caplog.text


async def test_a_broken_new_file_keeps_the_old_certificate_and_is_logged_once(
    authority: Authority, caplog: pytest.LogCaptureFixture
) -> None:
    used = authority.issue("half-renewed")
    async with speaking(authority.server(used)) as server:
        used.certificate.write_bytes(authority.issue("other").certificate.read_bytes())
        for _ in range(3):
            assert (await answer_of(server, authority.client())).code == 0
        used.key.unlink()
        for _ in range(3):
            assert (await answer_of(server, authority.client())).code == 0
    kept = [each.message for each in caplog.records if "the previous certificate stays" in each.message]
    assert len(kept) == 2
    assert "the key does not belong to the certificate" in kept[0]
    assert "No such file" in kept[1]


async def test_an_expired_certificate_does_not_replace_a_good_one(
    authority: Authority, caplog: pytest.LogCaptureFixture
) -> None:
    used, expired = authority.issue("kept"), authority.issue("expired", days="-1")
    async with speaking(authority.server(used, client_auth=ClientAuth.REQUIRE)) as server:
        replace_files(used, expired)
        assert (await answer_of(server, authority.client(authority.issue("checking")))).code == 0
    reason = f"the certificate in {used.certificate}: certificate has expired"
    assert f"the changed files cannot be used, the previous certificate stays: {reason}" in caplog.text
    caplog.clear()
    authority.server(used)
    assert f"tls: {reason}: clients that check it do not connect" in caplog.text


async def test_a_required_certificate_is_not_asked_of_plaintext(
    authority: Authority, issued: Issued, caplog: pytest.LogCaptureFixture
) -> None:
    warning = "clients without TLS are served too, and show no certificate: tls.server.mode is permissive"
    authority.server(issued, TlsMode.ENFORCING, client_auth=ClientAuth.REQUIRE)
    assert warning not in caplog.text
    async with speaking(authority.server(issued, client_auth=ClientAuth.REQUIRE)) as server:
        assert (await answer_of(server, None)).code == 0
    assert warning in caplog.text


async def test_a_key_that_everybody_can_read_is_named(authority: Authority, caplog: pytest.LogCaptureFixture) -> None:
    used = authority.issue("exposed")
    used.key.chmod(0o600)
    authority.server(used)
    assert "can read" not in caplog.text
    used.key.chmod(0o644)
    authority.server(used)
    assert caplog.text.count(f"tls: every user of this machine can read the key in {used.key}: chmod 600") == 1


async def test_a_pipe_in_the_place_of_a_file_keeps_the_old_certificate(
    authority: Authority, caplog: pytest.LogCaptureFixture
) -> None:
    used = authority.issue("piped")
    async with speaking(authority.server(used)) as server:
        used.certificate.unlink()
        os.mkfifo(used.certificate)
        assert (await answer_of(server, authority.client())).code == 0
        used.certificate.unlink()
    assert f"{used.certificate}: not a regular file" in caplog.text


async def test_a_disk_that_does_not_answer_keeps_the_old_certificate(
    authority: Authority, issued: Issued, monkeypatch: pytest.MonkeyPatch
) -> None:
    tls = authority.server(issued)
    answers = threading.Event()
    monkeypatch.setattr(module, "_LOOK_SECONDS", 0.01)
    monkeypatch.setattr(module, "_stamp", lambda _: answers.wait(10) and None)
    async with speaking(tls) as server:
        for _ in range(3):
            assert (await answer_of(server, authority.client())).code == 0
        assert not answers.is_set()
        answers.set()


async def test_a_client_names_a_pipe_in_the_place_of_a_file(
    authority: Authority, issued: Issued, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "trusted.pem")
    async with speaking(authority.server(issued)) as server:
        with pytest.raises(RemotingError, match=r"trusted\.pem: not a regular file"):
            await answer_of(server, TlsFiles(authorities=tmp_path / "trusted.pem"))


async def test_a_client_reads_its_files_for_each_connection(authority: Authority, tmp_path: Path) -> None:
    trusted = tmp_path / "trusted.pem"
    trusted.write_bytes(Authority.create(tmp_path / "old", "old").certificate.read_bytes())
    files = authority.client()
    following = type(files)(authorities=trusted)
    async with speaking(authority.server(authority.issue("followed"))) as server:
        client = RemotingClient(tls=following)
        with pytest.raises(RemotingError, match="not trusted"):
            await client.invoke(address_of(server), question(), 5000)
        trusted.write_bytes(authority.certificate.read_bytes())
        assert (await client.invoke(address_of(server), question(), 5000)).code == 0
        await client.close()


async def test_a_silent_peer_is_disconnected(authority: Authority, issued: Issued) -> None:
    limits = ConnectionLimits(idle_seconds=0.1)
    async with speaking(authority.server(issued), limits=limits) as server, raw_peer(server) as peer:
        assert await peer.is_closed_by_peer()
        await eventually(lambda: not server._starting)


async def test_a_slow_handshake_gives_its_place_back(
    authority: Authority, issued: Issued, caplog: pytest.LogCaptureFixture
) -> None:
    limits = ConnectionLimits(connections=1, tls_handshake_seconds=0.2)
    async with speaking(authority.server(issued), limits=limits) as server:
        async with raw_peer(server) as slow:
            slow.writer.write(b"\x16\x03\x01")
            await eventually(lambda: len(server._starting) == 1)
            async with raw_peer(server) as second:
                assert await second.is_closed_by_peer()
            assert await slow.is_closed_by_peer()
        assert (await answer_of(server, authority.client())).code == 0
    assert "limit connections=1 reached" in caplog.text
    assert "limit tls_handshake_seconds=0.2 reached" in caplog.text


async def test_of_too_many_handshakes_the_oldest_is_closed(
    authority: Authority, issued: Issued, caplog: pytest.LogCaptureFixture
) -> None:
    async with speaking(authority.server(issued), limits=ConnectionLimits(tls_handshakes=2)) as server:
        async with raw_peer(server) as oldest, raw_peer(server) as older:
            oldest.writer.write(b"\x16\x03\x01")
            await eventually(lambda: len(server._shaking) == 1)
            older.writer.write(b"\x16\x03\x01")
            await eventually(lambda: len(server._shaking) == 2)
            assert (await answer_of(server, authority.client())).code == 0
            assert await oldest.is_closed_by_peer()
            assert len(server._shaking) == 1
        await eventually(lambda: not server._shaking and not server._starting)
    assert caplog.text.count("closed, limit tls_handshakes=2 reached, and it was the oldest") == 1


@pytest.mark.parametrize("sent", [b"\x16 is no handshake", b"\x00\x00\x00\x05garbage"])
async def test_what_strangers_do_wrong_is_not_logged_each_time(
    authority: Authority, issued: Issued, caplog: pytest.LogCaptureFixture, sent: bytes
) -> None:
    async with speaking(authority.server(issued, TlsMode.PERMISSIVE)) as server:
        server.warnings = RareWarnings(lambda: 0.0)
        for _ in range(PER_SECOND + 5):
            async with raw_peer(server) as peer:
                peer.writer.write(sent)
                await peer.reader.read()
        await eventually(lambda: not server._starting)
    assert len([each for each in caplog.records if each.levelname == "WARNING"]) == PER_SECOND


async def test_a_peer_that_leaves_before_its_first_byte_is_forgotten(authority: Authority, issued: Issued) -> None:
    async with speaking(authority.server(issued)) as server:
        async with raw_peer(server) as peer:
            await eventually(lambda: len(server._starting) == 1)
            peer.writer.close()
        await eventually(lambda: not server._starting)
        assert (await answer_of(server, None)).code == 0


async def test_a_permissive_server_has_the_same_limit_of_connections(authority: Authority, issued: Issued) -> None:
    limits = ConnectionLimits(connections=1)
    async with speaking(authority.server(issued), limits=limits) as server, calling() as client:
        assert (await client.invoke(address_of(server), question(), 5000)).code == 0
        async with raw_peer(server) as second:
            second.writer.write(b"\x00")
            assert await second.is_closed_by_peer()


async def test_a_server_that_stops_ends_handshakes_and_sessions(authority: Authority, issued: Issued) -> None:
    async with speaking(authority.server(issued)) as server:
        client = RemotingClient(tls=authority.client())
        connection = await client.connection(address_of(server))
        async with raw_peer(server) as peer:
            peer.writer.write(b"\x16")
            await eventually(lambda: len(server._starting) == 1)
            await server.close()
            assert await peer.is_closed_by_peer()
        await connection.closed()
        await client.close()


async def test_a_peer_that_reads_nothing_stops_its_requests(authority: Authority, issued: Issued) -> None:
    limits = ConnectionLimits(write_buffer_bytes=64 * 1024, unread_bytes=256 * 1024 * 1024)
    async with speaking(authority.server(issued), limits=limits) as server:
        context = authority.client().context()
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port, ssl=context)
        writer.transport.pause_reading()  # type: ignore[attr-defined]  # that of TLS reads, too
        request = question(body=bytes(500_000))
        writer.write(request.encode() * 80)
        await eventually(lambda: any(each._outbox.is_full for each in server.connections))
        writer.transport.resume_reading()  # type: ignore[attr-defined]
        await reader.readexactly(80 * 500_000)
        writer.transport.abort()


async def test_a_server_can_call_its_client(authority: Authority, issued: Issued) -> None:
    async def relay(request: Command, connection: Connection) -> Command:
        return await connection.invoke(question("back", request.body), 5000)

    server = Server(dispatch_of(relay), tls=authority.server(issued))
    await server.start()
    client = RemotingClient(on_request=dispatch_of(echo), tls=authority.client())
    answer = await client.invoke(address_of(server), question(body=b"there"), 5000)
    await client.close()
    await server.close()
    assert (answer.body, answer.remark) == (b"there", "back")


async def test_an_own_context_can_be_given(authority: Authority, issued: Issued) -> None:
    context = ssl.create_default_context(cafile=authority.certificate)
    async with speaking(authority.server(issued, TlsMode.ENFORCING)) as server:
        assert (await answer_of(server, context)).code == 0


async def test_an_encrypted_key_is_opened_with_its_password(authority: Authority) -> None:
    secret = authority.issue("secret", password=PASSWORD)
    async with speaking(authority.server(secret, password=PASSWORD)) as server:
        assert (await answer_of(server, authority.client())).code == 0


@pytest.mark.parametrize(
    ("certificate", "key", "password", "reason"),
    [
        ("locked.pem", "locked.key", "", "encrypted, and its password is missing"),
        ("locked.pem", "locked.key", "no", "encrypted, and its password is wrong"),
        ("open.pem", "locked-2.key", "", "is missing"),
        ("open.pem", "other.key", "", "the key does not belong to the certificate"),
        ("missing.pem", "open.key", "", "missing.pem: No such file"),
        ("open.pem", "missing.key", "", "missing.key: No such file"),
        ("open.key", "open.key", "", "open.key: no certificate in PEM form"),
        ("open.pem", "open.pem", "", "open.pem: no private key in PEM form"),
    ],
)
def test_unusable_files_are_named(authority: Authority, certificate: str, key: str, password: str, reason: str) -> None:
    for name in ("locked", "locked-2"):
        if not (authority.folder / f"{name}.pem").exists():
            authority.issue(name, password=PASSWORD)
    for name in ("open", "other"):
        if not (authority.folder / f"{name}.pem").exists():
            authority.issue(name)
    with pytest.raises(TlsRefused, match=reason):
        ServerTls(TlsMode.PERMISSIVE, ServerFiles(authority.folder / certificate, authority.folder / key, password))


@pytest.mark.parametrize(
    ("tls", "reason"),
    [
        (ClientTls(authorities="nonsense"), "authorities: no certificate in PEM form"),
        (ClientTls(certificate="CERTIFICATE"), "a client certificate needs its key: there is no key"),
        (ClientTls(key="PRIVATE KEY"), "there is no certificate"),
        (ClientTls(certificate="CERTIFICATE", key="nonsense"), "client certificate: key: no private key in PEM form"),
    ],
)
async def test_an_unusable_text_of_a_client_is_named(tls: ClientTls, reason: str) -> None:
    with pytest.raises(TlsRefused, match=reason):
        tls.context()
    async with serving() as server:
        with pytest.raises(RemotingError, match=reason):
            await answer_of(server, tls)


def test_secrets_are_not_shown() -> None:
    assert "SECRET" not in repr(ClientTls(key="SECRET", key_password="SECRET"))
