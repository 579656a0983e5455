"""A million messages read through a filter: SQL92 over properties beside a filter by tag that selects as many.

Once by pulls of a client, as consumers read, and once in the store alone, where only the filter is left: a tag is
in the consume queue, and properties are in each record.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path

from broker_core.broker.filters.expressions import accept_of
from broker_core.client.producer import Producer
from broker_core.client.session import Session
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.codes import PULL_SUBSCRIPTION
from broker_core.protocol.command import Command
from broker_core.protocol.headers.pull import PullMessageRequest, PullMessageResponse
from broker_core.protocol.message import Message
from broker_core.remoting import RemotingClient
from broker_core.store.fetch import Accept
from broker_core.store.reader import StoreReader
from tests.benchmarks.measure import Row
from tests.support.cluster import RunningBroker, create_topic

MESSAGES = 1_000_000
BATCH = 5_000
ROUNDS = 3
TOPIC = "bench"
TAGS = {10: "tag9", 50: " || ".join(f"tag{number}" for number in range(5, 10))}
EXPRESSIONS = {"amount > 89": 10, "amount > 89 AND region IN ('eu', 'us')": 10, "amount > 49": 50}
"""With the percentage of messages that each selects."""


def run() -> list[Row]:
    """Return the rates of each filter: messages read in a second, selected or not."""
    with tempfile.TemporaryDirectory() as folder:
        broker = RunningBroker(Path(folder), settings={"mappedFileSizeConsumeQueue": str(20 * MESSAGES)})
        broker.start()
        try:
            pulled = asyncio.run(_pulled(broker))
        finally:
            broker.stop()
        return pulled + _read(broker.store)


async def _pulled(broker: RunningBroker) -> list[Row]:
    async with broker.session() as session:
        await create_topic(session, TOPIC, queues=1)
        await _fill(session)
    by_tag = {share: await _rate(broker, "TAG", tags) for share, tags in TAGS.items()}
    return [
        Row(f"pull: {text}", await _rate(broker, "SQL92", text), "msg/s", f"tag, {share} %", by_tag[share])
        for text, share in EXPRESSIONS.items()
    ]


async def _fill(session: Session) -> None:
    """Store messages with amounts from 0 to 99 in turn, of which each ten have a tag."""
    queue = MessageQueue(TOPIC, "broker-a", 0)
    async with Producer(session) as producer:
        for begin in range(0, MESSAGES, BATCH):
            await producer.send_batch(TOPIC, [_message(number) for number in range(begin, begin + BATCH)], queue=queue)


def _message(number: int) -> Message:
    amount = number * 7 % 100
    return Message.create(
        TOPIC, b"x" * 100, tag=f"tag{amount // 10}", properties={"amount": str(amount), "region": "eu"}
    )


async def _rate(broker: RunningBroker, kind: str, expression: str) -> float:
    return MESSAGES / min([await _pull_all(broker.address, kind, expression) for _ in range(ROUNDS)])


async def _pull_all(address: str, kind: str, expression: str) -> float:
    client, started, offset = RemotingClient(), time.perf_counter(), 0
    try:
        while offset < MESSAGES:
            header = PullMessageRequest(
                "readers", TOPIC, 0, offset, 32, PULL_SUBSCRIPTION, subscription=expression, expression_type=kind
            )
            answer = await client.invoke(address, Command.request(header), 30_000)
            offset = answer.header(PullMessageResponse).next_begin_offset
    finally:
        await client.close()
    return time.perf_counter() - started


def _read(folder: Path) -> list[Row]:
    rows = []
    with StoreReader.open(folder) as reader:
        by_tag = {share: _read_rate(reader, accept_of("TAG", tags, serves_sql=True)) for share, tags in TAGS.items()}
        for text, share in EXPRESSIONS.items():
            rate = _read_rate(reader, accept_of("SQL92", text, serves_sql=True))
            rows.append(Row(f"store: {text}", rate, "msg/s", f"tag, {share} %", by_tag[share]))
    return rows


def _read_rate(reader: StoreReader, accept: Accept) -> float:
    return MESSAGES / min(_read_all(reader, accept) for _ in range(ROUNDS))


def _read_all(reader: StoreReader, accept: Accept) -> float:
    started, offset = time.perf_counter(), 0
    while offset < MESSAGES:
        offset = reader.get(TOPIC, 0, offset, max_messages=32, max_bytes=262_144, accept=accept).next_offset
    return time.perf_counter() - started
