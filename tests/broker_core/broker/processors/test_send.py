"""Sends over a real socket: what is stored, the answers, and refusals with their reasons."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from broker_core.broker import BrokerLimits, TopicDefaults
from broker_core.protocol import properties as names
from broker_core.protocol.batch import encode_batch
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers.routes import GetRouteInfoRequest
from broker_core.protocol.headers.send import (
    ConsumerSendMessageBackRequest,
    SendMessageRequest,
    SendMessageResponse,
    SendMessageV2Request,
)
from broker_core.protocol.message import Message
from broker_core.protocol.message_id import parse_offset_id
from broker_core.protocol.topics import TRACE_TOPIC
from broker_core.remoting import RemotingClient
from tests.support.broker import BORN, Wire, small_store, started


async def test_a_message_is_stored_as_it_was_sent(wire: Wire) -> None:
    sent = await wire.send(
        "orders", b"hello", queue_id=2, properties={"TAGS": "created", "colour": "red"}, flag=7, born_timestamp=BORN
    )

    (message,) = await wire.pull("orders", 0, queue_id=2)

    assert (message.topic, message.body, message.flag, message.born_timestamp) == ("orders", b"hello", 7, BORN)
    assert message.properties == {"TAGS": "created", "colour": "red", "CLUSTER": "local"}
    assert (sent.queue_id, sent.queue_offset, sent.msg_id) == (2, 0, message.offset_id)
    assert message.store_host == wire.address


async def test_the_offset_id_names_the_broker_and_the_place_in_the_log(wire: Wire) -> None:
    await wire.send("orders", b"first")
    place = parse_offset_id((await wire.send("orders", b"second")).msg_id)

    assert f"{place.ip}:{place.port}" == wire.address
    found = wire.broker.store.find(place.log_offset)
    assert found is not None
    assert found.body == b"second"


async def test_the_long_named_form_is_the_same_send(wire: Wire) -> None:
    header = SendMessageRequest("orders", 0, 0, BORN, 0, "producers", "TBW102", 4)

    answer = await wire.ask(header, b"hello")

    assert answer.code == ResponseCode.SUCCESS
    assert answer.header(SendMessageResponse).queue_offset == 0


async def test_answers_name_the_region_and_say_that_tracing_is_on(wire: Wire) -> None:
    answer = await wire.try_send("orders", b"hello")

    assert answer.ext_fields["MSG_REGION"] == "DefaultRegion"
    assert answer.ext_fields["TRACE_ON"] == "true"


async def test_messages_name_the_region_once_there_is_a_topic_for_traces(wire: Wire) -> None:
    await wire.send("orders", b"before")
    await wire.send(TRACE_TOPIC, b"the first trace creates it")

    await wire.send("orders", b"plain")
    await wire.send("orders", b"parsed", properties={"CLUSTER": "elsewhere"})
    batch = encode_batch([Message("orders", b"batch", {"MSG_REGION": "elsewhere"})])
    await wire.send("orders", batch, batch=True)

    before, *after = await wire.pull("orders", 0)
    assert before.properties == {"CLUSTER": "local"}
    assert [message.properties for message in after] == [{"CLUSTER": "local", "MSG_REGION": "DefaultRegion"}] * 3


async def test_trace_on_tells_clients_whether_to_trace(tmp_path: Path) -> None:
    async with started(tmp_path, topics=TopicDefaults(trace_on=False)) as wire:
        answer = await wire.try_send("orders", b"hello")
        assert answer.ext_fields["TRACE_ON"] == "false"
        wire.broker.components.settings.update({"traceOn": "true"}, now=1)
        answer = await wire.try_send("orders", b"hello")
        assert answer.ext_fields["TRACE_ON"] == "true"

        untraced, traced = await wire.pull("orders", 0)
    assert untraced.properties == {"CLUSTER": "local", "TRACE_ON": "false"}
    assert traced.properties == {"CLUSTER": "local"}


async def test_a_negative_queue_id_lets_the_broker_choose(wire: Wire) -> None:
    await wire.create_topic("orders", queues=4)

    chosen = [(await wire.send("orders", b"x", queue_id=-1)).queue_id for _ in range(8)]

    assert set(chosen) == {0, 1, 2, 3}


async def test_wait_steers_the_answer_and_is_not_stored(wire: Wire) -> None:
    await wire.send("orders", b"x", properties={"WAIT": "false"})

    (message,) = await wire.pull("orders", 0)

    assert names.WAIT not in message.properties


async def test_many_sends_on_one_connection_keep_their_order(wire: Wire) -> None:
    answers = await asyncio.gather(*(wire.send("orders", b"%d" % number) for number in range(200)))

    assert [answer.queue_offset for answer in answers] == list(range(200))
    bodies = [message.body for offset in range(0, 200, 32) for message in await wire.pull("orders", offset)]
    assert bodies == [b"%d" % number for number in range(200)]


async def test_an_empty_body_is_taken(wire: Wire) -> None:
    await wire.send("orders", b"")

    assert [message.body for message in await wire.pull("orders", 0)] == [b""]


# -- topics created by a send


async def test_an_unknown_topic_is_made_after_its_template(wire: Wire) -> None:
    await wire.send("orders", b"x", default_topic_queue_nums=3)

    topic = wire.broker.components.topics.get("orders")

    assert (topic.read_queue_nums, topic.write_queue_nums, topic.perm) == (3, 3, 6)


async def test_the_first_sends_to_a_topic_are_answered_when_the_topic_is_saved(wire: Wire) -> None:
    file = wire.broker.components.config.config_folder / "topics.json"

    async def sent(number: int) -> bool:
        await wire.send("brand-new", b"%d" % number, properties={"TIMER_DELAY_MS": "60000"})
        return "brand-new" in json.loads(file.read_bytes())["topicConfigTable"]

    assert all(await asyncio.gather(*(sent(number) for number in range(8))))


async def test_a_topic_that_cannot_be_saved_takes_messages_and_is_saved_later(wire: Wire) -> None:
    topics = wire.broker.components.topics
    folder = wire.broker.components.config.config_folder
    moved = folder.rename(folder.with_name("elsewhere"))
    folder.write_bytes(b"")
    await wire.send("brand-new", b"x")
    assert topics.is_changed
    folder.unlink()
    moved.rename(folder)
    await wire.broker.components.beside.saver.save(topics)
    assert "brand-new" in json.loads((folder / "topics.json").read_bytes())["topicConfigTable"]


async def test_a_topic_gets_no_more_queues_than_its_template_has(wire: Wire) -> None:
    await wire.send("orders", b"x", default_topic_queue_nums=100)

    assert wire.broker.components.topics.get("orders").write_queue_nums == 8


async def test_the_broker_name_is_a_template_as_well(wire: Wire) -> None:
    await wire.send("orders", b"x", default_topic="broker-a")

    assert wire.broker.components.topics.get("orders").write_queue_nums == 1


async def test_without_a_template_the_topic_does_not_exist(wire: Wire) -> None:
    answer = await wire.try_send("orders", b"x", default_topic="nothing")

    assert answer.code == ResponseCode.TOPIC_NOT_EXIST
    assert answer.remark is not None
    assert answer.remark.startswith("topic[orders] not exist, apply first please!")


async def test_topics_are_not_made_when_that_is_switched_off(tmp_path: Path) -> None:
    async with started(tmp_path, topics=TopicDefaults(auto_create_topics=False)) as wire:
        assert (await wire.try_send("orders", b"x")).code == ResponseCode.TOPIC_NOT_EXIST


# -- refusals


@pytest.mark.parametrize("topic", ["SCHEDULE_TOPIC_XXXX", "SELF_TEST_TOPIC", "OFFSET_MOVED_EVENT"])
async def test_clients_may_not_send_to_the_broker_s_own_topics(wire: Wire, topic: str) -> None:
    answer = await wire.try_send(topic, b"x")

    assert answer.code == ResponseCode.NO_PERMISSION
    assert answer.remark == f"Sending message to topic[{topic}] is forbidden."


@pytest.mark.parametrize(
    ("topic", "remark"),
    [
        (" ", "The specified topic is blank."),
        ("a.b", "The specified topic contains illegal characters, allowing only ^[%|a-zA-Z0-9_-]+$"),
        ("t" * 128, "The specified topic is longer than topic max length."),
    ],
)
async def test_a_topic_has_a_proper_name(wire: Wire, topic: str, remark: str) -> None:
    answer = await wire.try_send(topic, b"x")

    assert (answer.code, answer.remark) == (ResponseCode.SYSTEM_ERROR, remark)


async def test_a_queue_beyond_the_topic_is_refused(wire: Wire) -> None:
    await wire.create_topic("orders", queues=2)

    answer = await wire.try_send("orders", b"x", queue_id=2)

    assert answer.code == ResponseCode.SYSTEM_ERROR
    assert "request queueId[2] is illegal" in str(answer.remark)


async def test_a_body_over_the_limit_is_illegal_and_the_limit_is_named(tmp_path: Path) -> None:
    async with started(tmp_path, limits=BrokerLimits(body_bytes=100)) as wire:
        answer = await wire.try_send("orders", b"x" * 101)
        assert answer.code == ResponseCode.MESSAGE_ILLEGAL
        assert "body_bytes=100" in str(answer.remark)

        assert (await wire.try_send("orders", b"x" * 100)).code == ResponseCode.SUCCESS


async def test_properties_over_the_limit_are_illegal(wire: Wire) -> None:
    answer = await wire.try_send("orders", b"x", properties={"p": "x" * 32_767})

    assert answer.code == ResponseCode.MESSAGE_ILLEGAL


async def test_one_topic_too_many_is_refused_by_name(tmp_path: Path) -> None:
    async with started(tmp_path, limits=BrokerLimits(topics=13)) as wire:
        await wire.send("thirteenth", b"x")
        answer = await wire.try_send("fourteenth", b"x")

        assert answer.code == ResponseCode.SYSTEM_ERROR
        assert "limit topics=13 reached" in str(answer.remark)


async def test_a_missing_field_is_named(wire: Wire) -> None:
    fields = Command.request(SendMessageV2Request("orders", 0, 0, BORN, 0)).ext_fields
    del fields["e"]

    answer = await wire.client.invoke(wire.address, Command(RequestCode.SEND_MESSAGE_V2, fields, b"x"), 5_000)

    assert answer.code == ResponseCode.SYSTEM_ERROR
    assert "e is missing" in str(answer.remark)


async def test_a_full_disk_is_reported_before_it_is_reached(wire: Wire) -> None:
    wire.broker.components.intake.refusal = "the disk is full"

    answer = await wire.try_send("orders", b"x")

    assert answer.code == ResponseCode.SERVICE_NOT_AVAILABLE


async def test_a_one_way_send_is_stored_and_not_answered(wire: Wire) -> None:
    header = SendMessageV2Request("orders", 0, 0, BORN, 0, "producers", "TBW102", 4)
    await wire.client.one_way(wire.address, Command.request(header, b"x", one_way=True))

    assert (await wire.send("orders", b"y")).queue_offset == 1


# -- batches


async def test_a_batch_is_stored_as_single_messages(wire: Wire) -> None:
    messages = [Message.create("orders", b"%d" % number, keys=[f"k{number}"]) for number in range(3)]

    sent = await wire.send(
        "orders", encode_batch(messages), batch=True, properties={"WAIT": "true"}, code=RequestCode.SEND_BATCH_MESSAGE
    )

    stored = await wire.pull("orders", 0)
    assert [message.body for message in stored] == [b"0", b"1", b"2"]
    assert [message.properties for message in stored] == [
        {"KEYS": f"k{number}", "CLUSTER": "local"} for number in range(3)
    ]
    assert sent.msg_id == ",".join(message.offset_id for message in stored)
    assert sent.queue_offset == 0


async def test_the_field_makes_a_batch_and_not_the_code(wire: Wire) -> None:
    body = encode_batch([Message.create("orders", b"x")])

    await wire.send("orders", body, code=RequestCode.SEND_BATCH_MESSAGE)

    assert [message.body for message in await wire.pull("orders", 0)] == [body]


@pytest.mark.parametrize(("properties", "sys_flag"), [({"DELAY": "1"}, 0), ({}, 4), ({"TRAN_MSG": "true"}, 0)])
async def test_a_batch_takes_neither_delay_nor_transaction(
    wire: Wire, properties: dict[str, str], sys_flag: int
) -> None:
    body = encode_batch([Message.create("orders", b"x")])

    answer = await wire.try_send("orders", body, batch=True, properties=properties, sys_flag=sys_flag)

    assert answer.code == ResponseCode.MESSAGE_ILLEGAL


DELIVERY = {"POP_CK": "1 2 3 0 0 broker-b 4 5", "POP_CK_OFFSET": "9", "1ST_POP_TIME": "7"}


@pytest.mark.parametrize("more", [{}, {"DELAY": "0"}, {"CLUSTER": "other"}])
async def test_what_belongs_to_another_delivery_is_not_stored(wire: Wire, more: dict[str, str]) -> None:
    await wire.send("orders", b"x", properties={"KEYS": "A17", **DELIVERY, **more})

    (message,) = await wire.pull("orders", 0)
    assert message.properties == {"KEYS": "A17"} | more | {"CLUSTER": "local"}


async def test_what_belongs_to_another_delivery_is_not_stored_of_a_batch(wire: Wire) -> None:
    messages = [
        Message("orders", b"POP_CK", {"KEYS": "k0"}, flag=5),
        Message("orders", b"1", {"KEYS": "k1", **DELIVERY}, flag=6),
    ]
    await wire.send("orders", encode_batch(messages), batch=True, properties=DELIVERY)

    stored = await wire.pull("orders", 0)
    assert [(each.body, each.flag, each.properties) for each in stored] == [
        (b"POP_CK", 5, {"KEYS": "k0", "CLUSTER": "local"}),
        (b"1", 6, {"KEYS": "k1", "CLUSTER": "local"}),
    ]


async def test_what_belongs_to_another_delivery_is_not_stored_of_a_message_sent_back(wire: Wire) -> None:
    await wire.send("orders", b"x")
    (leased,) = await wire.pop("orders")
    await wire.change(leased, 0)
    (again,) = await wire.pop("orders", wait_ms=10_000)
    assert names.FIRST_POP_TIME in again.message.properties

    await wire.ask(ConsumerSendMessageBackRequest(again.message.log_offset, "lessees", -1))

    (dead,) = await wire.pull("%DLQ%lessees", 0)
    assert not {*DELIVERY} & {*dead.properties}


TIMERS = [{"TIMER_DELAY_MS": "7000"}, {"TIMER_DELAY_SEC": "7"}, {"TIMER_DELIVER_MS": "1700000000000"}]


@pytest.mark.parametrize("timer", TIMERS)
async def test_a_timer_in_a_batch_is_refused_by_name_and_nothing_is_stored(wire: Wire, timer: dict[str, str]) -> None:
    batch = await wire.try_send(
        "orders",
        encode_batch([Message("orders", b"a"), Message("orders", b"b", timer)]),
        batch=True,
        code=RequestCode.SEND_BATCH_MESSAGE,
    )
    around = await wire.try_send("orders", encode_batch([Message("orders", b"a")]), batch=True, properties=timer)

    for answer in (batch, around):
        assert answer.code == ResponseCode.MESSAGE_ILLEGAL
        assert next(iter(timer)) in str(answer.remark)
    assert await wire.pull("orders", 0) == []


async def test_what_only_a_timer_sets_is_not_stored_of_a_sent_message(wire: Wire) -> None:
    await wire.send("orders", b"x", properties={"TIMER_SEQ": "5", "TIMER_OUT_MS": "9", "KEYS": "A17"})

    (message,) = await wire.pull("orders", 0)
    assert message.properties == {"KEYS": "A17", "CLUSTER": "local"}


@pytest.mark.parametrize(
    ("asked", "code"),
    [({"DELAY": "3"}, ResponseCode.MESSAGE_ILLEGAL), ({"TRAN_MSG": "true"}, ResponseCode.MESSAGE_ILLEGAL)],
)
async def test_a_message_of_a_batch_may_ask_for_as_little_as_the_batch(
    wire: Wire, asked: dict[str, str], code: ResponseCode
) -> None:
    answer = await wire.try_send("orders", encode_batch([Message("orders", b"b", asked)]), batch=True)

    assert answer.code == code
    assert await wire.pull("orders", 0) == []


@pytest.mark.parametrize("body", [b"", b"\x00\x00\x00\x05xyz", b"\x00\x00\x00\x05POP_CK"])
async def test_a_batch_that_cannot_be_read_stores_nothing(wire: Wire, body: bytes) -> None:
    answer = await wire.try_send("orders", body, batch=True)

    assert answer.code == ResponseCode.SYSTEM_ERROR
    assert await wire.pull("orders", 0) == []


# -- synchronous flush


async def test_a_send_under_sync_flush_is_answered_when_the_disk_has_it(tmp_path: Path) -> None:
    async with started(tmp_path, store=small_store(tmp_path, flush="sync")) as wire:
        answers = await asyncio.gather(*(wire.try_send("orders", b"x") for _ in range(50)))

        assert {answer.code for answer in answers} == {ResponseCode.SUCCESS}
        assert wire.broker.store.flushed_log_offset == wire.broker.store.appended_log_offset


async def test_a_send_that_does_not_wait_is_answered_at_once(tmp_path: Path) -> None:
    async with started(tmp_path, store=small_store(tmp_path, flush="sync")) as wire:
        await wire.send("orders", b"x", properties={"WAIT": "false"})

        assert len(wire.broker.components.durability) == 0


async def test_more_waiting_sends_than_allowed_are_turned_away(tmp_path: Path) -> None:
    limits = BrokerLimits(unflushed_waiters=0)
    async with started(tmp_path, store=small_store(tmp_path, flush="sync"), limits=limits) as wire:
        answer = await wire.try_send("orders", b"x")

        assert answer.code == ResponseCode.SYSTEM_BUSY
        assert "unflushed_waiters=0" in str(answer.remark)
        assert wire.broker.store.max_offset("orders", 0) == 0


# -- send-back, retries, dead letters


async def send_back(wire: Wire, log_offset: int, level: int, **fields: Any) -> Command:
    return await wire.ask(replace(ConsumerSendMessageBackRequest(log_offset, "billing", level), **fields))


async def test_a_message_sent_back_waits_on_its_level_for_the_group(wire: Wire) -> None:
    sent = await wire.send("orders", b"x", properties={"UNIQ_KEY": "ABC"})
    place = parse_offset_id(sent.msg_id).log_offset

    assert (await send_back(wire, place, 0)).code == ResponseCode.SUCCESS

    (parked,) = await wire.pull("SCHEDULE_TOPIC_XXXX", 0, queue_id=2)  # level 3: the first retry
    assert parked.body == b"x"
    assert parked.reconsume_times == 1
    assert parked.properties["RETRY_TOPIC"] == "orders"
    assert parked.properties["ORIGIN_MESSAGE_ID"] == sent.msg_id
    assert parked.properties["REAL_TOPIC"] == "%RETRY%billing"
    assert parked.properties["UNIQ_KEY"] == "ABC"
    assert wire.broker.components.topics.get("%RETRY%billing").write_queue_nums == 1


@pytest.mark.parametrize(("level", "fields"), [(-1, {}), (3, {"max_reconsume_times": 0})])
async def test_a_message_that_must_not_be_retried_is_a_dead_letter(
    wire: Wire, level: int, fields: dict[str, int]
) -> None:
    sent = await wire.send("orders", b"x")

    await send_back(wire, parse_offset_id(sent.msg_id).log_offset, level, **fields)

    (dead,) = await wire.pull("%DLQ%billing", 0)
    assert dead.body == b"x"
    assert dead.properties["RETRY_TOPIC"] == "orders"


async def test_a_message_that_is_gone_cannot_be_sent_back(wire: Wire) -> None:
    answer = await send_back(wire, 999, 0)

    assert answer.code == ResponseCode.SYSTEM_ERROR
    assert answer.remark == "look message by offset failed, 999"


async def test_a_retry_that_a_client_sends_itself_becomes_a_dead_letter_in_the_end(wire: Wire) -> None:
    for tries, topic in ((15, "%RETRY%billing"), (16, "%DLQ%billing")):
        await wire.send("%RETRY%billing", b"%d" % tries, reconsume_times=tries)
        assert [message.body for message in await wire.pull(topic, 0)] == [b"%d" % tries]


async def test_a_client_of_another_machine_is_named_as_the_born_host(wire: Wire) -> None:
    client = RemotingClient()
    header = SendMessageV2Request("orders", 0, 0, BORN, 0, "producers", "TBW102", 4)
    await client.invoke(wire.address, Command.request(header, b"x"), 5_000)
    local = (await client.connection(wire.address)).local
    await client.close()

    (message,) = await wire.pull("orders", 0)
    assert message.born_host == local


async def test_the_first_send_to_a_topic_is_answered_when_name_servers_know_it(wire: Wire) -> None:
    for number in range(20):
        await wire.send(f"new-{number}", b"1")

        answer = await wire.ask_name_server(GetRouteInfoRequest(f"new-{number}"))

        assert answer.code == ResponseCode.SUCCESS


@pytest.mark.parametrize("properties", [{}, {"TRAN_MSG": "false"}, {"DELAY": "1"}])
@pytest.mark.parametrize("sys_flag", [4, 12])
async def test_a_message_that_no_queue_would_name_is_refused(
    wire: Wire, sys_flag: int, properties: dict[str, str]
) -> None:
    answer = await wire.try_send("orders", b"x", properties=properties, sys_flag=sys_flag)

    assert answer.code == ResponseCode.MESSAGE_ILLEGAL
    assert wire.broker.store.appended_log_offset == 0
