"""Setting how a group gets the messages of a topic: by pull or by pop."""

from __future__ import annotations

from typing import Final

from broker_core.broker.errors import GroupNotFound, IllegalArgument, SystemTopic
from broker_core.broker.groups import Groups
from broker_core.broker.limits import BrokerLimits
from broker_core.broker.processors.handlers import Handlers, body_of
from broker_core.broker.request_modes import POP, PULL, RequestModes
from broker_core.broker.saving import Saver
from broker_core.broker.topics import Topics
from broker_core.protocol.bodies.pop import SetMessageRequestModeRequestBody
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.topics import is_retry_topic
from broker_core.remoting.connection import Connection

_MODES: Final = (PULL, POP)


class RequestModeProcessor:
    """Answers 401."""

    def __init__(
        self, *, groups: Groups, topics: Topics, request_modes: RequestModes, saver: Saver, limits: BrokerLimits
    ) -> None:
        self._groups = groups
        self._topics = topics
        self._request_modes = request_modes
        self._saver = saver
        self._limits = limits

    def handlers(self) -> Handlers:
        return {RequestCode.SET_MESSAGE_REQUEST_MODE: self.set_mode}

    async def set_mode(self, request: Command, _: Connection) -> Command:
        """Keep whether a group pulls or pops a topic; its members learn it when they ask for their queues."""
        mode = body_of(SetMessageRequestModeRequestBody, request, self._limits)
        if mode.mode not in _MODES:
            raise IllegalArgument(f"mode {mode.mode[:80]!r} is none of {', '.join(_MODES)}")
        if is_retry_topic(mode.topic):
            raise SystemTopic(mode.topic)
        self._topics.get(mode.topic)
        if self._groups.find(mode.consumer_group) is None:
            raise GroupNotFound(mode.consumer_group)
        self._request_modes.put(mode)
        await self._saver.save(self._request_modes)
        return Command.response(ResponseCode.SUCCESS)
