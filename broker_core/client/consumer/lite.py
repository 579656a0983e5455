"""A consumer that is polled for messages; its queues are shared or assigned by hand (client/README.md#lite-pull)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Mapping
from typing import Final, Self

from broker_core.client.config import PushConfig
from broker_core.client.consumer.member import GroupMember
from broker_core.client.consumer.offsets import BrokerOffsets, Noted
from broker_core.client.consumer.reader import QueueReader
from broker_core.client.consumer.sharing import look_forever, queue_bounds, start_offset
from broker_core.client.consumer.subscriptions import EVERYTHING, TAG, subscription
from broker_core.client.errors import ClientClosed
from broker_core.client.session import Session
from broker_core.client.traces import TraceWriter
from broker_core.clock import now_ms
from broker_core.errors import GantryError
from broker_core.protocol.bodies.heartbeat import ConsumeType
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.bodies.running import ConsumeMessageDirectlyResult, ConsumeResult
from broker_core.protocol.message import StoredMessage
from broker_core.protocol.traces import OUTCOMES

LITE: Final = PushConfig(pull_batch=10, pull_suspend_ms=20_000)
"""The settings of a push consumer that apply here, with the defaults of the Java lite pull consumer."""


class LitePullConsumer(GroupMember):
    """Reads ahead in its queues and returns messages from `poll`; `subscribe` or `assign` selects the queues.

    Delivery is at least once if the application finishes the messages of one `poll` before it polls again: each poll
    commits the messages of earlier ones, as does `commit`.
    """

    consume_type = ConsumeType.CONSUME_ACTIVELY

    def __init__(
        self,
        session: Session,
        group: str,
        config: PushConfig = LITE,
        *,
        auto_commit: bool = True,
        auto_commit_ms: int = 5_000,
    ) -> None:
        self._consumed = _Consumed()
        super().__init__(session, group, config, committed=BrokerOffsets(session, group), progress=self._consumed)
        self._auto_commit_ms = auto_commit_ms if auto_commit else None
        self._commit_at = 0.0
        self._paused: set[MessageQueue] = set()
        self._by_hand = False
        self._has_news = asyncio.Event()

    def subscribe(self, topic: str, expression: str = EVERYTHING, *, kind: str = TAG) -> None:
        """Subscribe to the matching messages of `topic`, in this member's queues; not together with `assign`."""
        if self._by_hand:
            raise ValueError("queues are already assigned; use either `assign` or `subscribe`")
        self._subscriptions[topic] = subscription(topic, expression, kind=kind, version=now_ms())
        self._wake.set()

    async def assign(self, queues: Iterable[MessageQueue]) -> None:
        """Read exactly these queues from now on, even if other members read them; not together with `subscribe`."""
        if self._subscriptions:
            raise ValueError("topics are already subscribed; use either `assign` or `subscribe`")
        self._by_hand = True
        wanted = list(dict.fromkeys(queues))
        await self._drop([queue for queue in self._readers if queue not in wanted])
        for queue in wanted:
            if queue not in self._readers:
                await self._session.routes.get(queue.topic)
                self._start_reader(queue, await start_offset(self._session, self._committed, queue, self.config))

    async def start(self) -> Self:
        """Join the group.

        Raises TopicNotFound, Unreachable, GroupTaken if this session has a consumer of it, SubscriptionRefused for a
        filter that is wrong, or FilterNotServed if the broker filters by tags alone.
        """
        self._session.members.add_consumer(self)
        self._started_at = now_ms()
        try:
            for topic in self._subscriptions:
                await self._session.routes.get(topic)
            await self._check_filters()
            await self._session.heartbeat()
        except BaseException:
            await self.close()
            raise
        self._tasks.start("rebalance", look_forever(self._rebalance, self._wake, self.config))
        self._tasks.every("persist offsets", self.config.persist_offsets_ms, self._persist)
        return self

    async def close(self) -> None:
        """Leave the group. This does not commit the messages of the last `poll`: call `commit` first."""
        if not self._started_at:
            return
        self._session.members.remove_consumer(self)
        await self._tasks.close()
        await self._persist()
        if self.traces is not None:
            await self.traces.close()
        for reader in self._readers.values():
            reader.drop()
        self._readers.clear()
        self._started_at = 0
        await self._session.leave(consumer_group=self._group)

    async def poll(self, timeout_ms: int = 5_000, *, max_messages: int = 32) -> list[StoredMessage]:
        """Return the next messages as soon as there are any, or none after `timeout_ms`.

        Damaged messages are logged and left out: they count as consumed, since nothing retries them.
        Raises ClientClosed before `start` and after `close`.
        """
        if not self._started_at and not self._readers:
            raise ClientClosed(f"the consumer of group {self._group!r} is not started or is closed")
        now = time.monotonic()
        if self._auto_commit_ms is not None and now >= self._commit_at:
            self._commit_at = now + self._auto_commit_ms / 1000
            self._commit_consumed()
        try:
            async with asyncio.timeout(timeout_ms / 1000):
                while not (messages := self._take(max_messages)):
                    self._has_news.clear()
                    await self._has_news.wait()
        except TimeoutError:
            return []
        if self.traces is not None:
            self._trace(self.traces, messages)
        return messages

    async def commit(self, offsets: Mapping[MessageQueue, int] | None = None) -> None:
        """Store the offsets reached by polls, or the given offsets of any queues.

        Offsets that cannot be stored are logged; those of queues that are read here are sent again by the next commit.
        """
        if offsets is None:
            self._commit_consumed()
        for queue, offset in (offsets or {}).items():
            self._committed.note(queue, offset, may_go_back=True)
        await self._committed.persist(dict.fromkeys([*self._readers, *(offsets or ())]))

    async def committed(self, queue: MessageQueue) -> int | None:
        """Return the group's offset stored by the broker."""
        return await self._committed.stored(queue)

    async def seek(self, queue: MessageQueue, offset: int) -> None:
        """Continue at `offset` of a queue that is read here; raise ValueError if the queue has no such offset."""
        if queue not in self._readers:
            raise ValueError(f"{queue} is not assigned to this consumer")
        first, end = await queue_bounds(self._session, queue)
        if not first <= offset <= end:
            raise ValueError(f"{queue} has offsets {first} to {end}; {offset} is outside")
        self._readers[queue].drop()
        self._start_reader(queue, offset)

    async def seek_to_begin(self, queue: MessageQueue) -> None:
        """Continue at the first readable message."""
        await self.seek(queue, (await queue_bounds(self._session, queue))[0])

    async def seek_to_end(self, queue: MessageQueue) -> None:
        """Continue after the last message."""
        await self.seek(queue, (await queue_bounds(self._session, queue))[1])

    def pause(self, *queues: MessageQueue) -> None:
        """Return no messages of these queues from `poll` until `resume`."""
        self._paused.update(queues)

    def resume(self, *queues: MessageQueue) -> None:
        """Return messages of these queues again."""
        self._paused.difference_update(queues)
        self._has_news.set()

    async def consume_directly(self, message: StoredMessage) -> ConsumeMessageDirectlyResult:
        """Refuse: there is no handler to call; the application polls for its messages."""
        return ConsumeMessageDirectlyResult(
            consume_result=ConsumeResult.CR_THROW_EXCEPTION,
            remark=f"{message.message_id}: a lite pull consumer has no handler",
        )

    # ---- inside ------------------------------------------------------------------------------------------------------

    def _take(self, max_messages: int) -> list[StoredMessage]:
        """Return messages that were read, queue by queue; the first queue changes with each call."""
        taken: list[StoredMessage] = []
        for queue in list(self._readers):
            reader = self._readers[queue]
            if queue in self._paused or not len(reader.buffer):
                continue
            while len(taken) < max_messages and (message := reader.buffer.take()) is not None:
                if message.damage is None:
                    taken.append(message)
                else:
                    where = message.topic, queue.broker_name, queue.queue_id, message.queue_offset
                    text = "topic=%s queue=%s/%d offset=%d: the message is damaged and left out: %s"
                    self._log.error(text, *where, message.damage)
                offset = reader.buffer.done(message)
                if offset is not None:
                    self._consumed.note(queue, offset)
            self._readers[queue] = self._readers.pop(queue)
            if len(taken) >= max_messages:
                break
        return taken

    def _trace(self, traces: TraceWriter, messages: Iterable[StoredMessage]) -> None:
        """Note that messages were returned; as in Java, what the application makes of them is not known."""
        for message in messages:
            call = traces.delivered(message)
            if call is not None:
                traces.handled(message, call, OUTCOMES.index("success"))

    def _commit_consumed(self) -> None:
        for queue in self._readers:
            offset = self._consumed.find(queue)
            if offset is not None:
                self._committed.note(queue, offset, may_go_back=True)

    async def _rebalance(self) -> bool:
        """Update the assignment once; return whether everything was known."""
        all_known = True  # unchanged for queues assigned by hand: nothing is subscribed then
        for topic in list(self._subscriptions):
            try:
                change = await self._sharing.look(topic, [queue for queue in self._readers if queue.topic == topic])
                await self._drop(change.dropped)
                for queue in change.added:
                    offset = await start_offset(self._session, self._committed, queue, self.config)
                    self._start_reader(queue, offset)
            except GantryError as error:
                self._log.warning("topic=%s: assignment unknown: %s", topic, error)
                all_known = False
        return all_known

    def _arrived(self, _: QueueReader) -> None:
        self._has_news.set()


class _Consumed(Noted):
    """The offsets reached by polls; nothing is stored before it is committed."""

    async def stored(self, queue: MessageQueue) -> int | None:
        """Return None: nothing is stored."""
        return self.find(queue)

    async def persist(self, queues: Iterable[MessageQueue]) -> None:
        """Store nothing."""

    async def give_up(self, queues: Iterable[MessageQueue]) -> None:
        """Store nothing."""
