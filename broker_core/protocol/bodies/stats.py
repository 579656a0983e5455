"""Lag and throughput tables, and resets."""

from __future__ import annotations

from dataclasses import dataclass, field

from broker_core.protocol.bodies.queues import MessageQueue


@dataclass(frozen=True, slots=True)
class TopicOffset:
    """The readable range of a queue, and when its last message was stored (ms, 0 if none)."""

    min_offset: int = 0
    max_offset: int = 0
    last_update_timestamp: int = 0


@dataclass(frozen=True, slots=True)
class TopicStatsTable:
    """The readable range of every queue of a topic (202).

    `topic_put_tps` is in messages per second. `kept_bytes` is Gantry's own: the bytes of the readable messages in the
    log, None if the broker does not tell or is still summing; RocketMQ's clients skip it.
    """

    offset_table: dict[MessageQueue, TopicOffset] = field(default_factory=dict)
    topic_put_tps: float | None = None  # 5.x
    kept_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class OffsetWrapper:
    """A group's progress in a queue. `last_timestamp`: store time (ms) of the last consumed message, 0 if unknown."""

    broker_offset: int = 0
    consumer_offset: int = 0
    last_timestamp: int = 0
    pull_offset: int | None = None  # 5.x


@dataclass(frozen=True, slots=True)
class ConsumeStats:
    """A group's progress in every queue it reads (208). `consume_tps` is in messages per second."""

    offset_table: dict[MessageQueue, OffsetWrapper] = field(default_factory=dict)
    consume_tps: float = 0.0


@dataclass(frozen=True, slots=True)
class ConsumeStatsList:
    """The lag of every group of a broker (317): a list of one-entry maps, group → stats per topic."""

    consume_stats_list: list[dict[str, list[ConsumeStats]]] = field(default_factory=list)
    broker_addr: str = ""
    total_diff: int = 0


@dataclass(frozen=True, slots=True)
class ResetOffsetBody:
    """The new offset of each queue (220, 222)."""

    offset_table: dict[MessageQueue, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class QueueOffsetForC:
    """One entry of the list form for C++ clients."""

    topic: str
    broker_name: str
    queue_id: int
    offset: int


@dataclass(frozen=True, slots=True)
class ResetOffsetBodyForC:
    """`ResetOffsetBody` as a list, for C++ clients (220)."""

    offset_table: list[QueueOffsetForC] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class GetConsumerStatusBody:
    """Consumer offsets: one client's by queue (221), or each client's (223)."""

    message_queue_table: dict[MessageQueue, int] = field(default_factory=dict)
    consumer_table: dict[str, dict[MessageQueue, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class QueueTimeSpan:
    """The time range of a queue's readable messages, and a group's time lag; all in ms."""

    message_queue: MessageQueue
    min_time_stamp: int = 0
    max_time_stamp: int = 0
    consume_time_stamp: int = 0
    delay_time: int = 0


@dataclass(frozen=True, slots=True)
class QueryConsumeTimeSpanBody:
    """The readable time range of every queue (303)."""

    consume_time_span_set: list[QueueTimeSpan] = field(default_factory=list)
