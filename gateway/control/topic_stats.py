"""The statistics of a topic, up to a day of them."""

from __future__ import annotations

from typing import Final

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from broker_core.clock import now_ms
from console.clusters.known_topics import known_topic
from console.lag import current
from console.lag.shapes import TopicStats
from console.lag.topic_history import KEPT_MINUTES, MINUTE_MS
from console.lag.topic_stats import STEPS, Span, span_of, topic_stats
from console.moments import rfc3339
from console.shapes import as_json, serializer_of
from gateway.control.cluster_view import ClusterScopedView, moment_of

_DAY_MS: Final = 24 * 60 * MINUTE_MS


class TopicStatsView(ClusterScopedView):
    """A topic over time."""

    resource_argument = "topic"

    @extend_schema(
        operation_id="getTopicStats",
        tags=["topics"],
        parameters=[
            OpenApiParameter("from", str, description="A moment (RFC 3339) of the last 25 hours; a day before `to`."),
            OpenApiParameter("to", str, description="A moment after `from`; now by default."),
            OpenApiParameter("step", str, enum=list(STEPS), default="5m", description="How far apart points are."),
        ],
        responses=serializer_of(TopicStats),
    )
    def get(self, request: Request, cluster: str, topic: str) -> Response:
        """Return rates, messages, size and lag of a topic over up to 25 hours, with the sums and peaks of that time.

        A step that contains `from` or `to` is whole. What nobody measured is null: while no sampler ran, while a broker
        was silent, and before the topic was made.
        """
        known_topic(cluster, topic)
        current.note_shown(cluster, topics=[topic])
        stats = topic_stats(cluster, topic, _span_of(request), with_groups=self.sight.is_whole("group"))
        return Response(as_json(stats))


def _span_of(request: Request) -> Span:
    """Return the range that the query asks for; raise ValidationError for one that is not kept."""
    step = request.query_params.get("step") or "5m"
    if step not in STEPS:
        raise serializers.ValidationError({"step": f"must be one of {', '.join(STEPS)}"})
    now = now_ms()
    end = moment_of(request, "to", now)
    begin = moment_of(request, "from", end - _DAY_MS)
    if begin >= end:
        raise serializers.ValidationError({"from": "must be before to"})
    oldest = now - KEPT_MINUTES * MINUTE_MS
    if begin < oldest:
        raise serializers.ValidationError({"from": f"statistics are kept for 25 hours: {rfc3339(oldest)} and later"})
    if end > now + MINUTE_MS:
        raise serializers.ValidationError({"to": "must not be in the future"})
    return span_of(begin, end, STEPS[step])
