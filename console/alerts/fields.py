"""Fields of requests about alerts."""

from __future__ import annotations

import math
from typing import Any

from rest_framework import serializers

from console.clusters.models import Cluster


class NumberField(serializers.FloatField):
    """A number of JSON: DRF would also take a text or true."""

    def to_internal_value(self, data: Any) -> float:
        """Return the number; refuse anything else."""
        if isinstance(data, bool) or not isinstance(data, int | float) or not math.isfinite(data):
            raise serializers.ValidationError("must be a number")
        return float(data)


class PatternField(serializers.CharField):
    """A name, or a pattern of the whole name with ``*`` and ``?``."""

    def __init__(self, max_length: int, **options: Any) -> None:
        super().__init__(max_length=max_length, default="*", help_text="A name; `*` and `?` are wildcards.", **options)


def check_cluster(pattern: str) -> None:
    """Raise ValidationError for the name of a cluster that there is not; a pattern may wait for what it will match."""
    if not set("*?") & set(pattern) and not Cluster.objects.filter(name=pattern).exists():
        raise serializers.ValidationError({"cluster": f"no cluster is named {pattern!r}"})
