"""A consumer that calls a handler with messages and shares queues with its group (client/README.md#rebalance)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Final, Self

from broker_core.client.config import PushConfig
from broker_core.client.consumer.handling import Concurrent, Handling, MessageHandler, Orderly, RetryLater, call
from broker_core.client.consumer.member import GroupMember
from broker_core.client.consumer.offsets import BrokerOffsets, FileOffsets, OffsetStore
from broker_core.client.consumer.orderly import LOCK_LIFE_MS, QueueLocks
from broker_core.client.consumer.reader import QueueReader
from broker_core.client.consumer.send_back import SendBack
from broker_core.client.consumer.sharing import look_forever, start_offset
from broker_core.client.consumer.subscriptions import EVERYTHING, TAG, subscription
from broker_core.client.errors import TopicNotFound
from broker_core.client.session import Session
from broker_core.clock import now_ms
from broker_core.errors import GantryError
from broker_core.protocol.bodies.heartbeat import ConsumeType
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.bodies.running import ConsumeMessageDirectlyResult, ConsumeResult
from broker_core.protocol.message import StoredMessage
from broker_core.protocol.topics import is_retry_topic, retry_topic

__all__ = ["MessageHandler", "PushConsumer", "RetryLater"]

_LOCK_AGAIN_MS: Final = 3_000  # pause before a lost lock is requested again


class PushConsumer(GroupMember):
    """One member of a consumer group. At least once: a message counts as consumed when the handler returns."""

    consume_type = ConsumeType.CONSUME_PASSIVELY

    def __init__(
        self,
        session: Session,
        group: str,
        handler: MessageHandler,
        config: PushConfig | None = None,
        *,
        offsets_file: Path | None = None,
    ) -> None:
        """`offsets_file` stores the offsets of a broadcasting consumer, which requires it."""
        config = config or PushConfig()
        offsets = _offsets(session, group, config, offsets_file)
        super().__init__(session, group, config, committed=offsets, progress=offsets)
        self._handler = handler
        self._locks = QueueLocks(session, group)
        self._renew_at = 0
        self._rebalancing: asyncio.Task[None] | None = None
        self._handling = self._make_handling()

    def subscribe(self, topic: str, expression: str = EVERYTHING, *, kind: str = TAG) -> None:
        """Subscribe to the matching messages of `topic`; takes effect at once on a running consumer."""
        self._subscriptions[topic] = subscription(topic, expression, kind=kind, version=now_ms())
        if self._started_at:
            self._tasks.start("notify brokers", self._session.heartbeat())
            self._wake.set()

    def unsubscribe(self, topic: str) -> None:
        """Unsubscribe from `topic`; a running consumer gives up its queues at once."""
        if self._subscriptions.pop(topic, None) is not None and self._started_at:
            self._tasks.start("notify brokers", self._session.heartbeat())
            self._wake.set()

    async def start(self) -> Self:
        """Join the group and start reading.

        Raises GroupTaken if this session has a consumer of the group, SubscriptionRefused for a filter that is wrong,
        FilterNotServed if the broker filters by tags alone.
        """
        self._session.members.add_consumer(self)
        if not self.config.broadcasting:
            retry = retry_topic(self._group)
            self._subscriptions[retry] = subscription(retry, version=now_ms())
        self._started_at = now_ms()
        try:
            for topic in self._subscriptions:
                await self._find_route(topic)
            await self._check_filters()
            await self._session.heartbeat()
        except BaseException:
            await self.close()
            raise
        self._handling.start()
        self._rebalancing = self._tasks.start("rebalance", look_forever(self.rebalance, self._wake, self.config))
        self._tasks.every("persist offsets", self.config.persist_offsets_ms, self._persist)
        if self.config.locks_queues:
            self._tasks.every("renew locks", min(self.config.lock_renewal_ms, _LOCK_AGAIN_MS), self._renew_locks)
        return self

    async def close(self) -> None:
        """Leave the group: finish the messages being handled, store offsets, notify the brokers."""
        if not self._started_at:
            return
        self._session.members.remove_consumer(self)
        if self._rebalancing is not None:
            self._rebalancing.cancel()
        readers = list(self._readers.values())
        await self._handling.finish(timeout_ms=self.config.shutdown_wait_ms)
        for reader in readers:
            reader.drop()
        await self._tasks.close()
        await self._persist()
        if self.traces is not None:
            await self.traces.close()
        if self.config.locks_queues:
            await self._locks.unlock(self._readers)
        self._readers.clear()
        self._started_at = 0
        await self._session.leave(consumer_group=self._group)

    async def rebalance(self) -> bool:
        """Compute this member's assignment once and apply it; return whether everything was known."""
        all_known = True
        stuck = [queue for queue, reader in self._readers.items() if reader.is_stuck]
        for queue in stuck:
            self._log.error("%s: not pulled for a long time; restarting", queue)
        await self._drop(stuck)
        for topic in list(self._subscriptions):
            held = [queue for queue in self._readers if queue.topic == topic]
            try:
                change = await self._sharing.look(topic, held)
            except GantryError as error:
                self._log.log(_level(topic), "topic=%s: assignment unknown: %s", topic, error)
                all_known = all_known and isinstance(error, TopicNotFound) and is_retry_topic(topic)
                continue
            await self._drop(change.dropped)
            all_known = await self._add(change.added) and all_known
            if change:
                self._log.info("topic=%s: %d queues dropped, %d added", topic, len(change.dropped), len(change.added))
                self._share_changed(topic)
        await self._drop([queue for queue in self._readers if queue.topic not in self._subscriptions])
        return all_known

    async def consume_directly(self, message: StoredMessage) -> ConsumeMessageDirectlyResult:
        """Handle one message now, outside any queue."""
        begin = now_ms()
        called = await call(self._handler, message, timeout_ms=self.config.consume_timeout_ms, group=self._group)
        return ConsumeMessageDirectlyResult(
            consume_result=ConsumeResult.CR_SUCCESS if called.done else ConsumeResult.CR_LATER,
            order=self.config.orderly,
            spent_time_mills=now_ms() - begin,
        )

    # ---- changing queues ---------------------------------------------------------------------------------------------

    async def _add(self, queues: tuple[MessageQueue, ...]) -> bool:
        """Start reading queues; return False if some must be left out this time."""
        locked = await self._locks.lock(queues) if self.config.locks_queues and queues else set(queues)
        added = 0
        for queue in queues:
            if queue not in locked:
                self._log.info("%s: another member has its lock", queue)
                continue
            try:
                offset = await start_offset(self._session, self._committed, queue, self.config)
            except GantryError as error:
                self._log.warning("%s: not read in this round, its start offset is unknown: %s", queue, error)
                continue
            self._start_reader(queue, offset)
            added += 1
        return added == len(queues)

    def _share_changed(self, topic: str) -> None:
        """Recompute the topic's limits per queue and send a heartbeat: a newly used broker needs the subscription."""
        of_topic = [reader for queue, reader in self._readers.items() if queue.topic == topic]
        for reader in of_topic:
            reader.buffer.share_limits(len(of_topic))
        if topic in self._subscriptions and not self.config.broadcasting:
            self._subscriptions[topic] = replace(self._subscriptions[topic], sub_version=now_ms())
            self._tasks.start("notify brokers", self._session.heartbeat())

    def _arrived(self, reader: QueueReader) -> None:
        self._handling.arrived(reader)

    def _start_reader(self, queue: MessageQueue, offset: int) -> QueueReader:
        reader = super()._start_reader(queue, offset)
        reader.locked_until = now_ms() + LOCK_LIFE_MS
        self._handling.added(reader)
        return reader

    async def _drop(self, queues: Iterable[MessageQueue]) -> list[QueueReader]:
        readers = await super()._drop(queues)
        for reader in readers if self.config.locks_queues else ():
            # Only after the current message is handled: otherwise the next owner would handle it at the same time.
            self._tasks.start("unlock", self._unlock_when_idle(reader))
        return readers

    async def _unlock_when_idle(self, reader: QueueReader) -> None:
        await reader.idle.wait()
        await self._locks.unlock([reader.queue])

    async def _renew_locks(self) -> None:
        if now_ms() < self._renew_at and all(reader.is_locked for reader in self._readers.values()):
            return
        self._renew_at = now_ms() + self.config.lock_renewal_ms
        asked = list(self._readers)
        locked, refused = await self._locks.renew(asked)
        for queue, reader in self._readers.items():
            if queue in locked:
                reader.locked_until = now_ms() + LOCK_LIFE_MS
            elif queue in refused:
                reader.locked_until = 0
        if len(locked) + len(refused) < len(asked):  # a broker did not answer; another may be its master by now
            self._renew_at = 0

    async def _find_route(self, topic: str) -> None:
        try:
            await self._session.routes.get(topic)
        except GantryError as error:
            self._log.log(_level(topic), "topic=%s: no route yet: %s", topic, error)

    def _make_handling(self) -> Handling:
        send_back = SendBack(self._session, self._group, max_reconsume_times=self.config.max_reconsume_times)
        kind = Orderly if self.config.orderly else Concurrent
        given = self._handler, self._tasks, self._committed, send_back
        return kind(*given, group=self._group, config=self.config, traces=self.traces)


def _level(topic: str) -> int:
    """The group's retry topic is created with its first heartbeat, so its absence is not worth a warning."""
    return logging.DEBUG if is_retry_topic(topic) else logging.WARNING


def _offsets(session: Session, group: str, config: PushConfig, offsets_file: Path | None) -> OffsetStore:
    if not config.broadcasting:
        return BrokerOffsets(session, group)
    if offsets_file is None:
        raise ValueError("a broadcasting consumer needs an offset file")
    return FileOffsets(offsets_file)
