"""Handles the messages of each queue one after the other; only one member of the group handles a queue."""

from __future__ import annotations

import asyncio
import sys

from broker_core.client import ClientConfig, PushConfig, PushConsumer, Session, StoredMessage


async def main(name_server: str, count: str = "0") -> None:
    left = int(count)
    done = asyncio.Event()

    async def handle(message: StoredMessage) -> None:
        nonlocal left
        print(f"queue {message.queue_id} offset {message.queue_offset}: {message.body!r}", flush=True)
        left -= 1
        if left == 0:
            done.set()

    config = PushConfig(start_from="first", orderly=True, suspend_queue_ms=1_000)
    async with Session(ClientConfig([name_server])) as session:
        consumer = PushConsumer(session, "shipping", handle, config)
        consumer.subscribe("orders")
        async with consumer:
            await done.wait()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
