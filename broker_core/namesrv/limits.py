"""How much a name server keeps: anybody may register brokers and put settings (namesrv/README.md#limits)."""

from __future__ import annotations

from dataclasses import dataclass

from broker_core.errors import GantryError


class LimitReached(GantryError):
    """Raised when a registration or a setting would exceed `limit`; nothing of it is kept."""

    def __init__(self, limit: str, allowed: int, what: str) -> None:
        super().__init__(f"limit {limit}={allowed} reached: {what}")
        self.limit = limit


@dataclass(frozen=True, slots=True)
class _Limits:
    def check(self, limit: str, wanted: int, what: str) -> None:
        """Raise LimitReached, which names the limit and says `what` was not done, if more is wanted than it allows."""
        allowed: int = getattr(self, limit)
        if wanted > allowed:
            raise LimitReached(limit, allowed, what)


@dataclass(frozen=True, slots=True)
class RouteLimits(_Limits):
    """The limits of a route table; all are counts."""

    brokers: int = 2_000
    """Registered brokers: each id of a broker name is one."""
    brokers_per_connection: int = 16
    """A process of RocketMQ 5 may run several brokers on one connection."""
    routes: int = 1_000_000
    """Topics of all broker names together: a topic on three of them is three."""
    routes_per_broker: int = 100_000
    """Topics of one broker name: about what one registration holds, which is read and forgotten in one piece."""


@dataclass(frozen=True, slots=True)
class SettingLimits(_Limits):
    """The limits of key-value settings: RocketMQ keeps the queues of ordered topics there, some hundred bytes each."""

    settings: int = 10_000
    """Keys of all namespaces, and the namespaces themselves."""
    settings_bytes: int = 1024 * 1024
    """All namespaces, keys and values in UTF-8: the file is written whole, and a namespace is told whole."""
    setting_name_bytes: int = 255
    """A namespace or a key."""
    setting_value_bytes: int = 16 * 1024
    """One value."""
