"""Each consumer group has its retry topic from its first heartbeat or lease on: tools find a group's brokers by it."""

from __future__ import annotations

from broker_core.broker.parts import Parts
from broker_core.protocol.bodies.groups import SubscriptionGroupConfig
from broker_core.protocol.topics import retry_topic


def ensure_retry_topic(parts: Parts, group: SubscriptionGroupConfig, *, now: int) -> None:
    """Make the retry topic of a group if there is none, and have name servers told; raises LimitReached."""
    name = retry_topic(group.group_name)
    if parts.topics.find(name) is None:
        parts.topics.get_or_create(name, queues=group.retry_queue_nums, now=now)
        parts.registration.want()
