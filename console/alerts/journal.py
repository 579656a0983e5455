"""Keeps what the evaluation finds: alerts are written when their state changes, and told in the same transaction."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Final

from django.db import transaction

from console.alerts import notices
from console.alerts.board import Change, Watched
from console.alerts.life import Life, Limits
from console.alerts.models import OPEN_STATES, Alert, AlertState, Direction, Rule

MAX_CHANGES: Final = 50
"""How many changes of state an alert remembers: its first one and the newest."""


def rules_for(cluster: str) -> list[Watched]:
    """Return the enabled rules whose pattern matches the cluster, as the evaluation needs them."""
    return [_watched(rule) for rule in Rule.objects.filter(enabled=True) if fnmatchcase(cluster, rule.cluster)]


def open_lives(cluster: str) -> dict[str, dict[str, Life]]:
    """Return the lives of all open alerts of a cluster, by rule and subject."""
    lives: defaultdict[str, dict[str, Life]] = defaultdict(dict)
    for alert in Alert.objects.filter(cluster=cluster, state__in=OPEN_STATES):
        lives[alert.rule_id][alert.subject] = _life(alert)
    return dict(lives)


@transaction.atomic
def write(cluster: str, changes: Sequence[Change], now: int) -> None:
    """Write changes of one moment, and tell the channels: one delivery for each rule and event."""
    rules = {rule.pk: rule for rule in Rule.objects.filter(pk__in={change.rule for change in changes})}
    told: defaultdict[tuple[str, notices.Event], list[Alert]] = defaultdict(list)
    for change in changes:
        rule = rules.get(change.rule)
        if rule is None:
            continue  # deleted a moment ago, with its alerts
        alert = _find(rule, cluster, change.subject)
        event = _end(alert, change, now) if change.after.word == "quiet" else _go_on(alert, change)
        if event is not None:
            told[rule.pk, event].append(alert)
    for (rule_id, event), alerts in told.items():
        notices.tell(event, rules[rule_id], alerts, now)


def _find(rule: Rule, cluster: str, subject: str) -> Alert:
    found = Alert.objects.filter(rule=rule, cluster=cluster, subject=subject, state__in=OPEN_STATES).first()
    if found is None:
        found = Alert(rule=rule, cluster=cluster, subject=subject)
    found.rule = rule
    return found


def _go_on(alert: Alert, change: Change) -> notices.Event | None:
    """Write an alert that is pending, firing or without data; return what is to be told."""
    life = change.after
    alert.state = AlertState(life.word)
    alert.since_at, alert.crossed_at = life.since, life.crossed_at
    alert.fired_at, alert.unknown_at = life.fired_at, life.unknown_at
    alert.value = change.value
    _note(alert, life.since)
    alert.save()
    if alert.state == AlertState.PENDING:
        return None
    # Data that is back in the middle of firing is no news; the repetition goes on.
    if alert.state == AlertState.FIRING and change.before.fired_at is not None:
        return None
    return "firing" if alert.state == AlertState.FIRING else "no_data"


def _end(alert: Alert, change: Change, now: int) -> notices.Event | None:
    """Close an alert; one that was only pending leaves no trace."""
    if alert._state.adding:
        return None
    if change.before.word == "pending" and not any(each["state"] != "pending" for each in alert.changes):
        alert.delete()
        return None
    alert.state = AlertState.RESOLVED
    alert.since_at = alert.resolved_at = now
    alert.unknown_at = None
    alert.value = change.value
    _note(alert, now)
    alert.save()
    return "resolved"


def _note(alert: Alert, at: int) -> None:
    changes = [*alert.changes, {"at": at, "state": str(alert.state), "value": alert.value}]
    alert.changes = changes if len(changes) <= MAX_CHANGES else [changes[0], *changes[1 - MAX_CHANGES :]]


def _watched(rule: Rule) -> Watched:
    limits = Limits(rule.direction == Direction.ABOVE, rule.limit, rule.for_ms, rule.no_data_after_ms)
    return Watched(rule.pk, rule.metric, rule.subject, limits)


def _life(alert: Alert) -> Life:
    word = AlertState(alert.state).value
    return Life(word, alert.since_at, alert.crossed_at, alert.fired_at, alert.unknown_at)  # type: ignore[arg-type]
