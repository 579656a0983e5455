"""What befalls processes, links and disks: each fault begins, lasts and ends, and is put on record.

Faults come from a schedule that a seed draws, so that one that found something can be told again.
"""

from __future__ import annotations

import asyncio
import errno
import os
import random
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final, Protocol

from tests.scenarios.failover.cluster import Wires
from tests.scenarios.failover.operations import Fault, Record

_SLOW_BYTES_A_SECOND: Final = 50_000
_BALLAST_BYTES: Final = 65_536


class Kind(StrEnum):
    """A fault."""

    KILL = "kill"
    """SIGKILL, and a start when it is over."""
    PAUSE = "pause"
    """SIGSTOP, and SIGCONT when it is over."""
    CUT = "cut"
    STALL = "stall"
    ONE_WAY = "one way"
    SLOW = "slow"


@dataclass(frozen=True)
class Step:
    """One fault of a schedule. `target` is the name of a process, or of links."""

    kind: Kind
    target: str
    seconds: float
    calm_s: float
    """How long nothing happens after it."""


OF_NODES: Final = (Kind.KILL, Kind.PAUSE)
OF_LINKS: Final = (Kind.CUT, Kind.STALL, Kind.ONE_WAY, Kind.SLOW)


def schedule(
    seed: int,
    count: int,
    *,
    nodes: Sequence[str],
    links: Sequence[str],
    longest_s: float = 8.0,
    calm_s: float = 2.0,
    at_once: float = 0.3,
) -> list[Step]:
    """Return so many faults; a share `at_once` of killed processes comes back in no time."""
    rng = random.Random(seed)
    targets = [(kind, name) for kind in OF_NODES for name in sorted(nodes)]
    targets += [(kind, name) for kind in OF_LINKS for name in sorted(links)]
    steps = []
    for _ in range(count):
        kind, target = rng.choice(targets)
        seconds = 0.0 if kind is Kind.KILL and rng.random() < at_once else rng.uniform(0.2, longest_s)
        steps.append(Step(kind, target, seconds, rng.uniform(0.1, calm_s)))
    return steps


class Process(Protocol):
    """What a fault befalls: a process of Gantry, or a member of etcd."""

    def start(self) -> None:
        """Begin a life."""

    def kill(self) -> None:
        """End it as ``kill -9`` does."""

    def pause(self) -> None:
        """Stop it for a while."""

    def resume(self) -> None:
        """Let it go on."""


class Nemesis:
    """Does faults to the processes and links of these names."""

    def __init__(self, record: Record, nodes: Mapping[str, Process], links: Mapping[str, Wires]) -> None:
        self._record = record
        self._nodes = nodes
        self._links = links

    async def run(self, steps: Sequence[Step]) -> None:
        """Do one fault after the other."""
        for step in steps:
            async with self.fault(step.kind, step.target):
                await asyncio.sleep(step.seconds)
            await asyncio.sleep(step.calm_s)

    def fault(self, kind: Kind, target: str) -> AbstractAsyncContextManager[None]:
        """Return a fault that lasts as long as the block."""
        if kind is Kind.KILL:
            return self._killed(target)
        if kind is Kind.PAUSE:
            node = self._nodes[target]
            return self._lasting(kind, target, node.pause, node.resume)
        wires = self._links[target]
        begin = {
            Kind.CUT: wires.cut,
            Kind.STALL: wires.stall,
            Kind.ONE_WAY: wires.stall_from_first,
            Kind.SLOW: lambda: wires.slow(_SLOW_BYTES_A_SECOND),
        }[kind]
        return self._lasting(kind, target, begin, wires.heal)

    @asynccontextmanager
    async def _killed(self, target: str) -> AsyncIterator[None]:
        node, began = self._nodes[target], self._record.now()
        await asyncio.to_thread(node.kill)
        try:
            yield
        finally:
            await asyncio.to_thread(node.start)
            self._record.add(Fault(Kind.KILL, target, began, self._record.now()))

    @asynccontextmanager
    async def _lasting(
        self, kind: Kind, target: str, begin: Callable[[], None], end: Callable[[], None]
    ) -> AsyncIterator[None]:
        began = self._record.now()
        await asyncio.to_thread(begin)
        try:
            yield
        finally:
            await asyncio.to_thread(end)
            self._record.add(Fault(kind, target, began, self._record.now()))


@asynccontextmanager
async def full_disk(record: Record, folder: Path) -> AsyncIterator[None]:
    """Leave no byte on the disk of a folder as long as the block lasts; it should be a small one."""
    began, ballast = record.now(), folder / "ballast"
    await asyncio.to_thread(_fill, ballast)
    try:
        yield
    finally:
        await asyncio.to_thread(ballast.unlink)
        record.add(Fault("full disk", str(folder), began, record.now()))


def _fill(ballast: Path) -> None:
    with ballast.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(_BALLAST_BYTES))
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
        os.fsync(file.fileno())
