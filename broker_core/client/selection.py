"""Choosing the queue of a message (client/README.md#choosing-a-queue)."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace

from broker_core.client.faults import FaultAvoidance, Faults
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.string_hash import string_hash

_START_BELOW = 2**31


class QueuePicker:
    """Cycles through the queues of one topic, skipping the broker that just failed and those to be avoided."""

    def __init__(self, queues: Sequence[MessageQueue], *, start: int | None = None) -> None:
        self.queues = tuple(queues)
        self._next = random.randrange(_START_BELOW) if start is None else start  # noqa: S311

    def pick(self, faults: Faults, *, now: int, last_broker: str | None = None) -> MessageQueue | None:
        """Return the next queue, or None if the topic has none."""
        if not self.queues:
            return None
        if faults.avoidance is FaultAvoidance.V4:
            return self._pick_as_4(faults, now)
        if last_broker is None and not faults:
            return self._step()
        if faults.avoidance is FaultAvoidance.V5:
            return self._pick_as_5(faults, now, last_broker)
        return self._first(lambda queue: queue.broker_name != last_broker) or self._step()

    def _pick_as_4(self, faults: Faults, now: int) -> MessageQueue:
        """Return a queue of an available broker, else one of the better half of the recorded brokers."""
        start = self._next
        first = self._step()
        for queue in (self.queues[(start + k) % len(self.queues)] for k in range(len(self.queues))):
            if faults.is_available(queue.broker_name, now=now):
                return queue
        name = faults.pick_one_at_least(now=now)
        if name is None:
            return first
        count = sum(queue.broker_name == name for queue in self.queues)
        queue = self._step()
        if not count:
            faults.forget(name)
            return queue
        index = self._next % count
        self._step()
        return replace(queue, broker_name=name, queue_id=index)

    def _pick_as_5(self, faults: Faults, now: int, last_broker: str | None) -> MessageQueue:
        """Return a queue of an available broker that has not just failed, else of any that has not, else of any."""

        def is_other(queue: MessageQueue) -> bool:
            return queue.broker_name != last_broker

        def is_good(queue: MessageQueue) -> bool:
            return is_other(queue) and faults.is_available(queue.broker_name, now=now)

        return self._first(is_good) or self._first(is_other) or self._step()

    def _first(self, wanted: Callable[[MessageQueue], bool]) -> MessageQueue | None:
        for _ in self.queues:
            queue = self._step()
            if wanted(queue):
                return queue
        return None

    def _step(self) -> MessageQueue:
        queue = self.queues[self._next % len(self.queues)]
        self._next += 1
        return queue


def queue_for_key(queues: Sequence[MessageQueue], key: str) -> MessageQueue:
    """Return the queue that Java's select-by-hash chooses for the same key and queues; ValueError for no queues."""
    if not queues:
        raise ValueError("there is no queue to choose: none of the topic's queues is writable")
    return queues[abs(string_hash(key)) % len(queues)]
