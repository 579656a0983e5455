"""The queues of a topic on all brokers, from the name servers: used to assign queues to the members of a group."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from broker_core.logs import get_logger
from broker_core.protocol import bodies
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.bodies.routes import TopicRouteData
from broker_core.protocol.codes import PERM_READ, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.errors import MalformedBody
from broker_core.protocol.headers.routes import GetRouteInfoRequest
from broker_core.remoting.client import RemotingClient
from broker_core.remoting.errors import RemotingError

FRESH_MS: Final = 5_000
"""How long an answer is reused: all members of a group ask within moments, and every 20 s."""
MAX_TOPICS: Final = 10_000
"""The number of answers kept; the oldest is dropped first."""
_TIMEOUT_MS: Final = 2_000

_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _Known:
    at: int
    queues: tuple[MessageQueue, ...] | None


class TopicQueues:
    """Looks up readable queues at the first name server that answers."""

    def __init__(self, name_servers: Sequence[str], remoting: RemotingClient, clock: Callable[[], int]) -> None:
        self._name_servers = name_servers
        self._remoting = remoting
        self._clock = clock
        self._known: dict[str, _Known] = {}
        self._turn = asyncio.Lock()

    async def find(self, topic: str) -> tuple[MessageQueue, ...] | None:
        """Return the sorted queues of a topic; None if no name server knows it.

        While no name server answers, the last known result is returned, or None.
        """
        known = self._known.get(topic)
        if known is None or self._clock() - known.at >= FRESH_MS:
            async with self._turn:  # members that ask at the same time share one request
                known = self._known.get(topic)
                if known is None or self._clock() - known.at >= FRESH_MS:
                    known = await self._ask(topic) or known
        return known.queues if known is not None else None

    async def _ask(self, topic: str) -> _Known | None:
        for server in self._name_servers:
            try:
                answer = await self._remoting.invoke(server, Command.request(GetRouteInfoRequest(topic)), _TIMEOUT_MS)
                queues = _queues_of(topic, answer)
            except (RemotingError, MalformedBody) as error:
                _log.warning("nameserver=%s: the queues of topic %s are unknown: %s", server, topic, error)
                continue
            return self._keep(topic, _Known(self._clock(), queues))
        return None

    def _keep(self, topic: str, answer: _Known) -> _Known:
        self._known.pop(topic, None)
        self._known[topic] = answer
        if len(self._known) > MAX_TOPICS:
            del self._known[next(iter(self._known))]
        return answer


def _queues_of(topic: str, answer: Command) -> tuple[MessageQueue, ...] | None:
    if answer.code != ResponseCode.SUCCESS:
        return None
    route = bodies.decode(TopicRouteData, answer.body)
    return tuple(
        sorted(
            MessageQueue(topic, data.broker_name, queue_id)
            for data in route.queue_datas
            if data.perm & PERM_READ
            for queue_id in range(data.read_queue_nums)
        )
    )
