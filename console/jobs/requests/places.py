"""The checks of files and databases of a request against the settings of the server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from rest_framework import serializers

from broker_core.job_sources import SourceRefused, connection_named, files_below, keys_in


def check_file(path: str, kind: str) -> None:
    """Raise ValidationError for a path that leads to no file which jobs may read."""
    try:
        files_below(settings.GANTRY_JOBS_FILES, path, f".{kind}")
    except SourceRefused as error:
        raise serializers.ValidationError({"path": str(error)}) from error


def check_keys_file(source: Mapping[str, Any]) -> None:
    """Raise ValidationError for a file of keys that jobs may not read, or that has none or too many."""
    if "keys_file" not in source:
        return
    try:
        keys_in(settings.GANTRY_JOBS_FILES, source["keys_file"])
    except SourceRefused as error:
        raise serializers.ValidationError({"source": {"keys_file": str(error)}}) from error


def check_connection(side: Mapping[str, Any]) -> None:
    """Raise ValidationError for a connection that is not there, and unless either a table or a query is named."""
    if ("table" in side) == ("query" in side):
        raise serializers.ValidationError({"table": "either table or query is required"})
    try:
        connection_named(settings.GANTRY_JOBS_DATABASES, side["connection"])
    except SourceRefused as error:
        raise serializers.ValidationError({"connection": str(error)}) from error
