"""Questions to the index files of brokers: messages of a topic with a key, and many keys or topics in one go."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from broker_core.client.admin.placed import PlacedMessage
from broker_core.client.admin.replica_reads import FromSlave, at_master, at_replica
from broker_core.client.admin.requests import AdminRequests
from broker_core.client.decoding import decoded
from broker_core.client.errors import MalformedAnswer, refusal
from broker_core.errors import GantryError
from broker_core.protocol.codes import ResponseCode
from broker_core.protocol.errors import ProtocolError
from broker_core.protocol.headers.messages import QueryMessageRequest, QueryMessageResponse
from broker_core.protocol.message import StoredMessage

MAX_FOUND: Final = 64
"""The most messages that one broker returns for one request."""
_INDEX_SECOND_MS: Final = 1_000
# Questions that are on the way to the brokers at the same time.
_AT_ONCE: Final = 16


@dataclass(frozen=True, slots=True)
class SearchFigures:
    """The cost of a search over all brokers; None where a broker does not report it."""

    index_files: int | None = None
    index_files_skipped_by_time: int | None = None
    entries_visited: int | None = None
    collisions_dropped: int | None = None
    expired_messages: int | None = None


@dataclass(frozen=True, slots=True)
class IndexAnswer:
    """The answer of one broker."""

    matching: list[StoredMessage]
    returned: int
    """How many messages it returned."""
    collisions: int
    """How many of these have another key of the same hash."""
    header: QueryMessageResponse | None
    asked_for: int
    """How many messages the question allowed."""
    oldest_at: int | None
    """When the oldest message that it returned was stored (ms), whether that matches or not."""

    @property
    def is_complete(self) -> bool:
        """Whether the broker has no other message with the key in this range of time."""
        said = self.header.search_complete if self.header is not None else None
        return self.returned < self.asked_for if said is None else said


async def ask_index(requests: AdminRequests, addr: str, header: QueryMessageRequest) -> IndexAnswer:
    """Ask one broker for the messages of a topic with a key; raise what a refusal stands for, or MalformedAnswer.

    An index keeps times in whole seconds, rounded down, and Apache RocketMQ selects by those alone: it is asked from a
    second before, and of what it returns, only what was stored between the two times matches.
    """
    wider = replace(header, begin_timestamp=max(0, header.begin_timestamp - _INDEX_SECOND_MS))
    answer = await requests.invoke(addr, wider)
    if answer.code not in (ResponseCode.SUCCESS, ResponseCode.QUERY_NOT_FOUND):
        raise requests.session.named(refusal(answer.code, answer.remark, addr, topic=header.topic), addr)
    try:
        found = await decoded(answer.body) if answer.code == ResponseCode.SUCCESS else []
        figures = answer.header(QueryMessageResponse) if answer.ext_fields else None
    except ProtocolError as error:
        raise MalformedAnswer(addr, str(error)) from error
    with_key = [
        message
        for message in found
        if message.topic == header.topic and (message.unique_id == header.key or header.key in message.keys)
    ]
    begin, end = header.begin_timestamp, header.end_timestamp
    matching = [message for message in with_key if begin <= message.store_timestamp <= end]
    oldest_at = min((message.store_timestamp for message in found), default=None)
    return IndexAnswer(matching, len(found), len(found) - len(with_key), figures, header.max_num, oldest_at)


@dataclass(slots=True)
class KeyFound:
    """The messages of one key, newest first, and what was not looked at for it."""

    key: str
    messages: list[PlacedMessage] = field(default_factory=list)
    has_more: bool = False
    """Whether a broker has older messages of the key than it returned."""
    cut_short: bool = False
    """Whether the time was over before everything was asked."""
    failed: dict[str, GantryError] = field(default_factory=dict)
    """Brokers that did not answer, by name."""
    answers: list[IndexAnswer] = field(default_factory=list)
    slaves: dict[str, FromSlave] = field(default_factory=dict)
    """The slaves that were asked in the place of their masters, by broker name."""


class KeyLookup:
    """Looks up keys, one after the other, in many topics at once."""

    def __init__(
        self,
        requests: AdminRequests,
        brokers: Iterable[str],
        topics: Sequence[str],
        wanted: QueryMessageRequest,
        *,
        with_slaves: bool,
        is_told: bool = True,
    ) -> None:
        self.asked: Final = frozenset(brokers)
        """Names of the brokers that are asked."""
        self.is_told: Final = is_told
        """Whether a name server told them now; if not, there may be others."""
        self._requests = requests
        self._topics = topics
        self._wanted = wanted
        self._read = at_replica if with_slaves else at_master
        self._slaves: dict[str, tuple[str, FromSlave]] = {}
        """By name the address of each slave that answered: its master is not looked for with every key."""
        self._places = asyncio.Semaphore(_AT_ONCE)

    async def find(self, key: str, *, ends: float) -> KeyFound:
        """Return what the brokers have of the key; what is not asked at the monotonic time `ends` is cut short."""
        found = KeyFound(key)
        await asyncio.gather(*(self._ask(found, name, topic, ends) for topic in self._topics for name in self.asked))
        found.messages.sort(key=lambda each: each.stored, reverse=True)
        return found

    async def _ask(self, found: KeyFound, name: str, topic: str, ends: float) -> None:
        header = replace(self._wanted, topic=topic, key=found.key)
        async with self._places:
            if time.monotonic() >= ends:
                found.cut_short = True
                return
            if name in found.failed:
                return
            try:
                answer, slave = await self._answer(name, header)
            except GantryError as error:
                found.failed[name] = error
                return
        if slave is not None:
            found.slaves[name] = slave
        found.messages += [PlacedMessage(message, name) for message in answer.matching]
        found.has_more = found.has_more or not answer.is_complete
        found.answers.append(answer)

    async def _answer(self, name: str, header: QueryMessageRequest) -> tuple[IndexAnswer, FromSlave | None]:
        async def ask(addr: str) -> tuple[str, IndexAnswer]:
            return addr, await ask_index(self._requests, addr, header)

        if name in self._slaves:
            addr, slave = self._slaves[name]
            return (await ask(addr))[1], slave
        (addr, answer), slave_now = await self._read(self._requests, name, ask)
        if slave_now is not None:
            self._slaves[name] = addr, slave_now
        return answer, slave_now


def figures_of(answers: Iterable[IndexAnswer]) -> SearchFigures:
    """Return the cost of a search over several brokers."""
    headers, dropped_here = [], 0
    for searched in answers:
        headers.append(searched.header)
        dropped_here += searched.collisions

    def total(name: str) -> int | None:
        values = [getattr(header, name, None) for header in headers]
        known = [value for value in values if value is not None]
        return sum(known) if known and len(known) == len(values) else None

    collisions = total("search_collisions_dropped")
    return SearchFigures(
        index_files=total("search_index_files"),
        index_files_skipped_by_time=total("search_index_files_skipped"),
        entries_visited=total("search_entries_visited"),
        collisions_dropped=None if collisions is None else collisions + dropped_here,
        expired_messages=total("search_expired"),
    )
