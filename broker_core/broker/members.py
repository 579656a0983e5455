"""A member of a group: one client on one connection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar


class Channel(Protocol):
    """What the tables require of a connection: that it can be a key."""

    def __hash__(self) -> int: ...


Ch = TypeVar("Ch", bound=Channel)


@dataclass(slots=True)
class Member(Generic[Ch]):
    """One client on one connection; `seen_at` is the time of its last heartbeat in ms."""

    channel: Ch
    client_id: str
    language: int
    version: int
    seen_at: int
    access_key: str = ""
    """The account that its last heartbeat was signed with; empty where none was needed."""
    fingerprint: int = 0
    """What a client of 5.x computed from everything that its last full heartbeat said; 0 from other clients."""
