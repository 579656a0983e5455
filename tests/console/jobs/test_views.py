"""Jobs and schedules over HTTP, as the known cast uses them."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from console.audit.record import Actor
from console.jobs import services
from console.jobs.models import Job
from tests.support.cast import Cast


def test_a_job_is_shown_and_listed(cast: Cast, job: Job) -> None:
    viewer: Any = cast.browser("viewer")
    assert viewer.get(f"/api/v1/jobs/{job.id}").json()["state"] == "queued"
    page = viewer.get("/api/v1/jobs?type=replay&state=queued,running").json()
    assert [each["id"] for each in page["items"]] == [job.id]
    assert viewer.get("/api/v1/jobs?state=failed").json()["items"] == []


def test_who_may_not_run_jobs_may_not_cancel_them(cast: Cast, job: Job) -> None:
    for role, status in (("viewer", 403), ("developer", 403), ("operator", 202)):
        assert cast.browser(role).post(f"/api/v1/jobs/{job.id}:cancel").status_code == status


def test_a_cancelled_job_goes_on_in_its_own_row(cast: Cast, job: Job) -> None:
    operator: Any = cast.browser("operator")
    services.cancel(Actor.system("test"), job)
    answer = operator.post(f"/api/v1/jobs/{job.id}:retry")
    assert (answer.status_code, answer.json()["id"], answer["Location"]) == (202, job.id, f"/api/v1/jobs/{job.id}")
    assert operator.post(f"/api/v1/jobs/{job.id}:retry").status_code == 409


@pytest.mark.parametrize(
    ("request_body", "pointer"),
    [
        ({"type": "replay", "source": {"topic": "a"}}, "#/target"),
        ({"type": "reconcile", "left": {"topic": "a"}, "right": {"topic": "b"}, "limits": {}}, "#/limits"),
        ({"type": "replay", "source": {"topic": "a"}, "target": {"topic": "a"}}, "#/target/topic"),
        ({"type": "mow"}, "#/type"),
        (
            {
                "type": "replay", "target": {"topic": "b"},
                "source": {"topic": "a", "from": "2026-05-02T00:00:00Z", "to": "2026-05-01T00:00:00Z"},
            },
            "#/source/to",
        ),
        (
            {"type": "replay", "target": {"topic": "b"}, "source": {"topic": "a", "from": "{{ last_success }}"}},
            "#/source/from",
        ),
    ],
)  # fmt: skip
def test_a_request_that_makes_no_sense_is_refused(cast: Cast, request_body: dict[str, Any], pointer: str) -> None:
    answer = cast.browser("operator").post("/api/v1/jobs", request_body, format="json")
    assert answer.status_code == 422
    assert pointer in [error["pointer"] for error in answer.json()["errors"]]


def test_the_log_is_read_piece_by_piece(cast: Cast, job: Job, place: Path) -> None:
    folder = place / "jobs" / job.id
    folder.mkdir(parents=True)
    (folder / "log").write_text("one\ntwo\nthr")
    viewer: Any = cast.browser("viewer")
    piece = viewer.get(f"/api/v1/jobs/{job.id}/log").json()
    assert piece == {"text": "one\ntwo\n", "next_offset": 8}
    assert viewer.get(f"/api/v1/jobs/{job.id}/log?offset=8").json() == {"text": "", "next_offset": 8}


def test_the_report_and_the_files_of_a_job_can_be_read_and_nothing_else(cast: Cast, job: Job, place: Path) -> None:
    viewer: Any = cast.browser("viewer")
    assert viewer.get(f"/api/v1/jobs/{job.id}/report").status_code == 404
    folder = place / "jobs" / job.id
    folder.mkdir(parents=True)
    (folder / "report.json").write_text('{"tiles": {"matched": 3}, "samples": []}')
    (folder / "request.json").write_text("{}")
    Job.objects.filter(pk=job.pk).update(artefacts=[{"name": "report.json", "kind": "json", "bytes": 40}])
    assert viewer.get(f"/api/v1/jobs/{job.id}/report").json()["tiles"] == {"matched": 3}
    with closing(viewer.get(f"/api/v1/jobs/{job.id}/artefacts/report.json")) as answer:
        assert answer.status_code == 200
    assert viewer.get(f"/api/v1/jobs/{job.id}/artefacts/request.json").status_code == 404
