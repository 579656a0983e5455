"""Tells the alert channels that a request names of the end of its job."""

from __future__ import annotations

import logging

from django.db import transaction

from console.alerts import notices
from console.alerts.models import Channel
from console.jobs.models import Job

_log = logging.getLogger(__name__)


def tell(job: Job) -> None:
    """Send a notice if the request of the job asks for one about this end; a channel that is gone by now gets none.

    The notice is stored with the end of the job, both or none; but one that cannot be made does not undo the end.
    """
    try:
        with transaction.atomic():
            _notify(job)
    except Exception:  # noqa: BLE001 - the job has ended, whatever goes wrong here
        _log.exception("job=%s: it ended, and nobody could be told", job.id)


def _notify(job: Job) -> None:
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
