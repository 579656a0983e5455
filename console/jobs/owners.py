"""By whose rights a job or a schedule runs, and whether these still allow it: they are asked again at every start."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.utils import timezone

from console.accounts.deciding import rights_of
from console.accounts.explaining import refusal_of
from console.accounts.models import Token, User
from console.accounts.rights import Resource, Unnamed, Verb
from console.audit.record import Actor
from console.fields import moment
from console.jobs.models import Job, Schedule
from console.jobs.visibility import demands_of

Demands = Iterable[tuple[Verb, Resource | Unnamed]]


def token_of(by: Actor | Schedule) -> dict[str, str]:
    """Return the fields of a row that name the token of an actor, or of a schedule; they are empty without one."""
    if isinstance(by, Schedule):
        return {"token_key": by.token_key, "token_name": by.token_name}
    return {"token_key": by.token_key, "token_name": by.token or ""}


def starter(by: Actor, schedule: Schedule | None = None) -> dict[str, Any]:
    """Return the fields of a job that say by whose rights it runs: the actor's, or those of its schedule."""
    if by.user_id is None and schedule is not None:
        return {"started_by_id": schedule.created_by_id, **token_of(schedule)}
    return {"started_by_id": by.user_id, **token_of(by)}


def why_job_may_not_start(job: Job) -> str | None:
    """Return why the job may not run by the rights of who last started it; None if it may.

    A job that Gantry itself started, without a user, may.
    """
    return _why_job_may_not(job, may_expire=False)


def why_job_must_stop(job: Job) -> str | None:
    """Return why a running job may not go on; None if it may.

    A token that has expired since its start is no reason: nobody took it away.
    """
    return _why_job_may_not(job, may_expire=True)


def why_schedule_may_not_start(schedule: Schedule) -> str | None:
    """Return why the schedule may not start its job by the rights of its owner; None if it may."""
    demands = (("jobs", Resource("schedule", schedule.name)), *demands_of(schedule.job))
    why = _why_not(schedule.created_by, schedule.token_key, schedule.token_name, demands)
    return None if why is None else f"{why} Whoever may start its job can resume it."


def _why_job_may_not(job: Job, *, may_expire: bool) -> str | None:
    if job.started_by_id is None:
        return None
    user = User.objects.filter(pk=job.started_by_id).first()
    why = _why_not(user, job.token_key, job.token_name, demands_of(job.request), may_expire=may_expire)
    return None if why is None else f"{why} Whoever may start it can retry it."


def _why_not(user: User | None, key: str, name: str, demands: Demands, *, may_expire: bool = False) -> str | None:
    if user is None:
        return "The user by whose rights it runs does not exist any more."
    if not user.is_active:
        return f"The user {user.get_username()!r}, by whose rights it runs, is deactivated."
    token = Token.objects.filter(key=key, user=user).first() if key else None
    if key and token is None:
        return f"The token {name!r} of {user.get_username()!r}, by whose rights it runs, was revoked."
    expires_at = None if token is None or may_expire else token.expires_at
    if expires_at is not None and expires_at <= timezone.now():
        expired = moment(expires_at)
        return f"The token {name!r} of {user.get_username()!r}, by whose rights it runs, expired at {expired}."
    rights = rights_of(user.role, user.rules_of_own_roles, None if token is None else token.scopes)
    for verb, resource in demands:
        if not rights.may(verb, resource):
            why = refusal_of(rights, verb, resource)
            return f"The user {user.get_username()!r}, by whose rights it runs, may not start it any more. {why}"
    return None
