"""Limits concurrent password hashing: each hash takes 100 MB and several cores, which other requests need.

One address gets only a part of the waiting places, so that guessing at many names cannot fill them all.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from rest_framework.exceptions import Throttled

AT_ONCE: Final = 2
WAITING: Final = 32
"""How many requests may wait for their turn; later ones are asked to retry."""
PER_ADDRESS: Final = 12
"""How many requests of one address may hash or wait at a time."""
_RETRY_SECONDS: Final = 5

_turns: Final = threading.BoundedSemaphore(AT_ONCE)
_lock: Final = threading.Lock()
_inside: Final[Counter[str]] = Counter()
"""How many requests of each address hash or wait."""


@contextmanager
def hashing(address: str) -> Iterator[None]:
    """Wait for a turn to hash a password; raise Throttled if too many wait, in all or from this address."""
    with _lock:
        if _inside[address] >= PER_ADDRESS or _inside.total() >= AT_ONCE + WAITING:
            raise Throttled(_RETRY_SECONDS, "Too many people are signing in at the moment.")
        _inside[address] += 1
    try:
        with _turns:
            yield
    finally:
        with _lock:
            _inside[address] -= 1
            if not _inside[address]:
                del _inside[address]
