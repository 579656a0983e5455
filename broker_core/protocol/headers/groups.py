"""Headers about consumer and producer groups."""

from __future__ import annotations

from broker_core.protocol.codes import RequestCode
from broker_core.protocol.fields import header


@header(RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP)
class CreateSubscriptionGroupRequest:
    """Code 200: create or replace a group's settings; the body is SubscriptionGroupConfig."""


@header(RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP_LIST)
class CreateSubscriptionGroupListRequest:
    """Code 225, 5.x: create or replace the settings of the groups of a SubscriptionGroupList."""


@header(RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG)
class GetAllSubscriptionGroupConfigRequest:
    """Code 201: all settings; answered by SubscriptionGroupWrapper."""


@header(RequestCode.GET_SUBSCRIPTIONGROUP_CONFIG)
class GetSubscriptionGroupConfigRequest:
    """Code 352, 5.x: one group's settings; answered by SubscriptionGroupConfig."""

    group: str


@header(RequestCode.DELETE_SUBSCRIPTIONGROUP)
class DeleteSubscriptionGroupRequest:
    """Code 207: delete a group's settings, and its offsets if requested."""

    group_name: str
    remove_offset: bool = False
    clean_offset: bool = False
    """5.x: what 4.9 calls `remove_offset`."""


@header(RequestCode.GET_CONSUMER_CONNECTION_LIST)
class GetConsumerConnectionListRequest:
    """Code 203: a group's members; answered by ConsumerConnection, or code 206."""

    consumer_group: str


@header(RequestCode.GET_PRODUCER_CONNECTION_LIST)
class GetProducerConnectionListRequest:
    """Code 204: a producer group's members; answered by ProducerConnection, or code 1."""

    producer_group: str


@header(RequestCode.GET_ALL_PRODUCER_INFO)
class GetAllProducerInfoRequest:
    """Code 328: all producers; answered by ProducerTableInfo."""


@header(RequestCode.LIST_TOPIC_PRODUCERS)
class ListTopicProducersRequest:
    """Code 30106 (Gantry): the producers whose messages were stored in a topic; answered by TopicProducersBody."""

    topic: str


@header(RequestCode.GET_CONSUME_STATS)
class GetConsumeStatsRequest:
    """Code 208: a group's progress in each queue; answered by ConsumeStats."""

    consumer_group: str
    topic: str | None = None
    topic_list: str | None = None
    """5.x: topics with semicolons between them, told whatever the members subscribe to; goes before `topic`."""


@header(RequestCode.GET_BROKER_CONSUME_STATS)
class GetBrokerConsumeStatsRequest:
    """Code 317: the lag of every group; answered by ConsumeStatsList."""

    is_order: bool = False


@header(RequestCode.QUERY_TOPIC_CONSUME_BY_WHO)
class QueryTopicConsumeByWhoRequest:
    """Code 300: the groups that read a topic; answered by GroupList."""

    topic: str


@header(RequestCode.QUERY_TOPICS_BY_CONSUMER)
class QueryTopicsByConsumerRequest:
    """Code 343, 5.x: the topics in which a group has offsets; answered by TopicList."""

    group: str


@header(RequestCode.QUERY_SUBSCRIPTION_BY_CONSUMER)
class QuerySubscriptionByConsumerRequest:
    """Code 345, 5.x: what a group's members subscribe to in a topic; answered by QuerySubscriptionResponseBody."""

    group: str
    topic: str


@header(RequestCode.QUERY_CONSUME_TIME_SPAN)
class QueryConsumeTimeSpanRequest:
    """Code 303: a group's progress as times; answered by QueryConsumeTimeSpanBody."""

    topic: str
    group: str
