"""The real broker, started: ``python -m broker_core`` with ports of its own.

::

    async with broker(tmp_path) as running:                       # name server and broker in a process of their own
        async with running.session() as session:
            await create_topic(session, "orders", queues=4)
            await Producer(session).send(Message("orders", b"hi"))

    def test_view(broker_process: RunningBroker) -> None: ...      # the same for tests without a loop
"""

from __future__ import annotations

import asyncio
import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from broker_core.broker import Broker, BrokerConfig, Identity
from broker_core.broker.config import BrokerRole, ReplicationSettings
from broker_core.client.admin import Admin
from broker_core.client.config import ClientConfig
from broker_core.client.session import Session
from broker_core.namesrv.config import NameServerConfig
from broker_core.namesrv.server import NameServer
from broker_core.remoting import TlsOfClient
from broker_core.store import StoreConfig
from tests.support.ports import free_ports

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 180.0
STOP_SECONDS = 20.0
# Small files: a store of the usual size would reserve a gigabyte for every test.
COMMIT_LOG_FILE_BYTES = 16 * 1024 * 1024

_READY = re.compile(r"ready namesrv=(\S+) broker=(\S+)")


class NotStarted(AssertionError):
    """The process ended, or did not say that it is ready; the text holds what it wrote."""


@dataclass
class RunningBroker:
    """A name server and a broker in one process."""

    data: Path
    flush: str = "async"
    arguments: Sequence[str] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    """By RocketMQ's names, given on the command line."""
    name_servers: str | None = None
    """``host:port;host:port`` to register at; without, it has a name server of its own."""
    broker_name: str = "broker-a"
    cluster: str = "test"
    name_server: str = ""
    """``host:port`` for clients; several are parted by a semicolon."""
    address: str = ""
    """``host:port`` of the broker itself."""
    tls: TlsOfClient | None = None
    """How clients of the test connect to it."""
    process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    @property
    def log(self) -> Path:
        """What it wrote to standard error, over all its runs."""
        return self.data / "broker.log"

    @property
    def store(self) -> Path:
        """The store's root folder."""
        return self.data / "broker"

    @property
    def config(self) -> ClientConfig:
        """A client's settings to reach it."""
        return ClientConfig(self.name_server.split(";"), tls=self.tls)

    def session(self) -> Session:
        """Return a session that is not started yet: use it with ``async with``."""
        return Session(self.config)

    def start(self) -> None:
        """Start it and wait until it serves; the ports of an earlier run are taken again."""
        self.data.mkdir(parents=True, exist_ok=True)
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self._command(), cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log
            )
        self.name_server, self.address = self._wait_until_ready()

    def stop(self, *, kill: bool = False) -> int:
        """End it, cleanly unless `kill`; return its exit status."""
        process, self.process = self.process, None
        if process is None:
            return 0
        process.send_signal(signal.SIGKILL if kill else signal.SIGTERM)
        try:
            return process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise
        finally:
            if process.stdout is not None:
                process.stdout.close()

    def restart(self, *, kill: bool = False) -> None:
        """End it and start it again, with the same store and the same ports."""
        self.stop(kill=kill)
        self.start()

    def _command(self) -> list[str]:
        name_servers = (
            ("--namesrv", self.name_servers)
            if self.name_servers
            else ("--namesrv-port", self.name_server.rpartition(":")[2] or str(free_ports()))
        )
        settings = [word for name, value in self.settings.items() for word in ("--setting", f"{name}={value}")]
        # Not any free one, which somebody else may have taken by the time this broker is started again.
        broker_port = self.address.rpartition(":")[2] or str(free_ports(4) + 2)
        return [
            sys.executable, "-m", "broker_core",
            "--data-dir", str(self.data),
            "--bind", "127.0.0.1",
            *name_servers,
            "--broker-port", broker_port,
            "--broker-name", self.broker_name,
            "--cluster", self.cluster,
            "--flush", self.flush,
            "--commit-log-file-size", str(COMMIT_LOG_FILE_BYTES),
            *settings,
            *self.arguments,
        ]  # fmt: skip

    def _wait_until_ready(self) -> tuple[str, str]:
        assert self.process is not None
        assert self.process.stdout is not None
        deadline = time.monotonic() + START_SECONDS
        output = self.process.stdout.fileno()
        said = b""
        while time.monotonic() < deadline:
            readable, _, _ = select.select([output], [], [], 0.2)
            piece = os.read(output, 4096) if readable else b""
            said += piece
            found = _READY.search(said.decode(errors="replace"))
            if found and b"\n" in said[found.start() :]:
                return found[1], found[2]
            if readable and not piece:
                break
        self.stop(kill=True)
        raise NotStarted(f"{said.decode(errors='replace')}\n{self.log.read_text(errors='replace')}")


