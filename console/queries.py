"""Reads the parameters of queries that several lists have."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from rest_framework.exceptions import ValidationError
from rest_framework.request import Request

from console.fields import MomentField


def span_of(request: Request) -> tuple[datetime | None, datetime | None]:
    """Return the moments `from` and `to`, None for an open end; raise ValidationError."""
    begin, end = _moment(request, "from"), _moment(request, "to")
    if begin is not None and end is not None and end <= begin:
        raise ValidationError({"to": "must be after 'from'"})
    return begin, end


def words_of(request: Request, name: str, allowed: Collection[str]) -> list[str]:
    """Return the words of a list with commas; raise ValidationError for one that is not allowed."""
    words = [word for word in request.query_params.get(name, "").split(",") if word]
    if any(word not in allowed for word in words):
        raise ValidationError({name: f"must be one of {', '.join(allowed)}"})
    return words


def _moment(request: Request, name: str) -> datetime | None:
    text = request.query_params.get(name)
    if not text:
        return None
    try:
        # A plus sign that was not escaped arrives as a blank.
        moment: datetime = MomentField().run_validation(text.replace(" ", "+"))
    except ValidationError as error:
        raise ValidationError({name: error.detail}) from error
    return moment
