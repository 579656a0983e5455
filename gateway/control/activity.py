"""What happened in a cluster: its events, the newest first."""

from __future__ import annotations

from typing import Final

import redis
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from console.accounts.permissions import allows
from console.accounts.rights import ANYTHING, Unnamed
from console.activity import feed
from console.activity.shapes import KINDS, ActivityEvent, ActivityPage
from console.activity.visibility import visible
from console.errors import RedisUnreachable
from console.paging import PAGE_PARAMETERS, page_sequence
from console.query import number_of
from console.redis_client import store
from console.shapes import as_json, serializer_of
from gateway.control.cluster_view import ClusterScopedView

_AFTER: Final = OpenApiParameter(
    "after",
    {"type": "integer", "minimum": 0, "maximum": 2**53},
    description="Only what came after this number: the `last_seq` of an earlier answer, or the `seq` of an event.",
)


class ClusterEventsView(ClusterScopedView):
    """The feed of a cluster; whoever may read some names gets the events of these."""

    def right_resource(self) -> Unnamed:
        """Return anything."""
        return ANYTHING

    @extend_schema(
        operation_id="listEvents",
        tags=["clusters"],
        parameters=[
            *PAGE_PARAMETERS,
            _AFTER,
            OpenApiParameter("kind", str, description=f"One or several, with commas between: {', '.join(KINDS)}."),
            OpenApiParameter("topic", str, description="Only what is about this topic."),
            OpenApiParameter("group", str, description="Only what is about this consumer group."),
        ],
        responses=serializer_of(ActivityPage),
    )
    def get(self, request: Request, cluster: str) -> Response:
        """List the kept events of a cluster, or of the topics and groups in it that the caller may read."""
        kinds = _kinds_of(request)
        topic, group = request.query_params.get("topic", ""), request.query_params.get("group", "")
        after = number_of(request, "after", None, high=2**53)
        try:
            found = feed.read(cluster, store=store())
        except redis.RedisError:
            raise RedisUnreachable from None
        events = visible(
            found.events if after is None else found.since(after),
            cluster,
            lambda verb, resource: allows(request, verb, resource),
        )
        rows = [each for each in events if _is_wanted(each, kinds, topic, group)]
        page = page_sequence(request, rows, key=lambda event: str(event.seq))
        answer = ActivityPage(
            items=page.items,
            next_cursor=page.next_cursor,
            prev_cursor=page.prev_cursor,
            total=page.total,
            last_seq=found.last_seq,
            complete=after is None or found.is_complete(after),
        )
        return Response(as_json(answer))


def _kinds_of(request: Request) -> frozenset[str]:
    """Return the wanted kinds, all if none is named; raise ValidationError for one that there is not."""
    wanted = frozenset(filter(None, request.query_params.get("kind", "").split(",")))
    unknown = sorted(wanted - set(KINDS))
    if unknown:
        raise ValidationError({"kind": f"must be of {', '.join(KINDS)}, not {unknown[0][:60]!r}"})
    return wanted or frozenset(KINDS)


def _is_wanted(event: ActivityEvent, kinds: frozenset[str], topic: str, group: str) -> bool:
    if event.kind not in kinds or (group and event.group != group):
        return False
    return not topic or event.topic == topic or any(move.topic == topic for move in event.moves)
