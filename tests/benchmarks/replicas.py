"""A master with one slave: Gantry beside Apache RocketMQ, with the same unmodified Java client in turns.

Sends to a SYNC_MASTER are answered when the slave has them. How fast an empty slave catches up is measured from its
first bytes on: Apache's waits 5 s before it asks for any.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from broker_core.client.blocking import BlockingSession
from broker_core.protocol import bodies
from broker_core.protocol.bodies.routes import KVTable
from broker_core.protocol.codes import ResponseCode
from broker_core.protocol.headers.admin import GetBrokerRuntimeInfoRequest
from tests.benchmarks.apache import Bench, Beside, Case, Compared, Heading, LeftOut, Server, compare, started_bench
from tests.compat.java_build import CLIENT, SERVER, missing_tool
from tests.support.apache import ApacheBroker
from tests.support.cluster import RunningBroker
from tests.support.wait import wait_until

CASES: Final = (Case.send(1, 1024), Case.send(64, 1024))
FILL_MESSAGES: Final = 200_000
"""Of 1 KiB, which one segment holds: a slave of Apache begins with the newest."""
_LOOK_SECONDS: Final = 0.01
_FILE_BYTES: Final = 512 << 20
_SIZES: Final = {"mappedFileSizeCommitLog": str(_FILE_BYTES), "diskMaxUsedSpaceRatio": "95"}
_GANTRY: Final = {"diskSpaceCleanForciblyRatio": "99", "diskSpaceWarningLevelRatio": "99"}
_APACHE: Final = {
    "mappedFileSizeConsumeQueue": str(300_000 * 20),
    "osPageCacheBusyTimeOutMills": "10000",
    "waitTimeMillsInSendQueue": "20000",
    "slaveTimeout": "20000",
}
_APACHE_JVM: Final = ("-server", "-Xms1g", "-Xmx1g", "-XX:+UseG1GC")


@dataclass
class Pair:
    """A master and its slave of one kind."""

    folder: Path
    is_apache: bool
    role: str
    running: ExitStack
    master: Server = field(init=False)
    slave: Server = field(init=False)

    def start_master(self) -> None:
        """Start it, with a name server of its own."""
        self.master = self._start("master", {"brokerRole": self.role}, None)

    def start_slave(self) -> None:
        """Start it on an empty folder."""
        self.slave = self._start("slave", {"brokerRole": "SLAVE"}, self.master.name_server)

    def is_connected(self) -> bool:
        """Whether the slave has what the master has."""
        return log_end(self.master) == log_end(self.slave)

    def _start(self, name: str, settings: Mapping[str, str], name_servers: str | None) -> Server:
        number = "1" if name == "slave" else "0"
        place = self.folder / f"{'apache' if self.is_apache else 'gantry'}-{name}"
        server: Server
        if self.is_apache:
            chosen = _SIZES | _APACHE | dict(settings) | {"brokerId": number}
            server = ApacheBroker(place, settings=chosen, name_servers=name_servers, options=_APACHE_JVM)
        else:
            chosen = _SIZES | _GANTRY | dict(settings)
            server = RunningBroker(place, arguments=("--broker-id", number), settings=chosen, name_servers=name_servers)
        self.running.callback(server.stop)
        server.start()
        return server


def run() -> Iterator[Heading | Compared | Beside | LeftOut]:
    """Measure sends, and then how fast an empty slave catches up."""
    missing = missing_tool()
    if missing is not None:
        yield LeftOut(missing)
        return
    CLIENT.build()
    SERVER.build()
    yield Heading()
    with tempfile.TemporaryDirectory() as folder, started_bench() as client, pairs(Path(folder), "SYNC_MASTER") as both:
        for pair in both:
            pair.start_master()
            pair.start_slave()
            client.measure(Case.send(1, 1024).line.format(ns=pair.master.name_server))
            wait_until(pair.is_connected)
        for case in CASES:
            yield compare(client, case, [both[0].master], [both[1].master], "SYNC_MASTER with one slave")
    yield catch_up()


def catch_up() -> Beside:
    """Measure how many MB/s an empty slave takes."""
    rates = []
    for is_apache in (False, True):
        with tempfile.TemporaryDirectory() as folder, started_bench() as client, ExitStack() as running:
            pair = Pair(Path(folder), is_apache, "ASYNC_MASTER", running)
            pair.start_master()
            rates.append(_caught_up(pair, client))
    megabytes = FILL_MESSAGES / 1000
    return Beside(f"an empty slave catches up {megabytes:,.0f} MB, MB/s", *rates)


def _caught_up(pair: Pair, client: Bench) -> float:
    client.measure(f"fill {pair.master.name_server} bench 8 1024 32 {FILL_MESSAGES}")
    end = log_end(pair.master)
    pair.start_slave()
    with BlockingSession(pair.slave.config) as session:
        while (begin := _end(session, pair.slave)) == 0:
            time.sleep(_LOOK_SECONDS)
        began = time.monotonic()
        while _end(session, pair.slave) < end:
            time.sleep(_LOOK_SECONDS)
    return (end - begin) / (time.monotonic() - began) / 1e6


def log_end(server: Server) -> int:
    """Return where the log of a broker ends."""
    with BlockingSession(server.config) as session:
        return _end(session, server)


def _end(session: BlockingSession, server: Server) -> int:
    answer = session.run(session.session.invoke(server.address, GetBrokerRuntimeInfoRequest()))
    if answer.code == ResponseCode.SYSTEM_ERROR:
        return 0  # so Apache's answers before it has a log
    return int(bodies.decode(KVTable, answer.body).table["commitLogMaxOffset"])


@contextmanager
def pairs(folder: Path, role: str) -> Iterator[tuple[Pair, Pair]]:
    """Have a pair of Gantry and one of Apache until the block ends; nothing is started."""
    with ExitStack() as running:
        yield Pair(folder, False, role, running), Pair(folder, True, role, running)
