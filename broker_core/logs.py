"""Loggers whose lines start with their subject: ``broker-a topic=orders queue=3: lost its lock``."""

from __future__ import annotations

import logging
from collections.abc import MutableMapping
from typing import Any


class SubjectLogger(logging.LoggerAdapter[logging.Logger]):
    """A logger that puts its subject in front of every line."""

    def process(self, msg: object, kwargs: MutableMapping[str, Any]) -> tuple[object, MutableMapping[str, Any]]:
        """Return the line with the subject before it."""
        subject = (self.extra or {}).get("subject", "")
        return (f"{subject}: {msg}" if subject else msg), kwargs


def get_logger(name: str, subject: str = "") -> SubjectLogger:
    """Return the logger of module `name`; each of its lines begins with `subject`, e.g. ``topic=orders queue=3``."""
    return SubjectLogger(logging.getLogger(name), {"subject": subject})


def configure(level: str = "INFO") -> None:
    """Send all log lines of this process to standard error, one per line, for a supervisor to collect."""
    logging.basicConfig(level=level, format="%(asctime)s %(levelname)s %(name)s %(message)s", force=True)
