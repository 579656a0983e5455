"""By whose rights jobs and schedules run: asked again whenever one starts."""

from __future__ import annotations

import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from console.accounts.models import Token, User
from console.alerts.models import Delivery
from console.audit.models import AuditRecord
from console.audit.record import Actor
from console.jobs import control, launcher, program, schedules, services
from console.jobs import schedule as clock
from console.jobs.models import Job, JobState, Schedule, StateCode
from tests.console.jobs.conftest import BY, REPLAY
from tests.console.jobs.test_endings import channel
from tests.console.jobs.test_schedule import NOON, schedule
from tests.support.cast import Cast

RULES = (
    ("topic", "orders", "read", "bodies"), ("topic", "copy", "produce"),
    ("job", "*", "read", "jobs"), ("schedule", "*", "read", "jobs"),
)  # fmt: skip


def started(cast: Cast, *, token: str = "", request: dict[str, Any] = REPLAY) -> tuple[Job, Actor]:
    """Return a job of a user who may do just that, by a session or a token, and this user."""
    cast.limited(*RULES)
    by = acting(cast, "limited", token)
    return services.create(by, request), by


def acting(cast: Cast, user: str, token: str = "") -> Actor:
    if not token:
        return Actor(user, user_id=cast[user].pk)
    cast.token(user, name=token)
    return Actor(user, user_id=cast[user].pk, token=token, token_key=Token.objects.get(name=token).key)


def claim(job: Job) -> Job | None:
    return services.claim(job.pk, worker="w", host="h")


def lose(what: str, user: User) -> None:
    if what == "rights":
        user.own_roles.get().delete()
    elif what == "activity":
        User.objects.filter(pk=user.pk).update(is_active=False)
    elif what == "user":
        user.delete()
    elif what == "token":
        Token.objects.filter(user=user).delete()
    elif what == "time of token":
        Token.objects.filter(user=user).update(expires_at=timezone.now())
    elif what == "scopes":
        Token.objects.filter(user=user).update(scopes=["jobs", "read:*", "bodies:*", "produce:other"])


LOSSES = {
    "rights": "The user 'limited', by whose rights it runs, may not start it any more. This needs the right 'jobs' on "
    "job 'replay'. No rule of no role allows it, and what no rule allows is refused.",
    "activity": "The user 'limited', by whose rights it runs, is deactivated.",
    "user": "The user by whose rights it runs does not exist any more.",
    "token": "The token 'ci' of 'limited', by whose rights it runs, was revoked.",
    "time of token": "The token 'ci' of 'limited', by whose rights it runs, expired at ",
    "scopes": "The user 'limited', by whose rights it runs, may not start it any more. This needs the right 'produce' "
    "on topic 'copy'. The scopes of the token do not cover it: ",
}


@pytest.mark.parametrize("what", LOSSES)
def test_a_queued_job_whose_user_lost_the_right_fails_and_says_whose(cast: Cast, what: str) -> None:
    """A job starts only while who started it may start it: else it fails, not retried by itself, and says why."""
    asked = {**REPLAY, "notify": {"channels": [channel().pk], "on": ["failed"]}}
    job, _ = started(cast, token="ci")
    Job.objects.filter(pk=job.pk).update(request=asked if what == "user" else job.request)
    lose(what, cast["limited"])
    assert claim(job) is None
    job.refresh_from_db()
    assert (job.state, job.attempt, job.next_try_at) == (JobState.FAILED, 0, None)
    assert job.state_code == StateCode.RIGHTS_LOST
    assert job.state_reason is not None
    assert job.state_reason.startswith(LOSSES[what])
    assert job.state_reason.endswith(" Whoever may start it can retry it.")
    noted = AuditRecord.objects.order_by("-id").values_list("actor", "action", "resource", "result", "after")[0]
    expected = ("system:worker", "replay.start", f"jobs/{job.pk}", "refused", {"reason": job.state_reason})
    assert noted == expected
    assert Delivery.objects.count() == (what == "user")


def test_an_automatic_retry_asks_again(cast: Cast) -> None:
    job, _ = started(cast)
    mine = claim(job)
    assert mine is not None
    services.finish_dead(mine, "it died")
    Job.objects.update(next_try_at=timezone.now())
    lose("rights", cast["limited"])
    assert claim(job) is None
    job.refresh_from_db()
    assert (job.state, job.retries) == (JobState.FAILED, 1)


