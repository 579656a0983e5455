"""Tells the alert channels that a request names of the end of its job."""

from __future__ import annotations

from console.alerts import notices
from console.alerts.models import Channel
from console.jobs.models import Job


def tell(job: Job) -> None:
    """Send a notice if the request of the job asks for one about this end; a channel that is gone by now gets none."""
    asked = job.request.get("notify")
    if asked is None or job.state not in asked["on"]:
        return
    channels = list(Channel.objects.filter(pk__in=asked["channels"]))
    notices.notify(channels, f"{job.name}: {job.state}", {"job": _details(job)})


def _details(job: Job) -> dict[str, object]:
    schedule = None if job.schedule is None else job.schedule.name
    return {
        "id": job.id,
        "type": job.type,
        "name": job.name,
        "cluster": job.cluster,
        "schedule": schedule,
        "state": job.state,
        "reason": job.state_reason,
        "counters": job.counters,
    }
