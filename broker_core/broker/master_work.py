"""The work of a master: it begins and ends with the role, also while the broker runs (broker/README.md#roles)."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from typing import TypeVar

from broker_core.broker.arrivals import Arrivals
from broker_core.broker.delay import DelayQueues
from broker_core.broker.offsets import ConsumerOffsets
from broker_core.broker.pop.leases import Leases
from broker_core.broker.queue_locks import QueueLocks
from broker_core.broker.replication.standing import Standing
from broker_core.broker.role import Role, RoleKind
from broker_core.broker.timer.timer import Timer
from broker_core.broker.topics import Topics
from broker_core.broker.transactions.checks import Checks
from broker_core.broker.transactions.recovery import finding
from broker_core.broker.transactions.transactions import Transactions
from broker_core.logs import get_logger
from broker_core.store import MessageStore

T = TypeVar("T")

_log = get_logger(__name__)


class MasterWork:
    """Takes up what is in the log when this broker is the master, and lets go of it when it is none any more.

    What earlier masters left must be confirmed before: until then their last records cannot be read, and an end, a
    recall or a delivery among them would be overlooked.
    """

    def __init__(
        self,
        *,
        store: MessageStore,
        arrivals: Arrivals,
        standing: Standing,
        topics: Topics,
        offsets: ConsumerOffsets,
        transactions: Transactions,
        checks: Checks,
        timer: Timer,
        delay: DelayQueues,
        leases: Leases,
        locks: QueueLocks,
        on_topic: Callable[[], None],
        clock: Callable[[], int],
    ) -> None:
        """`on_topic` is called when a topic came back that this broker was not told of."""
        self._store = store
        self._arrivals = arrivals
        self._standing = standing
        self._topics = topics
        self._offsets = offsets
        self._transactions = transactions
        self._checks = checks
        self._timer = timer
        self._delay = delay
        self._leases = leases
        self._locks = locks
        self._clock = clock
        self._role: Role | None = None
        self._is_taken_up = False
        self._on_topic = on_topic
        locks.may_grant = self._is_only_master

    def is_on(self) -> bool:
        """Return whether the work is done here at the moment."""
        return self._is_taken_up and self._standing.is_sure()

    def has_begun(self) -> bool:
        """Return whether all that earlier masters left is known here, lease or not."""
        return self._is_taken_up

    def _is_only_master(self) -> bool:
        return self._is_master and self._standing.is_sure()

    @property
    def _is_master(self) -> bool:
        return self._role is not None and self._role.is_master

    def follow(self, role: Role) -> None:
        """Begin or end with the role; a watcher of `Roles`."""
        before, self._role = self._role, role
        if role.kind is RoleKind.SLAVE:  # its log may be cut, until the new master tells how far it delivered
            self._delay.may_be_ahead = True
        if role.is_master:
            if role.epoch is not None and role.epoch > 1 and not (before is not None and before.is_master):
                self._locks.rest(self._clock())
            if not self._standing.epoch and not self._is_taken_up:
                # Without controllers this is the start, where no request is read yet.
                self._arrivals.settle()
                deque(self._beginning(), maxlen=0)
        elif before is None or before.is_master:
            self._end(role)

    async def look(self, _now: int) -> None:
        """Take up the work as soon as what earlier masters left is confirmed; clients are served in between."""
        if not self._is_master or self._is_taken_up or not self._standing.is_settled():
            return
        role = self._role
        self._arrivals.settle()
        for _ in self._beginning():
            await asyncio.sleep(0)
            if self._role is not role:
                return

    def step(self, run: Callable[[int], T]) -> Callable[[int], T | None]:
        """Return a step that does nothing while the work is done elsewhere."""
        return lambda now: run(now) if self.is_on() else None

    def _beginning(self) -> Iterator[None]:
        """Find what is there, and after the last part of that begin, all at once."""
        if self._standing.epoch:
            self._go_on()
        found = yield from finding(self._store, self._offsets, before=self._standing.begin)
        if self._standing.epoch:
            yield from self._delay.passing_delivered()
        self._transactions.take_up(found)
        self._checks.take_up()
        # Before the first request, unless clients are served already by who takes over from another.
        self._timer.take_up(self._clock(), at_once=not self._standing.epoch)
        self._delay.take_up()
        self._is_taken_up = True

    def _go_on(self) -> None:
        """Fit what came without the log to what is in the log."""
        for topic in self._topics.restore(self._store.queues(), now=self._clock()):
            _log.warning("topic=%s: the earlier master made it a moment ago; it is rebuilt from its queues", topic)
            self._on_topic()
        self._offsets.clamp(self._store.min_offset, self._store.max_offset)
        self._leases.clamp(self._store.max_offset)

    def _end(self, role: Role) -> None:
        self._is_taken_up = False
        self._checks.let_go()
        self._transactions.let_go()
        self._timer.let_go()
        if role.kind is RoleKind.SLAVE and role.epoch is None:
            # A master that is not asked for its leases: its consumers go on from the group's offsets.
            self._leases.close_all()
        self._locks.drop_all()
