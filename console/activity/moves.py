"""Which queues of a group moved from one client to another, from what its members say themselves.

The members are asked one after the other, so while queues move one of them may be claimed by nobody: a move is told
when its new reader is known.
"""

from __future__ import annotations

from collections.abc import Mapping

from broker_core.protocol.bodies import MessageQueue
from broker_core.protocol.bodies.heartbeat import MessageModel
from console.activity.shapes import MOST_MOVES, ActivityEvent, QueueMove
from console.lag.reading import LagReading
from console.moments import rfc3339

_Owners = Mapping[MessageQueue, str]


class MovesSeen:
    """Follows the readers of the queues of one cluster's groups."""

    def __init__(self) -> None:
        self._last: dict[str, _Owners] = {}
        self._readers: dict[str, dict[MessageQueue, str]] = {}

    def step(self, reading: LagReading) -> list[ActivityEvent]:
        """Return what moved since the reading before; nothing of a group whose members are heard for the first time."""
        found = []
        for group, owners in reading.owners.items():
            if self._last.get(group) is owners:
                continue
            self._last[group] = owners
            members = reading.members(group)
            # Of a group that broadcasts every client reads every queue.
            if owners and (members is None or members.message_model is not MessageModel.BROADCASTING):
                found += self._compare(reading, group, owners)
        for gone in self._last.keys() - reading.owners.keys():
            del self._last[gone]
        for gone in self._readers.keys() - reading.groups.keys():
            del self._readers[gone]
        return found

    def _compare(self, reading: LagReading, group: str, owners: _Owners) -> list[ActivityEvent]:
        before = self._readers.get(group)
        known = self._readers[group] = {**(before or {}), **owners}
        if before is None:
            return []
        moved = sorted(queue for queue, client in owners.items() if before.get(queue) != client)
        if not moved:
            return []
        moves = [
            QueueMove(
                topic=queue.topic,
                broker=queue.broker_name,
                queue_id=queue.queue_id,
                from_client=before.get(queue),
                to_client=known[queue],
            )
            for queue in moved[:MOST_MOVES]
        ]
        at = rfc3339(reading.at)
        return [ActivityEvent(seen_at=at, kind="group_rebalanced", group=group, moves=moves, moves_total=len(moved))]
