"""Requirements of `gateway.data.stream`, `stream_produce` and `stream_consume`, over real WebSockets."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

from broker_core.client.consumer.pop import Received
from broker_core.client.sending import Sending, SendResult
from gateway import sockets
from gateway.data import settlement, stream
from gateway.data.leases import Wanted
from gateway.data.settlement import SettleOutcome
from gateway.sockets import SUBPROTOCOL
from tests.gateway.data.conftest import Api, Door
from tests.gateway.large_frames import end_of_socket
from tests.support.wait import eventually


class Talk:
    """A socket for programs: sends and receives frames."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection

    async def say(self, **frame: Any) -> None:
        await self.connection.send(json.dumps(frame))

    async def hear(self) -> dict[str, Any]:
        frame: dict[str, Any] = json.loads(await asyncio.wait_for(self.connection.recv(), 20))
        return frame

    async def hear_of(self, kind: str, count: int = 1) -> list[dict[str, Any]]:
        """Return the next frames, which must be of one type."""
        frames = [await self.hear() for _ in range(count)]
        assert {frame["type"] for frame in frames} == {kind}, frames
        return frames

    async def closed_with(self) -> int | None:
        """Wait for the end; return its code."""
        await asyncio.wait_for(self.connection.wait_closed(), 20)
        return self.connection.close_code


@asynccontextmanager
async def talk(door: Door, name: str, token: str | None = "admin") -> AsyncIterator[Talk]:
    headers = {} if token is None else door.authorization(token)
    async with connect(
        f"ws://{door.next()}/ws/v1/{name}",
        additional_headers=headers,
        subprotocols=[Subprotocol(SUBPROTOCOL)],
        max_size=None,
        proxy=None,
    ) as connection:
        yield Talk(connection)


@asynccontextmanager
async def open_talk(door: Door, name: str, token: str = "admin") -> AsyncIterator[Talk]:
    """A socket that has sent its hello frame."""
    async with talk(door, name, token) as socket:
        (hello,) = await socket.hear_of("hello")
        assert {"session", "server_time", "heartbeat_ms", "limits"} < set(hello)
        own = {"in_flight": 256} if name == "produce" else {"credit": 10_000}
        assert own.items() < hello["limits"].items()
        assert socket.connection.subprotocol == SUBPROTOCOL
        yield socket


def text(data: str) -> dict[str, str]:
    return {"encoding": "text", "data": data}


# --- the socket itself ---


async def test_a_caller_without_rights_is_told_by_the_close_code(door: Door) -> None:
    async with talk(door, "produce", token=None) as socket:
        assert (await socket.hear())["problem"]["code"] == "NOT_AUTHENTICATED"
        assert await socket.closed_with() == sockets.NOT_AUTHENTICATED


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        ("", "The frame is empty."),
        ("{", "The frame is not JSON: it ends too early."),
        ("[]", "Must be an object, not a list."),
        ('{"type":5}', "Must be a string, not a whole number."),
        ('{"type":"dance"}', "Unknown frame type 'dance'"),
        ('{"no":"type"}', "The field 'type' is required."),
        ('{"type":"\\ud800"}', "half of a surrogate pair"),
        (b'{"type":"\xff"}', "The frame is not UTF-8"),
    ],
)
@pytest.mark.parametrize("name", ["produce", "consume"])
async def test_what_is_no_frame_ends_the_socket(door: Door, name: str, frame: str | bytes, words: str) -> None:
    async with open_talk(door, name) as socket:
        await socket.connection.send(frame)
        (error,) = await socket.hear_of("error")
        assert error["problem"]["code"] == "MALFORMED"
        assert words in error["problem"]["detail"]
        assert await socket.closed_with() == sockets.BAD_FRAME


async def test_a_frame_with_a_wrong_field_is_answered_and_the_socket_goes_on(api: Api, door: Door) -> None:
    topic = await api.topic()
    async with open_talk(door, "produce") as socket:
        await socket.say(type="send", context="1", topic=topic, body=text("a"), delay_ms="soon")
        (error,) = await socket.hear_of("error")
        assert (error["context"], error["problem"]["code"]) == ("1", "INVALID")
        await socket.say(type="send", context="2", topic=topic, body=text("a"))
        assert (await socket.hear_of("sent"))[0]["context"] == "2"


