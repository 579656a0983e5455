"""Fields of requests about alerts."""

from __future__ import annotations

from typing import Any

import httpx
from rest_framework import serializers

from console.clusters.models import Cluster


class WebhookUrlField(serializers.CharField):
    """A URL of the web."""

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=1000, **options)

    def to_internal_value(self, data: Any) -> str:
        """Return it; refuse what is not a URL of the web, and one with a password: it would be shown."""
        value: str = super().to_internal_value(data)
        try:
            url = httpx.URL(value)
        except httpx.InvalidURL:
            url = httpx.URL()
        if url.scheme not in ("http", "https") or not url.host or url.userinfo or (url.port or 1) > 65_535:
            raise serializers.ValidationError("must be a URL such as https://example.org/hook, without a password")
        return value


class PatternField(serializers.CharField):
    """A name, or a pattern of the whole name with ``*`` and ``?``."""

    def __init__(self, max_length: int, **options: Any) -> None:
        super().__init__(max_length=max_length, default="*", help_text="A name; `*` and `?` are wildcards.", **options)


def check_cluster(pattern: str) -> None:
    """Raise ValidationError for the name of a cluster that there is not; a pattern may wait for what it will match."""
    if not set("*?") & set(pattern) and not Cluster.objects.filter(name=pattern).exists():
        raise serializers.ValidationError({"cluster": f"no cluster is named {pattern!r}"})
