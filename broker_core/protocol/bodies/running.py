"""The inner state of a consumer, as it reports it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from broker_core.protocol.bodies.heartbeat import SubscriptionData
from broker_core.protocol.bodies.queues import MessageQueue


@dataclass(frozen=True, slots=True)
class ProcessQueueInfo:
    """One queue that a consumer reads; times are in ms."""

    commit_offset: int = 0
    cached_msg_min_offset: int = 0
    cached_msg_max_offset: int = 0
    cached_msg_count: int = 0
    cached_msg_size_in_mib: int = field(default=0, metadata={"wire": "cachedMsgSizeInMiB"})
    transaction_msg_min_offset: int = 0
    transaction_msg_max_offset: int = 0
    transaction_msg_count: int = 0
    locked: bool = False
    try_unlock_times: int = 0
    last_lock_timestamp: int = 0
    droped: bool = False  # the spelling on the wire
    last_pull_timestamp: int = 0
    last_consume_timestamp: int = 0


@dataclass(frozen=True, slots=True)
class ConsumeStatus:
    """A consumer's progress in a topic: times in ms, rates per second, failures in the last hour."""

    pull_rt: float = field(default=0.0, metadata={"wire": "pullRT"})
    pull_tps: float = field(default=0.0, metadata={"wire": "pullTPS"})
    consume_rt: float = field(default=0.0, metadata={"wire": "consumeRT"})
    consume_ok_tps: float = field(default=0.0, metadata={"wire": "consumeOKTPS"})
    consume_failed_tps: float = field(default=0.0, metadata={"wire": "consumeFailedTPS"})
    consume_failed_msgs: int = 0


@dataclass(frozen=True, slots=True)
class ConsumerRunningInfo:
    """The whole state of a consumer (307)."""

    properties: dict[str, str] = field(default_factory=dict)
    subscription_set: list[SubscriptionData] = field(default_factory=list)
    mq_table: dict[MessageQueue, ProcessQueueInfo] = field(default_factory=dict)
    status_table: dict[str, ConsumeStatus] = field(default_factory=dict)
    jstack: str | None = None


class ConsumeResult(StrEnum):
    """The outcome of a message consumed on request."""

    CR_SUCCESS = "CR_SUCCESS"
    CR_LATER = "CR_LATER"
    CR_ROLLBACK = "CR_ROLLBACK"
    CR_COMMIT = "CR_COMMIT"
    CR_THROW_EXCEPTION = "CR_THROW_EXCEPTION"
    CR_RETURN_NULL = "CR_RETURN_NULL"


@dataclass(frozen=True, slots=True)
class ConsumeMessageDirectlyResult:
    """The answer of a consumer (309)."""

    consume_result: ConsumeResult | None = None
    order: bool = False
    auto_commit: bool = True
    remark: str | None = None
    spent_time_mills: int = 0
