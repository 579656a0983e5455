"""Ask the real broker process to end while clients send and wait: it ends by itself, with all that it acknowledged."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from broker_core.client.config import ProducerConfig
from broker_core.client.errors import ClientError
from broker_core.client.producer import Producer
from broker_core.client.session import Session
from broker_core.protocol.message import Message
from broker_core.remoting import RemotingClient, RemotingError
from broker_core.store.closed import NAME as CLOSED
from broker_core.store.reader import StoreReader
from broker_core.store.verify import verify
from tests.support.cluster import RunningBroker, broker, create_topic
from tests.support.crowd import pull
from tests.support.wait import eventually

pytestmark = pytest.mark.crash

SENDERS = 16
WAITING = 32
STOPS = 4
LONGER_THAN_THE_TEST_MS = 600_000


class Load:
    """Producers and waiting consumers, which go on trying while the broker is away."""

    def __init__(self, running: RunningBroker, session: Session) -> None:
        self._running = running
        self._producer = Producer(session, config=ProducerConfig(retries=0))
        self._client = RemotingClient()
        self.acknowledged: list[bytes] = []
        senders = (self._send(sender) for sender in range(SENDERS))
        waiting = (self._wait(queue_id) for queue_id in range(WAITING))
        self._tasks = [asyncio.create_task(each) for each in (*senders, *waiting)]

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        ended = await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._client.close()
        assert {type(each) for each in ended} == {asyncio.CancelledError}, ended

    async def _send(self, sender: int) -> None:
        number = 0
        while True:
            number += 1
            body = b"%d-%d-" % (sender, number) + b"x" * 500
            try:
                await self._producer.send(Message("orders", body))
            except ClientError:
                await asyncio.sleep(0.01)  # whether it was stored is not known
            else:
                self.acknowledged.append(body)

    async def _wait(self, queue_id: int) -> None:
        """Pull from an empty queue; whoever is answered asks again at once."""
        request = pull("idle", queue_id, wait_ms=LONGER_THAN_THE_TEST_MS)
        while True:
            try:
                await self._client.invoke(self._running.address, request, LONGER_THAN_THE_TEST_MS)
            except RemotingError:
                await asyncio.sleep(0.01)


def bodies_in(store: Path) -> list[bytes]:
    found = []
    with StoreReader.open(store) as reader:
        assert verify(reader).told == []
        for topic, queue_id in reader.queues("orders"):
            for offset in range(*reader.range(topic, queue_id)):
                unit = reader.find_unit(topic, queue_id, offset)
                message = unit and reader.find(unit.log_offset)
                assert message
                found.append(message.body)
    return found


@pytest.mark.parametrize("flush", ["async", "sync"])
async def test_it_ends_by_itself_under_load_and_loses_nothing(tmp_path: Path, flush: str) -> None:
    async with broker(tmp_path, flush=flush) as running, running.session() as session:
        await create_topic(session, "orders")
        await create_topic(session, "idle", queues=WAITING)
        load = Load(running, session)
        for _ in range(STOPS):
            wanted = len(load.acknowledged) + 500
            await eventually(lambda wanted=wanted: len(load.acknowledged) >= wanted)
            # `stop` fails if the process must be killed
            assert await asyncio.to_thread(running.stop) == 0
            assert (running.store / CLOSED).exists()
            assert not (running.store / "abort").exists()
            await asyncio.to_thread(running.start)
        await load.close()
        assert await asyncio.to_thread(running.stop) == 0

    assert "was not shut down properly" not in running.log.read_text()
    stored = bodies_in(running.store)
    assert len(stored) == len(set(stored))
    assert set(load.acknowledged) <= set(stored)
