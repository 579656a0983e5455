"""Groups over a real socket: settings, members, lag."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from broker_core.broker.limits import BrokerLimits
from broker_core.protocol import bodies
from broker_core.protocol.batch import encode_batch
from broker_core.protocol.bodies.groups import (
    ConsumerConnection,
    CustomizedRetryPolicy,
    ExponentialRetryPolicy,
    GroupList,
    GroupRetryPolicy,
    ProducerConnection,
    ProducerTableInfo,
    QuerySubscriptionResponseBody,
    SimpleSubscriptionData,
    SubscriptionGroupConfig,
    SubscriptionGroupList,
    SubscriptionGroupWrapper,
    TopicProducersBody,
)
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.bodies.stats import ConsumeStats, ConsumeStatsList, OffsetWrapper, QueryConsumeTimeSpanBody
from broker_core.protocol.bodies.topics import TopicList
from broker_core.protocol.codes import PULL_OFFSET_VERSION, ResponseCode
from broker_core.protocol.headers import groups as headers
from broker_core.protocol.headers.offsets import UpdateConsumerOffsetRequest
from broker_core.protocol.message import Message
from tests.support.broker import Wire, started

QUEUE = MessageQueue("orders", "broker-a", 0)


async def put_group(wire: Wire, **settings: Any) -> None:
    config = SubscriptionGroupConfig("billing", **settings)
    answer = await wire.ask(headers.CreateSubscriptionGroupRequest(), bodies.encode(config))
    assert answer.code == ResponseCode.SUCCESS, answer.remark


async def read_some(wire: Wire, *, sent: int, consumed: int, group: str = "billing") -> None:
    await wire.create_topic("orders")
    for number in range(sent):
        await wire.send("orders", b"%d" % number)
    await wire.ask(UpdateConsumerOffsetRequest(group, "orders", 0, consumed))


async def stats(wire: Wire, group: str = "billing", topic: str | None = None) -> dict[MessageQueue, OffsetWrapper]:
    answer = await wire.ask(headers.GetConsumeStatsRequest(group, topic))
    return bodies.decode(ConsumeStats, answer.body).offset_table


# -- settings


async def test_a_group_s_settings_are_kept_and_listed(wire: Wire) -> None:
    await put_group(wire, retry_max_times=3)

    answer = await wire.ask(headers.GetAllSubscriptionGroupConfigRequest())

    table = bodies.decode(SubscriptionGroupWrapper, answer.body).subscription_group_table
    assert table["billing"] == SubscriptionGroupConfig("billing", retry_max_times=3)
    assert "TOOLS_CONSUMER" in table


async def test_one_group_is_reported_alone(wire: Wire) -> None:
    await put_group(wire, retry_max_times=3)

    known = await wire.ask(headers.GetSubscriptionGroupConfigRequest("billing"))
    unknown = await wire.ask(headers.GetSubscriptionGroupConfigRequest("nobody"))

    assert bodies.decode(SubscriptionGroupConfig, known.body).retry_max_times == 3
    assert unknown.code == ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST


async def test_settings_survive_a_restart(tmp_path: Path) -> None:
    async with started(tmp_path) as wire:
        await put_group(wire, retry_max_times=3)
    async with started(tmp_path) as wire:
        config = wire.broker.components.groups.find("billing")
        assert config is not None
        assert config.retry_max_times == 3


async def test_a_group_needs_a_name(wire: Wire) -> None:
    body = bodies.encode(SubscriptionGroupConfig(" "))

    assert (await wire.ask(headers.CreateSubscriptionGroupRequest(), body)).code == ResponseCode.INVALID_PARAMETER


async def test_an_ordered_group_is_told_so(wire: Wire) -> None:
    await put_group(wire, consume_message_orderly=True, attributes={}, consume_timeout_minute=15, group_sys_flag=0)

    known = await wire.ask(headers.GetSubscriptionGroupConfigRequest("billing"))

    assert bodies.decode(SubscriptionGroupConfig, known.body) == SubscriptionGroupConfig(
        "billing", consume_message_orderly=True
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("group_retry_policy", GroupRetryPolicy("EXPONENTIAL", ExponentialRetryPolicy())),
        ("group_retry_policy", GroupRetryPolicy(customized_retry_policy=CustomizedRetryPolicy([1000]))),
        ("consume_timeout_minute", 5),
        ("group_sys_flag", 1),
        ("subscription_data_set", [SimpleSubscriptionData("orders")]),
        ("attributes", {"+colour": "red"}),
    ],
)
async def test_what_is_not_served_is_refused_by_name(wire: Wire, name: str, value: object) -> None:
    values: dict[str, Any] = {name: value}
    config = SubscriptionGroupConfig("billing", **values)

    answer = await wire.ask(headers.CreateSubscriptionGroupRequest(), bodies.encode(config))

    assert answer.code == ResponseCode.INVALID_PARAMETER
    assert re.search(f"{name.replace('_', '')}|unsupported attribute", str(answer.remark), re.IGNORECASE)
    assert wire.broker.components.groups.find("billing") is None


async def test_several_groups_are_created_at_once_or_none(wire: Wire) -> None:
    good, bad = SubscriptionGroupConfig("billing", retry_max_times=3), SubscriptionGroupConfig(" ")

    async def ask(*groups: SubscriptionGroupConfig) -> int:
        body = bodies.encode(SubscriptionGroupList(list(groups)))
        return (await wire.ask(headers.CreateSubscriptionGroupListRequest(), body)).code

    assert await ask(good, bad) == ResponseCode.INVALID_PARAMETER
    assert wire.broker.components.groups.find("billing") is None
    assert await ask(good, SubscriptionGroupConfig("shipping")) == ResponseCode.SUCCESS
    assert wire.broker.components.groups.find("billing") == good
    assert wire.broker.components.groups.find("shipping") is not None


async def test_several_groups_beyond_the_limit_are_refused_together(tmp_path: Path) -> None:
    async with started(tmp_path, limits=BrokerLimits(groups=10)) as wire:
        before = len(wire.broker.components.groups)
        body = SubscriptionGroupList([SubscriptionGroupConfig(f"group-{number}") for number in range(11 - before)])

        answer = await wire.ask(headers.CreateSubscriptionGroupListRequest(), bodies.encode(body))

        assert answer.code == ResponseCode.SYSTEM_ERROR
        assert "groups=10" in str(answer.remark)
        assert len(wire.broker.components.groups) == before


@pytest.mark.parametrize(
    ("asked", "expected"), [({}, 3), ({"remove_offset": True}, None), ({"clean_offset": True}, None)]
)
async def test_a_deleted_group_keeps_its_offsets_unless_asked_by_either_name(
    wire: Wire, asked: dict[str, bool], expected: int | None
) -> None:
    await put_group(wire)
    await wire.ask(UpdateConsumerOffsetRequest("billing", "orders", 0, 3))

    await wire.ask(headers.DeleteSubscriptionGroupRequest("billing", **asked))

    assert wire.broker.components.groups.find("billing") is None
    assert wire.broker.components.offsets.find("billing", "orders", 0) == expected


async def test_deleting_an_unknown_group_is_not_a_failure(wire: Wire) -> None:
    assert (await wire.ask(headers.DeleteSubscriptionGroupRequest("nobody"))).code == ResponseCode.SUCCESS


# -- members


async def test_the_members_of_a_group_are_reported_with_their_subscriptions(wire: Wire) -> None:
    await wire.heartbeat("one", group="billing", topics={"orders": "a || b"})

    answer = await wire.ask(headers.GetConsumerConnectionListRequest("billing"))

    body = bodies.decode(ConsumerConnection, answer.body)
    local = (await wire.client.connection(wire.address)).local
    assert [(each.client_id, each.client_addr, each.language) for each in body.connection_set] == [
        ("one", local, "PYTHON")
    ]
    assert body.subscription_table["orders"].sub_string == "a || b"


async def test_a_group_without_members_is_not_online(wire: Wire) -> None:
    answer = await wire.ask(headers.GetConsumerConnectionListRequest("billing"))

    assert answer.code == ResponseCode.CONSUMER_NOT_ONLINE


async def test_producers_are_reported_by_group_and_all_together(wire: Wire) -> None:
    await wire.heartbeat("one", producer_group="checkout")

    of_group = await wire.ask(headers.GetProducerConnectionListRequest("checkout"))
    of_all = await wire.ask(headers.GetAllProducerInfoRequest())
    of_nobody = await wire.ask(headers.GetProducerConnectionListRequest("nobody"))

    assert [each.client_id for each in bodies.decode(ProducerConnection, of_group.body).connection_set] == ["one"]
    assert [each.client_id for each in bodies.decode(ProducerTableInfo, of_all.body).data["checkout"]] == ["one"]
    assert of_nobody.code == ResponseCode.SYSTEM_ERROR


async def test_the_producers_of_a_topic_are_those_that_sent(wire: Wire) -> None:
    await wire.create_topic("orders", queues=1)
    await wire.create_topic("bills", queues=1)
    await wire.heartbeat("one", producer_group="producers")
    await wire.send("orders", b"a")
    await wire.send("orders", encode_batch([Message("", b"b"), Message("", b"c")]), batch=True)
    await wire.try_send("orders", b"refused", queue_id=99)

    told = {
        topic: bodies.decode(TopicProducersBody, (await wire.ask(headers.ListTopicProducersRequest(topic))).body)
        for topic in ("orders", "bills")
    }

    (one,) = told["orders"].producers
    assert (one.group, one.client_id, one.messages) == ("producers", "one", 3)
    assert one.last_send_at >= told["orders"].since > 0
    assert told["bills"].producers == []
    unknown = await wire.ask(headers.ListTopicProducersRequest("nowhere"))
    assert unknown.code == ResponseCode.TOPIC_NOT_EXIST


async def test_the_readers_of_a_topic_are_those_with_offsets_and_those_that_subscribe(wire: Wire) -> None:
    await read_some(wire, sent=1, consumed=1, group="with-offset")
    await wire.heartbeat("one", group="subscribed", topics={"orders": "*"})

    answer = await wire.ask(headers.QueryTopicConsumeByWhoRequest("orders"))

    assert sorted(bodies.decode(GroupList, answer.body).group_list) == ["subscribed", "with-offset"]


async def test_the_topics_of_a_group_are_those_with_offsets(wire: Wire) -> None:
    await read_some(wire, sent=1, consumed=1)

    answer = await wire.ask(headers.QueryTopicsByConsumerRequest("billing"))

    assert bodies.decode(TopicList, answer.body).topic_list == ["orders"]


async def test_what_a_group_subscribes_to_in_a_topic(wire: Wire) -> None:
    await wire.heartbeat("one", group="billing", topics={"orders": "a || b"})

    async def ask(topic: str) -> QuerySubscriptionResponseBody:
        answer = await wire.ask(headers.QuerySubscriptionByConsumerRequest("billing", topic))
        return bodies.decode(QuerySubscriptionResponseBody, answer.body)

    known, unknown = await ask("orders"), await ask("bills")
    assert (known.group, known.topic) == ("billing", "orders")
    assert known.subscription_data is not None
    assert (known.subscription_data.sub_string, unknown.subscription_data) == ("a || b", None)


# -- lag


async def test_the_lag_of_a_group_is_reported_per_queue(wire: Wire) -> None:
    await read_some(wire, sent=5, consumed=3)

    each = (await stats(wire))[QUEUE]

    assert (each.broker_offset, each.consumer_offset) == (5, 3)
    assert each.last_timestamp == wire.broker.store.store_time("orders", 0, 2)


async def test_a_topic_that_the_members_no_longer_subscribe_is_left_out(wire: Wire) -> None:
    await read_some(wire, sent=5, consumed=3)
    await wire.heartbeat("one", group="billing", topics={"bills": "*"})

    assert await stats(wire) == {}


async def test_a_topic_taken_by_lease_counts_whatever_the_members_say(wire: Wire) -> None:
    await read_some(wire, sent=5, consumed=3)
    await wire.heartbeat("one", group="billing", topics={"bills": "*"})
    await wire.pop("orders", group="billing", count=1)

    assert (await stats(wire))[QUEUE].consumer_offset == 3


async def test_topics_that_a_tool_of_5_lists_are_told_whatever_the_members_say(wire: Wire) -> None:
    await read_some(wire, sent=5, consumed=3)
    await wire.create_topic("unread")
    await wire.heartbeat("one", group="billing", topics={"bills": "*"})

    answer = await wire.ask(headers.GetConsumeStatsRequest("billing", "bills", "unread;orders;nothing;orders;"))

    table = bodies.decode(ConsumeStats, answer.body).offset_table
    assert {queue.topic: offset.consumer_offset for queue, offset in table.items()} == {"unread": 0, "orders": 3}


async def test_of_a_topic_taken_by_lease_every_queue_is_told(wire: Wire) -> None:
    await wire.fill("orders", b"0", b"1", queues=2)
    await wire.pop("orders", group="billing", queue_id=1)

    table = await stats(wire)

    assert {queue.queue_id: (each.consumer_offset, each.pull_offset) for queue, each in table.items()} == {
        0: (0, 0),
        1: (0, 1),
    }


async def test_what_is_on_lease_is_reported_as_in_flight(wire: Wire) -> None:
    await read_some(wire, sent=5, consumed=0)
    assert (await stats(wire))[QUEUE].pull_offset is None
    leased = await wire.pop("orders", group="billing", count=4)
    await wire.ack(leased[0], group="billing")
    await wire.ack(leased[2], group="billing")

    each = (await stats(wire))[QUEUE]

    assert (each.consumer_offset, each.pull_offset, each.broker_offset) == (1, 3, 5)


@pytest.mark.parametrize(
    ("version", "pulled"), [(PULL_OFFSET_VERSION - 1, None), (PULL_OFFSET_VERSION, 3)], ids=["4.9", "5.x"]
)
async def test_tools_of_5_see_nothing_in_flight_where_nothing_is_on_lease(
    wire: Wire, version: int, pulled: int | None
) -> None:
    await read_some(wire, sent=5, consumed=3)
    await put_group(wire)

    one = await wire.ask(headers.GetConsumeStatsRequest("billing"), version=version)
    every = await wire.ask(headers.GetBrokerConsumeStatsRequest(), version=version)

    assert bodies.decode(ConsumeStats, one.body).offset_table[QUEUE].pull_offset == pulled
    (found,) = [
        each["billing"] for each in bodies.decode(ConsumeStatsList, every.body).consume_stats_list if "billing" in each
    ]
    assert found[0].offset_table[QUEUE].pull_offset == pulled


async def test_an_unknown_group_reads_nothing(wire: Wire) -> None:
    assert await stats(wire, "nobody") == {}


async def test_the_lag_of_all_groups_is_reported_at_once(wire: Wire) -> None:
    await read_some(wire, sent=5, consumed=3)
    await put_group(wire)

    answer = await wire.ask(headers.GetBrokerConsumeStatsRequest())

    body = bodies.decode(ConsumeStatsList, answer.body)
    of_group = next(each["billing"] for each in body.consume_stats_list if "billing" in each)
    assert of_group[0].offset_table[QUEUE].consumer_offset == 3
    assert (body.total_diff, body.broker_addr) == (2, wire.address)


async def test_how_late_a_group_is_in_time(wire: Wire) -> None:
    await read_some(wire, sent=3, consumed=1)
    store = wire.broker.store

    answer = await wire.ask(headers.QueryConsumeTimeSpanRequest("orders", "billing"))

    (span,) = bodies.decode(QueryConsumeTimeSpanBody, answer.body).consume_time_span_set
    assert span.min_time_stamp == store.store_time("orders", 0, 0)
    assert span.max_time_stamp == store.store_time("orders", 0, 2)
    assert span.consume_time_stamp == store.store_time("orders", 0, 0)
    assert span.delay_time >= 0
