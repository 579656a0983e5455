"""The topics that the broker makes for a group: its retry topic and its dead letters.

Every group has its retry topic from its first heartbeat or lease on, because tools find a group's brokers by it.
"""

from __future__ import annotations

from broker_core.broker.registration import Registration
from broker_core.broker.topics import Topics
from broker_core.protocol.bodies.groups import SubscriptionGroupConfig
from broker_core.protocol.bodies.topics import TopicConfig
from broker_core.protocol.topics import retry_topic


class GroupTopics:
    """Creates what is missing and tells the name servers."""

    def __init__(self, *, topics: Topics, registration: Registration) -> None:
        self._topics = topics
        self._registration = registration

    def get_or_create(self, name: str, *, queues: int, now: int) -> TopicConfig:
        """Return a retry or dead-letter topic; raise IllegalTopicName or LimitReached when it cannot be created."""
        known = self._topics.find(name)
        if known is not None:
            return known
        created = self._topics.get_or_create(name, queues=queues, now=now)
        self._registration.want()
        return created

    def ensure_retry(self, group: SubscriptionGroupConfig, *, now: int) -> None:
        """Create the retry topic of a group if it has none; raises like `get_or_create`."""
        self.get_or_create(retry_topic(group.group_name), queues=group.retry_queue_nums, now=now)
