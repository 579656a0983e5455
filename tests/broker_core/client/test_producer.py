"""Sending: the choice of a queue, and what happens after a failure."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator

import pytest

from broker_core.client.config import ClientConfig, ProducerConfig
from broker_core.client.errors import (
    BrokerRefused,
    BrokerUnavailable,
    ClientClosed,
    MessageRefused,
    MessageTooLarge,
    SendUncertain,
    TimedOut,
    TopicNotFound,
    TopicReadOnly,
    Unreachable,
)
from broker_core.client.faults import FaultAvoidance
from broker_core.client.producer import Producer, SendResult, SendStatus
from broker_core.client.session import Session
from broker_core.protocol.batch import decode_batch, encode_entries
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.bodies.routes import BrokerData, QueueData, TopicRouteData
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers.send import SendMessageResponse, SendMessageV2Request
from broker_core.protocol.message import Message
from broker_core.protocol.properties import parse_properties
from broker_core.remoting.connection import Connection
from broker_core.remoting.dispatch import Handler
from tests.support.scripted import Cluster, Peer, hang_up, in_turn, refuse, say_nothing, scripted_cluster, succeed
from tests.support.wait import eventually

SEND = RequestCode.SEND_MESSAGE_V2
MESSAGE = Message.create("orders", b"hi", keys=["A17"])


def stored(code: int = ResponseCode.SUCCESS) -> Handler:
    def answer(request: Command) -> Command:
        header = request.header(SendMessageV2Request)
        return Command.response(code, SendMessageResponse("0A00000500002A9F0000000000001000", header.queue_id, 41))

    return succeed(answer)


def sent(peer: Peer, code: int = SEND) -> list[SendMessageV2Request]:
    return [request.header(SendMessageV2Request) for request in peer.asked(code)]


@pytest.fixture
async def cluster() -> AsyncIterator[Cluster]:
    async with scripted_cluster("broker-a", "broker-b") as cluster:
        cluster.add_topic("orders")
        for peer in cluster.brokers.values():
            peer.on(SEND, stored())
            peer.on(RequestCode.SEND_BATCH_MESSAGE, stored())
        yield cluster


@pytest.fixture
async def session(cluster: Cluster) -> AsyncIterator[Session]:
    async with Session(ClientConfig([cluster.name_server.addr])) as session:
        yield session


@pytest.fixture
async def producer(session: Session) -> AsyncIterator[Producer]:
    async with Producer(session, "checkout") as producer:
        yield producer


async def test_a_message_arrives_as_it_was_given(cluster: Cluster, producer: Producer) -> None:
    result = await producer.send(MESSAGE)

    assert result.status is SendStatus.SEND_OK
    assert (result.queue.topic, result.queue_offset) == ("orders", 41)
    peer = cluster[result.queue.broker_name]
    (request,) = peer.asked(SEND)
    (header,) = sent(peer)
    assert request.body == b"hi"
    assert (header.producer_group, header.topic, header.queue_id) == ("checkout", "orders", result.queue.queue_id)
    assert parse_properties(header.properties or "") == {"KEYS": "A17", "UNIQ_KEY": result.message_id}


async def test_messages_go_round_all_queues_of_all_brokers(producer: Producer) -> None:
    results = [await producer.send(MESSAGE) for _ in range(16)]

    assert set(Counter(result.queue for result in results).values()) == {2}


async def test_a_broker_that_cannot_store_is_passed_over(cluster: Cluster, producer: Producer) -> None:
    cluster["broker-a"].on(SEND, refuse(ResponseCode.SERVICE_NOT_AVAILABLE))

    results = [await producer.send(MESSAGE) for _ in range(10)]

    assert {result.queue.broker_name for result in results} == {"broker-b"}
    assert len(cluster["broker-a"].asked(SEND)) <= 1, "it is avoided after the first refusal"


async def test_a_retry_is_the_same_message(cluster: Cluster, producer: Producer) -> None:
    for peer in cluster.brokers.values():
        peer.on(SEND, in_turn(hang_up(), stored()))

    result = await producer.send(MESSAGE)

    ids = {
        parse_properties(header.properties or "")["UNIQ_KEY"]
        for peer in cluster.brokers.values()
        for header in sent(peer)
    }
    assert ids == {result.message_id}


async def test_a_send_that_must_not_be_repeated_is_sent_once_when_its_outcome_is_unknown(
    cluster: Cluster, producer: Producer
) -> None:
    for peer in cluster.brokers.values():
        peer.on(SEND, hang_up())

    with pytest.raises(SendUncertain):
        await producer.send(MESSAGE, is_repeatable=False)

    assert sum(len(peer.asked(SEND)) for peer in cluster.brokers.values()) == 1


async def test_a_broker_that_is_gone_is_passed_over(cluster: Cluster, producer: Producer) -> None:
    await producer.send(MESSAGE)
    await cluster["broker-a"].stop()

    results = [await producer.send(MESSAGE) for _ in range(10)]

    assert {result.queue.broker_name for result in results} == {"broker-b"}


async def test_a_refusal_that_no_other_broker_would_take_back_is_raised_at_once(
    cluster: Cluster, producer: Producer
) -> None:
    for peer in cluster.brokers.values():
        peer.on(SEND, refuse(ResponseCode.MESSAGE_ILLEGAL, "properties too long"))

    with pytest.raises(BrokerRefused, match="properties too long"):
        await producer.send(MESSAGE)

    assert sum(len(peer.asked(SEND)) for peer in cluster.brokers.values()) == 1


async def test_when_all_refuse_the_last_refusal_is_raised(cluster: Cluster, producer: Producer) -> None:
    for peer in cluster.brokers.values():
        peer.on(SEND, refuse(ResponseCode.SERVICE_NOT_AVAILABLE, "disk full"))

    with pytest.raises(BrokerUnavailable, match="disk full"):
        await producer.send(MESSAGE)

    assert sum(len(peer.asked(SEND)) for peer in cluster.brokers.values()) == 3


async def test_no_answer_leaves_the_state_unknown(cluster: Cluster, producer: Producer) -> None:
    for peer in cluster.brokers.values():
        peer.on(SEND, say_nothing())

    with pytest.raises(SendUncertain):
        await producer.send(MESSAGE, timeout_ms=2_000)


async def test_what_was_uncertain_stays_so(cluster: Cluster, session: Session) -> None:
    for peer in cluster.brokers.values():
        peer.on(SEND, in_turn(hang_up(), refuse(ResponseCode.SERVICE_NOT_AVAILABLE)))
    cluster.add_topic("bills", on=("broker-a",))

    async with Producer(session) as producer:
        with pytest.raises(SendUncertain):
            await producer.send(Message("bills", b"x"))


async def test_what_was_uncertain_stays_so_when_the_session_is_closed(cluster: Cluster, session: Session) -> None:
    cluster.add_topic("bills", on=("broker-a",))
    cluster["broker-a"].on(SEND, say_nothing())
    producer = Producer(session)
    sending = asyncio.create_task(producer.send(Message("bills", b"x")))
    await eventually(lambda: cluster["broker-a"].asked(SEND))

    await session.close()

    with pytest.raises(SendUncertain):
        await sending
    with pytest.raises(ClientClosed, match="the session is closed"):
        await producer.send(Message("bills", b"y"))


async def test_a_message_goes_to_no_queue_of_another_topic(cluster: Cluster, producer: Producer) -> None:
    with pytest.raises(MessageRefused, match="'bills'"):
        await producer.send(MESSAGE, queue=MessageQueue("bills", "broker-a", 0))

    assert not cluster["broker-a"].asked(SEND)


async def test_without_time_nothing_is_sent_and_the_error_says_so(cluster: Cluster, producer: Producer) -> None:
    with pytest.raises(TimedOut, match="not sent within 0 ms") as caught:
        await producer.send(MESSAGE, timeout_ms=0)

    assert not caught.value.was_sent
    assert not any(peer.asked(SEND) for peer in cluster.brokers.values())


async def test_all_attempts_share_the_time(cluster: Cluster, producer: Producer) -> None:
    cluster["broker-a"].on(SEND, hang_up())
    cluster["broker-b"].on(SEND, say_nothing())

    begin = time.monotonic()
    with pytest.raises(SendUncertain):
        await producer.send(MESSAGE, timeout_ms=2_000)

    assert time.monotonic() - begin > 1.9


async def test_a_single_broker_that_restarts_gets_the_message_after_all(cluster: Cluster, producer: Producer) -> None:
    cluster.add_topic("bills", on=("broker-a",))
    cluster["broker-a"].on(SEND, in_turn(hang_up(), stored()))

    result = await producer.send(Message("bills", b"x"))

    assert result.status is SendStatus.SEND_OK


@pytest.mark.parametrize(
    ("code", "status"),
    [
        (ResponseCode.FLUSH_DISK_TIMEOUT, SendStatus.FLUSH_DISK_TIMEOUT),
        (ResponseCode.FLUSH_SLAVE_TIMEOUT, SendStatus.FLUSH_SLAVE_TIMEOUT),
        (ResponseCode.SLAVE_NOT_AVAILABLE, SendStatus.SLAVE_NOT_AVAILABLE),
    ],
)
async def test_stored_but_less_safe_is_a_result(
    cluster: Cluster, producer: Producer, code: int, status: SendStatus
) -> None:
    for peer in cluster.brokers.values():
        peer.on(SEND, stored(code))

    assert (await producer.send(MESSAGE)).status is status


async def test_stored_but_less_safe_is_tried_elsewhere_if_wanted(cluster: Cluster, session: Session) -> None:
    cluster["broker-a"].on(SEND, stored(ResponseCode.FLUSH_DISK_TIMEOUT))
    config = ProducerConfig(retry_when_not_stored_ok=True)
    async with Producer(session, config=config) as producer:
        results = [await producer.send(MESSAGE) for _ in range(8)]
        assert {result.status for result in results} == {SendStatus.SEND_OK}

        cluster["broker-b"].on(SEND, stored(ResponseCode.FLUSH_DISK_TIMEOUT))
        assert (await producer.send(MESSAGE)).status is SendStatus.FLUSH_DISK_TIMEOUT


async def test_a_given_queue_is_the_only_one_tried(cluster: Cluster, producer: Producer) -> None:
    queue = MessageQueue("orders", "broker-a", 3)
    assert (await producer.send(MESSAGE, queue=queue)).queue == queue
    cluster["broker-a"].on(SEND, refuse(ResponseCode.SERVICE_NOT_AVAILABLE))

    with pytest.raises(BrokerUnavailable):
        await producer.send(MESSAGE, queue=queue)

    assert not cluster["broker-b"].asked(SEND)


async def test_an_unknown_topic_is_an_error(producer: Producer) -> None:
    with pytest.raises(TopicNotFound):
        await producer.send(Message("bills", b"x"))


async def test_an_unknown_topic_is_created_if_wanted(cluster: Cluster, session: Session) -> None:
    cluster.add_topic("TBW102", queues=8, perm=7)
    async with Producer(session, config=ProducerConfig(create_topics=True)) as producer:
        result = await producer.send(Message("bills", b"x"))

    (header,) = sent(cluster[result.queue.broker_name])
    assert (header.topic, header.default_topic, header.default_topic_queue_nums) == ("bills", "TBW102", 4)
    assert result.queue.queue_id < 4


async def test_a_topic_that_was_deleted_is_not_recreated(cluster: Cluster, producer: Producer) -> None:
    await producer.send(MESSAGE)
    del cluster.routes["orders"]
    for peer in cluster.brokers.values():
        peer.on(SEND, refuse(ResponseCode.TOPIC_NOT_EXIST))

    for _ in range(2):
        with pytest.raises(TopicNotFound):
            await producer.send(MESSAGE)

    assert all(not header.default_topic for peer in cluster.brokers.values() for header in sent(peer))


async def test_a_read_only_topic_takes_nothing(cluster: Cluster, producer: Producer) -> None:
    cluster.add_topic("archive", perm=4)

    with pytest.raises(TopicReadOnly):
        await producer.send(Message("archive", b"x"))
    with pytest.raises(TopicReadOnly):
        await producer.queues("archive")


async def test_a_message_too_large_is_not_sent(cluster: Cluster, producer: Producer) -> None:
    with pytest.raises(MessageTooLarge):
        await producer.send(Message("orders", b"x" * (4 * 1024 * 1024 + 1)))

    assert not any(peer.requests for peer in cluster.brokers.values())


async def test_no_name_server_is_unreachable() -> None:
    async with Session(ClientConfig(["127.0.0.1:1"])) as session, Producer(session) as producer:
        with pytest.raises(Unreachable):
            await producer.send(MESSAGE)


async def test_without_a_name_server_the_route_that_somebody_else_knew_is_taken_for_sends(cluster: Cluster) -> None:
    asked: list[str] = []

    async def recall(topic: str) -> TopicRouteData | None:
        asked.append(topic)
        brokers = [BrokerData("broker-a", broker_addrs={0: cluster["broker-a"].addr})]
        return TopicRouteData(brokers, [QueueData("broker-a", 4, 4, 6)]) if topic == "orders" else None

    config = ClientConfig(["127.0.0.1:1"])
    async with Session(config, recall=recall) as session, Producer(session) as producer:
        sent = [await producer.send(MESSAGE) for _ in range(2)]
        with pytest.raises(Unreachable):
            await producer.send(Message("other", b"x"))
    assert {each.queue.broker_name for each in sent} == {"broker-a"}
    assert asked == ["orders", "other"]


async def test_a_batch_is_one_request(cluster: Cluster, producer: Producer) -> None:
    messages = [Message("orders", body) for body in (b"a", b"b", b"c")]

    result = await producer.send_batch("orders", messages)

    (request,) = cluster[result.queue.broker_name].asked(RequestCode.SEND_BATCH_MESSAGE)
    assert request.header(SendMessageV2Request).batch
    assert [entry.body for entry in decode_batch(request.body)] == [b"a", b"b", b"c"]
    assert len(result.message_ids) == 3
    assert result.message_id == result.message_ids[0]


async def test_an_encoded_batch_is_sent_as_it_is_with_its_ids(cluster: Cluster, producer: Producer) -> None:
    ids = producer.make_ids(2)
    body = encode_entries([(0, b"a", f"UNIQ_KEY\x01{ids[0]}"), (0, b"b", f"UNIQ_KEY\x01{ids[1]}")])

    result = await producer.submit_encoded("orders", body, ids, waits_for_store=False)

    (request,) = cluster[result.queue.broker_name].asked(RequestCode.SEND_BATCH_MESSAGE)
    header = request.header(SendMessageV2Request)
    assert (header.batch, parse_properties(header.properties or "")) == (True, {"WAIT": "false"})
    assert request.body == body
    assert result.message_ids == tuple(ids)


async def test_an_encoded_batch_that_no_broker_takes_is_refused_at_once(producer: Producer) -> None:
    with pytest.raises(MessageTooLarge):
        producer.submit_encoded("orders", b"x" * (4 * 1024 * 1024 + 1), [], waits_for_store=True)
    with pytest.raises(MessageRefused):
        producer.submit_encoded("%RETRY%billing", b"x", [], waits_for_store=True)


async def test_many_messages_have_each_their_own_outcome(producer: Producer) -> None:
    outcomes = await producer.send_many([MESSAGE, Message("bills", b"x"), MESSAGE])

    assert [type(outcome) for outcome in outcomes] == [SendResult, TopicNotFound, SendResult]


async def test_one_way_expects_nothing(cluster: Cluster, producer: Producer) -> None:
    await producer.send_one_way(MESSAGE)

    await eventually(lambda: any(peer.asked(SEND) for peer in cluster.brokers.values()))
    (request,) = [request for peer in cluster.brokers.values() for request in peer.asked(SEND)]
    assert request.is_one_way


@pytest.mark.parametrize(
    ("code", "requests"),
    [
        (ResponseCode.TOPIC_NOT_EXIST, 3),
        (ResponseCode.SERVICE_NOT_AVAILABLE, 3),
        (ResponseCode.SYSTEM_ERROR, 3),
        (ResponseCode.NO_PERMISSION, 3),
        (ResponseCode.NO_BUYER_ID, 3),
        (ResponseCode.NOT_IN_CURRENT_UNIT, 3),
        (ResponseCode.SYSTEM_BUSY, 3),
        (ResponseCode.MESSAGE_ILLEGAL, 1),
        (ResponseCode.VERSION_NOT_SUPPORTED, 1),
        (ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST, 1),
    ],
)
@pytest.mark.parametrize("names", [("broker-a",), ("broker-a", "broker-b")], ids=["one broker", "two brokers"])
async def test_which_refusals_are_retried(
    cluster: Cluster, producer: Producer, names: tuple[str, ...], code: int, requests: int
) -> None:
    cluster.add_topic("bills", on=names)
    for peer in cluster.brokers.values():
        peer.on(SEND, refuse(code))

    with pytest.raises((BrokerRefused, TopicNotFound)):
        await producer.send(Message("bills", b"x"))

    asked = [len(cluster[name].asked(SEND)) for name in names]
    assert sum(asked) == requests
    assert requests == 1 or all(asked), "every broker has its turn"


async def test_a_broker_that_lost_the_topic_is_passed_over(cluster: Cluster, producer: Producer) -> None:
    cluster["broker-a"].on(SEND, refuse(ResponseCode.TOPIC_NOT_EXIST))

    results = [await producer.send(MESSAGE) for _ in range(8)]

    assert {result.queue.broker_name for result in results} == {"broker-b"}


async def test_looking_for_the_route_is_part_of_the_time(cluster: Cluster) -> None:
    cluster.name_server.on(RequestCode.GET_ROUTEINFO_BY_TOPIC, say_nothing())

    # What is not said for the one send would take longer than a test may.
    config = ClientConfig([cluster.name_server.addr], timeout_ms=600_000)
    async with Session(config) as session, Producer(session, config=ProducerConfig(timeout_ms=600_000)) as producer:
        for queue in (None, MessageQueue("orders", "broker-a", 0)):
            with pytest.raises(TimedOut):
                await producer.send(MESSAGE, timeout_ms=200, queue=queue)


async def test_a_broker_that_lets_nobody_connect_leaves_time_for_another_one(cluster: Cluster) -> None:
    cluster.add_topic("bills", queues=1)
    hanging = cluster["broker-b"].addr

    async def accept(addr: str, _: Connection) -> None:
        if addr == hanging:
            await asyncio.Event().wait()

    config = ProducerConfig(fault_avoidance=FaultAvoidance.OFF)
    async with (
        Session(ClientConfig([cluster.name_server.addr]), accept=accept) as session,
        Producer(session, "checkout", config) as producer,
    ):
        # Whichever queue is chosen first, the next message begins with the other broker
        results = [await producer.send(Message("bills", b"hi"), timeout_ms=400) for _ in range(2)]
    assert {result.queue.broker_name for result in results} == {"broker-a"}
