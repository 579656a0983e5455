"""Read and write permissions of the broker, of topics and of groups."""

from __future__ import annotations

from broker_core.broker.config import BrokerConfig
from broker_core.broker.errors import BrokerUnreadable, BrokerUnwritable, TopicUnreadable
from broker_core.broker.groups import Groups
from broker_core.broker.settings import Settings
from broker_core.broker.topics import Topics
from broker_core.protocol.bodies.groups import SubscriptionGroupConfig
from broker_core.protocol.bodies.topics import TopicConfig
from broker_core.protocol.codes import PERM_READ, PERM_WRITE


class ReadRights:
    """Current read permissions; `address` is named where the broker refuses."""

    def __init__(self, *, settings: Settings, address: str, topics: Topics, groups: Groups) -> None:
        self._address = address
        self._topics = topics
        self._groups = groups
        settings.watch(self._follow)

    def _follow(self, config: BrokerConfig) -> None:
        self._is_readable = bool(config.permission & PERM_READ)

    def check_broker(self) -> None:
        """Raise BrokerUnreadable."""
        if not self._is_readable:
            raise BrokerUnreadable(self._address)

    def get_topic(self, topic: str) -> TopicConfig:
        """Return the settings of a topic that may be read; raise TopicUnknown or TopicUnreadable."""
        config = self._topics.get(topic)
        if not config.perm & PERM_READ:
            raise TopicUnreadable(topic)
        return config

    def find_group(self, group: str) -> SubscriptionGroupConfig | None:
        """Return the settings of a group that may consume, None for an unknown one; raise GroupPaused."""
        return self._groups.find_consuming(group)

    def get_group(self, group: str, account: str, *, now: int) -> SubscriptionGroupConfig:
        """Return the settings of a group that may consume, which an account uses.

        Raises GroupNotFound, GroupPaused or LimitReached.
        """
        return self._groups.get_consuming(group, now=now, account=account)


class WriteRights:
    """Current write permission of the broker."""

    def __init__(self, *, settings: Settings, address: str) -> None:
        self._address = address
        settings.watch(self._follow)

    def _follow(self, config: BrokerConfig) -> None:
        self._is_writable = bool(config.permission & PERM_WRITE)

    def check_broker(self) -> None:
        """Raise BrokerUnwritable."""
        if not self._is_writable:
            raise BrokerUnwritable(self._address)
