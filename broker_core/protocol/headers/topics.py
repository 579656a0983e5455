"""Headers about topics and their queues."""

from __future__ import annotations

from dataclasses import dataclass

from broker_core.protocol.codes import RequestCode
from broker_core.protocol.fields import I32, I64, request
from broker_core.protocol.topics import TEMPLATE_TOPIC


@request(RequestCode.UPDATE_AND_CREATE_TOPIC)
@dataclass(frozen=True, slots=True)
class CreateTopicRequest:
    """Code 17: create a topic, or replace its settings."""

    topic: str
    read_queue_nums: I32
    write_queue_nums: I32
    perm: I32
    topic_filter_type: str = "SINGLE_TAG"
    default_topic: str = TEMPLATE_TOPIC
    topic_sys_flag: I32 = 0
    order: bool = False
    attributes: str | None = None  # 5.x
    force: bool | None = None  # 5.x


@request(RequestCode.GET_ALL_TOPIC_CONFIG)
@dataclass(frozen=True, slots=True)
class GetAllTopicConfigRequest:
    """Code 21: all settings; answered by TopicConfigSerializeWrapper."""


@request(RequestCode.GET_TOPIC_CONFIG)
@dataclass(frozen=True, slots=True)
class GetTopicConfigRequest:
    """Code 351, 5.x: one topic's settings; answered by TopicConfig."""

    topic: str


@request(RequestCode.DELETE_TOPIC_IN_BROKER)
@dataclass(frozen=True, slots=True)
class DeleteTopicRequest:
    """Code 215: delete a topic and its queues on one broker."""

    topic: str


@request(RequestCode.GET_TOPIC_STATS_INFO)
@dataclass(frozen=True, slots=True)
class GetTopicStatsInfoRequest:
    """Code 202: smallest and largest offset of each queue; answered by TopicStatsTable."""

    topic: str


@request(RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_BROKER)
@dataclass(frozen=True, slots=True)
class GetSystemTopicListFromBrokerRequest:
    """Code 305: the broker's own topics; answered by TopicList."""


@request(RequestCode.QUERY_CONSUME_QUEUE)
@dataclass(frozen=True, slots=True)
class QueryConsumeQueueRequest:
    """Code 321: the raw entries of a queue from `index` on; answered by QueryConsumeQueueResponseBody."""

    topic: str
    queue_id: I32
    index: I64
    count: I32
    consumer_group: str | None = None


@request(RequestCode.CLEAN_UNUSED_TOPIC)
@dataclass(frozen=True, slots=True)
class CleanUnusedTopicRequest:
    """Code 316: drop the queues of topics that no longer exist."""


@request(RequestCode.CLEAN_EXPIRED_CONSUMEQUEUE)
@dataclass(frozen=True, slots=True)
class CleanExpiredConsumeQueueRequest:
    """Code 306: drop the parts of queues that point into deleted log."""


@request(RequestCode.DELETE_EXPIRED_COMMITLOG)
@dataclass(frozen=True, slots=True)
class DeleteExpiredCommitLogRequest:
    """Code 329: drop what the retention allows, now."""
