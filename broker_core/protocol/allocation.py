"""Assigning the queues of a topic to group members; all members and brokers compute the same result."""

from __future__ import annotations

from collections.abc import Sequence

from broker_core.protocol.bodies.queues import MessageQueue


def average(client_id: str, queues: Sequence[MessageQueue], client_ids: Sequence[str]) -> list[MessageQueue]:
    """Return one contiguous run of queues; if they do not divide evenly, the first members get one more."""
    if client_id not in client_ids:
        return []
    index, members, total = client_ids.index(client_id), len(client_ids), len(queues)
    share, rest = divmod(total, members)
    start = index * share + min(index, rest)
    return list(queues[start : start + share + (index < rest)])


def average_by_circle(client_id: str, queues: Sequence[MessageQueue], client_ids: Sequence[str]) -> list[MessageQueue]:
    """Return every n-th queue, as cards are dealt."""
    if client_id not in client_ids:
        return []
    return list(queues[client_ids.index(client_id) :: len(client_ids)])
