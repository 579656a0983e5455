"""Filters for records that libraries log."""

from __future__ import annotations

import logging


class OneLine(logging.Filter):
    """Takes the traceback from records about mistakes of clients, and makes them warnings."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Shorten the record; return True, because it is still logged."""
        record.exc_info = None
        record.exc_text = None
        record.levelno, record.levelname = logging.WARNING, "WARNING"
        return True