@pytest.mark.parametrize("size", [8 * 1024 * 1024 + 1, 20_000_000])
async def test_a_frame_that_is_too_big_ends_the_socket(door: Door, size: int) -> None:
    url, admin = f"ws://{door.next()}/ws/v1/produce", door.authorization("admin")
    code, reason = await asyncio.to_thread(end_of_socket, url, admin, "x" * size)
    assert code == sockets.TOO_BIG
    assert reason == (
        sockets.UNREADABLE_REASON if size > 16 * 1024 * 1024 else "A frame can have at most 8,388,608 bytes."
    )


@pytest.mark.in_process
async def test_an_idle_socket_is_closed_and_says_why(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "IDLE_SECONDS", 0.2)
    async with open_talk(door, "produce") as socket:
        assert await socket.closed_with() == sockets.IDLE


@pytest.mark.in_process
async def test_sockets_are_told_when_the_gateway_drains(api: Api, door: Door) -> None:
    async with open_talk(door, "produce") as produce, open_talk(door, "consume") as consume:
        await eventually(lambda: api.parts.metrics.sockets == 2)
        api.parts.draining.set()
        assert await produce.closed_with() == sockets.DRAINING
        assert await consume.closed_with() == sockets.DRAINING
    await eventually(lambda: api.parts.metrics.sockets == 0)


# --- produce ---


async def test_each_message_is_answered_with_its_context(api: Api, door: Door) -> None:
    topic, group = await api.topic(), api.group()
    async with open_talk(door, "produce") as socket:
        for number in range(50):
            await socket.say(type="send", context=str(number), topic=topic, keys=[f"k{number}"], body=text(str(number)))
        answers = await socket.hear_of("sent", 50)
    assert {answer["context"] for answer in answers} == set(map(str, range(50)))
    assert {answer["offset"] for answer in answers} == set(range(50))
    (first, *_) = await api.receive(group, topic, max_messages=1)
    assert first["message_id"] in {answer["message_id"] for answer in answers}


async def test_messages_of_one_ordering_key_are_stored_in_their_order(api: Api, door: Door) -> None:
    topic = await api.topic(queues=4)
    async with open_talk(door, "produce") as socket:
        for number in range(30):
            await socket.say(type="send", context=str(number), topic=topic, ordering_key="c9", body=text("x"))
        answers = await socket.hear_of("sent", 30)
    assert [answer["context"] for answer in answers] == list(map(str, range(30)))
    assert [answer["offset"] for answer in answers] == list(range(30))
    assert len({answer["queue_id"] for answer in answers}) == 1


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        ({"topic": "nowhere", "body": text("x")}, "TOPIC_NOT_FOUND"),
        ({"topic": "a.b", "body": text("x")}, "TOPIC_NOT_FOUND"),
        ({"topic": "orders", "cluster": "moon", "body": text("x")}, "CLUSTER_NOT_FOUND"),
        ({"topic": "orders"}, "INVALID"),
        ({"topic": "orders", "body": text("x"), "delay_ms": 400_000_000}, "DELAY_NOT_SERVED"),
        ({"topic": "orders", "body": text("x" * (4 * 1024 * 1024 + 1))}, "MESSAGE_TOO_LARGE"),
    ],
)
async def test_a_refused_message_is_an_error_frame_with_its_context(
    door: Door, frame: dict[str, Any], code: str
) -> None:
    async with open_talk(door, "produce") as socket:
        await socket.say(type="send", context="c", **frame)
        (error,) = await socket.hear_of("error")
        assert (error["context"], error["problem"]["code"]) == ("c", code)


@pytest.mark.parametrize("more", [{}, {"idempotency_key": "k"}])
async def test_a_delay_that_is_too_long_is_refused_at_its_place(api: Api, door: Door, more: dict[str, str]) -> None:
    topic = await api.topic()
    async with open_talk(door, "produce") as socket:
        await socket.say(type="send", topic=topic, body=text("x"), delay_ms=259_200_001, **more)
        (error,) = await socket.hear_of("error")
    assert [(each["pointer"], each["code"]) for each in error["problem"]["errors"]] == [
        ("#/delay_ms", "DELAY_NOT_SERVED")
    ]


@pytest.mark.in_process
@pytest.mark.parametrize("more", [{}, {"idempotency_key": "k"}], ids=["without a key", "with a key"])
async def test_a_frame_that_fails_in_a_way_nobody_foresaw_is_answered_and_logged_once(
    api: Api, door: Door, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, more: dict[str, str]
) -> None:
    topic = await api.topic()

    async def broken(*_: object, **__: object) -> SendResult:
        raise ZeroDivisionError

    async with open_talk(door, "produce") as socket:
        frame = {"type": "send", "topic": topic, "body": text("a")}
        with monkeypatch.context() as patch, caplog.at_level(logging.ERROR):
            patch.setattr(Sending, "attempt", broken)
            await socket.say(**frame, context="1", **more)
            error = await socket.hear()
            gc.collect()
            assert [record.exc_info is not None for record in caplog.records] == [True]
        assert (error["type"], error["context"], error["status"]) == ("error", "1", "unknown")
        assert (error["problem"]["code"], error["problem"]["retryable"]) == ("INTERNAL", True)

        await socket.say(**frame, context="2")
        assert (await socket.hear())["type"] == "sent"


