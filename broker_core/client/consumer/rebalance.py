"""Who reads what: the change from the queues held to the queues allotted (client/README.md#rebalance). Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from broker_core.client.config import Strategy
from broker_core.protocol.bodies.queues import MessageQueue


@dataclass(frozen=True, slots=True)
class Change:
    """Queues to give up and queues to start with, both in queue order."""

    dropped: tuple[MessageQueue, ...] = ()
    added: tuple[MessageQueue, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.dropped or self.added)


def allot(
    client_id: str, queues: Iterable[MessageQueue], client_ids: Collection[str], strategy: Strategy
) -> list[MessageQueue]:
    """Return my share of `queues`; all members sort both lists the same way, so no queue is given twice."""
    all_queues = sorted(set(queues))
    members = sorted(set(client_ids))
    if not all_queues or not members:
        return []
    return strategy(client_id, all_queues, members)


def change(held: Collection[MessageQueue], allotted: Sequence[MessageQueue]) -> Change:
    """Return what has to be dropped and added so that `held` becomes `allotted`."""
    wanted = set(allotted)
    dropped = sorted(queue for queue in held if queue not in wanted)
    added = sorted(queue for queue in wanted if queue not in held)
    return Change(tuple(dropped), tuple(added))
