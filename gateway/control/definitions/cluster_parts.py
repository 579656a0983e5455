"""Topics and consumer groups of the file against those of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar

from rest_framework.request import Request

from broker_core.client.admin.groups import Group
from broker_core.client.admin.topics import Topic
from console.accounts.rights import Resource
from console.clusters import operations
from console.clusters.change_lock import change_lock
from console.clusters.known_topics import known_topic
from console.clusters.outcomes import BrokerOutcome
from console.errors import Conflict
from console.shapes import as_json
from gateway.control.definitions import of_cluster
from gateway.control.definitions.faults import fault_of
from gateway.control.definitions.given import Given, GivenSection
from gateway.control.definitions.part import Part, Values, changed_meanwhile
from gateway.control.definitions.present import Present
from gateway.control.group_shapes import GroupCreateSerializer
from gateway.control.topic_queue_shapes import PERMISSION_BITS
from gateway.control.topic_shapes import TopicCreateSerializer, wire_type

F = TypeVar("F", Topic, Group)

# A paused topic has neither.
_BITS: Final[Mapping[str, int]] = {**PERMISSION_BITS, "none": 0}
_GROUP_FIELDS: Final = {
    "retry_max_times": "retry_max_times",
    "consume_enabled": "consume_enable",
    "consume_broadcast_enabled": "consume_broadcast_enable",
}
_TYPE_STAYS: Final = "A message type is declared when a topic is created, and cannot be changed here."
_NOT_DECLARED: Final = (None, "unspecified")


class TopicPart(Part):
    """Topics."""

    verb = "manage"

    def __init__(self, request: Request, given: GivenSection) -> None:
        super().__init__(request, given)
        self.cluster = given.cluster or ""
        self._found: Present[Topic] = of_cluster.own_topics(request, self.cluster)

    def names(self) -> Collection[str] | None:
        """Return the names of the topics."""
        return self._found.items

    def unknown_because(self) -> str:
        """Return why they are not known."""
        return self._found.remarks[0].text

    def current(self, name: str) -> Values:
        """Return the settings of a topic; a setting in which its brokers differ by broker."""
        topic = (self._found.items or {})[name]
        single = {broker: replace(topic, configs={broker: config}) for broker, config in topic.configs.items()}
        each = {broker: as_json(of_cluster.topic_definition(one)) for broker, one in single.items()}
        whole = as_json(of_cluster.topic_definition(topic))
        return {**_joined(each, whole), "message_type": whole["message_type"]}

    def resource(self, name: str) -> Resource:
        """Return the topic."""
        return Resource("topic", name)

    def is_same(self, field: str, now: Values, wanted: Any) -> bool:
        """Return whether a setting is as wanted; whoever declares nothing leaves what is declared."""
        if field == "message_type" and wanted in _NOT_DECLARED:
            return True
        return super().is_same(field, now, wanted)

    def fault(self, item: Given, changed: Values) -> str | None:
        """Return why a topic cannot be created or changed like this."""
        if item.name in (self.names() or ()):
            return _TYPE_STAYS if "message_type" in changed else None
        return fault_of(TopicCreateSerializer(data={"name": item.name}))

    def create(self, item: Given) -> Sequence[BrokerOutcome]:
        """Create a topic on every broker."""
        with change_lock(self.cluster, "topics", item.name):
            wanted = _topic_settings({name: value for name, value in item.values.items() if name != "name"})
            return operations.create_topic(self.by, self.cluster, item.name, wanted)

    def change(self, item: Given, changed: Values) -> Sequence[BrokerOutcome]:
        """Change a topic on every broker that has it."""
        with change_lock(self.cluster, "topics", item.name):
            found = known_topic(self.cluster, item.name)
            _check_unchanged(item.name, of_cluster.topic_definition, self._found, found)
            return operations.change_topic(self.by, self.cluster, found, _topic_settings(changed))


class GroupPart(Part):
    """Consumer groups."""

    verb = "manage"

    def __init__(self, request: Request, given: GivenSection) -> None:
        super().__init__(request, given)
        self.cluster = given.cluster or ""
        self._found: Present[Group] = of_cluster.own_groups(request, self.cluster)

    def names(self) -> Collection[str] | None:
        """Return the names of the groups."""
        return self._found.items

    def unknown_because(self) -> str:
        """Return why they are not known."""
        return self._found.remarks[0].text

    def current(self, name: str) -> Values:
        """Return the settings of a group; nothing for one that consumes without any."""
        group = (self._found.items or {})[name]
        each = {
            broker: as_json(of_cluster.group_definition(Group(name, {broker: config})))
            for broker, config in group.configs.items()
        }
        return _joined(each, next(iter(each.values()), {}))

    def resource(self, name: str) -> Resource:
        """Return the group."""
        return Resource("group", name)

    def fault(self, item: Given, changed: Values) -> str | None:
        """Return why a group cannot be created."""
        return None if item.name in (self.names() or ()) else fault_of(GroupCreateSerializer(data={"name": item.name}))

    def create(self, item: Given) -> Sequence[BrokerOutcome]:
        """Create a group on every broker."""
        with change_lock(self.cluster, "groups", item.name):
            return operations.create_group(self.by, self.cluster, item.name, _group_settings(item.values))

    def change(self, item: Given, changed: Values) -> Sequence[BrokerOutcome]:
        """Change a group on every broker."""
        with change_lock(self.cluster, "groups", item.name):
            found = operations.find_group(self.cluster, item.name)
            if found is None:
                raise Conflict(f"{item.name!r} was deleted meanwhile.")
            _check_unchanged(item.name, of_cluster.group_definition, self._found, found)
            return operations.change_group(self.by, self.cluster, found, _group_settings(changed))


def _check_unchanged(name: str, definition: Callable[[F], object], then: Present[F], now: F) -> None:
    """Raise Conflict if a broker has other settings now than it had when they were compared with the file."""
    for broker, config in (then.items or {})[name].configs.items():
        one = {broker: now.configs.get(broker, config)}  # a broker that has fallen silent tells nothing
        if definition(replace(now, configs=one)) != definition(replace(now, configs={broker: config})):
            raise changed_meanwhile(name)


def _joined(each: Mapping[str, Values], whole: Values) -> dict[str, Any]:
    """Return the fields, each as one value, or by broker if they differ."""
    found: dict[str, Any] = {}
    for field, value in whole.items():
        by_broker = {broker: values[field] for broker, values in each.items()}
        found[field] = value if all(one == value for one in by_broker.values()) else by_broker
    return found


def _topic_settings(values: Values) -> dict[str, Any]:
    """Return settings as operations take them."""
    found = {field: values[field] for field in ("read_queues", "write_queues") if field in values}
    if "permission" in values:
        found["perm"] = _BITS[values["permission"]]
    if values.get("message_type") not in _NOT_DECLARED:
        found["message_type"] = wire_type(values["message_type"])
    return found


def _group_settings(values: Values) -> dict[str, Any]:
    """Return settings as operations take them."""
    return {theirs: values[field] for field, theirs in _GROUP_FIELDS.items() if field in values}
