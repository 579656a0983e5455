"""Messages of one queue that were pulled and are not done yet (client/README.md#reading-a-queue)."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from broker_core.client.config import PushConfig
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.message import StoredMessage


class QueueBuffer:
    """Messages of one queue in queue order; computes the offset to commit and whether there is room for more.

    A message stays here from the pull until it is `done`, so the offset to commit never passes one that is still
    being handled: after a crash everything from it on is delivered again, and nothing is lost.
    """

    def __init__(self, queue: MessageQueue, config: PushConfig) -> None:
        self.queue = queue
        self.dropped = False
        self.last_pull = 0
        self.last_consume = 0
        self._config = config
        self._held: dict[int, StoredMessage] = {}
        self._waiting: deque[StoredMessage] = deque()
        self._bytes = 0
        self._next_commit = -1
        self.max_messages = config.queue_max_messages
        self.max_bytes = config.queue_max_bytes

    def __len__(self) -> int:
        return len(self._held)

    @property
    def size_bytes(self) -> int:
        """Total bytes of the bodies."""
        return self._bytes

    @property
    def span(self) -> int:
        """Distance between the first and the last queue offset."""
        bounds = self.bounds
        return bounds[1] - bounds[0] if bounds else 0

    @property
    def bounds(self) -> tuple[int, int] | None:
        """First and last queue offset; None when empty."""
        # Messages are added in queue order and keep their place, so the ends of the map are the bounds.
        return (next(iter(self._held)), next(reversed(self._held))) if self._held else None

    @property
    def is_full(self) -> bool:
        """Whether pulling must pause: too many messages, too many bytes, or one message that blocks too many others."""
        if len(self._held) > self.max_messages or self._bytes > self.max_bytes:
            return True
        return not self._config.orderly and len(self._held) > 1 and self.span > self._config.queue_max_span

    def share_limits(self, queues: int) -> None:
        """Set this queue's share of the topic's limits; `queues` is how many of the topic's queues are read here."""
        if self._config.topic_max_messages > 0:
            self.max_messages = max(1, self._config.topic_max_messages // queues)
        if self._config.topic_max_bytes > 0:
            self.max_bytes = max(1, self._config.topic_max_bytes // queues)

    def put(self, messages: Sequence[StoredMessage]) -> None:
        """Add pulled messages; those already present are skipped."""
        for message in messages:
            if message.queue_offset not in self._held:
                self._held[message.queue_offset] = message
                self._waiting.append(message)
                self._bytes += len(message.body)
                self._next_commit = max(self._next_commit, message.queue_offset + 1)

    def take(self) -> StoredMessage | None:
        """Return the next message to handle, or None; it stays here until `done` or `put_back`."""
        return self._waiting.popleft() if self._waiting else None

    def put_back(self, message: StoredMessage) -> None:
        """Make `message` the next one to handle."""
        if message.queue_offset in self._held:
            self._held[message.queue_offset] = message
            self._waiting.appendleft(message)

    def done(self, message: StoredMessage) -> int | None:
        """Remove `message`; return the offset that may be committed now, or None if the message is not here."""
        held = self._held.pop(message.queue_offset, None)
        if held is None:
            return None
        self._bytes -= len(held.body)
        return next(iter(self._held), self._next_commit)

    def passed(self, next_offset: int) -> int | None:
        """Skip to `next_offset`; return the offset that may be committed, None while messages wait.

        This moves the committed offset past filtered messages: without it the lag would never reach zero.
        """
        if self._held:
            return None
        self._next_commit = max(self._next_commit, next_offset)
        return next_offset

    def drop(self) -> None:
        """Give up the queue: none of its messages is handled or committed any more."""
        self.dropped = True
        self._waiting.clear()
