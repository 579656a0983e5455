"""One of several processes does the work of all: whoever holds a key in Redis, until it lets go or is silent."""

from __future__ import annotations

import logging
import secrets
from contextlib import suppress
from typing import Final

import redis
import redis.asyncio

# A process that loses Redis for longer than this is replaced; it notices when it asks again.
_TTL_MS: Final = 10_000

_log = logging.getLogger(__name__)


class Leadership:
    """A claim on a key; ask `leads` every few seconds."""

    def __init__(self, store: redis.asyncio.Redis, key: str) -> None:
        self._store = store
        self._key = key
        self._token = secrets.token_hex(8)

    async def leads(self) -> bool:
        """Return whether this process leads for the next seconds; without Redis none does."""
        try:
            if await self._store.set(self._key, self._token, nx=True, px=_TTL_MS):
                return True
            if await self._store.get(self._key) != self._token.encode():
                return False
            await self._store.pexpire(self._key, _TTL_MS)
        except redis.RedisError as error:
            _log.warning("redis: this process does not lead (%s: %s)", self._key, error)
            return False
        return True

    async def step_down(self) -> None:
        """Let another process take over at once instead of after the key has expired."""
        with suppress(redis.RedisError):
            if await self._store.get(self._key) == self._token.encode():
                await self._store.delete(self._key)
