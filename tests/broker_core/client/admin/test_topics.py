"""Topics: settings, queues, producers and consumer groups."""

from __future__ import annotations

import pytest

from broker_core.client.admin import Admin
from broker_core.client.admin.topics import TopicKind, kind_of
from broker_core.client.config import ClientConfig
from broker_core.client.consumer.pop import LeaseConsumer
from broker_core.client.errors import BrokerRefused, NameIllegal, NotSupported, TopicNotFound
from broker_core.client.session import Session
from broker_core.protocol.bodies import coder
from broker_core.protocol.bodies.topics import TopicConfig, TopicConfigSerializeWrapper
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.remoting.dispatch import Handler
from tests.broker_core.client.conftest import Live
from tests.support.scripted import refuse, scripted_cluster, succeed
from tests.support.wait import eventually


async def test_a_topic_is_as_it_was_created(live: Live) -> None:
    name = await live.topic(queues=3)

    topic = await live.admin.topics.get(name)
    listed = (await live.admin.topics.list()).found[name]

    for each in (topic, listed):
        assert (each.name, each.kind, each.read_queues, each.write_queues) == (name, TopicKind.NORMAL, 3, 3)
        assert (each.perm, each.order, each.brokers) == (6, False, ("broker-a",))
    assert name in await live.admin.topics.names()


async def test_system_topics_are_distinguished(live: Live) -> None:
    topics = (await live.admin.topics.list()).found

    assert topics["SCHEDULE_TOPIC_XXXX"].kind is TopicKind.SYSTEM
    assert topics["test"].kind is TopicKind.SYSTEM
    assert topics["broker-a"].kind is TopicKind.SYSTEM


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("orders", TopicKind.NORMAL),
        ("%RETRY%billing", TopicKind.RETRY),
        ("%DLQ%billing", TopicKind.DEAD_LETTER),
        ("rmq_sys_REVIVE_LOG_c", TopicKind.SYSTEM),
        ("TBW102", TopicKind.SYSTEM),
    ],
)
def test_a_name_determines_the_kind(name: str, kind: TopicKind) -> None:
    assert kind_of(name) is kind


async def test_a_change_keeps_what_is_not_named(live: Live) -> None:
    name = await live.topic(queues=3)

    assert (await live.admin.topics.update(name, perm=4)).complete
    topic = await live.admin.topics.get(name)
    assert (topic.read_queues, topic.write_queues, topic.perm) == (3, 3, 4)

    assert (await live.admin.topics.update(name, write_queues=5, read_queues=5)).complete
    topic = await live.admin.topics.get(name)
    assert (topic.read_queues, topic.write_queues, topic.perm) == (5, 5, 4)


async def test_a_deleted_topic_is_gone_everywhere(live: Live) -> None:
    name = await live.topic()
    await live.send(name, "a")

    answers = await live.admin.topics.delete(name)

    assert answers.complete
    assert set(answers.found) == {live.running.address, live.running.name_server}
    assert name not in await live.admin.topics.names()
    with pytest.raises(TopicNotFound):
        await live.admin.topics.get(name)
    with pytest.raises(TopicNotFound):
        await live.send(name, "b")


@pytest.mark.parametrize("name", ["", "a b", "a/b", "ä", "x" * 128])
async def test_a_name_that_brokers_refuse_is_not_sent(live: Live, name: str) -> None:
    with pytest.raises(NameIllegal):
        await live.admin.topics.create(name)


async def test_a_system_topic_is_refused_by_the_broker(live: Live) -> None:
    answers = await live.admin.topics.create("TBW102")

    assert not answers.found
    assert [type(error) for error in answers.failed.values()] == [BrokerRefused]


async def test_stats_count_what_is_stored(live: Live) -> None:
    name = await live.topic(queues=2)
    await live.send(name, "a", "b", "c")

    stats = await live.admin.topics.stats(name)

    assert (len(stats.queues), stats.messages, stats.written, stats.failed) == (2, 3, 3, {})
    assert stats.last_stored_at


async def test_stats_of_many_topics_name_those_that_fail(live: Live) -> None:
    name = await live.topic()

    answers = await live.admin.topics.stats_of([name, "nowhere"])

    assert answers.found[name].messages == 0
    assert answers.found[name].last_stored_at is None
    assert isinstance(answers.failed["nowhere"], TopicNotFound)


async def test_groups_and_producers_of_a_topic(live: Live) -> None:
    name, group = await live.topic(), live.group()
    await live.send(name, "a")
    await LeaseConsumer(live.session, group).receive(name)

    assert (await live.admin.topics.groups(name)).found == {live.running.address: [group]}

    async def is_known() -> bool:
        producers = (await live.admin.topics.producers(name)).found[live.running.address]
        return any(
            (each.group, each.info.client_id, each.address.partition(":")[0])
            == ("checkout", live.session.client_id, "127.0.0.1")
            for each in producers
        )

    await eventually(is_known)


def say(body: object) -> Handler:
    text = coder.encode(body)
    return succeed(lambda _: Command.response(ResponseCode.SUCCESS, body=text))


async def test_a_topic_on_several_brokers_is_one_topic() -> None:
    async with scripted_cluster("broker-a", "broker-b") as cluster:
        for name, queues in (("broker-a", 4), ("broker-b", 8)):
            table = {"orders": TopicConfig("orders", queues, queues)}
            cluster[name].on(
                RequestCode.GET_ALL_TOPIC_CONFIG, say(TopicConfigSerializeWrapper(topic_config_table=table))
            )
        async with Session(ClientConfig([cluster.name_server.addr])) as session:
            topics = Admin(session).topics
            both = await topics.list()
            assert both.complete
            assert (both.found["orders"].brokers, both.found["orders"].read_queues) == (("broker-a", "broker-b"), 8)

            cluster["broker-b"].on(RequestCode.GET_ALL_TOPIC_CONFIG, refuse(ResponseCode.SYSTEM_BUSY))
            one = await topics.list()
            assert list(one.failed) == [cluster["broker-b"].addr]
            assert one.found["orders"].brokers == ("broker-a",)


async def test_a_message_type_is_told_and_kept(live: Live) -> None:
    name = f"{await live.topic()}-typed"
    assert (await live.admin.topics.create(name, message_type="DELAY")).complete
    await live.admin.topics.update(name, perm=4)

    assert (await live.admin.topics.described(name)).message_type == "DELAY"
    assert (await live.admin.topics.list()).found[name].message_type == "DELAY"


async def test_a_broker_that_keeps_no_message_type_is_not_given_the_topic() -> None:
    async with scripted_cluster("broker-a") as cluster:
        cluster["broker-a"].on(RequestCode.GET_TOPIC_CONFIG, refuse(ResponseCode.REQUEST_CODE_NOT_SUPPORTED))
        async with Session(ClientConfig([cluster.name_server.addr])) as session:
            answers = await Admin(session).topics.create("orders", message_type="FIFO")

        assert [type(error) for error in answers.failed.values()] == [NotSupported]
        assert not cluster["broker-a"].asked(RequestCode.UPDATE_AND_CREATE_TOPIC)


async def test_a_broker_that_keeps_no_message_type_still_tells_the_rest() -> None:
    async with scripted_cluster("broker-a") as cluster:
        cluster.add_topic("orders", queues=2)
        cluster["broker-a"].on(RequestCode.GET_TOPIC_CONFIG, refuse(ResponseCode.REQUEST_CODE_NOT_SUPPORTED))
        async with Session(ClientConfig([cluster.name_server.addr])) as session:
            topic = await Admin(session).topics.described("orders")

        assert (topic.read_queues, topic.message_type) == (2, None)
