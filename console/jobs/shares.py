"""How many places one user may have, so that jobs which never end do not keep all others waiting for ever."""

from __future__ import annotations

from django.conf import settings
from django.db.models import Exists, OuterRef

from console.accounts.models import User
from console.jobs.models import Job


def most_running(user_id: int | None) -> int:
    """Return how many jobs of a user may run at the same time; all places for jobs of Gantry itself, without a user.

    Without a setting one place is left to the others, but only if there are any: users who have started a job before.
    """
    at_once: int = settings.GANTRY_JOBS_AT_ONCE
    if user_id is None:
        return at_once
    if settings.GANTRY_JOBS_AT_ONCE_PER_USER:
        return min(settings.GANTRY_JOBS_AT_ONCE_PER_USER, at_once)
    return max(1, at_once - 1) if _has_others(user_id) else at_once


def _has_others(user_id: int) -> bool:
    started = Exists(Job.objects.filter(started_by=OuterRef("pk")))
    return User.objects.filter(started, is_active=True).exclude(pk=user_id).exists()
