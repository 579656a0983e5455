"""All attempts for one message or batch: retries on other brokers within one time limit (client/README.md#attempts)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final, NamedTuple, NoReturn

from broker_core.client.config import ProducerConfig
from broker_core.client.errors import (
    BrokerBusy,
    BrokerRefused,
    BrokerUnavailable,
    ClientClosed,
    ClientError,
    MessageRefused,
    NoRoute,
    SendUncertain,
    TimedOut,
    TopicNotFound,
    Unreachable,
)
from broker_core.client.packing import Packed
from broker_core.client.retry import backoff, fair_ms
from broker_core.client.sending import Sending, SendResult, SendStatus
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.codes import ResponseCode

_SAME_BROKER_DELAY_S: Final = 0.2
_SOON_MS: Final = 100
"""A successor is not found in less."""
_MASTER_AWAY: Final = (BrokerUnavailable, NoRoute, Unreachable, SendUncertain)


class Terms(NamedTuple):
    """What the caller of a send asks of its attempts."""

    queue: MessageQueue | None
    """The only queue to send to; None lets every attempt choose."""
    timeout_ms: int
    """For all attempts together."""
    is_repeatable: bool
    """Whether to try again when it is unknown if an attempt stored the message."""


class Attempts:
    """Delivers packed messages for one producer."""

    def __init__(self, sending: Sending, config: ProducerConfig) -> None:
        self._sending = sending
        self._config = config

    async def deliver(self, packed: Packed, terms: Terms, deadline: float) -> SendResult:
        """Send until it is stored or `deadline` (s, monotonic) is over; raises what `Producer.send` raises."""
        if terms.queue is None:
            return await self._with_retries(packed, terms, deadline)
        queue = terms.queue
        if queue.topic != packed.topic:
            raise MessageRefused(f"a message of topic {packed.topic!r} cannot be sent to a queue of {queue.topic!r}")
        if self._sending.find_picker(packed.topic) is None:
            await self._find_route(packed.topic, terms, deadline)
        tried = _Tried(self._config.retried_codes, terms.is_repeatable)
        while True:
            try:
                left_ms = max(1, _left_ms(deadline))
                return await self._sending.attempt(packed, queue, timeout_ms=left_ms, is_repeated=tried.is_uncertain)
            except _MASTER_AWAY as error:
                if not self._has_successor(queue.broker_name, deadline):
                    return tried.end_with(error)
                tried.failed(error)
                await self._find_master(queue.broker_name, deadline)
                if not tried.has_time(_left_ms(deadline), terms):
                    return tried.end_with(error)

    async def queues(self, topic: str, deadline: float) -> tuple[MessageQueue, ...]:
        """Return the writable queues, those of a broker without master as soon as another one is found in time.

        Raises what `Producer.queues` raises.
        """
        while not (queues := (await self._sending.get_picker(topic)).queues):
            name = self._without_master(topic, deadline)
            if name is None:
                raise self._sending.without_queues(topic)
            await self._find_master(name, deadline)
        return queues

    def _has_successor(self, broker_name: str, deadline: float) -> bool:
        """Return whether another master of a broker may be found in time."""
        is_in_time = _left_ms(deadline) > _SOON_MS
        return is_in_time and self._config.retries > 0 and self._sending.session.masters.may_move(broker_name)

    async def _find_master(self, broker_name: str, deadline: float) -> None:
        """Ask for the route once more, until the deadline at most."""
        try:
            async with asyncio.timeout(max(0.0, deadline - time.monotonic())):
                await self._sending.session.masters.renew(broker_name)
        except TimeoutError:
            pass  # the caller sees that its time is over

    async def _with_retries(self, packed: Packed, terms: Terms, deadline: float) -> SendResult:
        """Make 1 + retries attempts; raise the error of the last one."""
        tried = _Tried(self._config.retried_codes, terms.is_repeatable)
        pauses: Iterator[float] | None = None
        pause_s: float | None = 0.0
        retries = self._config.retries
        while pause_s is not None:
            try:
                if self._sending.find_picker(packed.topic) is None:
                    await self._find_route(packed.topic, terms, deadline)
                queue = self._sending.pick(packed.topic, last_broker=tried.broker_name)
            except ClientError as error:
                if (name := self._without_master(packed.topic, deadline)) is not None:
                    await self._find_master(name, deadline)
                    continue
                # The route is gone or was not found in time: the outcome of the last attempt is more informative.
                return tried.end(error)
            if queue.broker_name == tried.broker_name and tried.may_recover:
                await asyncio.sleep(pause_s)
            left_ms = _left_ms(deadline)
            if not tried.has_time(left_ms, terms):
                break
            tried.broker_name = queue.broker_name
            try:
                # A broker that hangs accepts no connection: half of the time is left for another broker.
                connect_ms = left_ms // 2 if retries > 0 else left_ms
                result = await self._sending.attempt(
                    packed, queue, timeout_ms=left_ms, connect_ms=connect_ms, is_repeated=tried.is_uncertain
                )
            except (BrokerRefused, TopicNotFound, NoRoute, Unreachable, SendUncertain, ClientClosed) as error:
                tried.failed(error)
                if isinstance(error, _MASTER_AWAY) and self._has_successor(queue.broker_name, deadline):
                    await self._find_master(queue.broker_name, deadline)
                    continue
            else:
                if result.status is SendStatus.SEND_OK or not self._config.retry_when_not_stored_ok:
                    return result
                tried.result = result
            retries -= 1
            pauses = pauses or self._pauses(deadline)
            pause_s = next(pauses, None)
        return tried.end(TimedOut(f"topic {packed.topic}", terms.timeout_ms, was_sent=False))

    def _without_master(self, topic: str, deadline: float) -> str | None:
        """Return the name of a broker of the topic that is about to get a master."""
        route = self._sending.session.routes.find(topic)
        name = None if route is None else route.without_master
        return name if name is not None and self._has_successor(name, deadline) else None

    async def _find_route(self, topic: str, terms: Terms, deadline: float) -> None:
        """Ask for the route of a topic; raise TimedOut when the deadline passes before the answer."""
        try:
            async with asyncio.timeout(max(0.0, deadline - time.monotonic())):
                await self._sending.get_picker(topic)
        except TimeoutError as error:
            what = f"topic {topic}, whose route was not found"
            raise TimedOut(what, terms.timeout_ms, was_sent=False) from error

    def _pauses(self, deadline: float) -> Iterator[float]:
        """Return the pauses before retries; created only after a failure, since most sends need none."""
        pauses = backoff(
            first_s=_SAME_BROKER_DELAY_S,
            longest_s=_SAME_BROKER_DELAY_S,
            attempts=1 + self._config.retries,
            within_s=deadline - time.monotonic(),
        )
        return islice(pauses, 1, None)


def _left_ms(deadline: float) -> int:
    return int((deadline - time.monotonic()) * 1000)


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
    def is_uncertain(self) -> bool:
        """Whether an earlier attempt may have stored the message."""
        return self.uncertain is not None

    def has_time(self, left_ms: int, terms: Terms) -> bool:
        """Return whether another attempt can make more known than is: one without an answer would make it less."""
        is_refused = self.failure is not None and not self.is_uncertain
        return left_ms > 0 and (not is_refused or left_ms >= fair_ms(terms.timeout_ms))

    @property
    def may_recover(self) -> bool:
        """Whether the broker that failed last may only be restarting or busy, so that a pause helps."""
        return isinstance(self.failure, (Unreachable, SendUncertain, BrokerBusy))

    def end_with(self, error: ClientError) -> NoReturn:
        """Raise the error of the last attempt, unless an earlier one is uncertain."""
        self._raise(error)

    def end(self, error: ClientError) -> SendResult:
        """Return the last stored result, even if less safe than requested; else raise the last failure, or `error`."""
        if self.result is not None:
            return self.result
        return self._raise(self.failure or error)

    def _raise(self, error: ClientError) -> NoReturn:
        # An uncertain outcome stays uncertain, whatever later attempts return.
        raise self.uncertain or error
