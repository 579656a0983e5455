"""Headers about live clients: heartbeats, members, locks, requests of brokers."""

from __future__ import annotations

from dataclasses import field

from broker_core.protocol.codes import RequestCode
from broker_core.protocol.fields import header


@header(RequestCode.HEART_BEAT)
class HeartBeatRequest:
    """Code 34: a client's heartbeat; the body is HeartbeatData. Clients read the `version` of the answer."""


@header()
class HeartBeatResponse:
    """The answer to a client of 5.x that tells what its heartbeat says by a number (its fingerprint).

    `supports_fingerprints`: it may leave out its subscriptions as long as the number stays. `must_repeat`: they are not
    known here, and the next heartbeat has to have them.
    """

    supports_fingerprints: bool = field(metadata={"wire": "IS_SUPPORT_HEART_BEAT_V2"})
    must_repeat: bool = field(default=False, metadata={"wire": "IS_SUB_CHANGE"})


@header(RequestCode.UNREGISTER_CLIENT)
class UnregisterClientRequest:
    """Code 35: remove this connection from a group."""

    client_id: str = field(metadata={"wire": "clientID"})
    producer_group: str | None = None
    consumer_group: str | None = None


@header(RequestCode.GET_CONSUMER_LIST_BY_GROUP)
class GetConsumerListByGroupRequest:
    """Code 38: the client ids of a group's members."""

    consumer_group: str


@header(RequestCode.NOTIFY_CONSUMER_IDS_CHANGED)
class NotifyConsumerIdsChangedRequest:
    """Code 40, broker to client, one-way: the members of the group changed."""

    consumer_group: str


@header(RequestCode.LOCK_BATCH_MQ)
class LockBatchMqRequest:
    """Code 41: lock queues for orderly consumption; the body is LockBatchRequestBody."""


@header(RequestCode.UNLOCK_BATCH_MQ)
class UnlockBatchMqRequest:
    """Code 42: unlock queues; the body is UnlockBatchRequestBody."""


@header(RequestCode.CHECK_CLIENT_CONFIG)
class CheckClientConfigRequest:
    """Code 46: check whether the broker accepts a subscription. The body is CheckClientRequestBody."""


@header(RequestCode.GET_CONSUMER_STATUS_FROM_CLIENT)
class GetConsumerStatusFromClientRequest:
    """Code 221, broker to client: the current offsets. Answered by GetConsumerStatusBody."""

    topic: str
    group: str


@header(RequestCode.INVOKE_BROKER_TO_GET_CONSUMER_STATUS)
class GetConsumerStatusRequest:
    """Code 223: query the offsets of each member, or of the one with client id `client_addr`, through the broker."""

    topic: str
    group: str
    client_addr: str | None = None


@header(RequestCode.GET_CONSUMER_RUNNING_INFO)
class GetConsumerRunningInfoRequest:
    """Code 307, relayed to the client: its state. Answered by ConsumerRunningInfo."""

    consumer_group: str
    client_id: str
    jstack_enable: bool = False


@header(RequestCode.CONSUME_MESSAGE_DIRECTLY)
class ConsumeMessageDirectlyRequest:
    """Code 309, relayed to the client with the record as body: consume this message now."""

    consumer_group: str
    client_id: str
    msg_id: str
    broker_name: str | None = None
    topic: str | None = None
