"""Alerts as people see and take care of them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Final

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from console.alerts.alert_shapes import SHOWN_WORDS, AlertCounts, AlertShape, is_acknowledged, shape_of, shown_word
from console.alerts.models import OPEN_STATES, Alert, AlertState
from console.alerts.now import NOTHING, AlertFigures, Open, read_open
from console.alerts.silences import in_force, matching
from console.audit.record import Actor, record
from console.errors import Conflict
from console.redis_client import store
from console.rows import row_of

_RESOLVED_WITHIN: Final = timedelta(hours=24)


def shapes_of(rows: list[Alert]) -> list[AlertShape]:
    """Return the shapes of alerts."""
    now = timezone.now()
    silences = list(in_force(now))
    clusters = sorted({alert.cluster for alert in rows if alert.state != AlertState.RESOLVED})
    figures = read_open(store(), clusters, _ms(now))
    return [shape_of(alert, silences, _ms(now), _figures_of(alert, figures)) for alert in rows]


def _figures_of(alert: Alert, figures: Mapping[str, Open]) -> AlertFigures:
    return figures.get(alert.cluster, {}).get(alert.rule_id, {}).get(alert.subject, NOTHING)


def open_alerts(rows: QuerySet[Alert], word: str | None) -> list[AlertShape]:
    """Return the open ones of `rows` that are shown with this word (None: any): firing first, then the newest."""
    found = shapes_of(list(rows.filter(state__in=OPEN_STATES).select_related("rule").order_by("-id")))
    wanted = found if word is None else [alert for alert in found if alert.shown == word]
    return sorted(wanted, key=lambda alert: SHOWN_WORDS.index(alert.shown))


def counts(rows: QuerySet[Alert]) -> AlertCounts:
    """Return how many of `rows` there are in each state."""
    now = timezone.now()
    silences = list(in_force(now))
    words = [
        shown_word(alert, _ms(now), is_silenced=bool(matching(silences, alert)))
        for alert in rows.filter(state__in=OPEN_STATES).select_related("rule").defer("changes")
    ]
    since = _ms(now - _RESOLVED_WITHIN)
    return AlertCounts(
        firing=words.count("firing"),
        no_data=words.count("no_data"),
        pending=words.count("pending"),
        acknowledged=words.count("acknowledged"),
        silenced=words.count("silenced"),
        resolved=rows.filter(state=AlertState.RESOLVED, resolved_at__gte=since).count(),
    )


def acknowledge(by: Actor, alert_id: str, *, note: str, until: datetime | None) -> Alert:
    """Note who takes care of an open alert; raise NotKnown, or Conflict if it is resolved."""
    now = timezone.now()
    if until is not None and until <= now:
        raise Conflict("The end of the acknowledgement is in the past.")
    with transaction.atomic():
        alert = _open_row(alert_id)
        alert.acknowledged_by, alert.acknowledged_at, alert.note = by.name, _ms(now), note
        alert.acknowledged_until = None if until is None else _ms(until)
        alert.save(update_fields=["acknowledged_by", "acknowledged_at", "acknowledged_until", "note"])
        record(by, "alert.acknowledge", f"alerts/{alert.pk}", after={"subject": alert.subject, "note": note})
    return alert


def unacknowledge(by: Actor, alert_id: str) -> Alert:
    """Take an acknowledgement back; raise NotKnown, or Conflict if there is none."""
    with transaction.atomic():
        alert = _open_row(alert_id)
        if not is_acknowledged(alert, _ms(timezone.now())):
            raise Conflict("Nobody has acknowledged this alert.")
        before = {"by": alert.acknowledged_by, "note": alert.note}
        alert.acknowledged_by, alert.acknowledged_at, alert.acknowledged_until, alert.note = "", None, None, ""
        alert.save(update_fields=["acknowledged_by", "acknowledged_at", "acknowledged_until", "note"])
        record(by, "alert.unacknowledge", f"alerts/{alert.pk}", before=before)
    return alert


def _open_row(alert_id: str) -> Alert:
    alert = row_of(Alert.objects.select_for_update(of=("self",)).select_related("rule"), alert_id)
    if alert.state == AlertState.RESOLVED:
        at = datetime.fromtimestamp((alert.resolved_at or 0) / 1000, UTC).isoformat(timespec="seconds")
        raise Conflict(f"The alert was resolved at {at}.")
    return alert


def _ms(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)
