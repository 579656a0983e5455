"""Assigning a topic's queues to a group's members (broker/README.md#sharing-out-queues)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final

from broker_core.broker.clients import Clients
from broker_core.broker.errors import IllegalArgument, SystemTopic
from broker_core.broker.groups import Groups
from broker_core.broker.limits import BrokerLimits
from broker_core.broker.processors.handlers import Handlers, body_of
from broker_core.broker.processors.topic_queues import TopicQueues
from broker_core.broker.request_modes import POP, PULL, RequestModes
from broker_core.broker.saving import Saver
from broker_core.broker.topics import check_name
from broker_core.protocol import bodies
from broker_core.protocol.allocation import average, average_by_circle
from broker_core.protocol.bodies.heartbeat import MessageModel
from broker_core.protocol.bodies.pop import (
    MessageQueueAssignment,
    QueryAssignmentRequestBody,
    QueryAssignmentResponseBody,
    SetMessageRequestModeRequestBody,
)
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.topics import is_retry_topic
from broker_core.remoting.connection import Connection

ANY_QUEUE: Final = -1
"""The queue id that stands for all queues of a broker when members pop them together."""

_STRATEGIES: Final[Mapping[str, Callable[[str, Sequence[MessageQueue], Sequence[str]], list[MessageQueue]]]] = {
    "AVG": average,
    "AVG_BY_CIRCLE": average_by_circle,
}


class AssignmentProcessor:
    """Answers 400."""

    def __init__(
        self,
        *,
        clients: Clients[Connection],
        request_modes: RequestModes,
        topic_queues: TopicQueues,
        limits: BrokerLimits,
    ) -> None:
        self._clients = clients
        self._request_modes = request_modes
        self._topic_queues = topic_queues
        self._limits = limits

    def handlers(self) -> Handlers:
        return {RequestCode.QUERY_ASSIGNMENT: self.assign}

    async def assign(self, request: Command, _: Connection) -> Command:
        """Return the queues of one member, each with its request mode.

        An answer without a list means that the topic or the member is not known yet; the member keeps its queues.
        """
        asked = body_of(QueryAssignmentRequestBody, request, self._limits)
        mode = self._request_modes.find(asked.topic, asked.consumer_group)
        queues = await self._topic_queues.find(asked.topic)
        own = self._share(asked, mode, queues) if queues is not None else None
        given = None if own is None else [MessageQueueAssignment(queue, mode.mode) for queue in own]
        return Command.response(ResponseCode.SUCCESS, body=bodies.encode(QueryAssignmentResponseBody(given)))

    def _share(
        self,
        asked: QueryAssignmentRequestBody,
        mode: SetMessageRequestModeRequestBody,
        queues: Sequence[MessageQueue],
    ) -> list[MessageQueue] | None:
        if asked.message_model is MessageModel.BROADCASTING:
            return list(queues)
        group = self._clients.find_consumers(asked.consumer_group)
        members = sorted(group.client_ids()) if group is not None else []
        if asked.client_id not in members:
            return None
        if mode.mode != POP:
            return self._allocate(asked, queues, members)
        return self._share_for_pop(asked, mode.pop_share_queue_num, queues, members)

    def _share_for_pop(
        self, asked: QueryAssignmentRequestBody, share_with: int, queues: Sequence[MessageQueue], members: list[str]
    ) -> list[MessageQueue]:
        """Return the member's own share and those of the next `share_with` members, or all queues of all brokers."""
        if share_with <= 0 or share_with >= len(members) - 1:
            brokers = sorted({queue.broker_name for queue in queues})
            return [MessageQueue(asked.topic, broker, ANY_QUEUE) for broker in brokers]
        index = members.index(asked.client_id)
        if len(members) > len(queues):
            return [queues[index % len(queues)]]
        near = [members[(index + step) % len(members)] for step in range(share_with + 1)]
        return [queue for member in near for queue in self._allocate(asked, queues, members, member)]

    def _allocate(
        self,
        asked: QueryAssignmentRequestBody,
        queues: Sequence[MessageQueue],
        members: list[str],
        member: str | None = None,
    ) -> list[MessageQueue]:
        """Return the share of one member; raise IllegalArgument for a strategy that only clients know.

        The client then assigns the queues itself.
        """
        name = asked.strategy_name or ""
        strategy = _STRATEGIES.get(name)
        if strategy is None:
            known = ", ".join(_STRATEGIES)
            raise IllegalArgument(f"strategy {name[:80]!r} is not one of {known}; assign the queues in the client")
        return strategy(member or asked.client_id, queues, members)


_MODES: Final = (PULL, POP)


class RequestModeProcessor:
    """Answers 401."""

    def __init__(
        self,
        *,
        groups: Groups,
        request_modes: RequestModes,
        saver: Saver,
        known: Callable[[], Awaitable[None]],
        limits: BrokerLimits,
        clock: Callable[[], int],
    ) -> None:
        self._groups = groups
        self._request_modes = request_modes
        self._saver = saver
        self._known = known
        self._limits = limits
        self._clock = clock

    def handlers(self) -> Handlers:
        return {RequestCode.SET_MESSAGE_REQUEST_MODE: self.set_mode}

    async def set_mode(self, request: Command, _: Connection) -> Command:
        """Set whether a group pulls or pops a topic; members see the change when they next query their assignment.

        The mode is usually set before the first member starts and the first message is sent: the group is created as by
        a heartbeat, and the topic need not be there.
        """
        mode = body_of(SetMessageRequestModeRequestBody, request, self._limits)
        if mode.mode not in _MODES:
            raise IllegalArgument(f"mode {mode.mode[:80]!r} is not one of {', '.join(_MODES)}")
        if is_retry_topic(mode.topic):
            raise SystemTopic(mode.topic)
        check_name(mode.topic)
        self._groups.get_or_create(mode.consumer_group, now=self._clock())
        self._request_modes.put(mode)
        await self._saver.save(self._groups)
        await self._saver.save(self._request_modes)
        await self._known()
        return Command.response(ResponseCode.SUCCESS)
