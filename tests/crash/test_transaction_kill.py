"""Kill the real broker between half, op and delivery: what was committed is there once, what was rolled back never."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from broker_core.client import Decision, Message, StoredMessage, TransactionProducer
from broker_core.client.errors import ClientError
from broker_core.protocol.topics import HALF_TOPIC, OP_HALF_TOPIC
from broker_core.store.reader import StoreReader
from tests.compat.exchange import pull_all
from tests.support.cluster import RunningBroker, broker, create_topic
from tests.support.wait import eventually

pytestmark = pytest.mark.crash

KILLS = 50
PRODUCERS = 4
TOPIC, GROUP = "orders", "payers"
QUEUES = 2
SMALL_FILES = ("--commit-log-file-size", str(512 * 1024))
SETTINGS = ("--setting", "transactionTimeOut=200", "--setting", "transactionCheckInterval=300")


@dataclass
class Ledger:
    """The database of the producers: how each transaction ended, before anybody was told; UNKNOWN ends later."""

    ended: dict[bytes, Decision] = field(default_factory=dict)
    prepared: set[bytes] = field(default_factory=set)
    asked: int = 0

    def begin(self) -> bytes:
        body = b"%d" % len(self.ended)
        self.ended[body] = random.choice(list(Decision))
        return body

    def check(self, asked: StoredMessage) -> Decision:
        self.asked += 1
        if self.ended[asked.body] is Decision.UNKNOWN and self.asked % 2:
            self.ended[asked.body] = random.choice([Decision.COMMIT, Decision.ROLLBACK])
        return self.ended[asked.body]

    @property
    def committed(self) -> set[bytes]:
        return {body for body, decision in self.ended.items() if decision is Decision.COMMIT}


async def pay_until_killed(producer: TransactionProducer, ledger: Ledger) -> None:
    """Prepare one message after another, and tell the broker of two in three what became of it."""
    while True:
        body = ledger.begin()
        try:
            _, prepared = await producer.prepare(Message.create(TOPIC, body), timeout_ms=2_000)
            ledger.prepared.add(body)
            if random.randrange(3):
                await producer.end(prepared, ledger.ended[body])
        except ClientError:
            return


async def kill_under_load(running: RunningBroker, producer: TransactionProducer, ledger: Ledger) -> None:
    wanted = len(ledger.prepared) + random.randrange(100)
    producers = [asyncio.create_task(pay_until_killed(producer, ledger)) for _ in range(PRODUCERS)]
    await eventually(lambda: len(ledger.prepared) >= wanted or all(task.done() for task in producers))
    await asyncio.to_thread(running.stop, kill=True)
    await asyncio.gather(*producers)


async def read_topic(running: RunningBroker) -> Counter[bytes]:
    found = [await pull_all(running.address, TOPIC, queue_id) for queue_id in range(QUEUES)]
    return Counter(message.body for messages in found for message in messages)


async def test_transactions_end_as_their_producers_say_over_many_kills(tmp_path: Path) -> None:
    ledger = Ledger()
    async with broker(tmp_path, arguments=SMALL_FILES + SETTINGS) as running:
        async with running.session() as session:
            await create_topic(session, TOPIC, queues=QUEUES)
            async with TransactionProducer(session, GROUP, ledger.check) as producer:
                for _ in range(KILLS):
                    await kill_under_load(running, producer, ledger)
                    await asyncio.to_thread(running.start)

                async def all_ended() -> bool:
                    found = await read_topic(running)
                    assert set(found) <= ledger.committed
                    still_open = {body for body in ledger.prepared if ledger.ended[body] is Decision.UNKNOWN}
                    return not still_open and ledger.committed & ledger.prepared <= set(found)

                await eventually(all_ended)
        found = await read_topic(running)
    assert ledger.asked > 0
    assert [body for body, times in found.items() if times > 1] == []
    with StoreReader.open(running.store) as reader:
        assert reader.range(HALF_TOPIC, 0)[1] >= len(ledger.prepared)
        assert reader.range(OP_HALF_TOPIC, 0)[1] >= len(ledger.prepared)
