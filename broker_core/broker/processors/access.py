"""Access control, which this broker does not support: each request is refused."""

from __future__ import annotations

from typing import Final

from broker_core.broker.processors.handlers import Handlers
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.remoting.connection import Connection

_OFF: Final = "access control is off (aclEnable=false); there are no accounts to read or change"
_CODES: Final = {
    RequestCode.UPDATE_AND_CREATE_ACL_CONFIG: ResponseCode.UPDATE_AND_CREATE_ACL_CONFIG_FAILED,
    RequestCode.DELETE_ACL_CONFIG: ResponseCode.DELETE_ACL_CONFIG_FAILED,
    RequestCode.GET_BROKER_CLUSTER_ACL_INFO: ResponseCode.SYSTEM_ERROR,
    RequestCode.UPDATE_GLOBAL_WHITE_ADDRS_CONFIG: ResponseCode.UPDATE_GLOBAL_WHITE_ADDRS_CONFIG_FAILED,
    RequestCode.GET_BROKER_CLUSTER_ACL_CONFIG: ResponseCode.SYSTEM_ERROR,
}
"""The response codes are RocketMQ's; its remark is that of a null pointer, and some of these requests get no answer."""


class AccessProcessor:
    """Answers 50 to 54."""

    def handlers(self) -> Handlers:
        return dict.fromkeys(_CODES, self.refuse)

    def refuse(self, request: Command, _: Connection) -> Command:
        """Refuse: there is no access control."""
        return Command.response(_CODES[RequestCode(request.code)], remark=_OFF)
