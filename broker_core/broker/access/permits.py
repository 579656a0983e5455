"""What a member of a group may be sent now: by the account with which its heartbeat was signed, and today's rights."""

from __future__ import annotations

from broker_core.broker.access import forwarded
from broker_core.broker.access.access import Access
from broker_core.broker.access.accounts import Need
from broker_core.broker.access.forwarded import is_forwarded
from broker_core.broker.members import Member
from broker_core.protocol.addresses import parts_of
from broker_core.protocol.command import Command
from broker_core.protocol.signature import ACCESS_KEY
from broker_core.remoting.connection import Connection


class Permits:
    """The rights of members; without access control each may get everything."""

    def __init__(self, access: Access | None) -> None:
        self._access = access

    @property
    def are_checked(self) -> bool:
        """Whether requests pass a check of their accounts."""
        return self._access is not None

    def account_of(self, request: Command, connection: Connection) -> str:
        """Return the account of a request that the check let through; empty for one that needed none."""
        if self._access is None:
            return ""
        if is_forwarded(request) and self._speaks_for_others(request, connection):
            return request.ext_fields.get(forwarded.ACCOUNT, "")
        if self._access.table.trusts(parts_of(connection.peer)):
            return ""
        return request.ext_fields[ACCESS_KEY]

    def peer_of(self, request: Command, connection: Connection) -> str:
        """Return the ``ip:port`` of the client of a request: a forwarded one does not come from there."""
        if is_forwarded(request) and self._speaks_for_others(request, connection):
            return request.ext_fields[forwarded.CLIENT]
        return connection.peer

    def _speaks_for_others(self, request: Command, connection: Connection) -> bool:
        """Return whether a request is believed in what it says of its client; other replicas sign as administrator."""
        if self._access is None or self._access.table.trusts(parts_of(connection.peer)):
            return True
        account = self._access.table.accounts.get(request.ext_fields[ACCESS_KEY])
        return account is not None and account.is_admin

    def may(self, member: Member[Connection], need: Need) -> bool:
        """Return whether a member has a right, which it may have lost since its heartbeat."""
        if self._access is None:
            return True
        table, address = self._access.table, parts_of(member.channel.peer)
        if table.trusts(address):
            return True
        account = table.accounts.get(member.access_key)
        return account is not None and (account.addresses.matches(address) or account.may(need))
