"""How often a password may be guessed: a count per name and address, and one per address, over five minutes."""

from __future__ import annotations

import hashlib
import logging
from typing import Final

import redis
from django.core.cache import BaseCache, caches

WINDOW_SECONDS: Final = 300
PER_NAME: Final = 10
PER_ADDRESS: Final = 50

_log = logging.getLogger(__name__)


def retry_after(username: str, address: str) -> int | None:
    """Return the seconds to wait before the next guess, None when one is allowed now."""
    counts = _cache().get_many([key for key, _ in _keys(username, address)])
    if any(counts.get(key, 0) >= limit for key, limit in _keys(username, address)):
        return WINDOW_SECONDS
    return None


def note_failure(username: str, address: str) -> None:
    """Count one wrong guess."""
    cache = _cache()
    for key, _ in _keys(username, address):
        cache.add(key, 0, WINDOW_SECONDS)
        try:
            cache.incr(key)
        except ValueError:  # it expired between the two calls
            cache.set(key, 1, WINDOW_SECONDS)


def forget(username: str, address: str) -> None:
    """Forget the wrong guesses of a name, now that the right password was given."""
    _cache().delete(_keys(username, address)[0][0])


def _keys(username: str, address: str) -> list[tuple[str, int]]:
    name = hashlib.sha256(f"{username.lower()}\n{address}".encode()).hexdigest()[:32]
    where = hashlib.sha256(address.encode()).hexdigest()[:32]
    return [(f"login:n:{name}", PER_NAME), (f"login:a:{where}", PER_ADDRESS)]


def _cache() -> BaseCache:
    """Return the shared cache; without Redis each process counts by itself, so that people can still come in."""
    shared = caches["default"]
    try:
        shared.get("login")
    except redis.RedisError:
        _log.warning("login: Redis is not reachable, counting wrong guesses in this process alone")
        return caches["memory"]
    return shared
