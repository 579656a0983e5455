"""Whether the queues of a topic have the ranges of offsets that a request names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rest_framework import serializers

from broker_core.client.admin import Admin
from broker_core.client.admin.topics import Ends, Topic, TopicStats
from broker_core.client.errors import NoRoute
from broker_core.protocol.bodies.queues import MessageQueue
from console.clusters.connections import ask
from console.clusters.reasons import reason_of
from console.errors import BrokersSilent


def check_offsets(cluster: str, part: str, topic: Topic, given: Sequence[Mapping[str, Any]]) -> None:
    """Raise ValidationError for a range that its queue does not have now, with the one that it has.

    Raises BrokersSilent for a broker that does not answer: what its queues have is not known. What is removed before
    the job starts, its program finds.
    """

    async def question(admin: Admin) -> TopicStats:
        return await admin.topics.stats(topic.name)

    stats = ask(cluster, question)
    if stats.failed:
        reasons = "; ".join(map(reason_of, stats.failed.values()))
        raise BrokersSilent(f"Which offsets the queues of topic {topic.name!r} have is not known: {reasons}.")
    if silent := topic.configs.keys() - {queue.broker_name for queue in stats.queues}:
        raise NoRoute(topic.name, f"no master of broker {min(silent)!r} is known")
    faults: Any = {number: fault for number, each in enumerate(given) if (fault := _fault(each, stats.queues))}
    if faults:
        raise serializers.ValidationError({part: {"offsets": faults}})


def _fault(given: Mapping[str, Any], ends: Ends) -> dict[str, str] | None:
    """Return what is wrong with a range, by its field; one without a broker is that of each broker with the queue."""
    number, broker = given["queue"], given.get("broker")
    having = {queue.broker_name: queue for queue in ends if queue.queue_id == number}
    if not having:
        ids = [queue.queue_id for queue in ends]
        return {"queue": f"there is no queue {number}, only {min(ids)} to {max(ids)}"}
    if broker is not None and broker not in having:
        return {"broker": f"queue {number} is on {', '.join(sorted(having))}, not on {broker!r}"}
    queues = [queue for name, queue in sorted(having.items()) if broker in (None, name)]
    found = (_fault_of_bound(bound, given.get(bound), queue, ends) for queue in queues for bound in ("from", "to"))
    return next((fault for fault in found if fault is not None), None)


def _fault_of_bound(bound: str, at: int | None, queue: MessageQueue, ends: Ends) -> dict[str, str] | None:
    low, high = ends[queue].min_offset, ends[queue].max_offset
    if at is None or low <= at <= high:
        return None
    return {bound: f"queue {queue.queue_id} of {queue.broker_name} has the offsets {low} to {high}, not {at}"}
