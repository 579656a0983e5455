"""A master's state beside the log, for its slaves (broker/replication/README.md#state-beside-the-log)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from broker_core.broker.delay import DelayQueues
from broker_core.broker.groups import Groups
from broker_core.broker.offsets import ConsumerOffsets
from broker_core.broker.pop.leases import Leases
from broker_core.broker.pop.mirror import LeaseTeller
from broker_core.broker.queue_locks import QueueLocks
from broker_core.broker.replication.standing import Standing
from broker_core.broker.request_modes import RequestModes
from broker_core.broker.topics import Topics
from broker_core.protocol.bodies.state import BrokerState, LeaseChanges

EVERYTHING: Final = -1
_PATIENCE_S: Final = 1.0
_LOOK_S: Final = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Registers:
    """What is kept beside the log and follows."""

    topics: Topics
    groups: Groups
    request_modes: RequestModes
    offsets: ConsumerOffsets
    delay: DelayQueues
    locks: QueueLocks
    leases: Leases


@dataclass(slots=True)
class _Slave:
    life: str
    has: int = EVERYTHING
    """The number of the newest answer that it has taken over."""
    told: int = EVERYTHING
    stamps: dict[str, Hashable] = field(default_factory=dict)
    """Of each part, as it was told last."""


class StateBook:
    """Knows what each slave was told, and what it has taken over. Numbers count the changes that somebody waits for."""

    def __init__(
        self,
        registers: Registers,
        standing: Standing,
        teller: LeaseTeller,
        *,
        log_end: Callable[[], int],
        clock: Callable[[], int],
    ) -> None:
        self._registers = registers
        self._standing = standing
        self._teller = teller
        self._log_end = log_end
        self._clock = clock
        self._epoch = 0
        self._number = 0
        self._slaves: dict[int, _Slave] = {}
        self._news = asyncio.Event()  # a slave has taken something over, or is to be told
        self._has_ended = False

    async def known(self) -> None:
        """Return when every connected member of the in-sync set has the present state, or after a second.

        What was created, changed or deleted is answered then: the next master knows it.
        """
        if not self._standing.members():
            return
        self._begin_epoch()
        self._number += 1
        number = self._number
        self._ring()
        try:
            async with asyncio.timeout(_PATIENCE_S):
                while not all(self._has(each, number) for each in self._standing.members()):
                    await self._some_news()
        except TimeoutError:
            return

    async def _some_news(self) -> None:
        """Wait for a slave's word, or a moment: one that has left the members says nothing."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_LOOK_S):
                await self._news.wait()

    def _has(self, broker_id: int, number: int) -> bool:
        slave = self._slaves.get(broker_id)
        return slave is not None and slave.has >= number

    def _ring(self) -> None:
        self._news.set()
        self._news = asyncio.Event()

    def _begin_epoch(self) -> None:
        if self._epoch != self._standing.epoch:
            self._epoch = self._standing.epoch
            self._slaves = {}
            self._number += 1

    async def end(self) -> None:
        """Tell the slaves the last state, for a second at most; from then on none waits: the broker stops."""
        await self.known()
        self._has_ended = True
        self._ring()

    async def changes(self, broker_id: int, life: str, after: int, wait_ms: int) -> tuple[int, BrokerState]:
        """Return what a slave lacks that has taken over answer `after`, with the number of this answer.

        It waits so long for a change that somebody waits for; others are told when the wait is over.
        """
        self._begin_epoch()
        epoch, slave = self._epoch, self._slaves.get(broker_id)
        if slave is None or slave.life != life or after != slave.told:
            slave = self._slaves[broker_id] = _Slave(life)
        else:
            slave.has = after
            self._ring()
            await self._wait(slave, epoch, wait_ms)
        slave.told = self._number
        return slave.told, self._lacking(slave)

    async def _wait(self, slave: _Slave, epoch: int, wait_ms: int) -> None:
        try:
            async with asyncio.timeout(wait_ms / 1000):
                while slave.told >= self._number and epoch == self._standing.epoch and not self._has_ended:
                    await self._news.wait()
        except TimeoutError:
            return

    def _lacking(self, slave: _Slave) -> BrokerState:
        parts, now = self._registers, self._clock()
        since = slave.stamps.get("offsets")
        moved = parts.offsets.changed_since(since if isinstance(since, int) else EVERYTHING)
        state = BrokerState(
            log_end=self._log_end(),
            topics=parts.topics.wrapper() if self._is_news(slave, "topics", parts.topics.version) else None,
            groups=parts.groups.wrapper() if self._is_news(slave, "groups", parts.groups.version) else None,
            request_modes=(
                parts.request_modes.all() if self._is_news(slave, "modes", parts.request_modes.changes) else None
            ),
            offsets={group: parts.offsets.of_group(group) for group in moved},
            is_whole=since is None,
            delays=self._delays(slave),
            locks=parts.locks.held(now) if self._is_news(slave, "locks", parts.locks.changes) else None,
            locks_rest_ms=parts.locks.rest_left(now),
            leases=self._leases(slave),
        )
        slave.stamps["offsets"] = parts.offsets.changes
        return state

    def _delays(self, slave: _Slave) -> dict[int, int] | None:
        progress = {level: offset for level, offset, _ in self._registers.delay.progress()}
        return progress if self._is_news(slave, "delays", tuple(progress.items())) else None

    def _leases(self, slave: _Slave) -> LeaseChanges | None:
        since = slave.stamps.get("leases")
        slave.stamps["leases"] = self._teller.count
        return self._teller.since(since if isinstance(since, int) else None)

    def _is_news(self, slave: _Slave, part: str, stamp: Hashable) -> bool:
        is_news = part not in slave.stamps or slave.stamps[part] != stamp
        slave.stamps[part] = stamp
        return is_news
