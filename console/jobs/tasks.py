"""The Celery tasks of jobs. A message is only a hint: the job row decides, so a repeated message is harmless."""

from __future__ import annotations

from typing import Any

from celery import shared_task, signals
from django.utils import timezone

from console.jobs import drivers, launcher, queue, retention, runs, schedule, services, turns, workers
from console.jobs.models import LEASE, StateCode


@signals.worker_ready.connect
def _take_over_runs(**_: Any) -> None:
    """Take over the runs of the previous worker."""
    reap.delay()
    tick.delay()


@signals.worker_shutting_down.connect
def _stop_runs(**_: Any) -> None:
    """Make every run end its program and return its job to the queue."""
    launcher.stopping.set()
    drivers.POOL.close()


@shared_task(name=queue.RUN)
def run(job_id: str) -> None:
    """Run a job to its end, if it is still queued."""
    launcher.run(job_id, worker=workers.identity(run.request.hostname or ""))


@shared_task(name="console.jobs.tasks.tick")
def tick() -> None:
    """Start the schedules that are due, and repeat the hints for jobs that could have begun."""
    now = timezone.now()
    schedule.step(now)
    for job in turns.next_up(now):
        if job.queued_at is None or job.queued_at < now - LEASE:
            queue.hint(job.id)


@shared_task(name="console.jobs.tasks.sweep")
def sweep() -> None:
    """Remove the files of jobs whose retention is over, and what became of times of schedules that started none."""
    retention.step(timezone.now())
    runs.forget(timezone.now())


@shared_task(name="console.jobs.tasks.reap")
def reap() -> None:
    """Take over the runs whose launcher has not renewed its lease."""
    for job in services.silent_jobs(timezone.now()):
        launcher.end_orphan(job)
        left = {**launcher.left_by(job), "worked_ms": services.worked_by(job)}
        services.finish_dead(job, "its worker was lost", **left, state_code=StateCode.WORKER_LOST)
