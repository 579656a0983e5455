"""Finds jobs by what they are, what they touch, who started them and when."""

from __future__ import annotations

from typing import Final

from django.db.models import Q, QuerySet
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from console.jobs.models import Job, JobState, JobType
from console.queries import span_of, words_of

_PARTS: Final = ("source", "target", "left", "right")

SEARCH_PARAMETERS: Final = [
    OpenApiParameter("type", str, enum=JobType.values, many=True, explode=False),
    OpenApiParameter("state", str, enum=JobState.values, many=True, explode=False),
    OpenApiParameter("created_by", str, description="Name of the user who started it, or who owns its schedule."),
    OpenApiParameter("topic", str, description="A topic that its request names, exactly."),
    OpenApiParameter("group", str, description="A consumer group that its request names, exactly."),
    OpenApiParameter("schedule", str, description="Id of the schedule that it is a run of."),
    OpenApiParameter("from", str, description="Created at this moment or after it (RFC 3339)."),
    OpenApiParameter("to", str, description="Created before this moment (RFC 3339)."),
]


def found(request: Request) -> QuerySet[Job]:
    """Return the jobs that the query of a request asks for; raise ValidationError."""
    rows: QuerySet[Job] = Job.objects.select_related("created_by")
    for name, allowed in (("type", JobType.values), ("state", JobState.values)):
        words = words_of(request, name, allowed)
        if words:
            rows = rows.filter(**{f"{name}__in": words})
    query = request.query_params
    for name, field in (("created_by", "created_by__username"), ("schedule", "schedule_id")):
        if query.get(name):
            rows = rows.filter(**{field: query[name]})
    if query.get("topic"):
        rows = rows.filter(_named("topic", query["topic"]))
    if query.get("group"):
        rows = rows.filter(_named("group", query["group"]) | Q(request__group=query["group"]))
    begin, end = span_of(request)
    rows = rows if begin is None else rows.filter(created_at__gte=begin)
    return rows if end is None else rows.filter(created_at__lt=end)


def _named(field: str, name: str) -> Q:
    wanted = Q()
    for part in _PARTS:
        wanted |= Q(**{f"request__{part}__{field}": name})
    return wanted
