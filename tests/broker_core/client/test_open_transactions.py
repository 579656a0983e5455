"""Requirements of `broker_core.client.admin.transactions`, against a real broker."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from broker_core.client import Decision, Message, StoredMessage, TransactionProducer
from broker_core.client.admin import OpenTransaction
from broker_core.client.errors import TransactionDecided, TransactionUnknown
from broker_core.protocol.topics import HALF_TOPIC
from tests.broker_core.client.conftest import Live
from tests.support.wait import eventually


async def unknown(_: StoredMessage) -> Decision:
    return Decision.UNKNOWN


@pytest.fixture
async def payer(live: Live) -> AsyncIterator[TransactionProducer]:
    async with TransactionProducer(live.session, live.group(), unknown) as payer:
        yield payer


async def open_in(live: Live, topic: str) -> list[OpenTransaction]:
    """Return what is open for a topic."""
    answers = await live.admin.transactions.open()
    assert answers.complete
    return [each for found in answers.found.values() for each in found.items if each.newest.topic == topic]


async def test_what_is_not_decided_is_open_with_all_that_is_known(live: Live, payer: TransactionProducer) -> None:
    topic = await live.topic()
    _, waiting = await payer.prepare(Message.create(topic, b"hello", keys=["A17"], tag="paid"))
    for decision in (Decision.COMMIT, Decision.ROLLBACK):
        _, ended = await payer.prepare(Message(topic, b"x"))
        await payer.end(ended, decision)
    (found,) = await open_in(live, topic)
    half = found.newest
    assert (half.broker_name, half.queue_offset, half.log_offset) == waiting[:3]
    assert (half.message_id, half.group, half.topic) == (waiting.message_id, payer.group, topic)
    assert (half.keys, half.tag, half.body_bytes, half.checks) == (["A17"], "paid", 5, 0)
    assert half.began_at == half.since == half.stored_at
    groups = await live.admin.transactions.producer_groups()
    assert payer.group in groups.found[half.broker_name]
    await payer.end(waiting, Decision.COMMIT)
    assert await open_in(live, topic) == []


async def test_a_check_adds_a_record_to_the_same_transaction(live: Live, payer: TransactionProducer) -> None:
    topic = await live.topic()
    _, waiting = await payer.prepare(Message(topic, b"hello"))
    (before,) = await open_in(live, topic)
    await live.admin.transactions.check_again(waiting.broker_name, before.newest.offset_id)

    async def is_checked() -> bool:
        return (await open_in(live, topic))[0].newest.checks > 0

    await eventually(is_checked)
    (after,) = await open_in(live, topic)
    assert after.newest.began_at == before.newest.began_at
    assert after.newest.queue_offset > before.newest.queue_offset
    assert after.newest.queue_offset in after.offsets
    placed = await live.admin.transactions.half(waiting.broker_name, after.newest.queue_offset, after.newest.log_offset)
    assert placed is not None
    assert placed.message.message_id == waiting.message_id
    await payer.end(waiting, Decision.ROLLBACK)
    with pytest.raises(TransactionDecided):
        await live.admin.transactions.check_again(waiting.broker_name, after.newest.offset_id)


async def test_the_records_of_one_message_are_found_in_any_topic(live: Live, payer: TransactionProducer) -> None:
    topic = await live.topic()
    twice = Message(topic, b"hello", {"UNIQ_KEY": f"{topic}-twice"})
    _, first = await payer.prepare(twice)
    (half,) = await open_in(live, topic)
    await live.admin.transactions.check_again(first.broker_name, half.newest.offset_id)
    _, second = await payer.prepare(twice)
    halves = await live.admin.transactions.same_message(half.newest, HALF_TOPIC)
    assert [each.queue_offset for each in halves[-1:]] == [first.queue_offset]
    assert len(halves) > 1
    assert second.queue_offset not in [each.queue_offset for each in halves]
    assert await live.admin.transactions.same_message(half.newest, topic) == []
    await payer.end(first, Decision.COMMIT)
    (committed,) = await live.admin.transactions.same_message(half.newest, topic)
    assert committed.body == b"hello"
    assert await live.admin.transactions.same_message(half.newest, "no-such-topic") == []
    await payer.end(second, Decision.ROLLBACK)


async def test_a_place_without_a_half_record_is_none(live: Live, payer: TransactionProducer) -> None:
    result, waiting = await payer.prepare(Message(await live.topic(), b"hello"))
    assert await live.admin.transactions.half(waiting.broker_name, 2**40, waiting.log_offset) is None
    assert await live.admin.transactions.half(waiting.broker_name, waiting.queue_offset, 1) is None
    elsewhere = result.offset_id[:16] + "0000000000000001"
    with pytest.raises(TransactionUnknown):
        await live.admin.transactions.check_again(waiting.broker_name, elsewhere)
    await payer.end(waiting, Decision.ROLLBACK)
