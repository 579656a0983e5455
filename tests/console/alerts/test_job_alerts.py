"""Requirement: rules tell of jobs that fail, that succeed again, that find differences, and of schedules that miss."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from console.alerts.models import Channel, Delivery
from console.alerts.watch import ClusterWatch
from console.jobs.models import Job, JobState, RunOutcome, Schedule, ScheduleRun
from tests.console.alerts.conftest import rule
from tests.console.alerts.figures import state

pytestmark = pytest.mark.django_db(transaction=True)
T = 1_700_000_000_000
NOW = datetime.fromtimestamp(T / 1000, UTC)
TILES = {
    "matched": 7,
    "missing_left": 0,
    "missing_right": 1,
    "different": 2,
    "rows_left": 9,
    "damaged_left": 1,
    "keyless_left": 4,
}


def ended(at: int, ended_as: str, schedule: Schedule | None, **fields: Any) -> Job:
    """Return a job that ended some seconds after NOW."""
    whole = {"type": "replay", "name": "n", "cluster": "local", "request": {}, "request_hash": "", **fields}
    return Job.objects.create(
        state=ended_as, finished_at=NOW + timedelta(seconds=at), schedule=schedule, state_reason="why", **whole
    )


def prepared(metric: str) -> Schedule:
    """Return a schedule; a channel hears when its metric is above zero."""
    channel = Channel.objects.create(name="ops", kind="webhook", url="https://hooks.example.org")
    rule(name=metric, metric=metric, limit=0.0, for_ms=0, channels=[channel])
    job = {"type": "replay", "cluster": "local"}
    return Schedule.objects.create(name="nightly", cron="0 3 * * *", job=job, enabled=False)


def told() -> list[tuple[str, str, float, Any]]:
    """Return event, subject, value and job of what was told, the oldest first."""
    lines = [(each.event, each.payload["alerts"][0]) for each in Delivery.objects.order_by("id")]
    return [(event, line["subject"], line["value"], line.get("job")) for event, line in lines]


async def test_a_job_that_fails_and_the_success_after_it_reach_the_channels(watch: ClusterWatch) -> None:
    # Given a rule on failures, and runs of a schedule and of users
    planned = await sync_to_async(prepared)("jobs_failed_in_row")
    make = sync_to_async(ended)
    await make(-9, JobState.SUCCEEDED, None)
    await make(-8, JobState.FAILED, planned)
    bad = await make(-7, JobState.PARTIAL, planned)
    await make(-6, JobState.CANCELLED, planned)
    # When it is evaluated, and again after a success
    await watch.see(T, state())
    assert await sync_to_async(told)() == [
        ("firing", "nightly", 2, {"id": bad.id, "state": "partial", "reason": "why"})
    ]
    good = await make(1, JobState.SUCCEEDED, planned)
    await watch.see(T + 4_000, state())
    # Then both were told, once
    assert (await sync_to_async(told)())[1:] == [
        ("resolved", "nightly", 0, {"id": good.id, "state": "succeeded", "reason": "why"})
    ]


async def test_differences_of_a_reconciliation_reach_the_channels(watch: ClusterWatch) -> None:
    await sync_to_async(prepared)("job_differences")
    make = sync_to_async(ended)
    await make(-9, JobState.PARTIAL, None, type="reconcile", result={"tiles": TILES})
    # A replay and a run without a report change nothing
    await make(-8, JobState.SUCCEEDED, None)
    await make(-7, JobState.FAILED, None, type="reconcile")
    await watch.see(T, state())
    [(event, subject, value, _)] = await sync_to_async(told)()
    assert (event, subject, value) == ("firing", "reconcile", 3)
    await make(1, JobState.SUCCEEDED, None, type="reconcile", result={"tiles": {"matched": 9, "different": 0}})
    await watch.see(T + 4_000, state())
    assert [each[0] for each in await sync_to_async(told)()] == ["firing", "resolved"]


async def test_missed_times_of_a_schedule_reach_the_channels(watch: ClusterWatch) -> None:
    planned = await sync_to_async(prepared)("schedule_missed")
    for outcome, times, hours in ((RunOutcome.MISSED, 3, 0), (RunOutcome.SKIPPED, 5, 0), (RunOutcome.MISSED, 7, 2)):
        await ScheduleRun.objects.acreate(
            schedule=planned, outcome=outcome, times=times, created_at=NOW - timedelta(hours=hours)
        )
    await watch.see(T, state())
    assert await sync_to_async(told)() == [("firing", "nightly", 3, None)]
