"""Name server and broker with TLS, as a process: every listener, registration, reload, and refusals at the start."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from broker_core.client import Admin, Message, Producer, Session, Unreachable
from broker_core.protocol import Command
from broker_core.protocol.ha_plain import encode_report
from broker_core.protocol.headers.admin import GetBrokerRuntimeInfoRequest
from broker_core.protocol.headers.routes import GetRouteInfoRequest
from broker_core.remoting import ClientTls, RemotingClient, RemotingError
from broker_core.remoting.other_protocols import PLAIN_REFUSED
from broker_core.store.reader import StoreReader
from tests.support.certificates import PASSWORD, Authority, Issued, replace_files
from tests.support.cluster import ROOT, RunningBroker, create_topic
from tests.support.serving import Serving
from tests.support.tls_broker import authority_in, listeners, tls_broker, tls_settings
from tests.support.wait import eventually

ANY = ClientTls(checks_certificate=False)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Authority, Issued]:
    return authority_in(tmp_path_factory.mktemp("tls"))


@pytest.fixture(scope="module")
def enforcing(made: tuple[Authority, Issued], tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningBroker]:
    authority, issued = made
    data = tmp_path_factory.mktemp("enforcing")
    with tls_broker(data, tls_settings(issued, "enforcing"), authority.client()) as running:
        yield running


async def send(running: RunningBroker, topic: str) -> None:
    async with running.session() as session:
        await create_topic(session, topic)
        producer = await Producer(session).start()
        assert (await producer.send(Message.create(topic, b"x"))).message_id
        await producer.close()


async def asked(address: str, tls: ClientTls | None) -> int:
    client = RemotingClient(tls=tls)
    try:
        answer = await client.invoke(address, Command.request(GetBrokerRuntimeInfoRequest()), 5000)
        return answer.code
    finally:
        await client.close()


async def said_in_plaintext(address: str, data: bytes) -> bytes:
    host, _, port = address.rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        writer.write(data)
        return await reader.read()
    except ConnectionError:
        return b""
    finally:
        writer.close()


async def test_an_enforcing_broker_registers_and_serves_with_tls(enforcing: RunningBroker) -> None:
    await send(enforcing, "orders")
    for address in listeners(enforcing).values():
        assert await asked(address, ANY) in (0, 3)


async def test_an_enforcing_broker_answers_no_other_protocol(enforcing: RunningBroker) -> None:
    for address in listeners(enforcing).values():
        for other in (b"GET / HTTP/1.1\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"\x00", b"\x17\x03\x03"):
            assert await said_in_plaintext(address, other) in (PLAIN_REFUSED, b""), other
    assert "plaintext although tls.server.mode is enforcing" in enforcing.log.read_text()


async def test_a_slave_copies_with_tls(
    enforcing: RunningBroker, made: tuple[Authority, Issued], tmp_path: Path
) -> None:
    """docs/operations.md: With TLS on both sides the log is copied over TLS too."""
    settings = tls_settings(made[1], "enforcing", brokerRole="SLAVE")
    slave = RunningBroker(tmp_path, "async", ("--broker-id", "1"), settings, enforcing.name_server)
    for _ in range(3):  # the first message is fetched from the main port
        await send(enforcing, "copied")
    try:
        await asyncio.to_thread(slave.start)
        await eventually(lambda: log_end(slave.store) == log_end(enforcing.store) > 0)
    finally:
        await asyncio.to_thread(slave.stop)
    host, _, port = enforcing.address.rpartition(":")
    assert await said_in_plaintext(f"{host}:{int(port) + 1}", encode_report(0)) in (PLAIN_REFUSED, b"")


def log_end(store: Path) -> int:
    """Return where a log ends that a running broker writes."""
    with StoreReader.open(store) as reader:
        return reader.log_end


async def test_a_plain_client_learns_that_the_peer_speaks_tls(enforcing: RunningBroker) -> None:
    async with Session(replace(enforcing.config, tls=None)) as session:
        with pytest.raises(Unreachable, match="the peer speaks TLS; this side does not"):
            await session.ask_name_server(GetRouteInfoRequest("orders"))


async def test_its_settings_are_shown_and_cannot_be_changed_from_afar(
    enforcing: RunningBroker, made: tuple[Authority, Issued]
) -> None:
    async with enforcing.session() as session:
        admin = Admin(session)
        shown = await admin.maintenance.settings_of(enforcing.address)
        assert shown["tls.server.mode"] == "enforcing"
        assert shown["tls.server.certPath"] == str(made[1].certificate)
        assert shown["useTLS"] == "true"
        assert not [name for name in shown if "assword" in name]
        with pytest.raises(Exception, match=r"tls\.server\.mode is fixed or can be set only at the start"):
            await admin.maintenance.change_settings_of(enforcing.address, {"tls.server.mode": "disabled"})


async def test_a_permissive_broker_serves_both_on_every_port(made: tuple[Authority, Issued], tmp_path: Path) -> None:
    authority, issued = made
    file = tmp_path / "tls.properties"
    locked = authority.issue("locked", password=PASSWORD)
    file.write_text(
        f"tls.test.mode.enable=false\ntls.server.keyPath={locked.key}\ntls.server.certPath={locked.certificate}\n"
        f"tls.server.keyPassword={PASSWORD}\n"
    )
    running = RunningBroker(tmp_path / "data", arguments=("--tls-config", str(file)), tls=authority.client())
    await asyncio.to_thread(running.start)
    try:
        await send(running, "over-tls")
        running.tls = None
        await send(running, "in-plaintext")
        for address in (running.name_server, running.address):
            assert await asked(address, None) == await asked(address, ANY)
    finally:
        await asyncio.to_thread(running.stop)
    del issued


async def test_a_renewed_certificate_needs_no_restart(tmp_path: Path) -> None:
    authority, issued = authority_in(tmp_path / "old")
    renewed_by, renewed = authority_in(tmp_path / "new")
    running = RunningBroker(tmp_path / "data", settings=tls_settings(issued, "enforcing"), tls=authority.client())
    await asyncio.to_thread(running.start)
    try:
        await send(running, "before")
        replace_files(issued, renewed)
        running.tls = renewed_by.client()
        await send(running, "after")
        running.tls = authority.client()
        with pytest.raises(Unreachable, match="certificate is not trusted"):
            await send(running, "never")
    finally:
        await asyncio.to_thread(running.stop)


async def test_a_broker_that_requires_client_certificates_has_one_itself(tmp_path: Path) -> None:
    authority, issued = authority_in(tmp_path)
    needs = {"tls.server.need.client.auth": "require", "tls.server.trustCertPath": str(authority.certificate)}
    running = RunningBroker(
        tmp_path / "data",
        settings=tls_settings(issued, "enforcing", **needs),
        tls=authority.client(authority.issue("client")),
    )
    await asyncio.to_thread(running.start)
    try:
        await send(running, "orders")
        with pytest.raises(RemotingError, match="the peer requires a client certificate"):
            await asked(running.address, ANY)
    finally:
        await asyncio.to_thread(running.stop)


@pytest.mark.parametrize("module", ["broker_core", "broker_core.namesrv"])
@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ("tls.server.mode=enforcing\n", "tls.server.mode=enforcing needs tls.server.certPath and tls.server.keyPath"),
        ("tls.server.keyPath=/a\ntls.server.certPath=/nowhere.pem\n", "/nowhere.pem: No such file"),
        ("tls.server.keyPth=/a\n", "tls.server.keyPth"),
    ],
)
def test_what_is_wrong_stops_the_start_with_one_line(tmp_path: Path, module: str, lines: str, reason: str) -> None:
    file = tmp_path / "tls.properties"
    file.write_text(lines)
    data = ("--data-dir", str(tmp_path / "data")) if module == "broker_core" else ("--port", "0")
    for option in ("--tls-config", "--config"):
        command = [sys.executable, "-m", module, option, str(file), *data]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 2, done.stderr
        said = [line for line in done.stderr.splitlines() if reason in line]
        assert len(said) == 1, done.stderr
        assert "Traceback" not in done.stderr


async def test_a_name_server_of_its_own_takes_the_same_settings(made: tuple[Authority, Issued], tmp_path: Path) -> None:
    _, issued = made
    file = tmp_path / "tls.properties"
    file.write_text("".join(f"{name}={text}\n" for name, text in tls_settings(issued, "enforcing").items()))
    arguments = ("--port", "0", "--tls-config", str(file))
    with Serving(tmp_path / "log", "broker_core.namesrv", *arguments) as name_server:
        address = (await asyncio.to_thread(name_server.ready)).partition("namesrv=")[2]
        assert await asked(address, ANY) == 3
        with pytest.raises(RemotingError, match="the peer speaks TLS"):
            await asked(address, None)
        running = RunningBroker(
            tmp_path / "data",
            settings=tls_settings(issued, "permissive", **{"tls.enable": "true"}),
            name_servers=address,
            tls=ANY,
        )
        await asyncio.to_thread(running.start)
        try:
            await send(running, "orders")
        finally:
            await asyncio.to_thread(running.stop)
