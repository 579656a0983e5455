"""The request of a job as its row keeps it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

import orjson

from console.jobs.bounds import LAST_SUCCESS, RunTimes
from console.jobs.models import JobDocument, JobType
from console.jobs.requests.export import EXPORT
from console.jobs.requests.kinds import RATE, RequestKind
from console.jobs.requests.reconcile import CHECK, RECONCILE
from console.jobs.requests.redrive import REDRIVE
from console.jobs.requests.replay import REPLAY, is_file

KINDS: Final[Mapping[str, RequestKind]] = {
    JobType.REPLAY: REPLAY,
    JobType.RECONCILE: RECONCILE,
    JobType.REDRIVE: REDRIVE,
    JobType.EXPORT: EXPORT,
}
RANGES: Final = ("source", "left", "right")


def kind_of(request: Mapping[str, Any]) -> RequestKind:
    """Return what the request of a job may have: a check has other fields than the other reconciliations."""
    is_check = request["type"] == JobType.RECONCILE and request.get("check") is not None
    return CHECK if is_check else KINDS[request["type"]]


def plain(checked: Mapping[str, Any]) -> JobDocument:
    """Return a checked request as JSON types, with moments as text and without fields that were not given."""
    document: JobDocument = orjson.loads(orjson.dumps(checked, default=str))
    return document


def continues_last_success(request: Mapping[str, Any]) -> bool:
    """Return whether a schedule's request begins where its last success ended."""
    return any(request[part].get("from") == LAST_SUCCESS for part in RANGES if part in request)


def waits_for_schedule(request: Mapping[str, Any]) -> bool:
    """Return whether a bound of the request is a placeholder, which only its schedule can fill in."""
    bounds = (request[part].get(bound) for part in RANGES if part in request for bound in ("from", "to"))
    return any(isinstance(bound, str) and bound.startswith("{{") for bound in bounds)


def filled(
    request: Mapping[str, Any], *, scheduled_at: datetime, last_success: datetime, now: datetime
) -> tuple[JobDocument, datetime]:
    """Return the request with its placeholders filled for a run that starts now, and the end of the run's range."""
    run = RunTimes(scheduled_at, last_success, now)
    whole, ends = dict(request), []
    for part in RANGES:
        if part in request:
            whole[part], end = run.fill(request[part])
            ends += [] if end is None else [end]
    return whole, min(ends, default=scheduled_at)


def name_of(request: Mapping[str, Any]) -> str:
    """Return a name for a job that was started without one."""
    name = kind_of(request).name(request)
    return f"Dry run: {name}" if request.get("dry_run") else name


def rate_of(request: Mapping[str, Any]) -> int | None:
    """Return how many messages a second the request allows; None is no limit."""
    found: int | None = (request.get("limits") or {}).get("messages_per_second")
    return found


def has_rate(request: Mapping[str, Any]) -> bool:
    """Return whether a job sends messages, at a rate that can be limited: no dry run, and none that writes a file."""
    kind = KINDS.get(request["type"])
    sends = not request.get("dry_run") and not is_file(request.get("target") or {})
    return kind is not None and RATE in kind.limits and sends


def hash_of(request: Mapping[str, Any]) -> str:
    """Return a hash that is the same for equal requests."""
    return hashlib.sha256(orjson.dumps(request, option=orjson.OPT_SORT_KEYS)).hexdigest()
