"""Sending a group back or forward: a whole topic by time, or one queue (broker/README.md#resetting-offsets)."""

from __future__ import annotations

from broker_core.broker.clients import Clients
from broker_core.broker.errors import GroupOffline
from broker_core.broker.pop.leases import Leases
from broker_core.broker.processors.handlers import Handlers
from broker_core.broker.processors.reset_targets import ResetTargets
from broker_core.broker.resets import Resets
from broker_core.protocol import bodies
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.bodies.stats import QueueOffsetForC, ResetOffsetBody, ResetOffsetBodyForC
from broker_core.protocol.codes import LanguageCode, RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers.offsets import ResetConsumerClientOffsetRequest, ResetOffsetRequest
from broker_core.remoting.connection import Connection


class ResetProcessor:
    """Answers 222."""

    def __init__(
        self,
        *,
        targets: ResetTargets,
        resets: Resets,
        leases: Leases,
        clients: Clients[Connection],
        broker_name: str,
    ) -> None:
        self._targets = targets
        self._resets = resets
        self._leases = leases
        self._clients = clients
        self._broker_name = broker_name

    def handlers(self) -> Handlers:
        return {RequestCode.INVOKE_BROKER_TO_RESET_OFFSET: self.reset}

    def reset(self, request: Command, _: Connection) -> Command:
        """Send a group to a time in all queues of a topic, or to a time or an offset in the one that is named."""
        header = request.header(ResetOffsetRequest)
        targets = (
            self._reset_topic(header)
            if header.queue_id is None or header.queue_id < 0
            else self._reset_queue(header, header.queue_id)
        )
        return Command.response(ResponseCode.SUCCESS, body=bodies.encode(self._body(header.topic, targets)))

    def _reset_topic(self, header: ResetOffsetRequest) -> dict[int, int]:
        """Have the connected members go to a time, and commit it as they do.

        A group that takes by lease has no member that could: its offsets are set here.
        """
        targets = self._targets.in_topic(header)
        leased = self._leases.takes(header.group, header.topic)
        if leased:
            self._set(header, targets)
        if not self._push(header, targets) and not leased:
            raise GroupOffline(
                f"Consumer not online, so can not reset offset, Group: {header.group} Topic: {header.topic} "
                f"Timestamp: {header.timestamp}"
            )
        return targets

    def _reset_queue(self, header: ResetOffsetRequest, queue_id: int) -> dict[int, int]:
        """Set the group's offset in one queue here, and tell the members of that queue alone.

        As in 5.x it goes forward without force, and no member needs to be connected.
        """
        targets = {queue_id: self._targets.in_queue(header, queue_id)}
        self._set(header, targets)
        self._push(header, targets)
        return targets

    def _set(self, header: ResetOffsetRequest, targets: dict[int, int]) -> None:
        for queue_id, offset in targets.items():
            self._resets.set_offset(header.group, header.topic, queue_id, offset)

    def _body(self, topic: str, targets: dict[int, int]) -> ResetOffsetBody:
        name = self._broker_name
        return ResetOffsetBody({MessageQueue(topic, name, queue_id): to for queue_id, to in targets.items()})

    def _push(self, header: ResetOffsetRequest, targets: dict[int, int]) -> bool:
        """Tell every member of the group; say whether there was one."""
        group = self._clients.find_consumers(header.group)
        if group is None:
            return False
        name = self._broker_name
        push = ResetConsumerClientOffsetRequest(header.topic, header.group, header.timestamp)
        usual = bodies.encode(self._body(header.topic, targets))
        for_c = bodies.encode(
            ResetOffsetBodyForC([QueueOffsetForC(header.topic, name, queue_id, to) for queue_id, to in targets.items()])
        )
        for member in group.members.values():
            if not member.channel.is_closing:
                body = for_c if member.language == LanguageCode.CPP else usual
                member.channel.send(Command.request(push, body, one_way=True))
        return True
