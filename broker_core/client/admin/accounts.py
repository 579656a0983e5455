"""Accounts of access control, on each broker process: a slave has account files of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import orjson

from broker_core.client.admin.maintenance import Maintenance
from broker_core.client.admin.requests import AdminRequests
from broker_core.client.answers import Answers
from broker_core.client.errors import AccountRefused, BrokerRefused, MalformedAnswer, NoMaster, NotSupported
from broker_core.protocol.addresses import pieces
from broker_core.protocol.bodies import coder
from broker_core.protocol.bodies.access import ClusterAccessConfig, PlainAccessConfig
from broker_core.protocol.bodies.topics import DataVersion
from broker_core.protocol.codes import ResponseCode
from broker_core.protocol.errors import ProtocolError
from broker_core.protocol.headers.admin import (
    CreateAccessConfigRequest,
    DeleteAccessConfigRequest,
    GetBrokerAccessConfigRequest,
    GetBrokerAccessInfoRequest,
    GetBrokerAccessInfoResponse,
    UpdateGlobalWhiteAddrsRequest,
)
from broker_core.protocol.secret_digest import secret_digest

_SWITCH: Final = "aclEnable"
_REFUSED: Final = frozenset(
    {
        ResponseCode.UPDATE_AND_CREATE_ACL_CONFIG_FAILED,
        ResponseCode.DELETE_ACL_CONFIG_FAILED,
        ResponseCode.UPDATE_GLOBAL_WHITE_ADDRS_CONFIG_FAILED,
    }
)
"""Of these requests alone: the same numbers stand for other things in answers to pops."""
_ONLY_FILE: Final = "plain_acl.yml"
"""What versions belong to that a broker tells without files: that of 4.9.0."""


@dataclass(frozen=True, slots=True)
class BrokerAccess:
    """Access control of one broker."""

    is_on: bool
    versions: Mapping[str, DataVersion] = field(default_factory=dict)
    """By account file, on the broker's machine."""
    config: ClusterAccessConfig | None = None
    """Its accounts and addresses. None: it does not list them, as RocketMQ 4.9.8; up to 4.9.7 it tells secrets too."""


class Accounts:
    """Accounts of brokers. Every change goes to each broker process, as `mqadmin` sends it."""

    def __init__(self, requests: AdminRequests, maintenance: Maintenance) -> None:
        self._requests = requests
        self._maintenance = maintenance

    async def of(self, addr: str, secret_nonce: str | None = None) -> BrokerAccess:
        """Return the access control of one broker; raise BrokerRefused, Unreachable or MalformedAnswer.

        With a nonce each account has a digest of its secret, if the broker tells either.

        Its switch is read from its settings: with access control off RocketMQ never answers the request for versions.
        """
        if (await self._maintenance.settings_of(addr)).get(_SWITCH) != "true":
            return BrokerAccess(is_on=False)
        answer = await self._requests.ask(addr, GetBrokerAccessInfoRequest())
        info = self._requests.read(GetBrokerAccessInfoResponse, answer, addr)
        return BrokerAccess(is_on=True, versions=_versions(info, addr), config=await self._listed(addr, secret_nonce))

    async def all(self, secret_nonce: str | None = None) -> Answers[BrokerAccess]:
        """Return the access control of every broker process, by address, as `of` does."""
        return await self._requests.ask_each(await self._addresses(), lambda addr: self.of(addr, secret_nonce))

    async def put(self, account: PlainAccessConfig) -> Answers[None]:
        """Create an account or change it, on every broker; what is None stays, but for the switch `admin`.

        Raises NoMaster if the name servers list no broker.
        """
        return await self.put_on(dict.fromkeys(await self._all_to_change(), account))

    async def put_on(self, accounts: Mapping[str, PlainAccessConfig]) -> Answers[None]:
        """Create or change an account as given for each address.

        Brokers of RocketMQ refuse a change without the secret, and a name or a secret of less than seven characters.
        """

        async def put(addr: str) -> None:
            await self._change(addr, _request(accounts[addr]))

        return await self._requests.ask_each(accounts, put)

    async def delete(self, access_key: str, *, addresses: Sequence[str] | None = None) -> Answers[None]:
        """Delete an account on every broker, or on those at `addresses`; one that lacks it refuses (210).

        Raises NoMaster as `put` does.
        """

        async def delete(addr: str) -> None:
            await self._change(addr, DeleteAccessConfigRequest(access_key))

        asked = await self._all_to_change() if addresses is None else addresses
        return await self._requests.ask_each(asked, delete)

    async def put_global_white(self, patterns: Sequence[str]) -> Answers[None]:
        """Replace the addresses that need no signature, in the first account file of every broker.

        Those in braces are sent one by one, since brokers of RocketMQ cut them at the commas; these refuse the whole
        (211) unless the file has such a list already. Raises ValueError for what is no address, and NoMaster as `put`
        does.
        """
        header = UpdateGlobalWhiteAddrsRequest(",".join(each for pattern in patterns for each in pieces(pattern)))

        async def put(addr: str) -> None:
            await self._change(addr, header)

        return await self._requests.ask_each(await self._all_to_change(), put)

    async def _addresses(self) -> list[str]:
        return [broker.addr for broker in await self._requests.brokers()]

    async def _all_to_change(self) -> list[str]:
        """Return every broker; raise NoMaster if there is none, so that nobody takes a change for made."""
        addresses = await self._addresses()
        if not addresses:
            raise NoMaster
        return addresses

    async def _change(self, addr: str, header: object) -> None:
        try:
            await self._requests.ask(addr, header)
        except BrokerRefused as error:
            if error.code in _REFUSED:
                raise AccountRefused(error.code, error.remark, addr) from error
            raise

    async def _listed(self, addr: str, nonce: str | None) -> ClusterAccessConfig | None:
        request = GetBrokerAccessConfigRequest(nonce)
        try:
            found = await self._requests.ask_for(ClusterAccessConfig, addr, request)
        except NotSupported:
            return None
        accounts = [_digested(each, nonce) for each in found.plain_access_configs]
        return replace(found, plain_access_configs=accounts)


def _digested(account: PlainAccessConfig, nonce: str | None) -> PlainAccessConfig:
    """Return an account with the digest of its secret, also if the broker tells the secret itself."""
    if nonce is None or account.secret_key is None:
        return account
    return replace(account, secret_digest=secret_digest(nonce, account.access_key or "", account.secret_key))


def _request(account: PlainAccessConfig) -> CreateAccessConfigRequest:
    return CreateAccessConfigRequest(
        access_key=account.access_key or "",
        secret_key=account.secret_key,
        white_remote_address=account.white_remote_address,
        admin=account.admin,
        default_topic_perm=account.default_topic_perm,
        default_group_perm=account.default_group_perm,
        topic_perms=None if account.topic_perms is None else ",".join(account.topic_perms),
        group_perms=None if account.group_perms is None else ",".join(account.group_perms),
    )


def _versions(info: GetBrokerAccessInfoResponse, addr: str) -> dict[str, DataVersion]:
    try:
        if info.all_acl_file_version is None:
            return {_ONLY_FILE: coder.decode(DataVersion, info.version.encode())}
        files = orjson.loads(info.all_acl_file_version)
        return {str(file): coder.decode(DataVersion, orjson.dumps(version)) for file, version in files.items()}
    except (ProtocolError, ValueError, AttributeError) as error:
        raise MalformedAnswer(addr, f"the versions of its account files: {error}") from error
