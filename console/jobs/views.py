"""Jobs and schedules over HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import orjson
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import exceptions, serializers
from rest_framework.request import Request
from rest_framework.response import Response

from console.accounts.permissions import actor_of
from console.accounts.rights import ANYTHING, Resource
from console.api_view import ApiView
from console.errors import Conflict
from console.jobs import control, errors, search, services, workers
from console.jobs.bounded_log import shown_bytes
from console.jobs.history import history_of
from console.jobs.models import ACTIVE_STATES, Job
from console.jobs.reports import JobReportSerializer, without_contents
from console.jobs.requests import JobRequestSerializer, plain
from console.jobs.serializers import (
    JobChangeSerializer,
    JobLogSerializer,
    JobProgressSerializer,
    JobSerializer,
)
from console.jobs.shapes import shape_of
from console.jobs.visibility import (
    StartsOrReads,
    check_startable,
    check_visible,
    reads_contents,
    require_log,
    visible_jobs,
)
from console.paging import PAGE_PARAMETERS, page_of, page_queryset
from console.rows import row_of
from console.shapes import as_json, serializer_of

JobPage = page_of(JobSerializer)
LOG_PIECE: Final = 64 * 1024
_TAGS: Final = ["jobs"]


class FilesGone(exceptions.APIException):
    """The files of the job were removed after their retention."""

    status_code = 410
    default_code = "files_gone"
    default_detail = "The files of the job were removed."


class JobRights(ApiView):
    """The right is needed for some job; for which one, the views ask when they know its type."""

    permission_classes = (StartsOrReads,)

    def right_resource(self) -> Resource:
        """Return any job."""
        return Resource("job", ANYTHING)


class JobsView(JobRights):
    """All jobs."""

    @extend_schema(
        operation_id="listJobs",
        tags=_TAGS,
        parameters=[*PAGE_PARAMETERS, *search.SEARCH_PARAMETERS],
        responses=JobPage,
    )
    def get(self, request: Request) -> Response:
        """List the jobs that match all filters, the newest first."""
        page = page_queryset(request, visible_jobs(request, search.found(request)))
        items = as_json([shape_of(job) for job in page.items])
        return Response(as_json(page.of(items)))

    @extend_schema(operation_id="startJob", tags=_TAGS, request=JobRequestSerializer, responses={202: JobSerializer})
    def post(self, request: Request) -> Response:
        """Start a replay, a reconciliation or an export."""
        form = JobRequestSerializer(data=request.data, context={"request": request})
        form.is_valid(raise_exception=True)
        job = services.create(actor_of(request), plain(form.validated_data))
        return Response(as_json(shape_of(job)), status=202, headers={"Location": f"/api/v1/jobs/{job.id}"})


class WorkersView(JobRights):
    """The workers that run jobs."""

    @extend_schema(operation_id="listJobWorkers", tags=_TAGS, responses=serializer_of(workers.JobWorkers, "JobWorkers"))
    def get(self, request: Request) -> Response:
        """List the workers with what each does since when, and how many jobs wait: of all, and of the caller."""
        active = visible_jobs(request, Job.objects.filter(state__in=ACTIVE_STATES))
        readable = set(active.values_list("pk", flat=True))
        return Response(as_json(workers.overview(request.user.pk, readable, timezone.now())))


class JobView(JobRights):
    """One job."""

    @extend_schema(operation_id="getJob", tags=_TAGS, responses=JobSerializer)
    def get(self, request: Request, job_id: str) -> Response:
        """Return a job."""
        return Response(as_json(shape_of(_job(request, job_id))))

    @extend_schema(operation_id="updateJob", tags=_TAGS, request=JobChangeSerializer, responses=JobSerializer)
    def patch(self, request: Request, job_id: str) -> Response:
        """Change the rate or the minutes of a job that has not ended; they are in force within a second."""
        # A higher limit is more of what the job does to its topics.
        job = check_startable(request, known_job(job_id))
        form = JobChangeSerializer(data=request.data, context={"type": job.type, "request_of_job": job.request})
        form.is_valid(raise_exception=True)
        try:
            job = control.change_limits(actor_of(request), job, form.validated_data["limits"])
        except errors.JobInOtherState as error:
            raise Conflict(str(error)) from error
        return Response(as_json(shape_of(job)))


class LogView(JobRights):
    """The log of a job."""

    @extend_schema(
        operation_id="getJobLog",
        tags=_TAGS,
        parameters=[OpenApiParameter("offset", int, default=0, description="How many bytes to skip.")],
        responses=JobLogSerializer,
    )
    def get(self, request: Request, job_id: str) -> Response:
        """Return a piece of the log, at most 64 KiB, cut after a line."""
        offset = request.query_params.get("offset", "0")
        if not offset.isascii() or not offset.isdigit() or len(offset) > 15:
            raise serializers.ValidationError({"offset": "must be a number of bytes"})
        job = job_with_files(request, job_id)
        require_log(request, job.request)
        piece, end = _piece(services.folder_of(job) / "log", int(offset))
        return Response({"text": piece.decode(errors="replace"), "next_offset": end})


class ProgressView(JobRights):
    """The whole run of a job."""

    @extend_schema(operation_id="getJobProgress", tags=_TAGS, responses=JobProgressSerializer)
    def get(self, request: Request, job_id: str) -> Response:
        """Return the counters of a job over its whole run, and how far each queue of a replay is."""
        return Response(as_json(history_of(services.folder_of(job_with_files(request, job_id)))))


class ReportView(JobRights):
    """The report of a job."""

    @extend_schema(operation_id="getJobReport", tags=_TAGS, responses=JobReportSerializer)
    def get(self, request: Request, job_id: str) -> Response:
        """Return the report of a job: the queues of a replay, or the tiles and samples of a reconciliation."""
        job = job_with_files(request, job_id)
        try:
            report = orjson.loads((services.folder_of(job) / "report.json").read_bytes())
        except FileNotFoundError:
            raise exceptions.NotFound(f"Job {job.id} is {job.state} and has no report.") from None
        return Response(report if reads_contents(request, job.request) else without_contents(job.request, report))


def known_job(job_id: str) -> Job:
    """Return the row of a job with the user who started it; raise NotKnown."""
    return row_of(Job.objects.select_related("created_by"), job_id)


def _job(request: Request, job_id: str) -> Job:
    return check_visible(request, known_job(job_id))


def job_with_files(request: Request, job_id: str) -> Job:
    """Return the job if the caller may read it; raise NotKnown, FilesGone after its retention."""
    job = _job(request, job_id)
    if job.files_removed_at is not None:
        raise FilesGone(str(errors.FilesRemoved(job)))
    return job


def _piece(file: Path, offset: int) -> tuple[bytes, int]:
    """Return a piece of a log and where it ends; beyond the end of the log that is the end."""
    try:
        with file.open("rb") as opened:
            begin = min(offset, shown_bytes(file))
            opened.seek(begin)
            piece = opened.read(min(LOG_PIECE, shown_bytes(file) - begin))
    except FileNotFoundError:
        return b"", 0
    whole = piece[: piece.rfind(b"\n") + 1] or (piece if len(piece) == LOG_PIECE else b"")
    return whole, begin + len(whole)
