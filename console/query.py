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