async def test_rights_hold_for_each_message_of_a_socket(api: Api, door: Door) -> None:
    topic = await api.topic()
    async with open_talk(door, "produce", "narrow") as socket:
        await socket.say(type="send", topic="payments", body=text("x"))
        assert (await socket.hear())["problem"]["code"] == "FORBIDDEN"
        await socket.say(type="send", topic=topic, body=text("x"))
        assert (await socket.hear())["type"] == "sent"


@pytest.mark.sample
async def test_a_frame_with_a_key_is_done_once_on_any_socket_and_over_http(api: Api, door: Door) -> None:
    topic = await api.topic()
    message = {"keys": ["A17"], "body": {"encoding": "json", "data": {"amount": 1.10}}}
    frame = {"type": "send", "topic": topic, "idempotency_key": "order-A17", **message}
    async with open_talk(door, "produce") as socket:
        await socket.say(context="1", **frame)
        (first,) = await socket.hear_of("sent")
    async with open_talk(door, "produce") as another:
        await another.say(context="2", **frame)
        (again,) = await another.hear_of("sent")
        await another.say(context="3", **{**frame, "tag": "changed"})
        (mismatch,) = await another.hear_of("error")
        await another.say(**{**frame, "idempotency_key": ""})
        (empty,) = await another.hear_of("error")
    assert again == {**first, "context": "2", "replayed": True}
    assert (mismatch["context"], mismatch["problem"]["code"]) == ("3", "IDEMPOTENCY_MISMATCH")
    assert empty["problem"]["detail"] == "The key has 0 characters; it must have 1 to 255."
    over_http = await api.post(f"/topics/{topic}/messages", message, headers={"Idempotency-Key": "order-A17"})
    assert over_http.headers["idempotency-replayed"] == "true", "it holds for both, whatever their blanks"
    assert over_http.json()["results"][0]["message_id"] == first["message_id"]
    stats = await (await api.parts.connections.admin("local")).topics.stats(topic)
    assert stats.messages == 1


async def test_a_refusal_of_a_frame_with_a_key_is_an_error_frame_each_time(api: Api, door: Door) -> None:
    frame = {"type": "send", "context": "c", "topic": f"{api.group()}-nowhere", "body": text("x")}
    async with open_talk(door, "produce") as socket:
        for replayed in (None, True):
            await socket.say(**frame, idempotency_key="k")
            (error,) = await socket.hear_of("error")
            assert (error["context"], error["problem"]["code"]) == ("c", "TOPIC_NOT_FOUND")
            assert error.get("replayed") is replayed


# --- consume ---


async def test_messages_come_as_far_as_the_credit_goes(api: Api, door: Door) -> None:
    topic, group = await api.topic(), api.group()
    await api.produce(topic, *"abcde")
    async with open_talk(door, "consume") as socket:
        await socket.say(type="subscribe", group=group, topic=topic, credit=2, lease_ms=600_000)
        messages = await socket.hear_of("message", 2)
        assert [message["body"]["data"] for message in messages] == ["a", "b"]
        await socket.say(type="credit", n=1)
        assert (await socket.hear_of("message"))[0]["body"]["data"] == "c"
        await socket.say(type="ack", context="7", receipts=[message["receipt"] for message in messages])
        (settled,) = await socket.hear_of("settled")
        assert settled["context"] == "7"
        assert settled["receipts"] == [message["receipt"] for message in messages]
        assert {result["status"] for result in settled["results"]} == {"acked"}
    assert [message["body"]["data"] for message in await api.receive(group, topic)] == ["d", "e"]


