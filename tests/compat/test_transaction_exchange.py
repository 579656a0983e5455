"""A store folder passes between Gantry and Apache RocketMQ in the middle of transactions, after any stop.

Each finds the transactions that the other left open, asks their producer about them, and takes its late decisions.
Every committed message is there once, and none that was rolled back.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.client import Decision, Message, StoredMessage, TransactionProducer
from broker_core.client.members import Prepared
from tests.compat.exchange import SIZES, Server, pull_all
from tests.support.apache import ApacheBroker
from tests.support.cluster import RunningBroker, create_topic
from tests.support.ports import free_ports
from tests.support.wait import eventually

pytestmark = pytest.mark.compat

TOPIC, GROUP = "orders", "payers"
QUICK = {"transactionTimeOut": "300", "transactionCheckInterval": "500", "transactionCheckMax": "200"}
SETTINGS = {name: value for name, value in SIZES.items() if name not in ("messageIndexSafe", "mappedFileSizeCommitLog")}


def brokers(folder: Path) -> dict[str, Server]:
    """Return both brokers, not started, on one folder and one port."""
    address = f"127.0.0.1:{free_ports(4) + 2}"
    ours = ("--commit-log-file-size", SIZES["mappedFileSizeCommitLog"])
    return {
        "gantry": RunningBroker(folder, arguments=ours, settings=SETTINGS | QUICK, address=address),
        "apache": ApacheBroker(folder, settings=SIZES | QUICK, address=address),
    }


class Payer:
    """Prepares messages with each broker, and knows how they end; what it does not know stays open."""

    def __init__(self) -> None:
        self.ended: dict[bytes, Decision] = {}
        self.prepared: dict[bytes, Prepared] = {}
        self.asked: set[bytes] = set()

    def check(self, asked: StoredMessage) -> Decision:
        self.asked.add(asked.body)
        return self.ended.get(asked.body, Decision.UNKNOWN)

    async def prepare(self, producer: TransactionProducer, name: str) -> None:
        """Prepare four messages: two that are decided at once, and two that stay open."""
        for end in ("commit", "roll back", "open", "open too"):
            body = f"{name} {end}".encode()
            _, self.prepared[body] = await producer.prepare(Message.create(TOPIC, body))
        for end, decision in (("commit", Decision.COMMIT), ("roll back", Decision.ROLLBACK)):
            body = f"{name} {end}".encode()
            self.ended[body] = decision
            await producer.end(self.prepared[body], decision)

    @property
    def committed(self) -> list[bytes]:
        return sorted(body for body, decision in self.ended.items() if decision is Decision.COMMIT)


async def bodies(server: Server) -> list[bytes]:
    found = [await pull_all(server.address, TOPIC, queue_id) for queue_id in range(2)]
    return sorted(message.body for messages in found for message in messages)


@pytest.mark.parametrize("kill", [False, True], ids=["closed well", "killed"])
@pytest.mark.parametrize("kinds", [("gantry", "apache"), ("apache", "gantry")], ids=["begun by Gantry", "by Apache"])
async def test_open_transactions_pass_from_one_broker_to_the_other(
    tmp_path: Path, kinds: tuple[str, str], kill: bool
) -> None:
    both, payer = brokers(tmp_path), Payer()
    for number, name in enumerate(("first", "second", "third")):
        server = both[kinds[number % 2]]
        server.start()
        try:
            async with server.session() as session:
                if name == "first":
                    await create_topic(session, TOPIC, queues=2)
                async with TransactionProducer(session, GROUP, payer.check) as producer:
                    payer.asked.clear()
                    still_open = set(payer.prepared) - set(payer.ended)
                    # What the other left open is asked about, and one of it is decided now
                    await eventually(lambda still_open=still_open: payer.asked >= still_open)
                    for body in sorted(still_open)[:1]:
                        payer.ended[body] = Decision.COMMIT
                    await eventually(lambda server=server: has_all(server, payer))
                    await payer.prepare(producer, name)
                    await eventually(lambda server=server: has_all(server, payer))
        finally:
            server.stop(kill=kill)
    last = both["gantry"]
    last.start()
    try:
        async with last.session() as session, TransactionProducer(session, GROUP, payer.check):
            for body in set(payer.prepared) - set(payer.ended):
                payer.ended[body] = Decision.COMMIT if b"too" in body else Decision.ROLLBACK
            await eventually(lambda: has_all(last, payer))
    finally:
        last.stop()
    assert len(payer.ended) == 12


async def has_all(server: Server, payer: Payer) -> bool:
    """Return whether every committed message is there; one that is there twice, or was not committed, is a fault."""
    found = await bodies(server)
    assert len(found) == len(set(found)), found
    assert set(found) <= set(payer.committed), found
    return found == payer.committed
