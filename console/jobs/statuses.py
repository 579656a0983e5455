"""What the exit status of a program says (broker_core/spark/README.md#programs): the state of its job, and why."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from typing import Any, Final

from console.jobs.models import JobState, JobType, StateCode
from console.jobs.progress import Counters

PAUSED: Final = 75
# Any other status may end otherwise the next time: the program was killed, failed unexpectedly, or reached no broker.
ENDS: Final = {
    0: JobState.SUCCEEDED,
    2: JobState.FAILED,
    3: JobState.PARTIAL,
    5: JobState.FAILED,
}
_WRITING: Final = (JobType.REPLAY, JobType.REDRIVE, JobType.EXPORT)
_REASONS: Final = {
    2: "the request cannot be carried out; the log says why",
    3: "some messages failed",
    4: "the broker could not be reached",
    5: "part of the range is no longer in the store",
}
_CODES: Final = {
    0: None,
    2: StateCode.REQUEST_REFUSED,
    4: StateCode.BROKER_UNREACHABLE,
    5: StateCode.MESSAGES_GONE,
    PAUSED: None,
    -signal.SIGKILL: StateCode.PROGRAM_KILLED,
}


def reason_of(status: int) -> str:
    """Return why a program that left no reason ended."""
    if status == -signal.SIGKILL:
        return "its program was killed; perhaps the machine ran out of memory"
    if status < 0:
        return f"its program was ended by {signal.Signals(-status).name}"
    return _REASONS.get(status, f"its program ended with status {status}; the log says why")


def state_of(status: int, counters: Counters, request: Mapping[str, Any]) -> JobState | None:
    """Return the state in which a job ends; None if it may be tried again, or goes on after a pause."""
    state = ENDS.get(status)
    return JobState.FAILED if state == JobState.PARTIAL and _wrote_none(counters, request) else state


def _wrote_none(counters: Counters, request: Mapping[str, Any]) -> bool:
    """Return whether a job that writes has left out all that it was to write."""
    return request.get("type") in _WRITING and counters.written == counters.skipped == counters.unknown == 0


def code_of(status: int, counters: Counters, request: Mapping[str, Any]) -> StateCode | None:
    """Return the same as one word; None if the job ended well, or goes on after a pause."""
    if ENDS.get(status) != JobState.PARTIAL:
        return _CODES.get(status, StateCode.PROGRAM_FAILED)
    if request.get("check"):
        return StateCode.STORE_FAULTS
    if _wrote_none(counters, request):
        return StateCode.NONE_WRITTEN
    return StateCode.SOME_FAILED if counters.failed or counters.unknown else StateCode.SOME_DAMAGED
