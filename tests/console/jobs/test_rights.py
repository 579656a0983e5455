"""Each action on a job takes the rights on each topic that the job touches: tokens for some topics, tried on all."""

from __future__ import annotations

from typing import Any, Final

import pytest

from console.audit.models import AuditRecord
from console.jobs import schedules, services
from console.jobs.models import Job, JobState, Schedule
from tests.console.jobs.conftest import BY
from tests.support.cast import Cast, somebody

RULES: Final = (
    ("topic", "t-*", "read", "bodies"), ("topic", "t-out", "produce"), ("group", "g-*", "read", "bodies", "redrive"),
    ("job", "*", "read", "jobs"), ("schedule", "*", "read", "jobs"),
)  # fmt: skip
REDRIVE: Final = {"type": "redrive", "filter": {}, "limits": {"messages_per_second": 5}, "originals": "kept"}
JOBS: Final[dict[str, dict[str, Any]]] = {
    "own": {"type": "replay", "source": {"topic": "t-a"}, "target": {"topic": "t-out"}},
    "source of others": {"type": "replay", "source": {"topic": "x-a"}, "target": {"topic": "t-out"}},
    "target of others": {"type": "replay", "source": {"topic": "t-a"}, "target": {"topic": "x-out"}},
    "target not writable": {"type": "replay", "source": {"topic": "t-a"}, "target": {"topic": "t-b"}},
    "left of others": {"type": "reconcile", "left": {"topic": "x-a"}, "right": {"topic": "t-b"}},
    "right of others": {"type": "reconcile", "left": {"topic": "t-a"}, "right": {"topic": "x-b"}},
    "export of others": {"type": "export", "source": {"topic": "x-a"}, "format": "csv", "columns": ["key"]},
    "group of others": {**REDRIVE, "group": "h-1", "target": {"to": "failed_group"}, "topics": []},
    "origin of others": {**REDRIVE, "group": "g-1", "target": {"to": "origin"}, "topics": ["x-a"]},
}
RATE: Final = {"limits": {"messages_per_second": 7}}
ACTIONS: Final[dict[str, tuple[str, str, str, Any, str]]] = {
    # Name: method, path, state of the job before, body, action in the audit
    "cancel": ("post", ":cancel", JobState.QUEUED, None, "cancel"),
    "pause": ("post", ":pause", JobState.QUEUED, None, "pause"),
    "resume": ("post", ":resume", JobState.PAUSED, None, "resume"),
    "retry": ("post", ":retry", JobState.CANCELLED, None, "retry"),
    "rate": ("patch", "", JobState.QUEUED, RATE, "limits"),
}
READINGS: Final = ("", "/log", "/progress", "/report", "/artefacts", "/artefacts/report.json")
TIMES: Final[dict[str, Any]] = {"name": "n", "cron": "0 3 * * *", "zone": "UTC"}


@pytest.fixture
def token(cast: Cast) -> Any:
    """A token of somebody with the topics t-* and the groups g-*, who may write to one of the topics."""
    cast.limited(*RULES)
    return cast.program("limited")


def made(name: str, state: str = JobState.QUEUED) -> Job:
    """Return a job of somebody else in this state."""
    job = services.create(BY, {"cluster": "local", **JOBS[name]})
    Job.objects.filter(pk=job.pk).update(state=state)
    return job


def act(client: Any, job: Job, action: str) -> Any:
    method, path, _, body, _ = ACTIONS[action]
    return getattr(client, method)(f"/api/v1/jobs/{job.pk}{path}", body, format="json")


@pytest.mark.parametrize("action", ACTIONS)
def test_what_is_done_to_a_job_of_own_topics_is_recorded_with_the_token(token: Any, action: str) -> None:
    job = made("own", ACTIONS[action][2])
    before = AuditRecord.objects.count()
    assert act(token, job, action).status_code in (200, 202)
    assert AuditRecord.objects.count() == before + 1
    found = AuditRecord.objects.order_by("-id").first()
    assert found is not None
    assert (found.action, found.resource) == (f"replay.{ACTIONS[action][4]}", f"jobs/{job.pk}")
    assert (found.actor, found.token, found.result) == ("limited", "program", "ok")


