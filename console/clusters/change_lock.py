"""One change of a topic or group at a time: brokers cannot compare a version and change it in one step."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from console.errors import Conflict

WAIT_SECONDS: Final = 30.0
"""How long a change waits for the earlier ones of the same resource."""

Key = tuple[str, str, str]
"""Cluster, kind and name of a resource."""

_guard: Final = threading.Lock()
# Locks that somebody holds or waits for, and how many do.
_locks: Final[dict[Key, tuple[threading.Lock, int]]] = {}


@contextmanager
def change_lock(cluster: str, kind: str, name: str) -> Iterator[None]:
    """Run the block while nothing else in this process changes the resource; raise Conflict after 30 s of waiting."""
    key = (cluster, kind, name)
    lock = _join(key)
    try:
        if not lock.acquire(timeout=WAIT_SECONDS):
            raise Conflict(f"Earlier changes of {name!r} are still running; try again later.")
        try:
            yield
        finally:
            lock.release()
    finally:
        _leave(key)


def _join(key: Key) -> threading.Lock:
    with _guard:
        lock, users = _locks.get(key) or (threading.Lock(), 0)
        _locks[key] = lock, users + 1
    return lock


def _leave(key: Key) -> None:
    with _guard:
        lock, users = _locks[key]
        if users == 1:
            del _locks[key]
        else:
            _locks[key] = lock, users - 1
