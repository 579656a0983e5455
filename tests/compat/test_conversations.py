"""What the Java client builds on sends and pulls: request and reply, and message traces."""

from __future__ import annotations

import pytest

from tests.compat.driver import PRODUCER, Driver, JavaError
from tests.compat.java_values import JavaMessage, Received
from tests.compat.reading import Reader
from tests.compat.servers import SHARED, Server
from tests.support.wait import wait_until

pytestmark = pytest.mark.compat

TRACES = "RMQ_SYS_TRACE_TOPIC"
SETTINGS = SHARED


def test_a_request_is_answered_by_its_consumer(driver: Driver, server: Server, name: str) -> None:
    asker, answerer = (driver.producer(server.name_server, f"{name}-{role}") for role in ("asker", "answerer"))
    answerer.call("send", JavaMessage(name, b"so that there is a route"))
    consumer = driver.push_consumer(server.name_server, name, {name: "ping"})
    # When a producer asks, whose first word to the broker this is
    answer = driver.later("call", asker.name, method="request", arguments=[question(name), 20_000])
    wait_until(lambda: consumer.received)
    # And who consumed the question answers as the client's own helper does
    (asked,) = consumer.received
    known = ("CORRELATION_ID", "REPLY_TO_CLIENT", "TTL")
    properties = {key: asked.properties[key] for key in known} | {"MSG_TYPE": "reply"}
    reply = JavaMessage(f"{asked.properties['CLUSTER']}_REPLY_TOPIC", b"pong", properties=properties)
    assert answerer.call("send", reply)["status"] == "SEND_OK"
    # Then the asker has the answer in its hands
    got = Received.of(answer.result(20))
    assert (got.body, got.properties["CORRELATION_ID"]) == (b"pong", asked.properties["CORRELATION_ID"])


def question(topic: str) -> dict[str, object]:
    return {"topic": topic, "body": "cGluZw==", "properties": {"TAGS": "ping"}}


def test_a_request_that_nobody_answers_ends_in_time(driver: Driver, server: Server, name: str) -> None:
    asker = driver.producer(server.name_server, name)
    asker.call("send", JavaMessage(name))
    with pytest.raises(JavaError) as late:
        asker.call("request", JavaMessage(name), 500)
    assert late.value.kind == "RequestTimeoutException"


def test_a_reply_to_nobody_is_refused(driver: Driver, server: Server, name: str) -> None:
    answerer = driver.producer(server.name_server, name)
    properties = {"MSG_TYPE": "reply", "CORRELATION_ID": "1", "REPLY_TO_CLIENT": "nobody", "TTL": "1000"}
    with pytest.raises(JavaError, match="channel of <nobody> not found") as refused:
        answerer.call("send", JavaMessage("test_REPLY_TOPIC", b"pong", properties=properties))
    assert refused.value.code == 1


def test_a_producer_leaves_traces_of_what_it_sends(driver: Driver, server: Server, reader: Reader, name: str) -> None:
    producer = driver.client(PRODUCER, server.name_server, name, True)
    producer.call("start")
    before = len(reader.read(TRACES, 0))
    sent = producer.call("send", JavaMessage(name, b"1", keys="k"))
    trace = next(
        message for message in reader.read(TRACES, before + 1) if sent["msgId"] in (message.keys or "").split(" ")
    )
    assert trace.body.startswith(b"Pub\x01")
    assert sent["offsetMsgId"].encode() in trace.body