@pytest.mark.parametrize("how", ["retry", "resume"])
def test_whoever_retries_or_resumes_a_job_is_who_it_runs_for(cast: Cast, how: str) -> None:
    """A job that somebody retries or resumes runs by the rights of that user or token."""
    job, by = started(cast, token="ci")
    if how == "resume":
        control.pause(by, job)
    lose("activity", cast["limited"])
    if how == "retry":
        assert claim(job) is None
    again = {"retry": services.retry, "resume": control.resume}[how](acting(cast, "operator"), Job.objects.get())
    assert (again.created_by, again.token_key, again.token_name) == (cast["limited"], "", "")
    assert claim(again) is not None


def test_a_request_with_a_token_makes_a_job_of_that_token(cast: Cast) -> None:
    made = schedule()
    program = cast.program("operator", name="ci")
    assert program.post(f"/api/v1/schedules/{made.pk}:run_now").status_code == 202
    job = Job.objects.get()
    assert (job.started_by, job.token_name) == (cast["operator"], "ci")
    assert job.token_key == Token.objects.get().key
    Token.objects.all().delete()
    assert claim(job) is None


@pytest.mark.parametrize("what", ["token", "time of token", "scopes"])
def test_a_schedule_ends_with_the_token_that_made_it(cast: Cast, what: str) -> None:
    """A schedule made with a token is paused once that token is revoked, has expired or does not cover its job."""
    # Given a schedule whose fields a token has set, and a run of it that waits
    made = schedule(overlap="queue", job=REPLAY)
    schedules.change_schedule(acting(cast, "operator", "ci"), made, {"cron": "0 * * * *"})
    Schedule.objects.update(next_run_at=NOON)
    (job,) = clock.step(NOON)
    assert (job.created_by, job.token_name) == (cast["operator"], "ci")
    # When the token is gone, neither starts any more
    lose(what, cast["operator"])
    assert claim(job) is None
    assert clock.step(NOON + timedelta(hours=1)) == []
    made.refresh_from_db()
    assert not made.enabled
    assert made.stopped_reason is not None
    assert made.stopped_reason.startswith(LOSSES[what].replace("limited", "operator"))
    assert made.stopped_reason.endswith(" Whoever may start its job can resume it.")
    # And it runs by the rights of who resumes it
    schedules.change_schedule(acting(cast, "admin"), made, {"enabled": True})
    Schedule.objects.update(next_run_at=NOON + timedelta(hours=2))
    (later,) = clock.step(NOON + timedelta(hours=2))
    assert claim(later) is not None


def test_a_schedule_that_another_renames_stays_that_of_its_token(cast: Cast) -> None:
    made = schedule()
    schedules.change_schedule(acting(cast, "operator", "ci"), made, {"overlap": "queue"})
    schedules.change_schedule(acting(cast, "admin"), made, {"name": "renamed"})
    assert (made.created_by, made.token_name) == (cast["operator"], "ci")


def test_a_job_of_gantry_itself_needs_no_user() -> None:
    assert claim(services.create(BY, REPLAY)) is not None


@pytest.mark.parametrize("what", ["rights", "activity", "user", "token", "scopes"])
def test_a_running_job_ends_when_its_user_may_not_start_it_any_more(
    cast: Cast, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    job, by = started(cast, token="nightly" if what in ("token", "scopes") else "")

    def command(kind: str, folder: Path) -> list[str]:
        lose(what, cast[by.name])
        return [sys.executable, "-c", "import time; time.sleep(60)"]

    monkeypatch.setattr(program, "command", command)
    monkeypatch.setattr(launcher, "_RENEW_SECONDS", 0.0)
    launcher.run(job.pk, worker="w")
    job.refresh_from_db()
    assert (job.state, job.state_code, job.next_try_at) == (JobState.FAILED, StateCode.RIGHTS_LOST, None)
    assert str(job.state_reason).endswith("Whoever may start it can retry it.")


def test_a_job_outlives_the_time_of_its_token(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    job, by = started(cast, token="nightly")

    def command(kind: str, folder: Path) -> list[str]:
        lose("time of token", cast[by.name])
        return [sys.executable, "-c", "import time; time.sleep(1)"]

    monkeypatch.setattr(program, "command", command)
    monkeypatch.setattr(launcher, "_RENEW_SECONDS", 0.0)
    launcher.run(job.pk, worker="w")
    job.refresh_from_db()
    assert (job.state, job.state_code) == (JobState.SUCCEEDED, None)
