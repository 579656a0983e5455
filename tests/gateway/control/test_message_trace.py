"""Requirements of `gateway.control.message_trace`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from broker_core.client.blocking import BlockingSession
from broker_core.client.config import ProducerConfig
from broker_core.protocol.message import Message
from broker_core.protocol.traces import (
    DeliveredTrace,
    EndedTrace,
    HandledTrace,
    KnownTrace,
    RecalledTrace,
    SentTrace,
    encode_trace,
    keys_of,
)
from tests.gateway.control.conftest import Control
from tests.support.wait import wait_until

pytestmark = pytest.mark.usefixtures("documented")

CLIENT = "127.0.0.1"


@pytest.fixture
def native(control: Control) -> Iterator[BlockingSession]:
    """What a program with RocketMQ's protocol does."""
    with BlockingSession(control.broker.config) as session:
        yield session


def shown(control: Control, stored: str, topic: str, traces: str, **more: Any) -> Any:
    return control.get(f"/messages/{stored}/trace", topic=topic, trace_topic=traces, **more)


def write(session: BlockingSession, traces: str, *records: KnownTrace, more: str = "") -> None:
    """Write one trace message, as a Java client would."""
    keys = " ".join(dict.fromkeys(key for record in records for key in keys_of(record)))
    body = "".join(map(encode_trace, records)) + more
    sent = session.run(session.producer().send(Message(traces, body.encode(), {"KEYS": keys})))
    wait_until(lambda: session.run(session.admin.messages.search(traces, sent.message_id)).messages)


@pytest.mark.sample
def test_a_traced_send_is_told(control: Control, native: BlockingSession) -> None:
    topic, traces = control.topic(), control.topic("traces")
    config = ProducerConfig(trace=True, trace_topic=traces)
    producer = native.producer(control.name("shop"), config)
    sent = native.run(producer.send(Message.create(topic, b"hello", keys=["A17"], tag="created")))
    native.run(producer.close())
    wait_until(lambda: native.run(native.admin.messages.search(traces, sent.message_id)).messages)

    answer = shown(control, sent.message_id, topic, traces)

    assert (answer["state"], answer["complete"], answer["missing"], answer["unread"]) == ("traced", True, [], 0)
    (send,) = answer["sent"]
    assert (send["group"], send["client"], send["type"], send["success"]) == (producer.group, CLIENT, "normal", True)
    assert (send["keys"], send["tag"], send["body_bytes"]) == (["A17"], "created", 5)
    assert (answer["consumed"], answer["ended"], answer["recalled"]) == ([], [], [])


def test_calls_are_joined_by_their_request(control: Control, native: BlockingSession) -> None:
    topic, traces, group = control.topic(), control.topic("traces"), control.group()
    [stored] = control.produce(topic, "a")
    of = stored["message_id"]
    write(
        native, traces,
        HandledTrace("R2", of, 7, True, None, 0, 2_020, group),
        DeliveredTrace(2_000, None, group, "R2", of, 1, None),
        DeliveredTrace(3_000, None, group, "R3", of, 2, None),
        DeliveredTrace(9_000, None, group, "R9", "another message", 0, None),
    )  # fmt: skip
    first = DeliveredTrace(1_000, None, group, "R1", of, 0, None), HandledTrace("R1", of, 5, False, None, 4, None, None)
    for _ in range(2):  # a trace message whose answer was lost is sent again
        write(native, traces, *first, more="Unheard\x01of\x02")

    answer = shown(control, of, topic, traces)

    assert (answer["state"], answer["unread"], answer["sent"]) == ("traced", 2, [])
    told = [
        (call["started_at"], call["ended_at"], call["cost_ms"], call["success"], call["outcome"], call["tries"])
        for call in answer["consumed"]
    ]
    second = "1970-01-01T00:00:0"
    assert told == [
        (f"{second}1.000Z", None, 5, False, "failed", 0),
        (f"{second}2.000Z", f"{second}2.020Z", 7, True, "success", 1),
        (f"{second}3.000Z", None, None, None, None, 2),
    ]
    assert {call["group"] for call in answer["consumed"]} == {group}


def test_decisions_and_recalls_are_told(control: Control, native: BlockingSession) -> None:
    topic, traces = control.topic(), control.topic("traces")
    [stored] = control.produce(topic, "a")
    of = stored["message_id"]
    ends = [
        EndedTrace(at, None, "payers", where, of, None, None, None, 2, of, state, check)
        for at, where, state, check in ((2_000, None, "COMMIT_MESSAGE", True), (1_000, topic, "UNKNOW", False))
    ]
    write(native, traces, *ends, RecalledTrace(3_000, None, "shop", topic, of, False))

    answer = shown(control, of, topic, traces)

    assert [(each["state"], each["from_check"], each["group"]) for each in answer["ended"]] == [
        ("UNKNOW", False, "payers"), ("COMMIT_MESSAGE", True, "payers"),
    ]  # fmt: skip
    assert [(each["success"], each["group"]) for each in answer["recalled"]] == [(False, "shop")]


