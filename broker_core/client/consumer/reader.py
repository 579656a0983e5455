"""Pulls one queue into its buffer while this member owns the queue (client/README.md#reading-a-queue)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Final

from broker_core.client.config import PushConfig
from broker_core.client.consumer.buffer import QueueBuffer
from broker_core.client.consumer.offsets import OffsetStore
from broker_core.client.consumer.pull import Pull, PullResult, PullStatus, pull
from broker_core.client.errors import BrokerBusy, SubscriptionRefused
from broker_core.client.routes import MASTER_ID
from broker_core.client.session import Session
from broker_core.clock import now_ms
from broker_core.errors import GantryError
from broker_core.logs import get_logger
from broker_core.protocol.bodies.heartbeat import SubscriptionData
from broker_core.protocol.bodies.queues import MessageQueue

_STUCK_MS: Final = 120_000
_SWITCH_MS: Final = 200


class QueueReader:
    """One queue of a consumer: its next offset, and the messages that were read but not handled yet."""

    def __init__(
        self,
        session: Session,
        group: str,
        queue: MessageQueue,
        offset: int,
        *,
        config: PushConfig,
        offsets: OffsetStore,
        subscription: Callable[[str], SubscriptionData],
        on_arrival: Callable[[QueueReader], None],
        is_lite: bool = False,
    ) -> None:
        self.queue = queue
        self.offset = offset
        self.buffer = QueueBuffer(queue, config)
        self.arrived = asyncio.Event()
        self.idle = asyncio.Event()
        """Set while no message of an orderly queue is being handled."""
        self.idle.set()
        self.locked_until = 0
        self.is_dropped = False
        self.reading: asyncio.Task[None] | None = None
        """The task that pulls; `drop` ends it."""
        self._session = session
        self._group = group
        self._config = config
        self._offsets = offsets
        self._subscription = subscription
        self._on_arrival = on_arrival
        self._is_lite = is_lite
        self.broker_id = MASTER_ID
        """Whom to ask next, as the last answer suggests."""
        self._is_failing = False
        self._log = get_logger(
            __name__, f"group={group} topic={queue.topic} queue={queue.broker_name}/{queue.queue_id}"
        )

    @property
    def is_locked(self) -> bool:
        """Whether an orderly consumer may handle the queue now."""
        return not self._config.locks_queues or now_ms() < self.locked_until

    @property
    def is_stuck(self) -> bool:
        """Whether it has not pulled for so long that something must be wrong."""
        return 0 < self.buffer.last_pull < now_ms() - _STUCK_MS

    def drop(self) -> None:
        """Give up the queue: `run` ends, and no more messages are handled or committed."""
        self.is_dropped = True
        self.buffer.drop()
        self.arrived.set()
        if self.reading is not None:
            self.reading.cancel()

    async def run(self) -> None:
        """Pull until the queue is given up."""
        while not self.is_dropped:
            pause_ms = await self._step()
            if pause_ms:
                await asyncio.sleep(pause_ms / 1000)

    async def _step(self) -> int:
        """Pull once; return how many ms to wait before the next pull."""
        self.buffer.last_pull = now_ms()
        if self.buffer.is_full or not self.is_locked:
            return self._config.flow_control_delay_ms
        before = self.offset
        try:
            result = await pull(self._session, self._wanted())
        except BrokerBusy:
            return self._config.busy_delay_ms
        except SubscriptionRefused as error:
            # The broker does not know the group (any more): send a heartbeat.
            self._log.debug("not pulled: %s", error)
            await self._session.heartbeat()
            return self._pause_ms
        except GantryError as error:
            self._note_failure(error)
            return self._pause_ms
        self._is_failing = False
        await self._take(result)
        came_at_once = now_ms() - self.buffer.last_pull < self._config.pull_idle_delay_ms
        return self._config.pull_idle_delay_ms if came_at_once and self.offset == before else 0

    @property
    def _pause_ms(self) -> int:
        """How long to wait after a failure; another master may be there at once."""
        pause_ms = self._config.pull_error_delay_ms
        return min(pause_ms, _SWITCH_MS) if self._session.masters.may_move(self.queue.broker_name) else pause_ms

    def _note_failure(self, error: GantryError) -> None:
        """Log the first failure of several; ask the master next, whoever was suggested."""
        self.broker_id = MASTER_ID
        self._log.log(logging.DEBUG if self._is_failing else logging.WARNING, "not pulled: %s", error)
        self._is_failing = True

    def _wanted(self) -> Pull:
        committed = self._offsets.find(self.queue)
        commits = not self._config.broadcasting and not self._is_lite
        return Pull(
            group=self._group,
            queue=self.queue,
            offset=self.offset,
            subscription=self._subscription(self.queue.topic),
            max_messages=self._config.pull_batch,
            wait_ms=self._config.pull_suspend_ms,
            timeout_ms=self._config.pull_timeout_ms,
            commit_offset=committed if commits and committed else None,
            post_subscription=self._is_lite,
            is_lite=self._is_lite,
            broker_id=self.broker_id,
        )

    async def _take(self, result: PullResult) -> None:
        self.broker_id = result.suggested_broker_id
        if result.status is PullStatus.OFFSET_ILLEGAL:
            await self._go_to(result.next_offset)
            return
        self.offset = result.next_offset
        if result.messages:
            self.buffer.put(result.messages)
            self.arrived.set()
            self._on_arrival(self)
        else:
            passed = self.buffer.passed(self.offset)
            if passed is not None:
                self._offsets.note(self.queue, passed)

    async def _go_to(self, offset: int) -> None:
        """Continue at `offset`; drop the buffered messages, which would commit the old position."""
        self._log.warning("going from offset %d to %d", self.offset, offset)
        self.buffer.drop()
        limits = self.buffer.max_messages, self.buffer.max_bytes
        self.buffer = QueueBuffer(self.queue, self._config)
        self.buffer.max_messages, self.buffer.max_bytes = limits
        self.arrived.set()
        self.offset = offset
        self._offsets.note(self.queue, offset, may_go_back=True)
        await self._offsets.persist([self.queue])
