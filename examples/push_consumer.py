"""Handles messages of a topic until stopped with Ctrl-C, or until the requested number of messages is handled."""

from __future__ import annotations

import asyncio
import sys

from broker_core.client import ClientConfig, PushConfig, PushConsumer, RetryLater, Session, StoredMessage


async def main(name_server: str, count: str = "0") -> None:
    left = int(count)
    done = asyncio.Event()

    async def handle(message: StoredMessage) -> None:
        nonlocal left
        if message.body == b"bad" and message.reconsume_times == 0:
            raise RetryLater(delay_level=1)
        print(
            f"{message.message_id} {message.tag} {message.body!r}, delivery {message.reconsume_times + 1}", flush=True
        )
        left -= 1
        if left == 0:
            done.set()

    config = PushConfig(start_from="first", concurrency=8, max_reconsume_times=5)
    async with Session(ClientConfig([name_server])) as session:
        consumer = PushConsumer(session, "billing", handle, config)
        consumer.subscribe("orders")
        async with consumer:
            await done.wait()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
