"""Which jobs and schedules a caller may see and start: by the rights on them, and on the topics and groups they name.

A job's request, report and files tell of its topics, so whoever may not read one of those sees no such job.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final, TypeVar

from django.db.models import QuerySet
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request

from console.accounts.permissions import Right, allows, require, rights_of_request
from console.accounts.rights import EVERYTHING, Kind, Resource, Unnamed, Verb
from console.errors import NotKnown
from console.jobs.exported import shows_bodies
from console.jobs.models import Job, JobType, Schedule

R = TypeVar("R", Job, Schedule)

# The caller needs the rights for what the job does with each topic: a job must not extend the rights of a caller. A
# replay hands the bodies of its source to whoever reads the target.
_VERBS: Final[Mapping[str, tuple[Verb, ...]]] = {
    "source": ("read", "bodies"),
    "left": ("read",),
    "right": ("read",),
    "target": ("produce",),
}
_SIDES: Final = ("left", "right")
_OPEN: Final = frozenset({"none", "tag", "keys"})
"""What a reconciliation can compare that `read` shows."""


class StartsOrReads(Right):
    """Requires `jobs` to change, and either right to read: which jobs, is asked for each."""

    verb = "read"
    verb_to_change = "jobs"

    def has_permission(self, request: Request, view: Any) -> bool:
        """Return whether the caller may do this to some job or schedule."""
        if super().has_permission(request, view):
            return True
        return request.method in SAFE_METHODS and _reads_as_starter(request, view.right_resource())


def visible_jobs(request: Request, rows: QuerySet[Job]) -> QuerySet[Job]:
    """Return those of the jobs that the caller may read."""
    if _may_read_every(request, "job"):
        return rows
    found = rows.values_list("pk", "type", "request")
    return rows.filter(pk__in=[pk for pk, kind, asked in found if _may_read(request, Resource("job", kind), asked)])


def visible_schedules(request: Request, rows: QuerySet[Schedule]) -> QuerySet[Schedule]:
    """Return those of the schedules that the caller may read."""
    if _may_read_every(request, "schedule"):
        return rows
    found = rows.values_list("pk", "name", "job")
    shown = [pk for pk, name, asked in found if _may_read(request, Resource("schedule", name), asked)]
    return rows.filter(pk__in=shown)


def existing_jobs(ids: Collection[str], *, reads_bodies: bool) -> set[str]:
    """Return those of the ids of which there is a job, for a caller who may read everything, or all but bodies."""
    found = Job.objects.filter(pk__in=ids).values_list("pk", "request")
    return {pk for pk, asked in found if reads_bodies or not reads_files(asked)}


def check_visible(request: Request, row: R) -> R:
    """Return the job or schedule; raise NotKnown, as for one that does not exist, unless the caller may read it."""
    asked = row.request if isinstance(row, Job) else row.job
    if not _may_read(request, resource_of(row), asked):
        raise NotKnown(f"There is no {row._meta.verbose_name} {row.pk!r}.")
    return row


def check_changeable(request: Request, row: R) -> R:
    """Return the job or schedule; raise NotKnown if the caller may not read it, PermissionDenied if not change it."""
    check_visible(request, row)
    require(request, "jobs", resource_of(row))
    return row


def check_startable(request: Request, row: R) -> R:
    """Return the job or schedule; raise as `check_changeable`, and PermissionDenied for what the job would do."""
    check_changeable(request, row)
    require_parts(request, row.request if isinstance(row, Job) else row.job)
    return row


def require_change(request: Request, schedule: Schedule, changes: Mapping[str, Any]) -> None:
    """Raise PermissionDenied unless the caller may change these fields of a schedule to these values."""
    require(request, "jobs", Resource("schedule", changes.get("name", schedule.name)))
    if changes.get("enabled", schedule.enabled) and changes.keys() - {"name", "job"}:
        # Whoever resumes a schedule, or sets its times, starts its job.
        require_parts(request, changes.get("job", schedule.job))


def require_parts(request: Request, asked: Mapping[str, Any]) -> None:
    """Raise PermissionDenied unless the caller may start a job of this type, and do what it does to each topic."""
    for verb, resource in demands_of(asked):
        require(request, verb, resource)


def require_redrive(request: Request, group: str, target: Mapping[str, Any]) -> None:
    """Raise PermissionDenied unless the caller may send dead letters of the group there."""
    for verb, resource in _demands_of_redrive(group, target):
        require(request, verb, resource)


def reads_parts(request: Request, asked: Mapping[str, Any]) -> bool:
    """Return whether the caller may read the group and the topics that a request of a job names."""
    if not all(allows(request, "read", Resource("group", group)) for group in _groups(asked)):
        return False
    if reads_files(asked) and not allows(request, "bodies", EVERYTHING):
        return False
    if asked.get("check") and not allows(request, "read", EVERYTHING):
        return False
    # Whoever sends to a topic knows it, even without the right to read it.
    return all(
        allows(request, "read", Resource("topic", topic))
        or (part == "target" and allows(request, "produce", Resource("topic", topic)))
        for part, topic in _topics(asked)
    )


def resource_of(row: Job | Schedule) -> Resource:
    """Return what a right is needed for: a job is known by its type, a schedule by its name."""
    return Resource("job", row.type) if isinstance(row, Job) else Resource("schedule", row.name)


def _may_read_every(request: Request, kind: Kind) -> bool:
    # Without the right for bodies those that read files are hidden.
    whole: tuple[tuple[Verb, Resource | Unnamed], ...]
    whole = (("read", EVERYTHING), ("read", Resource(kind, EVERYTHING)), ("bodies", EVERYTHING))
    return all(allows(request, verb, resource) for verb, resource in whole)


def _may_read(request: Request, resource: Resource, asked: Mapping[str, Any]) -> bool:
    if not allows(request, "read", resource) and not _reads_as_starter(request, resource):
        return False
    return reads_parts(request, asked)


def _reads_as_starter(request: Request, resource: Resource) -> bool:
    """Return whether a token that may start such a job sees it by that.

    Its `read` may be for topics alone, and no pattern covers a job: so it could not look after what it started.
    """
    rights = rights_of_request(request)
    return rights.roles_allow("read", resource) and rights.may("jobs", resource) and rights.may("read")


def demands_of(asked: Mapping[str, Any]) -> Iterator[tuple[Verb, Resource | Unnamed]]:
    """Return the rights that it takes to start a job with this request, the one on its type first."""
    yield "jobs", Resource("job", asked["type"])
    if asked.get("notify"):
        # As for a rule that names channels.
        yield "manage", EVERYTHING
    if asked["type"] == JobType.RECONCILE:
        if asked.get("check"):
            # Its report names topics and places of all messages.
            yield "read", EVERYTHING
        for group in _groups(asked):
            yield "read", Resource("group", group)
    if reads_files(asked):
        # No right is on a file or a table: whoever reads every message may read what is compared with them.
        yield "bodies", EVERYTHING
    for part, topic in _topics(asked):
        for verb in _verbs(part, asked):
            yield verb, Resource("topic", topic)
    if asked["type"] == JobType.REDRIVE:
        yield from _demands_of_redrive(asked["group"], asked["target"])


def _demands_of_redrive(group: str, target: Mapping[str, Any]) -> Iterator[tuple[Verb, Resource]]:
    yield "redrive", Resource("group", group)
    # The group itself got these messages before. Whoever else reads the target is handed their bodies.
    if target["to"] != "failed_group":
        yield "bodies", Resource("group", group)


def _verbs(part: str, asked: Mapping[str, Any]) -> tuple[Verb, ...]:
    if asked["type"] == JobType.EXPORT:
        return ("read", "bodies") if shows_bodies(asked) else ("read",)
    return ("read", "bodies") if shows_contents(asked) else _VERBS[part]


def shows_contents(asked: Mapping[str, Any]) -> bool:
    """Return whether the report of a job tells what stands in messages: values that differ, or hashes of bodies."""
    if asked["type"] != JobType.RECONCILE or asked.get("check"):
        return False
    compared = asked.get("compare", "body")
    words = [compared] if isinstance(compared, str) else compared
    expressions = (asked.get("by"), *words)
    if any(isinstance(each, Mapping) for each in expressions) or any("where" in asked[part] for part in _SIDES):
        # An expression tells of all that it reads, a condition by what passes it.
        return True
    # Hashes of short bodies tell these.
    return asked.get("by") == "body" or not _OPEN.issuperset(words)


def reads_contents(request: Request, asked: Mapping[str, Any]) -> bool:
    """Return whether the caller may read the contents of messages that the report of a job may tell."""
    return all(allows(request, "bodies", topic) for topic in _told_topics(asked))


def require_contents(request: Request, asked: Mapping[str, Any]) -> None:
    """Raise PermissionDenied unless the caller may read these contents."""
    for topic in _told_topics(asked):
        require(request, "bodies", topic)


def require_log(request: Request, asked: Mapping[str, Any]) -> None:
    """Raise PermissionDenied unless the caller may read what the log of a job may quote.

    Spark's errors quote the value that an expression could not be computed for, or that a file cannot hold.
    """
    for topic in _quoted_topics(asked):
        require(request, "bodies", topic)


def _quoted_topics(asked: Mapping[str, Any]) -> list[Resource]:
    if asked["type"] == JobType.REPLAY and ("where" in asked["source"] or "transform" in asked["target"]):
        return [Resource("topic", asked["source"]["topic"])]
    return _told_topics(asked)


def _told_topics(asked: Mapping[str, Any]) -> list[Resource]:
    if asked.get("dry_run") or shows_bodies(asked):
        # The report of a dry run has some of the messages, an export all of them.
        return [Resource("topic", asked["source"]["topic"])]
    return [Resource("topic", topic) for _, topic in _topics(asked)] if shows_contents(asked) else []


def _topics(asked: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    # A side with a group has messages of a topic, too.
    for part in _VERBS:
        topic = (asked.get(part) or {}).get("topic")
        if topic:
            yield part, topic
    if asked["type"] == JobType.REDRIVE and asked["target"]["to"] == "origin":
        for topic in asked["topics"]:
            yield "target", topic


def _groups(asked: Mapping[str, Any]) -> list[str]:
    """Return the groups that a request names: that of a redrive, and those of the sides of a reconciliation."""
    return [part["group"] for part in (asked, *(asked.get(side) or {} for side in _SIDES)) if "group" in part]


def reads_files(asked: Mapping[str, Any]) -> bool:
    """Return whether a side is a file or a table, or a file has the keys: such a job is seen with `bodies` alone."""
    if "keys_file" in (asked.get("source") or {}):
        return True
    return any("path" in side or "connection" in side for side in (asked.get(part) or {} for part in _SIDES))
