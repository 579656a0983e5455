"""Passwords are hashed by few threads at a time: each hash takes 100 MB and several cores, and others want answers."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from rest_framework.exceptions import Throttled

AT_ONCE: Final = 2
WAITING: Final = 32
"""So many may wait for their turn; who comes after them is asked to come back."""
_RETRY_SECONDS: Final = 5

_turns: Final = threading.BoundedSemaphore(AT_ONCE)
_room: Final = threading.BoundedSemaphore(AT_ONCE + WAITING)


@contextmanager
def hashing() -> Iterator[None]:
    """Wait for a turn to hash a password; raise Throttled when too many wait."""
    if not _room.acquire(blocking=False):
        raise Throttled(_RETRY_SECONDS, "Too many people sign in at this moment.")
    try:
        with _turns:
            yield
    finally:
        _room.release()
