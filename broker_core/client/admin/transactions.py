"""Open transactions: what the brokers' half messages and op records tell, on Gantry and on Apache RocketMQ alike."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from broker_core.client.admin.index import MAX_FOUND, ask_index
from broker_core.client.admin.offsets import Offsets
from broker_core.client.admin.placed import PlacedMessage, RangeReader, view
from broker_core.client.admin.requests import AdminRequests
from broker_core.client.answers import Answers
from broker_core.client.errors import TopicNotFound, refused_decision
from broker_core.protocol.bodies.groups import ProducerTableInfo
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.codes import ResponseCode
from broker_core.protocol.half_records import (
    HALF_QUEUE,
    PROGRESS_GROUP,
    HalfRecord,
    SentAs,
    chains_of,
    done_by,
    half_from,
    is_decided,
)
from broker_core.protocol.headers.groups import GetAllProducerInfoRequest
from broker_core.protocol.headers.messages import QueryMessageRequest
from broker_core.protocol.headers.transactions import ResumeCheckHalfMessageRequest
from broker_core.protocol.message import LogOffset, QueueOffset, StoredMessage
from broker_core.protocol.topics import HALF_TOPIC, OP_HALF_TOPIC

MOST_RECORDS: Final = 20_000
"""So many records of each internal topic are read at one broker."""

_FOREVER: Final = 2**63 - 1
_PULL: Final = 32
_AT_ONCE: Final = 8


@dataclass(frozen=True, slots=True)
class HalfMessage:
    """What a half record tells of its message; `topic` is where it goes. Times are in ms since 1970.

    `began_at` is when its first half record was stored, None if that is not known; `since` when its checks began, or
    began anew. `checks` are those since then, `checks_before` the others.
    """

    broker_name: str
    message_id: str
    unique_id: str | None
    topic: str
    group: str
    first: QueueOffset
    queue_offset: QueueOffset
    log_offset: LogOffset
    offset_id: str
    keys: Sequence[str]
    tag: str | None
    born_at: int
    born_host: str
    began_at: int | None
    since: int
    stored_at: int
    checks: int
    checks_before: int
    immune_ms: int | None
    body_bytes: int

    @property
    def sent_as(self) -> SentAs:
        """What all records of the same sent message share."""
        return SentAs(self.unique_id, self.born_at, self.born_host)

    @property
    def all_checks(self) -> int:
        """How often the producers were asked."""
        return self.checks_before + self.checks

    @classmethod
    def of(cls, broker_name: str, stored: StoredMessage) -> HalfMessage | None:
        """Return it; None for a record without destination or producer group."""
        half = half_from(stored)
        if half is None:
            return None
        return cls(
            broker_name=broker_name,
            message_id=stored.message_id,
            unique_id=stored.unique_id,
            topic=half.topic,
            group=half.group,
            first=half.first,
            queue_offset=half.queue_offset,
            log_offset=half.log_offset,
            offset_id=stored.offset_id,
            keys=stored.keys,
            tag=stored.tag,
            born_at=stored.born_timestamp,
            born_host=stored.born_host,
            began_at=half.began_at,
            since=half.since,
            stored_at=half.stored_at,
            checks=half.checks,
            checks_before=half.checks_before,
            immune_ms=half.immune_ms,
            body_bytes=len(stored.body),
        )


@dataclass(frozen=True, slots=True)
class OpenTransaction:
    """A transaction without a decision: its newest half record, and the queue offsets of all that were read."""

    newest: HalfMessage
    offsets: frozenset[QueueOffset]


@dataclass(frozen=True, slots=True)
class OpenOnBroker:
    """What is open at one broker, oldest first."""

    items: list[OpenTransaction]
    is_complete: bool
    """Whether everything was read: else there may be more, and some of these may be decided.

    Apache RocketMQ 4.9 shows no decisions: there, what was decided stays in sight until the next round of checks.
    """


class Transactions:
    """Questions about transactions, and checking them again."""

    def __init__(self, requests: AdminRequests, offsets: Offsets) -> None:
        self._requests = requests
        self._offsets = offsets
        self._ranges = RangeReader(requests.session)

    async def open(self) -> Answers[OpenOnBroker]:
        """Return the open transactions of each master, by broker name."""
        return await self._requests.ask_each(await self._requests.broker_names(), self.open_on)

    async def open_on(self, broker_name: str) -> OpenOnBroker:
        """Return the open transactions of one broker; raise NoRoute, BrokerRefused or Unreachable."""
        # In this order a transaction that is checked meanwhile stays in sight: its copy is read, its op record is not.
        ended, has_all_ops = await self._ended(broker_name)
        try:
            halves, halves_end = await self._range(broker_name, HALF_TOPIC)
            told, bodiless = await self._halves(broker_name, halves, halves_end)
        except TopicNotFound:  # of Apache RocketMQ, before its first round of checks
            return OpenOnBroker([], is_complete=False)
        chains = (chain for chain in chains_of(bodiless, ended) if _is_open(chain, ended))
        items = [_open_of(chain, told) for chain in chains]
        items.sort(key=lambda each: (each.newest.began_at or each.newest.since, each.newest.queue_offset))
        return OpenOnBroker(items, has_all_ops and halves_end - halves <= MOST_RECORDS)

    async def _ended(self, broker_name: str) -> tuple[set[QueueOffset], bool]:
        """Return the half records that op records say are done, and whether all of these were read."""
        ended: set[QueueOffset] = set()
        try:
            ops, ops_end = await self._range(broker_name, OP_HALF_TOPIC)
            async for stored in self._read(broker_name, OP_HALF_TOPIC, ops, ops_end):
                ended.update(done_by(stored))
        except TopicNotFound:  # Apache RocketMQ 4.9 shows its op records to nobody
            return ended, False
        return ended, ops_end - ops <= MOST_RECORDS

    async def _halves(
        self, broker_name: str, begin: int, end: int
    ) -> tuple[dict[QueueOffset, HalfMessage], list[StoredMessage]]:
        """Return what half records tell, by queue offset, and the records without their bodies."""
        told: dict[QueueOffset, HalfMessage] = {}
        bodiless: list[StoredMessage] = []
        async for stored in self._read(broker_name, HALF_TOPIC, begin, end):
            half = HalfMessage.of(broker_name, stored)
            if half is not None:
                told[half.queue_offset] = half
                bodiless.append(replace(stored, body=b""))
        return told, bodiless

    async def half(self, broker_name: str, queue_offset: int, log_offset: int) -> PlacedMessage | None:
        """Return the half record at these offsets; None if it is not stored any more."""
        found = await self._requests.at_master(broker_name, lambda addr: view(self._requests, addr, log_offset))
        is_half = found is not None and found.topic == HALF_TOPIC and found.queue_offset == queue_offset
        return PlacedMessage(found, broker_name) if found is not None and is_half else None

    async def same_message(self, half: HalfMessage, topic: str) -> list[StoredMessage]:
        """Return the records in a topic of its broker that were made of the same sent message, the newest first.

        It finds none for a message without a unique id. The topic may be one that the broker has not announced yet.
        """
        if half.unique_id is None:
            return []
        header = QueryMessageRequest(topic, half.unique_id, MAX_FOUND, 0, _FOREVER)
        found = await self._requests.at_master(half.broker_name, lambda addr: ask_index(self._requests, addr, header))
        same = (each for each in found.matching if SentAs.of(each) == half.sent_as)
        return sorted(same, key=lambda each: each.log_offset, reverse=True)

    async def producer_groups(self) -> Answers[frozenset[str]]:
        """Return the producer groups with members connected to each master, by broker name."""

        async def ask(name: str) -> frozenset[str]:
            table = await self._requests.at_master(
                name, lambda addr: self._requests.ask_for(ProducerTableInfo, addr, GetAllProducerInfoRequest())
            )
            return frozenset(group for group, members in table.data.items() if members)

        return await self._requests.ask_each(await self._requests.broker_names(), ask)

    async def check_again(self, broker_name: str, offset_id: str) -> None:
        """Have a half message checked from the beginning, also one that was given up, by its offset id.

        Raises TransactionDecided, TransactionUnknown or another BrokerRefused, NoRoute or Unreachable.
        """
        header = ResumeCheckHalfMessageRequest(offset_id)
        addr, answer = await self._requests.session.ask_master(broker_name, HALF_TOPIC, header)
        if answer.code not in (ResponseCode.SUCCESS, ResponseCode.FLUSH_DISK_TIMEOUT):
            raise self._requests.session.named(refused_decision(answer.code, answer.remark, addr), addr)

    async def _range(self, broker_name: str, topic: str) -> tuple[int, int]:
        """Return the offsets between which records count that are not done with."""
        queue = MessageQueue(topic, broker_name, HALF_QUEUE)
        end = await self._offsets.max(queue)
        if not end:  # Apache RocketMQ makes the topics with the first transaction
            return 0, 0
        saved = await self._offsets.find(PROGRESS_GROUP, queue) or 0
        return max(saved, await self._offsets.min(queue)), end

    async def _read(self, broker_name: str, topic: str, begin: int, end: int) -> AsyncIterator[StoredMessage]:
        queue, end = MessageQueue(topic, broker_name, HALF_QUEUE), min(end, begin + MOST_RECORDS)
        for start in range(begin, end, _PULL * _AT_ONCE):
            stop = min(end, start + _PULL * _AT_ONCE)
            parts = (self._ranges.before(queue, at, min(stop, at + _PULL)) for at in range(start, stop, _PULL))
            for part in await asyncio.gather(*parts):
                for stored in part:
                    yield stored


def _open_of(chain: Sequence[HalfRecord], told: Mapping[QueueOffset, HalfMessage]) -> OpenTransaction:
    newest = chain[-1].half
    half = replace(told[newest.queue_offset], first=newest.first, began_at=newest.began_at, since=newest.since)
    return OpenTransaction(half, frozenset(each.half.queue_offset for each in chain))


def _is_open(chain: Sequence[HalfRecord], ended: set[QueueOffset]) -> bool:
    return not all(record.is_done for record in chain) and not is_decided(list(chain), ended)
