"""Repeatable pops: a client that lost an answer repeats its attempt id and gets the same messages.

Apache RocketMQ has this for ordered groups; here every pop with an attempt id is remembered until its leases end. The
attempts are kept in memory: after a restart the messages are delivered again when their leases end, as without an
attempt id.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

Key = tuple[str, str, str]
"""Group, topic, attempt id."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """The result of a pop: queue ids with their offsets, leased from `pop_time` to `ends_at` (ms)."""

    pop_time: int
    ends_at: int
    portions: tuple[tuple[int, tuple[int, ...]], ...]


class Attempts:
    """The latest attempts; beyond `limit` of them the oldest are forgotten."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._attempts: OrderedDict[Key, Attempt] = OrderedDict()

    def __len__(self) -> int:
        return len(self._attempts)

    def remember(self, key: Key, attempt: Attempt) -> None:
        """Remember the result of an attempt."""
        self._attempts[key] = attempt
        self._attempts.move_to_end(key)
        if len(self._attempts) > self._limit:
            self._attempts.popitem(last=False)

    def find(self, key: Key, *, now: int) -> Attempt | None:
        """Return the result of an attempt while it is still on lease."""
        attempt = self._attempts.get(key)
        if attempt is None or attempt.ends_at > now:
            return attempt
        del self._attempts[key]
        return None
