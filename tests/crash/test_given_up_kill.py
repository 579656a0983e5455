"""Kill the real broker after a transaction was checked anew: its two places stay one transaction."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from broker_core.client import Decision, Message, StoredMessage, TransactionProducer
from broker_core.client.admin import Admin
from broker_core.client.errors import TransactionDecided
from broker_core.client.members import Prepared
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.topics import TRANSACTION_EXPIRED_TOPIC
from tests.compat.exchange import pull_all
from tests.support.cluster import RunningBroker, broker, create_topic
from tests.support.wait import eventually

pytestmark = pytest.mark.crash

TOPIC, GROUP = "orders", "payers"
ONE_CHECK = "transactionTimeOut=1", "transactionCheckInterval=1", "transactionCheckMax=1"
QUICK = tuple(word for setting in ONE_CHECK for word in ("--setting", setting))
SLOW = {"transactionTimeOut": "3600000", "transactionCheckInterval": "3600000"}
OTHER = {Decision.COMMIT: Decision.ROLLBACK, Decision.ROLLBACK: Decision.COMMIT}


async def unknown(_: StoredMessage) -> Decision:
    return Decision.UNKNOWN


async def given_up(admin: Admin, producer: TransactionProducer) -> tuple[Prepared, str]:
    """Prepare a message about which the broker stops to ask; return its place and the id of what is kept of it."""
    _, half = await producer.prepare(Message.create(TOPIC, b"1"))
    expired = MessageQueue(TRANSACTION_EXPIRED_TOPIC, half.broker_name, 0)
    kept: list[str] = []

    async def is_kept() -> bool:
        placed = await admin.messages.at(expired, 0) if await admin.offsets.max(expired) else None
        kept.extend([] if placed is None else [placed.message.offset_id])
        return bool(kept)

    await eventually(is_kept)
    return half, kept[0]


async def kill(running: RunningBroker) -> None:
    await asyncio.to_thread(running.stop, kill=True)
    await asyncio.to_thread(running.start)


@pytest.mark.parametrize("decision", [Decision.COMMIT, Decision.ROLLBACK])
async def test_a_killed_broker_keeps_one_decision(tmp_path: Path, decision: Decision) -> None:
    async with broker(tmp_path, arguments=QUICK) as running, running.session() as session:
        admin = Admin(session)
        await create_topic(session, TOPIC, queues=1)
        async with TransactionProducer(session, GROUP, unknown) as producer:
            first, kept = await given_up(admin, producer)
        await admin.maintenance.change_settings_of(running.address, SLOW)
        await admin.transactions.check_again(first.broker_name, kept)
        (again,) = (await admin.transactions.open_on(first.broker_name)).items
        newest = Prepared(first.broker_name, again.newest.queue_offset, again.newest.log_offset, first.message_id)
        assert newest != first
        await kill(running)
        member = TransactionProducer(session, GROUP, unknown)
        await member.end(newest, decision)
        await kill(running)
        for place in (first, newest):
            await member.end(place, decision)
            with pytest.raises(TransactionDecided):
                await member.end(place, OTHER[decision])
        with pytest.raises(TransactionDecided):
            await admin.transactions.check_again(first.broker_name, kept)
        messages = await pull_all(running.address, TOPIC, 0)
        assert [message.body for message in messages] == [b"1"] * (decision is Decision.COMMIT)