async def test_a_subscription_by_sql_brings_what_it_selects(api: Api, door: Door) -> None:
    topic, group = await api.topic(), api.group()
    async with open_talk(door, "consume") as socket:
        frame = {"type": "subscribe", "group": group, "topic": topic, "credit": 10, "context": "s"}
        for wanted, words in ({"expression": "amount > 'x'"}, "compares numbers"), ({}, "An expression is required"):
            await socket.say(**frame, filter={"type": "sql", **wanted})
            (refused,) = await socket.hear_of("error")
            assert (refused["context"], refused["problem"]["code"]) == ("s", "INVALID")
            (fault,) = refused["problem"]["errors"]
            assert fault["pointer"] == "#/filter/expression"
            assert words in fault["detail"]
        # A refused subscription is none: the socket takes another one.
        await socket.say(**frame, filter={"type": "sql", "expression": "amount > 100"})
        await eventually(lambda: api.waiting(group, topic))
        for name, amount in (("small", "50"), ("word", "many"), ("large", "250")):
            await api.produce(topic, name, properties={"amount": amount})
        await api.produce(topic, "none")
        await api.produce(topic, "larger", properties={"amount": "300"})
        messages = await socket.hear_of("message", 2)
        assert [message["body"]["data"] for message in messages] == ["large", "larger"]
        await socket.say(type="ack", receipts=[message["receipt"] for message in messages])
        (settled,) = await socket.hear_of("settled")
        assert {result["status"] for result in settled["results"]} == {"acked"}
    assert await api.receive(group, topic) == [], "what the filter leaves out is done for the group"


async def test_a_message_that_comes_later_is_pushed(api: Api, door: Door) -> None:
    topic, group = await api.topic(), api.group()
    async with open_talk(door, "consume") as socket:
        await socket.say(type="subscribe", group=group, topic=topic, credit=10)
        await eventually(lambda: api.waiting(group, topic))
        await api.produce(topic, "late", tag="created")
        (message,) = await socket.hear_of("message")
        assert (message["body"]["data"], message["tag"]) == ("late", "created")


