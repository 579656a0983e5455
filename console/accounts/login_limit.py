"""Limits password guesses. A guess is counted before the password is checked, so that concurrent guesses count too.

The count belongs to an account and an address together: the first `PER_NAME` guesses are free, and after each further
one the wait doubles. While an address guesses at many accounts, or many addresses at one account, only one guess of
each pair is free. So mass guessing does not lock out a user who knows the password.
"""

from __future__ import annotations

import hashlib
import logging
import math
import threading
import time
from typing import Final

import redis

from console.redis_client import store

WINDOW_SECONDS: Final = 300
PER_NAME: Final = 10
CROWD: Final = 50
"""This many wrong guesses, from one address or at one account, count as an attack."""

_PREFIX: Final = "gantry:login:"
_MAX_KEPT: Final = 10_000

# Atomic, since guesses may arrive concurrently. KEYS: pair, address, account. ARGV: window, free guesses, crowd.
_RESERVE: Final = """
local now = tonumber(redis.call('TIME')[1])
local known = redis.call('HMGET', KEYS[1], 'guesses', 'until')
local open = tonumber(known[2] or 0)
if open > now then return open - now end
local free = tonumber(ARGV[2])
for place = 2, 3 do
  if tonumber(redis.call('GET', KEYS[place]) or 0) >= tonumber(ARGV[3]) then free = 1 end
end
local guesses = tonumber(known[1] or 0) + 1
local wait = 0
if guesses >= free then wait = math.min(ARGV[1], 2 ^ (guesses - free + 1)) end
redis.call('HSET', KEYS[1], 'guesses', guesses, 'until', now + wait)
redis.call('EXPIRE', KEYS[1], ARGV[1] * 2)
for place = 2, 3 do
  if redis.call('INCR', KEYS[place]) == 1 then redis.call('EXPIRE', KEYS[place], ARGV[1]) end
end
return 0
"""
_FORGIVE: Final = """
redis.call('DEL', KEYS[1])
for place = 2, 3 do
  if tonumber(redis.call('GET', KEYS[place]) or 0) > 0 then redis.call('DECR', KEYS[place]) end
end
return 0
"""

_log = logging.getLogger(__name__)


def reserve(username: str, address: str) -> int | None:
    """Count a guess as wrong until `forgive` is called; return the seconds to wait if no guess is allowed now."""
    try:
        return _ask(_RESERVE, username, address, WINDOW_SECONDS, PER_NAME, CROWD) or None
    except redis.RedisError:
        _log.warning("login: Redis cannot be reached; this process counts wrong passwords by itself")
        return _own.reserve(f"{username.lower()}\n{address}")


def forgive(username: str, address: str) -> None:
    """Forget the wrong guesses of a name at an address after the right password."""
    _own.forgive(f"{username.lower()}\n{address}")
    try:
        _ask(_FORGIVE, username, address)
    except redis.RedisError:
        _log.warning("login: Redis cannot be reached; the counted guesses expire later")


def _ask(script: str, username: str, address: str, *arguments: int) -> int:
    keys = [_PREFIX + _digest(text) for text in (f"{username.lower()}\n{address}", f"@{address}", username.lower())]
    return int(store().eval(script, len(keys), *keys, *arguments))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]


class _OwnCounts:
    """Counts of this process by account and address while Redis is down, so that users can still sign in."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pairs: dict[str, tuple[int, float]] = {}

    def reserve(self, pair: str) -> int | None:
        """Count a guess; return the seconds to wait if no guess is allowed now."""
        now = time.monotonic()
        with self._lock:
            guesses, until = self._pairs.get(pair, (0, 0.0))
            if until > now:
                return math.ceil(until - now)
            if len(self._pairs) >= _MAX_KEPT:
                self._pairs.clear()
            guesses += 1
            wait = min(WINDOW_SECONDS, 2 ** (guesses - PER_NAME + 1)) if guesses >= PER_NAME else 0
            self._pairs[pair] = guesses, now + wait
            return None

    def forgive(self, pair: str) -> None:
        """Forget a pair."""
        with self._lock:
            self._pairs.pop(pair, None)


_own: Final = _OwnCounts()
