"""Which alert channels are told of the end of a job."""

from __future__ import annotations

from typing import Any, Final

from rest_framework import serializers

from console.alerts.rules import MAX_CHANNELS_OF_A_RULE, channels_named
from console.fields import EachOnceField
from console.jobs.models import JobState

ENDS: Final = (JobState.FAILED, JobState.PARTIAL, JobState.SUCCEEDED)


class NotifySerializer(serializers.Serializer[Any]):
    """Alert channels, and the ends of the job of which they are told."""

    channels = EachOnceField(
        child=serializers.CharField(max_length=16),
        max_length=MAX_CHANNELS_OF_A_RULE,
        allow_empty=False,
        help_text="Ids of alert channels; one that is disabled gets nothing.",
    )
    on = EachOnceField(
        child=serializers.ChoiceField(ENDS), max_length=len(ENDS), allow_empty=False, help_text="States of the job."
    )

    def validate_channels(self, value: list[str]) -> list[str]:
        """Refuse a channel that does not exist."""
        channels_named(value)
        return value
