"""Accounts of access control: told and changed, for administrators; refused while access control is off."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

import orjson

from broker_core.broker.access.access import Access
from broker_core.broker.access.listing import listed
from broker_core.broker.config import Identity
from broker_core.broker.errors import BrokerError
from broker_core.broker.processors.handlers import Handlers
from broker_core.logs import get_logger
from broker_core.protocol import bodies
from broker_core.protocol.bodies import coder
from broker_core.protocol.bodies.access import PlainAccessConfig
from broker_core.protocol.bodies.topics import DataVersion
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers import admin as headers
from broker_core.remoting.connection import Connection

_OFF: Final = "access control is off (aclEnable=false); there are no accounts to read or change"
_FAILED: Final = {
    RequestCode.UPDATE_AND_CREATE_ACL_CONFIG: ResponseCode.UPDATE_AND_CREATE_ACL_CONFIG_FAILED,
    RequestCode.DELETE_ACL_CONFIG: ResponseCode.DELETE_ACL_CONFIG_FAILED,
    RequestCode.GET_BROKER_CLUSTER_ACL_INFO: ResponseCode.SYSTEM_ERROR,
    RequestCode.UPDATE_GLOBAL_WHITE_ADDRS_CONFIG: ResponseCode.UPDATE_GLOBAL_WHITE_ADDRS_CONFIG_FAILED,
    RequestCode.GET_BROKER_CLUSTER_ACL_CONFIG: ResponseCode.SYSTEM_ERROR,
}
"""RocketMQ's codes; without access control its remark is that of a null pointer, or there is no answer."""
_COMMA: Final = re.compile(r",(?![^{]*\})")  # not one between braces

_log: Final = get_logger(__name__)


class AccountProcessor:
    """Answers 50 to 54."""

    def __init__(self, *, access: Access | None, identity: Identity, address: str) -> None:
        self._access = access
        self._identity = identity
        self._address = address

    def handlers(self) -> Handlers:
        if self._access is None:
            return dict.fromkeys(_FAILED, self.refuse)
        served = _Accounts(self._access, self._identity, self._address)
        return {
            RequestCode.UPDATE_AND_CREATE_ACL_CONFIG: served.put,
            RequestCode.DELETE_ACL_CONFIG: served.delete,
            RequestCode.UPDATE_GLOBAL_WHITE_ADDRS_CONFIG: served.put_global_white,
            RequestCode.GET_BROKER_CLUSTER_ACL_INFO: served.versions,
            RequestCode.GET_BROKER_CLUSTER_ACL_CONFIG: served.list,
        }

    def refuse(self, request: Command, _: Connection) -> Command:
        """Refuse: there is no access control."""
        return Command.response(_FAILED[RequestCode(request.code)], remark=_OFF)


class _Accounts:
    """The answers of a broker with access control."""

    def __init__(self, access: Access, identity: Identity, address: str) -> None:
        self._access = access
        self._identity = identity
        self._address = address

    async def put(self, request: Command, connection: Connection) -> Command:
        """Create or change an account; it is in effect and saved when the answer is sent."""
        header = request.header(headers.CreateAccessConfigRequest)
        config = PlainAccessConfig(
            access_key=header.access_key,
            secret_key=header.secret_key,
            white_remote_address=header.white_remote_address,
            admin=header.admin,
            default_topic_perm=header.default_topic_perm,
            default_group_perm=header.default_group_perm,
            topic_perms=_words(header.topic_perms),
            group_perms=_words(header.group_perms),
        )
        return await self._answer(request, connection, header.access_key, lambda: self._access.put_account(config))

    async def delete(self, request: Command, connection: Connection) -> Command:
        """Delete an account."""
        key = request.header(headers.DeleteAccessConfigRequest).access_key
        return await self._answer(request, connection, key, lambda: self._access.delete_account(key))

    async def put_global_white(self, request: Command, connection: Connection) -> Command:
        """Replace the addresses that need no signature, in one file."""
        header = request.header(headers.UpdateGlobalWhiteAddrsRequest)
        path = Path(header.acl_file_full_path) if header.acl_file_full_path else None
        addresses = _words(header.global_white_addrs) or []
        return await self._answer(request, connection, "all", lambda: self._access.put_global_white(addresses, path))

    def versions(self, _request: Command, _: Connection) -> Command:
        """Return the version of each file."""
        documents = self._access.table.documents
        versions = {str(path): coder.to_tree(document.version) for path, document in documents.items()}
        main = documents.get(self._access.main_file)
        header = headers.GetBrokerAccessInfoResponse(
            version=orjson.dumps(coder.to_tree(DataVersion() if main is None else main.version)).decode(),
            broker_name=self._identity.name,
            broker_addr=self._address,
            cluster_name=self._identity.cluster,
            all_acl_file_version=orjson.dumps(versions).decode(),
        )
        return Command.response(ResponseCode.SUCCESS, header)

    def list(self, request: Command, _: Connection) -> Command:
        """Return all accounts without their secrets."""
        nonce = request.header(headers.GetBrokerAccessConfigRequest).secret_nonce
        body = listed(self._access.table.documents.values(), nonce)
        return Command.response(ResponseCode.SUCCESS, body=bodies.encode(body))

    async def _answer(
        self, request: Command, connection: Connection, key: str, change: Callable[[], Awaitable[None]]
    ) -> Command:
        code = RequestCode(request.code)
        try:
            await change()
        except (BrokerError, OSError) as error:
            return Command.response(_FAILED[code], remark=str(error))
        _log.info("access: %s of account %s by %s", code.name, key[:200], connection.peer)
        return Command.response(ResponseCode.SUCCESS)


def _words(text: str | None) -> list[str] | None:
    """Return the parts of a comma list; None if the request does not have it."""
    return None if text is None else [part.strip() for part in _COMMA.split(text) if part.strip()]
