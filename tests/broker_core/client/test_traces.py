"""What producers and consumers write about themselves, read back from a real broker."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from broker_core.client import Decision, LitePullConsumer, Message, Producer, ProducerConfig, PushConfig, PushConsumer
from broker_core.client.consumer.lite import LITE
from broker_core.client.errors import TopicNotFound
from broker_core.client.traces import MOST_WAITING, TraceWriter
from broker_core.client.transactions import TransactionProducer
from broker_core.protocol.message import StoredMessage
from broker_core.protocol.traces import (
    DeliveredTrace,
    EndedTrace,
    HandledTrace,
    SentTrace,
    UnreadTrace,
    concerns,
    decode_traces,
)
from tests.broker_core.client.conftest import Live
from tests.support.wait import eventually


async def traces_of(live: Live, topic: str, message_id: str, *, key: str | None = None) -> list[Any]:
    """Search as a console does: by the id, or a key, of the traced message."""
    found = await live.admin.messages.search(topic, key or message_id)
    texts = [each.message.body.decode() for each in reversed(found.messages)]
    records = [record for text in texts for record in decode_traces(text)]
    return [record for record in records if not isinstance(record, UnreadTrace) and concerns(record, message_id)]


async def test_each_send_leaves_a_record_that_is_found_by_id_and_key(live: Live) -> None:
    topic, traces, group = await live.topic(), await live.topic(), live.group()
    async with Producer(live.session, group, ProducerConfig(trace=True, trace_topic=traces)) as producer:
        many = [Message.create(topic, b"12345", keys=["A17", "A18"], tag="created"), Message.create(topic, b"1")]
        sent = await producer.send_many(many)
        later = await producer.send(Message.create(topic, b"later", delay_level=1))

    assert producer.traces is not None
    assert producer.traces.counts.written == 3
    first = sent[0]
    assert not isinstance(first, Exception)
    for key in (None, "A17", "A18"):
        (record,) = await traces_of(live, traces, first.message_id, key=key)
        assert isinstance(record, SentTrace)
    address, region = live.running.address, "DefaultRegion"
    assert (record.group, record.topic, record.tags, record.keys) == (group, topic, "created", "A17 A18")
    assert (record.store_host, record.region, record.body_bytes, record.is_success) == (address, region, 5, True)
    assert record.message_type == 0
    (delayed,) = await traces_of(live, traces, later.message_id)
    assert isinstance(delayed, SentTrace)
    assert (delayed.message_type, delayed.offset_id) == (3, later.offset_id)


async def test_every_message_of_a_batch_has_a_record(live: Live) -> None:
    topic, traces = await live.topic(), await live.topic()
    async with Producer(live.session, live.group(), ProducerConfig(trace=True, trace_topic=traces)) as producer:
        result = await producer.send_batch(topic, [Message(topic, b"1"), Message(topic, b"22")])

    found = [record for each in result.message_ids for record in await traces_of(live, traces, each)]

    assert [(each.body_bytes, each.message_id) for each in found if isinstance(each, SentTrace)] == [
        (1, result.message_ids[0]), (2, result.message_ids[1]),
    ]  # fmt: skip


async def test_a_send_that_fails_and_one_that_the_broker_exempts_leave_none(live: Live) -> None:
    topic, traces = await live.topic(), await live.topic()
    change = live.admin.maintenance.change_settings_of
    async with Producer(live.session, live.group(), ProducerConfig(trace=True, trace_topic=traces)) as producer:
        with pytest.raises(TopicNotFound):
            await producer.send(Message("nowhere", b"1"))
        await change(live.running.address, {"traceOn": "false"})
        try:
            await producer.send(Message(topic, b"1"))
        finally:
            await change(live.running.address, {"traceOn": "true"})
        await producer.send(Message(traces, b"1"))
        assert producer.traces is not None

    assert producer.traces.counts.written == 0


async def test_calls_of_a_handler_are_traced_until_one_succeeds(live: Live) -> None:
    topic, traces, group = await live.topic(), await live.topic(), live.group()
    calls: list[StoredMessage] = []

    async def handle(message: StoredMessage) -> None:
        calls.append(message)
        if len(calls) == 1:
            raise ValueError("no")

    (sent,) = await live.send(topic, "1", key="A17")
    config = PushConfig(start_from="first", orderly=True, suspend_queue_ms=10, trace=True, trace_topic=traces)
    consumer = PushConsumer(live.session, group, handle, config)
    consumer.subscribe(topic)
    async with consumer:
        await eventually(lambda: len(calls) == 2)

    first, failed, second, done = await traces_of(live, traces, sent.message_id)
    assert isinstance(first, DeliveredTrace)
    assert isinstance(second, DeliveredTrace)
    assert isinstance(failed, HandledTrace)
    assert isinstance(done, HandledTrace)
    assert (first.group, first.retry_times, second.retry_times, first.keys) == (group, 0, 1, "A17")
    assert (failed.is_success, failed.code, done.is_success, done.code) == (False, 2, True, 0)
    assert (failed.request_id, done.request_id) == (first.request_id, second.request_id)
    assert done.group == group


async def test_a_handler_that_takes_too_long_has_timed_out(live: Live) -> None:
    topic, traces = await live.topic(), await live.topic()
    (sent,) = await live.send(topic, "1")
    called = asyncio.Event()

    async def handle(_: StoredMessage) -> None:
        called.set()
        await asyncio.Event().wait()

    config = PushConfig(start_from="first", orderly=True, consume_timeout_ms=1, trace=True, trace_topic=traces)
    consumer = PushConsumer(live.session, live.group(), handle, config)
    consumer.subscribe(topic)
    async with consumer:
        await called.wait()

    _, handled, *_ = await traces_of(live, traces, sent.message_id)
    assert isinstance(handled, HandledTrace)
    assert (handled.is_success, handled.code) == (False, 1)


async def test_a_poll_is_traced_as_consumption(live: Live) -> None:
    topic, traces = await live.topic(), await live.topic()
    (sent,) = await live.send(topic, "1")
    consumer = LitePullConsumer(
        live.session, live.group(), replace(LITE, start_from="first", trace=True, trace_topic=traces)
    )
    consumer.subscribe(topic)
    async with consumer:
        assert len(await consumer.poll(20_000)) == 1

    kinds = [type(record) for record in await traces_of(live, traces, sent.message_id)]
    assert kinds == [DeliveredTrace, HandledTrace]


async def test_a_transaction_leaves_its_half_message_and_the_decision(live: Live) -> None:
    topic, traces, group = await live.topic(), await live.topic(), live.group()
    config = ProducerConfig(trace=True, trace_topic=traces)
    async with TransactionProducer(live.session, group, lambda _: Decision.UNKNOWN, config) as payer:
        committed = await payer.send(Message.create(topic, b"1", keys=["A17"]), lambda _: Decision.COMMIT)
        _, prepared = await payer.prepare(Message(topic, b"2"))
        await payer.end(prepared, Decision.ROLLBACK)

    half, ended = await traces_of(live, traces, committed.result.message_id)
    assert isinstance(half, SentTrace)
    assert isinstance(ended, EndedTrace)
    assert (half.message_type, ended.state, ended.keys, ended.topic) == (1, "COMMIT_MESSAGE", "A17", topic)
    _, rolled_back = await traces_of(live, traces, prepared.message_id)
    assert isinstance(rolled_back, EndedTrace)
    assert (rolled_back.state, rolled_back.topic, rolled_back.from_check) == ("ROLLBACK_MESSAGE", None, False)


async def test_the_first_trace_may_create_the_topic(live: Live) -> None:
    topic = await live.topic()
    async with Producer(
        live.session, live.group(), ProducerConfig(trace=True, trace_topic=f"{topic}-traces")
    ) as producer:
        sent = await producer.send(Message(topic, b"1"))

    assert await traces_of(live, f"{topic}-traces", sent.message_id)


async def test_too_many_records_are_dropped_and_counted_and_many_are_split(live: Live) -> None:
    topic, traces = await live.topic(), await live.topic()
    (result,) = await live.send(topic, "1")
    writer = TraceWriter(live.session, live.group(), "PRODUCE", traces)
    for number in range(MOST_WAITING + 5):
        its = replace(result, message_id=f"{number:032}", message_ids=(f"{number:032}",))
        writer.sent(Message.create(topic, b"1", keys=[f"key-{number}"]), 1, 0, its)
    await writer.close()

    assert (writer.counts.written, writer.counts.dropped, writer.counts.failed) == (MOST_WAITING, 5, 0)
    assert (await live.admin.topics.stats(traces)).messages > 1
    assert await traces_of(live, traces, f"{MOST_WAITING - 1:032}", key=f"key-{MOST_WAITING - 1}")


async def test_a_message_with_very_many_keys_is_still_found_by_its_id(live: Live) -> None:
    topic, traces = await live.topic(), await live.topic()
    async with Producer(live.session, live.group(), ProducerConfig(trace=True, trace_topic=traces)) as producer:
        sent = await producer.send(Message.create(topic, b"1", keys=[f"key-{number}" for number in range(2_000)]))

    assert await traces_of(live, traces, sent.message_id, key="key-0")


async def test_records_that_no_broker_takes_are_counted(live: Live) -> None:
    topic, closed = await live.topic(), await live.topic(perm=4)
    async with Producer(live.session, live.group(), ProducerConfig(trace=True, trace_topic=closed)) as producer:
        await producer.send(Message(topic, b"1"))

    assert producer.traces is not None
    assert (producer.traces.counts.written, producer.traces.counts.failed) == (0, 1)
