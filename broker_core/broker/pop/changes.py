"""What can happen to leases, as values: recorded before it is answered, and made again after a restart.

A queue of a group is named by a number, which `Opened` gives; all other changes carry the number alone. The journal
writes exactly these (`journal.py`), the leases make exactly these (`leases.py`). Times are ms since 1970.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Opened:
    """A group begins, or begins again, to take from a queue at `start`; what it held there is forgotten."""

    queue: int
    group: str
    topic: str
    queue_id: int
    start: int


@dataclass(frozen=True, slots=True)
class Leased:
    """Messages went out, due or new; what is neither named nor held below `next_offset` is done."""

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
class Held:
    """A message is on lease until `visible_at`, whatever was before: an extension, or a line of a snapshot."""

    queue: int
    offset: int
    pop_time: int
    visible_at: int
    deliveries: int
    first_pop_time: int = 0
    """When the message first went out; 0 in journals of before that was written."""


@dataclass(frozen=True, slots=True)
class Closed:
    """A group takes no more from a queue: its topic or the group itself is gone."""

    queue: int


Change = Opened | Leased | Acknowledged | Held | Closed
