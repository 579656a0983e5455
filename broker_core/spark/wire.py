"""Reading topics over the wire: the same ranges and the same records as from files, pulled from brokers (spark.md 3.2).

A queue range is pulled as some sub-ranges side by side on one connection and put out in order. Each process keeps one
session per cluster, on a loop in a thread of its own, since workers are used for many tasks.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import numpy as np

from broker_core.client.admin import Admin
from broker_core.client.blocking import BlockingSession
from broker_core.client.config import ClientConfig
from broker_core.client.consumer.pull import Pull
from broker_core.client.consumer.subscriptions import EVERYTHING, TAG, subscription
from broker_core.client.errors import BrokerBusy, ClientError, NoRoute, TopicNotFound, refusal
from broker_core.client.errors import Unreachable as PeerUnreachable
from broker_core.client.session import Session
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.codes import ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers.pull import PullMessageResponse
from broker_core.spark.blocks import Block
from broker_core.spark.errors import DataLoss, UnknownOption, Unreachable
from broker_core.spark.options import SourceOptions
from broker_core.spark.partitions import CLOCK_SKEW_MS, WirePartition, check_queues_exist, choose_range, is_chosen
from broker_core.store.columns import Records, walk

_SUB_RANGE: Final = 1024
"""Messages per sub-range: with four of them a batch is large enough for decoding in columns."""
_TRIES: Final = 10
_FIRST_PAUSE_S: Final = 0.1
_LONGEST_PAUSE_S: Final = 5.0

_sessions: dict[tuple[str, ...], BlockingSession] = {}


def session_of(name_servers: tuple[str, ...]) -> BlockingSession:
    """Return this process's session with a cluster."""
    if name_servers not in _sessions:
        _sessions[name_servers] = BlockingSession(ClientConfig(name_servers))
    return _sessions[name_servers]


def close_sessions() -> None:
    """End this process's sessions, for one that goes on without Spark; the next `session_of` opens new ones."""
    while _sessions:
        _sessions.popitem()[1].close()


def plan_wire(options: SourceOptions) -> list[WirePartition]:
    """Return one partition per queue that has messages in range: a snapshot of what the brokers have now.

    Raises UnknownOption for a queue that does not exist, DataLoss, and Unreachable when nobody answers.
    """
    session = session_of(options.name_servers)
    with _translated():
        return session.run(_plan(session.admin, options))


async def _plan(admin: Admin, options: SourceOptions) -> list[WirePartition]:
    queues = [queue for topic in options.topics for queue in (await _route(admin, topic))]
    chosen = [queue for queue in queues if is_chosen(options, queue.broker_name, queue.queue_id)]
    check_queues_exist(options, ((queue.broker_name, queue.queue_id) for queue in chosen))
    wanted = await asyncio.gather(*(_wanted(admin, queue, options) for queue in chosen))
    return [partition for partition in wanted if partition.begin < partition.end]


async def _route(admin: Admin, topic: str) -> tuple[MessageQueue, ...]:
    try:
        return (await admin.topics.route(topic)).read_queues
    except TopicNotFound:
        known = (await admin.topics.list()).found
        raise UnknownOption(topic, known, what="topic") from None


async def _wanted(admin: Admin, queue: MessageQueue, options: SourceOptions) -> WirePartition:
    has_begin, has_end = await admin.offsets.min(queue), await admin.offsets.max(queue)
    begin, end = choose_range(options, queue.broker_name, queue.topic, queue.queue_id, has_begin, has_end)
    if options.starting_timestamp is not None:
        begin = await _offset_at(admin, queue, options.starting_timestamp - CLOCK_SKEW_MS, has_begin, has_end)
    if options.ending_timestamp is not None:
        end = await _offset_at(admin, queue, options.ending_timestamp + CLOCK_SKEW_MS, has_begin, has_end)
    return WirePartition(queue.broker_name, queue.topic, queue.queue_id, begin, max(begin, end))


async def _offset_at(admin: Admin, queue: MessageQueue, timestamp: int, low: int, high: int) -> int:
    """Return the first offset stored at `timestamp` or later; brokers themselves answer with the nearest only."""
    while low < high:
        middle = (low + high) // 2
        found = await admin.messages.at(queue, middle)
        if found is not None and found.message.store_timestamp >= timestamp:
            high = middle
        else:
            low = middle + 1
    return low


