"""Requirements of `console.jobs.retention`."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

from django.utils import timezone
from pytest_django import Settings

from console.audit.record import Actor
from console.jobs import retention, services
from console.jobs.models import Job, JobState
from tests.console.jobs.conftest import REPLAY


def ended(place: Path, state: str, *, days: float) -> Job:
    """Return a job that ended this many days ago, with a file."""
    job = services.create(Actor("ann"), REPLAY)
    at = None if state in (JobState.QUEUED, JobState.RUNNING) else timezone.now() - timedelta(days=days)
    Job.objects.filter(pk=job.pk).update(state=state, finished_at=at)
    folder = place / "jobs" / job.id / "differences.parquet"
    folder.mkdir(parents=True)
    (folder / "part-0").write_text("x")
    return Job.objects.get(pk=job.pk)


def test_files_go_when_their_time_is_over_and_the_row_stays(place: Path, settings: Settings) -> None:
    settings.GANTRY_JOBS_KEEP_DAYS = 7
    old = [ended(place, state, days=8) for state in ("succeeded", "partial", "failed", "cancelled")]
    kept = [ended(place, "succeeded", days=6), ended(place, "queued", days=9), ended(place, "running", days=9)]
    assert {job.id for job in retention.step(timezone.now())} == {job.id for job in old}
    assert {path.name for path in (place / "jobs").iterdir()} == {job.id for job in kept}
    rows = Job.objects.filter(pk__in=[job.id for job in old])
    assert all(row.files_removed_at is not None for row in rows)
    assert retention.step(timezone.now()) == []


def test_a_folder_that_cannot_be_removed_is_tried_again(place: Path, monkeypatch: Any) -> None:
    job = ended(place, "failed", days=31)

    def refuse(_folder: Path) -> None:
        raise PermissionError("not ours")

    with monkeypatch.context() as broken:
        broken.setattr("shutil.rmtree", refuse)
        assert retention.step(timezone.now()) == []
    job.refresh_from_db()
    assert job.files_removed_at is None
    assert [each.id for each in retention.step(timezone.now())] == [job.id]


def test_a_job_that_never_had_files_counts_as_removed(place: Path) -> None:
    job = services.create(Actor("ann"), REPLAY)
    services.cancel(Actor("ann"), job)
    Job.objects.filter(pk=job.pk).update(finished_at=timezone.now() - timedelta(days=31))
    assert [each.id for each in retention.step(timezone.now())] == [job.id]
