"""Orderly consumption: which client of a group may consume a queue (broker/README.md#queue-locks).

Locks are kept in memory: a restart releases all of them, and their owners renew every 20 s. Where controllers decide
who is master, slaves know them too, and a new master goes on with them. Time is an argument.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from broker_core.broker.limits import BrokerLimits
from broker_core.broker.shares import Shares
from broker_core.protocol.bodies.state import HeldLock

LOCK_LIFE_MS: Final = 60_000
"""A lock that was not renewed for this long is free; clients renew every 20 s and rely on a lock for 30 s."""

TRUSTED_MS: Final = 30_000
"""So long a client relies on a lock that it has renewed."""

_SHOWN: Final = 80

Queue = tuple[str, str, int]
"""Topic, broker name, queue id: what clients call a message queue."""


@dataclass(slots=True)
class _Lock:
    client_id: str
    renewed_at: int
    account: str


class QueueLocks:
    """The owner of each locked queue, by group."""

    def __init__(self, limits: BrokerLimits | None = None) -> None:
        self._groups: dict[str, dict[Queue, _Lock]] = {}
        self._limits = limits or BrokerLimits()
        self._shares = Shares(self._limits, "queue_locks")
        self.changes = 0
        """Counts what changed."""
        self._rests_until = 0
        self._none_granted_until = 0
        self.may_grant: Callable[[], bool] = _always
        """Asked at each grant: two brokers that lock make two owners of a queue."""

    def __len__(self) -> int:
        """Return the number of locks, including expired ones that no client has taken."""
        return sum(map(len, self._groups.values()))

    def check_room(self, group: str, client_id: str, queues: Iterable[Queue], account: str) -> None:
        """Raise LimitReached if the locks that the group has not yet are too many, for all or for the account."""
        held = self._groups.get(group, {})
        news = sum(1 for queue in queues if queue not in held)
        what = f"client {client_id[:_SHOWN]!r} got no lock"
        if news and len(self) + news > self._limits.queue_locks:
            raise self._limits.refuse("queue_locks", what)
        self._shares.check(account, news, what)

    def lock(self, group: str, client_id: str, queues: Iterable[Queue], *, now: int, account: str = "") -> list[Queue]:
        """Take or renew the queues that no other client holds; return those that `client_id` holds now.

        A lock counts for the account that took it, whoever renews it. Nobody holds one while none may be granted.
        """
        if not self.may_grant():
            return []
        held = self._groups.setdefault(group, {})
        self.changes += 1
        granted = []
        for queue in queues:
            lock = held.get(queue)
            is_over = lock is None or now - lock.renewed_at > LOCK_LIFE_MS
            if is_over and now < self._rests_until:
                continue
            if lock is not None and lock.client_id == client_id:
                lock.renewed_at = now
            elif is_over:
                self._forget([lock] if lock is not None else ())
                held[queue] = _Lock(client_id, now, account)
                self._shares.add(account)
            else:
                continue
            granted.append(queue)
        return granted

    def unlock(self, group: str, client_id: str, queues: Iterable[Queue]) -> None:
        """Release those of `queues` that `client_id` holds; other clients keep their locks."""
        held = self._groups.get(group)
        if held is None:
            return
        self.changes += 1
        for queue in queues:
            lock = held.get(queue)
            if lock is not None and lock.client_id == client_id:
                self._forget([held.pop(queue)])
        if not held:
            del self._groups[group]

    def owner(self, group: str, queue: Queue, *, now: int) -> str | None:
        """Return the client that holds `queue` for `group` at `now`."""
        lock = self._groups.get(group, {}).get(queue)
        return lock.client_id if lock is not None and now - lock.renewed_at <= LOCK_LIFE_MS else None

    def groups(self, now: int) -> list[str]:
        """Return the groups of which a client holds a queue at `now`."""
        return sorted(
            group
            for group, held in self._groups.items()
            if any(now - lock.renewed_at <= LOCK_LIFE_MS for lock in held.values())
        )

    def rest(self, now: int) -> None:
        """Grant nobody a queue that is not locked here for a while: another broker may have, a moment ago.

        If that one rested itself, and so granted none, its rest is carried on, and not begun anew.
        """
        if now >= self._none_granted_until:
            self._rests_until = self._none_granted_until = now + TRUSTED_MS

    def rest_left(self, now: int) -> int:
        """Return for how many ms from now on no other queue is granted."""
        return max(self._rests_until - now, 0)

    def follow_rest(self, left_ms: int, *, asked_at: int, now: int) -> None:
        """Take over the rest of another broker, which said how much was left after `asked_at`, and before `now`."""
        self._rests_until = now + left_ms
        self._none_granted_until = asked_at + left_ms

    def held(self, now: int) -> list[HeldLock]:
        """Return every lock, with how long ago it was renewed."""
        return [
            HeldLock(group, *queue, lock.client_id, now - lock.renewed_at, lock.account)
            for group, held in self._groups.items()
            for queue, lock in held.items()
        ]

    def replace(self, locks: Iterable[HeldLock], now: int) -> None:
        """Become the table of another broker."""
        self.drop_all()
        for each in locks:
            queue = each.topic, each.broker_name, each.queue_id
            self._groups.setdefault(each.group, {})[queue] = _Lock(each.client_id, now - each.age_ms, each.account)
            self._shares.add(each.account)

    def expire(self, now: int) -> None:
        """Remove expired locks."""
        self.changes += 1
        for group, held in list(self._groups.items()):
            alive = {queue: lock for queue, lock in held.items() if now - lock.renewed_at <= LOCK_LIFE_MS}
            self._forget(lock for queue, lock in held.items() if queue not in alive)
            if alive:
                self._groups[group] = alive
            else:
                del self._groups[group]

    def drop_all(self) -> None:
        """Release every queue: another broker grants them now."""
        for group in list(self._groups):
            self.drop_group(group)

    def drop_group(self, group: str) -> None:
        """Release every queue of a deleted group."""
        self.changes += 1
        self._forget(self._groups.pop(group, {}).values())

    def _forget(self, locks: Iterable[_Lock]) -> None:
        for lock in locks:
            self._shares.remove(lock.account)


def _always() -> bool:
    return True
