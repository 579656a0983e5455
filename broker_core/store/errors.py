"""Errors of a store.

::

    StoreError
     ├─ StoreLocked           this or another process has the folder open for writing
     ├─ Corrupt               files contradict each other or the configuration; nothing was changed
     ├─ StoreFull             no space left on the disk; nothing was stored
     ├─ FlushFailed           the disk reported a failed flush; nothing more is accepted
     ├─ StoreClosed
     ├─ NotInLog              the log does not reach to a log offset, or not back to it
     ├─ NotTheEnd             replicated bytes that do not continue the log
     ├─ LogDamaged            replicated bytes that are no record
     ├─ StoreFollows          the log is that of a master: no message may be put before the store takes over
     ├─ TooFarBehind          too many messages wait for the dispatcher, which a limit holds back
     ├─ MessageDamaged        one message is damaged; its neighbours are not
     ├─ MessageUnstorable     a topic, size or property that cannot be stored
     ├─ TooManyQueues         the limit of queues is reached
     └─ QueueNotFound         no such queue
"""

from __future__ import annotations

from pathlib import Path

from broker_core.errors import GantryError


class StoreError(GantryError):
    """The store cannot carry out an operation."""


class StoreLocked(StoreError):
    """Raised when the folder is already open for writing; nothing was read or changed."""

    def __init__(self, folder: Path, holder: str) -> None:
        super().__init__(f"the store {folder} is in use by {holder}")
        self.folder = folder
        self.holder = holder


class Corrupt(StoreError):
    """Raised when a file of the store contradicts its name, its neighbours or the configuration."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


class StoreFull(StoreError):
    """Raised when the disk has no room for a write; nothing was written."""

    def __init__(self, path: Path, needed: int | None = None) -> None:
        """`needed` is in bytes; None if it is not known how many."""
        what = f"{path}" if needed is None else f"{needed} more bytes of {path}"
        super().__init__(f"no space left on the disk for {what}")
        self.path = path
        self.needed = needed


class FlushFailed(StoreError):
    """Raised when the disk reports that written data is lost; data that is not flushed yet counts as lost too."""


class StoreClosed(StoreError):
    """Raised when a closed store is used."""


class NotInLog(StoreError):
    """Raised when a log offset is before the first record or beyond the last byte of the log."""

    def __init__(self, log_offset: int, begin: int, end: int) -> None:
        super().__init__(f"log offset {log_offset} is not in the log, which has {begin} to {end}")
        self.log_offset = log_offset


class NotTheEnd(StoreError):
    """Raised when replicated bytes begin elsewhere than at `expected`, where the log goes on; nothing was stored."""

    def __init__(self, log_offset: int, expected: int) -> None:
        super().__init__(f"bytes from log offset {log_offset} do not continue the log, which goes on at {expected}")
        self.log_offset = log_offset
        self.expected = expected


class LogDamaged(StoreError):
    """Raised when replicated bytes are no record; nothing is kept from `log_offset` on, where it should begin."""

    def __init__(self, log_offset: int, reason: str) -> None:
        super().__init__(f"the log that is followed is damaged at log offset {log_offset}: {reason}")
        self.log_offset = log_offset
        self.reason = reason


class StoreFollows(StoreError):
    """Raised for a message while the store follows a master (`MessageStore.take_over`); nothing was stored."""

    def __init__(self, folder: Path) -> None:
        super().__init__(f"the store {folder} follows the log of a master, and has not taken over")


class TooFarBehind(StoreError):
    """Raised for a message when as many as may wait are held back (`MessageStore.limit_dispatch`); try again later."""

    def __init__(self, waiting: int, limit: int) -> None:
        super().__init__(
            f"{waiting} messages wait to become readable, held back at log offset {limit}: try again later"
        )
        self.waiting = waiting


class MessageUnstorable(StoreError):
    """Raised for a message that exceeds the format or the limits of the store; `reason` says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class MessageDamaged(StoreError):
    """Raised or returned for one damaged message; `reason` describes the damage.

    `topic`, `queue_id` and `queue_offset` come from the queue, or otherwise from the record; -1 means unknown.
    """

    def __init__(self, topic: str, queue_id: int, queue_offset: int, log_offset: int, reason: str) -> None:
        where = f"topic={topic} queue={queue_id} offset={queue_offset}" if queue_id >= 0 else "a message"
        super().__init__(f"{where} at log offset {log_offset} is damaged: {reason}")
        self.topic = topic
        self.queue_id = queue_id
        self.queue_offset = queue_offset
        self.log_offset = log_offset
        self.reason = reason


class TooManyQueues(StoreError):
    """Raised when a message needs a new queue and the limit of queues is reached; nothing was stored."""

    def __init__(self, topic: str, queue_id: int, limit: int) -> None:
        super().__init__(f"limit queues={limit} reached: queue {queue_id} of topic {topic} was not created")
        self.limit = limit


class QueueNotFound(StoreError):
    """Raised when a queue never had a message."""

    def __init__(self, topic: str, queue_id: int) -> None:
        super().__init__(f"topic {topic} has no queue {queue_id}")
        self.topic = topic
        self.queue_id = queue_id
