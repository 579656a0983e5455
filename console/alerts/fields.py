"""Fields of requests about alerts."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from console.clusters.models import Cluster


class PatternField(serializers.CharField):
    """A name, or a pattern of the whole name with ``*`` and ``?``."""

    def __init__(self, max_length: int, **options: Any) -> None:
        super().__init__(max_length=max_length, default="*", help_text="A name; `*` and `?` are wildcards.", **options)


def check_cluster(pattern: str) -> None:
    """Raise ValidationError for the name of a cluster that there is not; a pattern may wait for what it will match."""
    if not set("*?") & set(pattern) and not Cluster.objects.filter(name=pattern).exists():
        raise serializers.ValidationError({"cluster": f"no cluster is named {pattern!r}"})
