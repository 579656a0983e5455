"""Schedules: when they fire, and what they do while an earlier run is active."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from console.accounts.models import User
from console.alerts.job_values import late
from console.audit.record import Actor
from console.errors import Conflict, NotKnown
from console.fields import moment
from console.jobs import covering, errors, runs, schedules, services
from console.jobs import schedule as clock
from console.jobs.due import delay
from console.jobs.models import Job, JobState, Schedule
from tests.console.jobs.conftest import REPLAY
from tests.support.cast import Cast, somebody

BY = Actor.system("test")
NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
JOB: dict[str, Any] = {
    "type": "replay",
    "cluster": "local",
    "source": {"topic": "orders", "from": "{{ last_success }}", "to": "{{ scheduled_at }}"},
    "target": {"topic": "copy"},
}


def schedule(**changes: Any) -> Schedule:
    """Return an hourly schedule whose next time is noon."""
    made = schedules.add_schedule(
        somebody("operator"),
        {
            "name": "hourly",
            "cron": "0 * * * *",
            "zone": "UTC",
            "enabled": True,
            "overlap": "skip",
            "job": JOB,
            **changes,
        },
    )
    Schedule.objects.filter(pk=made.pk).update(next_run_at=NOON, created_at=NOON - timedelta(hours=1))
    made.refresh_from_db()
    return made


def test_schedules_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedules, "MAX_SCHEDULES", 2)
    schedule(name="a")
    schedule(name="b")
    with pytest.raises(Conflict, match="There are 2 schedules, and more are not allowed"):
        schedule(name="c")


def test_nothing_fires_before_its_time() -> None:
    schedule()
    assert clock.step(NOON - timedelta(seconds=1)) == []


def test_a_job_is_made_for_its_time_once() -> None:
    made = schedule()
    (job,) = clock.step(NOON + timedelta(seconds=9))
    assert job.scheduled_for == NOON
    assert clock.step(NOON + timedelta(seconds=24)) == []
    made.refresh_from_db()
    assert (made.last_run_at, made.next_run_at) == (NOON, NOON + timedelta(hours=1))


def test_times_that_were_missed_count_once() -> None:
    # Given a schedule whose job continues from the last success, and a scheduler that comes back after five hours
    made = schedule()
    (job,) = clock.step(NOON + timedelta(hours=5))
    # Then its one run is that of the newest time, and stands for all of them
    assert Job.objects.count() == 1
    assert run(job) == ("2026-05-01T11:00:00.000Z", "2026-05-01T17:00:00.000Z")
    (noted,) = noted_of(made)
    assert noted == ("started", None, NOON + timedelta(hours=5), NOON, 6, job.id)


def noted_of(made: Schedule) -> list[tuple[Any, ...]]:
    """Return what became of the times of a schedule, the newest first."""
    rows = made.runs.order_by("-pk")
    return list(rows.values_list("outcome", "reason", "scheduled_for", "first_scheduled_for", "times", "job_id"))


def test_times_with_ranges_of_their_own_are_all_made_up_for_within_the_window() -> None:
    # Given an hourly range for each run, and a window of two hours and a half
    job = {**JOB, "source": {"topic": "orders", "from": "{{ scheduled_at - 1h }}", "to": "{{ scheduled_at }}"}}
    made = schedule(job=job, overlap="queue", catch_up_ms=9_000_000)
    # When the scheduler comes back after four hours
    jobs = clock.step(NOON + timedelta(hours=4))
    # Then two times were missed, and each of the others has its run: they follow one another
    assert [job.scheduled_for for job in jobs] == [NOON + timedelta(hours=hour) for hour in (2, 3, 4)]
    assert noted_of(made)[-1] == ("missed", "too_late", NOON + timedelta(hours=1), NOON, 2, None)
    assert services.claim(jobs[1].id, worker="w", host="h") is None
    assert [run(job)[0] for job in jobs] == [f"2026-05-01T{hour}:00:00.000Z" for hour in (13, 14, 15)]


def test_a_time_that_gives_way_is_noted_with_the_run_that_was_at_work() -> None:
    made = schedule()
    (first,) = clock.step(NOON)
    assert clock.step(NOON + timedelta(hours=1)) == []
    assert noted_of(made)[0] == ("skipped", "earlier_run", NOON + timedelta(hours=1), None, 1, first.id)
    # What started no job is forgotten after the retention; what did stays with its job
    assert runs.forget(timezone.now() + timedelta(days=365)) == 1
    assert [outcome for outcome, *_ in noted_of(made)] == ["started"]


def test_runs_that_wait_for_each_other_have_a_limit() -> None:
    job = {**JOB, "source": {"topic": "orders", "from": "{{ scheduled_at - 1h }}", "to": "{{ scheduled_at }}"}}
    made = schedule(job=job, overlap="queue")
    assert len(clock.step(NOON + timedelta(hours=40))) == clock.MOST_WAITING
    assert clock.step(NOON + timedelta(hours=40)) == []
    assert {(outcome, reason) for outcome, reason, *_ in noted_of(made)} == {
        ("started", None), ("skipped", "too_many_wait"),
    }  # fmt: skip


def test_a_delayed_run_is_not_late_before_its_delay() -> None:
    made = schedule(jitter_ms=3_600_000)
    wait = delay(made, NOON)
    assert clock.step(NOON + wait - timedelta(milliseconds=1)) == []
    assert late("local", NOON + wait)["hourly"] == 0
    (job,) = clock.step(NOON + wait)
    assert job.scheduled_for == NOON


def test_a_schedule_that_is_off_does_not_fire() -> None:
    made = schedule()
    schedules.change_schedule(BY, made, {"enabled": False})
    assert clock.step(NOON + timedelta(hours=1)) == []


@pytest.mark.parametrize(
    ("overlap", "jobs", "first"),
    [("skip", 1, JobState.QUEUED), ("queue", 1, JobState.QUEUED), ("cancel_previous", 2, JobState.CANCELLED)],
)
def test_what_happens_while_an_earlier_run_is_at_work(overlap: str, jobs: int, first: str) -> None:
    schedule(overlap=overlap)
    (job,) = clock.step(NOON)
    clock.step(NOON + timedelta(hours=1))
    job.refresh_from_db()
    assert (Job.objects.count(), job.state) == (jobs, first)


def test_runs_of_one_schedule_do_not_overlap() -> None:
    schedule(overlap="queue")
    (first,) = clock.step(NOON)
    running = claimed_by_w(first)
    (second,) = clock.step(NOON + timedelta(hours=1))
    assert services.claim(second.id, worker="w", host="h") is None
    services.finish(running, JobState.SUCCEEDED, None)
    assert services.claim(second.id, worker="w", host="h") is not None


@pytest.mark.sample
def test_a_schedule_whose_owner_may_not_start_its_job_is_paused_with_the_reason(cast: Cast) -> None:
    # Given a schedule of somebody who may replay one topic
    cast.limited(
        ("topic", "orders", "read", "bodies"), ("topic", "copy", "produce"),
        ("job", "*", "read", "jobs"), ("schedule", "*", "read", "jobs"),
    )  # fmt: skip
    made, owner = schedule(), cast["limited"]
    schedules.change_schedule(Actor("limited", user_id=owner.pk), made, {"cron": "0 * * * *"})
    Schedule.objects.filter(pk=made.pk).update(next_run_at=NOON)
    assert len(clock.step(NOON)) == 1
    # When the rights shrink, it is paused
    owner.own_roles.all().delete()
    Schedule.objects.filter(pk=made.pk).update(next_run_at=NOON)
    assert clock.step(NOON) == []
    made.refresh_from_db()
    assert (made.enabled, made.next_run_at) == (False, None)
    assert "may not start it any more. This needs the right 'jobs' on schedule 'hourly'" in (made.stopped_reason or "")
    # Which stays when it is renamed
    schedules.change_schedule(BY, made, {"name": "renamed"})
    assert "may not start it any more" in str(made.stopped_reason)
    # And whoever resumes it is who it runs for
    schedules.change_schedule(somebody("operator"), made, {"enabled": True})
    Schedule.objects.filter(pk=made.pk).update(next_run_at=NOON + timedelta(hours=1))
    services.cancel(BY, Job.objects.get())
    assert len(clock.step(NOON + timedelta(hours=1))) == 1
    made.refresh_from_db()
    assert (made.enabled, made.stopped_reason) == (True, None)
    # But a user who is deactivated starts nothing
    User.objects.update(is_active=False)
    Schedule.objects.filter(pk=made.pk).update(next_run_at=NOON + timedelta(hours=2))
    assert clock.step(NOON + timedelta(hours=2)) == []
    why = "The user 'operator', by whose rights it runs, is deactivated. Whoever may start its job can resume it."
    assert Schedule.objects.get().stopped_reason == why


def test_two_clocks_make_one_job_of_one_time() -> None:
    made = schedule()
    clock.step(NOON)
    with pytest.raises(IntegrityError), transaction.atomic():
        schedules.create_run(BY, made, NOON)


def run(job: Job, state: str = JobState.SUCCEEDED) -> tuple[str | None, str | None]:
    """Let a job end in this state; return its range."""
    mine = services.claim(job.id, worker="w", host="h")
    assert mine is not None
    services.finish(mine, state, None)
    source = mine.request["source"]
    return source.get("from"), source.get("to")


def test_ranges_of_runs_neither_overlap_nor_leave_holes() -> None:
    # Given a run that succeeded and one that failed
    schedule()
    ranges = []
    for hour, state in enumerate([JobState.SUCCEEDED, JobState.FAILED, JobState.SUCCEEDED]):
        (job,) = clock.step(NOON + timedelta(hours=hour))
        ranges.append(run(job, state))
    # Then each begins where the last success ended, and the failed range is covered by the next
    assert ranges[0][1] == "2026-05-01T12:00:00.000Z"
    assert ranges[1] == ("2026-05-01T12:00:00.000Z", "2026-05-01T13:00:00.000Z")
    assert ranges[2] == ("2026-05-01T12:00:00.000Z", "2026-05-01T14:00:00.000Z")


def test_a_range_is_filled_when_the_run_starts() -> None:
    # Given a run that was queued while the previous one was active
    schedule(overlap="queue")
    (first,) = clock.step(NOON)
    mine = services.claim(first.id, worker="w", host="h")
    assert mine is not None
    (second,) = clock.step(NOON + timedelta(hours=1))
    assert second.request["source"] == JOB["source"]
    # When the first has succeeded
    services.finish(mine, JobState.SUCCEEDED, None)
    # Then the second continues where it ended
    assert run(second) == ("2026-05-01T12:00:00.000Z", "2026-05-01T13:00:00.000Z")


def test_a_run_beside_the_times_counts_as_a_success() -> None:
    made = schedule()
    (first,) = clock.step(NOON)
    assert run(first)[1] == "2026-05-01T12:00:00.000Z"
    begin, end = run(schedules.run_now(BY, made))
    assert begin == "2026-05-01T12:00:00.000Z"
    # The next time is before that run: its range is empty, and nothing is copied twice
    (third,) = clock.step(NOON + timedelta(hours=1))
    assert run(third) == (end, end)


def test_a_range_that_names_no_end_ends_when_the_run_starts() -> None:
    made = schedule(job={**JOB, "source": {"topic": "orders", "from": "{{ last_success }}"}})
    before = timezone.now()
    (first,) = clock.step(NOON)
    _, until = run(first)
    assert until is not None
    assert moment(before) <= until <= moment(timezone.now())
    assert run(schedules.run_now(BY, made))[0] == until


def test_a_range_of_a_span_before_the_run_is_counted_from_its_time() -> None:
    schedule(
        job={**JOB, "source": {"topic": "orders", "from": "{{ scheduled_at - 24h }}", "to": "{{ scheduled_at - 30m }}"}}
    )
    (first,) = clock.step(NOON)
    assert run(first) == ("2026-04-30T12:00:00.000Z", "2026-05-01T11:30:00.000Z")
    (second,) = clock.step(NOON + timedelta(hours=1))
    assert run(second) == ("2026-04-30T13:00:00.000Z", "2026-05-01T12:30:00.000Z")


def test_what_a_run_leaves_to_the_next_one_is_no_hole() -> None:
    made = schedule(
        job={**JOB, "source": {"topic": "orders", "from": "{{ last_success }}", "to": "{{ scheduled_at - 10m }}"}}
    )
    Schedule.objects.filter(pk=made.pk).update(created_at=NOON - timedelta(minutes=5))
    # The range from the schedule's creation to ten minutes before its first run is empty
    (first,) = clock.step(NOON)
    assert run(first) == ("2026-05-01T11:55:00.000Z", "2026-05-01T11:55:00.000Z")
    (second,) = clock.step(NOON + timedelta(hours=1))
    assert run(second) == ("2026-05-01T11:55:00.000Z", "2026-05-01T12:50:00.000Z")
    assert covering.last_success(made) == NOON + timedelta(minutes=50)


def test_a_run_that_is_tried_again_keeps_its_range() -> None:
    schedule()
    (job,) = clock.step(NOON)
    first = run(job, JobState.FAILED)
    again = services.retry(BY, Job.objects.get(pk=job.pk))
    assert run(again) == first


def test_a_run_whose_range_a_later_one_copied_is_not_tried_again() -> None:
    schedule()
    (failed,) = clock.step(NOON)
    run(failed, JobState.FAILED)
    (later,) = clock.step(NOON + timedelta(hours=1))
    run(later)
    with pytest.raises(errors.RangeCovered, match="twice"):
        services.retry(BY, Job.objects.get(pk=failed.pk))


def test_one_run_waits_at_most() -> None:
    made = schedule(overlap="queue")
    (first,) = clock.step(NOON)
    services.claim(first.id, worker="w", host="h")
    (second,) = clock.step(NOON + timedelta(hours=1))
    assert clock.step(NOON + timedelta(hours=2)) == []
    with pytest.raises(schedules.RunWaits, match=second.id):
        schedules.run_now(BY, made)
    assert Job.objects.filter(state=JobState.QUEUED).count() == 1


def test_a_manual_run_of_a_schedule_that_was_deleted_meanwhile_is_refused() -> None:
    made = schedule()
    schedules.remove_schedule(BY, Schedule.objects.get(pk=made.pk))
    with pytest.raises(NotKnown):
        schedules.run_now(BY, made)


def test_a_manual_run_waits_for_the_run_at_work_whatever_the_schedule_does_about_overlaps() -> None:
    """Somebody asks for a manual run, so `overlap` does not hold for it: it waits until the run at work has ended."""
    made = schedule(overlap="skip", job={**REPLAY, "source": {"topic": "orders", "to": "{{ scheduled_at }}"}})
    (first,) = clock.step(NOON)
    at_work = claimed_by_w(first)
    manual = schedules.run_now(BY, made)
    made.refresh_from_db()
    assert made.last_run_at == manual.created_at
    assert services.claim(manual.id, worker="w", host="h") is None
    with pytest.raises(schedules.RunWaits, match=f"{manual.id} of this schedule is already queued$"):
        schedules.run_now(BY, made)
    services.finish(at_work, JobState.SUCCEEDED, None)
    assert services.claim(manual.id, worker="w", host="h") is not None


def test_with_a_schedule_go_its_runs_whose_range_it_would_have_set() -> None:
    """A run that has not begun is cancelled, and cannot be retried, if the schedule would have set its range."""
    made = schedule(overlap="queue")
    (at_work,) = clock.step(NOON)
    claimed_by_w(at_work)
    (waiting,) = clock.step(NOON + timedelta(hours=1))
    schedules.remove_schedule(BY, made)
    states = Job.objects.order_by("pk").values_list("state", flat=True)
    assert list(states) == [JobState.RUNNING, JobState.CANCELLED]
    with pytest.raises(errors.ScheduleGone, match="never began"):
        services.retry(BY, Job.objects.get(pk=waiting.pk))


def test_a_run_with_a_range_of_its_own_outlives_its_schedule() -> None:
    made = schedule(job=REPLAY)
    (waiting,) = clock.step(NOON)
    schedules.remove_schedule(BY, made)
    assert services.claim(waiting.id, worker="w", host="h") is not None


@pytest.mark.sample
def test_runs_start_in_the_order_in_which_they_were_made() -> None:
    # Given a run that waits for its retry, and a later one
    made = schedule()
    (first,) = clock.step(NOON)
    services.put_back(claimed_by_w(first), "its worker was stopped")
    later = schedules.create_run(BY, made, None)
    assert services.claim(later.id, worker="w", host="h") is None
    run(first)
    assert run(later)[0] == "2026-05-01T12:00:00.000Z"


def test_a_run_that_came_to_the_end_counts_whatever_failed_in_it() -> None:
    made = schedule()
    (first,) = clock.step(NOON)
    services.finish(claimed_by_w(first), JobState.PARTIAL, "one was damaged", is_whole=True)
    assert covering.last_success(made) == NOON
    (second,) = clock.step(NOON + timedelta(hours=1))
    services.finish(claimed_by_w(second), JobState.PARTIAL, "the broker went away")
    assert covering.last_success(made) == NOON


def test_a_dry_run_covers_nothing() -> None:
    """docs/operations.md: a dry run covers nothing, so the next run begins where it began."""
    made = schedule(job={**JOB, "dry_run": True})
    (first,) = clock.step(NOON)
    assert run(first) == ("2026-05-01T11:00:00.000Z", "2026-05-01T12:00:00.000Z")
    Schedule.objects.filter(pk=made.pk).update(job=JOB)
    (second,) = clock.step(NOON + timedelta(hours=1))
    assert run(second) == ("2026-05-01T11:00:00.000Z", "2026-05-01T13:00:00.000Z")


def claimed_by_w(job: Job) -> Job:
    mine = services.claim(job.id, worker="w", host="h")
    assert mine is not None
    return mine


@pytest.mark.parametrize("taken", [{"cron": "mon 0 * * *"}, {"cron": "*/61 * * * *"}, {"zone": "localtime"}])
def test_a_schedule_whose_line_an_earlier_release_took_is_switched_off_and_the_others_go_on(
    taken: dict[str, str],
) -> None:
    # Given a line with another meaning now, or none
    old = schedule(name="old")
    Schedule.objects.filter(pk=old.pk).update(**taken)
    schedule(name="other")
    # When their time comes
    assert len(clock.step(NOON)) == 1
    # Then it has no next times
    old.refresh_from_db()
    assert (old.enabled, old.next_run_at, clock.next_runs(old, NOON)) == (False, None, [])


@pytest.mark.parametrize("taken", [{"cron": "mon 0 * * *"}, {"cron": "*/61 * * * *"}, {"zone": "localtime"}])
def test_a_schedule_that_today_would_be_refused_is_read_paused_mended_and_removed(
    cast: Cast, taken: dict[str, str]
) -> None:
    old, admin, tag = schedule(name="old"), cast.browser("admin"), {"if-match": "*"}
    Schedule.objects.filter(pk=old.pk).update(**taken)
    path, [field] = f"/api/v1/schedules/{old.pk}", taken
    assert [each["next_runs"] for each in admin.get("/api/v1/schedules").json()["items"]] == [[]]

    def change(**fields: Any) -> Any:
        return admin.patch(path, fields, format="json", headers=tag)

    for refused in ({"name": "new"}, {"jitter_ms": 5}, {"enabled": True}):
        answer = change(**refused)
        assert answer.status_code == 422, answer.content
        assert [error["pointer"] for error in answer.json()["errors"]] == [f"#/{field}"]
    assert change(enabled=False).status_code == 200
    assert change(name="new").status_code == 200
    assert change(enabled=True).status_code == 422
    assert change(enabled=True, cron="0 * * * *", zone="UTC").json()["next_runs"] != []
    Schedule.objects.filter(pk=old.pk).update(**taken)
    assert admin.delete(path, headers=tag).status_code == 204
