"""Replicas under a controller: for how long sends rest at a change of master, and what their copies cost a send.

Changes of master befall three processes, every link of theirs through a relay; a gap is the longest time between two
acknowledged sends of our own client. A send whose answer was lost is sent again, and a message whose offset was not
committed is delivered again: that is counted too, for each change. How fast sends are is measured with the Java client,
without relays: a master alone, a SYNC_MASTER with one slave, and three replicas of which two must have a message.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import ExitStack, asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from typing import Final

from broker_core.client.admin import Admin
from broker_core.client.blocking import BlockingSession
from broker_core.client.config import ClientConfig
from broker_core.client.session import Session
from broker_core.errors import GantryError
from tests.benchmarks.apache import Bench, Case, Figure, LeftOut, started_bench
from tests.benchmarks.measure import Count, Duration, Row
from tests.compat.java_build import CLIENT, missing_tool
from tests.scenarios.failover.cluster import BROKER_NAME, Group, failover_group
from tests.scenarios.failover.nemesis import Kind, Nemesis
from tests.scenarios.failover.nodes import Node
from tests.scenarios.failover.operations import Record
from tests.scenarios.failover.reading import read_all
from tests.scenarios.failover.switching import Gap, Switching
from tests.scenarios.failover.workloads import clients, until_acknowledged
from tests.support.cluster import RunningBroker, create_topic
from tests.support.ports import free_ports
from tests.support.wait import eventually, wait_until

CHANGES: Final = 10
"""Of each kind."""
PAUSE_SECONDS: Final = 6.0
TOPIC: Final = "gaps"
CASES: Final = (Case.send(1, 1024), Case.send(64, 1024))
_ROUNDS: Final = 2
_SETTINGS: Final = {
    "mappedFileSizeCommitLog": str(512 << 20),
    "diskSpaceCleanForciblyRatio": "99",
    "diskSpaceWarningLevelRatio": "99",
    "diskMaxUsedSpaceRatio": "95",
}

Start = Callable[[Path, ExitStack], str]
"""Starts brokers that the stack ends, and returns the addresses of their name servers."""


def run() -> Iterator[Duration | Row | Count | LeftOut]:
    """Measure the gaps and count what is there twice, and then sends if there is Java."""
    with tempfile.TemporaryDirectory() as folder, failover_group(Path(folder)) as group:
        yield from asyncio.run(_gaps(group))
    missing = missing_tool()
    if missing is not None:
        yield LeftOut(missing)
        return
    CLIENT.build()
    yield from _speeds()


async def _gaps(group: Group) -> list[Duration | Count]:
    rows: list[Duration | Count] = []
    async with _switching(group) as switching:
        kinds: Mapping[str, Callable[[], Awaitable[Gap]]] = {
            "killed": partial(switching.by_fault, Kind.KILL, seconds=0.0),
            "stopped": partial(switching.by_fault, Kind.PAUSE, seconds=PAUSE_SECONDS),
            "changed by hand": switching.by_hand,
        }
        twice_before = Counter[str]()
        for how, change in kinds.items():
            seconds = []
            for _ in range(CHANGES):
                await switching.until_all_in_sync()
                await until_acknowledged(switching.record, switching.record.now(), 10)
                seconds.append((await change()).seconds)
            twice = await _twice(switching)
            rows += [
                Duration(f"no sends: the master was {how}, p50", statistics.median(seconds)),
                Duration(f"no sends: the master was {how}, max", max(seconds)),
                *(
                    Count(f"{what} twice: the master was {how}, each", (twice[what] - twice_before[what]) / CHANGES)
                    for what in twice
                ),
            ]
            twice_before = twice
    return rows


async def _twice(switching: Switching) -> Counter[str]:
    """Return how many messages are in the log again, and were given to the group's consumer again, so far."""
    record = switching.record
    final = await read_all(switching.session, TOPIC, 1, "last")

    def handled() -> set[int]:
        return {work.queue_offset for work in record.works}

    await eventually(lambda: max(handled(), default=-1) >= final[-1].queue_offset, within=60.0)
    return Counter(stored=len(final) - len({read.text for read in final}), delivered=len(record.works) - len(handled()))