def test_traces_are_found_by_the_keys_and_ids_of_their_message(control: Control, native: BlockingSession) -> None:
    topic, traces, group = control.topic(), control.topic("traces"), control.group()
    of = "7F000001000000000000000000000023"
    write(native, traces, SentTrace(1_000, None, "shop", topic, of, "late", "A17 A18", None, 1, 1, 0, None, True))
    write(native, traces, DeliveredTrace(2_000, None, group, "R1", of, 0, "A17"))
    write(native, traces, EndedTrace(3_000, None, "payers", topic, of, None, "A18", None, 1, of, "UNKNOW", False))

    def found(word: str) -> list[str]:
        items = control.get("/messages:search", topic=traces, key=word)["items"]
        paths = [f"/messages/{each['message_id']}/body" for each in items]
        read = [control.call("GET", path, params={"topic": traces}) for path in paths]
        return sorted(answer.text.partition("\x01")[0] for answer in read)

    assert found(of) == ["EndTransaction", "Pub", "SubBefore"]
    assert found("A17") == ["Pub", "SubBefore"]
    assert found("A18") == ["EndTransaction", "Pub"]


def test_nothing_traced_and_no_topic_for_traces_are_two_things(control: Control) -> None:
    topic, traces = control.topic(), control.topic("traces")
    [stored] = control.produce(topic, "a")

    assert shown(control, stored["message_id"], topic, traces)["state"] == "none"
    assert shown(control, stored["message_id"], topic, control.name("nowhere"))["state"] == "no_topic"


def test_a_message_that_is_gone_is_known_by_its_traces_alone(control: Control, native: BlockingSession) -> None:
    topic, traces, group = control.topic(), control.topic("traces"), control.group()
    of = "7F000001000000000000000000000000"
    sent = SentTrace(1_000, None, "shop", topic, of, None, None, None, 1, 1, 99, None, False)
    write(native, traces, sent, DeliveredTrace(2_000, None, group, "R1", of, 0, None))

    answer = shown(control, of, topic, traces)
    assert [(each["type"], each["success"]) for each in answer["sent"]] == [(None, False)]
    assert len(answer["consumed"]) == 1

    # And who asks for it in another topic learns nothing of it
    elsewhere = control.topic()
    missing = control.call("GET", f"/messages/{of}/trace", params={"topic": elsewhere, "trace_topic": traces})
    assert missing.status_code == 404


def test_a_message_of_a_broker_that_is_away_has_the_traces_of_the_others(
    control: Control, native: BlockingSession, gone: Callable[[str], None]
) -> None:
    topic, traces = control.topic(), control.topic("traces")
    of, unknown = "7F000001000000000000000000000001", "7F000001000000000000000000000002"
    write(native, traces, SentTrace(1_000, None, "shop", topic, of, None, None, None, 1, 1, 99, None, True))
    gone(topic)

    assert [each["success"] for each in shown(control, of, topic, traces)["sent"]] == [True]
    path, query = f"/messages/{unknown}/trace", {"topic": topic, "trace_topic": traces}
    assert control.call("GET", path, params=query).status_code == 503


def test_only_groups_that_one_may_read_are_told(control: Control, native: BlockingSession) -> None:
    topic, traces, group = control.topic(), control.topic("orders-traces"), control.group()
    [stored] = control.produce(topic, "a")
    of = stored["message_id"]
    write(
        native,
        traces,
        DeliveredTrace(1_000, None, group, "R1", of, 0, None),
        HandledTrace("R2", of, 1, True, None, 0, None, None),
    )

    answer = shown(control, of, topic, traces, role="narrow")

    assert (answer["consumed"], answer["hidden"], answer["state"]) == ([], 2, "traced")


def test_a_topic_for_traces_must_be_readable_and_have_a_name(control: Control) -> None:
    topic, traces = control.topic(), control.topic("traces")
    [stored] = control.produce(topic, "a")
    path = f"/messages/{stored['message_id']}/trace"

    refused = control.call("GET", path, role="narrow", params={"topic": topic, "trace_topic": traces})
    assert refused.status_code == 403
    assert control.call("GET", path, role="narrow", params={"topic": topic}).status_code == 200
    unnamed = control.call("GET", path, params={"topic": topic, "trace_topic": "a b"})
    assert unnamed.status_code == 422


def test_of_many_records_the_first_are_told(control: Control, native: BlockingSession) -> None:
    topic, traces, group = control.topic(), control.topic("traces"), control.group()
    [stored] = control.produce(topic, "a")
    of = stored["message_id"]
    calls = [DeliveredTrace(1_000 + at, None, group, f"R{at}", of, 0, None) for at in range(1_001)]
    write(native, traces, *calls[:1_000])
    answer = shown(control, of, topic, traces)
    assert (len(answer["consumed"]), answer["complete"]) == (1_000, True)

    write(native, traces, calls[1_000])
    answer = shown(control, of, topic, traces)
    assert (len(answer["consumed"]), answer["complete"], answer["missing"]) == (1_000, False, [])
    assert answer["consumed"][-1]["started_at"] == "1970-01-01T00:00:01.999Z"


@pytest.mark.parametrize("filling", ["x" * 3_000_000 + "\x02", "x\x02" * 15_000], ids=["large", "many records"])
def test_of_large_trace_messages_the_first_are_read(control: Control, native: BlockingSession, filling: str) -> None:
    topic, traces, group = control.topic(), control.topic("traces"), control.group()
    [stored] = control.produce(topic, "a")
    of = stored["message_id"]
    first, last = (DeliveredTrace(at, None, group, f"R{at}", of, 0, None) for at in (1_000, 2_000))
    write(native, traces, first, more=filling)
    write(native, traces, last, more=filling)

    answer = shown(control, of, topic, traces)
    assert (len(answer["consumed"]), answer["complete"], answer["unread"] > 0) == (1, False, True)
