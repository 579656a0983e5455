"""The table of all processors: every code that the broker serves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from broker_core.remoting.dispatch import Handler

Handlers = Mapping[int, Handler]
"""Request code to what answers it."""


class Processor(Protocol):
    """A conversation that the broker can have."""

    def handlers(self) -> Handlers:
        """Return which code is answered by which method."""
