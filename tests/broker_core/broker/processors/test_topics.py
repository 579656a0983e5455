"""Topics over a real socket: create, change, read, delete."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from broker_core.broker.limits import BrokerLimits
from broker_core.protocol import bodies
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.bodies.routes import TopicRouteData
from broker_core.protocol.bodies.stats import TopicStatsTable
from broker_core.protocol.bodies.topics import (
    CreateTopicListRequestBody,
    QueueOffsets,
    TopicConfig,
    TopicConfigSerializeWrapper,
    TopicList,
)
from broker_core.protocol.codes import ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers import topics as headers
from broker_core.protocol.headers.offsets import UpdateConsumerOffsetRequest
from broker_core.protocol.headers.routes import GetRouteInfoRequest
from tests.support.broker import Wire, started
from tests.support.wait import eventually

ORDERS = headers.CreateTopicRequest("orders", 3, 4, 6)


async def route(wire: Wire, topic: str) -> TopicRouteData | None:
    answer = await wire.ask_name_server(GetRouteInfoRequest(topic))
    return bodies.decode(TopicRouteData, answer.body) if answer.code == ResponseCode.SUCCESS else None


async def test_a_created_topic_has_a_route_when_the_answer_comes(wire: Wire) -> None:
    assert (await wire.ask(ORDERS)).code == ResponseCode.SUCCESS

    found = await route(wire, "orders")

    assert found is not None
    (queues,) = found.queue_datas
    assert (queues.broker_name, queues.read_queue_nums, queues.write_queue_nums, queues.perm) == ("broker-a", 3, 4, 6)
    assert found.broker_datas[0].broker_addrs == {0: wire.address}


async def test_a_topic_made_by_a_send_has_a_route_soon(wire: Wire) -> None:
    await wire.send("orders", b"x")

    await eventually(lambda: route(wire, "orders"))


async def test_a_topic_is_changed_by_creating_it_again(wire: Wire) -> None:
    await wire.ask(ORDERS)

    await wire.ask(replace(ORDERS, read_queue_nums=8, write_queue_nums=8, perm=4))

    found = await route(wire, "orders")
    assert found is not None
    assert (found.queue_datas[0].read_queue_nums, found.queue_datas[0].perm) == (8, 4)


async def test_settings_survive_a_restart_and_a_kill_after_the_answer(tmp_path: Path) -> None:
    async with started(tmp_path) as wire:
        await wire.ask(replace(ORDERS, attributes="+message.type=FIFO"))
        assert b'"orders"' in (tmp_path / "config" / "topics.json").read_bytes()
    async with started(tmp_path) as wire:
        topic = wire.broker.components.topics.get("orders")
        assert (topic.write_queue_nums, topic.attributes) == (4, {"message.type": "FIFO"})


@pytest.mark.parametrize("topic", ["TBW102", "SCHEDULE_TOPIC_XXXX", "rmq_sys_x", "local", "broker-a"])
async def test_the_broker_s_own_topics_are_not_for_administration(wire: Wire, topic: str) -> None:
    for header in (replace(ORDERS, topic=topic), headers.DeleteTopicRequest(topic)):
        answer = await wire.ask(header)
        assert (answer.code, answer.remark) == (
            ResponseCode.SYSTEM_ERROR,
            f"The topic[{topic}] is conflict with system topic.",
        )


@pytest.mark.parametrize(
    "changes",
    [{"topic": "a.b"}, {"topic_filter_type": "NO_TAG"}, {"read_queue_nums": -1}, {"write_queue_nums": 100_000}],
)
async def test_settings_that_make_no_sense_are_refused(wire: Wire, changes: dict[str, Any]) -> None:
    answer = await wire.ask(replace(ORDERS, **changes))

    assert answer.code in (ResponseCode.SYSTEM_ERROR, ResponseCode.INVALID_PARAMETER)
    assert wire.broker.components.topics.find("orders") is None


def several(*topics: TopicConfig) -> bytes:
    return bodies.encode(CreateTopicListRequestBody(list(topics)))


async def test_several_topics_are_created_at_once(wire: Wire) -> None:
    await wire.ask(ORDERS)
    body = several(TopicConfig("orders", 8, 8, 4), TopicConfig("bills", 2, 2, 6, attributes={"+message.type": "FIFO"}))

    answer = await wire.ask(headers.CreateTopicListRequest(), body)

    assert answer.code == ResponseCode.SUCCESS, answer.remark
    topics = wire.broker.components.topics
    assert (topics.get("orders").read_queue_nums, topics.get("bills").attributes) == (8, {"message.type": "FIFO"})
    assert await route(wire, "bills") is not None


@pytest.mark.parametrize(
    "wrong", [TopicConfig("a.b"), TopicConfig("TBW102"), TopicConfig("bills", attributes={"message.type": "FIFO"})]
)
async def test_of_several_topics_none_is_created_if_one_is_refused(wire: Wire, wrong: TopicConfig) -> None:
    answer = await wire.ask(headers.CreateTopicListRequest(), several(TopicConfig("orders"), wrong))

    assert answer.code in (ResponseCode.SYSTEM_ERROR, ResponseCode.INVALID_PARAMETER)
    assert wire.broker.components.topics.find("orders") is None


async def test_several_topics_beyond_the_limit_are_refused_together(tmp_path: Path) -> None:
    async with started(tmp_path, limits=BrokerLimits(topics=12)) as wire:
        before = len(wire.broker.components.topics)
        names = [TopicConfig(f"topic-{number}") for number in range(13 - before)]

        answer = await wire.ask(headers.CreateTopicListRequest(), several(*names))

        assert answer.code == ResponseCode.SYSTEM_ERROR
        assert "topics=12" in str(answer.remark)
        assert len(wire.broker.components.topics) == before


async def test_all_topics_are_listed_with_their_version(wire: Wire) -> None:
    await wire.ask(ORDERS)

    answer = await wire.ask(headers.GetAllTopicConfigRequest())

    wrapper = bodies.decode(TopicConfigSerializeWrapper, answer.body)
    assert wrapper.topic_config_table["orders"].write_queue_nums == 4
    assert wrapper.topic_config_table["TBW102"].perm == 7
    assert wrapper.data_version == wire.broker.components.topics.version


async def test_one_topic_is_reported_alone(wire: Wire) -> None:
    await wire.ask(ORDERS)

    known = await wire.ask(headers.GetTopicConfigRequest("orders"))
    unknown = await wire.ask(headers.GetTopicConfigRequest("nothing"))

    config = bodies.decode(TopicConfig, known.body)
    assert (config.topic_name, config.read_queue_nums, config.write_queue_nums) == ("orders", 3, 4)
    assert unknown.code == ResponseCode.TOPIC_NOT_EXIST


async def test_a_group_that_only_leases_has_the_route_by_which_tools_find_its_brokers(wire: Wire) -> None:
    await wire.create_topic("orders")

    await wire.pop("orders", group="lessees")

    await eventually(lambda: route(wire, "%RETRY%lessees"))


async def test_the_broker_s_own_topics_are_listed(wire: Wire) -> None:
    answer = await wire.ask(headers.GetSystemTopicListFromBrokerRequest())

    names = bodies.decode(TopicList, answer.body).topic_list
    assert {"TBW102", "SCHEDULE_TOPIC_XXXX", "local", "broker-a"} <= set(names)


async def test_the_range_of_every_queue_is_reported(wire: Wire) -> None:
    await wire.create_topic("orders", queues=2)
    await wire.send("orders", b"x", queue_id=1)

    answer = await wire.ask(headers.GetTopicStatsInfoRequest("orders"))

    table = bodies.decode(TopicStatsTable, answer.body).offset_table
    empty, used = (table[MessageQueue("orders", "broker-a", queue_id)] for queue_id in range(2))
    assert (empty.max_offset, empty.last_update_timestamp) == (0, 0)
    assert (used.max_offset, used.last_update_timestamp) == (1, wire.broker.store.store_time("orders", 1, 0))


async def test_it_is_reported_what_the_messages_of_a_topic_take_in_the_log(wire: Wire) -> None:
    await wire.create_topic("orders", queues=2)
    await wire.create_topic("empty")
    for queue_id in (0, 1, 1):
        await wire.send("orders", b"x" * 500, queue_id=queue_id)
    log = wire.broker.store.appended_log_offset

    full, empty = [
        bodies.decode(TopicStatsTable, (await wire.ask(headers.GetTopicStatsInfoRequest(name))).body)
        for name in ("orders", "empty")
    ]

    assert full.kept_bytes == log
    assert empty.kept_bytes == 0


async def test_it_is_reported_how_many_messages_a_topic_gets_a_second(wire: Wire) -> None:
    await wire.fill("orders", *(b"x" for _ in range(60)))
    stats = wire.broker.components.stats
    stats.step(now := wire.broker.components.clock())
    stats.step(now + 10_000)

    answer = await wire.ask(headers.GetTopicStatsInfoRequest("orders"))

    tps = bodies.decode(TopicStatsTable, answer.body).topic_put_tps
    assert tps is not None
    assert tps > 0


async def test_an_unknown_topic_has_no_range(wire: Wire) -> None:
    assert (await wire.ask(headers.GetTopicStatsInfoRequest("nothing"))).code == ResponseCode.TOPIC_NOT_EXIST


async def test_a_deleted_topic_takes_its_messages_offsets_and_leases_with_it(wire: Wire) -> None:
    await wire.create_topic("orders")
    await wire.send("orders", b"old")
    await wire.ask(UpdateConsumerOffsetRequest("billing", "orders", 0, 1))
    await wire.pop("orders")

    assert (await wire.ask(headers.DeleteTopicRequest("orders"))).code == ResponseCode.SUCCESS

    known = wire.broker.components
    assert known.topics.find("orders") is None
    assert known.offsets.groups_of("orders") == []
    assert not known.leases.takes("lessees", "orders")
    await wire.create_topic("orders")
    sent = await wire.send("orders", b"new")
    assert sent.queue_offset == 0
    assert [message.body for message in await wire.pull("orders", 0)] == [b"new"]


async def test_attributes_are_kept_when_a_change_does_not_name_them(wire: Wire) -> None:
    await wire.ask(replace(ORDERS, attributes="+message.type=FIFO"))
    await wire.ask(replace(ORDERS, perm=4))

    answer = await wire.ask(headers.GetTopicConfigRequest("orders"))

    assert bodies.decode(TopicConfig, answer.body).attributes == {"message.type": "FIFO"}


async def test_an_attribute_that_is_not_served_is_refused_by_name(wire: Wire) -> None:
    answer = await wire.ask(replace(ORDERS, attributes="+queue.type=BatchCQ"))

    assert answer.code != ResponseCode.SUCCESS
    assert "queue.type" in (answer.remark or "")


async def purge(wire: Wire, topic: str, before: dict[int, int]) -> Command:
    return await wire.ask(headers.PurgeTopicRequest(topic), body=bodies.encode(QueueOffsets(before)))


async def test_a_purge_moves_the_beginning_of_queues_and_the_groups_that_were_before_it(tmp_path: Path) -> None:
    async with started(tmp_path) as wire:
        await wire.create_topic("orders", queues=2)
        await wire.fill("orders", *(b"%d" % number for number in range(9)))
        for group, offset in (("slow", 2), ("quick", 8)):
            await wire.ask(UpdateConsumerOffsetRequest(group, "orders", 0, offset))

        answer = await purge(wire, "orders", {0: 6})

        assert bodies.decode(QueueOffsets, answer.body).offset_table == {0: 6}
        offsets = wire.broker.components.offsets
        assert [offsets.find(group, "orders", 0) for group in ("slow", "quick")] == [6, 8]
        assert [message.body for message in await wire.pull("orders", 6)] == [b"6", b"7", b"8"]
        answer = await wire.ask(headers.GetTopicStatsInfoRequest("orders"))
        table = bodies.decode(TopicStatsTable, answer.body)
        assert table.offset_table[MessageQueue("orders", "broker-a", 0)].min_offset == 6
        killed = shutil.copytree(tmp_path, tmp_path.with_name("killed"))
    async with started(killed) as wire:
        assert wire.broker.store.min_offset("orders", 0) == 6
        assert wire.broker.components.offsets.find("slow", "orders", 0) == 6
        assert (await wire.send("orders", b"next")).queue_offset == 9


async def test_a_purge_of_what_is_not_there_or_not_ours_is_refused(wire: Wire) -> None:
    assert (await purge(wire, "nothing", {0: 1})).code == ResponseCode.TOPIC_NOT_EXIST
    assert (await purge(wire, "SCHEDULE_TOPIC_XXXX", {0: 1})).code == ResponseCode.SYSTEM_ERROR
    await wire.create_topic("orders")
    assert (await wire.ask(headers.PurgeTopicRequest("orders"), body=b"[1]")).code != ResponseCode.SUCCESS
