"""Filters for records that libraries log."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Final

PER_SECOND: Final = 10
"""So many warnings about requests are logged in a second; the wire side does the same."""
_SUM_SECONDS: Final = 5.0
_LONGEST: Final = 200
_IS_SUM: Final = "is_sum"


class OneLine(logging.Filter):
    """Takes the traceback from records about mistakes of clients, and makes them warnings."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Shorten the record; return True, because it is still logged."""
        record.exc_info = None
        record.exc_text = None
        record.levelno, record.levelname = logging.WARNING, "WARNING"
        return True


class Rare(logging.Filter):
    """Cuts what clients wrote in warnings about their requests, and lets ten a second pass; the others are counted."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, sum_seconds: float = _SUM_SECONDS) -> None:
        """`clock` returns seconds."""
        super().__init__()
        self._clock = clock
        self._sum_seconds = sum_seconds
        self._lock = threading.Lock()
        self._second = clock()
        self._logged = 0
        self._left_out = 0

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether the record is logged; errors of ours always are."""
        if record.levelno > logging.WARNING or getattr(record, _IS_SUM, False):
            return True
        if isinstance(record.args, tuple):
            record.args = tuple(_cut(each) for each in record.args)
        if not record.args:
            record.msg = _cut(record.msg)
        with self._lock:
            return self._has_room(record.name)

    def _has_room(self, name: str) -> bool:
        now = self._clock()
        if now >= self._second + 1:
            self._second, self._logged = now, 0
        if self._logged < PER_SECOND:
            self._logged += 1
            return True
        if not self._left_out:
            timer = threading.Timer(self._sum_seconds, self._sum_up, [name])
            timer.daemon = True
            timer.start()
        self._left_out += 1
        return False

    def _sum_up(self, name: str) -> None:
        with self._lock:
            left_out, self._left_out = self._left_out, 0
        logging.getLogger(name).warning("%d such warnings were left out", left_out, extra={_IS_SUM: True})


def _cut(value: object) -> object:
    return f"{value[:_LONGEST]}…" if isinstance(value, str) and len(value) > _LONGEST else value
