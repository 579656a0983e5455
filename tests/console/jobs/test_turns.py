"""Whose turn it is: no user waits for all jobs of another, and everybody who asks sees the same order."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st
from pytest_django import Settings

from console.audit.record import Actor
from console.jobs import schedules, services, tasks, turns
from console.jobs.models import Job, JobState
from console.jobs.turns import ActiveJob, in_turn
from gateway.celery import app
from tests.console.jobs.conftest import BY, REPLAY
from tests.console.jobs.test_schedule import NOON, schedule
from tests.support.cast import Cast, somebody

BEGIN = datetime(2026, 5, 1, tzinfo=UTC)


def at(minutes: int) -> datetime:
    return BEGIN + timedelta(minutes=minutes)


jobs = st.builds(
    ActiveJob,
    id=st.text("0123456789", min_size=4, max_size=4),
    state=st.sampled_from([JobState.QUEUED, JobState.QUEUED, JobState.RUNNING, JobState.PAUSED]),
    user=st.sampled_from([None, 1, 2, 3]),
    schedule=st.sampled_from([None, None, None, "s", "t"]),
    queued_at=st.integers(0, 9).map(at),
    next_try_at=st.sampled_from([None, None, at(5), at(15)]),
)
begins = st.dictionaries(st.sampled_from([None, 1, 2, 3]), st.integers(0, 9).map(at))


@given(active=st.lists(jobs, unique_by=lambda job: job.id, max_size=30), began=begins, seed=st.randoms())
def test_the_order_does_not_depend_on_how_the_jobs_are_found(
    active: list[ActiveJob], began: dict[int | None, datetime], seed: random.Random
) -> None:
    order = in_turn(active, began, at(10))
    shuffled = list(active)
    seed.shuffle(shuffled)
    assert in_turn(shuffled, began, at(10)) == order
    # Each job that waits only for a place is in it once
    waiting = {job.id for job in active if job.state == JobState.QUEUED and job.next_try_at != at(15)}
    assert len({job.id for job in order}) == len(order)
    assert {job.id for job in order} <= waiting
    assert {job.id for job in active if job.id in waiting and job.schedule is None} <= {job.id for job in order}
    # Those of a user are in the order in which they were made
    for user in (None, 1, 2, 3):
        mine = [job.id for job in order if job.user == user]
        assert mine == sorted(mine)


@given(active=st.lists(jobs, unique_by=lambda job: job.id, max_size=30), began=begins)
def test_the_order_stays_when_the_next_job_begins(active: list[ActiveJob], began: dict[int | None, datetime]) -> None:
    order = in_turn(active, began, at(10))
    if not order:
        return
    first, others = order[0], order[1:]
    begun = ActiveJob(first.id, JobState.RUNNING, first.user, first.schedule, first.queued_at, None)
    after = [begun, *(job for job in active if job.id != first.id)]
    assert in_turn(after, {**began, first.user: at(10)}, at(11)) == others


@given(
    places=st.integers(1, 4),
    backlog=st.dictionaries(st.integers(2, 5), st.integers(0, 20)),
    ends=st.lists(st.integers(0, 3), min_size=40, max_size=40),
)
def test_a_user_without_a_job_at_work_is_next_after_each_other_user_at_most_once(
    places: int, backlog: dict[int, int], ends: list[int]
) -> None:
    """Whatever the others have queued, and however many places there are."""
    queued = [
        ActiveJob(f"{user}-{number:02}", JobState.QUEUED, user, None, at(0), None)
        for user, count in backlog.items()
        for number in range(count)
    ]
    running: list[ActiveJob] = []
    began: dict[int | None, datetime] = {}
    clock = 0

    def begin() -> ActiveJob | None:
        nonlocal clock
        order = in_turn([*queued, *running], began, at(clock))
        if not order or len(running) >= places:
            return None
        clock += 1
        first = order[0]
        queued.remove(first)
        running.append(ActiveJob(first.id, JobState.RUNNING, first.user, None, first.queued_at, None))
        began[first.user] = at(clock)
        return first

    while begin() is not None:
        pass
    # When a user queues a job after all of them
    queued.append(ActiveJob("9-late", JobState.QUEUED, 9, None, at(clock), None))
    passed: list[int | None] = []
    for each in ends:
        while (job := begin()) is not None and job.id != "9-late":
            passed.append(job.user)
        if job is not None:
            break
        running.pop(each % len(running))
    # Then each of the others begins at most one before it
    assert all(job.id != "9-late" for job in queued)
    assert len(passed) == len(set(passed))


@pytest.fixture
def crowd(cast: Cast) -> tuple[list[Job], list[Job]]:
    """Five jobs of one user, and then two of another."""
    many = [services.create(somebody("operator"), REPLAY) for _ in range(5)]
    few = [services.create(somebody("admin"), REPLAY) for _ in range(2)]
    return many, few


def test_workers_tick_hint_and_overview_have_the_same_order(
    cast: Cast, crowd: tuple[list[Job], list[Job]], settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.GANTRY_JOBS_AT_ONCE = 3
    many, few = crowd
    order = [many[0].id, few[0].id, many[1].id, few[1].id, *(job.id for job in many[2:])]
    Job.objects.update(queued_at=timezone.now() - timedelta(minutes=1))
    hints: list[str] = []
    monkeypatch.setattr(app, "send_task", lambda name, args, **_: hints.append(args[0]))
    assert _shown(cast) == order
    tasks.tick()
    turns.hint_next()
    assert hints == [*order[:3], *order[:3]]
    # One whose turn it is not does not begin, whoever is told to look at it
    assert services.claim(order[3], worker="w", host="h") is None
    for job_id in order[:3]:
        assert services.claim(job_id, worker="w", host="h") is not None
    assert _shown(cast) == order[3:]
    assert turns.next_up(timezone.now()) == []


def test_with_one_place_users_take_turns(crowd: tuple[list[Job], list[Job]], settings: Settings) -> None:
    settings.GANTRY_JOBS_AT_ONCE = 1
    many, few = crowd
    begun = []
    shown = [job.id for job in turns.waiting(timezone.now())]
    while found := turns.next_up(timezone.now()):
        mine = services.claim(found[0].id, worker="w", host="h")
        assert mine is not None
        begun.append(mine.id)
        services.finish(mine, JobState.SUCCEEDED, None)
    # Nobody had begun one: the first was queued first
    assert begun == shown == [many[0].id, few[0].id, many[1].id, few[1].id, *(job.id for job in many[2:])]


def test_the_run_of_a_schedule_counts_for_its_owner(settings: Settings) -> None:
    settings.GANTRY_JOBS_AT_ONCE = 1
    owner, other = somebody("operator"), somebody("admin")
    planned = schedule()
    mine = services.create(owner, REPLAY)
    run = schedules.create_run(Actor.system("scheduler"), planned, NOON)
    theirs = services.create(other, REPLAY)
    assert [job.id for job in turns.waiting(timezone.now())] == [mine.id, theirs.id, run.id]


def test_a_job_that_gives_up_its_turn_passes_it_on(
    job: Job, settings: Settings, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    settings.GANTRY_JOBS_AT_ONCE = 1
    later = services.create(BY, REPLAY)
    hints: list[str] = []
    monkeypatch.setattr(app, "send_task", lambda name, args, **_: hints.append(args[0]))
    with django_capture_on_commit_callbacks(execute=True):
        services.cancel(BY, job)
    assert hints == [later.id]


def _shown(cast: Cast) -> list[str]:
    found: Any = cast.browser("viewer").get("/api/v1/job-workers").json()
    return list(found["waiting"])
