"""Sending messages, with retries on other brokers (client/README.md#attempts)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import Final, Self

from broker_core.client.attempts import Attempts, Terms
from broker_core.client.config import ProducerConfig
from broker_core.client.errors import ClientError
from broker_core.client.packing import Packed, Packer
from broker_core.client.sending import Sending, SendResult, SendStatus, results_of_each
from broker_core.client.session import Session
from broker_core.client.shared_sends import SharedSends
from broker_core.client.traces import TraceWriter
from broker_core.clock import now_ms
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.message import Message
from broker_core.remoting.own_address import local_ip

_MAX_IN_FLIGHT: Final = 256

__all__ = ["Producer", "SendResult", "SendStatus"]


class Producer:
    """Sends messages. Safe to use from many tasks of the session's loop; all sends to a broker share one connection."""

    def __init__(self, session: Session, group: str = "GANTRY_PRODUCER", config: ProducerConfig | None = None) -> None:
        self.group = group
        self.config = config or ProducerConfig()
        self._sending = Sending(session, group, self.config)
        self._attempts = Attempts(self._sending, self.config)
        self._shared = SharedSends(self._attempts)
        self._packer = Packer(self.config, ip=local_ip(), loader=id(self) & 0xFFFFFFFF)
        self._session = session
        self._started = False
        self.traces = TraceWriter(session, group, "PRODUCE", self.config.trace_topic) if self.config.trace else None

    async def start(self) -> Self:
        """Join the session's heartbeats, so that brokers know the producer group."""
        if not self._started:
            self._session.members.add_producer(self.group)
            self._session.greet()
            self._started = True
        return self

    async def close(self) -> None:
        """Leave the group: the brokers no longer list this producer. Traces that wait are sent."""
        if self.traces is not None:
            await self.traces.close()
        if self._started:
            self._started = False
            if self._session.members.remove_producer(self.group):
                await self._session.leave(producer_group=self.group)

    async def __aenter__(self) -> Self:
        return await self.start()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def send(
        self,
        message: Message,
        *,
        timeout_ms: int | None = None,
        queue: MessageQueue | None = None,
        is_repeatable: bool = True,
        born_at: int | None = None,
    ) -> SendResult:
        """Send one message: with `queue` to that queue alone, otherwise with retries on other brokers.

        `timeout_ms` is for all attempts together. Raises TopicNotFound, TopicReadOnly, NoRoute, MessageTooLarge,
        MessageRefused, BrokerRefused, Unreachable, or SendUncertain if the message may have been stored. The attempts
        of one call share the unique id; with `is_repeatable` false there is no retry after an uncertain attempt.
        `born_at` (ms since 1970) is for copies that keep the time of their original; by default it is now.
        """
        if born_at is not None:
            # Messages that share a request have one time.
            packed = self._packer.pack(message, now=now_ms())
            return await self._traced(
                message, self._alone(packed, self._terms(queue, timeout_ms, is_repeatable), born_at)
            )
        return await self.submit(message, timeout_ms=timeout_ms, queue=queue, is_repeatable=is_repeatable)

    def submit(
        self,
        message: Message,
        *,
        timeout_ms: int | None = None,
        queue: MessageQueue | None = None,
        is_repeatable: bool = True,
    ) -> asyncio.Future[SendResult]:
        """Begin to send one message as `send` does, without a task; raise MessageTooLarge or MessageRefused at once.

        Await the future, or cancel it: its error is reported only there.
        """
        packed = self._packer.pack(message, now=now_ms())
        return self._traced(message, self._shared.put(packed, self._terms(queue, timeout_ms, is_repeatable)))

    async def send_batch(
        self,
        topic: str,
        messages: Sequence[Message],
        *,
        timeout_ms: int | None = None,
        queue: MessageQueue | None = None,
        is_repeatable: bool = True,
    ) -> SendResult:
        """Send all messages as one batch: stored together in one queue, or not at all. Raises like `send`."""
        packed = self._packer.pack_batch(topic, messages, now=now_ms())
        terms, began = self._terms(queue, timeout_ms, is_repeatable), now_ms()
        result = await self._attempts.deliver(packed, terms, time.monotonic() + terms.timeout_ms / 1000)
        if self.traces is not None:
            for message, its in zip(messages, results_of_each(result), strict=True):
                self.traces.sent(message, len(message.body), began, its)
        return result

    def make_ids(self, count: int) -> list[str]:
        """Return unique ids for messages that the caller encodes for `submit_encoded`."""
        return self._packer.make_ids(count, now=now_ms())

    def submit_encoded(
        self,
        topic: str,
        body: bytes,
        ids: Sequence[str],
        *,
        waits_for_store: bool = True,
        timeout_ms: int | None = None,
        queue: MessageQueue | None = None,
        is_repeatable: bool = True,
        born_at: int | None = None,
    ) -> asyncio.Future[SendResult]:
        """Begin to send a batch whose entries are encoded (`protocol.batch`) and have these ids of `make_ids`.

        `is_repeatable` and `born_at`, the same for all, are as for `send`. Raises MessageTooLarge or MessageRefused at
        once. Await the future, or cancel it: its error is reported only there.
        """
        packed = self._packer.pack_encoded(topic, body, ids, waits_for_store=waits_for_store, now=now_ms())
        whole = Message(topic, body)
        return self._traced(whole, self._alone(packed, self._terms(queue, timeout_ms, is_repeatable), born_at))

    async def send_many(
        self, messages: Iterable[Message], *, timeout_ms: int | None = None
    ) -> list[SendResult | ClientError]:
        """Send messages concurrently, each on its own; return results and failures in the order of the messages."""
        places = asyncio.Semaphore(_MAX_IN_FLIGHT)

        async def send(message: Message) -> SendResult | ClientError:
            async with places:
                try:
                    return await self.send(message, timeout_ms=timeout_ms)
                except ClientError as error:
                    return error

        return list(await asyncio.gather(*(send(message) for message in messages)))

    async def send_one_way(self, message: Message, *, queue: MessageQueue | None = None) -> None:
        """Send one message without an answer: only local errors are raised, and it is unknown whether it was stored."""
        packed = self._packer.pack(message, now=now_ms())
        if queue is None:
            await self._sending.get_picker(packed.topic)
            queue = self._sending.pick(packed.topic)
        await self._sending.one_way(packed, queue)

    async def queues(self, topic: str, *, timeout_ms: int | None = None) -> tuple[MessageQueue, ...]:
        """Return the writable queues, at least one, in the order required by `queue_for_key`.

        For up to `timeout_ms` another master is waited for. Raises TopicNotFound, TopicReadOnly, NoMaster, Unreachable.
        """
        wait_ms = self.config.timeout_ms if timeout_ms is None else timeout_ms
        return await self._attempts.queues(topic, time.monotonic() + wait_ms / 1000)

    def _traced(self, message: Message, answer: asyncio.Future[SendResult]) -> asyncio.Future[SendResult]:
        traces = self.traces
        if traces is not None:
            began = now_ms()

            def note(answer: asyncio.Future[SendResult]) -> None:
                # As in Java, a send without a result leaves no trace.
                if not answer.cancelled() and answer.exception() is None:
                    traces.sent(message, len(message.body), began, answer.result())

            answer.add_done_callback(note)
        return answer

    def _alone(self, packed: Packed, terms: Terms, born_at: int | None) -> asyncio.Future[SendResult]:
        if born_at is not None:
            packed.born_timestamp = born_at
        deadline = time.monotonic() + terms.timeout_ms / 1000
        return asyncio.get_running_loop().create_task(self._attempts.deliver(packed, terms, deadline), name="send")

    def _terms(self, queue: MessageQueue | None, timeout_ms: int | None, is_repeatable: bool) -> Terms:
        return Terms(queue, self.config.timeout_ms if timeout_ms is None else timeout_ms, is_repeatable)
