"""A slave whose master is gone and has no successor, with what the master had stored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from broker_core.client.blocking import LoopThread
from broker_core.client.producer import Producer, SendResult
from broker_core.protocol.message import Message
from tests.support.cluster import SeveralBrokers, create_topic, several_brokers
from tests.support.ports import free_ports
from tests.support.wait import eventually

NAME: Final = "broker-a"
TOPIC: Final = "orders"
KEY: Final = "A17"


@dataclass(frozen=True, slots=True)
class Orphaned:
    """The cluster: its name server, and the three messages with `KEY` in queue 0 of `TOPIC`."""

    name_server: str
    sent: Sequence[SendResult]


@contextmanager
def orphaned_slave(folder: Path) -> Iterator[Orphaned]:
    """Run a pair until the slave has everything, stop the master, and keep the slave for the block."""
    thread, stack = LoopThread("orphaned slave"), AsyncExitStack()
    try:
        yield thread.run(_begin(folder, stack), timeout_s=60)
    finally:
        thread.run(stack.aclose(), timeout_s=60)


async def _begin(folder: Path, stack: AsyncExitStack) -> Orphaned:
    running = await stack.enter_async_context(several_brokers(folder, names=()))
    await start_pair(running)
    sent = await send_to_both(running)
    await running.stop(NAME)
    return Orphaned(f"127.0.0.1:{running.name_server.port}", sent)


async def start_pair(running: SeveralBrokers) -> None:
    """Start a master and its slave."""
    await running.start(NAME, port=free_ports(4) + 2)
    await running.start(NAME, broker_id=1)


async def send_to_both(running: SeveralBrokers) -> list[SendResult]:
    """Send the three messages; return their places when the slave has them, their key and their topic."""
    async with running.session() as session:
        await create_topic(session, TOPIC, queues=1)
        async with Producer(session) as producer:
            sent = [await producer.send(Message(TOPIC, b"%d" % n, {"KEYS": KEY})) for n in range(3)]
    slave = running.brokers[f"{NAME}-1"].components
    await eventually(lambda: len(slave.store.search(TOPIC, KEY, begin=0, end=1 << 60, max_count=9).messages) == 3)
    await eventually(lambda: slave.topics.find(TOPIC) is not None)
    return sent
