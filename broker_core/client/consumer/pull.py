"""Reading a queue by offset: a single pull, and a consumer for applications that store their own offsets."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from broker_core.client.consumer.offsets import BrokerOffsets
from broker_core.client.consumer.send_back import SendBack
from broker_core.client.consumer.subscriptions import EVERYTHING, TAG, subscription, wants
from broker_core.client.decoding import decoded
from broker_core.client.errors import MalformedAnswer, NoRoute, refusal
from broker_core.client.session import Session
from broker_core.protocol.bodies.heartbeat import SubscriptionData
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.codes import PULL_COMMIT_OFFSET, PULL_LITE, PULL_SUBSCRIPTION, PULL_SUSPEND, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.errors import ProtocolError
from broker_core.protocol.headers.pull import PullMessageRequest, PullMessageResponse
from broker_core.protocol.message import QueueOffset, StoredMessage
from broker_core.protocol.topics import BROWSING_GROUP

# A broker checks waiting pulls only every five seconds (protocol/README.md#pulling).
_SWEEP_MS: Final = 7_000
_SLAVE_WAIT_MS: Final = 1_000


class PullStatus(StrEnum):
    """The outcome of a pull."""

    FOUND = "FOUND"
    NO_NEW = "NO_NEW"
    """The offset is the end of the queue."""
    NO_MATCHED = "NO_MATCHED"
    """There were messages, but none matched: continue at `next_offset`."""
    OFFSET_ILLEGAL = "OFFSET_ILLEGAL"
    """The offset is before the first or after the last message."""


@dataclass(frozen=True, slots=True)
class PullResult:
    """The result of one pull, and where to continue."""

    status: PullStatus
    messages: list[StoredMessage]
    next_offset: QueueOffset
    min_offset: QueueOffset
    max_offset: QueueOffset
    suggested_broker_id: int = 0


_STATUSES: Final[dict[int, PullStatus]] = {
    ResponseCode.SUCCESS: PullStatus.FOUND,
    ResponseCode.PULL_NOT_FOUND: PullStatus.NO_NEW,
    ResponseCode.PULL_RETRY_IMMEDIATELY: PullStatus.NO_MATCHED,
    ResponseCode.PULL_OFFSET_MOVED: PullStatus.OFFSET_ILLEGAL,
}


@dataclass(frozen=True, slots=True)
class Pull:
    """The parameters of one pull."""

    group: str
    queue: MessageQueue
    offset: int
    subscription: SubscriptionData
    max_messages: int = 32
    wait_ms: int = 0
    """How long the broker may hold the request until a message arrives; 0 answers at once."""
    timeout_ms: int = 10_000
    commit_offset: int | None = None
    """Consumed offset to store with the pull."""
    post_subscription: bool = True
    """Send the subscription with the pull; otherwise the broker uses that of the last heartbeat."""
    broker_id: int = 0
    is_lite: bool = False
    """Set by a lite pull consumer."""
    at: str | None = None
    """The address to ask instead of the one that the route has for `broker_id`."""

    def header(self) -> PullMessageRequest:
        """Return the request header."""
        flags = (
            (PULL_SUBSCRIPTION if self.post_subscription else 0)
            | (PULL_SUSPEND if self.wait_ms > 0 else 0)
            | (PULL_LITE if self.is_lite else 0)
            | (PULL_COMMIT_OFFSET if self.commit_offset is not None and self.broker_id == 0 else 0)
        )
        return PullMessageRequest(
            consumer_group=self.group,
            topic=self.queue.topic,
            queue_id=self.queue.queue_id,
            queue_offset=self.offset,
            max_msg_nums=self.max_messages,
            sys_flag=flags,
            commit_offset=self.commit_offset or 0,
            suspend_timeout_millis=self.wait_ms,
            subscription=self.subscription.sub_string if self.post_subscription else None,
            sub_version=self.subscription.sub_version,
            expression_type=self.subscription.expression_type,
        )


async def pull(session: Session, wanted: Pull) -> PullResult:
    """Pull once; raise NoRoute, TopicNotFound, SubscriptionRefused, NoPermission, BrokerRefused or Unreachable."""
    queue = wanted.queue
    addr = wanted.at or await _address(session, wanted)
    if addr != session.routes.master(queue.broker_name):
        # One that hangs must not hold up its reader for long, and a new master may be there at any moment.
        wait_ms = min(wanted.wait_ms, _SLAVE_WAIT_MS)
        wanted = replace(wanted, wait_ms=wait_ms, timeout_ms=min(wanted.timeout_ms, wait_ms + _SWEEP_MS))
    answer = await session.invoke(addr, wanted.header(), timeout_ms=wanted.timeout_ms)
    status = _STATUSES.get(answer.code)
    if status is None:
        raise session.named(refusal(answer.code, answer.remark, addr, topic=queue.topic), addr)
    try:
        messages = await decoded(answer.body) if status is PullStatus.FOUND else []
    except ProtocolError as error:
        raise MalformedAnswer(addr, str(error)) from error
    return _result(status, answer, messages, wanted.subscription, addr)


async def _address(session: Session, wanted: Pull) -> str:
    queue = wanted.queue
    addr = session.routes.readable(queue.broker_name, wanted.broker_id)
    if addr is None:
        await session.routes.refresh(queue.topic)
        addr = session.routes.readable(queue.broker_name, wanted.broker_id)
        if addr is None:
            raise NoRoute(queue.topic, f"broker {queue.broker_name!r} is not in its route")
    return addr


def _result(
    status: PullStatus, answer: Command, messages: list[StoredMessage], data: SubscriptionData, addr: str
) -> PullResult:
    try:
        header = answer.header(PullMessageResponse)
    except ProtocolError as error:
        raise MalformedAnswer(addr, str(error)) from error
    return PullResult(
        status,
        [message for message in messages if wants(data, message)],
        QueueOffset(header.next_begin_offset),
        QueueOffset(header.min_offset),
        QueueOffset(header.max_offset),
        header.suggest_which_broker_id,
    )


class PullConsumer:
    """Reads queues for an application that stores its own offsets: commits only on request, ignores other members."""

    def __init__(self, session: Session, group: str = BROWSING_GROUP) -> None:
        self.group = group
        self._session = session
        self._offsets = BrokerOffsets(session, group)

    async def queues(self, topic: str) -> tuple[MessageQueue, ...]:
        """Return the readable queues; raise TopicNotFound or Unreachable."""
        return (await self._session.routes.get(topic)).read_queues

    async def pull(
        self,
        queue: MessageQueue,
        offset: int,
        *,
        max_messages: int = 32,
        wait_ms: int = 0,
        expression: str = EVERYTHING,
        expression_type: str = TAG,
        timeout_ms: int | None = None,
        at: str | None = None,
    ) -> PullResult:
        """Read from `offset` on, at most 32 messages or what the broker returns; raises like `pull`.

        The master is asked, a slave if there is none, or the broker `at` an address. A damaged message is among them,
        with its stored bytes and the reason in `damage`.
        """
        wanted = Pull(
            group=self.group,
            queue=queue,
            offset=offset,
            subscription=subscription(queue.topic, expression, kind=expression_type),
            max_messages=max_messages,
            wait_ms=wait_ms,
            timeout_ms=timeout_ms or (wait_ms + _SWEEP_MS if wait_ms else self._session.config.admin_timeout_ms),
            at=at,
        )
        return await pull(self._session, wanted)

    async def committed(self, queue: MessageQueue) -> int | None:
        """Return the group's offset stored by the broker."""
        return await self._offsets.stored(queue)

    async def commit(self, queue: MessageQueue, offset: int) -> None:
        """Store the group's offset; one that cannot be stored is logged."""
        self._offsets.note(queue, offset, may_go_back=True)
        await self._offsets.persist([queue])

    async def send_back(self, message: StoredMessage, broker_name: str, *, delay_level: int = 0) -> bool:
        """Have a message redelivered through the group's retry topic; return False if it could not be stored."""
        back = SendBack(self._session, self.group, max_reconsume_times=-1)
        return await back.send_back(message, broker_name, delay_level=delay_level)
