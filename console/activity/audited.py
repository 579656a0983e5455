"""Events of what was done over Gantry, from the audit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from msgspec import Struct

from broker_core.structs import decoded
from console.activity.names import kind_of_change, text_of
from console.activity.shapes import ActivityEvent, ChangedValue, EventKind
from console.audit.models import AuditRecord
from console.moments import rfc3339

_KINDS: Final[Mapping[str, EventKind]] = {
    "topic.create": "topic_created",
    "topic.update": "topic_changed",
    "topic.pause": "topic_changed",
    "topic.resume": "topic_changed",
    "topic.purge": "topic_purged",
    "topic.delete": "topic_deleted",
    "group.create": "group_created",
    "group.update": "group_changed",
    "group.pause": "group_changed",
    "group.resume": "group_changed",
    "group.offsets": "offsets_changed",
    "group.delete": "group_deleted",
    "broker.update": "broker_changed",
}
_CHANGES: Final = frozenset({"topic_changed", "group_changed", "broker_changed"})
# A transaction may end so much after its record was made.
_OVERLAP: Final = timedelta(seconds=30)
# A watch that was away for longer begins anew: what it missed is in the audit.
_LONGEST_AWAY: Final = timedelta(hours=1)
_MOST_ROWS: Final = 500
_MOST_TEXT: Final = 200


@decoded
class AuditPlace(Struct, kw_only=True):
    """Until when (ms) the audit was read, and which of its last rows are events already."""

    at: int
    taken: dict[int, int] = {}
    """Key of the row → its time (ms)."""


def place_at(now: int) -> AuditPlace:
    """Return the place for a watch that begins at `now` (ms): only later rows are events."""
    begun = datetime.fromtimestamp(now / 1000, UTC)
    rows = AuditRecord.objects.filter(at__gte=begun - _OVERLAP).values_list("pk", "at")
    return AuditPlace(at=now, taken={pk: _ms(at) for pk, at in rows})


def read(cluster: str, place: AuditPlace, now: int) -> list[ActivityEvent]:
    """Return the events of a cluster since the place, in the order of the audit, and move the place to `now` (ms).

    Raises DatabaseError.
    """
    end = datetime.fromtimestamp(now / 1000, UTC)
    since = max(datetime.fromtimestamp(place.at / 1000, UTC) - _OVERLAP, end - _LONGEST_AWAY)
    rows = AuditRecord.objects.filter(at__gte=since, resource__startswith=f"{cluster}/", action__in=_KINDS)
    new = [row for row in rows.order_by("pk")[:_MOST_ROWS] if row.pk not in place.taken]
    place.at = now
    kept_from = now - 2 * int(_OVERLAP.total_seconds() * 1000)
    place.taken = {pk: at for pk, at in place.taken.items() if at >= kept_from} | {row.pk: _ms(row.at) for row in new}
    return [event for row in new if (event := _event(row)) is not None]


def _event(row: AuditRecord) -> ActivityEvent | None:
    """Return what a row tells of the cluster; None for what was not done, or changed nothing."""
    if row.result not in ("ok", "partial"):
        return None
    kind = _KINDS[row.action]
    changes = list(_differences(row)) if kind in _CHANGES else []
    if kind in _CHANGES and not changes:
        return None
    if kind == "group_changed":
        kind = kind_of_change(changes)
    if kind == "offsets_changed":
        changes = [ChangedValue(name="mode", before=None, after=text_of((row.after or {}).get("mode")))]
    named = dict(zip(*[iter(row.resource.split("/")[1:])] * 2, strict=False))
    return ActivityEvent(
        seen_at=rfc3339(_ms(row.at)),
        kind=kind,
        source="audit",
        topic=named.get("topics"),
        group=named.get("groups"),
        broker=named.get("brokers"),
        changes=changes,
        by=row.actor,
        partial=row.result == "partial",
    )


def _differences(row: AuditRecord) -> Iterator[ChangedValue]:
    before, after = dict(_flat(row.before or {})), dict(_flat(row.after or {}))
    for name, value in after.items():
        if before.get(name) != value:
            yield ChangedValue(name=name, before=_shortened(before.get(name)), after=_shortened(value))


def _flat(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the settings; those of one broker under its name, without the outcomes of a partial change."""
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        elif name != "brokers":
            yield prefix + name, value


def _shortened(value: Any) -> str | None:
    text = text_of(value)
    return text if text is None or len(text) <= _MOST_TEXT else f"{text[: _MOST_TEXT - 1]}…"


def _ms(at: datetime) -> int:
    return int(at.timestamp() * 1000)
