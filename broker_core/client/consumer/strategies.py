"""Strategies that choose this member's queues: all members must compute alike (client/README.md#strategies)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Mapping, Sequence
from hashlib import md5
from typing import Final, TypeVar

from broker_core.client.config import Strategy
from broker_core.protocol.allocation import average, average_by_circle
from broker_core.protocol.bodies.queues import MessageQueue

T = TypeVar("T")

_VIRTUAL_NODES: Final = 10


def consistent_hash(client_id: str, queues: Sequence[MessageQueue], client_ids: Sequence[str]) -> list[MessageQueue]:
    """Return the queues whose hash precedes one of this member's ten points on a ring: few move if a member leaves."""
    if client_id not in client_ids:
        return []
    ring = sorted({_ring_hash(f"{member}-{k}"): member for member in client_ids for k in range(_VIRTUAL_NODES)}.items())
    points = [point for point, _ in ring]
    return [queue for queue in queues if ring[_after(points, queue)][1] == client_id]


def fixed(own: Sequence[MessageQueue]) -> Strategy:
    """Return the strategy that always returns `own`."""

    def strategy(_client_id: str, _queues: Sequence[MessageQueue], _client_ids: Sequence[str]) -> list[MessageQueue]:
        return list(own)

    return strategy


def machine_room(rooms: Collection[str]) -> Strategy:
    """Return the strategy that assigns only queues of brokers named ``room@…`` with the room in `rooms`."""

    def strategy(client_id: str, queues: Sequence[MessageQueue], client_ids: Sequence[str]) -> list[MessageQueue]:
        if client_id not in client_ids:
            return []
        near = [queue for queue in queues if _room_of(queue) in rooms]
        index = client_ids.index(client_id)
        share, rest = divmod(len(near), len(client_ids))
        own = near[share * index : share * (index + 1)]
        return own + ([near[index + share * len(client_ids)]] if rest > index else [])

    return strategy


def machine_room_nearby(
    inner: Strategy, *, room_of_queue: Callable[[MessageQueue], str], room_of_client: Callable[[str], str]
) -> Strategy:
    """Return the strategy that shares each room's queues among its members, and those of empty rooms among all."""

    def strategy(client_id: str, queues: Sequence[MessageQueue], client_ids: Sequence[str]) -> list[MessageQueue]:
        if client_id not in client_ids:
            return []
        queues_by_room = _grouped(queues, room_of_queue)
        clients_by_room = _grouped(client_ids, room_of_client)
        own_room = room_of_client(client_id)
        own = inner(client_id, queues_by_room.pop(own_room, []), clients_by_room[own_room])
        for room in sorted(queues_by_room):
            if room not in clients_by_room:
                own += inner(client_id, queues_by_room[room], client_ids)
        return own

    return strategy


def _grouped(things: Sequence[T], key: Callable[[T], str]) -> dict[str, list[T]]:
    groups: dict[str, list[T]] = {}
    for thing in things:
        groups.setdefault(key(thing), []).append(thing)
    return groups


def _room_of(queue: MessageQueue) -> str | None:
    parts = queue.broker_name.split("@")
    return parts[0] if len(parts) == 2 else None


def _ring_hash(text: str) -> int:
    return int.from_bytes(md5(text.encode(), usedforsecurity=False).digest()[:4], "big")


def _after(points: Sequence[int], queue: MessageQueue) -> int:
    key = f"MessageQueue [topic={queue.topic}, brokerName={queue.broker_name}, queueId={queue.queue_id}]"
    return bisect_left(points, _ring_hash(key)) % len(points)


STRATEGIES: Final[Mapping[str, Strategy]] = {
    "AVG": average,
    "AVG_BY_CIRCLE": average_by_circle,
    "CONSISTENT_HASH": consistent_hash,
}
