"""Loggers whose lines start with their subject: ``broker-a topic=orders queue=3: lost its lock``.

A record is one line, whatever peers call themselves: `LineFormatter` is that of every process.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable
from typing import Any, Final

QUIET_S: Final = 30.0
"""So long one cause is not logged again."""
_MOST_CAUSES: Final = 100
_LONGEST_LINE: Final = 4_000
# What begins a line, moves a terminal's cursor, or changes the direction of what is read.
_UNPRINTABLE: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_INDENT: Final = "  "


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


class LineFormatter(logging.Formatter):
    """Writes a record as one line, escaped and of 4,000 characters at most, and a traceback in indented lines below."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s %(message)s")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - the name is logging's
        """Return the line."""
        return printable(super().formatMessage(record))

    def formatException(self, ei: Any) -> str:  # noqa: N802 - the name is logging's
        """Return the traceback, no line of which looks like a record."""
        return _indented(super().formatException(ei))

    def formatStack(self, stack_info: str) -> str:  # noqa: N802 - the name is logging's
        """Return the stack in the same way."""
        return _indented(super().formatStack(stack_info))


def printable(text: str, longest: int = _LONGEST_LINE) -> str:
    """Return the text on one line, with what cannot be printed as in Python's literals, and cut if it is too long."""
    if len(text) > longest:
        text = f"{text[:longest]}… ({len(text)} characters)"
    return _UNPRINTABLE.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def _indented(text: str) -> str:
    return "\n".join(_INDENT + printable(line) for line in text.split("\n"))


def configure(level: str = "INFO") -> None:
    """Send all log lines of this process to standard error, one per line, for a supervisor to collect."""
    handler = logging.StreamHandler()
    handler.setFormatter(LineFormatter())
    logging.basicConfig(level=level, handlers=[handler], force=True)
    # It has a line for each request, and a controller asks etcd every second.
    logging.getLogger("httpx").setLevel(logging.WARNING)
