"""JSON shapes of rules."""

from __future__ import annotations

from typing import Any, Final

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from console.alerts.fields import PatternField
from console.alerts.metrics import SUBJECTS, YES_OR_NO
from console.alerts.models import (
    DEFAULT_FOR_MS,
    DEFAULT_NO_DATA_MS,
    DEFAULT_REPEAT_MS,
    Channel,
    Direction,
    Metric,
    Rule,
    Severity,
)
from console.alerts.now import RuleFigures
from console.alerts.rules import MAX_CHANNELS_OF_A_RULE, channels_named, rule_tag
from console.alerts.template import NAMES, unknown_names
from console.fields import EachOnceField, NameField, NumberField
from console.shapes import as_json, serializer_of

_DAY_MS: Final = 86_400_000
_SHORTEST_NO_DATA_MS: Final = 5_000
_SHORTEST_REPEAT_MS: Final = 60_000
_LARGEST: Final = 1e15
SUBJECT_KINDS: Final = sorted(set(SUBJECTS.values()))


class RuleLimitsSerializer(serializers.Serializer[Any]):
    """What a rule looks at, and when it is too much."""

    metric = serializers.ChoiceField(Metric.choices)
    cluster = PatternField(64)
    subject = PatternField(255)
    direction = serializers.ChoiceField(Direction.choices, default=Direction.ABOVE)
    limit = NumberField(min_value=0, max_value=_LARGEST)
    for_ms = serializers.IntegerField(
        min_value=0, max_value=_DAY_MS, default=DEFAULT_FOR_MS, help_text="How long before it fires."
    )
    no_data_after_ms = serializers.IntegerField(
        min_value=_SHORTEST_NO_DATA_MS,
        max_value=_DAY_MS,
        allow_null=True,
        default=DEFAULT_NO_DATA_MS,
        help_text="How long a figure is unknown before the state is `no_data`; null: never.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse a limit for what is only yes or no, as the whole rule will be."""
        whole = {name: attrs.get(name, getattr(self.instance, name, None)) for name in ("metric", "direction", "limit")}
        if whole["metric"] in YES_OR_NO and (whole["direction"], whole["limit"]) != (Direction.ABOVE, 0):
            raise serializers.ValidationError(
                {"limit": "must be 0, with direction above: it is so or it is not; for_ms says how long"}
            )
        return attrs


class RuleWriteSerializer(RuleLimitsSerializer):
    """A rule to create or to change."""

    name = NameField(max_length=200)
    enabled = serializers.BooleanField(default=True)
    severity = serializers.ChoiceField(Severity.choices, default=Severity.WARNING)
    channels = EachOnceField(
        child=serializers.CharField(max_length=16), max_length=MAX_CHANNELS_OF_A_RULE, default=list
    )
    template = serializers.CharField(
        max_length=500,
        allow_blank=True,
        default="",
        help_text=f"Title of its deliveries, with {', '.join('{' + name + '}' for name in NAMES)}.",
    )
    repeat_ms = serializers.IntegerField(
        min_value=_SHORTEST_REPEAT_MS,
        max_value=7 * _DAY_MS,
        allow_null=True,
        default=DEFAULT_REPEAT_MS,
        help_text="After how long it is told again while it fires and nobody acknowledges; null: never.",
    )

    def validate_channels(self, value: list[str]) -> list[Channel]:
        """Return the channels; refuse one that does not exist."""
        return channels_named(value)

    def validate_template(self, value: str) -> str:
        """Refuse names that no delivery has."""
        if unknown := unknown_names(value):
            raise serializers.ValidationError(f"{{{unknown[0]}}} is not known; known: {', '.join(NAMES)}")
        return value


class RuleSerializer(serializers.ModelSerializer[Rule]):
    """An alert rule."""

    metric = serializers.ChoiceField(Metric.choices)
    subject_kind = serializers.SerializerMethodField()
    direction = serializers.ChoiceField(Direction.choices)
    severity = serializers.ChoiceField(Severity.choices)
    limit = serializers.FloatField()
    channels = serializers.SerializerMethodField()
    figures = serializers.SerializerMethodField()
    etag = serializers.SerializerMethodField(help_text="For If-Match.")

    class Meta:
        model = Rule
        fields = (
            "id", "name", "enabled", "metric", "subject_kind", "cluster", "subject", "direction", "limit", "for_ms",
            "no_data_after_ms", "severity", "channels", "template", "repeat_ms", "figures", "etag",
        )  # fmt: skip
        read_only_fields = fields

    def get_subject_kind(self, rule: Rule) -> str:
        """Return what the subjects of the rule are."""
        return SUBJECTS[rule.metric]

    def get_channels(self, rule: Rule) -> list[str]:
        """Return the ids of its channels."""
        return sorted(channel.pk for channel in rule.channels.all())

    @extend_schema_field(serializer_of(RuleFigures)(many=True))
    def get_figures(self, rule: Rule) -> Any:
        """Return what the rule shows now in each cluster that was sampled within a minute."""
        return as_json(self.context.get("figures", {}).get(rule.pk, []))

    def get_etag(self, rule: Rule) -> str:
        """Return the tag of the fields that a PATCH can change."""
        return rule_tag(rule)
