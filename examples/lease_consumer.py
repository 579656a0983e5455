"""Receives messages by lease: each is acknowledged separately, or delivered again."""

from __future__ import annotations

import asyncio
import sys

from broker_core.client import ClientConfig, LeaseConsumer, LeaseExpired, Session


async def main(name_server: str) -> None:
    async with Session(ClientConfig([name_server])) as session:
        consumer = LeaseConsumer(session, "billing-by-lease")
        while received := (await consumer.receive("orders", wait_ms=3_000, lease_ms=30_000)).messages:
            for leased in received:
                receipt = await consumer.extend(leased.receipt, 60_000)  # this one takes longer
                print(f"{leased.message.body!r}, delivery {leased.delivery_count}")
                try:
                    await consumer.ack(receipt)
                except LeaseExpired as error:
                    print(f"it will be delivered again: {error}")


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
