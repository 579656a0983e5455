"""Closes the connections of accounts that were deleted or lost a right.

What such a connection asked for before, such as a long poll or a place in a group, would be served until it ends; its
client connects again, and is refused or gets what its account may have now.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from broker_core.broker.access.files import AccessTable
from broker_core.logs import get_logger
from broker_core.protocol.addresses import parts_of
from broker_core.remoting.connection import Connection

Changed = Callable[[AccessTable, AccessTable], None]
"""Called with the accounts before and after a change."""

_log: Final = get_logger(__name__)
_GRACE_SECONDS: Final = 5.0
_REASON: Final = "its account was deleted or lost rights"


class Served:
    """The connections that were served, each with the accounts that it used; "" stands for its trusted address."""

    def __init__(self) -> None:
        self._accounts: dict[Connection, set[str]] = {}

    def note(self, connection: Connection, access_key: str) -> None:
        """Remember that a request of a connection was let through."""
        accounts = self._accounts.get(connection)
        if accounts is None:
            accounts = self._accounts[connection] = set()
            connection.on_close(self._forget)
        accounts.add(access_key)

    def close_revoked(self, old: AccessTable, new: AccessTable) -> None:
        """Close each connection that used an account, or an address, which may do less than before."""
        lost = {key for key, account in old.accounts.items() if account.loses_by(new.accounts.get(key))}
        for connection, accounts in list(self._accounts.items()):
            address = parts_of(connection.peer)
            if not accounts.isdisjoint(lost) or ("" in accounts and not new.trusts(address)):
                _log.info("peer=%s: closed, %s", connection.peer, _REASON)
                connection.close(_REASON)
                # One that does not read its answers would stay, and be a member of its groups.
                asyncio.get_running_loop().call_later(_GRACE_SECONDS, connection.abort, _REASON)

    def _forget(self, connection: Connection) -> None:
        self._accounts.pop(connection, None)
