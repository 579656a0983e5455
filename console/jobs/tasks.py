"""What Celery is asked to do. A message is only a hint to look: the job row decides (spark.md 6.2)."""

from __future__ import annotations

import logging
from typing import Any

from celery import shared_task, signals
from django.utils import timezone
from kombu.exceptions import OperationalError

_log = logging.getLogger(__name__)

# A hint that nobody took by then is given again by the tick, so that hints never heap up.
_HINT_SECONDS = 30


def hint(job_id: str) -> None:
    """Tell a worker that a job is queued; without Redis the clock's next tick finds it."""
    try:
        run.apply_async((job_id,), expires=_HINT_SECONDS)
    except OperationalError as error:
        _log.warning("job=%s: no worker was told (%s); the next tick finds it", job_id, error)


@signals.worker_ready.connect
def _look_around(**_: Any) -> None:
    """See to what was left when the last worker ended."""
    reap.delay()
    tick.delay()


@signals.worker_shutting_down.connect
def _let_go(**_: Any) -> None:
    """Have every run end its program and leave its job to the next worker."""
    from console.jobs import launcher

    launcher.stopping.set()


@shared_task(name="console.jobs.tasks.run")
def run(job_id: str) -> None:
    """Run a job to its end, if it is still queued."""
    from console.jobs import launcher

    launcher.run(job_id, worker=run.request.hostname or "")


@shared_task(name="console.jobs.tasks.tick")
def tick() -> None:
    """Start what the schedules want now, and hint again at jobs whose hint was lost."""
    from console.jobs import schedule, services

    schedule.step(timezone.now())
    lost = services.queued_jobs().filter(queued_at__lt=timezone.now() - services.LEASE)
    for job_id in lost.values_list("pk", flat=True)[:20]:
        hint(job_id)


@shared_task(name="console.jobs.tasks.sweep")
def sweep() -> None:
    """Remove the files of jobs whose retention is over."""
    from console.jobs import retention

    retention.step(timezone.now())


@shared_task(name="console.jobs.tasks.reap")
def reap() -> None:
    """Take up the runs whose launcher has been silent for a whole lease."""
    from console.jobs import launcher, services

    for job in services.silent_jobs(timezone.now()):
        launcher.end_orphan(job)
        services.finish_dead(job, "its worker was lost")
