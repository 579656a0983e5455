"""The limits of scans: how many run at a time in one process, and how long one may take."""

from __future__ import annotations

import threading
from typing import Final

from rest_framework.exceptions import APIException

AT_ONCE: Final = 4
"""Scans of one process: each reads and unpacks messages on the loop that serves producers and consumers."""
SECONDS: Final = 60.0
"""The longest time for a scan with one answer; a streamed one may take longer."""
_places = threading.BoundedSemaphore(AT_ONCE)


class TooManyScans(APIException):
    """As many scans as are allowed run in this process."""

    status_code = 429
    default_code = "rate_limited"
    default_detail = f"{AT_ONCE} scans run at the moment, which is the limit; try again in a few seconds."
    wait = 5


def take_place() -> None:
    """Take a place for one scan; raise TooManyScans."""
    if not _places.acquire(blocking=False):
        raise TooManyScans


def give_back() -> None:
    """Free a place that was taken."""
    _places.release()