@contextmanager
def started_broker(
    data: Path,
    *,
    flush: str = "async",
    arguments: Sequence[str] = (),
    settings: Mapping[str, str] | None = None,
    name_servers: str | None = None,
    broker_name: str = "broker-a",
    cluster: str = "test",
) -> Iterator[RunningBroker]:
    """Start a broker with its store under `data`, and a name server unless one is given; stop them at the end."""
    running = RunningBroker(data, flush, arguments, settings or {}, name_servers, broker_name, cluster)
    running.start()
    try:
        yield running
    finally:
        running.stop()


@asynccontextmanager
async def broker(data: Path, *, flush: str = "async", arguments: Sequence[str] = ()) -> AsyncIterator[RunningBroker]:
    """Do the same in a coroutine: the loop goes on while the process starts and ends."""
    running = RunningBroker(data, flush, arguments)
    await asyncio.to_thread(running.start)
    try:
        yield running
    finally:
        await asyncio.to_thread(running.stop)


@dataclass
class SeveralBrokers:
    """One name server and several brokers, all on the loop of the test."""

    data: Path
    name_server: NameServer
    brokers: dict[str, Broker]

    def session(self) -> Session:
        """Return a session that is not started yet: use it with ``async with``."""
        return Session(ClientConfig([f"127.0.0.1:{self.name_server.port}"]))

    async def start(self, name: str, *, broker_id: int = 0, port: int = 0) -> Broker:
        """Start one broker, a new one or one that was stopped; it is known to the name server then.

        One with another id than 0 is a slave of that name, called `name-id` here. A master on any port (0) has none
        for slaves: they get its first record only.
        """
        title = f"{name}-{broker_id}" if broker_id else name
        self.brokers[title] = await Broker.open(
            BrokerConfig(
                store=StoreConfig.embedded(self.data / title),
                name_servers=(f"127.0.0.1:{self.name_server.port}",),
                port=port,
                identity=Identity(cluster="test", name=name, broker_id=broker_id),
                replication=ReplicationSettings(BrokerRole.SLAVE if broker_id else BrokerRole.ASYNC_MASTER),
            )
        )
        return self.brokers[title]

    async def stop(self, name: str) -> None:
        """Stop one broker cleanly; it leaves the name server."""
        await self.brokers.pop(name).close()


@asynccontextmanager
async def several_brokers(
    data: Path, *, names: Sequence[str] = ("broker-a", "broker-b")
) -> AsyncIterator[SeveralBrokers]:
    """Start a name server and a broker of each name, and stop them at the end."""
    name_server = NameServer(NameServerConfig(port=0, settings_file=data / "namesrv" / "kvConfig.json"))
    await name_server.start()
    running = SeveralBrokers(data, name_server, {})
    try:
        for name in names:
            await running.start(name)
        yield running
    finally:
        for left in running.brokers.values():
            await left.close()
        await name_server.close()


async def create_topic(session: Session, name: str, *, queues: int = 4, perm: int = 6) -> None:
    """Create a topic and wait until name servers tell of it; raise the first failure."""
    admin = Admin(session)
    answers = await admin.topics.create(name, read_queues=queues, write_queues=queues, perm=perm)
    for error in answers.failed.values():
        raise error
    await admin.topics.get(name)


@pytest.fixture
def broker_process(tmp_path: Path) -> Iterator[RunningBroker]:
    """A broker of one test's own."""
    with started_broker(tmp_path / "broker") as running:
        yield running


@pytest.fixture(scope="module")
def shared_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningBroker]:
    """A broker that the tests of one file share: each uses topics and groups of its own."""
    with started_broker(tmp_path_factory.mktemp("broker")) as running:
        yield running
