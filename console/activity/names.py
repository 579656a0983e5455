"""Which topics and groups were created, changed and deleted, by comparing what each broker lists with what it listed.

A broker that is silent, or was just started, is not compared: what it listed before stands until it does. So neither
its end nor its return makes topics and groups come and go.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any, Final

import msgspec

from broker_core.client.admin.groups import Group, is_system_group
from broker_core.client.admin.topics import TopicKind, kind_of
from broker_core.protocol.bodies import SubscriptionGroupConfig, TopicConfig
from console.activity.shapes import ActivityEvent, ChangedValue, EventKind
from console.lag.facts import BrokerFacts
from console.lag.reading import LagReading
from console.moments import rfc3339

# Brokers are read seconds apart: the same change at another one is no second event.
_SAME_MS: Final = 60_000
_TOPIC_FIELDS: Final = {"read_queue_nums": "read_queues", "write_queue_nums": "write_queues", "perm": "perm"}
_GROUP_FIELDS: Final = {
    "consume_enable": "consume_enable",
    "consume_broadcast_enable": "consume_broadcast_enable",
    "retry_max_times": "retry_max_times",
    "retry_queue_nums": "retry_queue_nums",
}
_Topics = Mapping[str, TopicConfig]
_Groups = Mapping[str, Group]


class NamesSeen:
    """Follows the topics and groups of one cluster."""

    def __init__(self) -> None:
        self._topics: dict[str, _Topics] = {}
        self._groups: dict[str, _Groups] = {}
        self._own: frozenset[str] = frozenset()
        self._told: dict[tuple[str, str, tuple[ChangedValue, ...]], int] = {}

    def step(self, reading: LagReading, unsettled: Set[str]) -> list[ActivityEvent]:
        """Return what was created, changed and deleted since each broker was compared last."""
        self._own |= {name for name, topic in reading.topics.items() if topic.kind is TopicKind.SYSTEM}
        self._forget(reading)
        found: list[ActivityEvent] = []
        for broker, facts in sorted(reading.facts.items()):
            if facts.listed_at and (broker not in unsettled or broker not in self._topics):
                found += self._compare_topics(reading.at, broker, facts)
                found += self._compare_groups(reading.at, broker, facts)
        self._told = {key: at for key, at in self._told.items() if reading.at - at < _SAME_MS}
        return found

    def _forget(self, reading: LagReading) -> None:
        """Forget brokers that do not belong to the cluster any more."""
        for broker in self._topics.keys() - reading.facts.keys() - {each.broker for each in reading.missing}:
            del self._topics[broker], self._groups[broker]

    def _compare_topics(self, at: int, broker: str, facts: BrokerFacts) -> list[ActivityEvent]:
        before, now = self._topics.get(broker), facts.topics
        self._topics[broker] = now
        if before is None or before is now:
            return []
        found = []
        for name in sorted(before.keys() ^ now.keys()):
            if self._is_shown(name) and not _is_elsewhere(self._topics, broker, name):
                kind: EventKind = "topic_created" if name in now else "topic_deleted"
                found.append(ActivityEvent(seen_at=rfc3339(at), kind=kind, topic=name))
        for name in before.keys() & now.keys():
            changes = _differences(before[name], now[name], _TOPIC_FIELDS)
            if changes and self._is_shown(name) and self._is_new("topic", name, changes, at):
                found.append(ActivityEvent(seen_at=rfc3339(at), kind="topic_changed", topic=name, changes=changes))
        return found

    def _compare_groups(self, at: int, broker: str, facts: BrokerFacts) -> list[ActivityEvent]:
        before, now = self._groups.get(broker), facts.groups
        self._groups[broker] = now
        if before is None or before is now:
            return []
        found = []
        for name in sorted(before.keys() ^ now.keys()):
            if not is_system_group(name) and not _is_elsewhere(self._groups, broker, name):
                kind: EventKind = "group_created" if name in now else "group_deleted"
                found.append(ActivityEvent(seen_at=rfc3339(at), kind=kind, group=name))
        for name in before.keys() & now.keys():
            old, new = before[name], now[name]
            if old is new or is_system_group(name):
                continue
            changes = _differences(old.configs.get(broker), new.configs.get(broker), _GROUP_FIELDS)
            if changes and self._is_new("group", name, changes, at):
                kind = kind_of_change(changes)
                found.append(ActivityEvent(seen_at=rfc3339(at), kind=kind, group=name, changes=changes))
        return found

    def _is_shown(self, topic: str) -> bool:
        return kind_of(topic, self._own) is TopicKind.NORMAL

    def _is_new(self, what: str, name: str, changes: list[ChangedValue], at: int) -> bool:
        key = what, name, tuple(changes)
        is_new = key not in self._told
        self._told[key] = at
        return is_new


def kind_of_change(changes: list[ChangedValue]) -> EventKind:
    """Return what the changed settings of a group mean."""
    switched = next((each for each in changes if each.name == "consume_enable"), None)
    if switched is None or switched.after is None or switched.before is None:
        return "group_changed"
    return "group_resumed" if switched.after == "true" else "group_paused"


def text_of(value: Any) -> str | None:
    """Return the value of a setting as JSON writes it, without quotes; None if there is none."""
    if value is None:
        return None
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _differences(
    before: TopicConfig | SubscriptionGroupConfig | None,
    now: TopicConfig | SubscriptionGroupConfig | None,
    fields: Mapping[str, str],
) -> list[ChangedValue]:
    if before is None or now is None:
        # A group without settings gets those of all groups when it is first configured.
        return []
    pairs = {shown: (getattr(before, name), getattr(now, name)) for name, shown in fields.items()}
    return [
        ChangedValue(name=name, before=text_of(old), after=text_of(new))
        for name, (old, new) in pairs.items()
        if old != new
    ]


def _is_elsewhere(kept: Mapping[str, Mapping[str, object]], broker: str, name: str) -> bool:
    return any(name in names for other, names in kept.items() if other != broker)
