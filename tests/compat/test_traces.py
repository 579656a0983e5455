"""Message traces of the unmodified Java clients, read by our codec; ours, read by `mqadmin`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from broker_core.client import ClientConfig, Message, Producer, ProducerConfig, PushConfig, PushConsumer, Session
from broker_core.client.admin import Admin
from broker_core.client.producer import SendResult
from broker_core.protocol.message import StoredMessage
from broker_core.protocol.topics import TRACE_TOPIC
from broker_core.protocol.traces import (
    DeliveredTrace,
    EndedTrace,
    HandledTrace,
    SentTrace,
    UnreadTrace,
    concerns,
    decode_traces,
)
from tests.compat.driver import PRODUCER, PUSH_CONSUMER, Driver, JavaObject, started_driver
from tests.compat.java_build import CLIENT, CLIENT5, JavaProject
from tests.compat.java_values import JavaMessage, made
from tests.compat.servers import started
from tests.support.cluster import RunningBroker
from tests.support.wait import wait_until

pytestmark = pytest.mark.compat

SETTINGS = {"traceTopicEnable": "true", "messageDelayLevel": "1s 1s 1s 1s 1s"}
TRANSACTIONS = "org.apache.rocketmq.client.producer.TransactionMQProducer"
TOPIC, PAYMENTS, GROUP, POLLING, POPPING = "orders", "payments", "billing", "polling", "popping"


@pytest.fixture(scope="module")
def gantry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningBroker]:
    with started("gantry", tmp_path_factory.mktemp("gantry"), SETTINGS) as running:
        assert isinstance(running, RunningBroker)
        yield running


def traces_of(broker: RunningBroker, message_id: str, kind: type, *, key: str | None = None) -> list[Any]:
    """Search as a console does, by the id or a key of a message; return the records of one kind as they were stored."""

    async def search() -> list[Any]:
        async with broker.session() as session:
            found = await Admin(session).messages.search(TRACE_TOPIC, key or message_id)
        records = [each for one in reversed(found.messages) for each in decode_traces(one.message.body.decode())]
        assert not [each for each in records if isinstance(each, UnreadTrace)]
        return [each for each in records if isinstance(each, kind) and concerns(each, message_id)]  # type: ignore[arg-type]

    return asyncio.run(search())


class Traced:
    """Java clients of one version that trace."""

    def __init__(self, driver: Driver, broker: RunningBroker, *, is_5: bool) -> None:
        self._driver, self._broker, self._is_5 = driver, broker, is_5

    def client(self, kind: str, group: str, **settings: Any) -> JavaObject:
        """Make a client that traces: in 4.9 the constructor says so, in 5.x a setter."""
        if self._is_5:
            return self._driver.client(kind, self._broker.name_server, group, enableTrace=True, **settings)
        words = (None, group, None, True, None) if kind == TRANSACTIONS else (group, True)
        return self._driver.client(kind, self._broker.name_server, *words, **settings)

    def send(self) -> Any:
        producer = self.client(PRODUCER, "shop")
        producer.call("start")
        return producer.call("send", JavaMessage(TOPIC, b"hello", keys="A17 A18", tag="created"))

    def consume_at_the_second_attempt(self) -> None:
        consumer = self.client(PUSH_CONSUMER, GROUP, consumeFromWhere="CONSUME_FROM_FIRST_OFFSET")
        consumer.call("subscribe", TOPIC, "*")
        self._driver.ask("listen", consumer.name, orderly=False)
        self._driver.ask("behave", consumer.name, answer="throw", times=1, delay=0, wait=0)
        consumer.call("start")

    def poll(self, message_id: str) -> None:
        """Consume by a lite pull consumer until it had a message, after those that an earlier one did not commit."""
        settings = {"enableTrace": True} if self._is_5 else {"enableMsgTrace": True}
        consumer = self._driver.lite_consumer(
            self._broker.name_server, POLLING, consumeFromWhere="CONSUME_FROM_FIRST_OFFSET", **settings
        )
        consumer.call("subscribe", TOPIC, "*")
        consumer.call("start")
        wait_until(lambda: message_id in [each["msgId"] for each in consumer.call("poll", 1000)])

    def pop(self) -> None:
        """Consume by a push consumer of a group that pops, which only 5.x has."""
        to = ("-n", self._broker.name_server, "-b", self._broker.address)
        self._driver.mqadmin("updateSubGroup", *to, "-g", POPPING)
        self._driver.mqadmin("setConsumeMode", *to, "-t", TOPIC, "-g", POPPING, "-m", "POP", "-q", "8")
        self._driver.push_consumer(
            self._broker.name_server, POPPING, {TOPIC: "*"}, clientRebalance=False, enableTrace=True
        )

    def pay(self) -> Any:
        self._driver.mqadmin(
            "updateTopic", "-n", self._broker.name_server, "-b", self._broker.address, "-t", PAYMENTS
        )  # fmt: skip
        payer = self.client(TRANSACTIONS, "payers", transactionListener=made("gantry.Decider"))
        payer.call("start")
        properties = {"execute": "COMMIT_MESSAGE", "check": "UNKNOW"}
        message = JavaMessage(PAYMENTS, b"1", keys="P1", properties=properties)
        return payer.call("sendMessageInTransaction", message, None)


@pytest.mark.usefixtures("_java_build")
@pytest.mark.parametrize("project", [CLIENT, CLIENT5], ids=["4.9.8", "5.3.3"])
def test_what_java_clients_trace_is_read(gantry: RunningBroker, project: JavaProject, tmp_path: Path) -> None:
    project.build()
    with started_driver(tmp_path, project=project) as driver:
        java = Traced(driver, gantry, is_5=project is CLIENT5)
        sent, paid = java.send(), java.pay()
        java.consume_at_the_second_attempt()
        java.poll(sent["msgId"])
        if project is CLIENT5:
            java.pop()
        # A record that ends a call has no group in 4.9; what begins it names the call.
        calls = 4 if project is CLIENT5 else 3
        wait_until(lambda: len(traces_of(gantry, sent["msgId"], HandledTrace)) == calls)
        wait_until(lambda: traces_of(gantry, paid["msgId"], EndedTrace))
        wait_until(lambda: traces_of(gantry, sent["msgId"], SentTrace))
        driver.shutdown_clients()

    (send,) = traces_of(gantry, sent["msgId"], SentTrace)
    assert (send.group, send.topic, send.tags, send.keys, send.body_bytes) == ("shop", TOPIC, "created", "A17 A18", 5)
    assert (send.offset_id, send.store_host, send.is_success) == (sent["offsetMsgId"], gantry.address, True)
    before, after = (traces_of(gantry, sent["msgId"], kind) for kind in (DeliveredTrace, HandledTrace))
    others = {POLLING, POPPING} if project is CLIENT5 else {POLLING}
    assert {each.group for each in before} == {GROUP, *others}
    pushed = [each for each in before if each.group == GROUP]
    assert [each.retry_times for each in pushed] == [0, 1]
    ends = {each.request_id: (each.group, each.is_success, each.code) for each in after}
    assert ends.keys() == {each.request_id for each in before}
    assert [ends[each.request_id] for each in pushed] == [(GROUP, False, 2), (GROUP, True, 0)]
    assert {end[:2] for end in ends.values()} == {(GROUP, False), *((group, True) for group in (GROUP, *others))}
    (half,), (end,) = (traces_of(gantry, paid["msgId"], kind) for kind in (SentTrace, EndedTrace))
    assert (half.message_type, half.keys) == (1, "P1")
    # The key of the message finds the same
    for key, kind in (("A18", SentTrace), ("A17", DeliveredTrace), ("P1", SentTrace), ("P1", EndedTrace)):
        of = (paid if key == "P1" else sent)["msgId"]
        assert traces_of(gantry, of, kind, key=key) == traces_of(gantry, of, kind) != []
    assert (end.group, end.topic, end.state, end.from_check) == ("payers", PAYMENTS, "COMMIT_MESSAGE", False)


def test_mqadmin_reads_what_our_client_traces(driver: Driver, gantry: RunningBroker) -> None:
    sent = asyncio.run(_trace(gantry))
    wait_until(lambda: len(traces_of(gantry, sent.message_id, HandledTrace)) == 2)

    text = driver.mqadmin("queryMsgTraceById", "-n", gantry.name_server, "-i", sent.message_id)

    words = [line.split() for line in text.splitlines()]
    ((_, producers, host, *_, status),) = [line for line in words if line[:1] == ["Pub"]]
    assert (producers, host, status) == ("our-shop", "127.0.0.1", "success")
    calls = [(line[1], line[-1]) for line in words if line[:1] == ["Sub"]]
    assert sorted(calls) == [("our-billing", "failed"), ("our-billing", "success")]


async def _trace(gantry: RunningBroker) -> SendResult:
    """Send a message, and consume it at the second attempt; all of it is traced."""
    done, calls = asyncio.Event(), 0

    async def handle(_: StoredMessage) -> None:
        nonlocal calls
        calls += 1
        if calls == 1:
            raise ValueError("no")
        done.set()

    async with Session(ClientConfig([gantry.name_server])) as session:
        await Admin(session).topics.create("ours", read_queues=1, write_queues=1)
        async with Producer(session, "our-shop", ProducerConfig(trace=True)) as producer:
            sent = await producer.send(Message.create("ours", b"1", keys=["A17"]))
        config = PushConfig(start_from="first", orderly=True, suspend_queue_ms=10, trace=True)
        consumer = PushConsumer(session, "our-billing", handle, config)
        consumer.subscribe("ours")
        async with consumer:
            await asyncio.wait_for(done.wait(), 60)
    return sent
