"""Resetting a group's offsets: a whole topic by time, or one queue (broker/README.md#resetting-offsets)."""

from __future__ import annotations

from typing import Final

from broker_core.broker.clients import Clients
from broker_core.broker.errors import GroupNotFound, GroupOffline, IllegalQueue, OffsetOutOfRange, OffsetUnknown
from broker_core.broker.groups import Groups
from broker_core.broker.offsets import ConsumerOffsets, Resets
from broker_core.broker.pop.leases import Leases
from broker_core.broker.processors.handlers import Handlers
from broker_core.broker.request_modes import POP, RequestModes
from broker_core.broker.topics import Topics
from broker_core.protocol import bodies
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.bodies.stats import QueueOffsetForC, ResetOffsetBody, ResetOffsetBodyForC
from broker_core.protocol.codes import LanguageCode, RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers.offsets import ResetConsumerClientOffsetRequest, ResetOffsetRequest
from broker_core.remoting.connection import Connection
from broker_core.store import MessageStore


class ResetProcessor:
    """Answers 222."""

    def __init__(
        self,
        *,
        targets: ResetTargets,
        resets: Resets,
        leases: Leases,
        request_modes: RequestModes,
        clients: Clients[Connection],
        broker_name: str,
    ) -> None:
        self._targets = targets
        self._resets = resets
        self._leases = leases
        self._request_modes = request_modes
        self._clients = clients
        self._broker_name = broker_name

    def handlers(self) -> Handlers:
        return {RequestCode.INVOKE_BROKER_TO_RESET_OFFSET: self.reset}

    def reset(self, request: Command, _: Connection) -> Command:
        """Reset a group to a time in all queues of a topic, or to a time or an offset in the given queue."""
        header = request.header(ResetOffsetRequest)
        targets = (
            self._reset_topic(header)
            if header.queue_id is None or header.queue_id < 0
            else self._reset_queue(header, header.queue_id)
        )
        return Command.response(ResponseCode.SUCCESS, body=bodies.encode(self._body(header.topic, targets)))

    def _reset_topic(self, header: ResetOffsetRequest) -> dict[int, int]:
        """Send a time to the connected members, which go there and commit their new offsets.

        Members that consume by lease cannot do so: the offsets of their group are set here.
        """
        targets = self._targets.in_topic(header)
        leased = self._pops(header) or self._leases.takes(header.group, header.topic)
        if leased:
            self._set(header, targets)
        if not self._push(header, targets) and not leased:
            raise GroupOffline(
                f"Consumer not online, so can not reset offset, Group: {header.group} Topic: {header.topic} "
                f"Timestamp: {header.timestamp}"
            )
        return targets

    def _reset_queue(self, header: ResetOffsetRequest, queue_id: int) -> dict[int, int]:
        """Set the group's offset in one queue here, and push it to the members for this queue only.

        As in RocketMQ 5.x it may go forward without force, and no member needs to be connected.
        """
        targets = {queue_id: self._targets.in_queue(header, queue_id)}
        self._set(header, targets)
        self._push(header, targets)
        return targets

    def _pops(self, header: ResetOffsetRequest) -> bool:
        return self._request_modes.find(header.topic, header.group).mode == POP

    def _set(self, header: ResetOffsetRequest, targets: dict[int, int]) -> None:
        for queue_id, offset in targets.items():
            self._resets.set_offset(header.group, header.topic, queue_id, offset)

    def _body(self, topic: str, targets: dict[int, int]) -> ResetOffsetBody:
        name = self._broker_name
        return ResetOffsetBody({MessageQueue(topic, name, queue_id): to for queue_id, to in targets.items()})

    def _push(self, header: ResetOffsetRequest, targets: dict[int, int]) -> bool:
        """Notify every member that pulls; return whether the group has members.

        A member that pops has no offset to change, but a client of Java would stop for ten seconds for each notice. In
        the mode POP a member may pull all the same: it is the client that decides.
        """
        group = self._clients.find_consumers(header.group)
        if group is None:
            return False
        popping = group.popped if self._pops(header) else {}
        name = self._broker_name
        push = ResetConsumerClientOffsetRequest(header.topic, header.group, header.timestamp)
        usual = bodies.encode(self._body(header.topic, targets))
        for_c = bodies.encode(
            ResetOffsetBodyForC([QueueOffsetForC(header.topic, name, queue_id, to) for queue_id, to in targets.items()])
        )
        for member in group.members.values():
            if not member.channel.is_closing and header.topic not in popping.get(member.channel, ()):
                body = for_c if member.language == LanguageCode.CPP else usual
                member.channel.send(Command.request(push, body, one_way=True))
        return True


TO_THE_END: Final = -1
"""The timestamp that means "after the last message"."""
_NONE: Final = -1
"""The value that 5.x sends for no offset; 4.x does not know the field."""


class ResetTargets:
    """Computes the offsets of a reset; nothing is changed here."""

    def __init__(self, *, store: MessageStore, topics: Topics, groups: Groups, offsets: ConsumerOffsets) -> None:
        self._store = store
        self._topics = topics
        self._groups = groups
        self._offsets = offsets

    def in_queue(self, header: ResetOffsetRequest, queue_id: int) -> int:
        """Return the offset for one queue; raise IllegalQueue, GroupNotFound or OffsetOutOfRange."""
        queues = self._topics.get(header.topic).read_queue_nums
        if queue_id >= queues:
            raise IllegalQueue(header.topic, queue_id, queues)
        known = self._groups.find(header.group) is not None
        if not known and not self._offsets.of(header.group, header.topic):
            raise GroupNotFound(header.group)
        if header.offset is None or header.offset == _NONE:
            return self._by_time(header, queue_id)
        store = self._store
        low, high = store.min_offset(header.topic, queue_id), store.max_offset(header.topic, queue_id)
        if not low <= header.offset <= high:
            raise OffsetOutOfRange(header.offset, low, high)
        return header.offset

    def in_topic(self, header: ResetOffsetRequest) -> dict[int, int]:
        """Return the offset for each queue of a topic, moving forward only with force; raise OffsetUnknown."""
        targets = {}
        for queue_id in range(self._topics.get(header.topic).write_queue_nums):
            current = self._offsets.find(header.group, header.topic, queue_id)
            if current is None:
                raise OffsetUnknown(f"THe consumer group <{header.group}> not exist")
            target = self._by_time(header, queue_id)
            targets[queue_id] = target if header.is_force or target < current else current
        return targets

    def _by_time(self, header: ResetOffsetRequest, queue_id: int) -> int:
        store = self._store
        if header.timestamp == TO_THE_END:
            return store.max_offset(header.topic, queue_id)
        search = store.offset_by_time if header.queue_id is None else store.first_from  # 5.x names a queue, or -1
        return max(search(header.topic, queue_id, header.timestamp), 0)
