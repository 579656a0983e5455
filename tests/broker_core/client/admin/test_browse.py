"""A topic read backwards in time, from a broker that finds offsets by time as roughly as real ones."""

from __future__ import annotations

import itertools
from bisect import bisect_left
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import pytest

from broker_core.client.admin import Admin
from broker_core.client.config import ClientConfig
from broker_core.client.session import Session
from broker_core.protocol import record
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers.offsets import (
    GetMaxOffsetResponse,
    GetMinOffsetResponse,
    SearchOffsetRequest,
    SearchOffsetResponse,
)
from broker_core.protocol.headers.pull import PullMessageRequest, PullMessageResponse
from broker_core.protocol.host import encode_host
from tests.support.scripted import Cluster, Peer, scripted_cluster, succeed

HOST = encode_host("127.0.0.1", 10911)


@dataclass
class Queue:
    """One queue whose messages were stored at the given times."""

    times: list[int]
    first: int = 0
    at_once: int = 32
    pulled: list[int] = field(default_factory=list)

    def install(self, peer: Peer) -> None:
        """Make `peer` answer for this queue."""
        success = ResponseCode.SUCCESS
        low, high = GetMinOffsetResponse(self.first), GetMaxOffsetResponse(len(self.times))
        peer.on(RequestCode.GET_MIN_OFFSET, succeed(lambda _: Command.response(success, low)))
        peer.on(RequestCode.GET_MAX_OFFSET, succeed(lambda _: Command.response(success, high)))
        peer.on(RequestCode.SEARCH_OFFSET_BY_TIMESTAMP, succeed(self._nearest))
        peer.on(RequestCode.PULL_MESSAGE, succeed(self._pull))

    def _nearest(self, request: Command) -> Command:
        at = request.header(SearchOffsetRequest).timestamp
        behind = bisect_left(self.times, at)
        around = [offset for offset in (behind - 1, behind) if self.first <= offset < len(self.times)]
        nearest = min(around, key=lambda offset: abs(self.times[offset] - at))
        return Command.response(ResponseCode.SUCCESS, SearchOffsetResponse(nearest))

    def _pull(self, request: Command) -> Command:
        header = request.header(PullMessageRequest)
        begin, end = (
            header.queue_offset,
            min(header.queue_offset + min(self.at_once, header.max_msg_nums), len(self.times)),
        )
        self.pulled.append(begin)
        answer = PullMessageResponse(0, end, self.first, len(self.times))
        return Command.response(ResponseCode.SUCCESS, answer, b"".join(self._record(at) for at in range(begin, end)))

    def _record(self, offset: int) -> bytes:
        topic, body = record.encode_topic("orders"), str(offset).encode()
        origin = record.MessageOrigin(0, HOST, self.times[offset], HOST)
        size = record.size_of(topic, body, b"", origin)
        return record.encode(topic, body, b"", origin, size, 0, offset, offset * 100)


@pytest.fixture
async def cluster() -> AsyncIterator[Cluster]:
    async with scripted_cluster("broker-a") as cluster:
        cluster.add_topic("orders", queues=1)
        yield cluster


async def browse(cluster: Cluster, queue: Queue, *, begin: int = 0, end: int = 2**63 - 1, limit: int = 50) -> list[int]:
    """Return the offsets of one page."""
    queue.install(cluster["broker-a"])
    async with Session(ClientConfig([cluster.name_server.addr])) as session:
        page = await Admin(session).messages.browse("orders", begin=begin, end=end, limit=limit)
    return [int(placed.message.body) for placed in page.messages]


async def test_a_page_has_exactly_the_messages_of_its_time(cluster: Cluster) -> None:
    times = [100, 200, 200, 300]
    Queue(times).install(cluster["broker-a"])
    async with Session(ClientConfig([cluster.name_server.addr])) as session:
        for begin, end in itertools.product((0, 100, 150, 250), range(90, 320, 10)):
            page = await Admin(session).messages.browse("orders", begin=begin, end=end)

            offsets = [int(placed.message.body) for placed in page.messages]
            assert offsets == [at for at in reversed(range(4)) if begin <= times[at] <= end], (begin, end)


async def test_nothing_is_read_beyond_the_first_message_that_is_too_old(cluster: Cluster) -> None:
    queue = Queue([1_000 + at for at in range(200)])

    offsets = await browse(cluster, queue, begin=1_190)

    assert offsets == list(reversed(range(190, 200)))
    assert queue.pulled == [168]


async def test_a_broker_that_gives_little_at_a_time_is_asked_more_often(cluster: Cluster) -> None:
    queue = Queue([1_000 + at for at in range(100)], at_once=5)

    assert await browse(cluster, queue, limit=40) == list(reversed(range(60, 100)))


async def test_messages_that_are_gone_are_not_asked_for(cluster: Cluster) -> None:
    queue = Queue([1_000 + at for at in range(50)], first=30)

    assert await browse(cluster, queue) == list(reversed(range(30, 50)))
    assert min(queue.pulled) >= 30


async def test_from_a_page_the_newer_messages_are_read_again(cluster: Cluster) -> None:
    queue = Queue([1_000 + at for at in range(100)], first=3, at_once=7)
    queue.install(cluster["broker-a"])
    async with Session(ClientConfig([cluster.name_server.addr])) as session:
        messages = Admin(session).messages
        older = await messages.browse("orders", limit=90, end=1_095)
        place = older.positions
        seen: list[int] = []
        for limit in (1, 40, 40, 40):
            page = await messages.browse_newer("orders", place, limit=limit, end=1_095)
            seen += [int(placed.message.body) for placed in page.messages]
            place = page.positions | page.finished
    assert seen == list(range(6, 96))
    assert not page.positions
