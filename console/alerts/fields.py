"""Fields of requests about alerts."""

from __future__ import annotations

from typing import Any

import httpx
from django.conf import settings
from rest_framework import serializers

from console.alerts.addresses import NotReachable, check_literal
from console.clusters.models import Cluster


class WebhookUrlField(serializers.CharField):
    """A URL of the web."""

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=1000, trim_whitespace=False, **options)

    def to_internal_value(self, data: Any) -> str:
        """Return it; refuse what is not a URL of the web, one with a password, and an address that is not posted to."""
        value: str = super().to_internal_value(data)
        try:
            url = httpx.URL(value)
        except httpx.InvalidURL:
            url = httpx.URL()
        if not _is_hook(url) or any(each.isspace() or not each.isprintable() for each in value):
            raise serializers.ValidationError(
                "must be a URL such as https://example.org/hook, without a password, a fragment or blanks"
            )
        try:
            check_literal(url.raw_host.decode("ascii"), settings.GANTRY_WEBHOOK_NETWORKS)
        except NotReachable as error:
            raise serializers.ValidationError(str(error)) from error
        return value


def _is_hook(url: httpx.URL) -> bool:
    is_web = url.scheme in ("http", "https") and bool(url.host) and "%" not in url.host
    # A password would be shown, and a fragment is not sent.
    return is_web and not url.userinfo and not url.fragment and (url.port is None or 1 <= url.port <= 65_535)


class PatternField(serializers.CharField):
    """A name, or a pattern of the whole name with ``*`` and ``?``."""

    def __init__(self, max_length: int, **options: Any) -> None:
        super().__init__(max_length=max_length, default="*", help_text="A name; `*` and `?` are wildcards.", **options)


def check_cluster(pattern: str) -> None:
    """Raise ValidationError for the name of a cluster that there is not; a pattern may wait for what it will match."""
    if not set("*?") & set(pattern) and not Cluster.objects.filter(name=pattern).exists():
        raise serializers.ValidationError({"cluster": f"no cluster is named {pattern!r}"})
