"""The files that a job produced, over HTTP."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Final

from django.conf import settings
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from msgspec import Meta, Struct
from rest_framework import exceptions
from rest_framework.request import Request
from rest_framework.response import Response

from console.fields import moment
from console.jobs import errors, services
from console.jobs.downloads import MEDIA_TYPES, download, media_type_of
from console.jobs.models import Job
from console.jobs.views import JobRights, job_with_files, known_job
from console.jobs.visibility import check_visible, reads_contents, require_contents, require_log
from console.moments import Moment
from console.shapes import as_json, serializer_of

_PLAIN_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,100}")


class JobArtefact(Struct, frozen=True, kw_only=True):
    """A file that a job produced."""

    name: str
    kind: str
    bytes: int
    media_type: str


class JobArtefacts(Struct, frozen=True, kw_only=True):
    """The files that a job produced, and how long they are kept."""

    items: list[JobArtefact]
    keep_until: Annotated[
        Moment | None,
        Meta(description="When they are removed, or before if jobs keep too much. Null before the job has ended."),
    ]
    removed_at: Annotated[Moment | None, Meta(description="When they were removed; they can be listed, not read.")]
    removed_reason: str | None
    hidden: Annotated[str | None, Meta(description="The right that it takes to download them, if the caller lacks it.")]
    log_hidden: Annotated[
        str | None, Meta(description="The right that it takes to read the log, if the caller lacks it.")
    ]


class ArtefactsView(JobRights):
    """All files that a job produced."""

    @extend_schema(
        operation_id="listJobArtefacts", tags=["jobs"], responses=serializer_of(JobArtefacts, "JobArtefacts")
    )
    def get(self, request: Request, job_id: str) -> Response:
        """List the files of a job with their sizes, and when they are or were removed."""
        job = check_visible(request, known_job(job_id))
        may_read, may_read_log = reads_contents(request, job.request), _reads_log(request, job)
        return Response(as_json(_files_of(job, may_read=may_read, may_read_log=may_read_log)))


class ArtefactView(JobRights):
    """A file that a job produced."""

    @extend_schema(
        operation_id="downloadArtefact",
        tags=["jobs"],
        parameters=[OpenApiParameter("Range", str, OpenApiParameter.HEADER, description="A part, as `bytes=0-999`.")],
        responses={
            (status, kind): OpenApiTypes.BINARY
            for status in (200, 206)
            for kind in (*(each.partition(";")[0] for each in MEDIA_TYPES.values()), "application/octet-stream")
        },
    )
    def get(self, request: Request, job_id: str, name: str) -> HttpResponseBase:
        """Download a file of a job, or a range of its bytes."""
        job = job_with_files(request, job_id)
        known = {artefact["name"] for artefact in job.artefacts}
        file: Path = services.folder_of(job) / name
        if name not in known or not _PLAIN_NAME.fullmatch(name) or not file.is_file():
            raise exceptions.NotFound(f"Job {job.id} has no file {name!r}.")
        require_contents(request, job.request)
        return download(request, file, f"{job.id}-{name}")


def _reads_log(request: Request, job: Job) -> bool:
    try:
        require_log(request, job.request)
    except exceptions.PermissionDenied:
        return False
    return True


def _files_of(job: Job, *, may_read: bool, may_read_log: bool) -> JobArtefacts:
    items = [JobArtefact(**each, media_type=media_type_of(each["name"])) for each in job.artefacts]
    until = None if job.finished_at is None else job.finished_at + timedelta(days=settings.GANTRY_JOBS_KEEP_DAYS)
    removed = job.files_removed_at
    return JobArtefacts(
        items=items,
        keep_until=moment(until) if until is not None and removed is None else None,
        removed_at=None if removed is None else moment(removed),
        removed_reason=None if removed is None else errors.why_removed(job),
        hidden=None if may_read else "bodies",
        log_hidden=None if may_read_log else "bodies",
    )
