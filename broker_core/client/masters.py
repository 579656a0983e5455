"""Finding the new master of a broker name soon after the old one has failed (client/README.md#another-master)."""

from __future__ import annotations

import asyncio
import time
from typing import Final

from broker_core.client.errors import BrokerRefused, ClientError, Unreachable
from broker_core.client.routes import ListBrokers, Routes
from broker_core.client.tasks import Tasks
from broker_core.errors import GantryError
from broker_core.logs import get_logger
from broker_core.protocol.codes import ResponseCode
from broker_core.protocol.command import Command

APART_S: Final = 0.1
"""Between two questions for the route of one broker name, whoever asks."""

_DONE: Final = "done"
"""How a master begins to say what it does not know of a decision that it stored."""
_UNCHANGED: Final = "Can't modify topic or subscription group from slave broker"

_log = get_logger(__name__)


def is_of_former(answer: Command) -> bool:
    """Return whether a broker did nothing because it is not the master of its name, or not any more."""
    return _is_of_former(answer.code, answer.remark or "")


def is_of_another(error: ClientError) -> bool:
    """Return whether another broker may do what this one did not: it is away, or not the master of its name."""
    match error:
        case Unreachable():
            return True
        case BrokerRefused():
            return _is_of_former(error.code, error.remark or "")
    return False


def _is_of_former(code: int, remark: str) -> bool:
    match code:
        case ResponseCode.SERVICE_NOT_AVAILABLE:
            return True
        case ResponseCode.SLAVE_NOT_AVAILABLE:  # to a decision on a transaction
            return not remark.startswith(_DONE)
        case ResponseCode.SYSTEM_ERROR:
            return remark.startswith(_UNCHANGED)
    return False


class Masters:
    """Asks for routes out of turn. Only a name that was seen with several brokers can get another master."""

    def __init__(self, routes: Routes, tasks: Tasks, list_brokers: ListBrokers) -> None:
        self._routes = routes
        self._tasks = tasks
        self._list_brokers = list_brokers
        self._asking: dict[str, asyncio.Task[None]] = {}
        self._asked_at: dict[str, float] = {}

    def may_move(self, broker_name: str) -> bool:
        """Return whether another broker of this name may become its master."""
        return broker_name in self._routes.replicated

    def note_away(self, addr: str) -> None:
        """Look for another master in the background: the broker at an address does not serve, or not as master."""
        name = self._routes.name_at(addr)
        if name is not None and self.may_move(name):
            self._ask(name)

    async def renew(self, broker_name: str) -> None:
        """Return when a route with the broker was asked for, shared with others and 100 ms after the last time.

        A name server that fails, or does not know more, changes nothing.
        """
        await asyncio.shield(self._ask(broker_name))

    def _ask(self, name: str) -> asyncio.Task[None]:
        asking = self._asking.get(name)
        if asking is None:
            asking = self._tasks.start_awaited(f"master of {name}", self._refresh(name))
            self._asking[name] = asking
            asking.add_done_callback(lambda _: self._asking.pop(name, None))
        return asking

    async def _refresh(self, name: str) -> None:
        await asyncio.sleep(max(0.0, self._asked_at.get(name, 0.0) + APART_S - time.monotonic()))
        self._asked_at[name] = time.monotonic()
        topic = self._routes.topic_at(name)
        try:
            if topic is not None:
                await self._routes.refresh(topic)
                return
            for broker in await self._list_brokers():  # nothing was sent there by a route, but by its name
                self._routes.learn(broker)
        except GantryError as error:  # the known route stays
            _log.info("broker=%s: its master cannot be looked for: %s", name, error)
