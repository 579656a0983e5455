"""Errors of communication between two processes.

::

    RemotingError
     ├─ RemotingTimeout     no answer in time; whether the peer acted is unknown
     ├─ ConnectRefused      no connection could be opened; nothing was sent
     ├─ ConnectionClosed    it closed during the call; whether the peer acted is unknown
     ├─ Overloaded          a limit of this process is reached; nothing was sent
     └─ AddressRefused      this process cannot listen there
         └─ AddressInUse    because another process does
"""

from __future__ import annotations

from broker_core.errors import GantryError


class RemotingError(GantryError):
    """A call failed; `address` is the peer's ``host:port``."""

    def __init__(self, message: str, address: str) -> None:
        super().__init__(message)
        self.address = address


class RemotingTimeout(RemotingError):
    """No answer arrived in time; whether the peer acted is unknown."""

    def __init__(self, address: str, timeout_ms: int, what: str = "answer") -> None:
        super().__init__(f"{address}: no {what} within {timeout_ms} ms", address)
        self.timeout_ms = timeout_ms


class ConnectRefused(RemotingError):
    """No connection to the peer could be opened."""

    def __init__(self, address: str, reason: str) -> None:
        super().__init__(f"cannot connect to {address}: {reason}", address)
        self.reason = reason


class ConnectionClosed(RemotingError):
    """The connection was closed before the answer arrived; whether the peer acted is unknown."""

    def __init__(self, address: str, reason: str = "", *, is_unreadable: bool = False) -> None:
        super().__init__(f"the connection to {address} is closed{': ' + reason if reason else ''}", address)
        self.is_unreadable = is_unreadable
        """Whether bytes came that are no frame, such as those of another protocol."""


class Overloaded(RemotingError):
    """A limit of this process is reached; nothing was sent."""

    def __init__(self, address: str, limit: str, value: int) -> None:
        super().__init__(f"{address}: limit {limit}={value} reached", address)
        self.limit = limit
        self.value = value


class AddressRefused(RemotingError):
    """The system does not let this process listen at the address."""

    def __init__(self, address: str, reason: str) -> None:
        super().__init__(f"cannot listen at {address}: {reason}", address)


class AddressInUse(AddressRefused):
    """Another process listens at the address."""
