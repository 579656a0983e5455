"""Decides who hears of what, and writes the deliveries; `delivering` sends them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, Literal

from django.db import transaction
from django.utils import timezone

from console.alerts import job_values, queue
from console.alerts.advice import advice_on
from console.alerts.metrics import SUBJECTS
from console.alerts.models import Alert, Channel, Delivery, Rule
from console.alerts.silences import in_force, matching
from console.alerts.template import filled
from console.alerts.values import sentence_of, written
from console.audit.record import Actor, record
from console.moments import rfc3339
from console.shapes import as_json

Event = Literal["firing", "no_data", "resolved", "repeat", "test", "notice"]
MAX_LISTED: Final = 50
"""How many alerts one delivery lists; it always says how many there are."""


def tell(event: Event, rule: Rule, alerts: Sequence[Alert], now: int) -> list[Delivery]:
    """Tell the channels of a rule, in one delivery each, about alerts that became `event`; silenced ones are left out.

    The end of an alert goes only to those who may have heard of its beginning. Needs a transaction.
    """
    heard = _heard(event, alerts, now)
    if not heard:
        return []
    channels = list(rule.channels.filter(enabled=True))
    payload = payload_of(event, rule, heard, now)
    deliveries = [_add(channel, event, payload, rule) for channel in channels]
    for delivery in deliveries:
        delivery.alerts.set(heard)
    if channels:
        Alert.objects.filter(pk__in=[alert.pk for alert in heard]).update(told_at=now)
    return deliveries


def notify(channels: Sequence[Channel], title: str, details: Mapping[str, Any]) -> list[Delivery]:
    """Send a notice that belongs to no rule, such as the end of a job, to these channels; the log shows it.

    `details` is JSON that the receiver gets as ``details``; it must not contain secrets.
    """
    payload = {"event": "notice", "at": rfc3339(_now_ms()), "title": title[:500], "details": dict(details)}
    with transaction.atomic():
        return [_add(channel, "notice", payload) for channel in channels if channel.enabled]


def test(by: Actor, channel: Channel) -> Delivery:
    """Send a test to one channel, also while it is disabled."""
    title = f"Test of the channel {channel.name}"
    with transaction.atomic():
        record(by, "alert_channel.test", f"alert-channels/{channel.name}")
        return _add(channel, "test", {"event": "test", "at": rfc3339(_now_ms()), "title": title})


def payload_of(event: Event, rule: Rule, alerts: Sequence[Alert], now: int) -> dict[str, Any]:
    """Return what receivers get about these alerts of one rule."""
    first = alerts[0]
    title = filled(
        rule.template,
        {
            "rule": rule.name,
            "severity": rule.severity,
            "state": "firing" if event == "repeat" else event.replace("_", " "),
            "cluster": first.cluster,
            "subject": first.subject if len(alerts) == 1 else f"{first.subject} and {len(alerts) - 1} more",
            "value": written(rule.metric, first.value),
            "limit": written(rule.metric, rule.limit),
            "count": str(len(alerts)),
        },
        sentence_of(rule.metric),
    )
    return {
        "event": event,
        "at": rfc3339(now),
        "title": title,
        "rule": {
            "id": rule.pk,
            "name": rule.name,
            "metric": rule.metric,
            "direction": rule.direction,
            "limit": rule.limit,
            "severity": rule.severity,
        },
        "count": len(alerts),
        "alerts": [_line(rule, alert) for alert in alerts[:MAX_LISTED]],
    }


def _line(rule: Rule, alert: Alert) -> dict[str, Any]:
    about: dict[str, Any] = {}
    if SUBJECTS[rule.metric] == "job":
        about["job"] = as_json(job_values.newest_job(alert.cluster, alert.subject))
    return {
        **about,
        "id": alert.pk,
        "cluster": alert.cluster,
        "subject": alert.subject,
        "state": alert.state,
        "value": alert.value,
        "advice": advice_on(rule.metric, alert.subject),
        "fired_at": None if alert.fired_at is None else rfc3339(alert.fired_at),
        "resolved_at": None if alert.resolved_at is None else rfc3339(alert.resolved_at),
    }


def _heard(event: Event, alerts: Sequence[Alert], now: int) -> list[Alert]:
    if event == "resolved":
        alerts = [alert for alert in alerts if alert.told_at is not None]
    silences = list(in_force(datetime.fromtimestamp(now / 1000, UTC))) if alerts else []
    return [alert for alert in alerts if not matching(silences, alert)]


def _add(channel: Channel, event: Event, payload: Mapping[str, Any], rule: Rule | None = None) -> Delivery:
    delivery = Delivery.objects.create(
        channel=channel,
        channel_name=channel.name,
        rule=rule,
        event=event,
        title=payload["title"],
        payload=dict(payload),
        next_at=timezone.now(),
    )
    transaction.on_commit(lambda: queue.hint(delivery.pk))
    return delivery


def _now_ms() -> int:
    return int(timezone.now().timestamp() * 1000)
