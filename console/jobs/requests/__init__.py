"""The request of a job: its form in the API, the checks against the cluster, and the file that its program reads."""

from __future__ import annotations

from console.jobs.requests.document import (
    continues_last_success,
    filled,
    has_rate,
    hash_of,
    name_of,
    plain,
    rate_of,
    waits_for_schedule,
)
from console.jobs.requests.form import STARTED, JobRequestSerializer, WholeJobRequestSerializer
from console.jobs.requests.program import program_request
from console.jobs.requests.ranges import RangeSerializer
from console.jobs.requests.reconcile import CompareField
from console.jobs.requests.replay import ReplaySourceSerializer

__all__ = [
    "STARTED", "CompareField", "JobRequestSerializer", "RangeSerializer", "ReplaySourceSerializer",
    "WholeJobRequestSerializer", "continues_last_success", "filled", "has_rate", "hash_of", "name_of", "plain",
    "program_request", "rate_of", "waits_for_schedule",
]  # fmt: skip
