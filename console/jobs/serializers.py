"""JSON shapes of jobs and schedules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from django.utils import timezone
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from console.etags import etag
from console.fields import MomentField, NameField, moment
from console.jobs import schedule as clock
from console.jobs import schedules
from console.jobs.history import JobProgressShape
from console.jobs.models import JobDocument, JobState, JobType, Overlap, Schedule
from console.jobs.requests import WholeJobRequestSerializer, has_rate, plain
from console.jobs.requests.kinds import RATE, TIME
from console.jobs.requests.replay import MOST_PER_SECOND as MOST_REPLAYED
from console.jobs.runs import ScheduleRunShape
from console.jobs.shapes import JobShape
from console.jobs.time_limit import MinutesField
from console.jobs.times import CronMalformed, ZoneUnknown, find_zone, next_time
from console.redrives.requests import MOST_PER_SECOND as MOST_REDRIVEN
from console.shapes import serializer_of

MAX_PREVIEW: Final = 50


JobSerializer = serializer_of(JobShape, "Job")
JobProgressSerializer = serializer_of(JobProgressShape, "JobProgress")
ScheduleRunSerializer = serializer_of(ScheduleRunShape, "ScheduleRun")


class _LimitsChangeSerializer(serializers.Serializer[Any]):
    messages_per_second = serializers.IntegerField(
        min_value=1,
        max_value=MOST_REPLAYED,
        required=False,
        allow_null=True,
        help_text="null is no limit; a redrive needs one.",
    )
    max_minutes = MinutesField()

    def validate_messages_per_second(self, value: int | None) -> int | None:
        """Refuse what a redrive cannot do: it always has a limit."""
        if self.context["type"] == JobType.REDRIVE and (value is None or value > MOST_REDRIVEN):
            raise serializers.ValidationError(f"must be a number from 1 to {MOST_REDRIVEN} for a redrive")
        return value


class JobChangeSerializer(serializers.Serializer[Any]):
    """What can be changed of a job that has not ended."""

    limits = _LimitsChangeSerializer()

    def validate_limits(self, value: dict[str, Any]) -> dict[str, Any]:
        """Refuse a change of nothing, and a rate for a job that sends nothing."""
        if not value:
            raise serializers.ValidationError(f"has nothing to change; {RATE} and {TIME} can be changed")
        if RATE in value and not has_rate(self.context["request_of_job"]):
            raise serializers.ValidationError({RATE: "this job sends no messages, so it has no rate"})
        return value


class JobLogSerializer(serializers.Serializer[Any]):
    """A piece of a job's log, and where the next one begins."""

    text = serializers.CharField()
    next_offset = serializers.IntegerField()


def schedule_tag(schedule: Schedule) -> str:
    """Return the tag of the fields of a schedule that a PATCH can change."""
    return etag([schedule.pk, schedules.choices_of(schedule)])


class ScheduleSerializer(serializers.ModelSerializer[Schedule]):
    """A schedule, with its next times."""

    job = serializers.DictField()
    overlap = serializers.ChoiceField(Overlap.choices)
    next_run_at = MomentField(allow_null=True)
    last_run_at = MomentField(allow_null=True)
    last_state = serializers.SerializerMethodField()
    next_runs = serializers.SerializerMethodField()
    stopped_reason = serializers.CharField(
        allow_null=True, help_text="Why the scheduler or a user paused it; null while it runs, or if nobody said why."
    )
    etag = serializers.SerializerMethodField(help_text="For If-Match.")

    class Meta:
        model = Schedule
        fields = (
            "id", "name", "cron", "zone", "enabled", "job", "overlap", "catch_up_ms", "jitter_ms", "next_run_at",
            "last_run_at", "last_state", "next_runs", "stopped_reason", "etag",
        )  # fmt: skip
        read_only_fields = fields

    @extend_schema_field({"type": ["string", "null"], "enum": [*JobState.values, None]})
    def get_last_state(self, schedule: Schedule) -> str | None:
        """Return the state of its newest job."""
        return schedule.jobs.order_by("-id").values_list("state", flat=True).first()

    @extend_schema_field({"type": "array", "items": {"type": "string", "format": "date-time"}})
    def get_next_runs(self, schedule: Schedule) -> list[str]:
        return [moment(each) for each in clock.next_runs(schedule, timezone.now())]

    def get_etag(self, schedule: Schedule) -> str:
        """Return the tag of the fields that a PATCH can change."""
        return schedule_tag(schedule)


