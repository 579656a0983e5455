"""The file that a caller gives: its form, and its items by section.

A field that an item does not have stays as it is, or takes its default if the item is created. A section that is
missing or null is left alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rest_framework import serializers

from console.accounts.role_shapes import RoleCreateSerializer
from console.alerts.rule_shapes import RuleWriteSerializer
from console.fields import EachOnceField, NameField
from console.jobs.models import Overlap
from console.jobs.serializers import CatchUpField, JitterField
from gateway.control.definitions.shapes import FORMATS, SECTIONS, Section
from gateway.control.topic_shapes import MAX_QUEUES, MESSAGE_TYPE_NAMES, SHOWN_PERMISSIONS

MAX_ITEMS: Final = 10_000
MAX_CLUSTERS: Final = 100
_CONSOLE: Final[tuple[Section, ...]] = ("roles", "schedules", "alert_rules")
_IN_CLUSTER: Final[tuple[Section, ...]] = ("topics", "groups")


@dataclass(frozen=True, slots=True)
class Given:
    """An item of the file."""

    name: str
    values: Mapping[str, Any]
    """All fields, with defaults for those that the item does not have."""
    said: frozenset[str]
    """The fields that the item has."""


@dataclass(frozen=True, slots=True)
class GivenSection:
    """The items of a section in the order of the file."""

    section: Section
    cluster: str | None
    items: Sequence[Given]


class TopicItemSerializer(serializers.Serializer[Any]):
    """A topic of the file. What its name must be is checked if it has to be created."""

    name = serializers.CharField(max_length=255)
    read_queues = serializers.IntegerField(min_value=1, max_value=MAX_QUEUES, default=4)
    write_queues = serializers.IntegerField(min_value=1, max_value=MAX_QUEUES, default=4)
    permission = serializers.ChoiceField(SHOWN_PERMISSIONS, default="rw")
    message_type = serializers.ChoiceField(MESSAGE_TYPE_NAMES, allow_null=True, default=None)


class GroupItemSerializer(serializers.Serializer[Any]):
    """A consumer group of the file."""

    name = serializers.CharField(max_length=255)
    retry_max_times = serializers.IntegerField(min_value=0, max_value=1000, default=16)
    consume_enabled = serializers.BooleanField(default=True)
    consume_broadcast_enabled = serializers.BooleanField(default=True)


class ScheduleItemSerializer(serializers.Serializer[Any]):
    """A schedule of the file. Its times and its job are checked as when it is created."""

    name = NameField(max_length=200)
    cron = serializers.CharField(max_length=200)
    zone = serializers.CharField(max_length=64, default="UTC")
    enabled = serializers.BooleanField(default=True)
    overlap = serializers.ChoiceField(Overlap.choices, default=Overlap.SKIP)
    catch_up_ms = CatchUpField()
    jitter_ms = JitterField()
    job = serializers.DictField()


class RuleItemSerializer(RuleWriteSerializer):
    """An alert rule of the file, with its channels by name."""

    def validate_channels(self, value: list[str]) -> list[Any]:
        """Return the names; whether there are such channels is checked item by item."""
        return sorted(value)

    channels = EachOnceField(child=serializers.CharField(max_length=100), max_length=10, default=list)


class ItemsField(serializers.ListField):
    """The items of a section, each name once."""

    def __init__(self, item: type[serializers.Serializer[Any]]) -> None:
        super().__init__(child=item(), max_length=MAX_ITEMS, required=False, allow_null=True)

    def to_internal_value(self, data: Any) -> Any:
        """Return the items; refuse a name that is there twice."""
        found = super().to_internal_value(data)
        return _each_once(found)


class ClusterPartSerializer(serializers.Serializer[Any]):
    """What a cluster is to have."""

    name = serializers.CharField(max_length=64)
    topics = ItemsField(TopicItemSerializer)
    groups = ItemsField(GroupItemSerializer)


class FileSerializer(serializers.Serializer[Any]):
    """A file of definitions, as `GET /definitions` gives it."""

    format = serializers.ChoiceField(FORMATS)
    exported_at = serializers.CharField(max_length=64, required=False, help_text="Changes nothing.")
    clusters = serializers.ListField(child=ClusterPartSerializer(), max_length=MAX_CLUSTERS, default=list)
    roles = ItemsField(RoleCreateSerializer)
    schedules = ItemsField(ScheduleItemSerializer)
    alert_rules = ItemsField(RuleItemSerializer)
    remarks = serializers.ListField(
        child=serializers.DictField(), max_length=10 * MAX_ITEMS, required=False, help_text="Change nothing."
    )

    def validate_clusters(self, value: list[Any]) -> list[Any]:
        """Refuse a cluster that is there twice."""
        return _each_once(value)


class GivenSerializer(serializers.Serializer[Any]):
    """A file of definitions, and where it belongs."""

    definitions = FileSerializer()
    cluster = serializers.CharField(
        max_length=64, required=False, help_text="The topics and groups of the file's only cluster belong to this one."
    )
    sections = serializers.ListField(
        child=serializers.ChoiceField(SECTIONS), required=False, max_length=len(SECTIONS), help_text="Only these."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse to put several clusters into one."""
        count = len(attrs["definitions"]["clusters"])
        if "cluster" in attrs and count > 1:
            fault = f"the file has {count} clusters; with this field it has at most one"
            raise serializers.ValidationError({"cluster": fault})
        return attrs


def sections_of(form: GivenSerializer) -> list[GivenSection]:
    """Return the sections that a valid form has."""
    asked, raw = form.validated_data, form.initial_data["definitions"]
    file = asked["definitions"]
    wanted = asked.get("sections", SECTIONS)
    found = [_section(each, None, file, raw) for each in _CONSOLE]
    for part, told in zip(file["clusters"], raw.get("clusters", ()), strict=True):
        found += [_section(each, asked.get("cluster", part["name"]), part, told) for each in _IN_CLUSTER]
    return [each for each in found if each is not None and each.section in wanted]


def _section(
    section: Section, cluster: str | None, file: Mapping[str, Any], raw: Mapping[str, Any]
) -> GivenSection | None:
    items = file.get(section)
    if items is None:
        return None
    pairs = zip(items, raw[section], strict=True)
    return GivenSection(section, cluster, [Given(values["name"], values, frozenset(told)) for values, told in pairs])


def _each_once(items: list[Any]) -> list[Any]:
    seen = set[str]()
    for item in items:
        if item["name"] in seen:
            raise serializers.ValidationError(f"{item['name'][:60]!r} is there more than once")
        seen.add(item["name"])
    return items
