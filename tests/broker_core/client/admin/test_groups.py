"""Consumer groups: settings, progress, members."""

from __future__ import annotations

import pytest

from broker_core.client.admin import Admin
from broker_core.client.config import ClientConfig, PushConfig
from broker_core.client.consumer.pop import LeaseConsumer
from broker_core.client.consumer.push import PushConsumer
from broker_core.client.errors import BrokerRefused, NameIllegal, Unreachable
from broker_core.client.session import Session
from broker_core.protocol.bodies import ConsumerRunningInfo, coder
from broker_core.protocol.bodies.groups import ConsumerOffsetSerializeWrapper, SubscriptionGroupWrapper
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.bodies.stats import ConsumeStats, ConsumeStatsList, OffsetWrapper
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.message import StoredMessage
from broker_core.remoting.dispatch import Handler
from tests.broker_core.client.conftest import Live
from tests.support.scripted import Cluster, hang_up, in_turn, refuse, scripted_cluster, succeed
from tests.support.wait import eventually


async def ignore(_message: StoredMessage) -> None:
    return None


async def test_a_group_is_as_it_was_created(live: Live) -> None:
    name = live.group()

    answers = await live.admin.groups.create(name, retry_max_times=3, consume_broadcast_enable=False)

    assert answers.complete
    group = await live.admin.groups.find(name)
    assert group is not None
    assert group.config is not None
    assert (group.config.retry_max_times, group.config.consume_broadcast_enable) == (3, False)
    assert (group.topics, group.is_built_in) == ((), False)


async def test_a_group_that_only_leases_is_listed_with_its_topic(live: Live) -> None:
    topic, name = await live.topic(), live.group()
    await live.send(topic, "a")
    consumer = LeaseConsumer(live.session, name)
    (leased,) = (await consumer.receive(topic, wait_ms=1_000)).messages
    await consumer.ack(leased.receipt)

    group = await live.admin.groups.find(name)

    assert group is not None
    assert topic in group.topics


async def test_built_in_groups_are_distinguished(live: Live) -> None:
    groups = (await live.admin.groups.list()).found

    assert groups["TOOLS_CONSUMER"].is_built_in


async def test_a_deleted_group_is_gone(live: Live) -> None:
    name = live.group()
    await live.admin.groups.create(name)

    assert (await live.admin.groups.delete(name)).complete

    assert await live.admin.groups.find(name) is None


async def test_a_deleted_group_loses_its_offsets_on_brokers_of_4_and_5() -> None:
    async with scripted_cluster("broker-a") as cluster:
        cluster["broker-a"].on(RequestCode.DELETE_SUBSCRIPTIONGROUP, succeed())
        async with Session(ClientConfig([cluster.name_server.addr])) as session:
            await Admin(session).groups.delete("billing")
        (asked,) = cluster["broker-a"].asked(RequestCode.DELETE_SUBSCRIPTIONGROUP)

    assert (asked.ext_fields["removeOffset"], asked.ext_fields["cleanOffset"]) == ("true", "true")


@pytest.mark.parametrize("name", ["", "a b", "x" * 121])
async def test_a_name_that_brokers_refuse_is_not_sent(live: Live, name: str) -> None:
    with pytest.raises(NameIllegal):
        await live.admin.groups.create(name)


async def test_lag_is_what_is_stored_and_not_consumed(live: Live) -> None:
    topic, name = await live.topic(queues=2), live.group()
    results = await live.send(topic, "a", "b", "c")
    await live.admin.offsets.set(name, {results[0].queue: 1})

    stats = await live.admin.groups.consume_stats(name, topic=topic)

    assert set(stats.queues) == {MessageQueue(topic, "broker-a", 0), MessageQueue(topic, "broker-a", 1)}
    assert stats.queues[results[0].queue].consumer_offset == 1
    assert stats.lag == 2


async def test_an_unknown_group_has_no_queues(live: Live) -> None:
    stats = await live.admin.groups.consume_stats("nobody")

    assert (stats.queues, stats.lag, stats.failed) == ({}, 0, {})


async def test_all_groups_are_answered_at_once(live: Live) -> None:
    topic, configured, unconfigured = await live.topic(queues=1), live.group(), live.group()
    await live.send(topic, "a", "b")
    await live.admin.groups.create(configured)
    queue = MessageQueue(topic, "broker-a", 0)
    await live.admin.offsets.set(configured, {queue: 1})
    await live.admin.offsets.set(unconfigured, {queue: 2})

    answers = await live.admin.groups.all_consume_stats()

    assert answers.complete
    assert answers.found[configured].lag == 1
    assert answers.found[configured].queues[queue].broker_offset == 2
    assert answers.found[unconfigured].lag == 0


