"""Queue locks of an orderly group: only one member at a time handles a queue (client/README.md#orderly)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from broker_core.client.answers import ask_all
from broker_core.client.session import Session
from broker_core.errors import GantryError
from broker_core.logs import get_logger
from broker_core.protocol.bodies import coder
from broker_core.protocol.bodies.locks import LockBatchRequestBody, LockBatchResponseBody, UnlockBatchRequestBody
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.headers.clients import LockBatchMqRequest, UnlockBatchMqRequest

LOCK_LIFE_MS: Final = 30_000
"""How long this client relies on a lock; the broker keeps it for 60 s."""
_TIMEOUT_MS: Final = 1_000


class QueueLocks:
    """Locks queues at their brokers' masters, in the name of this client."""

    def __init__(self, session: Session, group: str) -> None:
        self._session = session
        self._group = group
        self._log = get_logger(__name__, f"group={group}")

    async def lock(self, queues: Iterable[MessageQueue]) -> set[MessageQueue]:
        """Take or renew locks; return the queues that this client holds now. A broker that fails grants none."""
        return (await self.renew(queues))[0]

    async def renew(self, queues: Iterable[MessageQueue]) -> tuple[set[MessageQueue], set[MessageQueue]]:
        """Take or renew locks; return the queues that this client holds now, and those that other members hold."""
        by_master = self._by_master(queues)
        answers = await ask_all(by_master, lambda addr: self._lock_at(addr, by_master[addr]))
        for addr, error in answers.failed.items():
            self._log.warning("no lock from %s: %s", addr, error)
        locked = {queue for ours in answers.found.values() for queue in ours}
        return locked, {queue for addr in answers.found for queue in by_master[addr]} - locked

    async def unlock(self, queues: Iterable[MessageQueue]) -> None:
        """Release locks, so that the next owner need not wait for them to expire; one-way."""
        for addr, of_broker in self._by_master(queues).items():
            body = coder.encode(UnlockBatchRequestBody(self._group, self._session.client_id, of_broker))
            try:
                await self._session.one_way(addr, UnlockBatchMqRequest(), body)
            except GantryError as error:
                self._log.warning("locks of %s not released: %s", addr, error)

    async def _lock_at(self, addr: str, queues: list[MessageQueue]) -> list[MessageQueue]:
        body = coder.encode(LockBatchRequestBody(self._group, self._session.client_id, queues))
        answer = await self._session.call(addr, LockBatchMqRequest(), body, timeout_ms=_TIMEOUT_MS)
        return coder.decode(LockBatchResponseBody, answer.body).lock_ok_mq_set

    def _by_master(self, queues: Iterable[MessageQueue]) -> dict[str, list[MessageQueue]]:
        by_master: dict[str, list[MessageQueue]] = {}
        for queue in queues:
            addr = self._session.routes.master(queue.broker_name)
            if addr is not None:
                by_master.setdefault(addr, []).append(queue)
        return by_master
