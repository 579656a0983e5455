"""Reading topics over the wire: the same ranges and records as from files, pulled from brokers.

A queue range is pulled as several concurrent sub-ranges on one connection and returned in order. Each process keeps one
session per cluster, on a loop in its own thread (spark/README.md#what-a-worker-keeps).
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise
from typing import Final

import numpy as np

from broker_core.client.admin import Admin
from broker_core.client.blocking import BlockingSession
from broker_core.client.config import ClientConfig
from broker_core.client.consumer.pull import Pull
from broker_core.client.consumer.subscriptions import EVERYTHING, TAG, subscription
from broker_core.client.errors import BrokerBusy, ClientError, NoRoute, TopicNotFound, refusal
from broker_core.client.errors import Unreachable as PeerUnreachable
from broker_core.client.retry import backoff
from broker_core.client.session import Session
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.codes import ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers.pull import PullMessageResponse
from broker_core.spark.blocks import Block, cut_block
from broker_core.spark.bytes_read import BytesRead
from broker_core.spark.errors import UnknownOption, Unreachable
from broker_core.spark.options import SourceOptions
from broker_core.spark.partitions import (
    CLOCK_SKEW_MS,
    MOST_PARTITIONS,
    WirePartition,
    check_names,
    choose_range,
    chosen_offsets,
    count_of,
    is_chosen,
    lose,
)
from broker_core.spark.topic_routes import route_of
from broker_core.spark.wire_place import WirePlace
from broker_core.store.columns import Damage, Records, Wanted, find_records

_SUB_RANGE: Final = 1024
"""Messages per sub-range: with four sub-ranges a batch is large enough for decoding in columns."""
MOST_BYTES: Final = 16 << 20
"""A read holds at most this many bytes of answers at a time."""
_LIGHT: Final = "%LMQ%"
_TRIES: Final = 10
"""Answers that do not go on, before the rest is taken for lost."""
_PULLED_WITHIN_S: Final = 60.0
_FIRST_PAUSE_S: Final = 0.1
_LONGEST_PAUSE_S: Final = 5.0

# Global, because the next task of this worker creates its own reader.
_sessions: dict[WirePlace, BlockingSession] = {}


def session_of(place: WirePlace) -> BlockingSession:
    """Return this process's session with a cluster."""
    if place not in _sessions:
        config = ClientConfig(place.name_servers, credentials=place.account, tls=place.tls)
        _sessions[place] = BlockingSession(config)
    return _sessions[place]


def close_sessions() -> None:
    """Close this process's sessions, for a process that continues without Spark; `session_of` opens new ones."""
    while _sessions:
        _sessions.popitem()[1].close()


def plan_wire(all_options: Sequence[SourceOptions]) -> list[list[WirePartition]]:
    """Return for each read the partitions of the queues with messages in its range: a snapshot of the brokers.

    Raises UnknownOption for an unknown name, DataLoss, and Unreachable if no broker answers.
    """
    planned: list[list[WirePartition]] = [[] for _ in all_options]
    with translated():
        for place in dict.fromkeys(options.wire_place for options in all_options):
            session = session_of(place)
            mine = [number for number, options in enumerate(all_options) if options.wire_place == place]
            found = session.run(_plan(session.admin, [all_options[number] for number in mine]))
            for number, partitions in zip(mine, found, strict=True):
                planned[number] = partitions
    return planned


async def _plan(admin: Admin, all_options: Sequence[SourceOptions]) -> list[list[WirePartition]]:
    chosen = [await _chosen(admin, options) for options in all_options]
    # All ends at once, before anything that takes longer.
    bounds = await asyncio.gather(*(bounds_of(admin, queue) for queues in chosen for queue in queues))
    of_queue = iter(bounds)
    planned = []
    for options, queues in zip(all_options, chosen, strict=True):
        wanted = [_wanted(admin, queue, next(of_queue), options) for queue in queues]
        parts = [part for part in await asyncio.gather(*wanted) if part.begin < part.end]
        planned.append(list(_cut(parts, options.min_partitions)))
    return planned


