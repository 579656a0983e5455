"""JSON shapes of alerts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Final, Literal, get_args

from msgspec import Meta, Struct
from rest_framework import serializers

from console.alerts.advice import advice_on
from console.alerts.models import Alert, AlertState, Direction, Metric, Severity, Silence
from console.alerts.now import NOTHING, AlertFigures, AlertLastKnown
from console.alerts.silences import matching
from console.alerts.template import filled
from console.alerts.values import sentence_of, written
from console.fields import MomentField
from console.moments import Moment, rfc3339
from console.shapes import serializer_of

ShownWord = Literal["firing", "no_data", "pending", "acknowledged", "silenced", "resolved"]
SHOWN_WORDS: Final = list(get_args(ShownWord))
"""In the order in which they are listed."""


class AlertRule(Struct, frozen=True, kw_only=True):
    """The rule of an alert."""

    id: str
    name: str
    metric: Metric
    severity: Severity
    direction: Direction
    limit: float
    for_ms: int


class AlertChange(Struct, frozen=True, kw_only=True):
    """A change of state."""

    at: Moment
    state: AlertState
    value: float | None


class Acknowledgement(Struct, frozen=True, kw_only=True):
    """Who takes care of an alert."""

    by: str
    at: Moment
    until: Annotated[Moment | None, Meta(description="Null: until it is resolved.")]
    note: str


class AlertShape(Struct, frozen=True, kw_only=True):
    """One time that a rule was not quiet for a subject."""

    id: str
    rule: AlertRule
    cluster: str
    subject: str
    state: AlertState
    shown: Annotated[ShownWord, Meta(description="`state`, unless somebody acknowledged or silenced it.")]
    since: Annotated[Moment, Meta(description="Since when it has this state.")]
    value: Annotated[float | None, Meta(description="At the last change of state; null if unknown.")]
    value_now: Annotated[float | None, Meta(description="Null once resolved, and while nobody can measure it.")]
    last_known: Annotated[AlertLastKnown | None, Meta(description="Of an open alert without `value_now`.")]
    fired_at: Moment | None
    resolved_at: Moment | None
    acknowledged: Acknowledgement | None
    silenced_until: Moment | None
    summary: str
    advice: Annotated[str | None, Meta(description="What to do; null where the metric says it.")]
    changes: list[AlertChange]


class AlertCounts(Struct, frozen=True, kw_only=True):
    """How many alerts there are in each state, as shown."""

    firing: int
    no_data: int
    pending: int
    acknowledged: int
    silenced: int
    resolved: Annotated[int, Meta(description="Within the last 24 hours.")]


AlertSerializer = serializer_of(AlertShape, "Alert")
AlertCountsSerializer = serializer_of(AlertCounts)


class AcknowledgeSerializer(serializers.Serializer[Any]):
    """Who acknowledges says until when, and may say why."""

    note = serializers.CharField(max_length=1000, allow_blank=True, default="")
    until = MomentField(allow_null=True, default=None, help_text="Null: until it is resolved.")


def shape_of(alert: Alert, silences: Iterable[Silence], now: int, figures: AlertFigures = NOTHING) -> AlertShape:
    """Return the shape of an alert, with the silences and figures of this moment."""
    rule = alert.rule
    is_open = alert.state != AlertState.RESOLVED
    until = max((each.ends_at for each in matching(silences, alert)), default=None)
    silenced_until = None if until is None else int(until.timestamp() * 1000)
    return AlertShape(
        id=alert.pk,
        rule=AlertRule(
            id=rule.pk,
            name=rule.name,
            metric=Metric(rule.metric),
            severity=Severity(rule.severity),
            direction=Direction(rule.direction),
            limit=rule.limit,
            for_ms=rule.for_ms,
        ),
        cluster=alert.cluster,
        subject=alert.subject,
        state=AlertState(alert.state),
        shown=shown_word(alert, now, is_silenced=until is not None),
        since=rfc3339(alert.since_at),
        value=alert.value,
        value_now=figures.value if is_open else None,
        last_known=_last_known(alert, figures) if is_open and figures.value is None else None,
        fired_at=_text(alert.fired_at),
        resolved_at=_text(alert.resolved_at),
        acknowledged=_acknowledgement(alert, now),
        silenced_until=_text(silenced_until),
        summary=_summary(alert),
        advice=advice_on(rule.metric, alert.subject),
        changes=[
            AlertChange(at=rfc3339(each["at"]), state=AlertState(each["state"]), value=each["value"])
            for each in alert.changes
        ],
    )


def _last_known(alert: Alert, figures: AlertFigures) -> AlertLastKnown | None:
    """Return the last value that was measured; where the sampler knows none, that of the last change with a value."""
    if figures.last_known is not None:
        return figures.last_known
    measured = [each for each in alert.changes if each["value"] is not None]
    if not measured:
        return None if alert.value is None else AlertLastKnown(at=rfc3339(alert.since_at), value=alert.value)
    return AlertLastKnown(at=rfc3339(measured[-1]["at"]), value=measured[-1]["value"])


def shown_word(alert: Alert, now: int, *, is_silenced: bool) -> ShownWord:
    """Return the state as the page shows it."""
    if alert.state == AlertState.RESOLVED:
        return "resolved"
    if is_silenced:
        return "silenced"
    if is_acknowledged(alert, now):
        return "acknowledged"
    return AlertState(alert.state).value  # type: ignore[return-value]


def is_acknowledged(alert: Alert, now: int) -> bool:
    """Return whether somebody takes care of it at `now` (ms)."""
    until = alert.acknowledged_until
    return alert.acknowledged_at is not None and (until is None or until > now)


def _acknowledgement(alert: Alert, now: int) -> Acknowledgement | None:
    if alert.acknowledged_at is None or not (is_acknowledged(alert, now) or alert.state == AlertState.RESOLVED):
        return None
    return Acknowledgement(
        by=alert.acknowledged_by,
        at=rfc3339(alert.acknowledged_at),
        until=_text(alert.acknowledged_until),
        note=alert.note,
    )


def _summary(alert: Alert) -> str:
    rule = alert.rule
    return filled(
        rule.template,
        {
            "rule": rule.name,
            "severity": rule.severity,
            "state": alert.state.replace("_", " "),
            "cluster": alert.cluster,
            "subject": alert.subject,
            "value": written(rule.metric, alert.value),
            "limit": written(rule.metric, rule.limit),
            "count": "1",
        },
        sentence_of(rule.metric),
    )


def _text(at: int | None) -> str | None:
    return None if at is None else rfc3339(at)
