"""Requirements of `gateway.live.tail.outbox`: nothing grows without bound, and what is dropped is said."""

from __future__ import annotations

import asyncio

from gateway.live.tail.frames import DoneFrame, DroppedFrame, MessageFrame
from gateway.live.tail.outbox import Outbox


def message(offset: int) -> MessageFrame:
    return MessageFrame(
        message_id=str(offset), topic="orders", broker="a", queue_id=0, offset=offset, stored_at="", tag=None, keys=[],
        size_bytes=1, reconsume_times=0, properties={}, body=None, body_hidden=None, unjudged=None,
    )  # fmt: skip


async def test_frames_come_in_order() -> None:
    outbox = Outbox(2)
    first, done = message(1), DoneFrame(reason="stopped")
    assert outbox.put(first, 5) == 0
    outbox.put(done)
    assert [await outbox.get(), await outbox.get()] == [first, done]


async def test_the_oldest_messages_make_room_and_are_told_before_the_next_frame() -> None:
    outbox = Outbox(2)
    done = DoneFrame(reason="stopped")
    outbox.put(done)
    assert [outbox.put(message(n), n * 1000) for n in range(5)] == [0, 0, 1, 1, 1]
    lost = await outbox.get()
    moments = ("1970-01-01T00:00:00.000Z", "1970-01-01T00:00:02.000Z")
    assert lost == DroppedFrame(n=3, reason="slow_client", begin=moments[0], to=moments[1])
    assert await outbox.get() == done
    assert [await outbox.get(), await outbox.get()] == [message(3), message(4)]


async def test_who_must_drop_nothing_waits_for_room() -> None:
    outbox = Outbox(1)
    outbox.put(message(1), 1)
    waiting = asyncio.create_task(outbox.room())
    await asyncio.sleep(0)
    assert not waiting.done()
    await outbox.get()
    await waiting
