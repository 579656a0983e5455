"""Reads values from the query of a request."""

from __future__ import annotations

from rest_framework.exceptions import ValidationError
from rest_framework.request import Request


def flag_of(request: Request, name: str) -> bool:
    """Return whether the value is ``true``; missing means false, and any word other than ``false`` is refused."""
    text = request.query_params.get(name, "false")
    if text not in ("true", "false"):
        raise ValidationError({name: "must be true or false"})
    return text == "true"


def number_of(request: Request, name: str, default: int | None, *, low: int = 0, high: int = 2**62) -> int | None:
    """Return an integer of the query; raise ValidationError if it is not from `low` to `high`."""
    text = request.query_params.get(name)
    if not text:
        return default
    if not text.isascii() or not text.isdigit() or len(text) > 19 or not low <= int(text) <= high:
        raise ValidationError({name: f"must be a number from {low} to {high}"})
    return int(text)
