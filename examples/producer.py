"""Sends messages in every way that the producer supports."""

from __future__ import annotations

import asyncio
import sys

from broker_core.client import (
    BrokerRefused,
    ClientConfig,
    Message,
    NoRoute,
    Producer,
    SendUncertain,
    Session,
    TopicNotFound,
    Unreachable,
    queue_for_key,
)


async def main(name_server: str) -> None:
    async with Session(ClientConfig([name_server])) as session, Producer(session, "checkout") as producer:
        await send_one(producer)
        await send_a_batch(producer)
        await send_many(producer)
        await send_in_order(producer)
        await send_later(producer)
        await send_without_an_answer(producer)
        await meet_errors(producer)


async def send_one(producer: Producer) -> None:
    message = Message.create("orders", b'{"id": "A17", "amount": 189}', keys=["A17"], tag="created")
    result = await producer.send(message)
    print(f"{result.message_id} is at offset {result.queue_offset} of {result.queue}")


async def send_a_batch(producer: Producer) -> None:
    messages = [Message.create("orders", b"batch %d" % number) for number in range(10)]
    result = await producer.send_batch("orders", messages)
    print(f"stored {len(result.message_ids)} messages together")


async def send_many(producer: Producer) -> None:
    messages = [Message.create("orders", b"many %d" % number) for number in range(100)]
    for message, result in zip(messages, await producer.send_many(messages), strict=True):
        if isinstance(result, Exception):
            print(f"{message.body!r} was not sent: {result}")


async def send_in_order(producer: Producer) -> None:
    queue = queue_for_key(await producer.queues("orders"), "A17")
    for step in (b"paid", b"packed", b"shipped"):
        await producer.send(Message.create("orders", step, keys=["A17"]), queue=queue)


async def send_later(producer: Producer) -> None:
    await producer.send(Message.create("orders", b"remind A17", delay_level=3))  # 10 s


async def send_without_an_answer(producer: Producer) -> None:
    await producer.send_one_way(Message.create("orders", b"seen A17"))


async def meet_errors(producer: Producer) -> None:
    try:
        await producer.send(Message.create("no-such-topic", b"lost?"), timeout_ms=2_000)
    except SendUncertain as error:
        print(f"unknown whether it was stored: {error}")
    except (TopicNotFound, NoRoute, BrokerRefused, Unreachable) as error:
        print(f"not stored: {error}")


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
