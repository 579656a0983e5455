"""Changes of leases, as values: recorded before the request is answered, and applied again after a restart.

`Opened` assigns a number to a queue of a group; all other changes carry only the number. `journal.py` writes these
changes, and `leases.py` applies them. Times are ms since 1970.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Opened:
    """A group starts, possibly again, to consume a queue by lease at `start`; earlier leases there are discarded."""

    queue: int
    group: str
    topic: str
    queue_id: int
    start: int


@dataclass(frozen=True, slots=True)
class Leased:
    """Messages were delivered, due or new; those below `next_offset` that are neither listed nor held are done."""

    queue: int
    next_offset: int
    pop_time: int
    visible_at: int
    offsets: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """A message is done."""

    queue: int
    offset: int


@dataclass(frozen=True, slots=True)
class AllAcknowledged:
    """The messages of one acknowledgement are done."""

    queue: int
    offsets: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Held:
    """A message is on lease until `visible_at`, whatever its state before: an extension, or a line of a snapshot."""

    queue: int
    offset: int
    pop_time: int
    visible_at: int
    deliveries: int
    first_pop_time: int = 0
    """Time of the first delivery, ms; 0 in older journals, which do not record it."""


@dataclass(frozen=True, slots=True)
class Failed:
    """A consumer returned a message and said why; empty if it gave no reason."""

    queue: int
    offset: int
    reason: str


@dataclass(frozen=True, slots=True)
class QueueClosed:
    """A group stops consuming a queue: the topic or the group was deleted."""

    queue: int


@dataclass(frozen=True, slots=True)
class Replaced:
    """Another broker lends from now on: all leases are those that `changes` make."""

    changes: tuple[Change, ...]


Change = Opened | Leased | Acknowledged | AllAcknowledged | Held | Failed | QueueClosed | Replaced
