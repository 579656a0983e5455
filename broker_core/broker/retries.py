"""Messages that could not be consumed go to the group's retry topic, and finally to its dead letters.

By default a message is retried sixteen times, on delay levels 3 to 18 (10 s to 2 h); after the seventeenth failure it
becomes a dead letter. Retry topics belong to the group, not to the topic (broker/README.md#retries-and-dead-letters).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from broker_core.broker.groups import Groups
from broker_core.broker.registration import Registration
from broker_core.broker.topics import Topics
from broker_core.protocol import properties as names
from broker_core.protocol.bodies.groups import SubscriptionGroupConfig
from broker_core.protocol.bodies.topics import TopicConfig
from broker_core.protocol.message import Message, StoredMessage
from broker_core.protocol.topics import RETRY_PREFIX, dead_letter_topic, group_of, is_dead_letter_topic, retry_topic

FIRST_RETRY_LEVEL: Final = 3
TO_DEAD_LETTERS: Final = -1
"""A delay level below zero requests no further attempt."""


@dataclass(frozen=True, slots=True)
class Retry:
    """A message to store again; `message.topic` is the retry or the dead-letter topic of the group."""

    message: Message
    delay_level: int
    reconsume_times: int

    @property
    def is_dead_letter(self) -> bool:
        """Whether it will not be retried any more."""
        return is_dead_letter_topic(self.message.topic)


def send_back(stored: StoredMessage, group: str, *, delay_level: int, max_times: int) -> Retry:
    """Return the copy of `stored` that `group` gets later, or its dead letter after `max_times` retries.

    Delay level 0 means three more than the retries so far. `stored` has its body as stored in the log.
    """
    pairs = {name: value for name, value in stored.properties.items() if name not in names.OF_DELIVERIES}
    pairs.setdefault(names.RETRY_TOPIC, stored.topic)
    pairs.setdefault(names.ORIGIN_MESSAGE_ID, stored.offset_id)
    if stored.reconsume_times >= max_times or delay_level < 0:
        topic, level = dead_letter_topic(group), 0
    else:
        topic, level = retry_topic(group), delay_level or FIRST_RETRY_LEVEL + stored.reconsume_times
    pairs[names.DELAY] = str(level)
    pairs[names.WAIT] = "false"
    message = Message(topic, stored.body, pairs, stored.flag, stored.sys_flag)
    return Retry(message, level, stored.reconsume_times + 1)


def exhausted_retry(topic: str, reconsume_times: int, max_times: int) -> str | None:
    """Return the dead-letter topic for a retry that a client sends itself after too many attempts, else None."""
    if reconsume_times < max_times:
        return None
    return dead_letter_topic(topic.removeprefix(RETRY_PREFIX))


class GroupTopics:
    """Creates the retry and dead-letter topics of groups, and requests their registration with the name servers.

    A group gets its retry topic with its first heartbeat or lease, because tools find a group's brokers by it. Its
    topics count for the account for which the group counts.
    """

    def __init__(self, *, topics: Topics, groups: Groups, registration: Registration) -> None:
        self._topics = topics
        self._groups = groups
        self._registration = registration

    def get_or_create(self, name: str, *, queues: int, now: int) -> TopicConfig:
        """Return a retry or dead-letter topic; raise IllegalTopicName or LimitReached if it cannot be created."""
        known = self._topics.find(name)
        if known is not None:
            return known
        account = self._groups.creator_of(group_of(name))
        created = self._topics.get_or_create(name, queues=queues, now=now, account=account)
        self._registration.want()
        return created

    def ensure_retry(self, group: SubscriptionGroupConfig, *, now: int) -> None:
        """Create the retry topic of a group if it has none; raises like `get_or_create`."""
        self.get_or_create(retry_topic(group.group_name), queues=group.retry_queue_nums, now=now)
