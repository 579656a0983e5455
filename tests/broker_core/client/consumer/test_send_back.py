"""Sending back a message that was not handled."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from broker_core.client.config import ClientConfig
from broker_core.client.consumer.send_back import SendBack, as_sent
from broker_core.client.session import Session
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers.send import (
    ConsumerSendMessageBackRequest,
    SendMessageResponse,
    SendMessageV2Request,
)
from broker_core.protocol.properties import parse_properties
from tests.support.scripted import Cluster, refuse, scripted_cluster, succeed
from tests.support.stored import stored

BACK, SEND = RequestCode.CONSUMER_SEND_MSG_BACK, RequestCode.SEND_MESSAGE_V2
MESSAGE = stored(log_offset=4096, tag="created", properties={"UNIQ_KEY": "ID"}, reconsume_times=2)


@pytest.fixture
async def cluster() -> AsyncIterator[Cluster]:
    async with scripted_cluster("broker-a") as cluster:
        cluster.add_topic("orders")
        cluster.add_topic("%RETRY%billing", queues=1)
        taken = SendMessageResponse("0A00000500002A9F0000000000001000", 0, 1)
        cluster["broker-a"].on(BACK, succeed())
        cluster["broker-a"].on(SEND, succeed(lambda _: Command.response(ResponseCode.SUCCESS, taken)))
        yield cluster


@pytest.fixture
async def send_back(cluster: Cluster) -> AsyncIterator[SendBack]:
    async with Session(ClientConfig([cluster.name_server.addr])) as session:
        await session.routes.get("orders")
        yield SendBack(session, "billing", max_reconsume_times=-1)


async def test_the_broker_takes_it_back(cluster: Cluster, send_back: SendBack) -> None:
    assert await send_back.send_back(MESSAGE, "broker-a", delay_level=3)

    (request,) = cluster["broker-a"].asked(BACK)
    header = request.header(ConsumerSendMessageBackRequest)
    assert (header.offset, header.group, header.delay_level) == (4096, "billing", 3)
    assert (header.origin_msg_id, header.origin_topic, header.max_reconsume_times) == ("ID", "orders", 16)
    assert not cluster["broker-a"].asked(SEND)


async def test_what_the_broker_does_not_take_back_is_sent_to_the_retry_topic(
    cluster: Cluster, send_back: SendBack
) -> None:
    cluster["broker-a"].on(BACK, refuse(ResponseCode.SYSTEM_ERROR, "look message by offset failed"))

    assert await send_back.send_back(MESSAGE, "broker-a")

    (request,) = cluster["broker-a"].asked(SEND)
    header = request.header(SendMessageV2Request)
    properties = parse_properties(header.properties or "")
    assert (header.topic, header.reconsume_times, header.max_reconsume_times) == ("%RETRY%billing", 3, 16)
    assert request.body == b"hi"
    assert properties == {
        "UNIQ_KEY": "ID",
        "TAGS": "created",
        "RETRY_TOPIC": "orders",
        "ORIGIN_MESSAGE_ID": "0A00000500002A9F0000000000001000",
        "DELAY": "5",
    }


async def test_when_neither_works_it_stays_with_the_consumer(cluster: Cluster, send_back: SendBack) -> None:
    cluster["broker-a"].on(BACK, refuse(ResponseCode.SYSTEM_ERROR))
    cluster["broker-a"].on(SEND, refuse(ResponseCode.SERVICE_NOT_AVAILABLE))

    assert not await send_back.send_back(MESSAGE, "broker-a")
    assert not await send_back.send_back(MESSAGE, "broker-z")


def test_a_retried_message_is_shown_under_its_first_topic() -> None:
    retried = stored(topic="%RETRY%billing", properties={"RETRY_TOPIC": "orders"})

    assert as_sent(retried).topic == "orders"
    assert as_sent(MESSAGE) is MESSAGE
    assert as_sent(stored(topic="%RETRY%billing")).topic == "%RETRY%billing"


async def test_no_copy_is_sent_of_a_damaged_message(cluster: Cluster, send_back: SendBack) -> None:
    cluster["broker-a"].on(BACK, refuse(ResponseCode.SYSTEM_ERROR))

    assert not await send_back.send_back(replace(MESSAGE, damage="it does not unpack"), "broker-a")

    assert not cluster["broker-a"].asked(SEND)
