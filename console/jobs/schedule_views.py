"""Schedules over HTTP."""

from __future__ import annotations

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from console.accounts.permissions import Right, actor_of, needs, require
from console.accounts.rights import ANYTHING, Resource
from console.api_view import ApiView
from console.errors import Conflict
from console.etags import IF_MATCH, locked, match, tagged
from console.jobs import schedules
from console.jobs.models import Job, Schedule
from console.jobs.runs import shape_of_run
from console.jobs.serializers import (
    JobSerializer,
    NextRunsSerializer,
    SchedulePreviewSerializer,
    ScheduleRunSerializer,
    ScheduleSerializer,
    ScheduleWriteSerializer,
    schedule_tag,
)
from console.jobs.shapes import shape_of
from console.jobs.times import next_times
from console.jobs.visibility import (
    StartsOrReads,
    check_changeable,
    check_startable,
    check_visible,
    require_change,
    visible_jobs,
    visible_schedules,
)
from console.paging import PAGE_PARAMETERS, page_of, page_queryset
from console.rows import row_of
from console.shapes import as_json

SchedulePage = page_of(ScheduleSerializer)
ScheduleRunPage = page_of(ScheduleRunSerializer)
_TAGS = ["jobs"]


class _ScheduleRights(ApiView):
    """The right is needed for some schedule; for which one, the views ask when they know its name."""

    permission_classes: tuple[type[Right], ...] = (StartsOrReads,)

    def right_resource(self) -> Resource:
        """Return any schedule."""
        return Resource("schedule", ANYTHING)


class SchedulesView(_ScheduleRights):
    """All schedules."""

    @extend_schema(operation_id="listSchedules", tags=_TAGS, parameters=PAGE_PARAMETERS, responses=SchedulePage)
    def get(self, request: Request) -> Response:
        """List schedules, the newest first."""
        page = page_queryset(request, visible_schedules(request, Schedule.objects.all()))
        items = list(ScheduleSerializer(page.items, many=True).data)
        return Response(as_json(page.of(items)))

    @extend_schema(
        operation_id="createSchedule",
        tags=_TAGS,
        request=ScheduleWriteSerializer,
        responses={201: ScheduleSerializer},
    )
    def post(self, request: Request) -> Response:
        """Create a schedule for a job."""
        form = ScheduleWriteSerializer(data=request.data, context={"is_scheduled": True, "request": request})
        form.is_valid(raise_exception=True)
        require(request, "jobs", Resource("schedule", form.validated_data["name"]))
        schedule = schedules.add_schedule(actor_of(request), form.validated_data)
        return tagged(ScheduleSerializer(schedule).data, status=201)


class ScheduleView(_ScheduleRights):
    """One schedule."""

    @extend_schema(operation_id="getSchedule", tags=_TAGS, responses=ScheduleSerializer)
    def get(self, request: Request, schedule_id: str) -> Response:
        """Return a schedule."""
        return tagged(ScheduleSerializer(check_visible(request, _known(schedule_id))).data)

    @extend_schema(
        operation_id="updateSchedule",
        parameters=[IF_MATCH],
        tags=_TAGS,
        request=ScheduleWriteSerializer,
        responses=ScheduleSerializer,
    )
    def patch(self, request: Request, schedule_id: str) -> Response:
        """Change, enable or disable a schedule."""
        schedule = check_changeable(request, _known(schedule_id))
        match(request, ScheduleSerializer(schedule).data)
        form = ScheduleWriteSerializer(
            schedule, data=request.data, partial=True, context={"is_scheduled": True, "request": request}
        )
        form.is_valid(raise_exception=True)
        changes = form.validated_data
        require_change(request, schedule, changes)
        with locked(request, Schedule.objects.filter(pk=schedule_id), schedule_tag) as present:
            schedule = schedules.change_schedule(actor_of(request), present, changes)
        return tagged(ScheduleSerializer(schedule).data)

    @extend_schema(operation_id="deleteSchedule", parameters=[IF_MATCH], tags=_TAGS, responses={204: None})
    def delete(self, request: Request, schedule_id: str) -> Response:
        """Remove a schedule; its jobs stay, and those that have not begun are cancelled."""
        check_changeable(request, _known(schedule_id))
        with locked(request, Schedule.objects.filter(pk=schedule_id), schedule_tag) as schedule:
            schedules.remove_schedule(actor_of(request), schedule)
        return Response(status=204)


class RunsView(_ScheduleRights):
    """What became of the times of a schedule."""

    @extend_schema(operation_id="listScheduleRuns", tags=_TAGS, parameters=PAGE_PARAMETERS, responses=ScheduleRunPage)
    def get(self, request: Request, schedule_id: str) -> Response:
        """List the runs of a schedule, the newest first, with the times that started none."""
        schedule = check_visible(request, _known(schedule_id))
        page = page_queryset(request, schedule.runs.select_related("job__created_by"))
        jobs = Job.objects.filter(pk__in=[run.job_id for run in page.items if run.job_id])
        seen = set(visible_jobs(request, jobs).values_list("pk", flat=True))
        items = [shape_of_run(run, is_job_visible=run.job_id in seen) for run in page.items]
        return Response(as_json(page.of(items)))


class PreviewView(_ScheduleRights):
    """The next times of a cron line, without a schedule."""

    permission_classes = (needs("read"),)
    answer_ms = 0

    @extend_schema(
        operation_id="previewSchedule", tags=_TAGS, request=SchedulePreviewSerializer, responses=NextRunsSerializer
    )
    def post(self, request: Request) -> Response:
        """Return the next times at which a cron line is due."""
        form = SchedulePreviewSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        asked = form.validated_data
        times = next_times(timezone.now(), asked["cron"], asked["zone"], asked["count"])
        return Response(NextRunsSerializer({"next_runs": times}).data)


class RunNowView(_ScheduleRights):
    """A manual run of a schedule."""

    @extend_schema(operation_id="runScheduleNow", tags=_TAGS, request=None, responses={202: JobSerializer})
    def post(self, request: Request, schedule_id: str) -> Response:
        """Start the schedule's job now, in addition to its times."""
        try:
            schedule = check_startable(request, _known(schedule_id))
            job = schedules.run_now(actor_of(request), schedule)
        except schedules.RunWaits as error:
            raise Conflict(str(error)) from error
        return Response(as_json(shape_of(job)), status=202, headers={"Location": f"/api/v1/jobs/{job.id}"})


def _known(schedule_id: str) -> Schedule:
    return row_of(Schedule.objects.all(), schedule_id)
