"""Connected producers and consumers by group, as reported by their heartbeats (broker/README.md#heartbeats).

Members are keyed by connection, so a client that reconnects is present twice until its old connection ends; lists of
client ids contain it once. A consumer group's subscriptions are those of the last heartbeat of any member.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field, replace
from typing import Generic

from broker_core.broker.members import Ch, Member
from broker_core.broker.producers import Producers
from broker_core.protocol.bodies.heartbeat import (
    ConsumeFromWhere,
    ConsumerData,
    ConsumeType,
    MessageModel,
    SubscriptionData,
)


@dataclass(slots=True)
class ConsumerGroup(Generic[Ch]):
    """The members of a consumer group and its subscriptions."""

    name: str
    consume_type: ConsumeType | None = None
    message_model: MessageModel | None = None
    consume_from_where: ConsumeFromWhere | None = None
    members: dict[Ch, Member[Ch]] = field(default_factory=dict)
    subscriptions: dict[str, SubscriptionData] = field(default_factory=dict)
    popped: dict[Ch, set[str]] = field(default_factory=dict)
    """The topics that each member has popped."""

    @property
    def is_broadcasting(self) -> bool:
        """Whether every member receives every message."""
        return self.message_model is MessageModel.BROADCASTING

    def client_ids(self) -> list[str]:
        """Return the ids of the members, without duplicates."""
        return list(dict.fromkeys(member.client_id for member in self.members.values()))

    def find_member(self, client_id: str) -> Member[Ch] | None:
        """Return the newest member with this client id."""
        found = [member for member in self.members.values() if member.client_id == client_id]
        return max(found, key=lambda member: member.seen_at, default=None)

    def subscribe(self, subscriptions: Iterable[SubscriptionData]) -> bool:
        """Subscribe to exactly these topics; return whether the set changed. A newer version replaces an expression."""
        wanted = {subscription.topic: subscription for subscription in subscriptions}
        changed = wanted.keys() != self.subscriptions.keys()
        for topic, known in self.subscriptions.items():
            if topic in wanted and wanted[topic].sub_version <= known.sub_version:
                wanted[topic] = known
        self.subscriptions = wanted
        return changed


def _do_nothing(_group: str) -> None:
    return None


class Clients(Generic[Ch]):
    """All live producers and consumers."""

    def __init__(self, on_empty: Callable[[str], None] = _do_nothing) -> None:
        """`on_empty` is called with the name of each consumer group whose last member has left."""
        self.producers: Producers[Ch] = Producers()
        self._consumers: dict[str, ConsumerGroup[Ch]] = {}
        self._on_empty = on_empty

    # -- questions

    def find_consumers(self, group: str) -> ConsumerGroup[Ch] | None:
        """Return a consumer group that has a member, or None."""
        return self._consumers.get(group)

    def consumer_groups(self) -> Collection[ConsumerGroup[Ch]]:
        """Return every consumer group that has a member."""
        return self._consumers.values()

    def producer_id(self, group: str, channel: Ch) -> str:
        """Return the client id of a connection in a producer group, empty if it is no member."""
        member = self.producers.of_group(group).get(channel)
        return "" if member is None else member.client_id

    def find_producer(self, client_id: str) -> Member[Ch] | None:
        """Return the newest producer with this client id, of any group."""
        found = self.producers.of_client(client_id)
        return max(found, key=lambda member: member.seen_at, default=None)

    def groups_on(self, topic: str) -> list[str]:
        """Return the consumer groups whose members subscribe to a topic."""
        return [name for name, group in self._consumers.items() if topic in group.subscriptions]

    # -- changes

    def heartbeat_consumer(self, data: ConsumerData, member: Member[Ch]) -> bool:
        """Record a consumer; return whether its group changed: a new connection, or a different set of topics."""
        group = self._consumers.setdefault(data.group_name, ConsumerGroup(data.group_name))
        is_new = member.channel not in group.members
        group.members[member.channel] = member
        group.consume_type = data.consume_type
        group.message_model = data.message_model
        group.consume_from_where = data.consume_from_where
        return group.subscribe(data.subscription_data_set) or is_new

    def renew_consumer(self, name: str, member: Member[Ch]) -> Member[Ch] | None:
        """Record a consumer that does not repeat its subscriptions, and return what was known of it.

        A group without members stays without them: what it subscribes to is not known.
        """
        group = self._consumers.get(name)
        if group is None:
            return None
        known = group.members.get(member.channel)
        # Its subscriptions are still those of its last full heartbeat.
        group.members[member.channel] = replace(member, fingerprint=0 if known is None else known.fingerprint)
        return known

    def note_pop(self, name: str, channel: Ch, topic: str) -> None:
        """Record that a connection pops a topic, if it is a member of the group."""
        group = self._consumers.get(name)
        if group is not None and channel in group.members:
            group.popped.setdefault(channel, set()).add(topic)

    def leave_consumer(self, name: str, channel: Ch) -> bool:
        """Remove a connection from a consumer group; return whether it was a member and other members remain."""
        group = self._consumers.get(name)
        if group is None or group.members.pop(channel, None) is None:
            return False
        group.popped.pop(channel, None)
        if not group.members:
            del self._consumers[name]
            self._on_empty(name)
        return bool(group.members)

    def leave(self, channel: Ch) -> list[str]:
        """Remove a connection from all groups; return the consumer groups whose other members must be notified."""
        self.producers.remove_all(channel)
        return [name for name in list(self._consumers) if self.leave_consumer(name, channel)]

    def silent_since(self, time: int) -> set[Ch]:
        """Return the connections with a client whose last heartbeat is older than `time`."""
        members = list(self.producers.all())
        members += [member for group in self._consumers.values() for member in group.members.values()]
        return {member.channel for member in members if member.seen_at < time}
