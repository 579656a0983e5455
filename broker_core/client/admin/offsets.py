"""Offsets of queues and of groups: query, set, reset."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Final

from broker_core.client.admin.clusters import BrokerRuntime
from broker_core.client.admin.placed import RangeReader
from broker_core.client.admin.requests import AdminRequests
from broker_core.client.answers import Answers, ask_all
from broker_core.client.errors import GroupOffline, MembersConnected, refusal
from broker_core.errors import GantryError
from broker_core.protocol.bodies.groups import ConsumerOffsetSerializeWrapper
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.bodies.routes import KVTable
from broker_core.protocol.bodies.stats import ResetOffsetBody
from broker_core.protocol.codes import ResponseCode
from broker_core.protocol.headers.admin import GetBrokerRuntimeInfoRequest
from broker_core.protocol.headers.offsets import (
    GetEarliestMsgStoretimeRequest,
    GetEarliestMsgStoretimeResponse,
    GetMaxOffsetRequest,
    GetMaxOffsetResponse,
    GetMinOffsetRequest,
    GetMinOffsetResponse,
    QueryConsumerOffsetRequest,
    QueryConsumerOffsetResponse,
    ResetOffsetRequest,
    SearchOffsetRequest,
    SearchOffsetResponse,
    UpdateConsumerOffsetRequest,
)
from broker_core.protocol.headers.replication import GetAllConsumerOffsetRequest
from broker_core.protocol.message import QueueOffset

TO_THE_END: Final = -1


@dataclass(frozen=True, slots=True)
class Reset:
    """The offsets to which each queue of a group was reset."""

    offsets: dict[MessageQueue, int] = field(default_factory=dict)
    failed: dict[str, GantryError] = field(default_factory=dict)
    """Brokers whose queues were not reset, by address, or by name where no master is known."""


class Offsets:
    """Questions about offsets, and changes to those of groups."""

    def __init__(self, requests: AdminRequests) -> None:
        self._requests = requests
        self._ranges = RangeReader(requests.session)

    async def min(self, queue: MessageQueue) -> QueueOffset:
        """Return the first readable offset; 0 for an unknown queue."""
        header = GetMinOffsetRequest(queue.topic, queue.queue_id)
        return QueueOffset((await self._requests.ask_master(GetMinOffsetResponse, queue.broker_name, header)).offset)

    async def max(self, queue: MessageQueue) -> QueueOffset:
        """Return the offset of the next message; 0 for an unknown queue."""
        header = GetMaxOffsetRequest(queue.topic, queue.queue_id)
        return QueueOffset((await self._requests.ask_master(GetMaxOffsetResponse, queue.broker_name, header)).offset)

    async def by_time(self, queue: MessageQueue, timestamp: int) -> QueueOffset:
        """Return the offset of the message stored nearest to `timestamp` (ms); after the last one, that of the last."""
        header = SearchOffsetRequest(queue.topic, queue.queue_id, timestamp)
        return QueueOffset((await self._requests.ask_master(SearchOffsetResponse, queue.broker_name, header)).offset)

    async def earliest_at(self, queue: MessageQueue) -> int | None:
        """Return when the first readable message was stored (ms), None if there is none."""
        header = GetEarliestMsgStoretimeRequest(queue.topic, queue.queue_id)
        answer = await self._requests.ask_master(GetEarliestMsgStoretimeResponse, queue.broker_name, header)
        return answer.timestamp if answer.timestamp > 0 else None

    async def find(self, group: str, queue: MessageQueue) -> QueueOffset | None:
        """Return the stored offset of a group. For a young queue that the group never read, brokers return 0."""
        header = QueryConsumerOffsetRequest(group, queue.topic, queue.queue_id)

        async def ask(addr: str) -> QueueOffset | None:
            answer = await self._requests.invoke(addr, header)
            if answer.code == ResponseCode.QUERY_NOT_FOUND:
                return None
            if answer.code != ResponseCode.SUCCESS:
                raise self._requests.session.named(refusal(answer.code, answer.remark, addr, topic=queue.topic), addr)
            return QueueOffset(self._requests.read(QueryConsumerOffsetResponse, answer, addr).offset)

        return await self._requests.at_master(queue.broker_name, ask)

    async def set(self, group: str, offsets: Mapping[MessageQueue, int]) -> Answers[None]:
        """Store offsets of a group unchecked; answers by ``topic@broker@queue``.

        Online members continue at their own positions and overwrite the offsets: use `reset` for them.
        """

        async def store(name: str) -> None:
            queue = queues[name]
            header = UpdateConsumerOffsetRequest(group, queue.topic, queue.queue_id, offsets[queue])
            await self._requests.at_master(queue.broker_name, lambda addr: self._requests.ask(addr, header))

        queues = {f"{queue.topic}@{queue.broker_name}@{queue.queue_id}": queue for queue in offsets}
        # Apache RocketMQ creates the table of a group that is new to a topic with the first offset; if several
        # first offsets arrive at once, it keeps only one.
        first = {(queue.topic, queue.broker_name): name for name, queue in reversed(queues.items())}.values()
        begun = await ask_all(first, store)
        others = await ask_all([name for name in queues if name not in begun.found and name not in begun.failed], store)
        return Answers(begun.found | others.found, begun.failed | others.failed)

    async def stored(self, group: str, topic: str) -> Answers[dict[MessageQueue, QueueOffset]]:
        """Return the offsets that each master of a topic has stored for a group, by address; raise TopicNotFound.

        Unlike `find` it never returns 0 for a queue without an offset.
        """

        async def ask(addr: str, broker: str) -> dict[MessageQueue, QueueOffset]:
            table = await self._requests.ask_for(ConsumerOffsetSerializeWrapper, addr, GetAllConsumerOffsetRequest())
            known = table.offset_table.get(f"{topic}@{group}", {})
            return {MessageQueue(topic, broker, queue): QueueOffset(at) for queue, at in known.items()}

        return await self._requests.ask_masters_of(topic, ask)

    async def all_stored(self, group: str) -> Answers[dict[MessageQueue, QueueOffset]]:
        """Return the offsets in all topics that each master has stored for a group, by address."""

        async def ask(addr: str, broker: str) -> dict[MessageQueue, QueueOffset]:
            table = await self._requests.ask_for(ConsumerOffsetSerializeWrapper, addr, GetAllConsumerOffsetRequest())
            keys = ((key, key.partition("@")) for key in table.offset_table)
            return {
                MessageQueue(topic, broker, queue): QueueOffset(at)
                for key, (topic, _, name) in keys
                if name == group
                for queue, at in table.offset_table[key].items()
            }

        return await self._requests.ask_masters(ask)

    async def first_since(self, queue: MessageQueue, timestamp: int) -> QueueOffset:
        """Return the offset of the first message stored at `timestamp` (ms) or later; the queue's end if there is none.

        Brokers themselves answer the nearest message, and the last one for a time after it.
        """
        found, end = await self.by_time(queue, timestamp), await self.max(queue)
        if found >= end:
            return end
        page = await self._ranges.page(queue, found, 1)
        is_before = bool(page.messages) and page.messages[0].message.store_timestamp < timestamp
        return QueueOffset(found + 1) if is_before else found

    async def move(self, group: str, offsets: Mapping[MessageQueue, int], *, members: Collection[str]) -> Answers[None]:
        """Let a group continue at the given offsets; answers by ``topic@broker@queue``.

        Brokers that can (`BrokerRuntime.resets_queues`) take the connected `members` along. At others the offsets of a
        group with members cannot be changed, which would overwrite them: their answers are MembersConnected. A broker
        that does not answer keeps none of the others from moving.
        """
        queues = {f"{queue.topic}@{queue.broker_name}@{queue.queue_id}": queue for queue in offsets}
        abilities = await ask_all({queue.broker_name for queue in offsets}, self._resets_queues)
        silent = {
            name: abilities.failed[at]
            for name, queue in queues.items()
            if (at := queue.broker_name) in abilities.failed
        }

        async def take(name: str) -> None:
            queue = queues[name]
            header = ResetOffsetRequest(queue.topic, group, 0, True, queue.queue_id, offsets[queue])
            await self._requests.at_master(queue.broker_name, lambda addr: self._requests.ask(addr, header))

        taken = await ask_all([name for name, queue in queues.items() if abilities.found.get(queue.broker_name)], take)
        others = {name: queue for name, queue in queues.items() if abilities.found.get(queue.broker_name) is False}
        if others and members:
            lacking = {name: MembersConnected(queue.broker_name) for name, queue in others.items()}
            return Answers(taken.found, {**taken.failed, **silent, **lacking})
        stored = await self.set(group, {queue: offsets[queue] for queue in others.values()})
        return Answers(taken.found | stored.found, {**taken.failed, **silent, **stored.failed})

    async def _resets_queues(self, broker_name: str) -> bool:
        answer = await self._requests.at_master(
            broker_name, lambda addr: self._requests.ask_for(KVTable, addr, GetBrokerRuntimeInfoRequest())
        )
        return BrokerRuntime(answer.table).resets_queues

    async def reset(self, group: str, topic: str, timestamp: int, *, force: bool = True) -> Reset:
        """Reset a group to the messages of `timestamp` (ms; TO_THE_END), on every broker of a topic.

        The broker notifies online members, which move there within seconds. For a group without members the offsets
        are stored directly. Without `force` no queue moves forward. Raises TopicNotFound, and NoMaster if none of its
        brokers has a master.
        """
        route = await self._requests.session.routes.refresh(topic)

        async def reset_on(addr: str, broker: str) -> dict[MessageQueue, int]:
            await self._fill_gaps(addr, broker, group, topic)
            try:
                return await self._reset_online(addr, group, topic, timestamp, force)
            except GroupOffline:
                return await self._reset_offline(broker, group, topic, timestamp, force)

        answers = await self._requests.change_each({queue.broker_name for queue in route.data.queue_datas}, reset_on)
        offsets = {queue: offset for found in answers.found.values() for queue, offset in found.items()}
        return Reset(dict(sorted(offsets.items())), answers.failed)

    async def _fill_gaps(self, addr: str, broker_name: str, group: str, topic: str) -> None:
        """Store an offset for each queue without one: if one is missing, brokers refuse to reset all of them."""
        table = await self._requests.ask_for(ConsumerOffsetSerializeWrapper, addr, GetAllConsumerOffsetRequest())
        known = table.offset_table.get(f"{topic}@{group}", {})
        begins: dict[MessageQueue, int] = {}
        for queue in await self._queues(topic, broker_name):
            if queue.queue_id not in known:
                begin = await self.find(group, queue)
                begins[queue] = await self.max(queue) if begin is None else begin
        await self.set(group, begins)

    async def _queues(self, topic: str, broker_name: str) -> list[MessageQueue]:
        route = await self._requests.session.routes.get(topic)
        queues = {*route.read_queues, *route.write_queues}
        return sorted(queue for queue in queues if queue.broker_name == broker_name)

    async def _reset_online(
        self, addr: str, group: str, topic: str, timestamp: int, force: bool
    ) -> dict[MessageQueue, int]:
        header = ResetOffsetRequest(topic, group, timestamp, force)
        return (await self._requests.ask_for(ResetOffsetBody, addr, header, topic=topic)).offset_table

    async def _reset_offline(
        self, broker_name: str, group: str, topic: str, timestamp: int, force: bool
    ) -> dict[MessageQueue, int]:
        find: Callable[[MessageQueue], Awaitable[int]]
        find = self.max if timestamp == TO_THE_END else lambda queue: self.by_time(queue, timestamp)
        offsets: dict[MessageQueue, int] = {}
        for queue in await self._queues(topic, broker_name):
            target, stored = await find(queue), await self.find(group, queue)
            offsets[queue] = target if force or stored is None or target < stored else stored
        answers = await self.set(group, offsets)
        for error in answers.failed.values():
            raise error
        return offsets
