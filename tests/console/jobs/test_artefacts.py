"""The files of a job: listed, downloaded as a whole and by ranges, and kept within age and size."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings

from console.jobs import retention
from console.jobs.models import Job
from tests.console.jobs.test_retention import ended
from tests.support.answers import streamed
from tests.support.cast import Cast

CONTENT = bytes(range(48, 58)) * 10


@pytest.fixture
def file(job: Job, place: Path) -> str:
    """The path of a file that a job has produced, in the API."""
    folder = place / "jobs" / job.id
    folder.mkdir(parents=True)
    (folder / "differences.csv").write_bytes(CONTENT)
    Job.objects.filter(pk=job.pk).update(artefacts=[{"name": "differences.csv", "kind": "csv", "bytes": 100}])
    return f"/api/v1/jobs/{job.id}/artefacts/differences.csv"


def test_files_are_listed_with_their_type_and_until_when_they_are_kept(cast: Cast, job: Job, file: str) -> None:
    viewer: Any = cast.browser("viewer")
    path = file.rpartition("/")[0]
    listed = viewer.get(path).json()
    assert listed["items"] == [
        {"name": "differences.csv", "kind": "csv", "bytes": 100, "media_type": "text/csv; charset=utf-8"}
    ]
    assert (listed["keep_until"], listed["removed_at"]) == (None, None)
    # And when they are gone, the list says since when and why
    Job.objects.filter(pk=job.pk).update(
        state="succeeded", finished_at="2026-04-01T00:00:00Z", files_removed_at="2026-05-01T00:00:00Z"
    )
    gone = viewer.get(path).json()
    assert (len(gone["items"]), gone["removed_at"]) == (1, "2026-05-01T00:00:00.000Z")
    assert gone["removed_reason"] == "30 days after its end"
    assert viewer.get(file).status_code == 410


@pytest.mark.parametrize(
    ("asked", "part", "said"),
    [
        ("bytes=0-9", CONTENT[:10], "bytes 0-9/100"),
        ("bytes=95-", CONTENT[95:], "bytes 95-99/100"),
        ("bytes=-5", CONTENT[95:], "bytes 95-99/100"),
        ("bytes=90-500", CONTENT[90:], "bytes 90-99/100"),
    ],
)
def test_a_range_of_a_file_is_served(cast: Cast, file: str, asked: str, part: bytes, said: str) -> None:
    answer: Any = cast.browser("viewer").get(file, headers={"Range": asked})
    assert (answer.status_code, streamed(answer)) == (206, part)
    assert (answer["Content-Range"], answer["Content-Length"]) == (said, str(len(part)))


def test_a_file_is_a_download_that_no_browser_takes_for_a_page(cast: Cast, job: Job, file: str) -> None:
    viewer: Any = cast.browser("viewer")
    answer = viewer.get(file)
    assert (answer.status_code, streamed(answer)) == (200, CONTENT)
    assert answer["Content-Disposition"] == f'attachment; filename="{job.id}-differences.csv"'
    assert (answer["Content-Type"], answer["X-Content-Type-Options"]) == ("text/csv; charset=utf-8", "nosniff")
    # What is no single range is answered by all of it, and so is a range of another version
    for headers in ({"Range": "bytes=0-1,4-5"}, {"Range": "rows=1-2"}, {"Range": "bytes=0-9", "If-Range": '"old"'}):
        assert streamed(viewer.get(file, headers=headers)) == CONTENT
    same = viewer.get(file, headers={"Range": "bytes=0-9", "If-Range": answer["ETag"]})
    assert (same.status_code, streamed(same)) == (206, CONTENT[:10])
    behind = viewer.get(file, headers={"Range": "bytes=100-"})
    assert (behind.status_code, behind.json()["code"]) == (416, "RANGE_NOT_SATISFIABLE")
    assert behind.json()["detail"].startswith("The file has 100 bytes; no byte of it is in the range")


@pytest.mark.parametrize("name", ["request.json", "log", "..%2Flog", "%2E%2E", "differences.csv%00", ".hidden"])
def test_no_other_file_can_be_read(cast: Cast, file: str, name: str) -> None:
    answer: Any = cast.browser("admin").get(f"{file.rpartition('/')[0]}/{name}")
    assert answer.status_code == 404


def test_files_of_the_oldest_jobs_go_when_all_have_too_much(place: Path, settings: Settings, cast: Cast) -> None:
    # Given three jobs with files of about half a MiB, and room for one MiB
    settings.GANTRY_JOBS_KEEP_MIB = 1
    jobs = [ended(place, "succeeded", days=days) for days in (3, 2, 1)]
    for job in jobs:
        (place / "jobs" / job.id / "report.json").write_bytes(b"x" * 500_000)
    # When retention is over them
    removed = retention.step(timezone.now())
    # Then the oldest has lost its own, and says why
    assert [job.id for job in removed] == [jobs[0].id]
    assert [(place / "jobs" / job.id).exists() for job in jobs] == [False, True, True]
    answer: Any = cast.browser("viewer").get(f"/api/v1/jobs/{jobs[0].id}/log")
    assert (answer.status_code, "had more than 1 MiB" in answer.json()["detail"]) == (410, True)
    # And the newest keeps its own however large they are
    (place / "jobs" / jobs[2].id / "report.json").write_bytes(b"x" * 3_000_000)
    assert [job.id for job in retention.step(timezone.now())] == [jobs[1].id]
    assert (place / "jobs" / jobs[2].id).exists()
    assert Job.objects.filter(finished_at__gt=timezone.now() - timedelta(days=9)).count() == 3
