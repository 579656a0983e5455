"""What clients traced of a message, on its page."""

from __future__ import annotations

import asyncio

import pytest
from playwright.sync_api import expect

from broker_core.client.blocking import BlockingSession
from broker_core.client.config import ClientConfig, ProducerConfig, PushConfig
from broker_core.client.consumer.push import PushConsumer
from broker_core.client.producer import Producer, SendResult
from broker_core.client.session import Session
from broker_core.protocol.message import Message, StoredMessage
from broker_core.protocol.traces import DeliveredTrace, SentTrace, encode_trace
from tests.browser.data import Data
from tests.browser.pages import Console
from tests.browser.shots import shoot
from tests.support.gantry import Gantry

TOPIC, GROUP, PRODUCERS = "traced", "traced-billing", "traced-shop"


async def sell(session: Session) -> SendResult:
    """Send a message, and consume it at the second attempt; all of it is traced."""
    calls: list[StoredMessage] = []
    done = asyncio.Event()

    async def handle(message: StoredMessage) -> None:
        calls.append(message)
        if len(calls) == 1:
            raise ValueError("the database is away")
        done.set()

    async with Producer(session, PRODUCERS, ProducerConfig(trace=True)) as producer:
        sent = await producer.send(Message.create(TOPIC, b'{"order": "A17"}', keys=["A17"], tag="created"))
    config = PushConfig(start_from="first", orderly=True, suspend_queue_ms=50, trace=True)
    consumer = PushConsumer(session, GROUP, handle, config)
    consumer.subscribe(TOPIC)
    async with consumer:
        await asyncio.wait_for(done.wait(), 60)
    # And a consumer that was killed in the middle of its call
    half = DeliveredTrace(calls[-1].born_timestamp + 900, None, "traced-audit", "R1", sent.message_id, 0, "A17")
    await Producer(session).send(Message("RMQ_SYS_TRACE_TOPIC", encode_trace(half).encode(), {"KEYS": sent.message_id}))
    return sent


@pytest.fixture(scope="module")
def sold(gantry: Gantry, data: Data) -> str:
    """The id of a message that was traced, failed once, and was consumed then."""
    data.create_topic(TOPIC)

    with BlockingSession(ClientConfig([gantry.name_server])) as native:
        return native.run(sell(native.session)).message_id


def test_the_page_of_a_message_has_what_clients_traced(console: Console, sold: str) -> None:
    console.open(f"/messages/{sold}?topic={TOPIC}")
    steps = console.main.get_by_role("listitem")
    expect(steps.filter(has_text=f"Sent by {PRODUCERS}")).to_contain_text("answered after")
    expect(steps.filter(has_text=f"Failed in {GROUP}")).to_contain_text("exception · delivery 1")
    expect(steps.filter(has_text=f"Consumed by {GROUP}").filter(has_text="took")).to_contain_text("delivery 2")
    expect(steps.filter(has_text="Handed to traced-audit")).to_contain_text("no end traced")
    expect(console.main.get_by_text("2 calls · 1 failed")).to_be_visible()
    expect(console.main.get_by_text("No end traced", exact=True)).to_be_visible()
    console.main.get_by_role("link", name="Client traces").click()
    shoot(console.page, "message-traces")


def test_a_message_that_nobody_traced_says_how_it_would_be(console: Console, data: Data, sold: str) -> None:
    data.send(TOPIC, 1)
    [first, *_] = data.http.get(f"/clusters/local/topics/{TOPIC}/messages?limit=1").json()["items"]
    console.open(f"/messages/{first['message_id']}?topic={TOPIC}")
    expect(console.main.get_by_text("does not say that nobody consumed it")).to_be_visible()
    expect(console.main.get_by_text("enableMsgTrace")).to_be_visible()
    console.main.get_by_role("link", name="Client traces").click()
    shoot(console.page, "message-untraced")


def test_a_message_that_is_gone_has_its_traces_still(console: Console, sold: str, gantry: Gantry) -> None:
    gone = "7F000001000000000000000000000017"

    sent = SentTrace(1_795_788_216_432, None, PRODUCERS, TOPIC, gone, None, None, "h", 5, 16, 0, "0A", True)
    with BlockingSession(ClientConfig([gantry.name_server])) as native:
        trace = Message("RMQ_SYS_TRACE_TOPIC", encode_trace(sent).encode(), {"KEYS": gone})
        native.run(native.producer().send(trace))
    console.open(f"/messages/{gone}?topic={TOPIC}")
    expect(console.main.get_by_text(f"Sent by {PRODUCERS}")).to_be_visible()
    shoot(console.page, "message-traces-left")
    console.watch.forgive(f"/api/v1/clusters/local/messages/{gone}", 404)
