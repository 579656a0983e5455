"""Messages with the broker they are on, and reading pages of a queue by offset."""

from __future__ import annotations

from dataclasses import dataclass, field

from broker_core.client.admin.replica_reads import FromSlave
from broker_core.client.admin.requests import AdminRequests
from broker_core.client.consumer.pull import PullConsumer, PullResult, PullStatus
from broker_core.client.decoding import unpacking
from broker_core.client.errors import BrokerRefused, MalformedAnswer
from broker_core.client.session import Session
from broker_core.errors import GantryError
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.codes import ResponseCode
from broker_core.protocol.errors import ProtocolError
from broker_core.protocol.headers.messages import ViewMessageByIdRequest
from broker_core.protocol.message import StoredMessage
from broker_core.protocol.record import decode_one
from broker_core.protocol.topics import BROWSING_GROUP


@dataclass(frozen=True, slots=True)
class PlacedMessage:
    """A stored message and the name of its broker, which the record itself does not hold."""

    message: StoredMessage
    broker_name: str
    slave: FromSlave | None = None
    """The slave that returned it, if it was looked for by its id."""

    @property
    def queue(self) -> MessageQueue:
        """The queue it is in."""
        return MessageQueue(self.message.topic, self.broker_name, self.message.queue_id)

    @property
    def stored(self) -> tuple[int, int]:
        """When it was stored, in ms, and its log offset, which orders those of one broker and moment."""
        return self.message.store_timestamp, self.message.log_offset


@dataclass(frozen=True, slots=True)
class BrowsePage:
    """A page of messages, and where the next page starts."""

    messages: list[PlacedMessage] = field(default_factory=list)
    positions: dict[MessageQueue, int] = field(default_factory=dict)
    """By time: for each unfinished queue, the offset before which to continue. By offset: the next offset."""
    finished: dict[MessageQueue, int] = field(default_factory=dict)
    """By time: for each queue at the end of the range, the offset at which it ended."""
    min_offset: int = 0
    max_offset: int = 0
    """Bounds of the queue, for pages by offset."""
    failed: dict[str, GantryError] = field(default_factory=dict)
    """Queues that could not be read, by broker name."""
    asked: frozenset[str] = frozenset()
    """Names of the brokers that the name server lists for the topic, for pages by time."""
    slaves: dict[str, FromSlave] = field(default_factory=dict)
    """The slaves that were read in the place of their masters, by broker name."""


async def view(requests: AdminRequests, addr: str, log_offset: int) -> StoredMessage | None:
    """Return the message at an offset of a broker's log, None if there is none; raise like `AdminRequests.ask`."""
    try:
        answer = await requests.ask(addr, ViewMessageByIdRequest(log_offset))
    except BrokerRefused as error:
        if error.code != ResponseCode.SYSTEM_ERROR:
            raise
        return None
    try:
        return await unpacking(answer.body, lambda: decode_one(answer.body))
    except ProtocolError as error:
        raise MalformedAnswer(addr, str(error)) from error


class RangeReader:
    """Reads ranges of queues, however few messages a broker returns at a time."""

    def __init__(self, session: Session) -> None:
        self._consumer = PullConsumer(session, BROWSING_GROUP)

    async def page(self, queue: MessageQueue, offset: int, limit: int, *, at: str | None = None) -> BrowsePage:
        """Return up to `limit` messages from `offset` on, oldest first; of the broker `at` an address if it is given.

        For an offset outside the queue there are no messages, only the bounds of the queue. Raises like `pull`.
        """
        messages: list[StoredMessage] = []
        while True:
            begin, wanting = offset, min(32, limit - len(messages))
            result = await self._consumer.pull(queue, begin, max_messages=wanting, at=at)
            messages += result.messages
            if result.status is not PullStatus.OFFSET_ILLEGAL:
                offset = int(result.next_offset)
            # A slave answers an offset outside of the queue like one without a match, and advances nobody.
            if len(messages) >= limit or offset <= begin or not _goes_on(result):
                return _page(queue, messages, offset, result)

    async def before(self, queue: MessageQueue, begin: int, end: int, *, at: str | None = None) -> list[StoredMessage]:
        """Return the messages of a queue from offset `begin` up to `end`, oldest first; `at` as for `page`."""
        messages: list[StoredMessage] = []
        offset = begin
        while offset < end:
            result = await self._consumer.pull(queue, offset, max_messages=min(32, end - offset), at=at)
            messages += [message for message in result.messages if message.queue_offset < end]
            if not _goes_on(result) or result.next_offset <= offset:
                break
            offset = int(result.next_offset)
        return messages


def _goes_on(result: PullResult) -> bool:
    return result.status in (PullStatus.FOUND, PullStatus.NO_MATCHED) and result.next_offset < result.max_offset


def _page(queue: MessageQueue, messages: list[StoredMessage], offset: int, result: PullResult) -> BrowsePage:
    return BrowsePage(
        messages=[PlacedMessage(message, queue.broker_name) for message in messages],
        positions={queue: offset},
        min_offset=int(result.min_offset),
        max_offset=int(result.max_offset),
    )
