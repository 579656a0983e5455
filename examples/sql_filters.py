"""Selects messages by their properties: the broker evaluates the expression and sends only what matches."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace

from broker_core.client import (
    LITE,
    SQL92,
    ClientConfig,
    LeaseConsumer,
    LitePullConsumer,
    Message,
    Producer,
    Session,
    SubscriptionRefused,
    queue_for_key,
)


async def main(name_server: str) -> None:
    async with Session(ClientConfig([name_server])) as session:
        await send(session)
        await poll(session)
        await lease(session)
        await meet_an_error(session)


async def send(session: Session) -> None:
    async with Producer(session, "checkout") as producer:
        queue = queue_for_key(await producer.queues("orders"), "amounts")
        for amount, region in (("50", "eu"), ("150", "eu"), ("900", "us"), ("900", "asia")):
            body = f"amount {amount} of {region}".encode()
            properties = {"amount": amount, "region": region}
            await producer.send(Message.create("orders", body, properties=properties), queue=queue)


async def poll(session: Session) -> None:
    config = replace(LITE, start_from="first")
    consumer = LitePullConsumer(session, "large-orders", config, auto_commit=False)
    consumer.subscribe("orders", "amount > 100 AND region IN ('eu', 'us')", kind=SQL92)
    async with consumer:
        while messages := await consumer.poll(timeout_ms=3_000):
            for message in messages:
                print(f"polled {message.body!r}")
            await consumer.commit()


async def lease(session: Session) -> None:
    consumer = LeaseConsumer(session, "large-orders-by-lease")
    received = await consumer.receive(
        "orders", wait_ms=3_000, tag_expression="amount BETWEEN 50 AND 150", expression_type=SQL92
    )
    for leased in received.messages:
        print(f"leased {leased.message.body!r}")
        await consumer.ack(leased.receipt)


async def meet_an_error(session: Session) -> None:
    consumer = LitePullConsumer(session, "wrong-orders", LITE)
    consumer.subscribe("orders", "amount >", kind=SQL92)
    try:
        await consumer.start()
    except SubscriptionRefused as error:
        print(f"refused: {(error.remark or '').partition('failed: ')[2]}")


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
