"""The check of a request before its handler, in the order of Apache RocketMQ; a refusal stops it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from broker_core.broker.access.access import Access
from broker_core.broker.access.accounts import Account, Need
from broker_core.broker.access.fields import check_fields
from broker_core.broker.access.needs import ANY_ACCOUNT, Needs
from broker_core.broker.access.places import LocalAccounts
from broker_core.broker.access.revoking import Served
from broker_core.broker.errors import AccessRefused
from broker_core.protocol.addresses import parts_of
from broker_core.protocol.command import Command
from broker_core.protocol.signature import ACCESS_KEY, is_signed_with
from broker_core.remoting.connection import Connection


class AccessCheck:
    """Refuses what the accounts do not allow; a hook of `Dispatch`."""

    def __init__(self, access: Access, needs: Mapping[int, Needs], served: Iterable[int], local: LocalAccounts) -> None:
        """A request that is `served` and that nobody has listed is for administrators."""
        self._access = access
        self._local = local
        self._served = Served()
        access.on_change = self._served.close_revoked
        self._needs = needs
        self._admins_only = frozenset(served) - needs.keys() - ANY_ACCOUNT

    def __call__(self, request: Command, connection: Connection) -> None:
        """Return if a request is allowed; raises AccessRefused, and errors for a body or header that cannot be read."""
        self._served.note(connection, self._let_through(request, connection))

    def _let_through(self, request: Command, connection: Connection) -> str:
        """Return the account by which a request is allowed, empty for a trusted address."""
        table, peer = self._access.table, connection.peer
        if table.global_white and table.trusts(parts_of(peer)):
            return ""
        access_key = request.ext_fields.get(ACCESS_KEY)
        if access_key is None:
            raise AccessRefused("No accessKey is configured")
        account = table.accounts.get(access_key)
        if account is None:
            raise AccessRefused(f"No acl config for {access_key[:_SHOWN]}")
        self._local.check(access_key, peer, connection.local)
        if account.addresses.matches(parts_of(peer)):
            return access_key
        if not is_signed_with(request, account.secret_key):
            raise AccessRefused(f"Check signature failed for accessKey={access_key}")
        self._check_rights(request, account)
        return access_key

    def _check_rights(self, request: Command, account: Account) -> None:
        if request.code in self._admins_only and not account.is_admin:
            raise AccessRefused(
                f"Need admin permission for request code={request.code}, but accessKey={account.access_key} is not"
            )
        check_fields(request)
        for need in self._needs_of(request):
            if not account.may(need):
                raise AccessRefused(f"No default permission for {need.kind}:{need.name[:_SHOWN]}")

    def _needs_of(self, request: Command) -> Iterator[Need]:
        needs = self._needs.get(request.code)
        if needs is not None:
            yield from needs(request)


_SHOWN: Final = 200
