"""What can be done to one job: cancel, pause, resume, retry, and replay what it found missing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from console.accounts.permissions import actor_of
from console.errors import Conflict
from console.jobs import control, errors, missing, services
from console.jobs.missing import ReplayMissingSerializer
from console.jobs.models import Job
from console.jobs.serializers import JobSerializer
from console.jobs.shapes import shape_of
from console.jobs.views import JobRights, known_job
from console.jobs.visibility import check_changeable, check_startable, check_visible, require_parts
from console.redrives import ledger
from console.shapes import as_json

_TAGS: Final = ["jobs"]
_REFUSALS: Final = (
    errors.JobInOtherState, errors.FilesRemoved, errors.NothingLeft, errors.RangeCovered, errors.ScheduleGone,
    ledger.GroupBusy,
)  # fmt: skip


class CancelView(JobRights):
    """The cancellation of a job."""

    @extend_schema(operation_id="cancelJob", tags=_TAGS, request=None, responses={202: JobSerializer})
    def post(self, request: Request, job_id: str) -> Response:
        """Cancel a job; messages it has written stay."""
        job = check_changeable(request, known_job(job_id))
        with _refusals():
            return _accepted(services.cancel(actor_of(request), job))


class PauseView(JobRights):
    """The pause of a job."""

    @extend_schema(operation_id="pauseJob", tags=_TAGS, request=None, responses={202: JobSerializer})
    def post(self, request: Request, job_id: str) -> Response:
        """Pause a job: it ends its program and gives up its place, and keeps what it has done."""
        job = check_changeable(request, known_job(job_id))
        with _refusals():
            return _accepted(control.pause(actor_of(request), job))


class ResumeView(JobRights):
    """The end of a pause."""

    @extend_schema(operation_id="resumeJob", tags=_TAGS, request=None, responses={202: JobSerializer})
    def post(self, request: Request, job_id: str) -> Response:
        """Queue a paused job again; a replay or redrive continues where it stopped."""
        job = check_startable(request, known_job(job_id))
        with _refusals():
            return _accepted(control.resume(actor_of(request), job))


class RetryView(JobRights):
    """The retry of a job."""

    @extend_schema(operation_id="retryJob", tags=_TAGS, request=None, responses={202: JobSerializer})
    def post(self, request: Request, job_id: str) -> Response:
        """Requeue a job that did not succeed; a replay or redrive continues where it stopped."""
        job = check_startable(request, known_job(job_id))
        with _refusals(), ledger.one_start(job.cluster, job.request.get("group", "")):
            ledger.check_free(job)
            return _accepted(services.retry(actor_of(request), job))


class ReplayMissingView(JobRights):
    """The replay of what a reconciliation found missing, or of what a replay could not copy."""

    @extend_schema(
        operation_id="replayMissing", tags=_TAGS, request=ReplayMissingSerializer, responses={202: JobSerializer}
    )
    def post(self, request: Request, job_id: str) -> Response:
        """Start a replay of what a reconciliation found missing on the right, or of what a replay could not copy."""
        job = check_visible(request, known_job(job_id))
        form = ReplayMissingSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        missing.check_files(job)
        replay = missing.request_of(job, form.validated_data)
        require_parts(request, replay)
        missing.check_places(request, replay)
        return _accepted(services.create(actor_of(request), replay, parent=job))


@contextmanager
def _refusals() -> Iterator[None]:
    try:
        yield
    except _REFUSALS as error:
        raise Conflict(str(error)) from error


def _accepted(job: Job) -> Response:
    return Response(as_json(shape_of(job)), status=202, headers={"Location": f"/api/v1/jobs/{job.id}"})
