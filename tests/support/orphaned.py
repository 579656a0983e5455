"""A slave whose master is gone and has no successor, with what the master had stored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from broker_core.client.blocking import LoopThread
from broker_core.client.producer import Producer, SendResult
from broker_core.protocol.dead_letters import REASON
from broker_core.protocol.message import Message
from broker_core.protocol.properties import RETRY_TOPIC
from broker_core.protocol.topics import dead_letter_topic
from broker_core.protocol.traces import DeliveredTrace, encode_trace, keys_of
from tests.support.cluster import SeveralBrokers, create_topic, several_brokers
from tests.support.ports import free_ports
from tests.support.wait import eventually

NAME: Final = "broker-a"
TOPIC: Final = "orders"
KEY: Final = "A17"
TRACES: Final = "traces"
GROUP: Final = "billing"
CAUSE: Final = "db down"


@dataclass(frozen=True, slots=True)
class Orphaned:
    """The cluster: its name server, and the three messages with `KEY` in queue 0 of `TOPIC`."""

    name_server: str
    sent: Sequence[SendResult]
    """The first of them is traced in `TRACES`, and there are two dead letters of `GROUP`."""


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
    await _trace_and_bury(running, sent[0])
    await running.stop(NAME)
    return Orphaned(f"127.0.0.1:{running.name_server.port}", sent)


async def _trace_and_bury(running: SeveralBrokers, sent: SendResult) -> None:
    """Trace a message and make two dead letters; return when the slave has them."""
    call = DeliveredTrace(1_000, None, GROUP, "R1", sent.message_id, 0, None)
    trace = Message(TRACES, encode_trace(call).encode(), {"KEYS": " ".join(keys_of(call))})
    letter = Message(dead_letter_topic(GROUP), b"0", {RETRY_TOPIC: TOPIC, REASON: CAUSE})
    async with running.session() as session, Producer(session) as producer:
        for message in (trace, letter, letter):
            await create_topic(session, message.topic, queues=1)
            await producer.send(message)
    slave = running.brokers[f"{NAME}-1"].components
    await eventually(lambda: slave.store.max_offset(letter.topic, 0) == 2)
    await eventually(lambda: slave.topics.find(letter.topic) is not None)


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
