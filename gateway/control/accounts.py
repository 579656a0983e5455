"""The accounts of brokers with access control, and the addresses that need none."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Final

from drf_spectacular.utils import extend_schema
from msgspec.structs import replace
from rest_framework.request import Request
from rest_framework.response import Response

from console.accounts.permissions import actor_of, needs
from console.broker_accounts import changes
from console.broker_accounts.reading import Reading, account, addresses, read, shown
from console.broker_accounts.shapes import (
    AccountRights,
    BrokerAccount,
    BrokerAccountChanged,
    BrokerAccounts,
    GlobalAddresses,
    GlobalAddressesChanged,
)
from console.broker_accounts.tags import is_same
from console.clusters.change_lock import change_lock
from console.clusters.outcomes import BrokerOutcome, PartlyDeleted
from console.etags import IF_MATCH, match, require, tagged
from console.once import SECRET_MS
from console.shapes import as_json, serializer_of
from gateway.control.account_shapes import AccountChangeSerializer, AccountCreateSerializer, AddressesSerializer
from gateway.control.cluster_view import WholeClusterView, deleted, with_outcomes

_CHANGED: Final = serializer_of(BrokerAccountChanged)
_ADDRESSES: Final = serializer_of(GlobalAddressesChanged)
_NOTHING: Final = AccountRights(
    admin=False, white_address="", default_topic_permission="DENY", default_group_permission="DENY",
    topic_permissions={}, group_permissions={},
)  # fmt: skip


class _AccountsView(WholeClusterView):
    """Only administrators see and change who may use the brokers."""

    permission_classes = (needs("admin"),)


class AccountsView(_AccountsView):
    """All accounts of a cluster."""

    answer_ms = SECRET_MS

    @extend_schema(operation_id="listBrokerAccounts", tags=["accounts"], responses=serializer_of(BrokerAccounts))
    def get(self, request: Request, cluster: str) -> Response:
        """List the accounts of the brokers without their secrets, and on which broker access control is on."""
        return Response(as_json(shown(read(cluster))))

    @extend_schema(
        operation_id="createBrokerAccount",
        tags=["accounts"],
        request=AccountCreateSerializer,
        responses={201: _CHANGED, 207: _CHANGED},
    )
    def post(self, request: Request, cluster: str) -> Response:
        """Create an account on every broker; a secret that is not given is made, and only this answer contains it."""
        form = AccountCreateSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        given = dict(form.validated_data)
        key, secret = given.pop("access_key"), given.pop("secret_key", None)
        made = changes.new_secret() if secret is None else None
        with _lock(cluster):
            rights = replace(_NOTHING, **given)
            outcomes = changes.create(actor_of(request), read(cluster), key, rights, secret or made or "")
            return _changed(read(cluster), key, rights, made, outcomes, status=201)


class AccountView(_AccountsView):
    """One account."""

    @extend_schema(operation_id="getBrokerAccount", tags=["accounts"], responses=serializer_of(BrokerAccount))
    def get(self, request: Request, cluster: str, access_key: str) -> Response:
        """Return an account, and the brokers that lack it or have it otherwise."""
        found = read(cluster)
        found.require_listed()
        return tagged(as_json(account(found, access_key)))

    @extend_schema(
        operation_id="updateBrokerAccount",
        tags=["accounts"],
        parameters=[IF_MATCH],
        request=AccountChangeSerializer,
        responses={200: _CHANGED, 207: _CHANGED},
    )
    def patch(self, request: Request, cluster: str, access_key: str) -> Response:
        """Change an account, so that it is the same on every broker; without a secret its secret stays."""
        form = AccountChangeSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        given = dict(form.validated_data)
        made = changes.new_secret() if given.pop("new_secret") else None
        secret = given.pop("secret_key", made)
        with _lock(cluster):
            found = read(cluster)
            _match(request, found, access_key)
            outcomes = changes.change(actor_of(request), found, access_key, given, secret)
            return _changed(read(cluster), access_key, replace(_NOTHING, **given), made, outcomes)

    @extend_schema(
        operation_id="deleteBrokerAccount",
        tags=["accounts"],
        parameters=[IF_MATCH],
        responses={204: None, 207: serializer_of(PartlyDeleted)},
    )
    def delete(self, request: Request, cluster: str, access_key: str) -> Response:
        """Delete an account on every broker: whoever signs with it is refused at once."""
        with _lock(cluster):
            found = read(cluster)
            _match(request, found, access_key)
            return deleted(access_key, changes.delete(actor_of(request), found, access_key))


class GlobalAddressesView(_AccountsView):
    """The addresses that need no account."""

    @extend_schema(operation_id="getGlobalAddresses", tags=["accounts"], responses=serializer_of(GlobalAddresses))
    def get(self, request: Request, cluster: str) -> Response:
        """Return the addresses from which the brokers serve everybody."""
        found = read(cluster)
        found.require_listed()
        return tagged(as_json(addresses(found)))

    @extend_schema(
        operation_id="setGlobalAddresses",
        tags=["accounts"],
        parameters=[IF_MATCH],
        request=AddressesSerializer,
        responses={200: _ADDRESSES, 207: _ADDRESSES},
    )
    def put(self, request: Request, cluster: str) -> Response:
        """Replace the addresses from which the brokers serve everybody, on every broker."""
        form = AddressesSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        wanted = form.validated_data["global_white_addresses"]
        with _lock(cluster):
            found = read(cluster)
            if not _is_unseen(request, found):
                match(request, as_json(addresses(found)), is_same)
            outcomes = changes.put_addresses(actor_of(request), found, wanted)
            after = read(cluster)
        if not after.configs:
            given = GlobalAddresses(global_white_addresses=wanted, differs_on=[], unknown_on=after.unknown, etag="*")
            return with_outcomes(Response(as_json(given)), outcomes)
        return with_outcomes(tagged(as_json(addresses(after))), outcomes)


def _lock(cluster: str) -> AbstractContextManager[None]:
    """All accounts are in one file of each broker."""
    return change_lock(cluster, "accounts", "accounts")


def _match(request: Request, found: Reading, key: str) -> None:
    if not _is_unseen(request, found):
        match(request, as_json(account(found, key)), is_same)


def _is_unseen(request: Request, found: Reading) -> bool:
    """Return whether no broker lists its accounts, and the request says that it changes them all the same."""
    require(request)
    found.require_on()
    if not found.configs and request.headers["If-Match"].strip() != "*":
        found.require_listed()
    return not found.configs


def _changed(
    found: Reading,
    key: str,
    given: AccountRights,
    made: str | None,
    outcomes: Sequence[BrokerOutcome],
    *,
    status: int = 200,
) -> Response:
    """Return the answer to a change: the account as its brokers list it now, or as it was sent if they list none."""
    if key in found.accounts:
        answer = tagged({**as_json(account(found, key)), "secret_key": made})
    else:
        unseen = {"missing_on": [], "differs_on": [], "secret_differs_on": [], "unknown_on": found.unknown}
        answer = Response(
            {"access_key": key, "is_own": key == found.own, **as_json(given), **unseen, "etag": "*", "secret_key": made}
        )
    return with_outcomes(answer, outcomes, status=status)
