"""Consumption by lease, with the real broker."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterable

import pytest

from broker_core.client.config import ClientConfig
from broker_core.client.consumer import late_brokers, pop
from broker_core.client.consumer.leases import LeasedMessage, LeaseReceipt
from broker_core.client.consumer.pop import LeaseConsumer, Received
from broker_core.client.errors import LeaseExpired, NoPermission, NotSupported, TopicNotFound, Unreachable
from broker_core.client.session import Session
from broker_core.protocol import record
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers.pop import (
    ChangeInvisibleTimeRequest,
    PollingInfoRequest,
    PollingInfoResponse,
    PopMessageRequest,
    PopMessageResponse,
)
from broker_core.protocol.sys_flag import COMPRESSED
from tests.broker_core.client.conftest import Live
from tests.support.scripted import Peer, refuse, say_nothing, scripted_cluster
from tests.support.wait import PATIENCE_SECONDS, eventually

FOR_EVER_MS = 600_000
"""Longer than a test may take, so that an unnecessary wait is noticed."""


def bodies(received: Received) -> list[str]:
    return sorted(leased.message.body.decode() for leased in received.messages)


async def drain(consumer: LeaseConsumer, topic: str, count: int) -> list[LeasedMessage]:
    """Receive until there are `count` messages."""
    messages: list[LeasedMessage] = []
    async with asyncio.timeout(PATIENCE_SECONDS):
        while len(messages) < count:
            messages += (await consumer.receive(topic, wait_ms=1_000)).messages
    return messages


async def waiting_at_the_broker(live: Live, topic: str, group: str) -> int:
    header = PollingInfoRequest(group, topic, -1)
    answer = await live.session.invoke(live.running.address, header)
    return answer.header(PollingInfoResponse).polling_num


def record_of(topic: str, body: bytes, sys_flag: int = 0) -> bytes:
    host = b"\x7f\0\0\x01\0\0\0\1"
    encoded, origin = record.encode_topic(topic), record.MessageOrigin(0, host, 0, host)
    return record.encode(encoded, body, b"", origin, record.size_of(encoded, body, b"", origin), 0, 0, 0, sys_flag)


def nothing(_request: Command, _connection: object) -> Command:
    return Command.response(ResponseCode.PULL_NOT_FOUND)


def lend_one(_request: Command, _connection: object) -> Command:
    return Command.response(ResponseCode.SUCCESS, PopMessageResponse(7, 600_000, 0, 0), record_of("orders", b"a"))


def given_back(brokers: Iterable[Peer]) -> list[ChangeInvisibleTimeRequest]:
    code = RequestCode.CHANGE_MESSAGE_INVISIBLETIME
    return [request.header(ChangeInvisibleTimeRequest) for broker in brokers for request in broker.asked(code)]


async def test_messages_of_all_queues_are_leased_once(live: Live) -> None:
    topic = await live.topic(queues=4)
    await live.send(topic, *map(str, range(10)))
    consumer = LeaseConsumer(live.session, live.group())

    messages = await drain(consumer, topic, 10)

    assert sorted(leased.message.body.decode() for leased in messages) == sorted(map(str, range(10)))
    assert {leased.delivery_count for leased in messages} == {1}
    assert not (await consumer.receive(topic)).messages


async def test_what_is_acknowledged_is_not_redelivered(live: Live) -> None:
    topic, group = await live.topic(), live.group()
    await live.send(topic, "a", "b")
    consumer = LeaseConsumer(live.session, group)

    for leased in await drain(consumer, topic, 2):
        await consumer.ack(leased.receipt)

    assert not (await consumer.receive(topic, wait_ms=1_500, lease_ms=1_000)).messages
    assert (await live.admin.groups.consume_stats(group, topic=topic)).lag == 0


async def test_what_is_not_acknowledged_is_redelivered(live: Live) -> None:
    topic = await live.topic()
    await live.send(topic, "a")
    consumer = LeaseConsumer(live.session, live.group())
    first = await consumer.receive(topic, lease_ms=1_000)

    again = await drain(consumer, topic, 1)

    assert bodies(first) == ["a"]
    assert again[0].message.body == b"a"
    assert again[0].message.topic == topic
    assert again[0].delivery_count == 2
    await consumer.ack(again[0].receipt)


async def test_a_lease_can_be_lengthened(live: Live) -> None:
    topic = await live.topic()
    await live.send(topic, "a")
    consumer = LeaseConsumer(live.session, live.group())
    (leased,) = (await consumer.receive(topic, lease_ms=1_000)).messages

    renewed = await consumer.extend(leased.receipt, 30_000)

    assert renewed.expires_at > leased.receipt.expires_at
    assert not (await consumer.receive(topic, wait_ms=2_000)).messages
    await consumer.ack(renewed)


async def test_a_message_can_be_given_back(live: Live) -> None:
    topic = await live.topic()
    await live.send(topic, "a")
    consumer = LeaseConsumer(live.session, live.group())
    (leased,) = (await consumer.receive(topic, lease_ms=60_000)).messages

    await consumer.extend(leased.receipt, 10)
    (again,) = await drain(consumer, topic, 1)

    assert again.message.body == b"a"


async def test_a_receipt_works_in_another_process(live: Live) -> None:
    topic, group = await live.topic(), live.group()
    await live.send(topic, "a")
    (leased,) = (await LeaseConsumer(live.session, group).receive(topic)).messages
    text = leased.receipt.to_text()

    async with live.running.session() as other:
        await LeaseConsumer(other, group).ack(LeaseReceipt.from_text(text))

    assert (await live.admin.groups.consume_stats(group, topic=topic)).lag == 0


async def test_a_second_acknowledgement_is_distinguished_from_the_first(live: Live) -> None:
    topic = await live.topic()
    await live.send(topic, "a")
    consumer = LeaseConsumer(live.session, live.group())
    (leased,) = (await consumer.receive(topic, wait_ms=1_000)).messages

    assert await consumer.ack(leased.receipt) is True
    assert await consumer.ack(leased.receipt) is False


async def test_an_acknowledgement_after_the_lease_is_refused(live: Live) -> None:
    topic = await live.topic()
    await live.send(topic, "a")
    consumer = LeaseConsumer(live.session, live.group())
    (late,) = (await consumer.receive(topic, wait_ms=1_000, lease_ms=1_000)).messages
    (again,) = await drain(consumer, topic, 1)

    with pytest.raises(LeaseExpired):
        await consumer.ack(late.receipt)

    assert await consumer.ack(again.receipt)


async def test_a_replaced_receipt_is_void(live: Live) -> None:
    topic = await live.topic()
    await live.send(topic, "a")
    consumer = LeaseConsumer(live.session, live.group())
    (leased,) = (await consumer.receive(topic)).messages
    renewed = await consumer.extend(leased.receipt, 30_000)

    with pytest.raises(LeaseExpired):
        await consumer.extend(leased.receipt, 30_000)

    await consumer.ack(renewed)


async def test_a_receive_waits_for_a_message(live: Live) -> None:
    topic, group = await live.topic(), live.group()
    consumer = LeaseConsumer(live.session, group)
    waiting = asyncio.ensure_future(consumer.receive(topic, wait_ms=FOR_EVER_MS))
    await eventually(lambda: waiting_at_the_broker(live, topic, group))

    await live.send(topic, "a")

    assert bodies(await waiting) == ["a"]


async def test_an_empty_receive_waits_as_long_as_requested(live: Live) -> None:
    topic = await live.topic()

    received = await LeaseConsumer(live.session, live.group()).receive(topic, wait_ms=300)

    assert received.messages == []
    assert received.waited_ms >= 300


async def test_only_wanted_tags_are_leased(live: Live) -> None:
    topic, group = await live.topic(queues=1), live.group()
    await live.send(topic, "a", tag="AaAa")
    await live.send(topic, "b", tag="BBBB")  # the same hash
    await live.send(topic, "c", tag="other")
    consumer = LeaseConsumer(live.session, group)

    received = await consumer.receive(topic, tag_expression="AaAa", wait_ms=2_000)

    assert bodies(received) == ["a"]
    await consumer.ack(received.messages[0].receipt)
    assert (await live.admin.groups.consume_stats(group, topic=topic)).lag == 0, (
        "no other consumer will settle the others"
    )


async def test_a_cancelled_receive_leaves_its_messages_to_others(live: Live) -> None:
    topic, group = await live.topic(), live.group()
    consumer = LeaseConsumer(live.session, group)
    waiting = asyncio.ensure_future(consumer.receive(topic, wait_ms=20_000, lease_ms=600_000))
    await eventually(lambda: waiting_at_the_broker(live, topic, group))

    waiting.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await waiting
    await live.send(topic, "a")

    (leased,) = await drain(consumer, topic, 1)
    assert (leased.message.body, leased.delivery_count) == (b"a", 1)


async def test_a_cancelled_receive_ends_at_the_broker(live: Live) -> None:
    topic, group = await live.topic(), live.group()
    consumer = LeaseConsumer(live.session, group)
    waiting = [asyncio.ensure_future(consumer.receive(topic, wait_ms=20_000)) for _ in range(20)]

    async def wait_for(number: int) -> None:
        async def waits() -> bool:
            return await waiting_at_the_broker(live, topic, group) == number

        await eventually(waits)

    await wait_for(20)

    for each in waiting[1:]:
        each.cancel()

    await wait_for(1)
    await live.send(topic, "a")
    assert [leased.delivery_count for leased in (await waiting[0]).messages] == [1]


async def test_a_message_given_back_counts_as_never_delivered(live: Live) -> None:
    topic, group = await live.topic(), live.group()
    await live.send(topic, "a")
    consumer = LeaseConsumer(live.session, group)

    for _ in range(20):
        (leased,) = await drain(consumer, topic, 1)
        assert leased.delivery_count == 1
        await consumer.give_back(leased.receipt)


async def test_messages_of_one_broker_are_given_back_when_another_refuses() -> None:
    asked: list[str] = []

    def first_lends_second_refuses(request: Command, _connection: object) -> Command:
        asked.append("pop")
        if len(asked) > 1:
            return Command.response(ResponseCode.NO_PERMISSION, remark="closed")
        return Command.response(ResponseCode.SUCCESS, PopMessageResponse(7, 600_000, 0, 0), record_of("orders", b"a"))

    async with scripted_cluster("broker-a", "broker-b") as cluster:
        cluster.add_topic("orders")
        for peer in cluster.brokers.values():
            peer.on(RequestCode.POP_MESSAGE, first_lends_second_refuses)
            peer.on(RequestCode.CHANGE_MESSAGE_INVISIBLETIME, refuse(ResponseCode.NO_MESSAGE))
        async with Session(ClientConfig([cluster.name_server.addr])) as session:
            with pytest.raises(NoPermission):
                await LeaseConsumer(session, "billing").receive("orders")
            await eventually(lambda: given_back(cluster.brokers.values()))

        (change,) = given_back(cluster.brokers.values())
        assert (change.offset, change.suspend) == (0, True)


async def test_an_unknown_topic_is_named(live: Live) -> None:
    with pytest.raises(TopicNotFound):
        await LeaseConsumer(live.session, live.group()).receive("nowhere")


async def test_a_broker_without_leases_says_so() -> None:
    async with scripted_cluster("broker-a") as cluster:
        cluster.add_topic("orders")
        async with Session(ClientConfig([cluster.name_server.addr])) as session:
            with pytest.raises(NotSupported):
                await LeaseConsumer(session, "billing").receive("orders")


async def test_a_broker_that_holds_no_request_is_not_asked_without_pause() -> None:
    async with scripted_cluster("broker-a") as cluster:
        cluster.add_topic("orders")
        cluster["broker-a"].on(RequestCode.POP_MESSAGE, refuse(ResponseCode.POLLING_FULL))
        async with Session(ClientConfig([cluster.name_server.addr])) as session:
            received = await LeaseConsumer(session, "billing").receive("orders", wait_ms=350)

        assert received.messages == []
        assert 2 <= len(cluster["broker-a"].asked(RequestCode.POP_MESSAGE)) <= 6


async def test_a_broker_that_hangs_does_not_hold_up_every_receive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(late_brokers, "LATE_SECONDS", 0.05)
    async with scripted_cluster("broker-a", "broker-b") as cluster:
        cluster.add_topic("orders")
        cluster["broker-a"].on(RequestCode.POP_MESSAGE, refuse(ResponseCode.PULL_NOT_FOUND))
        for code in (RequestCode.POP_MESSAGE, RequestCode.POLLING_INFO):
            cluster["broker-b"].on(code, say_nothing())
        async with Session(ClientConfig([cluster.name_server.addr])) as session:
            consumer = LeaseConsumer(session, "billing")
            for _ in range(3):
                received = await consumer.receive("orders")
                assert (received.messages, list(received.missing)) == ([], ["broker-b"])
                assert received.waited_ms < pop._ANSWER_SLACK_MS
            asked = {name: len(peer.asked(RequestCode.POP_MESSAGE)) for name, peer in cluster.brokers.items()}
            assert asked == {"broker-a": 3, "broker-b": 1}


async def test_a_broker_that_hung_is_asked_again_once_it_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(late_brokers, "LATE_SECONDS", 0.05)
    goes_on = asyncio.Event()

    async def hang(_request: Command, _connection: object) -> Command:
        await goes_on.wait()
        return Command.response(ResponseCode.SYSTEM_ERROR)

    async def lend_late(request: Command, connection: object) -> Command:
        await goes_on.wait()
        return lend_one(request, connection)

    async with scripted_cluster("broker-a", "broker-b") as cluster:
        cluster.add_topic("orders")
        cluster["broker-a"].on(RequestCode.POP_MESSAGE, nothing)
        cluster["broker-b"].on(RequestCode.POP_MESSAGE, lend_late)
        cluster["broker-b"].on(RequestCode.POLLING_INFO, hang)
        cluster["broker-b"].on(RequestCode.CHANGE_MESSAGE_INVISIBLETIME, refuse(ResponseCode.NO_MESSAGE))
        async with Session(ClientConfig([cluster.name_server.addr])) as session:
            consumer = LeaseConsumer(session, "billing")
            assert (await consumer.receive("orders")).messages == []
            waiting = asyncio.ensure_future(consumer.receive("orders", wait_ms=FOR_EVER_MS))
            goes_on.set()

            # Then a receive that waits gets what it has, and what the first one left there is given back
            assert bodies(await waiting) == ["a"]
            await eventually(lambda: given_back(cluster.brokers.values()))


async def test_the_last_broker_that_may_answer_has_time_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(late_brokers, "LATE_SECONDS", 0.05)

    async def lend_slowly(request: Command, connection: object) -> Command:
        await asyncio.sleep(0.2)
        return lend_one(request, connection)

    async with scripted_cluster("broker-a", "broker-b") as cluster:
        cluster.add_topic("orders")
        for peer in cluster.brokers.values():
            peer.on(RequestCode.POP_MESSAGE, lend_slowly)
            peer.on(RequestCode.CHANGE_MESSAGE_INVISIBLETIME, refuse(ResponseCode.NO_MESSAGE))
        async with Session(ClientConfig([cluster.name_server.addr])) as session:
            assert bodies(await LeaseConsumer(session, "billing").receive("orders")) == ["a"]


async def test_every_broker_has_its_turn_and_one_that_is_gone_does_not_matter() -> None:
    async with scripted_cluster("broker-a", "broker-b") as cluster:
        cluster.add_topic("orders")
        for peer in cluster.brokers.values():
            peer.on(RequestCode.POP_MESSAGE, nothing)
        async with Session(ClientConfig([cluster.name_server.addr])) as session:
            consumer = LeaseConsumer(session, "billing")
            await consumer.receive("orders", max_messages=99)
            assert all(len(peer.asked(RequestCode.POP_MESSAGE)) == 1 for peer in cluster.brokers.values())
            header = cluster["broker-a"].asked(RequestCode.POP_MESSAGE)[0].header(PopMessageRequest)
            assert (header.queue_id, header.max_msg_nums, header.poll_time) == (-1, 32, 0)

            await cluster["broker-a"].stop()
            assert (await consumer.receive("orders")).messages == []
            await cluster["broker-b"].stop()
            with pytest.raises(Unreachable):
                await consumer.receive("orders")


async def test_receives_beside_each_other_ask_every_broker() -> None:
    asked, others_done = asyncio.Event(), asyncio.Event()

    async def nothing_later(_request: Command, _connection: object) -> Command:
        asked.set()
        await others_done.wait()
        return Command.response(ResponseCode.PULL_NOT_FOUND)

    async with scripted_cluster("broker-a", "broker-b") as cluster:
        cluster.add_topic("orders")
        cluster["broker-a"].on(RequestCode.POP_MESSAGE, lend_one)
        cluster["broker-b"].on(RequestCode.POP_MESSAGE, nothing_later)
        async with Session(ClientConfig([cluster.name_server.addr])) as session:
            consumer = LeaseConsumer(session, "billing")
            first = asyncio.ensure_future(consumer.receive("orders", max_messages=1))
            await asked.wait()
            second = await consumer.receive("orders", max_messages=1)
            others_done.set()

            assert bodies(second) == ["a"]
            assert bodies(await first) == ["a"]


async def test_a_refusal_is_raised() -> None:
    async with scripted_cluster("broker-a") as cluster:
        cluster.add_topic("orders")
        cluster["broker-a"].on(RequestCode.POP_MESSAGE, refuse(ResponseCode.NO_PERMISSION, "closed"))
        async with Session(ClientConfig([cluster.name_server.addr])) as session:
            with pytest.raises(NoPermission, match="closed"):
                await LeaseConsumer(session, "billing").receive("orders")


async def test_intact_messages_arrive_and_a_damaged_one_ends_in_the_dead_letters(
    live: Live, caplog: pytest.LogCaptureFixture
) -> None:
    topic, group = await live.topic(queues=1), live.group()
    await live.admin.groups.create(group, retry_max_times=0)
    await live.send_damaged(topic)
    await live.send(topic, "a")
    await live.send_damaged(topic)
    await live.send(topic, "b")
    consumer = LeaseConsumer(live.session, group)

    first = await consumer.receive(topic, max_messages=1, lease_ms=FOR_EVER_MS)
    second = await consumer.receive(topic, lease_ms=FOR_EVER_MS)

    assert (bodies(first), bodies(second)) == (["a"], ["b"])
    for offset in (0, 2):
        assert f"topic={topic} queue=broker-a/0 offset={offset}: the message is damaged" in caplog.text

    async def are_dead() -> bool:
        return not (await consumer.receive(topic)).messages and await live.holds(f"%DLQ%{group}", 2)

    await eventually(are_dead)


@pytest.mark.parametrize("wait_ms", [0, 1_200])
async def test_damaged_messages_without_end_do_not_lengthen_the_wait(
    wait_ms: int, caplog: pytest.LogCaptureFixture
) -> None:
    damaged = record_of("orders", b"does not unpack", COMPRESSED)

    async def lend_it_again(_request: Command, _connection: object) -> Command:
        return Command.response(ResponseCode.SUCCESS, PopMessageResponse(7, 600_000, 0, 0), damaged)

    async with scripted_cluster("broker-a") as cluster:
        cluster.add_topic("orders")
        cluster["broker-a"].on(RequestCode.POP_MESSAGE, lend_it_again)
        cluster["broker-a"].on(RequestCode.CHANGE_MESSAGE_INVISIBLETIME, refuse(ResponseCode.NO_MESSAGE))
        async with Session(ClientConfig([cluster.name_server.addr])) as session:
            received = await LeaseConsumer(session, "billing").receive("orders", wait_ms=wait_ms)
        asked = len(cluster["broker-a"].asked(RequestCode.POP_MESSAGE))
    assert (received.messages, received.waited_ms >= wait_ms, asked > 1) == ([], True, True)
    assert caplog.text.count("the message is damaged and not delivered") == 1


async def test_records_are_leased_as_they_are_and_acknowledged_by_portion(live: Live) -> None:
    topic, group = await live.topic(queues=2), live.group()
    await live.send(topic, *map(str, range(6)))
    consumer = LeaseConsumer(live.session, group)

    records = await consumer.receive_records(topic, max_messages=32, lease_ms=FOR_EVER_MS)

    assert records is not None
    portions = records.portions()
    messages = await consumer.decoded(records)
    assert sorted(each.message.body for each in messages) == [b"%d" % number for number in range(6)]
    leased = [portion.receipt(offset) for portion, offsets in portions for offset in offsets]
    assert leased == [each.receipt for each in messages]
    assert [each.portion for each in leased] == [portion for portion, offsets in portions for _ in offsets]
    (portion, offsets), *others = portions
    first = await consumer.ack_portions([(portion, offsets[:1]), (portion._replace(pop_time=7), offsets[1:])])
    assert first[0] is True
    assert [str(each) for each in first[1:]] == [
        f"topic {topic!r} queue {portion.queue_id} offset {offset}: it ended, or was extended" for offset in offsets[1:]
    ]
    assert len(first) == len(offsets) > 1
    assert await consumer.ack_portions([(portion, offsets), *others]) == [False, *[True] * 5]
    again = await consumer.receive_records(topic, max_messages=32, lease_ms=FOR_EVER_MS)
    assert again is not None
    assert again.messages() == []


async def test_records_of_several_brokers_are_left_to_receive() -> None:
    async with scripted_cluster("broker-a", "broker-b") as cluster:
        cluster.add_topic("orders")
        async with Session(ClientConfig([cluster.name_server.addr])) as session:
            consumer = LeaseConsumer(session, "billing")
            assert await consumer.receive_records("orders", max_messages=32, lease_ms=1_000) is None


async def test_records_that_arrive_after_a_cancellation_are_given_back() -> None:
    asked, cancelled = asyncio.Event(), asyncio.Event()

    async def answer_late(_request: Command, _connection: object) -> Command:
        asked.set()
        await cancelled.wait()
        return Command.response(ResponseCode.SUCCESS, PopMessageResponse(7, 600_000, 0, 0), record_of("orders", b"a"))

    async with scripted_cluster("broker-a") as cluster:
        cluster.add_topic("orders")
        cluster["broker-a"].on(RequestCode.POP_MESSAGE, answer_late)
        cluster["broker-a"].on(RequestCode.CHANGE_MESSAGE_INVISIBLETIME, refuse(ResponseCode.NO_MESSAGE))
        async with Session(ClientConfig([cluster.name_server.addr])) as session:
            receiving = LeaseConsumer(session, "billing").receive_records("orders", max_messages=1, lease_ms=1_000)
            waiting = asyncio.ensure_future(receiving)
            await asked.wait()
            waiting.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await waiting
            cancelled.set()
            await eventually(lambda: given_back(cluster.brokers.values()))


async def test_an_empty_answer_names_the_brokers_that_did_not_tell() -> None:
    async with scripted_cluster("broker-a", "broker-b") as cluster:
        cluster.add_topic("orders")
        for peer in cluster.brokers.values():
            peer.on(RequestCode.POP_MESSAGE, nothing)
        async with Session(ClientConfig([cluster.name_server.addr])) as session:
            consumer = LeaseConsumer(session, "billing")
            assert (await consumer.receive("orders")).missing == {}

            await cluster["broker-b"].stop()
            received = await consumer.receive("orders")

    assert list(received.missing) == ["broker-b"]
    assert isinstance(received.missing["broker-b"], Unreachable)


async def test_a_broker_that_is_in_the_route_no_longer_is_named_and_asked_soon_after_it_is_back() -> None:
    async with scripted_cluster("broker-a", "broker-b") as cluster:
        cluster.add_topic("orders")
        for peer in cluster.brokers.values():
            peer.on(RequestCode.POP_MESSAGE, nothing)
        async with Session(ClientConfig([cluster.name_server.addr])) as session:
            consumer = LeaseConsumer(session, "billing")
            await consumer.receive("orders")
            cluster.add_topic("orders", on=("broker-a",))
            away = cluster.brokers.pop("broker-b")
            await session.routes.refresh("orders")

            # Then also a group that never saw it is told, and no answer passes for all there is
            for each in (consumer, LeaseConsumer(session, "shipping")):
                assert (await each.receive("orders", wait_ms=1)).missing == {"broker-b": None}
                assert await each.receive_records("orders", max_messages=1, lease_ms=1_000) is None

            # When it is back, also one that waits asks it
            away.on(RequestCode.POP_MESSAGE, lend_one)
            waiting = asyncio.ensure_future(consumer.receive("orders", wait_ms=FOR_EVER_MS))
            cluster.brokers["broker-b"] = away
            cluster.add_topic("orders")
            assert bodies(await waiting) == ["a"]
