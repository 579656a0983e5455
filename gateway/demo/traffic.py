"""Sends the messages of the demo: some thousands at first, then a few each second."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterable
from typing import Any, Final

from broker_core.client import Message, Producer, queue_for_key
from gateway.cli.api import Api, part
from gateway.demo.messages import Shop
from gateway.demo.plan import AUDIT, BACKLOG, CLICKS, EVENTS, ORDERS, PAYMENTS, REMINDERS

FIRST_ORDERS: Final = 600
FIRST_PAYMENTS: Final = 150
FIRST_REMINDERS: Final = 40
_AT_ONCE: Final = 100


class Traffic:
    """Sends through a native producer and over HTTP."""

    def __init__(self, api: Api, producer: Producer, shop: Shop) -> None:
        self._api = api
        self._producer = producer
        self._shop = shop
        self._seconds = itertools.count()
        self.new_clicks = asyncio.Semaphore(0)
        """A permit for each click that was sent beyond the backlog."""

    async def fill(self, new: frozenset[str]) -> None:
        """Fill the topics that are new."""
        if CLICKS in new:
            await self._send(self._shop.click() for _ in range(BACKLOG))
        if ORDERS in new:
            await self._send(self._shop.order() for _ in range(FIRST_ORDERS))
        if PAYMENTS in new:
            await self._post(PAYMENTS, [self._shop.payment() for _ in range(FIRST_PAYMENTS)])
        if REMINDERS in new:
            await self._post(REMINDERS, [self._shop.reminder() for _ in range(FIRST_REMINDERS)])

    async def go_on(self) -> bool:
        """Send the few messages of one second, which this takes; return True."""
        await self._second(next(self._seconds))
        await asyncio.sleep(1)
        return True

    async def _second(self, second: int) -> None:
        await self._send(self._shop.order() for _ in range(4))
        clicks = [self._shop.click() for _ in range(8)]
        await self._send(clicks)
        for _ in clicks:
            self.new_clicks.release()
        for event in self._shop.events():
            queue = queue_for_key(await self._producer.queues(EVENTS), event.keys[0])
            await self._producer.send(event, queue=queue)
        await self._post(PAYMENTS, [self._shop.payment(), self._shop.payment()])
        if second % 5 == 0:
            await self._post(REMINDERS, [self._shop.reminder()])
            await self._post(AUDIT, self._shop.audit_entries())

    async def _send(self, messages: Iterable[Message]) -> None:
        """Send messages; raise what kept the first one that was not stored."""
        rest = iter(messages)
        while some := list(itertools.islice(rest, _AT_ONCE)):
            for result in await self._producer.send_many(some):
                if isinstance(result, Exception):
                    raise result

    async def _post(self, topic: str, entries: list[dict[str, Any]]) -> None:
        await asyncio.to_thread(self._api.post, f"topics/{part(topic)}/messages", {"messages": entries})