@asynccontextmanager
async def _switching(group: Group) -> AsyncIterator[Switching]:
    """Have one producer send, a group consume, and something that changes the master."""
    record, nodes = Record(), {replica.name: replica.node for replica in group.replicas}
    async with Session(group.config()) as session:
        switching = Switching(group, record, session, Nemesis(record, nodes, {}))
        await eventually(partial(_can_create, session))
        async with clients(session, record, TOPIC, 1) as its:
            its.begin(its.produce("producer"), its.consume_in_order("consumer", "gaps"))
            yield switching


async def _can_create(session: Session) -> bool:
    try:
        await create_topic(session, TOPIC, queues=1)
    except GantryError:
        return False
    return True


def _speeds() -> Iterator[Row | Duration]:
    """Measure sends to each kind of master, in turns."""
    starts: Mapping[str, Start] = {"alone": _alone, "a SYNC_MASTER": _static, "three replicas": _replicas}
    with ExitStack() as running:
        client = running.enter_context(started_bench())
        found: dict[str, str] = {}
        for name, start in starts.items():
            found[name] = start(Path(running.enter_context(tempfile.TemporaryDirectory())), running)
            client.measure(Case.send(1, 1024).line.format(ns=found[name]))
        for case in CASES:
            figures = _in_turns(client, case, found)
            one = figures["alone"]
            for name in ("a SYNC_MASTER", "three replicas"):
                each = figures[name]
                yield Row(f"{case.name}, {name}", each.per_second, "msg/s", "alone", one.per_second)
                yield Duration(f"{case.name}, {name}, p99", each.late / 1e6, "alone", one.late / 1e6)


def _in_turns(client: Bench, case: Case, sides: Mapping[str, str]) -> dict[str, Figure]:
    """Return the better round of each."""
    best: dict[str, Figure] = {}
    for _ in range(_ROUNDS):
        for name, address in sides.items():
            figure = client.measure(case.line.format(ns=address))
            best[name] = max(best.get(name, figure), figure, key=lambda each: each.per_second)
    return best


def _alone(folder: Path, running: ExitStack) -> str:
    return _start(RunningBroker(folder / "alone", settings=_SETTINGS), running).name_server


def _static(folder: Path, running: ExitStack) -> str:
    master = _start(RunningBroker(folder / "master", settings=_SETTINGS | {"brokerRole": "SYNC_MASTER"}), running)
    settings, arguments = _SETTINGS | {"brokerRole": "SLAVE"}, ("--broker-id", "1")
    _start(
        RunningBroker(folder / "slave", settings=settings, arguments=arguments, name_servers=master.name_server),
        running,
    )
    return master.name_server


def _replicas(folder: Path, running: ExitStack) -> str:
    address = running.enter_context(_controller(folder))
    settings = _SETTINGS | {"enableControllerMode": "true", "controllerAddr": address, "minInSyncReplicas": "2"}
    for number in range(3):
        _start(
            RunningBroker(
                folder / f"replica-{number}", settings=settings, name_servers=address, broker_name=BROKER_NAME
            ),
            running,
        )
    with BlockingSession(ClientConfig([address])) as session:
        wait_until(lambda: len(session.run(_in_sync(session.admin))) == 3)
    return address


async def _in_sync(admin: Admin) -> list[int]:
    return sorted((await admin.replication.state(BROKER_NAME)).state.in_sync)


def _start(broker: RunningBroker, running: ExitStack) -> RunningBroker:
    running.callback(broker.stop)
    broker.start()
    return broker


@contextmanager
def _controller(folder: Path) -> Iterator[str]:
    """Have a name server with a controller until the block ends."""
    port = free_ports()
    settings = {
        "enableControllerInNamesrv": "true",
        "controllerClusterName": "test",
        "controllerStorePath": str(folder / "controller"),
    }
    words = [word for key, value in settings.items() for word in ("--setting", f"{key}={value}")]
    node = Node("namesrv", folder / "namesrv", "broker_core.namesrv", ("--port", str(port), *words))
    node.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        node.kill()
