"""Gantry's broker beside Apache RocketMQ's, with the same unmodified Java client, in turns on one machine.

Apache's broker is 4.9.7, the newest of its line in Maven Central, with its defaults and a JVM of 1 GiB; the client is
4.9.8. Every case runs in turns (Gantry, Apache, Gantry, Apache) and the better round of each counts.

With ``GANTRY_BROKERS=2`` each side has two brokers under one name server, and the first line says so.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from broker_core.client.blocking import BlockingSession
from console.clusters.own_brokers import broker_names
from tests.compat.java_build import CLIENT, SERVER, missing_tool
from tests.support.apache import ApacheBroker, started_apache
from tests.support.cluster import RunningBroker, started_broker
from tests.support.wait import wait_until

Flush = Literal["async", "sync"]
Server = RunningBroker | ApacheBroker
Side = Sequence[Server]
"""The brokers of Gantry, or those of Apache; the first has the name server of all."""

ROUNDS: Final = 2
SECONDS: Final = 4.0
LIVE_PER_SECOND: Final = 500
LARGE_MESSAGES: Final = int(os.environ.get("LARGE_MESSAGES", "10000000"))
"""Each has two index entries, its key and its unique id, and 1 KiB of body."""
SEARCHES: Final = 5_000
BROKERS: Final = int(os.environ.get("GANTRY_BROKERS", "1"))
"""On each side."""
TOPIC: Final = "bench"
_FILE_BYTES: Final = 512 << 20
# Apache's own sizes, but for the commit log's files: some tens of gigabytes for a benchmark would be too much.
_SETTINGS: Final = {
    "mappedFileSizeCommitLog": str(_FILE_BYTES),
    "mappedFileSizeConsumeQueue": str(300_000 * 20),
    "maxHashSlotNum": "5000000",
    "maxIndexNum": "20000000",
    "osPageCacheBusyTimeOutMills": "10000",
    "waitTimeMillsInSendQueue": "20000",
}
# Nothing is removed: Apache's broker is started so for all tests.
_ANY_DISK: Final = {"diskSpaceCleanForciblyRatio": "99", "diskSpaceWarningLevelRatio": "99"}
_FULL_INDEX: Final = {"maxHashSlotNum": "5000000", "maxIndexNum": "20000000"}
_SERVER_JVM: Final = ("-server", "-Xms1g", "-Xmx1g", "-XX:+UseG1GC")
_EACH: Final = "" if BROKERS == 1 else f", {BROKERS} brokers each"
_CLIENT_JVM: Final = ("-Xms512m", "-Xmx1g")


@dataclass(frozen=True)
class Case:
    """One line of the table: its name, and the line that `gantry.Bench` reads; `{ns}` is the name server."""

    name: str
    line: str

    @classmethod
    def send(cls, senders: int, size: int, batch: int = 1) -> Case:
        """Return the case of `senders` threads that each wait for the answer before they send again."""
        each = f", {batch} a batch" if batch > 1 else ""
        name = f"send {size} B, {senders} sender{'s' if senders > 1 else ''}{each}"
        return cls(name, f"send {{ns}} {TOPIC}-{size} {senders} {size} {batch} {SECONDS}")


@dataclass(frozen=True)
class Figure:
    """What one round measured: messages a second; latencies in microseconds, 0 where there are none."""

    per_second: float
    middle: float
    late: float


@dataclass(frozen=True)
class Compared:
    """One line of the table."""

    name: str
    gantry: Figure
    apache: Figure

    def text(self) -> str:
        """Return the line: messages a second and their ratio, then the two latencies and the ratio of the later."""
        ours, theirs = self.gantry, self.apache
        rate = f"{ours.per_second:>9,.0f} {theirs.per_second:>9,.0f} {_ratio(ours.per_second, theirs.per_second)}"
        if not theirs.late:
            return f"{self.name:<48} {rate}"
        middle = f"{ours.middle:>8,.0f} {theirs.middle:>8,.0f}"
        late = f"{ours.late:>8,.0f} {theirs.late:>8,.0f} {_ratio(ours.late, theirs.late)}"
        return f"{self.name:<48} {rate} {middle} {late}"


@dataclass(frozen=True)
class Beside:
    """One line of the table: a figure of either, of which less is better."""

    name: str
    gantry: float
    apache: float

    def text(self) -> str:
        """Return the line."""
        return f"{self.name:<48} {self.gantry:>9,.1f} {self.apache:>9,.1f} {_ratio(self.gantry, self.apache)}"


@dataclass(frozen=True)
class Large:
    """What one broker did with a large store."""

    search: Figure
    memory_mib: float
    recovery_s: float
    log_gib: float


@dataclass(frozen=True)
class Heading:
    """The first line of the table."""

    def text(self) -> str:
        """Return the names of the columns."""
        return (
            f"{'Java client 4.9.8' + _EACH:<48} {'Gantry/s':>9} {'Apache/s':>9} {'ratio':>6} "
            f"{'p50 us':>8} {'Apache':>8} {'p99 us':>8} {'Apache':>8} {'ratio':>6}"
        )


@dataclass(frozen=True)
class LeftOut:
    """The only line of the table where a tool is missing."""

    tool: str

    def text(self) -> str:
        """Return the line."""
        return f"left out: Apache RocketMQ takes a JDK with a compiler and Maven, and there is no {self.tool}"


def _ratio(ours: float, theirs: float) -> str:
    return f"{ours / theirs:6.2f}" if theirs else " " * 6


CASES: Final[dict[Flush, Sequence[Case]]] = {
    "async": (
        Case.send(1, 128),
        Case.send(1, 1024),
        Case.send(64, 128),
        Case.send(64, 1024),
        Case.send(1, 128, 32),
        Case.send(16, 1024, 32),
        Case("pull backlog, 1 KiB, 4 at once", f"pull {{ns}} {TOPIC}-1024"),
        Case("live, 1 KiB, send to listener", f"live {{ns}} {TOPIC}-live {LIVE_PER_SECOND} 1024 {SECONDS}"),
    ),
    "sync": (Case.send(1, 128), Case.send(1, 1024), Case.send(64, 128), Case.send(64, 1024), Case.send(1, 1024, 32)),
}


def run() -> Iterator[Heading | Compared | Beside | LeftOut]:
    """Measure all cases, or say what is missing for it."""
    missing = missing_tool()
    if missing is not None:
        yield LeftOut(missing)
        return
    CLIENT.build()
    SERVER.build()
    yield Heading()
    flush: Flush
    for flush in ("async", "sync"):
        with (
            tempfile.TemporaryDirectory() as folder,
            started_bench() as bench,
            _servers(Path(folder), flush) as servers,
        ):
            for case in CASES[flush]:
                yield compare(bench, case, *servers, f"{flush} flush")
    yield from large()


def compare(bench: Bench, case: Case, gantry: Side, apache: Side, how: str) -> Compared:
    """Measure one case at both sides in turns; `how` says of both how they were started."""
    ours: list[Figure] = []
    theirs: list[Figure] = []
    for _ in range(ROUNDS):
        ours.append(bench.measure(case.line.format(ns=gantry[0].name_server)))
        theirs.append(bench.measure(case.line.format(ns=apache[0].name_server)))
    return Compared(f"{case.name}, {how}", _better(ours), _better(theirs))


def large() -> Iterator[Heading | Compared | Beside]:
    """Measure what takes a large store: either broker has it in turn, since the disk would hardly hold both."""
    rows = []
    for start in (_gantry, _apache):
        with (
            tempfile.TemporaryDirectory() as folder,
            started_bench() as bench,
            start(Path(folder), "async", _FULL_INDEX) as side,
        ):
            rows.append(_of_large_store(bench, side))
    ours, theirs = rows
    entries = f"{2 * LARGE_MESSAGES / 1e6:,.0f} M index entries"
    yield Compared(f"look up a key among {entries}", ours.search, theirs.search)
    yield Beside(f"resident memory with {entries}, MiB", ours.memory_mib, theirs.memory_mib)
    yield Beside(f"start after kill -9, {ours.log_gib:.1f} GiB of messages, s", ours.recovery_s, theirs.recovery_s)


def _of_large_store(bench: Bench, side: Side) -> Large:
    name_server = side[0].name_server
    bench.measure(f"fill {name_server} {TOPIC} 8 1024 32 {LARGE_MESSAGES}")
    search = bench.measure(f"search {name_server} {TOPIC} {SEARCHES} {LARGE_MESSAGES}")
    memory = sum(map(_anonymous_mib, side))
    log_gib = sum(map(_log_bytes, side)) / 2**30
    for server in side:
        server.stop(kill=True)
    began = time.monotonic()
    with ThreadPoolExecutor(len(side)) as starting:
        list(starting.map(lambda server: server.start(), side))
    recovery = time.monotonic() - began
    _wait_until_listed(side)
    bench.measure(f"search {name_server} {TOPIC} 100 {LARGE_MESSAGES}")
    return Large(search, memory, recovery, log_gib)


def _wait_until_listed(side: Side) -> None:
    """Wait until the name server, which ended with the first broker, knows all of them again."""
    with BlockingSession(side[0].config) as session:
        wait_until(lambda: len(session.run(session.admin.clusters.masters())) == len(side))


def _log_bytes(server: Server) -> int:
    return sum(file.stat().st_blocks * 512 for file in (server.store / "commitlog").iterdir())


def _anonymous_mib(server: Server) -> float:
    """Return what a process holds in memory of its own; mapped files are the system's to drop."""
    assert server.process is not None
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    found = re.search(r"^RssAnon:\s+(\d+) kB", status, re.MULTILINE)
    assert found is not None
    return int(found[1]) / 1024


