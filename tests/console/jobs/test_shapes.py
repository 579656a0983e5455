"""A job as it is shown."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

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