def _cut(parts: Sequence[WirePartition], least: int) -> Iterator[WirePartition]:
    """Yield the ranges, cut by numbers of messages if that makes at least so many, of about a thousand."""
    least = min(least, MOST_PARTITIONS)
    most = max(1, sum(map(count_of, parts)) // least)
    for part in parts:
        pieces = -(-(part.end - part.begin) // most) if len(parts) < least else 1
        edges = [part.begin + (part.end - part.begin) * number // pieces for number in range(pieces + 1)]
        yield from (replace(part, begin=begin, end=end) for begin, end in pairwise(edges))


async def _chosen(admin: Admin, options: SourceOptions) -> list[MessageQueue]:
    queues = [queue for topic in options.topics for queue in (await route_of(admin, topic))]
    brokers = {queue.broker_name for queue in queues}
    for broker in options.brokers:
        if broker not in brokers:
            raise UnknownOption(broker, brokers, what="broker")
    queues = [queue for queue in queues if not options.brokers or queue.broker_name in options.brokers]
    check_names(options, {(queue.topic, queue.broker_name, queue.queue_id) for queue in queues})
    return [queue for queue in queues if is_chosen(options, queue.broker_name, queue.queue_id)]


async def bounds_of(admin: Admin, queue: MessageQueue) -> tuple[int, int]:
    end, begin = await asyncio.gather(admin.offsets.max(queue), admin.offsets.min(queue))
    return int(begin), int(end)


async def _wanted(admin: Admin, queue: MessageQueue, bounds: tuple[int, int], options: SourceOptions) -> WirePartition:
    has_begin, has_end = bounds
    begin, end = choose_range(options, queue.broker_name, queue.topic, queue.queue_id, has_begin, has_end)
    if options.starting_timestamp is not None:
        begin = await offset_at(admin, queue, options.starting_timestamp - CLOCK_SKEW_MS, has_begin, has_end)
    if options.ending_timestamp is not None:
        end = await offset_at(admin, queue, options.ending_timestamp + CLOCK_SKEW_MS, has_begin, has_end)
    return WirePartition(queue.broker_name, queue.topic, queue.queue_id, begin, max(begin, end))


async def offset_at(admin: Admin, queue: MessageQueue, timestamp: int, low: int, high: int) -> int:
    """Return the first offset stored at `timestamp` or later; brokers return only the nearest one."""
    while low < high:
        middle = (low + high) // 2
        # A damaged message that the broker leaves out counts with the time of the next one that it sends.
        page = await admin.messages.page(queue, middle, 1)
        if page.messages and page.messages[0].message.store_timestamp < timestamp:
            low = int(page.messages[0].message.queue_offset) + 1
        else:
            high = middle
    return low


def read_wire_blocks(
    partition: WirePartition,
    options: SourceOptions,
    read: BytesRead | None = None,
    *,
    wanted: Wanted = Wanted.CHECKED_BODIES,
) -> Iterator[Block]:
    """Yield the blocks of a range in queue order, each message intact or with its damage; raises DataLoss, Unreachable.

    At most `MOST_BYTES` of answers are held at a time, plus one answer. Adds the bytes of the answers to `read`.
    """
    read = read or BytesRead()
    session = session_of(options.wire_place)
    puller = _Puller(session.session, partition, options)
    at = partition.begin
    while at < partition.end:
        with translated():
            piece = session.run(puller.window(at, partition.end))
        read.wire += sum(map(len, piece.bodies))
        for begin, end in piece.gone:
            lose(partition, options, begin, end, "the broker does not have them")
        yield from _blocks(piece, partition, wanted)
        at = piece.end


def _blocks(piece: _Piece, partition: WirePartition, wanted: Wanted) -> Iterator[Block]:
    data = b"".join(piece.bodies)
    begins = [0, *accumulate(map(len, piece.bodies[:-1]))]
    records = Records(np.frombuffer(data, np.uint8), find_records(data, begins))
    damage = records.find_damage(of_queue=_known_as(partition), wanted=wanted)
    # Other kinds of damage make even the offset unreadable.
    is_readable = (damage == Damage.NONE) | (damage == Damage.BODY)
    records, damage = records.take(is_readable), damage[is_readable]
    offsets = records.column("queue_offset")
    offsets, rows = np.unique(offsets, return_index=True)
    inside = (offsets >= piece.begin) & (offsets < piece.end)
    offsets, rows = offsets[inside], rows[inside]
    count = piece.end - piece.begin
    positions, log_offsets = np.zeros(count, np.int64), np.full(count, -1, np.int64)
    found = np.full(count, Damage.NOT_SENT, np.int8)
    positions[offsets - piece.begin] = records.positions[rows]
    log_offsets[offsets - piece.begin] = records.column("log_offset")[rows]
    found[offsets - piece.begin] = damage[rows]
    queue_offsets = np.arange(piece.begin, piece.end)
    kept = np.ones(count, bool)
    for begin, end in piece.gone:
        kept[begin - piece.begin : end - piece.begin] = False
    only = chosen_offsets(partition, piece.begin, piece.end)
    if only is not None:
        kept &= np.isin(queue_offsets, only)
    yield from cut_block(
        Block(Records(records.data, positions[kept]), found[kept], queue_offsets[kept], log_offsets[kept])
    )


def _known_as(partition: WirePartition) -> tuple[bytes, int] | None:
    """Return topic and queue id in the records of a queue; records of a light queue have their original topic."""
    if partition.topic.startswith(_LIGHT):
        return None
    return partition.topic.encode(), partition.queue_id


@contextmanager
def translated() -> Iterator[None]:
    """Raise this package's errors when a cluster cannot be read."""
    try:
        yield
    except ClientError as error:
        raise Unreachable(str(error)) from error


@dataclass(slots=True)
class _Piece:
    """The part of a range that was pulled: the answers for the offsets from `begin` to `end`."""

    begin: int
    end: int
    bodies: list[bytes] = field(default_factory=list)
    gone: list[tuple[int, int]] = field(default_factory=list)
    """Ranges that the queue no longer has."""


@dataclass(slots=True)
class _Puller:
    """Pulls ranges of one queue, several at a time: fewer and shorter ones when messages are large."""

    session: Session
    partition: WirePartition
    options: SourceOptions
    _largest: int | None = None
    """Bytes of the largest answer so far."""
    _average: int | None = None
    """Bytes of a message in the previous window."""

    async def window(self, begin: int, end: int) -> _Piece:
        """Return the answers from `begin` on: the ranges read concurrently, up to the first gap."""
        side_by_side, length = 1, self.options.pull_batch_size
        if self._largest is not None and self._average is not None:
            side_by_side = max(1, min(self.options.pull_parallelism, MOST_BYTES // self._largest))
            length = max(1, min(_SUB_RANGE, MOST_BYTES // side_by_side // (2 * self._average)))
        share = MOST_BYTES // side_by_side
        starts = range(begin, end, length)[:side_by_side]
        read = await asyncio.gather(*(self._read(start, min(start + length, end), share) for start in starts))
        self._learn(read)
        joined = read[0]
        for piece in read[1:]:
            # What follows a piece that was too large for its share is pulled again in its turn.
            if piece.begin != joined.end:
                break
            joined.end = piece.end
            joined.bodies += piece.bodies
            joined.gone += piece.gone
        return joined

    def _learn(self, pieces: Sequence[_Piece]) -> None:
        sizes = [len(body) for piece in pieces for body in piece.bodies]
        if sizes:
            self._largest = max(1, self._largest or 0, *sizes)
            self._average = max(1, sum(sizes) // max(1, sum(piece.end - piece.begin for piece in pieces)))

    async def _read(self, begin: int, end: int, share: int) -> _Piece:
        """Return the answers that cover a range, or the beginning of it that fills the share."""
        piece, at, stalled, size = _Piece(begin, end), begin, 0, 0
        while at < end and size < share:
            answer = await self._pull(at, end - at)
            next_offset = answer.header(PullMessageResponse).next_begin_offset
            if answer.code == ResponseCode.SUCCESS:
                piece.bodies.append(answer.body)
                size += len(answer.body)
            elif answer.code in _MOVED and next_offset > at:
                lost = min(next_offset, self.partition.end)
                self._check_loss(at, lost, f"the broker continues at {next_offset}")
                piece.gone.append((at, min(next_offset, end)))
            stalled = stalled + 1 if next_offset <= at else 0
            at = min(max(at, next_offset), end)
            if stalled == _TRIES:
                self._check_loss(at, end, f"the broker does not go on behind {at}")
                piece.gone.append((at, end))
                at = end
            elif stalled:
                await asyncio.sleep(_FIRST_PAUSE_S)
        piece.end = at
        return piece

    async def _pull(self, offset: int, count: int) -> Command:
        """Send one pull; repeat it while the broker is busy or away, as while it is restarted with its name server."""
        failure: ClientError | None = None
        for pause_s in backoff(first_s=_FIRST_PAUSE_S, longest_s=_LONGEST_PAUSE_S, within_s=_PULLED_WITHIN_S):
            if pause_s:
                await asyncio.sleep(pause_s)
            try:
                return await self._pull_once(offset, count)
            except (BrokerBusy, PeerUnreachable, NoRoute, TopicNotFound) as error:
                failure = error
        assert failure is not None
        raise failure

    async def _pull_once(self, offset: int, count: int) -> Command:
        session, part = self.session, self.partition
        addr = session.routes.readable(part.broker)
        if addr is None:
            await session.routes.refresh(part.topic)
            addr = session.routes.readable(part.broker)
        if addr is None:
            raise NoRoute(part.topic, f"broker {part.broker!r} is not in its route")
        wanted = Pull(
            group=self.options.group,
            queue=MessageQueue(part.topic, part.broker, part.queue_id),
            offset=offset,
            subscription=subscription(part.topic, EVERYTHING, kind=TAG),
            max_messages=min(count, self.options.pull_batch_size),
        )
        answer = await session.invoke(addr, wanted.header(), timeout_ms=self.options.pull_timeout_ms)
        if answer.code not in _PULLED:
            raise refusal(answer.code, answer.remark, addr, topic=part.topic)
        return answer

    def _check_loss(self, begin: int, end: int, reason: str) -> None:
        if self.options.fail_on_data_loss:
            lose(self.partition, self.options, begin, end, reason)


_MOVED: Final = (ResponseCode.PULL_OFFSET_MOVED, ResponseCode.PULL_NOT_FOUND)
"""With a later offset: the queue goes on there, as its beginning or a file of it was removed."""
_PULLED: Final = frozenset(
    {
        ResponseCode.SUCCESS,
        ResponseCode.PULL_NOT_FOUND,
        ResponseCode.PULL_RETRY_IMMEDIATELY,
        ResponseCode.PULL_OFFSET_MOVED,
    }
)
