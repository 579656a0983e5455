"""Signed calls to the other brokers of the name (broker/README.md#account-of-the-replicas)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from broker_core.broker.access.access import Access
from broker_core.logs import get_logger
from broker_core.protocol.command import Command
from broker_core.protocol.signature import Credentials
from broker_core.remoting import RemotingClient
from broker_core.remoting.client_tls import TlsOfClient

_log: Final = get_logger(__name__)


class Peers(RemotingClient):
    """Connections of their own to the main ports of the other brokers of this broker name."""

    def __init__(self, *, tls: TlsOfClient | None = None) -> None:
        super().__init__(tls=tls)
        self.credentials: Callable[[], Credentials | None] = _nobody
        """Asked for each request, since accounts change while the broker runs."""

    async def invoke(self, address: str, request: Command, timeout_ms: int) -> Command:
        """Sign, and do what the client does."""
        return await super().invoke(address, self.signed(request), timeout_ms)

    def signed(self, request: Command) -> Command:
        """Add account and signature, if there is an account; returns the same request."""
        credentials = self.credentials()
        return request if credentials is None else credentials.sign(request)

    def leave(self, address: str) -> None:
        """Close the connection to a broker; what waits there fails at once."""
        connection = self.find_connection(address)
        if connection is not None:
            connection.close("another broker is the master")


class ReplicaAccount:
    """The credentials of the account that a setting names, as the files of accounts have it at the moment."""

    def __init__(self, access: Access, access_key: str) -> None:
        self._access = access
        self._access_key = access_key
        self._is_said = False

    def __call__(self) -> Credentials | None:
        """Return them; None if the files have no such account, which is logged once."""
        account = self._access.table.accounts.get(self._access_key)
        if account is not None:
            return Credentials(account.access_key, account.secret_key)
        if self._access_key and not self._is_said:
            self._is_said = True
            _log.error("aclReplicaAccount=%s: there is no such account; requests are not signed", self._access_key)
        return None


def _nobody() -> None:
    return None