@pytest.mark.sample
@pytest.mark.in_process
async def test_a_consume_socket_goes_on_after_an_error_that_nobody_foresaw(
    api: Api, door: Door, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    topic, ask = await api.topic(), Wanted.ask
    await api.produce(topic, "a")
    failures = [ZeroDivisionError()]

    async def fails_once(*given: Any, **named: Any) -> Received:
        if failures:
            raise failures.pop()
        return await ask(*given, **named)

    async def broken(*_: object) -> list[SettleOutcome]:
        raise ZeroDivisionError

    monkeypatch.setattr(Wanted, "ask", fails_once)
    async with open_talk(door, "consume") as socket:
        with caplog.at_level(logging.ERROR):
            await socket.say(type="subscribe", group=api.group(), topic=topic, credit=1, context="s")
            (failed,) = await socket.hear_of("error")
            (message,) = await socket.hear_of("message")
            ack = {"type": "ack", "receipts": [message["receipt"]]}
            with monkeypatch.context() as patch:
                patch.setattr(settlement, "ack", broken)
                await socket.say(**ack, context="a")
                (unsettled,) = await socket.hear_of("error")
            await socket.say(**ack)
            await socket.hear_of("settled")
    assert [each["context"] for each in (failed, unsettled)] == ["s", "a"]
    assert {each["problem"]["code"] for each in (failed, unsettled)} == {"INTERNAL"}
    assert len(caplog.records) == 2


async def test_what_was_received_on_a_socket_is_settled_over_http(api: Api, door: Door) -> None:
    topic, group = await api.topic(), api.group()
    await api.produce(topic, "a")
    async with open_talk(door, "consume") as socket:
        await socket.say(type="subscribe", group=group, topic=topic, credit=1)
        (message,) = await socket.hear_of("message")
    assert (await api.settle("ack", group, topic, message["receipt"])).json()["settled"] == 1


async def test_failed_and_extended_messages_are_settled_on_the_socket(api: Api, door: Door) -> None:
    topic, group = await api.topic(), api.group()
    await api.produce(topic, "a")
    async with open_talk(door, "consume") as socket:
        await socket.say(type="subscribe", group=group, topic=topic, credit=1, lease_ms=600_000)
        (message,) = await socket.hear_of("message")
        await socket.say(type="extend", receipts=[message["receipt"]], lease_ms=600_000)
        (settled,) = await socket.hear_of("settled")
        renewed = settled["results"][0]["new_receipt"]
        await socket.say(type="nack", receipts=[renewed])
        assert (await socket.hear_of("settled"))[0]["receipts"] == [renewed]
        await socket.say(type="credit", n=1)
        assert (await socket.hear_of("message"))[0]["delivery_count"] == 2


async def test_a_lease_that_ends_unsettled_is_told_and_the_message_comes_again(api: Api, door: Door) -> None:
    topic, group = await api.topic(), api.group()
    await api.produce(topic, "a")
    async with open_talk(door, "consume") as socket:
        await socket.say(type="subscribe", group=group, topic=topic, credit=1, lease_ms=1000)
        (message,) = await socket.hear_of("message")
        (expired,) = await socket.hear_of("lease_expired")
        assert expired["receipts"] == [message["receipt"]]
        await socket.say(type="credit", n=1)
        (again,) = await socket.hear_of("message")
        assert again["delivery_count"] == 2


@pytest.mark.in_process
async def test_leases_that_were_settled_over_http_are_not_told_as_expired(api: Api, door: Door) -> None:
    topic, group = await api.topic(), api.group()
    await api.produce(topic, "acked", "nacked", "extended", "kept")
    async with open_talk(door, "consume") as socket:
        await socket.say(type="subscribe", group=group, topic=topic, credit=4, lease_ms=2_000)
        messages = {message["body"]["data"]: message["receipt"] for message in await socket.hear_of("message", 4)}
        await api.settle("ack", group, topic, messages["acked"])
        await api.settle("nack", group, topic, messages["nacked"], delay_ms=60_000)
        await api.settle("extend", group, topic, messages["extended"], lease_ms=60_000)

        (expired,) = await socket.hear_of("lease_expired")

        assert expired["receipts"] == [messages["kept"]]
        assert not api.parts.watched


@pytest.mark.in_process
async def test_a_socket_that_left_watches_nothing(api: Api, door: Door) -> None:
    topic, group = await api.topic(), api.group()
    await api.produce(topic, "a")
    async with open_talk(door, "consume") as socket:
        await socket.say(type="subscribe", group=group, topic=topic, credit=1)
        await socket.hear_of("message")
        assert len(api.parts.watched) == 1

    await eventually(lambda: not api.parts.watched)


async def test_a_socket_that_closes_takes_no_message_that_it_was_not_sent(api: Api, door: Door) -> None:
    topic, group = await api.topic(), api.group()
    async with open_talk(door, "consume") as socket:
        await socket.say(type="subscribe", group=group, topic=topic, credit=10, lease_ms=600_000)
        await eventually(lambda: api.waiting(group, topic))
    await api.produce(topic, "a")

    async def got() -> bool:
        return len(await api.receive(group, topic, wait_ms=1000)) == 1

    await eventually(got)


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        ({"type": "subscribe", "group": "a.b", "topic": "t"}, "GROUP_NOT_FOUND"),
        ({"type": "subscribe", "group": "g", "topic": "a.b"}, "TOPIC_NOT_FOUND"),
        ({"type": "subscribe", "group": "g", "topic": "t", "lease_ms": 1}, "INVALID"),
        ({"type": "subscribe", "group": "g", "topic": "t", "cluster": "moon"}, "CLUSTER_NOT_FOUND"),
        ({"type": "credit", "n": 0}, "INVALID"),
        ({"type": "credit", "n": 5}, "CONFLICT"),
        ({"type": "ack", "receipts": ["x"]}, "CONFLICT"),
        ({"type": "nack", "receipts": []}, "INVALID"),
    ],
)
async def test_a_refused_frame_gets_a_problem(door: Door, frame: dict[str, Any], code: str) -> None:
    async with open_talk(door, "consume") as socket:
        await socket.say(**frame)
        assert (await socket.hear_of("error"))[0]["problem"]["code"] == code


async def test_a_second_subscription_on_one_socket_is_refused(api: Api, door: Door) -> None:
    topic = await api.topic()
    async with open_talk(door, "consume") as socket:
        await socket.say(type="subscribe", group="g", topic=topic)
        await socket.say(type="subscribe", group="g", topic=topic)
        assert (await socket.hear_of("error"))[0]["problem"]["code"] == "CONFLICT"


async def test_a_subscription_to_a_topic_that_does_not_exist_ends_the_socket(door: Door) -> None:
    async with open_talk(door, "consume") as socket:
        await socket.say(type="subscribe", group="g", topic="nowhere", credit=1)
        assert (await socket.hear_of("error"))[0]["problem"]["code"] == "TOPIC_NOT_FOUND"
        assert await socket.closed_with() == sockets.NOT_FOUND


async def test_sockets_that_left_while_they_waited_take_nothing_and_count_as_no_delivery(api: Api, door: Door) -> None:
    topic, group = await api.topic(), api.group()
    for _ in range(20):
        async with open_talk(door, "consume") as socket:
            await socket.say(type="subscribe", group=group, topic=topic, credit=1)
    await api.produce(topic, "a")

    (message,) = await api.receive(group, topic, wait_ms=10_000)
    assert message["delivery_count"] == 1
