"""What is told later: repetitions, alerts whose silence ended, and what is forgotten."""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime, timedelta
from typing import Final

from django.db import transaction

from console.alerts import notices
from console.alerts.alert_shapes import is_acknowledged
from console.alerts.models import OPEN_STATES, Alert, AlertState, Delivery, Rule, Silence
from console.clusters.models import Cluster

KEEP: Final = timedelta(days=30)
"""How long resolved alerts, deliveries and ended silences are kept."""
_AT_ONCE: Final = 1000


@transaction.atomic
def remind(now: datetime) -> int:
    """Tell again what still fires and nobody acknowledged, one delivery for each rule; return how many rules."""
    now_ms = int(now.timestamp() * 1000)
    due: defaultdict[tuple[str, notices.Event], list[Alert]] = defaultdict(list)
    firing = Alert.objects.filter(state=AlertState.FIRING, rule__enabled=True, rule__channels__enabled=True)
    for alert in firing.select_related("rule").distinct():
        event = _due(alert, now_ms)
        if event is not None and not is_acknowledged(alert, now_ms):
            due[alert.rule_id, event].append(alert)
    rules = {rule.pk: rule for rule in Rule.objects.filter(pk__in={rule for rule, _ in due})}
    told = [notices.tell(event, rules[rule], alerts, now_ms) for (rule, event), alerts in due.items()]
    return sum(map(bool, told))


def end_orphans(now: datetime) -> int:
    """Resolve the open alerts of clusters that were removed; return how many."""
    known = Cluster.objects.values_list("name", flat=True)
    rows = Alert.objects.filter(state__in=OPEN_STATES).exclude(cluster__in=known)
    at = int(now.timestamp() * 1000)
    return rows.update(state=AlertState.RESOLVED, resolved_at=at, since_at=at, unknown_at=None)


def forget(now: datetime) -> None:
    """Delete what is older than it is kept."""
    before = now - KEEP
    before_ms = int(before.timestamp() * 1000)
    for rows in (
        Alert.objects.filter(state=AlertState.RESOLVED, resolved_at__lt=before_ms),
        Delivery.objects.filter(created_at__lt=before).exclude(state="waiting"),
        Silence.objects.filter(ends_at__lt=before),
    ):
        old = list(rows.order_by("pk").values_list("pk", flat=True)[:_AT_ONCE])
        rows.model._default_manager.filter(pk__in=old).delete()


def _due(alert: Alert, now_ms: int) -> notices.Event | None:
    if alert.told_at is None:
        return "firing"
    every = alert.rule.repeat_ms
    return "repeat" if every is not None and now_ms - alert.told_at >= every else None
