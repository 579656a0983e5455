"""Loggers whose lines start with their subject: ``broker-a topic=orders queue=3: lost its lock``."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any, Final

QUIET_S: Final = 30.0
"""So long one cause is not logged again."""
_MOST_CAUSES: Final = 100


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


class Repeated:
    """Logs what is tried again and again once for each cause and half a minute, with how often it was left out."""

    def __init__(self, log: SubjectLogger, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._log = log
        self._clock = clock
        self._said: dict[str, tuple[float, int]] = {}

    def warning(self, cause: object, msg: str, *args: object, exc_info: BaseException | None = None) -> None:
        """Log the line, which is the first of its cause, unless another one of that cause was logged before."""
        now, key = self._clock(), str(cause)
        said_at, left_out = self._said.get(key, (now - QUIET_S, 0))
        if now - said_at < QUIET_S:
            self._said[key] = said_at, left_out + 1
            return
        if len(self._said) >= _MOST_CAUSES:
            self._said.clear()
        self._said[key] = now, 0
        if left_out:
            self._log.warning(f"{msg} (%d times more since the last line)", *args, left_out, exc_info=exc_info)
        else:
            self._log.warning(msg, *args, exc_info=exc_info)


def configure(level: str = "INFO") -> None:
    """Send all log lines of this process to standard error, one per line, for a supervisor to collect."""
    logging.basicConfig(level=level, format="%(asctime)s %(levelname)s %(name)s %(message)s", force=True)
    # It has a line for each request, and a controller asks etcd every second.
    logging.getLogger("httpx").setLevel(logging.WARNING)
