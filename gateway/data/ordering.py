"""Why a receive in order is empty although messages are stored: their queues wait until what is on lease is settled."""

from __future__ import annotations

from broker_core.client.consumer.leases import LeasedMessage
from broker_core.protocol.bodies.queues import MessageQueue
from gateway.data.leases import Wanted
from gateway.data.parts import DataPlaneParts


async def ask_if_locked(
    parts: DataPlaneParts, cluster: str, wanted: Wanted, room: int
) -> tuple[list[LeasedMessage], bool]:
    """Ask once more for messages, without waiting; return them, or whether the order holds messages back.

    A queue that is not locked gives its messages, or at least moves on past those that the filter leaves out.
    """
    before = await _behind(parts, cluster, wanted)
    if not before:
        return [], False
    leased = (await wanted.ask(room, wait_ms=0)).messages
    if leased:
        return leased, False
    after = await _behind(parts, cluster, wanted)
    return [], any(after.get(queue) == offset for queue, offset in before.items())


async def _behind(parts: DataPlaneParts, cluster: str, wanted: Wanted) -> dict[MessageQueue, int]:
    """Return the group's offset in each queue that has messages after it."""
    admin = await parts.connections.admin(cluster)
    stats = await admin.groups.consume_stats(wanted.consumer.group, topic=wanted.topic)
    return {
        queue: found.consumer_offset
        for queue, found in stats.queues.items()
        if queue.topic == wanted.topic and found.consumer_offset < found.broker_offset
    }
