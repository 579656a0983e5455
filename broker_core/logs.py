"""Loggers whose lines start with their subject: ``broker-a topic=orders queue=3: lost its lock``."""

from __future__ import annotations

import logging
from typing import Any


class SubjectLogger(logging.LoggerAdapter[logging.Logger]):
    """A logger that puts its subject in front of every line."""

    def log(self, level: int, msg: object, *args: object, **kwargs: Any) -> None:
        """Log the line with the subject before it."""
        if not self.isEnabledFor(level):
            return
        subject = str((self.extra or {}).get("subject", ""))
        if subject:
            # With arguments the line is a format, and names such as %RETRY%billing must not be part of it.
            msg = f"{subject.replace('%', '%%') if args else subject}: {msg}"
        self.logger.log(level, msg, *args, **kwargs)


def get_logger(name: str, subject: str = "") -> SubjectLogger:
    """Return the logger of module `name`; each of its lines begins with `subject`, e.g. ``topic=orders queue=3``."""
    return SubjectLogger(logging.getLogger(name), {"subject": subject})


def configure(level: str = "INFO") -> None:
    """Send all log lines of this process to standard error, one per line, for a supervisor to collect."""
    logging.basicConfig(level=level, format="%(asctime)s %(levelname)s %(name)s %(message)s", force=True)
    # It has a line for each request, and a controller asks etcd every second.
    logging.getLogger("httpx").setLevel(logging.WARNING)
