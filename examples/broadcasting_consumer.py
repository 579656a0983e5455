"""Handles every message of a topic, regardless of other consumers; its offsets are in its own file."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from broker_core.client import ClientConfig, PushConfig, PushConsumer, Session, StoredMessage


async def main(name_server: str, count: str = "0", offsets_file: str = ".cache/offsets.json") -> None:
    left = int(count)
    done = asyncio.Event()

    async def handle(message: StoredMessage) -> None:
        nonlocal left
        print(f"{message.body!r}", flush=True)
        left -= 1
        if left == 0:
            done.set()

    config = PushConfig(start_from="first", broadcasting=True)
    async with Session(ClientConfig([name_server])) as session:
        consumer = PushConsumer(session, "caches", handle, config, offsets_file=Path(offsets_file))
        consumer.subscribe("orders")
        async with consumer:
            await done.wait()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
