"""The gateway as a member of a producer group: brokers ask it about half messages that have no decision."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from broker_core.client.members import Prepared
from broker_core.client.producer import Producer
from broker_core.client.session import Session
from broker_core.protocol.message import StoredMessage
from console.transaction_hooks.services import ActiveHook

AT_ONCE: Final = 4
"""So many questions to one hook are on their way at once: a slow one does not hold up the others."""
MOST_WAITING: Final = 1_000
"""Checks of one hook that wait; further ones are not asked, and the broker asks again."""

Ask = Callable[[ActiveHook, StoredMessage, Prepared], Awaitable[bool]]
"""Asks a hook, and returns whether the broker has its decision."""
Refuse = Callable[[ActiveHook, StoredMessage, Prepared, str], None]


class HookMember:
    """A transactional producer (`broker_core.client.members.Checker`) that asks a hook instead of knowing itself."""

    def __init__(self, session: Session, hook: ActiveHook, ask: Ask, refuse: Refuse) -> None:
        self.session = session
        self.hook = hook
        self._producer = Producer(session, hook.group)
        self._ask = ask
        self._refuse = refuse
        self._turns = asyncio.Semaphore(AT_ONCE)
        self._asking: dict[str, asyncio.Task[None]] = {}
        self._newest: dict[str, tuple[StoredMessage, Prepared]] = {}
        """By message id the newest check that was not posted yet."""

    @property
    def group(self) -> str:
        """The producer group."""
        return self.hook.group

    async def start(self) -> None:
        """Join the group; raise GroupTaken if this session has another producer that is asked."""
        self.session.members.add_checker(self)
        await self._producer.start()

    async def close(self) -> None:
        """Leave the group; what was being asked is asked again of others."""
        self.session.members.remove_checker(self)
        tasks = list(self._asking.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._producer.close()

    async def answer(self, asked: StoredMessage, prepared: Prepared) -> None:
        """Begin to ask; the decision is told to the broker in a request of its own, whose answer is seen."""
        message_id = prepared.message_id
        if message_id in self._asking:
            # A slow hook. The broker has counted this check, and it may be the last one: the hook still gets it.
            self._newest[message_id] = asked, prepared
            return
        if len(self._asking) >= MOST_WAITING:
            self._refuse(self.hook, asked, prepared, f"it was not asked: {MOST_WAITING:,} checks wait already")
            return
        self._newest[message_id] = asked, prepared
        task = asyncio.create_task(self._take_turns(message_id), name=f"transaction check {message_id}")
        self._asking[message_id] = task

    async def _take_turns(self, message_id: str) -> None:
        """Ask about one transaction until it is decided, or no check of it came while the last one was posted."""
        is_decided = False
        try:
            while message_id in self._newest and not is_decided:
                async with self._turns:
                    is_decided = await self._ask(self.hook, *self._newest.pop(message_id))
        finally:
            # At once: a check that comes before a callback of the task would be taken for one that is waited for.
            del self._asking[message_id]
            self._newest.pop(message_id, None)
