"""Changes of master of a group under controllers: made by faults or by hand, awaited, and measured."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from broker_core.client.admin import Admin
from broker_core.client.session import Session
from broker_core.errors import GantryError
from broker_core.protocol.bodies.controller import NameState
from tests.scenarios.failover.cluster import BROKER_NAME, Group, Replica
from tests.scenarios.failover.nemesis import Kind, Nemesis, Step
from tests.scenarios.failover.operations import Fault, Outcome, Record
from tests.scenarios.failover.workloads import until_acknowledged
from tests.support.wait import eventually

SWITCH: Final = "switch"
PLANNED: Final = "planned"
_AGAIN_S: Final = 1.0


@dataclass(frozen=True)
class Gap:
    """How long nobody was answered 0 around a change of master."""

    why: str
    seconds: float


@dataclass
class Switching:
    """Makes another replica master, again and again."""

    group: Group
    record: Record
    session: Session
    nemesis: Nemesis

    async def state(self) -> NameState:
        """Return what the controllers have decided; raises GantryError."""
        return (await Admin(self.session).replication.state(BROKER_NAME)).state

    async def master(self) -> Replica:
        """Return the replica that is the master; raises GantryError, or KeyError while there is none."""
        state = await self.state()
        if state.master is None:
            raise KeyError(BROKER_NAME)
        return self.replica_at(state.replicas[state.master.id].address)

    def replica_at(self, address: str) -> Replica:
        """Return the replica that announces an address."""
        return {replica.address: replica for replica in self.group.replicas}[address]

    async def until_all_in_sync(self) -> None:
        """Wait until every replica is in the in-sync set."""

        async def is_whole() -> bool:
            try:
                return len((await self.state()).in_sync) == len(self.group.replicas)
            except GantryError:
                return False

        await eventually(is_whole, within=90.0)

    async def leading_controller(self) -> str:
        """Return the name of the process whose controller leads; waits until there is one."""
        nodes = dict(zip(self.group.name_server_addresses, self.group.name_servers, strict=True))

        async def leading() -> list[str]:
            found = (await Admin(self.session).replication.controllers()).found
            return [nodes[address].name for address, status in found.items() if status.is_leading]

        await eventually(leading)
        return (await leading())[0]

    async def by_fault(self, kind: Kind, *, seconds: float, beside: Sequence[Step] = (), why: str = "") -> Gap:
        """Let a fault befall the master that lasts so long, and at least until another one answers a send by 0.

        Those `beside` it begin at the same time.
        """
        old = await self.master()
        target = old.name if kind in (Kind.KILL, Kind.PAUSE) else f"around {old.name}"
        began = self.record.now()
        async with self.nemesis.fault(kind, target):
            others = (self.nemesis.run([step]) for step in beside)
            await asyncio.gather(self._until_other(old, began), asyncio.sleep(seconds), *others)
        return Gap(why or kind, self._silence(began))

    async def by_restart(self) -> Gap:
        """Kill the master and start it again at once; who is master then, the controllers decide."""
        old, began = await self.master(), self.record.now()
        async with self.nemesis.fault(Kind.KILL, old.name):
            pass
        await until_acknowledged(self.record, self.record.now(), 3)
        self.record.add(Fault(SWITCH, old.name, began, self.record.now()))
        return Gap("restart", self._silence(began))

    async def by_hand(self, wanted: Replica | None = None) -> Gap:
        """Make another member of the in-sync set master, or the one that is wanted."""
        state, began = await self.state(), self.record.now()
        assert state.master is not None
        old = state.master.id
        others = [each for each in state.in_sync if each != old]
        chosen = next(each for each in others if wanted in (None, self.replica_at(state.replicas[each].address)))
        await Admin(self.session).replication.elect(BROKER_NAME, chosen)
        await self._until_other(self.replica_at(state.replicas[old].address), began)
        return Gap(PLANNED, self._silence(began))

    async def _until_other(self, old: Replica, began: float) -> None:
        async def is_other() -> bool:
            try:
                return (await self.master()) is not old
            except (GantryError, KeyError):
                return False

        await eventually(is_other, within=60.0)
        await until_acknowledged(self.record, self.record.now(), 3)
        self.record.add(Fault(SWITCH, old.name, began, self.record.now()))

    def _silence(self, began: float) -> float:
        """Return the longest time between two acknowledged sends from just before a moment on."""
        ends = sorted(send.ended for send in self.record.sends if send.outcome is Outcome.ACKNOWLEDGED)
        before = max((end for end in ends if end <= began), default=began)
        times = [before, *(end for end in ends if end > began)]
        return max((later - earlier for earlier, later in pairwise(times)), default=0.0)


def told(gaps: Sequence[Gap]) -> str:
    """Return a line for each kind of change: how often, and the middle and the longest gap."""
    lines = []
    for why in sorted({gap.why for gap in gaps}):
        of_kind = sorted(gap.seconds for gap in gaps if gap.why == why)
        middle, longest = of_kind[len(of_kind) // 2], of_kind[-1]
        lines.append(f"{why:<22} {len(of_kind):>4} times, write gap p50 {middle:6.2f} s, longest {longest:6.2f} s")
    return "\n".join(lines)
