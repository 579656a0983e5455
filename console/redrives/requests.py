"""The request of a redrive: its form in the API."""

from __future__ import annotations

from typing import Any, Final

from rest_framework import serializers

from console.fields import ExactField, MomentField
from console.jobs.time_limit import MinutesField
from console.redrives.models import Originals

MOST_MESSAGES: Final = 100_000
"""Dead letters of one job: their outcomes are kept in memory."""
MOST_PER_SECOND: Final = 10_000
USUAL_PER_SECOND: Final = 200
_MOST_IDS: Final = 10_000
_MOST_WORDS: Final = 100
DESTINATIONS: Final = ("failed_group", "origin", "other")


class RedriveFilterSerializer(serializers.Serializer[Any]):
    """Which dead letters: those that fulfil every condition; without any, all of the group."""

    causes = serializers.ListField(
        child=serializers.CharField(max_length=1_000, allow_null=True, trim_whitespace=False),
        required=False,
        allow_empty=False,
        max_length=_MOST_WORDS,
        help_text="Any of these; null stands for none given.",
    )
    topics = serializers.ListField(
        child=ExactField(max_length=255),
        required=False,
        allow_empty=False,
        max_length=_MOST_WORDS,
        help_text="The topics they came from.",
    )
    ids = serializers.ListField(
        child=serializers.CharField(max_length=255),
        required=False,
        allow_empty=False,
        max_length=_MOST_IDS,
        help_text="Message ids or offset ids.",
    )
    key = serializers.CharField(max_length=1_000, required=False)
    to = MomentField(required=False, help_text="Given up before this moment.")

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Return the fields; "from" is a keyword of Python, so it cannot be declared like the others."""
        begin = MomentField(required=False, help_text="Given up at this moment or later.")
        return {**super().get_fields(), "from": begin}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse an empty range."""
        if "from" in attrs and "to" in attrs and attrs["from"] >= attrs["to"]:
            raise serializers.ValidationError({"to": "must be after from"})
        return attrs


class RedriveTargetSerializer(serializers.Serializer[Any]):
    """Where the copies go."""

    to = serializers.ChoiceField(
        DESTINATIONS,
        help_text="The failed group alone (through its retry topic), the topics they came from, or another topic.",
    )
    topic = ExactField(max_length=127, required=False, help_text="For other.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require a topic where one is meant, and only there."""
        if (attrs["to"] == "other") != ("topic" in attrs):
            fault = "is required for other" if attrs["to"] == "other" else f"does not belong to {attrs['to']}"
            raise serializers.ValidationError({"topic": fault})
        return attrs


class RedriveLimitsSerializer(serializers.Serializer[Any]):
    """How fast, and how many: the oldest first of those that no job has sent yet."""

    messages_per_second = serializers.IntegerField(
        min_value=1, max_value=MOST_PER_SECOND, required=False, default=USUAL_PER_SECOND
    )
    max_messages = serializers.IntegerField(min_value=1, max_value=MOST_MESSAGES, required=False, default=MOST_MESSAGES)
    max_minutes = MinutesField()


class RedriveSerializer(serializers.Serializer[Any]):
    """Dead letters to send again."""

    filter = RedriveFilterSerializer()
    target = RedriveTargetSerializer()
    limits = RedriveLimitsSerializer(required=False)
    originals = serializers.ChoiceField(
        Originals.choices,
        default=Originals.UNTIL_CONSUMED,
        help_text="Brokers keep them; with `until_consumed` each counts as done when the group has consumed its copy.",
    )
    allow_live_target = serializers.BooleanField(
        default=False, help_text="Needed where other groups will see the copies too."
    )
    dry_run = serializers.BooleanField(default=False, help_text="Only say what would be sent.")
