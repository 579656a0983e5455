"""Members of orderly groups in a process that is to be killed: `python -m tests.compat.orderly_member SERVER TOPIC …`.

The words after the name server and the topic are groups. It prints `ready` once it has all queues of the topic for
each, and a line for each message that it begins to handle: group, queue and queue offset. What begins with ``held`` it
handles for ever.
"""

from __future__ import annotations

import asyncio
import sys

from broker_core.client.config import ClientConfig, PushConfig
from broker_core.client.consumer.push import PushConsumer
from broker_core.client.session import Session
from broker_core.protocol.message import StoredMessage
from tests.support.wait import eventually

HELD = b"held"
QUEUES = 4
CONFIG = PushConfig(start_from="first", orderly=True, rebalance_ms=500, rebalance_again_ms=200, persist_offsets_ms=500)


async def main(name_server: str, topic: str, groups: list[str]) -> None:
    """Consume until the end of the process."""
    async with Session(ClientConfig([name_server])) as session:
        consumers = [await _joined(session, topic, group) for group in groups]
        await eventually(lambda: all(len(_queues(consumer, topic)) == QUEUES for consumer in consumers))
        print("ready", flush=True)
        await asyncio.Event().wait()


async def _joined(session: Session, topic: str, group: str) -> PushConsumer:
    async def handle(message: StoredMessage) -> None:
        print(group, message.queue_id, message.queue_offset, flush=True)
        if message.body.startswith(HELD):
            await asyncio.Event().wait()

    consumer = PushConsumer(session, group, handle, CONFIG)
    consumer.subscribe(topic)
    return await consumer.start()


def _queues(consumer: PushConsumer, topic: str) -> list[int]:
    return [queue.queue_id for queue in consumer.assigned if queue.topic == topic]


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
