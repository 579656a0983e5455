"""What clients do to a group while the nemesis is at work; everything goes into a record.

Each workload is a coroutine that ends soon after `stop` is set. What befalls it is recorded, not raised: only what no
fault of a network or a process explains fails a test, and that is for the checks to tell.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

from broker_core.client.config import PushConfig
from broker_core.client.consumer.offsets import BrokerOffsets
from broker_core.client.consumer.push import PushConsumer
from broker_core.client.errors import BrokerRefused, ClientError, MalformedAnswer, SendUncertain, Unreachable
from broker_core.client.producer import Producer
from broker_core.client.sending import SendResult, SendStatus
from broker_core.client.session import Session
from broker_core.errors import GantryError
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.headers.offsets import UpdateConsumerOffsetRequest
from broker_core.protocol.message import Message, StoredMessage
from broker_core.protocol.message_id import parse_offset_id
from tests.scenarios.failover.cluster import BROKER_NAME
from tests.scenarios.failover.operations import Commit, Outcome, Queue, Read, Record, Send, Work
from tests.scenarios.failover.reading import MASTER, master_of, read_from
from tests.support.wait import eventually

KEYS: Final = 8
"""Registers of a producer: each message is a new value of one."""
SEND_MS: Final = 5_000
_AGAIN_S: Final = 0.05
"""Pause after what failed at once."""
_ORDERLY: Final = PushConfig(
    start_from="first", orderly=True, rebalance_ms=1_000, rebalance_again_ms=200, persist_offsets_ms=500,
    pull_suspend_ms=1_000, pull_timeout_ms=3_000, pull_error_delay_ms=200,
)  # fmt: skip


@dataclass
class Clients:
    """A session with what its workloads need, and the tasks that do them."""

    session: Session
    record: Record
    topic: str
    queues: int
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    turned_back: list[str] = field(default_factory=list)
    """Readers that were told to begin at another offset."""
    _tasks: list[asyncio.Task[None]] = field(default_factory=list)

    def begin(self, *works: Awaitable[None]) -> None:
        """Let workloads run until `end`."""
        self._tasks += [asyncio.ensure_future(work) for work in works]

    async def end(self) -> None:
        """Stop all workloads and wait for them; raises what no fault explains."""
        self.stop.set()
        tasks, self._tasks = self._tasks, []
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    # -- sending

    async def produce(self, name: str, *, pause_s: float = 0.002, delay_level: int = 0, topic: str = "") -> None:
        """Send numbered messages to each queue, one after the other, each until it is stored."""
        async with Producer(self.session, name) as producer:
            await asyncio.gather(
                *(
                    self._produce(producer, name, (topic or self.topic, queue_id), pause_s, delay_level)
                    for queue_id in range(self.queues)
                )
            )

    async def _produce(self, producer: Producer, name: str, queue: Queue, pause_s: float, delay_level: int) -> None:
        number = 0
        while not self.stop.is_set():
            text, key = f"{name}-{queue[1]}-{number}", f"{name}-{queue[1]}-key-{number % KEYS}"
            message = Message.create(queue[0], text.encode(), keys=[text, key], delay_level=delay_level)
            send = await self._send(producer, name, message, queue, key)
            self.record.add(send)
            if send.outcome in (Outcome.ACKNOWLEDGED, Outcome.STORED):
                number += 1
                await asyncio.sleep(pause_s)
            else:
                await asyncio.sleep(_AGAIN_S)

    async def _send(self, producer: Producer, name: str, message: Message, queue: Queue, key: str) -> Send:
        began, now = self.record.now(), self.record.now
        text, at = message.body.decode(), MessageQueue(queue[0], BROKER_NAME, queue[1])
        try:
            # One attempt each: what the client repeated by itself could not be told from what was stored twice.
            result = await producer.send(message, queue=at, timeout_ms=SEND_MS, is_repeatable=False)
        except GantryError as error:
            return Send(name, text, queue, outcome_of(error), began, now(), key=key, why=repr(error))
        return sent(name, text, queue, result, began, now(), key)

    # -- reading

    async def tail(self, name: str, replica: str = MASTER) -> None:
        """Read every queue of a replica, by its address, from the begin on as messages come."""
        await asyncio.gather(*(self._tail(name, (self.topic, queue_id), replica) for queue_id in range(self.queues)))

    async def _tail(self, name: str, queue: Queue, replica: str) -> None:
        offset = 0
        while not self.stop.is_set():
            try:
                answer = await read_from(self.session, queue, offset, name, replica=replica, now=self.record.now)
            except GantryError:
                await asyncio.sleep(_AGAIN_S)
                continue
            if answer.is_turned_back:
                told = f"{self.record.now():.3f}: {name} asked for {queue} {offset} and was told {answer.next_offset}"
                self.turned_back.append(told)
                await asyncio.sleep(_AGAIN_S)
                continue
            for read in answer.reads:
                self.record.add(read)
            offset = answer.next_offset
            if not answer.reads:
                await asyncio.sleep(_AGAIN_S)

    # -- consuming

    async def consume_in_order(self, name: str, group: str, *, work_s: float = 0.002) -> None:
        """Be a member of an orderly group."""
        record = self.record

        async def handle(message: StoredMessage) -> None:
            began = record.now()
            await asyncio.sleep(work_s)
            text, queue = message.body.decode(), (message.topic, message.queue_id)
            record.add(Work(name, text, queue, message.queue_offset, began, record.now()))

        consumer = PushConsumer(self.session, group, handle, _ORDERLY)
        consumer.subscribe(self.topic)
        await again(consumer.start, self.stop)
        await self.stop.wait()
        await consumer.close()

    async def receive_delayed(self, name: str, topic: str) -> None:
        """Read delayed messages as they are delivered, whichever queue they come to."""
        clients = Clients(self.session, self.record, topic, self.queues, self.stop)
        await clients.tail(name)
        self.turned_back += clients.turned_back

    async def commit(self, group: str, *, pause_s: float = 0.1) -> None:
        """Commit rising offsets of a group of its own and ask for them."""
        offsets = BrokerOffsets(self.session, group)
        number = 0
        while not self.stop.is_set():
            for queue_id in range(self.queues):
                number += 1
                await self._commit(group, offsets, MessageQueue(self.topic, BROKER_NAME, queue_id), number)
            await asyncio.sleep(pause_s)

    async def _commit(self, group: str, offsets: BrokerOffsets, queue: MessageQueue, offset: int) -> None:
        at, began = (queue.topic, queue.queue_id), self.record.now()
        try:
            master = await master_of(self.session, queue.topic)
            await self.session.call(master, UpdateConsumerOffsetRequest(group, queue.topic, queue.queue_id, offset))
            self.record.add(Commit(group, at, offset, False, began, self.record.now()))
            began = self.record.now()
            told = await offsets.stored(queue)
        except GantryError:
            await asyncio.sleep(_AGAIN_S)
            return
        self.record.add(Commit(group, at, told or 0, True, began, self.record.now()))


def outcome_of(error: GantryError) -> Outcome:
    """Return what a failed send may have done; a refusal may come after the message was stored."""
    if isinstance(error, SendUncertain | BrokerRefused | MalformedAnswer):
        return Outcome.UNCERTAIN
    if isinstance(error, Unreachable):
        return Outcome.UNCERTAIN if error.was_sent else Outcome.REFUSED
    if isinstance(error, ClientError):
        return Outcome.REFUSED
    raise error


def sent(client: str, text: str, queue: Queue, result: SendResult, began: float, ended: float, key: str = "") -> Send:
    """Return what an answered send says."""
    outcome = Outcome.ACKNOWLEDGED if result.status is SendStatus.SEND_OK else Outcome.STORED
    log_offset = parse_offset_id(result.offset_id).log_offset if result.offset_id else None
    return Send(client, text, queue, outcome, began, ended, result.queue_offset, log_offset, key=key, why=result.status)


async def again(start: Callable[[], Awaitable[object]], stop: asyncio.Event) -> None:
    """Call `start` until it succeeds, or the end has come."""
    while not stop.is_set():
        try:
            await start()
        except GantryError:
            await asyncio.sleep(_AGAIN_S)
        else:
            return


@asynccontextmanager
async def clients(session: Session, record: Record, topic: str, queues: int) -> AsyncIterator[Clients]:
    """Have workloads until the block ends."""
    made = Clients(session, record, topic, queues)
    try:
        yield made
    finally:
        await made.end()


async def until_acknowledged(record: Record, after: float, more: int = 1, *, within: float = 60.0) -> None:
    """Wait until so many sends that began after a moment are answered 0."""

    def count() -> int:
        return sum(1 for send in record.sends if send.began >= after and send.outcome is Outcome.ACKNOWLEDGED)

    await eventually(lambda: count() >= more, within=within)


def reads_of(record: Record, client: str) -> list[Read]:
    """Return what one reader was given."""
    return [read for read in record.reads if read.client == client]
