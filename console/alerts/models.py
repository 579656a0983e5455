"""The tables of alerts: rules, channels, what the rules found, silences, and what was delivered.

Moments that the evaluation compares are milliseconds since 1970 (fields that end in ``_at`` of `Alert`): the sampler
counts in them.
"""

from __future__ import annotations

from typing import Final

from django.conf import settings
from django.db import models

from console.jobs.models import new_id

_ID_LENGTH: Final = 16
DEFAULT_FOR_MS: Final = 60_000
DEFAULT_NO_DATA_MS: Final = 60_000
DEFAULT_REPEAT_MS: Final = 30 * 60_000


class Metric(models.TextChoices):
    """What a rule looks at; `console.alerts.metrics` says of what and in which unit."""

    GROUP_LAG = "group_lag"
    GROUP_TIME_LAG_MS = "group_time_lag_ms"
    GROUP_IN_RATE = "group_in_rate"
    GROUP_OUT_RATE = "group_out_rate"
    TOPIC_IN_RATE = "topic_in_rate"
    DEAD_LETTERS = "dead_letters"
    DEAD_LETTERS_PER_HOUR = "dead_letters_per_hour"
    BROKER_DISK_USED = "broker_disk_used"
    BROKER_SILENT = "broker_silent"
    REPLICA_LAG_BYTES = "replica_lag_bytes"
    REPLICA_LAG_MS = "replica_lag_ms"
    REPLICAS_OUT_OF_SYNC = "replicas_out_of_sync"
    REPLICAS_UNCLEAN = "replicas_unclean"
    BROKER_WITHOUT_MASTER = "broker_without_master"
    BROKER_REFUSES_SENDS = "broker_refuses_sends"
    BROKER_STUCK = "broker_stuck"
    BROKER_SET_BACK = "broker_set_back"
    ELECTIONS_PER_HOUR = "elections_per_hour"
    CONTROLLERS_SILENT = "controllers_silent"
    CONTROLLERS_LEADERLESS = "controllers_leaderless"
    CONTROLLER_ENGINE_DOWN = "controller_engine_down"
    CONTROLLER_ENGINE_USED = "controller_engine_used"
    DISK_DAYS_TO_FULL = "disk_days_to_full"
    JOBS_FAILED = "jobs_failed"
    JOBS_FAILED_IN_ROW = "jobs_failed_in_row"
    JOB_DIFFERENCES = "job_differences"
    SCHEDULE_LATE_MS = "schedule_late_ms"
    SCHEDULE_MISSED = "schedule_missed"


class Direction(models.TextChoices):
    """On which side of its limit a value is bad."""

    ABOVE = "above"
    BELOW = "below"


class Severity(models.TextChoices):
    """How much a rule matters to those who hear of it."""

    INFO = "info"
    WARNING = "warning"
    CRITICAL = "critical"


class ChannelKind(models.TextChoices):
    """How a channel delivers."""

    WEBHOOK = "webhook"
    EMAIL = "email"


class AlertState(models.TextChoices):
    """The state of an alert; without a row a rule is quiet for its subject."""

    PENDING = "pending"
    FIRING = "firing"
    NO_DATA = "no_data"
    RESOLVED = "resolved"


class DeliveryState(models.TextChoices):
    """How far a delivery is."""

    WAITING = "waiting"
    DELIVERED = "delivered"
    FAILED = "failed"


OPEN_STATES: Final = (AlertState.PENDING, AlertState.FIRING, AlertState.NO_DATA)


class SignedUrl(models.Model):
    """A URL that is posted to, and the secrets that sign what is posted."""

    url = models.CharField(max_length=1000, default="")
    # Signs the bodies of a webhook: the receiver needs the same text, so it cannot be a hash.
    secret = models.CharField(max_length=200, default="")
    # Until then bodies are signed by the former secret too, so that receivers can change theirs meanwhile.
    former_secret = models.CharField(max_length=200, default="")
    former_secret_until = models.DateTimeField(null=True)

    class Meta:
        abstract = True


class Channel(SignedUrl):
    """Where deliveries go: a URL that is posted to, or addresses that get mail."""

    id = models.CharField(primary_key=True, max_length=_ID_LENGTH, default=new_id, editable=False)
    name = models.CharField(max_length=100, unique=True)
    kind = models.CharField(max_length=16, choices=ChannelKind.choices)
    enabled = models.BooleanField(default=True)
    recipients = models.JSONField(default=list)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        verbose_name = "alert channel"

    def __str__(self) -> str:
        return self.name


