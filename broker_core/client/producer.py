"""Sending messages, with retries on other brokers (client/README.md#attempts)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import islice
from types import TracebackType
from typing import Final, NoReturn, Self

from broker_core.client.config import ProducerConfig, local_ip
from broker_core.client.errors import (
    BrokerBusy,
    BrokerRefused,
    ClientClosed,
    ClientError,
    MessageRefused,
    NoRoute,
    SendUncertain,
    TimedOut,
    TopicNotFound,
    Unreachable,
)
from broker_core.client.packing import Packed, Packer
from broker_core.client.retry import backoff
from broker_core.client.sending import Sending, SendResult, SendStatus
from broker_core.client.session import Session
from broker_core.clock import now_ms
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.codes import ResponseCode
from broker_core.protocol.message import Message

_SAME_BROKER_DELAY_S: Final = 0.2
_MAX_IN_FLIGHT: Final = 256

__all__ = ["Producer", "SendResult", "SendStatus"]


class Producer:
    """Sends messages. Safe to use from many tasks of the session's loop; all sends to a broker share one connection."""

    def __init__(self, session: Session, group: str = "GANTRY_PRODUCER", config: ProducerConfig | None = None) -> None:
        self.group = group
        self.config = config or ProducerConfig()
        self._sending = Sending(session, group, self.config)
        self._packer = Packer(self.config, ip=local_ip(), loader=id(self) & 0xFFFFFFFF)
        self._session = session
        self._started = False

    async def start(self) -> Self:
        """Join the session's heartbeats, so that brokers know the producer group."""
        if not self._started:
            self._session.members.add_producer(self.group)
            self._session.greet()
            self._started = True
        return self

    async def close(self) -> None:
        """Leave the group: the brokers no longer list this producer."""
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
    ) -> SendResult:
        """Send one message: with `queue` to that queue in one attempt, otherwise with retries on other brokers.

        `timeout_ms` is for all attempts together. Raises TopicNotFound, TopicReadOnly, NoRoute, MessageTooLarge,
        MessageRefused, BrokerRefused, Unreachable, or SendUncertain if the message may have been stored. The attempts
        of one call share the unique id; with `is_repeatable` false there is no retry after an uncertain attempt.
        """
        return await self._deliver(self._packer.pack(message, now=now_ms()), queue, timeout_ms, is_repeatable)

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
        return await self._deliver(packed, queue, timeout_ms, is_repeatable)

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
        await self._sending.one_way(packed, queue or await self._sending.pick(packed.topic))

    async def queues(self, topic: str) -> tuple[MessageQueue, ...]:
        """Return the writable queues in the order required by `queue_for_key`; raise TopicNotFound or Unreachable."""
        return (await self._sending.get_picker(topic)).queues

    async def _deliver(
        self, packed: Packed, queue: MessageQueue | None, timeout_ms: int | None, is_repeatable: bool
    ) -> SendResult:
        timeout = self.config.timeout_ms if timeout_ms is None else timeout_ms
        if queue is None:
            return await self._with_retries(packed, timeout, is_repeatable)
        if queue.topic != packed.topic:
            raise MessageRefused(f"a message of topic {packed.topic!r} cannot be sent to a queue of {queue.topic!r}")
        deadline = time.monotonic() + timeout / 1000
        async with _within(deadline, packed.topic, timeout):
            await self._sending.get_picker(packed.topic)
        return await self._sending.attempt(packed, queue, timeout_ms=max(1, _left_ms(deadline)))

    async def _with_retries(self, packed: Packed, timeout_ms: int, is_repeatable: bool) -> SendResult:
        """Make 1 + retries attempts within one time limit; raise the error of the last one."""
        deadline = time.monotonic() + timeout_ms / 1000
        tried = _Tried(self.config.retried_codes, is_repeatable)
        pauses: Iterator[float] | None = None
        pause_s: float | None = 0.0
        while pause_s is not None:
            try:
                async with _within(deadline, packed.topic, timeout_ms):
                    queue = await self._sending.pick(packed.topic, last_broker=tried.broker_name)
            except ClientError as error:
                # The route is gone or was not found in time: the outcome of the last attempt is more informative.
                return tried.end(error)
            if queue.broker_name == tried.broker_name and tried.may_recover:
                await asyncio.sleep(pause_s)
            left_ms = _left_ms(deadline)
            if left_ms <= 0:
                break
            tried.broker_name = queue.broker_name
            try:
                result = await self._sending.attempt(packed, queue, timeout_ms=left_ms)
            except (BrokerRefused, TopicNotFound, NoRoute, Unreachable, SendUncertain, ClientClosed) as error:
                tried.failed(error)
            else:
                if result.status is SendStatus.SEND_OK or not self.config.retry_when_not_stored_ok:
                    return result
                tried.result = result
            pauses = pauses or self._pauses(deadline)
            pause_s = next(pauses, None)
        return tried.end(TimedOut(f"topic {packed.topic}", timeout_ms, was_sent=False))

    def _pauses(self, deadline: float) -> Iterator[float]:
        """Return the pauses before retries; created only after a failure, since most sends need none."""
        pauses = backoff(
            first_s=_SAME_BROKER_DELAY_S,
            longest_s=_SAME_BROKER_DELAY_S,
            attempts=1 + self.config.retries,
            within_s=deadline - time.monotonic(),
        )
        return islice(pauses, 1, None)


def _left_ms(deadline: float) -> int:
    return int((deadline - time.monotonic()) * 1000)


@asynccontextmanager
async def _within(deadline: float, topic: str, timeout_ms: int) -> AsyncIterator[None]:
    """Raise TimedOut when the deadline passes inside."""
    try:
        async with asyncio.timeout(max(0.0, deadline - time.monotonic())):
            yield
    except TimeoutError as error:
        raise TimedOut(f"topic {topic}, whose route was not found", timeout_ms, was_sent=False) from error


@dataclass(slots=True)
class _Tried:
    """The outcomes of the attempts for one message so far."""

    retried_codes: frozenset[int]
    is_repeatable: bool
    broker_name: str | None = None
    result: SendResult | None = None
    failure: ClientError | None = None
    uncertain: SendUncertain | None = None

    def failed(self, error: ClientError) -> None:
        """Record a failure; raise it at once if no other broker would answer differently."""
        if isinstance(error, SendUncertain):
            self.uncertain = error
            if not self.is_repeatable:
                self._raise(error)
        code = ResponseCode.TOPIC_NOT_EXIST if isinstance(error, TopicNotFound) else getattr(error, "code", None)
        if code is not None and code not in self.retried_codes and self.result is None:
            self._raise(error)
        if isinstance(error, ClientClosed):
            self._raise(error)
        self.failure = error

    @property
    def may_recover(self) -> bool:
        """Whether the broker that failed last may only be restarting or busy, so that a pause helps."""
        return isinstance(self.failure, (Unreachable, SendUncertain, BrokerBusy))

    def end(self, error: ClientError) -> SendResult:
        """Return the last stored result, even if less safe than requested; else raise the last failure, or `error`."""
        if self.result is not None:
            return self.result
        return self._raise(self.failure or error)

    def _raise(self, error: ClientError) -> NoReturn:
        # An uncertain outcome stays uncertain, whatever later attempts return.
        raise self.uncertain or error
