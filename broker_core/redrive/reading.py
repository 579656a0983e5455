"""The dead letters of a job: the ranges of the queues when it began, read in order."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from typing import Final

from msgspec import Struct

from broker_core.client.admin import Admin
from broker_core.client.admin.placed import PlacedMessage
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.topics import dead_letter_topic

_PAGE: Final = 128


class Range(Struct, frozen=True, kw_only=True):
    """The offsets of a queue from `begin` up to `end`: what arrives later does not belong to the job."""

    broker: str
    queue_id: int
    begin: int
    end: int


async def ranges_now(admin: Admin, group: str) -> list[Range]:
    """Return what the group's queues of dead letters hold now; raise the failure of a broker that does not say."""
    stats = await admin.topics.stats(dead_letter_topic(group))
    for error in stats.failed.values():
        raise error
    return [
        Range(broker=queue.broker_name, queue_id=queue.queue_id, begin=ends.min_offset, end=ends.max_offset)
        for queue, ends in stats.queues.items()
    ]


async def letters(admin: Admin, group: str, ranges: Iterable[Range]) -> AsyncIterator[PlacedMessage]:
    """Yield the dead letters of ranges, the oldest of each queue first; those that have expired are left out."""
    for each in ranges:
        queue, at = MessageQueue(dead_letter_topic(group), each.broker, each.queue_id), each.begin
        while at < each.end:
            page = await admin.messages.page(queue, at, min(_PAGE, each.end - at))
            for placed in page.messages:
                yield placed
            if not page.messages and at >= page.min_offset:
                break
            at = max(page.positions[queue], page.min_offset)
