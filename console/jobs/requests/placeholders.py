"""Where the request of a job has a placeholder that nobody fills in: it would be taken for plain text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from rest_framework import serializers

_PLACEHOLDER: Final = re.compile(r"\{\{\s*(?:last_success|scheduled_at)\b[^}]{0,60}\}\}", re.IGNORECASE)
_RANGES: Final = frozenset((part, bound) for part in ("source", "left", "right") for bound in ("from", "to"))
_Path = tuple[str | int, ...]


def check_placeholders(request: Mapping[str, Any]) -> None:
    """Raise ValidationError for each text with a placeholder outside of the bounds of a range, by its field."""
    faults: dict[Any, Any] = {}
    for path, found in _found(request):
        *outer, last = path
        within = faults
        for step in outer:
            within = within.setdefault(step, {})
        within[last] = (
            f"has {found}, which only the bounds from and to of a schedule's job may be, not a part of a text"
        )
    if faults:
        raise serializers.ValidationError(faults)


def _found(request: Mapping[str, Any]) -> Iterator[tuple[_Path, str]]:
    """Yield the places of texts with a placeholder; the nesting of the request is not limited."""
    waiting: list[tuple[_Path, Any]] = [((), request)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, Mapping):
            waiting += [((*path, str(name)), inner) for name, inner in value.items()]
        elif isinstance(value, list):
            waiting += [((*path, number), inner) for number, inner in enumerate(value)]
        elif isinstance(value, str) and path not in _RANGES and (found := _PLACEHOLDER.search(value)):
            yield path, found[0]