def read_wire_blocks(partition: WirePartition, options: SourceOptions) -> Iterator[Block]:
    """Yield the blocks of a range in queue order; raises DataLoss and Unreachable."""
    session = session_of(options.name_servers)
    window = _SUB_RANGE * options.pull_parallelism
    for begin in range(partition.begin, partition.end, window):
        with _translated():
            pieces = session.run(
                _window(session.session, partition, options, begin, min(begin + window, partition.end))
            )
        data = b"".join(pieces)
        if data:
            yield _block(data, begin, min(begin + window, partition.end))


def _block(data: bytes, begin: int, end: int) -> Block:
    records = Records(np.frombuffer(data, np.uint8), walk(data))
    offsets = records.column("queue_offset")
    # An answer may reach into the next sub-range, which pulls the same messages again.
    first = np.concatenate(([True], offsets[1:] > np.maximum.accumulate(offsets)[:-1]))
    records = records.take(first & (offsets >= begin) & (offsets < end))
    return Block(records, records.find_damage(), records.column("queue_offset"), records.column("log_offset"))


async def _window(
    session: Session, partition: WirePartition, options: SourceOptions, begin: int, end: int
) -> list[bytes]:
    puller = _Puller(session, MessageQueue(partition.topic, partition.broker, partition.queue_id), options)
    starts = range(begin, end, _SUB_RANGE)
    found = await asyncio.gather(*(puller.read(start, min(start + _SUB_RANGE, end)) for start in starts))
    return [body for bodies in found for body in bodies]


@contextmanager
def _translated() -> Iterator[None]:
    """Say in this package's words that a cluster cannot be read."""
    try:
        yield
    except ClientError as error:
        raise Unreachable(str(error)) from error


@dataclass(frozen=True, slots=True)
class _Puller:
    """Pulls ranges of one queue."""

    session: Session
    queue: MessageQueue
    options: SourceOptions

    async def read(self, begin: int, end: int) -> list[bytes]:
        """Return the bodies of the answers that cover a range."""
        bodies, stalled = [], 0
        while begin < end and stalled < _TRIES:
            answer = await self._pull(begin, end - begin)
            header = answer.header(PullMessageResponse)
            if answer.code == ResponseCode.SUCCESS:
                bodies.append(answer.body)
            elif answer.code == ResponseCode.PULL_OFFSET_MOVED:
                self._check_loss(begin, end, header.next_begin_offset)
            elif answer.code == ResponseCode.PULL_NOT_FOUND:
                break
            stalled = stalled + 1 if header.next_begin_offset <= begin else 0
            begin = max(begin, header.next_begin_offset)
        if stalled:
            self._check_loss(begin, end, begin)
        return bodies

    async def _pull(self, offset: int, count: int) -> Command:
        """Ask once, and again while the broker is busy or away."""
        pause_s = _FIRST_PAUSE_S
        for tries_left in range(_TRIES - 1, -1, -1):
            try:
                return await self._pull_once(offset, count)
            except (BrokerBusy, PeerUnreachable):
                if not tries_left:
                    raise
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
        raise AssertionError("the last try returns or raises")

    async def _pull_once(self, offset: int, count: int) -> Command:
        session = self.session
        addr = session.routes.readable(self.queue.broker_name)
        if addr is None:
            await session.routes.refresh(self.queue.topic)
            addr = session.routes.readable(self.queue.broker_name)
        if addr is None:
            raise NoRoute(self.queue.topic, f"broker {self.queue.broker_name!r} is not in its route")
        wanted = Pull(
            group=self.options.group,
            queue=self.queue,
            offset=offset,
            subscription=subscription(self.queue.topic, EVERYTHING, kind=TAG),
            max_messages=min(count, self.options.pull_batch_size),
        )
        answer = await session.invoke(addr, wanted.header(), timeout_ms=self.options.pull_timeout_ms)
        if answer.code not in _PULLED:
            raise refusal(answer.code, answer.remark, addr, topic=self.queue.topic)
        return answer

    def _check_loss(self, begin: int, end: int, goes_on_at: int) -> None:
        if self.options.fail_on_data_loss:
            raise DataLoss(
                f"{self.queue.broker_name} topic={self.queue.topic} queue={self.queue.queue_id}: messages {begin} to "
                f"{end} are wanted, the broker goes on at {goes_on_at}; failOnDataLoss=false reads what is left"
            )


_PULLED: Final = frozenset(
    {
        ResponseCode.SUCCESS,
        ResponseCode.PULL_NOT_FOUND,
        ResponseCode.PULL_RETRY_IMMEDIATELY,
        ResponseCode.PULL_OFFSET_MOVED,
    }
)
