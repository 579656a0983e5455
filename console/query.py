"""Values in the query of a request."""

from __future__ import annotations

from rest_framework.exceptions import ValidationError
from rest_framework.request import Request


def flag_of(request: Request, name: str) -> bool:
    """Return whether the query says ``true``; absent means no, and any other word than ``false`` is refused."""
    text = request.query_params.get(name, "false")
    if text not in ("true", "false"):
        raise ValidationError({name: "must be true or false"})
    return text == "true"
