"""The ids of requests, by which a client finds its own in the log and in the audit."""

from __future__ import annotations

import itertools
import secrets
from typing import Final

_MAX_REQUEST_ID: Final = 128


class RequestIds:
    """Gives each request an id: the client's own if it is safe to log, else the next one of this process."""

    def __init__(self) -> None:
        self._prefix = secrets.token_hex(6)
        self._next = itertools.count(1).__next__

    def of(self, given: bytes | None) -> str:
        """Return the id of a request that came with this X-Request-Id."""
        if given is not None and 0 < len(given) <= _MAX_REQUEST_ID:
            text = given.decode("latin-1")
            if text.isascii() and text.isprintable():
                return text
        return f"{self._prefix}-{self._next():x}"