def _better(rounds: Sequence[Figure]) -> Figure:
    return Figure(
        max(one.per_second for one in rounds), min(one.middle for one in rounds), min(one.late for one in rounds)
    )


@contextmanager
def _servers(folder: Path, flush: Flush) -> Iterator[tuple[Side, Side]]:
    with ExitStack() as running:
        gantry = running.enter_context(_gantry(folder, flush, {}))
        yield gantry, running.enter_context(_apache(folder, flush, {}))


def _gantry(folder: Path, flush: Flush, more: Mapping[str, str]) -> AbstractContextManager[Side]:
    settings = {"mappedFileSizeCommitLog": str(_FILE_BYTES), **_ANY_DISK, **more}

    def start(name: str, name_servers: str | None) -> AbstractContextManager[Server]:
        place = folder / f"gantry-{name}"
        return started_broker(place, flush=flush, settings=settings, broker_name=name, name_servers=name_servers)

    return _started(start)


def _apache(folder: Path, flush: Flush, more: Mapping[str, str]) -> AbstractContextManager[Side]:
    settings = {**_SETTINGS, **more}

    def start(name: str, name_servers: str | None) -> AbstractContextManager[Server]:
        place = folder / f"apache-{name}"
        return started_apache(
            place, flush=flush, settings=settings, options=_SERVER_JVM, broker_name=name, name_servers=name_servers
        )

    return _started(start)


@contextmanager
def _started(start: Callable[[str, str | None], AbstractContextManager[Server]]) -> Iterator[Side]:
    """Start the brokers of one side; `start` takes the name of each, and the name server that has been started."""
    with ExitStack() as running:
        side: list[Server] = []
        for name in broker_names(BROKERS):
            side.append(running.enter_context(start(name, side[0].name_server if side else None)))
        _wait_until_listed(side)
        yield side


class Bench:
    """The Java program that measures."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def measure(self, line: str) -> Figure:
        """Let it run one measurement and return what it printed; raises RuntimeError when it ended."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline().split()
        if len(answer) != 4:
            raise RuntimeError(f"the Java client ended in {line!r}; its words are above")
        messages, seconds, middle, late = map(float, answer)
        return Figure(messages / seconds, middle, late)


@contextmanager
def started_bench() -> Iterator[Bench]:
    """Run the Java program until the block ends."""
    with subprocess.Popen(
        CLIENT.java("gantry.Bench", options=_CLIENT_JVM), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield Bench(process)
        finally:
            process.kill()