class Rule(models.Model):
    """A limit for a figure of all subjects whose name matches."""

    id = models.CharField(primary_key=True, max_length=_ID_LENGTH, default=new_id, editable=False)
    name = models.CharField(max_length=200, unique=True)
    enabled = models.BooleanField(default=True)
    metric = models.CharField(max_length=32, choices=Metric.choices)
    cluster = models.CharField(max_length=64, default="*")
    subject = models.CharField(max_length=255, default="*")
    direction = models.CharField(max_length=8, choices=Direction.choices, default=Direction.ABOVE)
    limit = models.FloatField()
    for_ms = models.BigIntegerField(default=DEFAULT_FOR_MS)
    # None: unknown figures change nothing.
    no_data_after_ms = models.BigIntegerField(null=True, default=DEFAULT_NO_DATA_MS)
    severity = models.CharField(max_length=16, choices=Severity.choices, default=Severity.WARNING)
    channels = models.ManyToManyField(Channel, related_name="rules")
    template = models.CharField(max_length=500, default="")
    # None: told once.
    repeat_ms = models.BigIntegerField(null=True, default=DEFAULT_REPEAT_MS)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["name"]
        verbose_name = "alert rule"

    def __str__(self) -> str:
        return self.name


class Alert(models.Model):
    """One time that a rule was not quiet for a subject, from its first sign to its end."""

    id = models.CharField(primary_key=True, max_length=_ID_LENGTH, default=new_id, editable=False)
    rule = models.ForeignKey(Rule, on_delete=models.CASCADE, related_name="alerts")
    cluster = models.CharField(max_length=64)
    subject = models.CharField(max_length=255)
    state = models.CharField(max_length=16, choices=AlertState.choices)
    since_at = models.BigIntegerField()
    # The first sample beyond the limit, later by the spans in which nothing was known.
    crossed_at = models.BigIntegerField(null=True)
    fired_at = models.BigIntegerField(null=True)
    unknown_at = models.BigIntegerField(null=True)
    resolved_at = models.BigIntegerField(null=True)
    value = models.FloatField(null=True)
    # Changes of state in order: `at` (ms), `state`, `value`.
    changes = models.JSONField(default=list)
    told_at = models.BigIntegerField(null=True)
    acknowledged_by = models.CharField(max_length=200, default="")
    acknowledged_at = models.BigIntegerField(null=True)
    # None: until resolved.
    acknowledged_until = models.BigIntegerField(null=True)
    note = models.CharField(max_length=1000, default="")

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["state", "-id"], name="alert_by_state"),
            models.Index(fields=["resolved_at"], name="alert_by_end"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["rule", "cluster", "subject"],
                condition=~models.Q(state="resolved"),
                name="one_open_alert_per_rule_and_subject",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.rule_id} {self.cluster}/{self.subject}"


class Silence(models.Model):
    """A time in which nobody hears of the alerts that match; they are still evaluated and shown."""

    id = models.CharField(primary_key=True, max_length=_ID_LENGTH, default=new_id, editable=False)
    rule = models.CharField(max_length=200, default="*")
    cluster = models.CharField(max_length=64, default="*")
    subject = models.CharField(max_length=255, default="*")
    starts_at = models.DateTimeField()
    ends_at = models.DateTimeField(db_index=True)
    reason = models.CharField(max_length=1000)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.rule} {self.cluster}/{self.subject}"


class Delivery(models.Model):
    """One message to one channel, with its attempts."""

    id = models.CharField(primary_key=True, max_length=_ID_LENGTH, default=new_id, editable=False)
    channel = models.ForeignKey(Channel, null=True, on_delete=models.SET_NULL, related_name="deliveries")
    channel_name = models.CharField(max_length=100)
    rule = models.ForeignKey(Rule, null=True, on_delete=models.SET_NULL, related_name="deliveries")
    alerts = models.ManyToManyField(Alert, related_name="deliveries")
    # A state of alerts, "repeat", "test" or "notice".
    event = models.CharField(max_length=16)
    title = models.CharField(max_length=500)
    payload = models.JSONField()
    state = models.CharField(max_length=16, choices=DeliveryState.choices, default=DeliveryState.WAITING)
    # `at` (RFC 3339), `took_ms`, `status`, `error`, `answer`.
    attempts = models.JSONField(default=list)
    next_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]
        verbose_name = "delivery"
        indexes = [models.Index(fields=["state", "next_at"], name="delivery_by_next_try")]

    def __str__(self) -> str:
        return f"{self.channel_name} {self.event}"
