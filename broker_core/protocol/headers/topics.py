"""Headers about topics and their queues."""

from __future__ import annotations

from broker_core.protocol.codes import RequestCode
from broker_core.protocol.fields import I32, I64, header
from broker_core.protocol.topics import TEMPLATE_TOPIC


@header(RequestCode.UPDATE_AND_CREATE_TOPIC)
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


@header(RequestCode.UPDATE_AND_CREATE_TOPIC_LIST)
class CreateTopicListRequest:
    """Code 18, 5.x: create or replace the topics of a CreateTopicListRequestBody."""


@header(RequestCode.GET_ALL_TOPIC_CONFIG)
class GetAllTopicConfigRequest:
    """Code 21: all settings; answered by TopicConfigSerializeWrapper."""


@header(RequestCode.GET_TOPIC_CONFIG)
class GetTopicConfigRequest:
    """Code 351, 5.x: one topic's settings; answered by TopicConfig."""

    topic: str


@header(RequestCode.DELETE_TOPIC_IN_BROKER)
class DeleteTopicRequest:
    """Code 215: delete a topic and its queues on one broker."""

    topic: str


@header(RequestCode.GET_TOPIC_STATS_INFO)
class GetTopicStatsInfoRequest:
    """Code 202: smallest and largest offset of each queue; answered by TopicStatsTable."""

    topic: str


@header(RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_BROKER)
class GetSystemTopicListFromBrokerRequest:
    """Code 305: the broker's own topics; answered by TopicList."""


@header(RequestCode.QUERY_CONSUME_QUEUE)
class QueryConsumeQueueRequest:
    """Code 321: the raw entries of a queue from `index` on; answered by QueryConsumeQueueResponseBody."""

    topic: str
    queue_id: I32
    index: I64
    count: I32
    consumer_group: str | None = None


@header(RequestCode.CLEAN_EXPIRED_CONSUMEQUEUE)
class CleanExpiredConsumeQueueRequest:
    """Code 306: drop the files of queues whose messages have expired."""


@header(RequestCode.CLEAN_UNUSED_TOPIC)
class CleanUnusedTopicRequest:
    """Code 316: drop the queues of topics that no longer exist."""


@header(RequestCode.DELETE_EXPIRED_COMMITLOG)
class DeleteExpiredCommitLogRequest:
    """Code 329: drop expired segments now."""


@header(RequestCode.PURGE_TOPIC)
class PurgeTopicRequest:
    """Code 30105 (Gantry): make the first messages of a topic unreadable.

    With a QueueOffsets of where each queue is to begin, answered by another of where it does.
    """

    topic: str
