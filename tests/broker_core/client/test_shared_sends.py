"""Requirements of `broker_core.client.shared_sends`, at scripted brokers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from broker_core.client.config import ClientConfig
from broker_core.client.errors import ClientError, MessageIllegal, SendUncertain, TopicReadOnly
from broker_core.client.producer import Producer, SendResult
from broker_core.client.session import Session
from broker_core.client.shared_sends import MOST_MESSAGES, UNDER_WAY
from broker_core.protocol.batch import decode_batch
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.errors import MalformedHeader
from broker_core.protocol.headers.send import SendMessageResponse, SendMessageV2Request
from broker_core.protocol.message import Message
from broker_core.protocol.properties import parse_properties
from broker_core.remoting.connection import Connection
from tests.support.scripted import Cluster, Peer, hang_up, refuse, say_nothing, scripted_cluster
from tests.support.wait import eventually

ONE = RequestCode.SEND_MESSAGE_V2
BATCH = RequestCode.SEND_BATCH_MESSAGE


def texts(request: Command) -> list[bytes]:
    """Return the bodies of a send, whether it is a batch or not."""
    return [request.body] if request.code == ONE else [entry.body for entry in decode_batch(request.body)]


def accept(request: Command, _: Connection) -> Command:
    """Store everything from offset 100 on, but refuse what holds the text "bad"."""
    if any(b"bad" in text for text in texts(request)):
        return Command.response(ResponseCode.MESSAGE_ILLEGAL, remark="bad is not accepted")
    ids = ",".join(f"{place:032X}" for place in range(len(texts(request))))
    header = request.header(SendMessageV2Request)
    return Command.response(ResponseCode.SUCCESS, SendMessageResponse(ids, header.queue_id, 100))


def sends(peer: Peer) -> list[Command]:
    return [request for request in peer.requests if request.code in (ONE, BATCH)]


def message(text: str, **options: object) -> Message:
    return Message.create("orders", text.encode(), **options)  # type: ignore[arg-type]


@pytest.fixture
async def cluster() -> AsyncIterator[Cluster]:
    async with scripted_cluster("broker-a") as cluster:
        cluster.add_topic("orders", queues=2)
        cluster["broker-a"].on(ONE, accept)
        cluster["broker-a"].on(BATCH, accept)
        yield cluster


@pytest.fixture
async def producer(cluster: Cluster) -> AsyncIterator[Producer]:
    async with Session(ClientConfig([cluster.name_server.addr])) as session, Producer(session) as producer:
        await producer.queues("orders")
        yield producer


async def send_all(producer: Producer, messages: list[Message], **options: object) -> list[SendResult | ClientError]:
    found = await asyncio.gather(
        *(producer.send(each, **options) for each in messages),  # type: ignore[arg-type]
        return_exceptions=True,
    )
    assert all(isinstance(each, SendResult | ClientError) for each in found), found
    return found  # type: ignore[return-value]


async def test_sends_of_one_turn_are_one_batch_and_each_has_its_own_result(
    cluster: Cluster, producer: Producer
) -> None:
    results = await send_all(producer, [message(text, keys=[text]) for text in ("a", "b", "c")])

    [request] = sends(cluster["broker-a"])
    entries = decode_batch(request.body)
    assert [entry.body for entry in entries] == [b"a", b"b", b"c"]
    found = [each for each in results if isinstance(each, SendResult)]
    assert [each.queue_offset for each in found] == [100, 101, 102]
    assert [each.offset_id for each in found] == [f"{place:032X}" for place in range(3)]
    assert [each.message_id for each in found] == [parse_properties(entry.properties)["UNIQ_KEY"] for entry in entries]
    assert [each.message_ids for each in found] == [(each.message_id,) for each in found]


async def test_a_send_alone_is_a_plain_send(cluster: Cluster, producer: Producer) -> None:
    await producer.send(message("a"))
    assert [request.code for request in sends(cluster["broker-a"])] == [ONE]


async def test_what_a_broker_takes_only_singly_travels_alone(cluster: Cluster, producer: Producer) -> None:
    large = message("x" * 5000)
    flagged = Message("orders", b"f", sys_flag=2)
    delayed, prepared = message("d", delay_level=3), Message("orders", b"p", {"TRAN_MSG": "true"})
    many = message("m", properties={"note": "n" * 9000})
    await send_all(producer, [message("a"), large, flagged, message("b"), delayed, prepared, many])
    codes = [request.code for request in sends(cluster["broker-a"])]
    assert codes == [ONE] * 7, "nothing is beside a and beside b"


async def test_messages_that_do_not_wait_for_the_disk_share_with_their_like(
    cluster: Cluster, producer: Producer
) -> None:
    fast = {"WAIT": "false"}
    messages = [message("a"), message("b", properties=fast), message("c"), message("d", properties=fast)]
    await send_all(producer, messages)
    batches = {
        request.header(SendMessageV2Request).properties: texts(request) for request in sends(cluster["broker-a"])
    }
    assert batches == {"": [b"a", b"c"], "WAIT\x01false": [b"b", b"d"]}


async def test_a_message_that_the_broker_refuses_costs_the_others_nothing(cluster: Cluster, producer: Producer) -> None:
    results = await send_all(producer, [message("a"), message("bad"), message("c")])
    assert [type(each) for each in results] == [SendResult, MessageIllegal, SendResult]
    assert "bad is not accepted" in str(results[1])


async def test_a_message_that_cannot_be_written_costs_the_others_nothing(cluster: Cluster, producer: Producer) -> None:
    # Half of a surrogate pair has no UTF-8 form.
    messages = [message("a"), message("b", properties={"note": "\ud800"}), message("c")]
    results = await asyncio.wait_for(asyncio.gather(*map(producer.send, messages), return_exceptions=True), timeout=30)
    assert isinstance(results[0], SendResult)
    assert isinstance(results[1], MalformedHeader)
    assert isinstance(results[2], SendResult)


async def test_a_broker_that_knows_no_batches_gets_the_messages_one_by_one(
    cluster: Cluster, producer: Producer
) -> None:
    cluster["broker-a"].on(BATCH, refuse(ResponseCode.REQUEST_CODE_NOT_SUPPORTED))
    results = await send_all(producer, [message("a"), message("b")])
    assert all(isinstance(each, SendResult) for each in results)


async def test_a_refusal_that_concerns_all_is_the_error_of_all(cluster: Cluster, producer: Producer) -> None:
    cluster.add_topic("orders", queues=2, perm=4)
    async with Session(ClientConfig([cluster.name_server.addr])) as session, Producer(session) as other:
        results = await send_all(other, [message("a"), message("b")])
    assert [type(each) for each in results] == [TopicReadOnly] * 2


async def test_after_a_lost_connection_it_is_unknown_for_each_of_them(cluster: Cluster, producer: Producer) -> None:
    for code in (ONE, BATCH):
        cluster["broker-a"].on(code, hang_up())
    results = await send_all(producer, [message("a"), message("b")], is_repeatable=False)
    assert [type(each) for each in results] == [SendUncertain] * 2


async def test_messages_of_a_queue_keep_the_order_of_the_calls(cluster: Cluster, producer: Producer) -> None:
    queue = MessageQueue("orders", "broker-a", 1)
    order = [message("a"), message("b"), message("c", delay_level=1), message("d"), message("e")]
    await send_all(producer, order, queue=queue)
    requests = sends(cluster["broker-a"])
    assert [texts(request) for request in requests] == [[b"a", b"b"], [b"c"], [b"d", b"e"]]
    assert {request.header(SendMessageV2Request).queue_id for request in requests} == {1}


async def test_a_full_batch_leaves_at_once(cluster: Cluster, producer: Producer) -> None:
    await send_all(producer, [message(str(number)) for number in range(MOST_MESSAGES + 1)])
    assert [len(texts(request)) for request in sends(cluster["broker-a"])] == [MOST_MESSAGES, 1]


async def test_a_silent_broker_does_not_hold_up_the_sends_after_it(cluster: Cluster, producer: Producer) -> None:
    # Given a broker that answers nothing, and as many requests as may be under way
    for code in (ONE, BATCH):
        cluster["broker-a"].on(code, say_nothing())
    stuck = []
    for number in range(UNDER_WAY):
        stuck.append(asyncio.create_task(producer.send(message(str(number)), timeout_ms=60_000)))
        await eventually(lambda number=number: len(sends(cluster["broker-a"])) == number + 1)
    # When one more is sent
    stuck.append(asyncio.create_task(producer.send(message("more"), timeout_ms=60_000)))
    # Then it reaches the broker all the same
    await eventually(lambda: len(sends(cluster["broker-a"])) == UNDER_WAY + 1)
    for task in stuck:
        task.cancel()
    await asyncio.wait(stuck)


async def test_a_caller_that_gives_up_does_not_hurt_the_others(cluster: Cluster, producer: Producer) -> None:
    gone = asyncio.create_task(producer.send(message("gone")))
    stays = asyncio.create_task(producer.send(message("stays")))
    await asyncio.sleep(0)
    gone.cancel()
    assert isinstance(await stays, SendResult)
    with pytest.raises(asyncio.CancelledError):
        await gone
