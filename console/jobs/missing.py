"""The replay of what a reconciliation found missing on the right, or of what a replay could not copy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import orjson
from rest_framework import serializers
from rest_framework.request import Request

from console.errors import Conflict
from console.jobs import errors, services
from console.jobs.models import Job, JobDocument, JobType
from console.jobs.requests import plain
from console.jobs.requests.placeholders import check_placeholders
from console.jobs.requests.replay import REPLAY, LimitsSerializer, ReplayTargetSerializer, check_live_target, is_file
from console.jobs.requests.sides import TOPIC
from console.jobs.requests.topics import check_cluster, check_topic

POSITIONS: Final = "missing.jsonl"
REFUSED: Final = "failures.jsonl"


class ReplayMissingSerializer(serializers.Serializer[Any]):
    """Where to, and how; by default to the topic of the right side, or as the replay did."""

    target = ReplayTargetSerializer(required=False)
    limits = LimitsSerializer(required=False)
    dry_run = serializers.BooleanField(
        required=False, help_text="Send nothing: the job tells what would be sent, by queue, with the first and last."
    )
    allow_live_target = serializers.BooleanField(
        required=False, help_text="Send also to a topic that groups read: they get the copies."
    )

    def to_internal_value(self, data: Any) -> Any:
        """Refuse placeholders, as in the request of any job."""
        if isinstance(data, Mapping):
            check_placeholders(data)
        return super().to_internal_value(data)


def request_of(job: Job, asked: Mapping[str, Any]) -> JobDocument:
    """Return the request of the replay, unchecked against rights and cluster.

    Raises Conflict for a job that found nothing to send, ValidationError where it is not known where to.
    """
    rest = {name: asked[name] for name in ("limits", "dry_run", "allow_live_target") if name in asked}
    made = _of_refused if job.type == JobType.REPLAY else _of_missing
    whole = {"type": JobType.REPLAY, **made(job, asked), **rest}
    REPLAY.check(whole)
    return plain(whole)


def _of_refused(job: Job, asked: Mapping[str, Any]) -> JobDocument:
    """Return source and target for what a replay could not copy: exactly these, without its other conditions."""
    if is_file(job.request["target"]):
        raise Conflict(f"Job {job.id} writes a file; a retry writes all of it again.")
    if not job.counters.get("failed") or not any(each["name"] == REFUSED for each in job.artefacts):
        raise Conflict(f"Job {job.id} is {job.state} and names no message that was refused.")
    source = {"topic": job.request["source"]["topic"], "positions": {"job": job.id, "file": REFUSED}}
    return {"cluster": job.cluster, "source": source, "target": asked.get("target") or job.request["target"]}


def _of_missing(job: Job, asked: Mapping[str, Any]) -> JobDocument:
    if job.type != JobType.RECONCILE or "left" not in job.request:
        what = "checks a store against itself" if job.type == JobType.RECONCILE else f"is of the type {job.type}"
        raise Conflict(f"Job {job.id} {what}; only a reconciliation of two sides finds messages that are missing.")
    if not any(each["name"] == POSITIONS for each in job.artefacts):
        raise Conflict(f"Job {job.id} is {job.state} and {_why_none(job)}.")
    left, right = job.request["left"], job.request["right"]
    cluster = left.get("cluster") or job.cluster
    target = asked.get("target")
    if target is None:
        if right.get("kind", TOPIC) != TOPIC:
            raise serializers.ValidationError({"target": "is required: the right side is no topic"})
        target = {"topic": right["topic"]}
        if (right.get("cluster") or job.cluster) != cluster:
            target["cluster"] = right.get("cluster") or job.cluster
        if job.request.get("by") == "unique_id":
            # Copies that are paired by their ids must keep them.
            target["preserve"] = ["unique_id"]
    source = {"topic": left["topic"], "positions": {"job": job.id, "file": POSITIONS}}
    return {"cluster": cluster, "source": source, "target": target}


def _why_none(job: Job) -> str:
    """Return why a job has nothing to send: what a group has not consumed is on its way to it, or was given up."""
    notes = _notes_of(job)
    if not notes:
        return "has no position of a message that is missing on the right"
    dead, in_retry, waiting = (notes.get(name, 0) for name in ("dead", "in retry", "waiting"))
    return (
        f"has nothing to send: of what is missing on the right, {dead} are dead letters, which a redrive sends again, "
        f"{in_retry} are in retry, and {waiting} are not consumed yet"
    )


def _notes_of(job: Job) -> Mapping[str, int]:
    """Return how many partners do not count, by why; none where the right side is no group or there is no report."""
    try:
        report: dict[str, Any] = orjson.loads((services.folder_of(job) / "report.json").read_bytes())
    except FileNotFoundError:
        return {}
    return report.get("notes") or {}


def check_places(by: Request, request: Mapping[str, Any]) -> None:
    """Raise for a cluster or a topic that is not there, that no job may write to, or that groups read."""
    check_cluster(request["cluster"])
    for part in REPLAY.required:
        if part != "target" or not is_file(request[part]):
            check_topic(request["cluster"], part, request[part])
    check_live_target(by, request)


def check_files(job: Job) -> None:
    """Raise Conflict if the positions were removed after their retention."""
    if job.files_removed_at is not None:
        raise Conflict(str(errors.FilesRemoved(job)))
