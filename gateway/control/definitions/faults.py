"""Why an item is refused, in a sentence."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.exceptions import APIException

from broker_core.errors import GantryError
from console.clusters.reasons import reason_of


def fault_of(form: serializers.Serializer[Any]) -> str | None:
    """Return the first fault of a form, with its field; None if it is valid."""
    try:
        form.is_valid(raise_exception=True)
    except (APIException, GantryError) as error:
        return words_of(error)
    return None


def words_of(error: APIException | GantryError) -> str:
    """Return an error as one sentence."""
    return _first(error.detail) if isinstance(error, APIException) else reason_of(error)


def _first(detail: Any, path: str = "") -> str:
    if isinstance(detail, dict):
        name, inner = next(iter(detail.items()))
        return _first(inner, path if name == "non_field_errors" else f"{path}.{name}".lstrip("."))
    if isinstance(detail, list):
        return _first(detail[0], path)
    return f"{path}: {detail}" if path else str(detail)