@pytest.mark.parametrize("name", [name for name in JOBS if name.endswith("of others")])
def test_a_job_that_touches_topics_of_others_is_not_there(token: Any, name: str) -> None:
    for action, (_, _, state, _, _) in ACTIONS.items():
        job = made(name, state)
        assert act(token, job, action).status_code == 404, action
        job.refresh_from_db()
        assert (job.state, job.limits) == (state, {})
    for path in READINGS:
        assert token.get(f"/api/v1/jobs/{job.pk}{path}").status_code == 404, path
    assert token.get("/api/v1/jobs").json()["items"] == []
    assert token.get("/api/v1/job-workers").status_code == 200


def test_a_job_that_one_may_only_see_is_stopped_but_not_started(token: Any) -> None:
    for action, expected in {"cancel": 202, "pause": 202, "resume": 403, "retry": 403, "rate": 403}.items():
        job = made("target not writable", ACTIONS[action][2])
        answer = act(token, job, action)
        assert answer.status_code == expected, action
        if expected == 403:
            assert "'produce' on topic 't-b'" in answer.json()["detail"]
            job.refresh_from_db()
            assert (job.state, job.limits) == (ACTIONS[action][2], {})


@pytest.mark.parametrize("name", JOBS)
def test_a_schedule_with_a_job_is_run_only_by_who_might_start_that(token: Any, name: str) -> None:
    job = {"cluster": "local", **JOBS[name]}
    schedule = schedules.add_schedule(somebody("admin"), {**TIMES, "job": job, "enabled": False})
    path, any_tag = f"/api/v1/schedules/{schedule.pk}", {"if-match": "*"}
    answers = [
        token.post(f"{path}:run_now").status_code,
        token.patch(path, {"enabled": True}, format="json", headers=any_tag).status_code,
        token.get(f"{path}/runs").status_code,
    ]
    assert answers == {"own": [202, 200, 200], "target not writable": [403, 403, 200]}.get(name, [404, 404, 404])
    assert Schedule.objects.get().enabled == (name == "own")
    assert Job.objects.count() == (1 if name == "own" else 0)


@pytest.mark.parametrize("action", ACTIONS)
def test_a_token_for_some_topics_does_to_the_jobs_of_these_what_its_user_may(cast: Cast, action: str) -> None:
    program = cast.program("operator", "jobs", "read:t-*", "bodies:t-*", "produce:t-out")
    assert act(program, made("own", ACTIONS[action][2]), action).status_code in (200, 202)


def test_a_token_for_some_topics_looks_after_the_jobs_that_touch_no_others(cast: Cast) -> None:
    scopes = ("jobs", "read:t-*", "bodies:t-*", "produce:t-*")
    program = cast.program("operator", *scopes)
    mine, others = made("own"), made("source of others")
    assert [each["id"] for each in program.get("/api/v1/jobs").json()["items"]] == [mine.pk]
    for path in ("", "/log", "/progress", "/artefacts"):
        assert program.get(f"/api/v1/jobs/{mine.pk}{path}").status_code == 200, path
        assert program.get(f"/api/v1/jobs/{others.pk}{path}").status_code == 404, path
    assert program.post(f"/api/v1/jobs/{others.pk}:cancel").status_code == 404
    assert program.post(f"/api/v1/jobs/{mine.pk}:cancel").status_code == 202
    # Without the right to start jobs, and without that to read these topics, it sees none
    reader = cast.program("operator", *scopes[1:], name="reader")
    assert reader.get(f"/api/v1/jobs/{mine.pk}").status_code == 403
    starter = cast.program("operator", "jobs", "read:x-*", name="starter")
    assert starter.get(f"/api/v1/jobs/{mine.pk}").status_code == 404
