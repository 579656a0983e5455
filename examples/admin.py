"""Creates the topic of the other examples and prints the contents of the cluster."""

from __future__ import annotations

import asyncio
import sys

from broker_core.client import Admin, ClientConfig, Session


async def main(name_server: str) -> None:
    async with Session(ClientConfig([name_server])) as session:
        admin = Admin(session)
        created = await admin.topics.create("orders", read_queues=4, write_queues=4)
        for address, error in created.failed.items():
            print(f"{address} did not create the topic: {error}")
        await admin.groups.create("billing", retry_max_times=5)

        stats = await admin.topics.stats("orders")
        print(f"orders holds {stats.messages} messages")
        page = await admin.messages.browse("orders", limit=3)
        for placed in page.messages:
            print(f"{placed.broker_name}/{placed.message.queue_id} {placed.message.body!r}")
        found = await admin.messages.search("orders", "A17")
        print(f"{len(found.messages)} messages have the key A17")

        for address, runtime in (await admin.clusters.runtime()).found.items():
            print(f"{address} runs {runtime.version} and stores {runtime.in_rate} messages a second")
        group = await admin.groups.consume_stats("billing")
        print(f"billing has {group.lag} messages to read")


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
