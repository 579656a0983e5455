"""Jobs that end for want of room on the disk; for rights see `test_owners.py`, for time `test_time_limit.py`."""

from __future__ import annotations

import pytest
from pytest_django import Settings

from console.jobs import launcher, services
from console.jobs.models import JobState, StateCode
from tests.console.jobs.conftest import BY, REPLAY
from tests.console.jobs.test_time_limit import playing


def test_a_job_is_ended_before_it_fills_the_disk(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    playing(monkeypatch, "import time; time.sleep(60)")
    settings.GANTRY_JOBS_FREE_MIB = 1 << 30
    job = services.create(BY, REPLAY)
    launcher.run(job.id, worker="w")
    job.refresh_from_db()
    assert (job.state, job.state_code, job.next_try_at) == (JobState.FAILED, StateCode.DISK_FULL, None)
    assert "MiB are free on the disk with the files of jobs" in (job.state_reason or "")
    assert "1,073,741,824 must stay (GANTRY_JOBS_FREE_MIB)" in (job.state_reason or "")
