"""Topics created by sends: unknown topics, and dead-letter topics of retries that clients send themselves."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from broker_core.broker.errors import TopicUnknown
from broker_core.broker.groups import Groups
from broker_core.broker.registration import Registration
from broker_core.broker.retries import GroupTopics, exhausted_retry
from broker_core.broker.saving import Saver
from broker_core.broker.topics import Topics, check_name
from broker_core.protocol.bodies.topics import TopicConfig
from broker_core.protocol.codes import MAX_RECONSUME_VERSION
from broker_core.protocol.command import Command
from broker_core.protocol.headers.send import SendHeader
from broker_core.protocol.topics import RETRY_PREFIX


class TopicCreation:
    """Creates topics and requests their registration with the name servers."""

    def __init__(
        self,
        *,
        topics: Topics,
        groups: Groups,
        group_topics: GroupTopics,
        registration: Registration,
        saver: Saver,
        known: Callable[[], Awaitable[None]],
    ) -> None:
        self._known = known
        self.unsaved: set[str] = set()
        """Topics of which a killed broker would know nothing: what waits in another topic for them would be lost."""
        self._saver = saver
        self._topics = topics
        self._groups = groups
        self._group_topics = group_topics
        self._registration = registration

    def create_for(self, header: SendHeader, account: str, *, now: int) -> TopicConfig:
        """Return the topic created for its first message, which an account sent.

        Raises IllegalTopicName, TopicUnknown or LimitReached.
        """
        check_name(header.topic)
        try:
            topic = self._topics.create_like(
                header.default_topic,
                header.topic,
                queues=header.default_topic_queue_nums,
                sys_flag=0,
                now=now,
                account=account,
            )
        except TopicUnknown:
            if not header.topic.startswith(RETRY_PREFIX):
                raise
            topic = self._topics.get_or_create(header.topic, queues=1, now=now, account=account)
        self._registration.want()
        self.unsaved.add(topic.topic_name)
        return topic

    def dead_letter_of(self, request: Command, header: SendHeader, account: str, *, now: int) -> str | None:
        """Return the dead-letter topic for a retry that a client sends itself after too many attempts, else None."""
        group = self._groups.get_or_create(header.topic.removeprefix(RETRY_PREFIX), now=now, account=account)
        max_times = max_times_of(request, header.max_reconsume_times, group.retry_max_times)
        dead = exhausted_retry(header.topic, header.reconsume_times, max_times)
        if dead is not None:
            self._group_topics.get_or_create(dead, queues=1, now=now)
        return dead

    async def saved(self, topic: str) -> None:
        """Return when a created topic is in the file of topics, and known to slaves.

        It is tried again later if the file cannot be written.
        """
        await self._saver.save_all([self._topics])
        await self._known()
        self.unsaved.discard(topic)

    async def registered(self) -> None:
        """Return when the name servers know the created topics, or after a second."""
        await self._registration.wait()


def max_times_of(request: Command, wanted: int | None, of_group: int) -> int:
    """Return how often a message is retried: as the request says if its client is recent, else as the group says."""
    return of_group if wanted is None or request.version < MAX_RECONSUME_VERSION else wanted
