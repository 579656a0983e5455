"""Consumption by lease: receive messages, then acknowledge or extend each (broker/README.md#pop)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field
from itertools import count as counting_from
from typing import Final

from broker_core.client.consumer.late_brokers import LateBrokers
from broker_core.client.consumer.leases import LeasedMessage, LeasedRecords, LeasePortion, LeaseReceipt
from broker_core.client.consumer.settling import LeaseSettler
from broker_core.client.consumer.subscriptions import EVERYTHING, TAG, subscription, wants
from broker_core.client.decoding import unpacking
from broker_core.client.errors import (
    BrokerUnavailable,
    ClientError,
    MalformedAnswer,
    NoRoute,
    TimedOut,
    TopicPaused,
    Unreachable,
    refusal,
)
from broker_core.client.session import Session
from broker_core.clock import now_ms
from broker_core.errors import GantryError
from broker_core.logs import get_logger
from broker_core.protocol.bodies.heartbeat import SubscriptionData
from broker_core.protocol.codes import ResponseCode
from broker_core.protocol.errors import ProtocolError
from broker_core.protocol.headers.pop import (
    INIT_MODE_MIN,
    EndPopWaitRequest,
    PopMessageRequest,
    PopMessageResponse,
)
from broker_core.protocol.message import StoredMessage

__all__ = ["LeaseConsumer", "LeasePortion", "LeaseReceipt", "LeasedMessage", "LeasedRecords", "Received"]

MAX_MESSAGES: Final = 32
_ANY_QUEUE: Final = -1
# How long one request waits at a broker: with several brokers, the others must be polled in between.
_ONE_BROKER_WAIT_MS: Final = 15_000
_MANY_BROKERS_WAIT_MS: Final = 500
_ANSWER_SLACK_MS: Final = 5_000
_IDLE_PAUSE_MS: Final = 100
_DAMAGED_AGAIN_MS: Final = 5_000
"""The pause between deliveries of a damaged message; a lease may be hours, and an ordered queue waits for it."""

_PAST_DAMAGED_MS: Final = 1_000
"""How long a receive that does not wait looks for intact messages behind damaged ones."""
_REFUSED_KEPT: Final = 1_000

# How brokers say it whose route is newer than ours; of a topic that may not be sent to they say so to producers.
_TOPIC_UNREADABLE: Final = "the topic["

# How long a topic counts as paused before its route is asked for again.
_PAUSED_SECONDS: Final = 1.0

# Names of polls, unique within the process: groups and sessions share connections.
_poll_ids: Final = counting_from(1)

_NOTHING: Final = frozenset(
    {
        ResponseCode.PULL_NOT_FOUND,
        ResponseCode.PULL_RETRY_IMMEDIATELY,
        ResponseCode.POLLING_TIMEOUT,
        ResponseCode.POLLING_FULL,
    }
)

Missing = dict[str, Unreachable | None]


@dataclass(frozen=True, slots=True)
class Received:
    """The result of one receive; empty if no message arrived while it waited."""

    messages: list[LeasedMessage] = field(default_factory=list)
    waited_ms: int = 0
    missing: Mapping[str, Unreachable | None] = field(default_factory=dict)
    """If it is empty: the brokers that may have messages and did not tell at last, by name; without an error if the
    name servers do not list it now."""


@dataclass(frozen=True, slots=True)
class _Wanted:
    """One receive call."""

    topic: str
    max_messages: int
    lease_ms: int
    subscription: SubscriptionData
    attempt_id: str | None
    is_ordered: bool


class LeaseConsumer(LeaseSettler):
    """Consumes for one group without owning queues: any number of processes may receive; each message has a lease.

    It sends no heartbeats: as a member it would be assigned queues that it never reads.
    """

    def __init__(self, session: Session, group: str) -> None:
        super().__init__(session)
        self.group = group
        self._turn = 0
        self._asked_at: dict[str, float] = {}
        """When the route of the last topic without readable queues was asked for (s, monotonic)."""
        self._late = LateBrokers(session, group)
        self._refused: set[tuple[str, str]] = set()
        """Topics and ids of damaged messages that were logged: they are delivered many times."""
        self._log = get_logger(__name__, f"group={group}")

    async def receive(
        self,
        topic: str,
        *,
        max_messages: int = MAX_MESSAGES,
        wait_ms: int = 0,
        lease_ms: int = 30_000,
        tag_expression: str = EVERYTHING,
        expression_type: str = TAG,
        attempt_id: str | None = None,
        is_ordered: bool = False,
    ) -> Received:
        """Lease up to `max_messages` (1 to 32) from any queues, waiting up to `wait_ms` for the first.

        If ordered, a queue gives no messages while one of it is on lease (broker/README.md#ordered-pop).
        Damaged messages are logged and left out; the broker delivers them again until they are dead letters.
        Raises TopicNotFound, TopicPaused, NoRoute, GroupNotFound, GroupPaused, NoPermission, SubscriptionRefused,
        FilterNotServed, NotSupported (a 4.9 broker), or Unreachable if no broker of the topic answers. If the call is
        cancelled while a broker holds its request, the request is ended there; messages that still arrive are returned,
        and do not count as delivered.
        """
        started = time.monotonic()
        data = subscription(topic, tag_expression, kind=expression_type)
        wanted = _Wanted(topic, min(max(max_messages, 1), MAX_MESSAGES), lease_ms, data, attempt_id, is_ordered)
        while True:
            try:
                received = await self._receive_once(wanted, started, wait_ms)
            except (Unreachable, BrokerUnavailable, NoRoute) as error:
                if not await self._await_master(topic, error, wait_ms - _since(started)):
                    raise
                continue
            if received is not None:
                return received

    async def _await_master(self, topic: str, error: ClientError, left_ms: int) -> bool:
        """Return whether to try again, after asking for the route: the broker that failed may have a successor."""
        route = self._session.routes.find(topic)
        name = error.broker_name or (None if route is None else route.without_master)
        if name is None or left_ms <= _IDLE_PAUSE_MS or not self._session.masters.may_move(name):
            return False
        await self._session.masters.renew(name)
        return True

    async def _receive_once(self, wanted: _Wanted, started: float, wait_ms: int) -> Received | None:
        """Ask once; return None if nothing came and there is time to ask again."""
        topic = wanted.topic
        brokers = await self._brokers(topic)
        missing: Missing = dict.fromkeys(self._session.absent.of(topic))
        left_ms = max(0, wait_ms - _since(started))
        asked_at = time.monotonic()
        if len(brokers) == 1:
            longest_ms = _MANY_BROKERS_WAIT_MS if missing else _ONE_BROKER_WAIT_MS
            messages = await self._pop(*brokers[0], wanted, wanted.max_messages, min(left_ms, longest_ms))
        else:
            # Other receives go on with the turn while this one waits for answers.
            turn = self._turn = self._turn + 1
            messages = await self._sweep(brokers, wanted, turn, missing)
            messages = messages or await self._wait_at_one(brokers, wanted, turn, left_ms, missing)
        if messages or wait_ms <= _since(started):
            return Received(messages, _since(started), {} if messages else missing)
        if _since(asked_at) < _IDLE_PAUSE_MS:  # the brokers are not holding requests at the moment
            await asyncio.sleep(min(_IDLE_PAUSE_MS, wait_ms - _since(started)) / 1000)
        return None

    async def receive_records(self, topic: str, *, max_messages: int, lease_ms: int) -> LeasedRecords | None:
        """Lease messages of the topic as they are, without waiting, and leave the decoding to the caller (`decoded`).

        Returns None if more than one broker has or had the topic, which only `receive` serves. Raises the same errors.
        """
        brokers = await self._brokers(topic)
        if len(brokers) != 1 or self._session.absent.of(topic):
            return None
        name, addr = brokers[0]
        count = min(max(max_messages, 1), MAX_MESSAGES)
        wanted = _Wanted(topic, count, lease_ms, subscription(topic), None, is_ordered=False)
        asked = self._session.tasks.start_awaited(f"pop {topic}", self._ask(name, addr, wanted, count, 0, None))
        try:
            return await asyncio.shield(asked)
        except asyncio.CancelledError:
            if not asked.cancelled():
                self._session.tasks.start(f"leave a pop of {topic}", self._leave(addr, None, _read(asked, addr)))
            raise

    async def decoded(self, records: LeasedRecords) -> list[LeasedMessage]:
        """Return the intact messages of an answer; damaged ones are logged and end as dead letters, as in `receive`."""
        leased = await _decoded(records, records.broker_name)
        intact = [each for each in leased if each.message.damage is None]
        if len(intact) < len(leased):
            await self._refuse_damaged(leased)
        return intact

    async def _sweep(
        self, brokers: list[tuple[str, str]], wanted: _Wanted, turn: int, missing: Missing
    ) -> list[LeasedMessage]:
        """Query every broker without waiting, starting with the one whose turn it is, until there are enough.

        Those that are left out or do not answer are added to `missing`. One that hangs must not hold up for long what
        the others have; only the last one may take its time if no other answered.
        """
        brokers = self._answering(brokers, missing)
        messages: list[LeasedMessage] = []
        failure: Unreachable | None = None
        failed = 0
        for step in range(len(brokers)):
            name, addr = brokers[(turn + step) % len(brokers)]
            patience = None if failed == len(brokers) - 1 else self._late.patience(addr)
            try:
                messages += await self._pop(name, addr, wanted, wanted.max_messages - len(messages), 0, patience)
            except Unreachable as error:
                missing[name] = failure = error
                failed += 1
            except BaseException:
                self._release(messages)  # messages of the brokers queried before; the caller will not receive them
                raise
            if len(messages) >= wanted.max_messages:
                break
        if failure is not None and failed == len(brokers):
            raise failure
        return messages

    def _answering(self, brokers: list[tuple[str, str]], missing: Missing) -> list[tuple[str, str]]:
        """Return the brokers without those that hang; all of them if none is left."""
        late = self._late.errors
        if not late:
            return brokers
        answering = [broker for broker in brokers if broker[1] not in late]
        if not answering:
            return brokers
        missing.update((name, late[addr]) for name, addr in brokers if addr in late)
        return answering

    async def _wait_at_one(
        self, brokers: list[tuple[str, str]], wanted: _Wanted, turn: int, left_ms: int, missing: Missing
    ) -> list[LeasedMessage]:
        """Wait briefly at one broker, since a message may arrive at another. Unreachable brokers are skipped."""
        brokers = self._answering(brokers, missing)
        if left_ms <= 0:
            return []
        wait_ms = min(left_ms, _MANY_BROKERS_WAIT_MS)
        name, addr = brokers[turn % len(brokers)]
        patience = None if len(brokers) == 1 else wait_ms / 1000 + self._late.patience(addr)
        try:
            return await self._pop(name, addr, wanted, wanted.max_messages, wait_ms, patience)
        except Unreachable as error:
            missing[name] = error
            return []

    async def _pop(
        self, name: str, addr: str, wanted: _Wanted, count: int, wait_ms: int, patience: float | None = None
    ) -> list[LeasedMessage]:
        """Pop intact messages from one broker; raise TimedOut for one that needs more than `patience` (s).

        After that, or if the caller is cancelled, end the wait there and give back messages that still arrive.
        """
        poll_id = str(next(_poll_ids)) if wait_ms > 0 else None
        popping = self._ask_for_intact(name, addr, wanted, count, wait_ms, poll_id)
        asked = self._session.tasks.start_awaited(f"pop {wanted.topic}", popping)
        try:
            await asyncio.wait({asked}, timeout=patience)
        except asyncio.CancelledError:
            if not asked.cancelled():
                self._session.tasks.start(f"leave a pop of {wanted.topic}", self._leave(addr, poll_id, asked))
            raise
        if asked.done():
            return asked.result()
        self._session.tasks.start(f"leave a pop of {wanted.topic}", self._leave(addr, poll_id, asked))
        error = TimedOut(addr, int((patience or 0) * 1000))
        error.broker_name = name
        self._late.note(addr, wanted.topic, error)
        raise error

    async def _ask_for_intact(
        self, name: str, addr: str, wanted: _Wanted, count: int, wait_ms: int, poll_id: str | None
    ) -> list[LeasedMessage]:
        """Ask, and ask again while there are only damaged messages: those behind them may be intact.

        It goes on for as long as the caller waits, or a second: there may be any number of damaged ones.
        """
        begun, longest_ms = time.monotonic(), max(wait_ms, _PAST_DAMAGED_MS)
        while True:
            records = await self._ask(name, addr, wanted, count, wait_ms, poll_id)
            leased = await self._matching(await _decoded(records, addr), wanted)
            intact = [each for each in leased if each.message.damage is None]
            if len(intact) < len(leased):
                await self._refuse_damaged(leased)
            # The same attempt gets the same messages again.
            if intact or not leased or wanted.attempt_id is not None or _since(begun) >= longest_ms:
                return intact
            wait_ms, poll_id = 0, None

    async def _ask(
        self, name: str, addr: str, wanted: _Wanted, count: int, wait_ms: int, poll_id: str | None
    ) -> LeasedRecords:
        header = PopMessageRequest(
            consumer_group=self.group,
            topic=wanted.topic,
            queue_id=_ANY_QUEUE,
            max_msg_nums=count,
            invisible_time=wanted.lease_ms,
            poll_time=wait_ms,
            born_time=now_ms(),
            init_mode=INIT_MODE_MIN,
            exp_type=wanted.subscription.expression_type,
            exp=wanted.subscription.sub_string,
            order=wanted.is_ordered,
            attempt_id=wanted.attempt_id,
            poll_id=poll_id,
        )
        answer = await self._session.invoke(addr, header, timeout_ms=wait_ms + _ANSWER_SLACK_MS)
        if answer.code in _NOTHING:
            return LeasedRecords(self.group, wanted.topic, name, PopMessageResponse(0, wanted.lease_ms, 0, 0), b"")
        if answer.code != ResponseCode.SUCCESS:
            if answer.code == ResponseCode.NO_PERMISSION and (answer.remark or "").startswith(_TOPIC_UNREADABLE):
                raise TopicPaused(wanted.topic)
            raise self._session.named(refusal(answer.code, answer.remark, addr, topic=wanted.topic), addr)
        try:
            header_of_answer = answer.header(PopMessageResponse)
        except ProtocolError as error:
            raise _unreadable(addr, error) from error
        return LeasedRecords(self.group, wanted.topic, name, header_of_answer, answer.body)

    async def _matching(self, leased: list[LeasedMessage], wanted: _Wanted) -> list[LeasedMessage]:
        """Acknowledge messages whose tag only has the same hash as a requested one, and return the others."""
        kept = [each for each in leased if wants(wanted.subscription, each.message)]
        if len(kept) < len(leased):
            for each in leased:
                if not wants(wanted.subscription, each.message):
                    await self.ack(each.receipt)
        return kept

    async def _refuse_damaged(self, leased: list[LeasedMessage]) -> None:
        """Make the damaged messages fail this delivery, so that they become dead letters."""
        for each in leased:
            message, receipt = each.message, each.receipt
            if message.damage is None:
                continue
            where = receipt.topic, receipt.broker_name, receipt.queue_id, receipt.queue_offset
            text = "topic=%s queue=%s/%d offset=%d: the message is damaged and not delivered: %s"
            if self._is_first_refusal(message):
                self._log.error(text, *where, message.damage)
            try:
                await self.extend(receipt, _DAMAGED_AGAIN_MS, failure=f"The message is damaged: {message.damage}")
            except GantryError as error:  # then it is delivered again after its lease
                self._log.info("topic=%s: lease not shortened: %s", message.topic, error)

    def _is_first_refusal(self, message: StoredMessage) -> bool:
        """Return whether a damaged message comes for the first time, as far as that is remembered."""
        place = message.topic, message.message_id
        if place in self._refused:
            return False
        if len(self._refused) >= _REFUSED_KEPT:
            self._refused.clear()
        self._refused.add(place)
        return True

    async def _leave(self, addr: str, poll_id: str | None, asked: Awaitable[list[LeasedMessage]]) -> None:
        """End a pop whose caller is gone; brokers without that request hold it until its time is over."""
        try:
            if poll_id is not None:
                await self._session.one_way(addr, EndPopWaitRequest(poll_id))
            await self._give_back(await asked)
        except GantryError as error:
            self._log.info("%s: an abandoned pop failed: %s", addr, error)

    def _release(self, messages: list[LeasedMessage]) -> None:
        if messages:
            self._session.tasks.start("give back messages", self._give_back(messages))

    async def _give_back(self, messages: list[LeasedMessage]) -> None:
        for leased in messages:
            try:
                await self.give_back(leased.receipt)
            except GantryError as error:
                # Nothing is lost: the message is delivered again after its lease.
                self._log.info("topic=%s: lease not returned: %s", leased.message.topic, error)

    async def _brokers(self, topic: str) -> list[tuple[str, str]]:
        """Return name and address of the masters with readable queues of the topic."""
        route = await self._session.routes.get(topic)
        if not route.read_queues and time.monotonic() >= self._asked_at.get(topic, 0.0) + _PAUSED_SECONDS:
            # The topic may have been resumed since, and somebody waits for its messages.
            self._asked_at = {topic: time.monotonic()}
            route = await self._session.routes.refresh(topic)
        names = {queue.broker_name for queue in route.read_queues}
        brokers = [(name, addr) for name, addr in sorted(route.masters.items()) if name in names]
        if not brokers:
            raise NoRoute(topic) if names or not route.masters else TopicPaused(topic)
        return brokers


async def _decoded(records: LeasedRecords, addr: str) -> list[LeasedMessage]:
    try:
        return await unpacking(records.records, records.messages)
    except (ProtocolError, ValueError) as error:
        raise _unreadable(addr, error) from error


async def _read(asked: Awaitable[LeasedRecords], addr: str) -> list[LeasedMessage]:
    return await _decoded(await asked, addr)


def _unreadable(addr: str, error: Exception) -> MalformedAnswer:
    return MalformedAnswer(addr, f"a pop answer cannot be read: {error}")


def _since(started: float) -> int:
    return int((time.monotonic() - started) * 1000)
