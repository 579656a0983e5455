"""What Gantry gave up, rolled back or checked again keeps its decision while Apache RocketMQ has the folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.client import Decision, Message, Session, StoredMessage, TransactionProducer
from broker_core.client.admin import Admin
from broker_core.client.errors import TransactionDecided
from broker_core.client.members import Prepared
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.topics import TRANSACTION_EXPIRED_TOPIC
from tests.compat.exchange import Server
from tests.compat.test_transaction_exchange import GROUP, TOPIC, bodies, brokers
from tests.support.cluster import create_topic
from tests.support.wait import eventually

pytestmark = pytest.mark.compat

BODIES = (b"revived", b"rolled back", b"given up")


async def unknown(_: StoredMessage) -> Decision:
    return Decision.UNKNOWN


async def given_up(session: Session, producer: TransactionProducer) -> dict[bytes, Prepared]:
    """Prepare messages about which the broker stops to ask; return their places."""
    admin = Admin(session)
    (address,) = await admin.clusters.masters()
    await admin.maintenance.change_settings_of(address, {"transactionCheckMax": "1"})
    halves = {body: (await producer.prepare(Message.create(TOPIC, body)))[1] for body in BODIES}
    expired = MessageQueue(TRANSACTION_EXPIRED_TOPIC, producer_broker(halves), 0)

    async def all_are() -> bool:
        return await admin.offsets.max(expired) == len(BODIES)

    await eventually(all_are)
    slow = {"transactionCheckInterval": "3600000", "transactionTimeOut": "3600000"}
    await admin.maintenance.change_settings_of(address, slow)
    return halves


def producer_broker(halves: dict[bytes, Prepared]) -> str:
    return next(iter(halves.values())).broker_name


async def check_again(session: Session, half: Prepared) -> None:
    admin = Admin(session)
    placed = await admin.transactions.half(half.broker_name, half.queue_offset, half.log_offset)
    assert placed is not None
    await admin.transactions.check_again(half.broker_name, placed.message.offset_id)


async def has_revived(server: Server) -> bool:
    found = await bodies(server)
    assert found in ([], [b"revived"]), found
    return bool(found)


@pytest.mark.parametrize("kill", [False, True], ids=["closed well", "killed"])
async def test_what_was_given_up_keeps_its_decision(tmp_path: Path, kill: bool) -> None:
    both = brokers(tmp_path)
    gantry, apache = both["gantry"], both["apache"]
    gantry.start()
    try:
        async with gantry.session() as session:
            await create_topic(session, TOPIC, queues=2)
            async with TransactionProducer(session, GROUP, unknown) as producer:
                halves = await given_up(session, producer)
                await producer.end(halves[b"rolled back"], Decision.ROLLBACK)
            await check_again(session, halves[b"revived"])
    finally:
        gantry.stop(kill=kill)
    asked: set[bytes] = set()

    def commit(message: StoredMessage) -> Decision:
        asked.add(message.body)
        return Decision.COMMIT

    apache.start()
    try:
        async with apache.session() as session, TransactionProducer(session, GROUP, commit):
            await eventually(lambda: has_revived(apache))
    finally:
        apache.stop(kill=kill)
    assert asked == {b"revived"}
    gantry.start()
    try:
        async with gantry.session() as session, TransactionProducer(session, GROUP, unknown) as producer:
            for body, other in ((b"revived", Decision.ROLLBACK), (b"rolled back", Decision.COMMIT)):
                with pytest.raises(TransactionDecided):
                    await producer.end(halves[body], other)
                with pytest.raises(TransactionDecided):
                    await check_again(session, halves[body])
            await producer.end(halves[b"given up"], Decision.COMMIT)
            for body in (b"given up", b"revived"):
                await producer.end(halves[body], Decision.COMMIT)
        assert await bodies(gantry) == [b"given up", b"revived"]
    finally:
        gantry.stop()
