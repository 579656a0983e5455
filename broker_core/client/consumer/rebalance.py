"""Rebalancing: the change from the held queues to the allotted queues (client/README.md#rebalance). Pure functions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from broker_core.client.config import Strategy
from broker_core.protocol.bodies.queues import MessageQueue


@dataclass(frozen=True, slots=True)
class Change:
    """Queues to give up and queues to start reading, both in queue order."""

    dropped: tuple[MessageQueue, ...] = ()
    added: tuple[MessageQueue, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.dropped or self.added)


def allot(
    client_id: str, queues: Iterable[MessageQueue], client_ids: Collection[str], strategy: Strategy
) -> list[MessageQueue]:
    """Return this member's share of `queues`; all members sort both lists alike, so no queue is assigned twice."""
    all_queues = sorted(set(queues))
    members = sorted(set(client_ids))
    if not all_queues or not members:
        return []
    return strategy(client_id, all_queues, members)


def change(held: Collection[MessageQueue], allotted: Sequence[MessageQueue]) -> Change:
    """Return the queues to drop and to add so that `held` becomes `allotted`."""
    wanted = set(allotted)
    dropped = sorted(queue for queue in held if queue not in wanted)
    added = sorted(queue for queue in wanted if queue not in held)
    return Change(tuple(dropped), tuple(added))
