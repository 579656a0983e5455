"""What the request of one type of job differs in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

TIME: Final = "max_minutes"
RATE: Final = "messages_per_second"
COUNT: Final = "max_messages"


def _no_check(_attrs: Mapping[str, Any]) -> None:
    """Accept every request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestKind:
    """The fields of the requests of one type of job, and their name."""

    required: tuple[str, ...]
    name: Callable[[Mapping[str, Any]], str]
    """Returns a name for a job that was started without one."""
    optional: tuple[str, ...] = ()
    limits: tuple[str, ...] = (TIME,)
    check: Callable[[Mapping[str, Any]], None] = _no_check
    """Raises ValidationError for what is wrong whatever the cluster says; it runs before the check of rights."""

    @property
    def fields(self) -> frozenset[str]:
        """The fields that not every type of job has."""
        return frozenset((*self.required, *self.optional))
