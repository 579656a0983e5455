"""A group's progress: recorded here, stored by the broker or, if broadcasting, in a file (client/README.md#offsets)."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

import orjson

from broker_core.client.errors import NoRoute, OffsetsDamaged, refusal
from broker_core.client.session import Session
from broker_core.errors import GantryError
from broker_core.logs import get_logger
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.codes import ResponseCode
from broker_core.protocol.headers.offsets import (
    QueryConsumerOffsetRequest,
    QueryConsumerOffsetResponse,
    UpdateConsumerOffsetRequest,
)


class OffsetStore(Protocol):
    """Stores the committed offsets of one group."""

    async def stored(self, queue: MessageQueue) -> int | None:
        """Return the stored offset, None if there is none; raise if it cannot be determined."""

    def find(self, queue: MessageQueue) -> int | None:
        """Return the offset recorded here."""

    def note(self, queue: MessageQueue, offset: int, *, may_go_back: bool = False) -> None:
        """Record the offset up to which `queue` is consumed; the next `persist` stores it."""

    async def persist(self, queues: Iterable[MessageQueue]) -> None:
        """Store the recorded offsets of `queues`."""

    async def give_up(self, queues: Iterable[MessageQueue]) -> None:
        """Store the recorded offsets of `queues` a last time and forget them."""


class Noted:
    """Offsets by queue, in memory."""

    def __init__(self) -> None:
        self._offsets: dict[MessageQueue, int] = {}

    def find(self, queue: MessageQueue) -> int | None:
        """Return the offset recorded here."""
        return self._offsets.get(queue)

    def note(self, queue: MessageQueue, offset: int, *, may_go_back: bool = False) -> None:
        """Record the offset up to which `queue` is consumed; the next `persist` stores it."""
        if may_go_back or offset > self._offsets.get(queue, -1):
            self._offsets[queue] = offset


class BrokerOffsets(Noted):
    """Offsets stored by the brokers of the queues and shared by the group."""

    def __init__(self, session: Session, group: str) -> None:
        super().__init__()
        self._session = session
        self._group = group
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._log = get_logger(__name__, f"group={group}")

    async def stored(self, queue: MessageQueue) -> int | None:
        """Query the broker; None if it has no offset of the group. Raises Unreachable or BrokerRefused."""
        addr = await self._address(queue)
        header = QueryConsumerOffsetRequest(self._group, queue.topic, queue.queue_id)
        answer = await self._session.invoke(addr, header)
        if answer.code == ResponseCode.QUERY_NOT_FOUND:
            return None
        if answer.code != ResponseCode.SUCCESS:
            raise self._session.named(refusal(answer.code, answer.remark, addr, topic=queue.topic), addr)
        return answer.header(QueryConsumerOffsetResponse).offset

    async def persist(self, queues: Iterable[MessageQueue]) -> None:
        """Store the recorded offsets; those that cannot be stored are logged, and sent again next time."""
        await self._store({queue: self._offsets[queue] for queue in queues if queue in self._offsets})

    async def give_up(self, queues: Iterable[MessageQueue]) -> None:
        """Store the recorded offsets of `queues` a last time and forget them."""
        await self._store({queue: self._offsets.pop(queue) for queue in queues if queue in self._offsets})

    async def _store(self, offsets: dict[MessageQueue, int]) -> None:
        names = {queue.broker_name for queue in offsets}
        stores = (
            self._store_at(name, {queue: at for queue, at in offsets.items() if queue.broker_name == name})
            for name in names
        )
        # A store that was sent must be answered before the next one is, even if nobody waits for it any more.
        await asyncio.shield(asyncio.gather(*stores))

    async def _store_at(self, broker_name: str, offsets: dict[MessageQueue, int]) -> None:
        # Apache RocketMQ may lose one of a group's first offsets of a topic if they come together.
        alone = set({queue.topic: queue for queue in offsets}.values())
        async with self._turns[broker_name]:
            for wave in (alone, offsets.keys() - alone):
                await asyncio.gather(*(self._store_one(queue, offsets[queue]) for queue in wave))

    async def _store_one(self, queue: MessageQueue, offset: int) -> None:
        header = UpdateConsumerOffsetRequest(self._group, queue.topic, queue.queue_id, offset)
        name, session = queue.broker_name, self._session
        try:
            if session.routes.master(name) is not None:
                addr, answer = await session.ask_master(name, queue.topic, header)
            else:  # a slave passes it on
                addr = await self._address(queue)
                answer = await session.invoke(addr, header)
            if answer.code != ResponseCode.SUCCESS:
                raise session.named(refusal(answer.code, answer.remark, addr, topic=queue.topic), addr)
        except GantryError as error:
            self._log.warning("%s: offset %d not stored: %s", queue, offset, error)

    async def _address(self, queue: MessageQueue) -> str:
        routes = self._session.routes
        addr = routes.readable(queue.broker_name)
        if addr is None:
            await routes.refresh(queue.topic)
            addr = routes.readable(queue.broker_name)
        if addr is None:
            raise NoRoute(queue.topic, f"broker {queue.broker_name!r} is not in its route")
        return addr


class FileOffsets(Noted):
    """Offsets of one broadcasting consumer in its own file: each such consumer reads everything."""

    def __init__(self, path: Path) -> None:
        """Read the file if it exists; raise OffsetsDamaged."""
        super().__init__()
        self._path = path
        self._offsets = _read(path)

    async def stored(self, queue: MessageQueue) -> int | None:
        """Return the offset in the file."""
        return self._offsets.get(queue)

    async def persist(self, queues: Iterable[MessageQueue]) -> None:
        """Write all offsets to a new file and rename it, so that a crash leaves the old or the new one."""
        wanted = set(queues)
        table = {f"{q.topic}@{q.broker_name}@{q.queue_id}": at for q, at in self._offsets.items() if q in wanted}
        fresh = self._path.with_suffix(".new")
        self._path.parent.mkdir(parents=True, exist_ok=True)
        fresh.write_bytes(orjson.dumps(table, option=orjson.OPT_SORT_KEYS))
        fresh.replace(self._path)

    async def give_up(self, queues: Iterable[MessageQueue]) -> None:
        """Keep the offsets: a broadcasting consumer gets its queues back."""


def _read(path: Path) -> dict[MessageQueue, int]:
    try:
        table = orjson.loads(path.read_bytes())
        return {_queue_of(name): int(offset) for name, offset in table.items()}
    except FileNotFoundError:
        return {}
    except (ValueError, AttributeError, TypeError) as error:
        raise OffsetsDamaged(path, str(error)) from error


def _queue_of(name: str) -> MessageQueue:
    topic, broker_name, queue_id = name.rsplit("@", 2)
    return MessageQueue(topic, broker_name, int(queue_id))
