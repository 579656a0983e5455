"""Which queue a message goes to (behaviour.md D.4)."""

from __future__ import annotations

import random
from collections.abc import Sequence

from broker_core.client.faults import Faults
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.string_hash import string_hash


class QueuePicker:
    """Goes round the queues of one topic, away from the broker that just failed and from those that pause."""

    def __init__(self, queues: Sequence[MessageQueue], *, start: int | None = None) -> None:
        self.queues = tuple(queues)
        self._next = random.randrange(max(1, len(self.queues))) if start is None else start  # noqa: S311

    def pick(self, faults: Faults, *, now: int, last_broker: str | None = None) -> MessageQueue | None:
        """Return the next queue, or None when the topic has none.

        The order of preference: an available broker other than `last_broker`, an available one, another one, any.
        """
        if not self.queues:
            return None
        if last_broker is None and not faults:
            return self._step()
        return self._pick_with_care(faults, now, last_broker)

    def _pick_with_care(self, faults: Faults, now: int, last_broker: str | None) -> MessageQueue:
        best, best_score = None, -1
        for _ in range(len(self.queues)):
            queue = self._step()
            available = faults.is_available(queue.broker_name, now=now)
            score = 2 * available + (queue.broker_name != last_broker)
            if score == 3:
                return queue
            if score > best_score:
                best, best_score = queue, score
        assert best is not None
        return best

    def _step(self) -> MessageQueue:
        index = self._next % len(self.queues)
        self._next = index + 1
        return self.queues[index]


def queue_for_key(queues: Sequence[MessageQueue], key: str) -> MessageQueue:
    """Return the queue that Java's select-by-hash takes for the same key and queue list (behaviour.md D.5)."""
    return queues[abs(string_hash(key)) % len(queues)]
