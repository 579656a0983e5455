"""The ids of requests, by which a client finds its own in the log and in the audit."""

from __future__ import annotations

import itertools
import re
import secrets
from typing import Final

_GIVEN: Final = re.compile(rb"[A-Za-z0-9._:-]{1,64}")


class RequestIds:
    """Gives each request an id: the client's own if it is safe to log, else the next one of this process."""

    def __init__(self) -> None:
        self._prefix = secrets.token_hex(6)
        self._next = itertools.count(1).__next__

    def of(self, given: bytes | None) -> str:
        """Return the id of a request that came with this X-Request-Id."""
        if given is not None and _GIVEN.fullmatch(given):
            return given.decode("ascii")
        return f"{self._prefix}-{self._next():x}"
