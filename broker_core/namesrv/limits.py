"""How much a name server keeps: anybody who reaches it may register brokers (namesrv/README.md#limits)."""

from __future__ import annotations

from dataclasses import dataclass

from broker_core.errors import GantryError


class RegistrationRefused(GantryError):
    """Raised when a registration would exceed a limit; nothing of it is kept."""


@dataclass(frozen=True, slots=True)
class RouteLimits:
    """The limits of a route table; all are counts."""

    brokers: int = 2_000
    """Registered brokers: each id of a broker name is one."""
    brokers_per_connection: int = 16
    """A process of RocketMQ 5 may run several brokers on one connection."""
    routes: int = 1_000_000
    """Topics of all broker names together: a topic on three of them is three."""

    def check(self, limit: str, wanted: int, broker_name: str) -> None:
        """Raise RegistrationRefused, which names the limit, if more is wanted than it allows."""
        allowed: int = getattr(self, limit)
        if wanted > allowed:
            what = f"broker {broker_name[:80]!r} was not registered"
            raise RegistrationRefused(f"limit {limit}={allowed} reached: {what}")
