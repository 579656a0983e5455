"""Polls for messages instead of using a handler: once with shared queues, once with assigned queues."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace

from broker_core.client import LITE, ClientConfig, LitePullConsumer, PullConsumer, Session


async def main(name_server: str) -> None:
    async with Session(ClientConfig([name_server])) as session:
        await share_queues(session)
        await choose_queues(session)


async def share_queues(session: Session) -> None:
    config = replace(LITE, start_from="first")
    consumer = LitePullConsumer(session, "reports", config, auto_commit=False)
    consumer.subscribe("orders")
    async with consumer:
        read = 0
        while messages := await consumer.poll(timeout_ms=3_000, max_messages=32):
            read += len(messages)
            await consumer.commit()
        print(f"read {read} messages of {len(consumer.assigned)} queues")


async def choose_queues(session: Session) -> None:
    queues = await PullConsumer(session).queues("orders")
    async with LitePullConsumer(session, "audit", auto_commit=False) as consumer:
        await consumer.assign(queues[:1])
        await consumer.seek_to_begin(queues[0])
        messages = await consumer.poll()
        print(f"first in {queues[0]}: {messages[0].body!r}")
        await consumer.seek(queues[0], messages[0].queue_offset)
        again = await consumer.poll()
        print(f"read again: {again[0].body!r}")
        await consumer.commit({queues[0]: messages[0].queue_offset + 1})


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
