"""Offsets that clients committed at a slave, until its master has them (broker/README.md#metadata-of-the-master)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from broker_core.broker.role import RoleKind, Roles


class QueueOfGroup(NamedTuple):
    """A queue, and the group that reads it."""

    group: str
    topic: str
    queue_id: int


class PassedOn:
    """The newest commit of each queue that the master is to get; a slave alone must not keep one."""

    def __init__(self, roles: Roles) -> None:
        self._roles = roles
        self._waiting: dict[QueueOfGroup, int] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    def __contains__(self, queue: QueueOfGroup) -> bool:
        return queue in self._waiting

    def note(self, group: str, topic: str, queue_id: int, offset: int) -> None:
        """Note a commit; a master keeps its own."""
        if self._roles.now.kind is RoleKind.SLAVE:
            self._waiting[QueueOfGroup(group, topic, queue_id)] = offset

    def above(self, known: Mapping[QueueOfGroup, int]) -> dict[QueueOfGroup, int]:
        """Return the commits that are further than what the master knows; forget the others.

        Its clients may have come back to it and gone on: an older commit must not turn them back.
        """
        self._waiting = {queue: offset for queue, offset in self._waiting.items() if offset > known.get(queue, -1)}
        return dict(self._waiting)

    def done(self, queue: QueueOfGroup, offset: int) -> None:
        """Forget a commit that the master has taken, unless a newer one came."""
        if self._waiting.get(queue) == offset:
            del self._waiting[queue]
