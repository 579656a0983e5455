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


def broker_id_of(request: Request) -> int | None:
    """Return the `broker_id` of the query, None for none; raise ValidationError if it is no number of 31 bits."""
    text = request.query_params.get("broker_id")
    if not text:
        return None
    if not text.isascii() or not text.isdigit() or len(text) > 10 or int(text) >= 2**31:
        raise ValidationError({"broker_id": f"must be a number from 0 to {2**31 - 1}"})
    return int(text)
