"""What the exit status of a program says of its job."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import broker_core
from console.jobs.models import JobState, StateCode
from console.jobs.progress import Counters
from console.jobs.statuses import code_of, state_of

README = Path(broker_core.__file__).parent / "spark" / "README.md"


@pytest.mark.parametrize(
    ("status", "counters", "request_of_job", "code"),
    [
        (0, Counters(), {}, None),
        (75, Counters(), {}, None),
        (1, Counters(), {}, StateCode.PROGRAM_FAILED),
        (3, Counters(damaged=2), {}, StateCode.SOME_DAMAGED),
        (3, Counters(damaged=2, failed=1), {}, StateCode.SOME_FAILED),
        (3, Counters(damaged=None), {}, StateCode.SOME_DAMAGED),
        (3, Counters(), {"type": "reconcile", "check": "store"}, StateCode.STORE_FAULTS),
        (3, Counters(failed=1003), {"type": "replay"}, StateCode.NONE_WRITTEN),
        (3, Counters(damaged=1), {"type": "export"}, StateCode.NONE_WRITTEN),
        (3, Counters(failed=3, skipped=1), {"type": "redrive"}, StateCode.SOME_FAILED),
        (3, Counters(unknown=3), {"type": "redrive"}, StateCode.SOME_FAILED),
        (4, Counters(), {}, StateCode.BROKER_UNREACHABLE),
        (-9, Counters(), {}, StateCode.PROGRAM_KILLED),
        (-15, Counters(), {}, StateCode.PROGRAM_FAILED),
    ],
)
def test_a_status_is_one_word(status: int, counters: Counters, request_of_job: Any, code: StateCode | None) -> None:
    assert code_of(status, counters, request_of_job) == code


@pytest.mark.parametrize(
    ("status", "counters", "kind", "state"),
    [
        (0, Counters(), "replay", JobState.SUCCEEDED),
        (1, Counters(failed=3), "replay", None),
        (3, Counters(failed=3), "replay", JobState.FAILED),
        (3, Counters(failed=3, written=1), "replay", JobState.PARTIAL),
        (3, Counters(failed=3, skipped=1), "redrive", JobState.PARTIAL),
        (3, Counters(unknown=3), "redrive", JobState.PARTIAL),
        (3, Counters(damaged=3), "reconcile", JobState.PARTIAL),
    ],
)
def test_a_job_that_was_to_write_and_wrote_nothing_has_failed(
    status: int, counters: Counters, kind: str, state: JobState | None
) -> None:
    assert state_of(status, counters, {"type": kind}) == state


def test_every_word_that_a_program_leaves_is_one_of_the_api() -> None:
    told = "`cause` in `result.json` is one word for what a status does not tell: "
    line = next(line for line in README.read_text().splitlines() if line.startswith(told))
    words = re.findall(r"`(\w+)`", line.removeprefix(told))
    assert words
    assert set(words) <= set(StateCode.values)
