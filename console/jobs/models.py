"""The tables of jobs and schedules.

The job row *is* the queue: a Celery message only says "look at this job". The worker whose claim changes the row from
queued to running owns the run until its lease ends.
"""

from __future__ import annotations

import secrets
import threading
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.db import models

from broker_core.clock import now_ms

_ALPHABET: Final = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's: no i, l, o, u
_ID_LENGTH: Final = 16

JobDocument = dict[str, Any]
"""The request of a job as the API accepted it: JSON that the row keeps unchanged, because its hash identifies it."""


class _Numbers:
    """Numbers of 48 bits of time and 32 random bits, each larger than the one before."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._last = 0

    def next(self) -> int:
        with self._turn:
            # In the same millisecond, and when the clock was set back, the random bits would decide the order.
            self._last = max(now_ms() << 32 | secrets.randbits(32), self._last + 1)
            return self._last


_numbers: Final = _Numbers()


def new_id() -> str:
    """Return 16 characters: 48 bits of time and 32 random bits; ids of one process sort by creation."""
    number = _numbers.next()
    return "".join(_ALPHABET[number >> shift & 31] for shift in range(5 * (_ID_LENGTH - 1), -1, -5))


class JobType(models.TextChoices):
    """The types of jobs; each has one program."""

    REPLAY = "replay"
    RECONCILE = "reconcile"
    REDRIVE = "redrive"
    EXPORT = "export"


class JobState(models.TextChoices):
    """The state of a job; `services.TRANSITIONS` says which may follow which."""

    QUEUED = "queued"
    RUNNING = "running"
    PAUSED = "paused"
    SUCCEEDED = "succeeded"
    PARTIAL = "partial"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Overlap(models.TextChoices):
    """The action of a schedule that is due while an earlier run has not ended."""

    SKIP = "skip"
    QUEUE = "queue"
    CANCEL_PREVIOUS = "cancel_previous"


class RunOutcome(models.TextChoices):
    """What became of a time of a schedule."""

    STARTED = "started"
    SKIPPED = "skipped"
    MISSED = "missed"


class RunReason(models.TextChoices):
    """Why a time of a schedule started no job."""

    EARLIER_RUN = "earlier_run"
    TOO_MANY_WAIT = "too_many_wait"
    TOO_LATE = "too_late"


class StateCode(models.TextChoices):
    """Why a job is in its state, or why its last try ended; `state_reason` says the same in a sentence."""

    # Of a job that failed, or waits for its next try.
    REQUEST_REFUSED = "request_refused"
    RIGHTS_LOST = "rights_lost"
    TIME_LIMIT = "time_limit"
    DISK_FULL = "disk_full"
    NO_JAVA = "no_java"
    BROKER_UNREACHABLE = "broker_unreachable"
    STORE_UNREADABLE = "store_unreadable"
    MESSAGES_GONE = "messages_gone"
    DAMAGED_RECORD = "damaged_record"
    NOT_SENT = "not_sent"
    NONE_WRITTEN = "none_written"
    PROGRAM_KILLED = "program_killed"
    PROGRAM_FAILED = "program_failed"
    LAUNCHER_FAILED = "launcher_failed"
    WORKER_LOST = "worker_lost"
    WORKER_STOPPED = "worker_stopped"
    # Of one that is partial, which may also be `not_sent`.
    SOME_FAILED = "some_failed"
    SOME_DAMAGED = "some_damaged"
    STORE_FAULTS = "store_faults"
    # What a user did.
    CANCELLED = "cancelled"
    PAUSED = "paused"


MAX_RETRIES: Final = 3

LEASE: Final = timedelta(seconds=30)
"""How long a run belongs to its worker after that has last said so."""


ACTIVE_STATES: Final = (JobState.QUEUED, JobState.RUNNING, JobState.PAUSED)
"""The states of a job that has not ended."""


class Schedule(models.Model):
    """A job that starts at the times of a cron line in a time zone."""

    id = models.CharField(primary_key=True, max_length=_ID_LENGTH, default=new_id, editable=False)
    name = models.CharField(max_length=200, unique=True)
    cron = models.CharField(max_length=200)
    zone = models.CharField(max_length=64, default="UTC")
    enabled = models.BooleanField(default=True)
    job = models.JSONField()
    overlap = models.CharField(max_length=16, choices=Overlap.choices, default=Overlap.SKIP)
    # How late a run may start, as after a stop of the scheduler; null for no limit.
    catch_up_ms = models.BigIntegerField(null=True)
    # Runs start up to this much after their time, so that not all schedules start at once.
    jitter_ms = models.PositiveIntegerField(default=0)
    next_run_at = models.DateTimeField(null=True, db_index=True)
    last_run_at = models.DateTimeField(null=True)
    # Why the scheduler or a user paused it, until it runs again.
    stopped_reason = models.TextField(null=True)
    # By whose rights it runs: who made it, or resumed or changed it last; and by which token, empty for a session.
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    token_key = models.CharField(max_length=16, default="")
    token_name = models.CharField(max_length=100, default="")
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class Job(models.Model):
    """A job, its current run and its result. Its files are in ``<data>/jobs/<id>/``."""

    id = models.CharField(primary_key=True, max_length=_ID_LENGTH, default=new_id, editable=False)
    type = models.CharField(max_length=16, choices=JobType.choices)
    name = models.CharField(max_length=200)
    cluster = models.CharField(max_length=200)
    request = models.JSONField()
    request_hash = models.CharField(max_length=64)
    parent = models.ForeignKey("self", null=True, on_delete=models.SET_NULL, related_name="children")
    schedule = models.ForeignKey(Schedule, null=True, on_delete=models.SET_NULL, related_name="jobs")
    scheduled_for = models.DateTimeField(null=True)
    # The end of the range of a schedule's run, where the next run continues; set when the run starts.
    covers_until = models.DateTimeField(null=True)
    # Whether the whole range was read, even if messages failed; the report lists those.
    is_whole = models.BooleanField(default=False)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    # By whose rights it runs: who made it, or retried or resumed it last; and by which token, empty for a session. The
    # number of a user who was removed stays, so that the job is not taken for one of Gantry itself, which has none.
    started_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.DO_NOTHING, db_constraint=False, related_name="+"
    )
    token_key = models.CharField(max_length=16, default="")
    token_name = models.CharField(max_length=100, default="")

    state = models.CharField(max_length=16, choices=JobState.choices, default=JobState.QUEUED)
    state_reason = models.TextField(null=True)
    state_code = models.CharField(max_length=32, choices=StateCode.choices, null=True)
    cancel_requested = models.BooleanField(default=False)
    pause_requested = models.BooleanField(default=False)
    # Limits that a user has changed since the start, as `limits` of a request; the request stays as it was.
    limits = models.JSONField(default=dict)
    attempt = models.PositiveIntegerField(default=0)
    # How often it was retried automatically since a user last started it, and how often it may be.
    retries = models.PositiveIntegerField(default=0)
    max_retries = models.PositiveIntegerField(default=MAX_RETRIES)
    # How long those of its runs took that have ended since a user started it, without pauses and waits.
    worked_ms = models.PositiveBigIntegerField(default=0)
    # A queued job is not started before.
    next_try_at = models.DateTimeField(null=True)

    run_id = models.UUIDField(null=True)
    worker = models.CharField(max_length=200, default="")
    host = models.CharField(max_length=200, default="")
    pid = models.IntegerField(null=True)
    pid_started = models.BigIntegerField(null=True)
    lease_until = models.DateTimeField(null=True)

    counters = models.JSONField(default=dict)
    rate = models.FloatField(null=True)
    eta_ms = models.BigIntegerField(null=True)
    result = models.JSONField(null=True)
    artefacts = models.JSONField(default=list)
    files_removed_at = models.DateTimeField(null=True)
    exit_code = models.IntegerField(null=True)
    spark_app_id = models.CharField(max_length=100, default="")
    versions = models.JSONField(default=dict)

    created_at = models.DateTimeField(auto_now_add=True)
    queued_at = models.DateTimeField(null=True)
    started_at = models.DateTimeField(null=True)
    # When the run began that made the plan; a replay that goes on keeps its plan. Null where nobody noted it.
    planned_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["state", "lease_until"], name="job_by_state_and_lease"),
            models.Index(fields=["type", "-id"], name="job_by_type"),
            models.Index(fields=["cluster", "finished_at"], name="job_by_end"),
            models.Index(fields=["started_by", "started_at"], name="job_by_begin"),
        ]
        constraints = [
            # Two beats that fire for the same minute make one job.
            models.UniqueConstraint(fields=["schedule", "scheduled_for"], name="one_job_per_scheduled_time"),
            # Runs of one schedule never overlap: the second to be claimed stays queued.
            models.UniqueConstraint(
                fields=["schedule"], condition=models.Q(state="running"), name="one_running_job_per_schedule"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.type} {self.id}"

    @property
    def folder(self) -> Path:
        """Where its files are."""
        return Path(settings.GANTRY_DATA_DIR) / "jobs" / self.id

    @property
    def plan(self) -> Path:
        """Where a program that goes on after a pause or a retry keeps what it does; others have no such file."""
        return self.folder / "plan.json"


class ScheduleRun(models.Model):
    """What became of a time of a schedule, or of several that became one run or were missed together."""

    id = models.CharField(primary_key=True, max_length=_ID_LENGTH, default=new_id, editable=False)
    schedule = models.ForeignKey(Schedule, on_delete=models.CASCADE, related_name="runs")
    outcome = models.CharField(max_length=16, choices=RunOutcome.choices)
    reason = models.CharField(max_length=16, choices=RunReason.choices, null=True)
    # The last of its times, and the first of several; a manual run has none.
    scheduled_for = models.DateTimeField(null=True)
    first_scheduled_for = models.DateTimeField(null=True)
    times = models.PositiveIntegerField(default=1)
    # The job that it started, or the one that it gave way to.
    job = models.ForeignKey(Job, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["schedule", "-id"], name="run_by_schedule")]

    def __str__(self) -> str:
        return f"{self.outcome} {self.id}"
