"""The promise of docs/operations.md: the ranges of a schedule's runs follow one another, whatever happens."""

from __future__ import annotations

import random
from datetime import timedelta
from itertools import pairwise

import pytest
from django.db.models import QuerySet

from console.fields import moment
from console.jobs import schedule as clock
from console.jobs import schedules, services
from console.jobs.models import Job, JobState, Schedule, ScheduleRun
from tests.console.jobs.test_schedule import BY, NOON, schedule


@pytest.mark.parametrize("seed", range(4))
def test_ranges_neither_overlap_nor_leave_holes_whatever_fails_is_skipped_or_started_by_hand(seed: int) -> None:
    # Given a schedule with a window and jitter, whose clock, runs and users do as they please
    dice = random.Random(seed)
    made = schedule(catch_up_ms=5_400_000, jitter_ms=1_200_000, overlap=("skip", "queue")[seed % 2])
    Schedule.objects.filter(pk=made.pk).update(created_at=NOON - timedelta(hours=1))
    now, taken = NOON, []
    for _ in range(30):
        now += timedelta(minutes=dice.choice([5, 20, 60, 300]))
        clock.step(now)
        if dice.random() < 0.2 and not _waiting().exists():
            manual = schedules.run_now(BY, Schedule.objects.get())
            Job.objects.filter(pk=manual.pk).update(created_at=now)
        for job in _waiting()[: dice.randrange(3)]:
            mine = services.claim(job.id, worker="w", host="h")
            if mine is not None:
                ended = dice.choice([JobState.SUCCEEDED, JobState.FAILED, JobState.CANCELLED])
                services.finish(mine, ended, None)
                if ended == JobState.SUCCEEDED:
                    taken.append((mine.request["source"]["from"], mine.request["source"]["to"]))
    # Then those that succeeded are one stretch
    assert taken[0][0] == moment(NOON - timedelta(hours=1))
    assert all(earlier[1] == later[0] for earlier, later in pairwise(taken))
    assert all(begin <= end for begin, end in taken)
    assert set(ScheduleRun.objects.values_list("outcome", flat=True)) == {"started", "missed", "skipped"}


def _waiting() -> QuerySet[Job]:
    return Job.objects.filter(state=JobState.QUEUED).order_by("id")
