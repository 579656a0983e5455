"""Asks replicas that are in no round of the sampler, since no name server lists them, whether they are held."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import partial

from broker_core.client.admin import Admin
from broker_core.client.answers import ask_all
from console.replicas.held import held_of
from console.replicas.processes import PROCESS_MS
from console.replicas.rounds import EVERY_MS, Rounds
from console.replicas.shapes import HeldReplica

Place = tuple[str, int]
"""An address, and the id of the replica that was there."""


class AwayReplicas:
    """Asks in rounds, one at a time, at the addresses that were known last."""

    def __init__(self, cluster: str) -> None:
        self._rounds = Rounds(f"replicas of {cluster} that are away", EVERY_MS)
        self.held: Mapping[Place, HeldReplica] = {}
        """Those of the last round that said so; who is silent, or another one now, is not among them."""

    def begin(self, admin: Admin, away: Collection[Place], now: int) -> None:
        """Begin a round at `now` (ms) if one is due and none is running."""
        self._rounds.begin(now, lambda: self.look(admin, away))

    async def look(self, admin: Admin, away: Iterable[Place]) -> None:
        """Ask all of them at once."""
        self.held = await held_among(admin, away)

    async def close(self) -> None:
        """Cancel a running round."""
        await self._rounds.close()


async def held_among(admin: Admin, away: Iterable[Place]) -> dict[Place, HeldReplica]:
    """Return those that answer within a second as this replica, and say that they are held."""
    places = set(away)
    said = await ask_all({addr for addr, _ in places}, partial(admin.clusters.runtime_of, timeout_ms=PROCESS_MS))
    found = {}
    for addr, number in places:
        runtime = said.found.get(addr)
        # A process that lost its folder has a new id where the old one was.
        if runtime is not None and runtime.figure("replicaId") == number and (held := held_of(runtime)) is not None:
            found[addr, number] = held
    return found
