"""The handle by which the sender of a delayed message can recall it, as in 5.x.

URL-safe base64 of ``v1 <topic> <broker name> <due time in ms> <unique id>``, separated by spaces.
"""

from __future__ import annotations

import base64
import binascii
from typing import Final, NamedTuple, Self

from broker_core.protocol.errors import MalformedHandle

_VERSION: Final = "v1"
_PARTS: Final = 5


class RecallHandle(NamedTuple):
    """Where a delayed message waits; `due` is when it was to be delivered at first, in ms."""

    topic: str
    broker_name: str
    due: int
    unique_id: str

    @property
    def text(self) -> str:
        """The handle as clients carry it."""
        plain = f"{_VERSION} {self.topic} {self.broker_name} {self.due} {self.unique_id}"
        return base64.urlsafe_b64encode(plain.encode()).decode()

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the parts of a handle; raise MalformedHandle."""
        try:
            parts = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True).decode().split(" ")
        except (binascii.Error, ValueError) as error:
            raise MalformedHandle(f"the recall handle {text[:80]!r} is no base64 text") from error
        if len(parts) != _PARTS or parts[0] != _VERSION or not parts[3].isdecimal() or not all(parts):
            raise MalformedHandle(f"the recall handle {text[:80]!r} does not say topic, broker, time and message")
        return cls(parts[1], parts[2], int(parts[3]), parts[4])
