"""What one broker said last."""

from __future__ import annotations

from dataclasses import dataclass, field

from broker_core.client.admin.clusters import BrokerRuntime
from broker_core.client.admin.groups import Group, GroupConnections, GroupStats
from broker_core.protocol.bodies import MessageQueue, TopicConfig, TopicOffset


@dataclass(frozen=True, slots=True)
class Delay:
    """When the oldest message that a group has not consumed in a queue was stored, as of `at` (ms)."""

    offset: int
    """The group's offset at that time: while it does not move, the message is the same."""
    stored_at: int | None
    """None if the broker cannot say, e.g. because the group has not committed in this queue."""
    at: int

    def age(self, now: int, offset: int) -> int | None:
        """Return the age (ms) of the oldest message not consumed: now, or as of `at` if the group has moved since.

        A message that came while its broker was asked, or whose broker's clock is ahead, is 0 ms old.
        """
        if self.stored_at is None:
            return None
        return max(0, (max(now, self.at) if offset == self.offset else self.at) - self.stored_at)


@dataclass(slots=True)
class BrokerFacts:
    """What one broker said last."""

    at: int = 0
    """When the lag of its groups was asked for (ms); 0 means never."""
    followed_at: int = 0
    """Until when (ms) every change was heard of; 0 if topics are asked for in portions."""
    listed_at: int = 0
    """When both its topics and its groups were listed last (ms); 0 means not yet."""
    runtime: BrokerRuntime | None = None
    topics: dict[str, TopicConfig] = field(default_factory=dict)
    groups: dict[str, Group] = field(default_factory=dict)
    stats: dict[str, GroupStats] = field(default_factory=dict)
    ends: dict[str, dict[MessageQueue, TopicOffset]] = field(default_factory=dict)
    ends_at: dict[str, int] = field(default_factory=dict)
    kept_bytes: dict[str, int | None] = field(default_factory=dict)
    """What the messages of a topic take in the log; None if the broker does not tell, as Apache RocketMQ's."""
    members: dict[str, GroupConnections] = field(default_factory=dict)
    delays: dict[tuple[str, MessageQueue], Delay] = field(default_factory=dict)

    def ended_at(self, topic: str) -> int:
        """Return when (ms) the ends of a topic were known to be those in `ends`."""
        return self.followed_at or self.ends_at[topic]
