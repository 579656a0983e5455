"""What the processes of a broker name say of themselves, and of what was decided about their name."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Final, TypeVar

from broker_core.client.admin import Admin
from broker_core.client.admin.clusters import BrokerRuntime
from broker_core.client.answers import Answers, ask_all
from broker_core.protocol.bodies.controller import NameState
from broker_core.protocol.bodies.replicas import EpochEntryCache, HaRuntimeInfo

T = TypeVar("T")

PROCESS_MS: Final = 1_000
"""A frozen process, also of a name server, must not keep back what the others say, as who became master instead."""


@dataclass(frozen=True, slots=True)
class Heard:
    """The answers of the processes that were asked, by address; only replicas with failover know epochs and states."""

    runtimes: Answers[BrokerRuntime] = field(default_factory=Answers)
    copying: Answers[HaRuntimeInfo] = field(default_factory=Answers)
    epochs: Answers[EpochEntryCache] = field(default_factory=Answers)
    states: Answers[NameState] = field(default_factory=Answers)

    def newest(self, name: str) -> NameState | None:
        """Return the newest state of a broker name that any of them knows; another name's says nothing of it."""
        told = [each for each in self.states.found.values() if each.name == name]
        return max(told, key=lambda each: each.view, default=None)


async def hear(admin: Admin, name: str, addresses: Iterable[str]) -> Heard:
    """Ask each process at once, and those that the newest state of the name has elsewhere too."""
    asked = set(addresses)
    first = await _hear(admin, name, asked)
    newest = first.newest(name)
    elsewhere = set() if newest is None else {each.address for each in newest.replicas.values()} - asked
    if not elsewhere:
        return first
    second = await _hear(admin, name, elsewhere)
    return Heard(
        _both(first.runtimes, second.runtimes),
        _both(first.copying, second.copying),
        _both(first.epochs, second.epochs),
        _both(first.states, second.states),
    )


async def _hear(admin: Admin, name: str, addresses: Collection[str]) -> Heard:
    runtimes = await ask_all(addresses, lambda addr: admin.clusters.runtime_of(addr, timeout_ms=PROCESS_MS))
    led = [addr for addr, each in runtimes.found.items() if each.figure("replicaId") is not None]
    copying, epochs, states = await asyncio.gather(
        ask_all(runtimes.found, lambda addr: admin.replication.streams(addr, timeout_ms=PROCESS_MS)),
        ask_all(led, lambda addr: admin.replication.epochs(addr, timeout_ms=PROCESS_MS)),
        ask_all(led, lambda addr: admin.replication.told_by(addr, name, timeout_ms=PROCESS_MS)),
    )
    return Heard(runtimes, copying, epochs, states)


def _both(one: Answers[T], other: Answers[T]) -> Answers[T]:
    return Answers({**one.found, **other.found}, {**one.failed, **other.failed})
