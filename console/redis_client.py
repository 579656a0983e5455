"""Connections to Redis: one that is silent holds up no request for long."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from functools import cache
from typing import Any, Final, TypeVar

import redis
import redis.asyncio
import redis.asyncio.retry
from django.conf import settings
from redis.backoff import NoBackoff
from redis.retry import Retry

T = TypeVar("T")

_PATIENCE_SECONDS: Final = 1.5
# A page asks several times: the answers after the first silence must not wait for another one.
_PAUSE_SECONDS: Final = 2.0


def store() -> redis.Redis:
    """Return this process's connections to Redis.

    A command raises TimeoutError after 1.5 s of silence, and at once for 2 s after that. It is sent a second time only
    if the connection was closed.
    """
    return _store_at(settings.GANTRY_REDIS_URL)


@cache
def _store_at(url: str) -> redis.Redis:
    return redis.Redis.from_url(
        url, socket_timeout=_PATIENCE_SECONDS, socket_connect_timeout=_PATIENCE_SECONDS, retry=_Patience()
    )


def loop_store(*, patience_s: float = _PATIENCE_SECONDS) -> redis.asyncio.Redis:
    """Return new connections to Redis for one event loop: as `store`, but the caller closes them."""
    return redis.asyncio.Redis.from_url(
        settings.GANTRY_REDIS_URL, socket_timeout=patience_s, socket_connect_timeout=patience_s, retry=_LoopPatience()
    )


class _Pause:
    """After a silence no connection waits for another one."""

    def __init__(self) -> None:
        self._silent_until = 0.0

    def check(self) -> None:
        """Raise TimeoutError if Redis was silent a moment ago."""
        if time.monotonic() < self._silent_until:
            raise redis.TimeoutError("Redis was silent a moment ago")

    def begin(self) -> None:
        self._silent_until = time.monotonic() + _PAUSE_SECONDS


class _Patience(Retry):
    """One more try on a closed connection, and a pause for all connections after a silence."""

    def __init__(self) -> None:
        super().__init__(NoBackoff(), 1, supported_errors=(redis.ConnectionError,))
        self._pause = _Pause()

    def __deepcopy__(self, memo: dict[int, Any]) -> _Patience:
        """Return itself: each connection copies what it is given, and all of them share the pause."""
        return self

    def call_with_retry(self, do: Callable[[], T], *arguments: Any, **options: Any) -> T:
        """Do it, unless Redis was silent a moment ago; raise TimeoutError then."""
        self._pause.check()
        try:
            return super().call_with_retry(do, *arguments, **options)
        except redis.TimeoutError:
            self._pause.begin()
            raise


class _LoopPatience(redis.asyncio.retry.Retry):
    """The same on an event loop."""

    def __init__(self) -> None:
        super().__init__(NoBackoff(), 1, supported_errors=(redis.ConnectionError,))
        self._pause = _Pause()

    def __deepcopy__(self, memo: dict[int, Any]) -> _LoopPatience:
        """Return itself, as `_Patience` does."""
        return self

    async def call_with_retry(self, do: Callable[[], Awaitable[T]], *arguments: Any, **options: Any) -> T:
        """Do it, unless Redis was silent a moment ago; raise TimeoutError then."""
        self._pause.check()
        try:
            return await super().call_with_retry(do, *arguments, **options)
        except redis.TimeoutError:
            self._pause.begin()
            raise
