"""Settings over a real socket: changes that take effect at once, and refusals."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.protocol import bodies, java_properties
from broker_core.protocol.bodies.routes import TopicRouteData
from broker_core.protocol.codes import ResponseCode
from broker_core.protocol.headers import admin as headers
from broker_core.protocol.headers.messages import QueryMessageRequest
from broker_core.protocol.headers.routes import GetRouteInfoRequest
from broker_core.protocol.headers.timers import RecallMessageRequest
from broker_core.protocol.record import decode_many
from tests.support.broker import Wire, started
from tests.support.wait import eventually


async def settings(wire: Wire) -> dict[str, str]:
    return java_properties.parse((await wire.ask(headers.GetBrokerConfigRequest())).body)


async def change(wire: Wire, **texts: str) -> tuple[int, str | None]:
    answer = await wire.ask(headers.UpdateBrokerConfigRequest(), java_properties.dump(texts))
    return answer.code, answer.remark


async def perm_of(wire: Wire, topic: str) -> int:
    """Return the topic's permission according to the name server."""
    answer = await wire.ask_name_server(GetRouteInfoRequest(topic))
    return bodies.decode(TopicRouteData, answer.body).queue_datas[0].perm


async def test_settings_are_returned_under_their_known_names(wire: Wire) -> None:
    answer = await wire.ask(headers.GetBrokerConfigRequest())

    settings = java_properties.parse(answer.body)
    assert settings["brokerName"] == "broker-a"
    assert settings["flushDiskType"] == "ASYNC_FLUSH"
    assert settings["listenPort"] == str(wire.broker.port)
    assert answer.header(headers.GetBrokerConfigResponse).version.startswith("{")


async def test_a_changed_setting_holds_and_is_kept(tmp_path: Path) -> None:
    async with started(tmp_path) as wire:
        assert await change(wire, fileReservedTime="48", deleteWhen="04;16") == (ResponseCode.SUCCESS, None)
        assert wire.broker.store.config.retention_ms == 48 * 3_600_000
        assert wire.broker.store.config.delete_when == (4, 16)

    async with started(tmp_path) as wire:
        assert (await settings(wire))["fileReservedTime"] == "48"


async def test_topics_are_made_by_themselves_as_long_as_that_is_on(wire: Wire) -> None:
    await wire.send("one", b"x")

    await change(wire, autoCreateTopicEnable="false")
    assert (await wire.try_send("two", b"x")).code == ResponseCode.TOPIC_NOT_EXIST
    await change(wire, autoCreateTopicEnable="true")

    assert (await wire.try_send("two", b"x")).code == ResponseCode.SUCCESS


async def test_the_template_offers_as_many_queues_as_is_set(wire: Wire) -> None:
    await change(wire, defaultTopicQueueNums="2")
    await wire.send("orders", b"x")

    topic = wire.broker.components.topics.get("orders")

    assert (topic.read_queue_nums, topic.write_queue_nums) == (2, 2)


async def test_the_largest_message_is_as_set(wire: Wire) -> None:
    await change(wire, maxMessageSize="10")
    assert (await wire.try_send("orders", b"x" * 11)).code == ResponseCode.MESSAGE_ILLEGAL

    await change(wire, maxMessageSize="11")

    assert (await wire.try_send("orders", b"x" * 11)).code == ResponseCode.SUCCESS


async def test_the_permission_of_the_broker_replaces_that_of_every_topic(wire: Wire) -> None:
    await wire.send("orders", b"x")

    await change(wire, brokerPermission="4")

    async def is_read_only() -> bool:
        return await perm_of(wire, "orders") == 4

    await eventually(is_read_only)
    await change(wire, brokerPermission="2")
    refused = await wire.try_pull("orders", 0)
    assert (refused.code, refused.remark) == (
        ResponseCode.NO_PERMISSION,
        "the broker[127.0.0.1] pulling message is forbidden",
    )


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", ResponseCode.INVALID_PARAMETER),
        (b"colour=blue", ResponseCode.INVALID_PARAMETER),
        (b"deleteWhen=25", ResponseCode.INVALID_PARAMETER),
        (b"brokerName=other", ResponseCode.NO_PERMISSION),
        (b"configBlackList=x", ResponseCode.NO_PERMISSION),
        (b"deleteWhen=\xff", ResponseCode.SYSTEM_ERROR),
    ],
)
async def test_what_cannot_be_changed_is_refused(wire: Wire, body: bytes, code: ResponseCode) -> None:
    answer = await wire.ask(headers.UpdateBrokerConfigRequest(), body)

    assert answer.code == code
    assert answer.remark


async def test_with_enable_property_filter_off_tags_alone_are_filters(tmp_path: Path) -> None:
    async with started(tmp_path) as wire:
        assert await change(wire, enablePropertyFilter="false") == (ResponseCode.SUCCESS, None)

    async with started(tmp_path) as wire:
        await wire.send("orders", b"x", properties={"TAGS": "a", "KEYS": "k"})
        refused = await wire.try_pull("orders", 0, expression="a > 3", expression_type="SQL92")
        assert refused.code == ResponseCode.SYSTEM_ERROR
        assert str(refused.remark).startswith("The broker does not support consumer to filter message by SQL92")
        assert (await wire.try_pull("orders", 0, expression="a", expression_type="TAG")).code == ResponseCode.SUCCESS


async def test_with_recall_message_enable_off_nothing_is_recalled(wire: Wire) -> None:
    sent = await wire.send("orders", b"x", properties={"TIMER_DELAY_MS": "3600000", "UNIQ_KEY": "A"})
    assert sent.recall_handle is not None
    recall = RecallMessageRequest("orders", sent.recall_handle)

    await change(wire, recallMessageEnable="false")
    assert (await wire.ask(recall)).code == ResponseCode.NO_PERMISSION
    await change(wire, recallMessageEnable="true")

    assert (await wire.ask(recall)).code == ResponseCode.SUCCESS


async def test_default_query_max_num_limits_what_is_found_by_one_unique_id(wire: Wire) -> None:
    for _ in range(4):
        await wire.send("orders", b"x", properties={"UNIQ_KEY": "A"})
    by_id = QueryMessageRequest("orders", "A", 64, 0, 2**62, unique_key_query=True)
    assert len(decode_many((await wire.ask(by_id)).body)) == 4

    await change(wire, defaultQueryMaxNum="3")

    assert len(decode_many((await wire.ask(by_id)).body)) == 3
