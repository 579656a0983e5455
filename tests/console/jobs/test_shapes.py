"""A job as it is shown."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone

from console.jobs import services
from console.jobs.models import LEASE, Job
from console.jobs.shapes import shape_of


def test_nobody_knows_how_fast_a_run_is_whose_worker_is_silent(job: Job, claimed: Callable[[Job], Job]) -> None:
    run = claimed(job)
    services.own(run).update(rate=30.0, eta_ms=4000)
    shown = shape_of(Job.objects.get(pk=job.pk))
    assert (shown.rate, shown.eta_ms) == (30.0, 4000)
    # When its worker has said nothing for more than ten seconds
    services.own(run).update(lease_until=timezone.now() + LEASE - timedelta(seconds=11))
    shown = shape_of(Job.objects.get(pk=job.pk))
    assert (shown.state, shown.rate, shown.eta_ms) == ("running", None, None)
    # And it is known again when that is heard, also to the worker itself, which tells the pages
    assert services.renew(run)
    run.rate, run.eta_ms = 31.0, 3000
    for each, rate in ((Job.objects.get(pk=job.pk), 30.0), (run, 31.0)):
        assert shape_of(each).rate == rate


@pytest.mark.parametrize(
    ("read", "written", "most", "rate", "expected"),
    [
        # Measured at 100 a second, then limited to 20: 600 are left
        (400, 400, None, 20, 30_000),
        (400, 400, None, 100, 6_000),
        (400, 400, None, None, 6_000),
        # A filter lets half of them pass
        (400, 200, None, 20, 15_000),
        (400, 400, 500, 10, 10_000),
        (0, 0, None, 20, 6_000),
    ],
)
def test_a_job_is_not_expected_to_end_sooner_than_its_limit_allows(
    job: Job, claimed: Callable[[Job], Job], read: int, written: int, most: int | None, rate: int | None, expected: int
) -> None:
    run = claimed(job)
    run.counters, run.eta_ms = {"planned": 1000, "read": read, "written": written}, 6_000
    run.request["limits"] = {"messages_per_second": 100, "max_messages": most}
    run.limits = {"messages_per_second": rate}
    assert shape_of(run).eta_ms == expected
