"""Begin and end of a range: a moment, or in a schedule a placeholder that each run fills in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from console.fields import MomentField, moment

SCHEDULED_AT: Final = "{{ scheduled_at }}"
LAST_SUCCESS: Final = "{{ last_success }}"
FARTHEST: Final = timedelta(days=366)

_BEFORE: Final = re.compile(r"\{\{ *scheduled_at *- *([0-9]{1,9}) *([mhd]) *\}\}")
_UNITS: Final = {"m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1)}


@extend_schema_field(
    {
        "type": "string",
        "description": "A moment with its zone. In a schedule also `{{ last_success }}`, `{{ scheduled_at }}` or a "
        "moment before that, such as `{{ scheduled_at - 24h }}`: whole m, h or d, up to 366 days.",
    }
)
class BoundField(MomentField):
    """A moment; in a schedule also a placeholder that each run fills in."""

    def to_internal_value(self, value: Any) -> Any:
        """Return the moment or the placeholder."""
        if not (isinstance(value, str) and value.lstrip().startswith("{{")):
            return super().to_internal_value(value)
        if not self.context.get("is_scheduled"):
            fault = (
                "refers to the runs of a schedule, and this job has none; give a moment, such as 2026-05-01T08:00:00Z"
            )
            raise serializers.ValidationError(f"{value[:60]!r} {fault}")
        if value in (SCHEDULED_AT, LAST_SUCCESS):
            return value
        found = _BEFORE.fullmatch(value)
        if found is None:
            raise serializers.ValidationError(
                f"{value[:60]!r} is not a moment; allowed are {LAST_SUCCESS}, {SCHEDULED_AT} and times before that "
                "in whole m, h or d, such as {{ scheduled_at - 24h }}"
            )
        amount, unit = found.groups()
        if not timedelta(0) < int(amount) * _UNITS[unit] <= FARTHEST:
            raise serializers.ValidationError(f"{value[:60]!r} is not between 1 minute and {FARTHEST.days} days before")
        return f"{{{{ scheduled_at - {int(amount)}{unit} }}}}"


def holds_nothing(begin: Any, end: Any) -> bool:
    """Return whether a range is empty whenever it is filled; a bound that is missing is open.

    The last success of a schedule ended at the time of an earlier run, or at the schedule's creation.
    """
    if (begin, end) == (SCHEDULED_AT, LAST_SUCCESS):
        return True
    if isinstance(begin, datetime) and isinstance(end, datetime):
        return begin >= end
    longer, shorter = _before(begin), _before(end)
    if longer is not None and shorter is not None:
        return longer <= shorter
    return begin is not None and begin == end


def check_range(begin: Any, end: Any) -> None:
    """Raise ValidationError for a range that holds nothing whenever it is filled, or as soon as its end is over."""
    if holds_nothing(begin, end):
        raise serializers.ValidationError({"to": "must be after from"})
    if begin == LAST_SUCCESS and isinstance(end, datetime):
        fault = f"must not be a fixed moment: a range from {LAST_SUCCESS} goes on; leave it out, or give {SCHEDULED_AT}"
        raise serializers.ValidationError({"to": fault})


@dataclass(frozen=True, slots=True)
class RunTimes:
    """The values of the placeholders when a run of a schedule starts."""

    scheduled_at: datetime
    last_success: datetime
    now: datetime

    def fill(self, asked: Mapping[str, Any]) -> tuple[dict[str, Any], datetime | None]:
        """Return a part of a request with its range filled, and where it ends if it continues from the last success.

        The ranges of runs neither overlap nor leave a gap: a range that begins at the last success and has no end
        ends now; if a manual run has already passed its end, it is empty.
        """
        if asked.get("from") != LAST_SUCCESS:
            return {**asked, **{name: self._moment(asked[name]) for name in ("from", "to") if name in asked}}, None
        to = asked.get("to")
        back = _before(to)
        end = self.now if to is None else max(self.scheduled_at - (back or timedelta(0)), self.last_success)
        is_fixed = to is not None and back is None
        return {**asked, "from": moment(self.last_success), "to": to if is_fixed else moment(end)}, end

    def _moment(self, bound: Any) -> Any:
        if bound == LAST_SUCCESS:
            return moment(self.last_success)
        back = _before(bound)
        return bound if back is None else moment(self.scheduled_at - back)


def _before(bound: Any) -> timedelta | None:
    """Return how long before the time of a run a placeholder is; None for anything else."""
    if bound == SCHEDULED_AT:
        return timedelta(0)
    found = _BEFORE.fullmatch(bound) if isinstance(bound, str) else None
    return None if found is None else int(found[1]) * _UNITS[found[2]]
