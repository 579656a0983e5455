"""Starts the Java of a job before the program of the job is imported (spark/README.md#where-a-start-goes)."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from broker_core.errors import GantryError
from broker_core.job_folder import JobFolder
from broker_core.spark.jvm import Jvm
from broker_core.spark.programs.requests import ProgramRequest, read_request, session_config
from broker_core.spark.settings import begin_java

_COPIES: Final = ("replay", "export")


def begin_early(job: JobFolder, work_dir: Path) -> Jvm | None:
    """Start a JVM that works in `work_dir`, if the job will surely need it and a local Spark can be told all later."""
    try:
        request = read_request(job)
        if not _only_copies(request):
            return None
        return begin_java(session_config(request, work_dir, is_short=True))
    except (GantryError, OSError):
        # The run meets the same error, and tells it.
        return None


def _only_copies(request: ProgramRequest) -> bool:
    """Return whether a job needs Spark, and little of its Java: for messages as they are."""
    asked = request.asked
    is_changed = asked.get("source", {}).get("where") or asked.get("target", {}).get("transform")
    return request.type in _COPIES and not asked.get("dry_run") and not is_changed
