"""Headers about consumer and producer groups."""

from __future__ import annotations

from dataclasses import dataclass

from broker_core.protocol.codes import RequestCode
from broker_core.protocol.fields import request


@request(RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP)
@dataclass(frozen=True, slots=True)
class CreateSubscriptionGroupRequest:
    """Code 200: create or replace a group's settings; the body is SubscriptionGroupConfig."""


@request(RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG)
@dataclass(frozen=True, slots=True)
class GetAllSubscriptionGroupConfigRequest:
    """Code 201: all settings; answered by SubscriptionGroupWrapper."""


@request(RequestCode.GET_SUBSCRIPTIONGROUP_CONFIG)
@dataclass(frozen=True, slots=True)
class GetSubscriptionGroupConfigRequest:
    """Code 352, 5.x: one group's settings; answered by SubscriptionGroupConfig."""

    group: str


@request(RequestCode.DELETE_SUBSCRIPTIONGROUP)
@dataclass(frozen=True, slots=True)
class DeleteSubscriptionGroupRequest:
    """Code 207: forget a group's settings, and its offsets if asked."""

    group_name: str
    remove_offset: bool = False


@request(RequestCode.GET_CONSUMER_CONNECTION_LIST)
@dataclass(frozen=True, slots=True)
class GetConsumerConnectionListRequest:
    """Code 203: a group's members; answered by ConsumerConnection, or code 206."""

    consumer_group: str


@request(RequestCode.GET_PRODUCER_CONNECTION_LIST)
@dataclass(frozen=True, slots=True)
class GetProducerConnectionListRequest:
    """Code 204: a producer group's members; answered by ProducerConnection, or code 1."""

    producer_group: str


@request(RequestCode.GET_ALL_PRODUCER_INFO)
@dataclass(frozen=True, slots=True)
class GetAllProducerInfoRequest:
    """Code 328: all producers; answered by ProducerTableInfo."""


@request(RequestCode.GET_CONSUME_STATS)
@dataclass(frozen=True, slots=True)
class GetConsumeStatsRequest:
    """Code 208: how far a group is in each queue; answered by ConsumeStats."""

    consumer_group: str
    topic: str | None = None


@request(RequestCode.GET_BROKER_CONSUME_STATS)
@dataclass(frozen=True, slots=True)
class GetBrokerConsumeStatsRequest:
    """Code 317: the same of every group; answered by ConsumeStatsList."""

    is_order: bool = False


@request(RequestCode.QUERY_TOPIC_CONSUME_BY_WHO)
@dataclass(frozen=True, slots=True)
class QueryTopicConsumeByWhoRequest:
    """Code 300: the groups that read a topic; answered by GroupList."""

    topic: str


@request(RequestCode.QUERY_CONSUME_TIME_SPAN)
@dataclass(frozen=True, slots=True)
class QueryConsumeTimeSpanRequest:
    """Code 303: the same in time; answered by QueryConsumeTimeSpanBody."""

    topic: str
    group: str
