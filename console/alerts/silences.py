"""Who is silent now: matching of silences, and their changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from fnmatch import fnmatchcase
from typing import Any, Final

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from console.alerts.models import Alert, Silence
from console.audit.record import Actor, record
from console.errors import Conflict
from console.fields import moment

MAX_SILENCES: Final = 200
"""How many silences may be in force or to come."""


def in_force(now: datetime) -> QuerySet[Silence]:
    """Return the silences of this moment."""
    return Silence.objects.filter(starts_at__lte=now, ends_at__gt=now)


def matching(silences: Iterable[Silence], alert: Alert) -> list[Silence]:
    """Return the silences that cover an alert."""
    return [each for each in silences if covers(each, alert.rule.name, alert.cluster, alert.subject)]


def covers(silence: Silence, rule: str, cluster: str, subject: str) -> bool:
    """Return whether all patterns of a silence match."""
    pairs = ((rule, silence.rule), (cluster, silence.cluster), (subject, silence.subject))
    return all(fnmatchcase(name, pattern) for name, pattern in pairs)


def add(by: Actor, fields: Mapping[str, Any]) -> Silence:
    """Add a silence; raise Conflict at the limit."""
    with transaction.atomic():
        if Silence.objects.filter(ends_at__gt=timezone.now()).count() >= MAX_SILENCES:
            raise Conflict(f"There are {MAX_SILENCES} silences that have not ended, and more are not allowed.")
        silence = Silence.objects.create(**fields, created_by_id=by.user_id)
        record(by, "silence.create", f"silences/{silence.pk}", after=_shown(silence))
    return silence


def end(by: Actor, silence: Silence) -> Silence:
    """End a silence now; one that has not begun never begins. Raises Conflict if it has ended."""
    now = timezone.now()
    if silence.ends_at <= now:
        raise Conflict(f"The silence ended at {moment(silence.ends_at)} already.")
    with transaction.atomic():
        before = _shown(silence)
        silence.starts_at, silence.ends_at = min(silence.starts_at, now), now
        silence.save(update_fields=["starts_at", "ends_at"])
        record(by, "silence.end", f"silences/{silence.pk}", before=before, after=_shown(silence))
    return silence


def _shown(silence: Silence) -> dict[str, Any]:
    return {
        "rule": silence.rule,
        "cluster": silence.cluster,
        "subject": silence.subject,
        "starts_at": moment(silence.starts_at),
        "ends_at": moment(silence.ends_at),
        "reason": silence.reason,
    }
