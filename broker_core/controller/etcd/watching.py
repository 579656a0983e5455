"""Etcd's watch, which makes a change known at once, and never alone (controller/README.md#reading).

It may be late, end, or be silent; what the poll finds first shows that.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Final, Protocol

from broker_core.controller.decisions import DecisionsError
from broker_core.controller.etcd import messages
from broker_core.controller.etcd.bell import Bell
from broker_core.controller.etcd.errors import EtcdError
from broker_core.controller.etcd.keyspace import Keys
from broker_core.controller.etcd.messages import Json
from broker_core.controller.etcd.reading import Reader
from broker_core.logs import get_logger

_FIRST_SECONDS: Final = 3.0
"""Until the first message, with a login before it."""
_PAUSE_SECONDS: Final = 0.2

_log: Final = get_logger(__name__)


class Streams(Protocol):
    """What a watch needs of a gateway."""

    def stream(self, path: str, asked: Json) -> AbstractAsyncContextManager[AsyncIterator[Json]]:
        """Open a stream of messages at the present member."""
        ...

    def move_on(self) -> None:
        """Ask another member from now on."""
        ...

    def forget_login(self) -> None:
        """Log in again before the next call."""
        ...


class WatchEnded(EtcdError):
    """Etcd ended a watch, or told less than the poll found."""


class Watch:
    """Rings the bell at each change that etcd tells of; begins anew at another member when that fails."""

    def __init__(self, streams: Streams, keys: Keys, reader: Reader, bell: Bell) -> None:
        self.told = 0
        """The newest revision that it told of, or behind which it began."""
        self._streams = streams
        self._keys = keys
        self._reader = reader
        self._bell = bell
        self._limit: asyncio.Timeout | None = None
        self._was_open = False

    async def run(self) -> None:
        """Watch until cancelled."""
        while True:
            try:
                await self._until_it_fails()
            except TimeoutError:
                self._tell("it was silent")
            except (EtcdError, DecisionsError) as error:
                self._tell(str(error))
            # Etcd may have been away, and come back as a copy of what it was.
            self._reader.distrust()
            self._streams.move_on()
            await asyncio.sleep(_PAUSE_SECONDS)

    def has_missed(self, revision: int) -> bool:
        """Whether it is open and has not told of a revision."""
        return self._limit is not None and self.told < revision

    def begin_anew(self) -> None:
        """End it, if it is open, to begin anew."""
        if self._limit is not None:
            self._limit.reschedule(asyncio.get_running_loop().time())

    def _tell(self, why: str) -> None:
        """Log why it ended, but not why it did not even begin: while etcd is away that is so every few seconds."""
        _log.log(logging.WARNING if self._was_open else logging.DEBUG, "the watch of etcd begins anew: %s", why)
        self._was_open = False

    async def _until_it_fails(self) -> None:
        self.told = (await self._reader.read()).revision
        asked = messages.watch(self._keys.folder, self.told + 1)
        try:
            async with asyncio.timeout(_FIRST_SECONDS) as limit, self._streams.stream(messages.WATCH, asked) as told:
                async for message in told:
                    if self._limit is None:
                        self._limit, self._was_open = limit, True
                        limit.reschedule(None)
                    await self._heard(message)
        finally:
            self._limit = None
        raise WatchEnded("it was closed")

    async def _heard(self, message: Json) -> None:
        if message.get("canceled"):
            # With its first message etcd ends the watch of a login that has ended; later on one may go on without.
            self._streams.forget_login()
            raise WatchEnded(f"etcd ended it: {message.get('cancel_reason', 'what it asks for is compacted')}")
        changed = [messages.key_value(event["kv"]) for event in message.get("events", ())]
        if not changed:
            return
        self.told = max(self.told, *(pair.mark.modified for pair in changed))
        keys = {pair.key for pair in changed}
        await self._bell.ring(keys, self.told)
        if self._keys.leader in keys:
            await self._reader.read()