async def test_how_late_a_group_is_in_time(live: Live) -> None:
    topic, name = await live.topic(queues=1), live.group()
    await live.send(topic, "a", "b")
    await live.admin.offsets.set(name, {MessageQueue(topic, "broker-a", 0): 1})

    answers = await live.admin.groups.time_spans(name, topic)

    ((span,),) = answers.found.values()
    assert span.message_queue == MessageQueue(topic, "broker-a", 0)
    assert span.delay_time >= 0
    assert span.consume_time_stamp <= span.max_time_stamp


async def test_no_online_member_is_a_valid_answer(live: Live) -> None:
    connections = await live.admin.groups.connections("nobody")

    assert (connections.members, connections.subscriptions, connections.failed) == ({}, {}, {})
    assert await live.admin.groups.owners("nobody") == {}
    with pytest.raises(BrokerRefused):
        await live.admin.groups.running_info("nobody", "10.0.0.1@1")


async def test_a_member_reports_its_inner_state(live: Live) -> None:
    topic, name = await live.topic(queues=1), live.group()
    consumer = PushConsumer(live.session, name, ignore, PushConfig(start_from="first"))
    consumer.subscribe(topic)
    async with consumer:
        await eventually(lambda: MessageQueue(topic, "broker-a", 0) in consumer.assigned)

        info = await live.admin.groups.running_info(name, live.session.client_id)

    assert MessageQueue(topic, "broker-a", 0) in info.mq_table
    assert info.properties["PROP_NAMESERVER_ADDR"] == live.running.name_server
    assert {data.topic for data in info.subscription_set} == {topic, f"%RETRY%{name}"}


async def test_a_member_is_asked_through_the_broker_that_answers() -> None:
    code = RequestCode.GET_CONSUMER_RUNNING_INFO
    async with scripted_cluster("broker-a", "broker-b") as cluster:
        cluster["broker-a"].on(code, hang_up())
        cluster["broker-b"].on(code, in_turn(say(ConsumerRunningInfo()), refuse(ResponseCode.CONSUMER_NOT_ONLINE)))
        async with Session(ClientConfig([cluster.name_server.addr])) as session:
            await Admin(session).groups.running_info("billing", "10.0.0.1@1")
            with pytest.raises(Unreachable):
                await Admin(session).groups.running_info("billing", "10.0.0.1@1")


def say(body: object) -> Handler:
    text = coder.encode(body)
    return succeed(lambda _: Command.response(ResponseCode.SUCCESS, body=text))


def script(cluster: Cluster) -> None:
    """Two brokers that know one group each by its offsets, and do not support the bulk request."""
    for index, name in enumerate(("broker-a", "broker-b")):
        queue = MessageQueue("orders", name, 0)
        bodies = {
            RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG: SubscriptionGroupWrapper(),
            RequestCode.GET_ALL_CONSUMER_OFFSET: ConsumerOffsetSerializeWrapper({f"orders@group-{index}": {0: 3}}),
            RequestCode.GET_CONSUME_STATS: ConsumeStats({queue: OffsetWrapper(10, 3 + index)}),
        }
        for code, body in bodies.items():
            cluster[name].on(code, say(body))


async def test_brokers_that_know_no_bulk_answer_are_asked_group_by_group() -> None:
    async with scripted_cluster("broker-a", "broker-b") as cluster:
        script(cluster)
        queue = MessageQueue("orders", "broker-a", 0)
        known = ConsumeStatsList([{"group-0": [ConsumeStats({queue: OffsetWrapper(10, 3)})]}])
        cluster["broker-a"].on(RequestCode.GET_BROKER_CONSUME_STATS, say(known))
        async with Session(ClientConfig([cluster.name_server.addr])) as session:
            answers = await Admin(session).groups.all_consume_stats()

    assert answers.complete
    assert {name: stats.lag for name, stats in answers.found.items()} == {"group-0": 7, "group-1": 6}


async def test_a_broker_that_fails_is_named_and_its_queues_are_not_counted() -> None:
    async with scripted_cluster("broker-a", "broker-b") as cluster:
        script(cluster)
        cluster["broker-b"].on(RequestCode.GET_CONSUME_STATS, refuse(ResponseCode.SYSTEM_BUSY))
        async with Session(ClientConfig([cluster.name_server.addr])) as session:
            stats = await Admin(session).groups.consume_stats("group-0")

    assert stats.lag == 7
    assert list(stats.failed) == [cluster["broker-b"].addr]
