"""What RocketMQ 5 asks for and no server of Gantry does, with the reason that its user is told."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from broker_core.protocol.codes import RequestCode, name_of_request

_TIMERS: Final = "only replicas ask for it; brokerStatus shows as timerMessages how many messages wait for their time"
_FORBIDDEN: Final = (
    "a topic cannot be closed to one group; close the group (updateSubGroup -s false), or the topic (updateTopicPerm)"
)
_ROCKSDB: Final = "settings and queues are in files as of RocketMQ 4.9, not in RocksDB"
_STATIC: Final = "a topic cannot be mapped onto numbered queues of several brokers"
_REPLICAS: Final = "only replicas of RocketMQ 5 ask for it"
_CONTAINERS: Final = "a process has one broker; start another one to add it, and stop one to remove it"
_HEARTBEATS: Final = "brokers report to name servers by their registration (103)"
_CONTROLLER: Final = "no controller runs here; a name server hosts one with enableControllerInNamesrv=true"
_OF_REPLICAS: Final = "it is for brokers that are replicas with a controller (enableControllerMode=true)"
_CONTROLLER_CONFIG: Final = "a controller has the settings that its process was started with, and changes none"
_COLD: Final = "reading old messages is not throttled by group, and the system decides how it reads ahead"
_ACCOUNTS: Final = "accounts are those of RocketMQ 4.9: plain_acl.yml, or updateAclConfig of mqadmin 4.9"


def _range(first: RequestCode, last: RequestCode) -> Iterable[RequestCode]:
    return (code for code in RequestCode if first <= code <= last)


REASONS: Final[Mapping[int, str]] = {
    RequestCode.GET_TIMER_CHECK_POINT: _TIMERS,
    RequestCode.GET_TIMER_METRICS: _TIMERS,
    RequestCode.REGISTER_TOPIC_IN_NAMESRV: _HEARTBEATS,
    RequestCode.UPDATE_AND_GET_GROUP_FORBIDDEN: _FORBIDDEN,
    RequestCode.CHECK_ROCKSDB_CQ_WRITE_PROGRESS: _ROCKSDB,
    RequestCode.EXPORT_ROCKSDB_CONFIG_TO_JSON: _ROCKSDB,
    RequestCode.GET_ALL_MESSAGE_REQUEST_MODE: _REPLICAS,
    RequestCode.UPDATE_AND_CREATE_STATIC_TOPIC: _STATIC,
    RequestCode.POP_ROLLBACK: "leases are kept in one form only, so there are no pop records to export",
    **dict.fromkeys(_range(RequestCode.GET_BROKER_MEMBER_GROUP, RequestCode.EXCHANGE_BROKER_HA_INFO), _REPLICAS),
    RequestCode.RESET_MASTER_FLUSH_OFFSET: _REPLICAS,
    RequestCode.ADD_BROKER: _CONTAINERS,
    RequestCode.REMOVE_BROKER: _CONTAINERS,
    RequestCode.BROKER_HEARTBEAT: _HEARTBEATS,
    **dict.fromkeys(
        _range(RequestCode.CONTROLLER_ALTER_SYNC_STATE_SET, RequestCode.CONTROLLER_APPLY_BROKER_ID), _CONTROLLER
    ),
    **dict.fromkeys(_range(RequestCode.NAME_STATE, RequestCode.ADOPT_STATE), _CONTROLLER),
    **dict.fromkeys(
        (
            RequestCode.GET_BROKER_EPOCH_CACHE,
            RequestCode.NOTIFY_BROKER_ROLE_CHANGED,
            RequestCode.METADATA_CHANGES,
            RequestCode.HAND_OVER,
        ),
        _OF_REPLICAS,
    ),
    RequestCode.UPDATE_CONTROLLER_CONFIG: _CONTROLLER_CONFIG,
    RequestCode.GET_CONTROLLER_CONFIG: _CONTROLLER_CONFIG,
    **dict.fromkeys(_range(RequestCode.UPDATE_COLD_DATA_FLOW_CTR_CONFIG, RequestCode.SET_COMMITLOG_READ_MODE), _COLD),
    **dict.fromkeys(_range(RequestCode.AUTH_CREATE_USER, RequestCode.AUTH_LIST_ACL), _ACCOUNTS),
}
"""Why a request is refused. Codes that RocketMQ's own servers do not know either have no reason."""


def remark_of(code: int) -> str:
    """Return the remark of a refusal: RocketMQ's text, to which the leading space belongs, with name and reason."""
    reason = REASONS.get(code)
    if reason is None:
        return f" request type {code} not supported"
    return f" request type {code} ({name_of_request(code)}) not supported: {reason}"
