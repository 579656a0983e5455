"""Apache RocketMQ's own name server and broker, started: what Gantry is compared with.

::

    with started_apache(tmp_path, settings={"mappedFileSizeCommitLog": "65536"}) as running:
        …                                    # running.name_server, running.address, running.session(), running.store

Both run from their Maven artifacts (tests/compat/server), each in a JVM of its own.
"""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from broker_core.client.config import ClientConfig
from broker_core.client.session import Session
from tests.compat.java_build import SERVER
from tests.support.ports import free_ports
from tests.support.wait import wait_until

START_SECONDS = 180.0
STOP_SECONDS = 40.0
SMALL_JVM = ("-Xms128m", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
"""Starts fast; measurements take another one."""

# A test machine's disk may be as full as it likes: nothing is removed, and nothing refused, before 99 %.
_ANY_DISK = tuple(f"-Drocketmq.broker.diskSpace{name}Ratio=0.99" for name in ("CleanForcibly", "WarningLevel"))
_LOGBACK = '<configuration><root level="OFF"/></configuration>\n'
_SMALL_FILES = {
    "mappedFileSizeCommitLog": str(16 * 1024 * 1024),
    "mappedFileSizeConsumeQueue": str(20 * 10_000),
    "maxHashSlotNum": "10000",
    "maxIndexNum": "40000",
    "diskMaxUsedSpaceRatio": "95",
    # Its cores may be busy, too.
    "osPageCacheBusyTimeOutMills": "10000",
    "waitTimeMillsInSendQueue": "5000",
    # A name server may pass over a topic until the next registration; half a minute is as long as tests wait.
    "registerNameServerPeriod": "10000",
}


class NotStarted(AssertionError):
    """The process ended, or did not say that it is ready; the text holds what it wrote."""


@dataclass
class JavaServer:
    """One of RocketMQ's two servers: a folder, a configuration file, a process."""

    folder: Path
    main: str
    ready: str
    options: Sequence[str] = SMALL_JVM
    process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    @property
    def log(self) -> Path:
        """What it wrote, over all its runs."""
        return self.folder / "output.log"

    def start(self, settings: Mapping[str, str]) -> None:
        """Write `settings` as its configuration and start it; return when it serves. Raises NotStarted."""
        (self.folder / "conf").mkdir(parents=True, exist_ok=True)
        for name in ("broker", "namesrv", "tools"):
            (self.folder / "conf" / f"logback_{name}.xml").write_text(_LOGBACK)
        configuration = self.folder / "server.properties"
        configuration.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
        home = (f"-Drocketmq.home.dir={self.folder}", f"-Duser.home={self.folder}")
        command = SERVER.java(self.main, "-c", str(configuration), options=(*self.options, *home))
        before = self.log.stat().st_size if self.log.exists() else 0
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        process = self.process

        def said() -> bytes:
            return self.log.read_bytes()[before:]

        try:
            wait_until(lambda: self.ready.encode() in said() or process.poll() is not None, within=START_SECONDS)
        except BaseException:
            self.stop(kill=True)
            raise
        if process.poll() is not None:
            raise NotStarted(said().decode(errors="replace"))

    def stop(self, *, kill: bool = False) -> None:
        """End it, cleanly unless `kill`."""
        process, self.process = self.process, None
        if process is None:
            return
        process.send_signal(signal.SIGKILL if kill else signal.SIGTERM)
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise


@dataclass
class ApacheNameServer:
    """Apache RocketMQ's name server."""

    data: Path
    address: str = ""
    """``host:port``."""

    def __post_init__(self) -> None:
        self.server = JavaServer(
            self.data / "namesrv", "org.apache.rocketmq.namesrv.NamesrvStartup", "The Name Server boot success"
        )

    def start(self) -> None:
        """Start it and wait until it serves; the port of an earlier run is taken again."""
        self.address = self.address or f"127.0.0.1:{free_ports()}"
        folder = self.server.folder
        self.server.start(
            {
                "listenPort": self.address.rpartition(":")[2],
                "kvConfigPath": str(folder / "kvConfig.json"),
                "configStorePath": str(folder / "namesrv.properties"),
            }
        )

    def stop(self, *, kill: bool = False) -> None:
        """End it, cleanly unless `kill`."""
        self.server.stop(kill=kill)


@dataclass
class ApacheBroker:
    """Apache RocketMQ's broker, with a name server of its own unless `name_servers` names others."""

    data: Path
    flush: str = "async"
    settings: Mapping[str, str] = field(default_factory=dict)
    """Over the test's own, by RocketMQ's names."""
    name_servers: str | None = None
    """``host:port;host:port``"""
    broker_name: str = "broker-a"
    cluster: str = "test"
    options: Sequence[str] = SMALL_JVM
    address: str = ""
    """``host:port`` of the broker itself."""

    def __post_init__(self) -> None:
        self._own = None if self.name_servers else ApacheNameServer(self.data)
        self.server = JavaServer(
            self.data / "server",
            "org.apache.rocketmq.broker.BrokerStartup",
            "boot success",
            (*self.options, *_ANY_DISK),
        )

    @property
    def name_server(self) -> str:
        """``host:port`` for clients; several are parted by a semicolon."""
        if self._own is not None:
            return self._own.address
        assert self.name_servers is not None
        return self.name_servers

    @property
    def store(self) -> Path:
        """The store's root folder."""
        return self.data / "broker"

    @property
    def process(self) -> subprocess.Popen[bytes] | None:
        """The broker's process while it runs."""
        return self.server.process

    @property
    def config(self) -> ClientConfig:
        """A client's settings to reach it."""
        return ClientConfig(self.name_server.split(";"))

    def session(self) -> Session:
        """Return a session that is not started yet: use it with ``async with``."""
        return Session(self.config)

    def start(self) -> None:
        """Start it and wait until it serves; the ports of an earlier run are taken again."""
        if self._own is not None and self._own.server.process is None:
            self._own.start()
        self.address = self.address or f"127.0.0.1:{free_ports(4) + 2}"
        self.server.start({**self._basic(), **_SMALL_FILES, **self.settings})

    def stop(self, *, kill: bool = False) -> None:
        """End it, cleanly unless `kill`, and its own name server."""
        self.server.stop(kill=kill)
        if self._own is not None:
            self._own.stop(kill=True)

    def restart(self, *, kill: bool = False) -> None:
        """End the broker and start it again, with the same store and the same ports."""
        self.server.stop(kill=kill)
        self.start()

    def _basic(self) -> dict[str, str]:
        port = int(self.address.rpartition(":")[2])
        return {
            "brokerClusterName": self.cluster,
            "brokerName": self.broker_name,
            "brokerId": "0",
            "brokerIP1": "127.0.0.1",
            "listenPort": str(port),
            "haListenPort": str(port + 1),
            "namesrvAddr": self.name_server,
            "storePathRootDir": str(self.store),
            "storePathCommitLog": str(self.store / "commitlog"),
            "flushDiskType": "SYNC_FLUSH" if self.flush == "sync" else "ASYNC_FLUSH",
        }


@contextmanager
def started_apache(
    data: Path,
    *,
    flush: str = "async",
    settings: Mapping[str, str] | None = None,
    name_servers: str | None = None,
    broker_name: str = "broker-a",
    cluster: str = "test",
    options: Sequence[str] = SMALL_JVM,
) -> Iterator[ApacheBroker]:
    """Start the broker with its store under `data`, and a name server unless one is given; stop them at the end."""
    running = ApacheBroker(data, flush, settings or {}, name_servers, broker_name, cluster, options)
    try:
        running.start()
        yield running
    finally:
        running.stop()