class CatchUpField(serializers.IntegerField):
    """How late a run may start."""

    def __init__(self) -> None:
        super().__init__(
            min_value=60_000,
            max_value=366 * 86_400_000,
            allow_null=True,
            default=None,
            help_text="How late a run may start, as after a stop of the scheduler; null for no limit.",
        )


class JitterField(serializers.IntegerField):
    """By how much runs are spread."""

    def __init__(self) -> None:
        super().__init__(
            min_value=0,
            max_value=3_600_000,
            default=0,
            help_text="Each run starts up to so much after its time, so that not all schedules start at once. "
            "Its range stays the one of its time.",
        )


class ScheduleWriteSerializer(serializers.Serializer[Any]):
    """A schedule to create or to change."""

    name = NameField(max_length=200)
    cron = serializers.CharField(max_length=200)
    zone = serializers.CharField(max_length=64, default="UTC")
    enabled = serializers.BooleanField(default=True)
    overlap = serializers.ChoiceField(Overlap.choices, default=Overlap.SKIP)
    catch_up_ms = CatchUpField()
    jitter_ms = JitterField()
    stopped_reason = serializers.CharField(
        max_length=1000, allow_null=True, required=False, help_text="Why it is paused; only with `enabled` false."
    )
    job = WholeJobRequestSerializer()

    def validate_zone(self, value: str) -> str:
        """Refuse an unknown time zone."""
        return _known_zone(value)

    def validate_cron(self, value: str) -> str:
        """Refuse a line that is malformed or never due."""
        return _due_line(value)

    def validate_job(self, value: Mapping[str, Any]) -> JobDocument:
        """Return the request as it is kept."""
        return plain(value)

    def validate_name(self, value: str) -> str:
        """Refuse a name that another schedule has."""
        others = Schedule.objects.filter(name=value)
        if self.instance is not None:
            others = others.exclude(pk=self.instance.pk)
        if others.exists():
            raise serializers.ValidationError("another schedule has this name")
        return value

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse a reason without a pause, and a schedule that runs with what only an earlier release accepted."""
        is_enabled = attrs.get("enabled", self.instance is None or self.instance.enabled)
        if is_enabled and attrs.get("stopped_reason") is not None:
            raise serializers.ValidationError({"stopped_reason": "only a schedule that is paused has one"})
        if self.instance is not None and is_enabled:
            # What is given was checked already; the rest an earlier release may have accepted.
            faults: dict[str, Any] = {}
            for name, check in (("cron", _due_line), ("zone", _known_zone)):
                try:
                    check(attrs.get(name, getattr(self.instance, name)))
                except serializers.ValidationError as error:
                    faults[name] = error.detail
            if faults:
                raise serializers.ValidationError(faults)
        return attrs


class SchedulePreviewSerializer(serializers.Serializer[Any]):
    """A cron line to preview."""

    cron = serializers.CharField(max_length=200)
    zone = serializers.CharField(max_length=64, default="UTC")
    count = serializers.IntegerField(min_value=1, max_value=MAX_PREVIEW, default=clock.PREVIEW)

    def validate_zone(self, value: str) -> str:
        """Refuse an unknown time zone."""
        return _known_zone(value)

    def validate_cron(self, value: str) -> str:
        """Refuse a line that is malformed or never due."""
        return _due_line(value)


class NextRunsSerializer(serializers.Serializer[Any]):
    """The next times at which a cron line is due."""

    next_runs = serializers.ListField(child=MomentField())


def _known_zone(name: str) -> str:
    try:
        find_zone(name)
    except ZoneUnknown as error:
        raise serializers.ValidationError(str(error)) from error
    return name


def _due_line(line: str) -> str:
    try:
        next_time(timezone.now(), line, "UTC")
    except CronMalformed as error:
        raise serializers.ValidationError(str(error)) from error
    return line
