"""Rules and their changes: limits, audit, and what a PATCH may change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from django.db import transaction
from rest_framework.exceptions import ValidationError

from console.alerts.models import Channel, Rule
from console.audit.record import Actor, record
from console.errors import AlreadyExists, Conflict
from console.etags import etag
from console.rows import unless_taken

MAX_RULES: Final = 200
MAX_CHANNELS_OF_A_RULE: Final = 10
_PLAIN: Final = (
    "name", "enabled", "metric", "cluster", "subject", "direction", "limit", "for_ms", "no_data_after_ms",
    "severity", "template", "repeat_ms",
)  # fmt: skip


def choices_of(rule: Rule) -> dict[str, Any]:
    """Return the fields of a rule that a PATCH can change."""
    channels = sorted(rule.channels.values_list("pk", flat=True))
    return {**{name: getattr(rule, name) for name in _PLAIN}, "channels": channels}


def rule_tag(rule: Rule) -> str:
    """Return the tag of the fields that a PATCH can change."""
    return etag([rule.pk, choices_of(rule)])


def add(by: Actor, fields: Mapping[str, Any]) -> Rule:
    """Create a rule; raise AlreadyExists if the name is taken, Conflict at the limit."""
    plain, channels = _parted(fields)
    name = plain["name"]
    with unless_taken(Rule.objects.filter(name=name), AlreadyExists(f"There is a rule {name!r} already.")):
        if Rule.objects.count() >= MAX_RULES:
            raise Conflict(f"There are {MAX_RULES} alert rules, and more are not allowed; delete one first.")
        rule = Rule.objects.create(**plain)
        rule.channels.set(channels or [])
        record(by, "alert_rule.create", _place(rule), after=choices_of(rule))
    return rule


def change(by: Actor, rule: Rule, fields: Mapping[str, Any]) -> Rule:
    """Change these fields of a rule; raise AlreadyExists if the name is another one's."""
    plain, channels = _parted(fields)
    name = plain.get("name", rule.name)
    taken = Rule.objects.filter(name=name).exclude(pk=rule.pk)
    before = choices_of(rule)
    with unless_taken(taken, AlreadyExists(f"There is another rule {name!r}.")):
        for field, value in plain.items():
            setattr(rule, field, value)
        rule.save()
        if channels is not None:
            rule.channels.set(channels)
        record(by, "alert_rule.update", _place(rule), before=before, after=choices_of(rule))
    return rule


def remove(by: Actor, rule: Rule) -> None:
    """Delete a rule with its alerts; its deliveries stay."""
    with transaction.atomic():
        record(by, "alert_rule.delete", _place(rule), before=choices_of(rule))
        rule.delete()


def channels_named(ids: list[str]) -> list[Channel]:
    """Return the channels with these ids; raise ValidationError for one that does not exist."""
    found = {channel.pk: channel for channel in Channel.objects.filter(pk__in=ids)}
    if missing := [each for each in ids if each not in found]:
        raise ValidationError(f"there is no alert channel {missing[0][:60]!r}")
    return list(found.values())


def _parted(fields: Mapping[str, Any]) -> tuple[dict[str, Any], list[Channel] | None]:
    return {name: value for name, value in fields.items() if name != "channels"}, fields.get("channels")


def _place(rule: Rule) -> str:
    return f"alert-rules/{rule.name}"
