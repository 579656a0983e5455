"""The queues of a topic: their contents, and their number and permission broker by broker."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from broker_core.client.admin import Admin
from broker_core.client.admin.topics import Topic, TopicChange, TopicStats
from broker_core.client.errors import TopicNotFound, Unreachable
from broker_core.protocol.bodies import MessageQueue, TopicOffset
from console import etags
from console.accounts.permissions import actor_of
from console.clusters import operations
from console.clusters.change_lock import change_lock
from console.clusters.known_topics import known_topic
from console.errors import Conflict
from console.lag import current
from console.lag.shapes import MissingBroker
from console.moments import rfc3339
from console.query import flag_of
from console.shapes import as_json, serializer_of
from gateway.control.cluster_view import ClusterScopedView, with_outcomes
from gateway.control.topic_queue_shapes import (
    PERMISSION_BITS,
    QueueChanges,
    QueueChangeSerializer,
    TopicQueue,
    TopicQueues,
    planned,
    queues_on,
)

_CHANGES: Final = serializer_of(QueueChanges)
_DRY_RUN: Final = OpenApiParameter("dry_run", bool, description="Only return what the change would do.")


class TopicQueuesView(ClusterScopedView):
    """The queues of a topic."""

    resource_argument = "topic"

    @extend_schema(operation_id="listTopicQueues", tags=["topics"], responses=serializer_of(TopicQueues))
    def get(self, request: Request, cluster: str, topic: str) -> Response:
        """Return the readable range of each queue, and the settings on each broker."""
        known = known_topic(cluster, topic)
        current.note_shown(cluster, topics=[topic])

        async def question(admin: Admin) -> TopicStats:
            return await admin.topics.stats(topic)

        try:
            stats = self.ask(question)
        except (TopicNotFound, Unreachable):  # brokers that do not answer may be remembered
            stats = TopicStats()
        answered = {queue.broker_name for queue in stats.queues}
        missing = _missing(cluster, topic)
        reasons = {each.broker: each.reason for each in missing}
        unknown = [
            TopicQueue(broker=broker, queue_id=queue_id, unknown_reason=reasons.get(broker, f"{broker} did not answer"))
            for broker, config in sorted(known.configs.items())
            if broker not in answered
            for queue_id in range(config.read_queue_nums)
        ]
        settings = queues_on(known)
        read = [_queue(queue, end) for queue, end in stats.queues.items()]
        shown = TopicQueues(items=read + unknown, brokers=settings)
        return Response(as_json(shown), headers={"ETag": etags.etag(settings)})

    @extend_schema(
        operation_id="updateTopicQueues",
        tags=["topics"],
        parameters=[etags.IF_MATCH, _DRY_RUN],
        request=QueueChangeSerializer,
        responses={200: _CHANGES, 207: _CHANGES},
    )
    def patch(self, request: Request, cluster: str, topic: str) -> Response:
        """Change queue counts or permission broker by broker; the protocol knows none for a single queue."""
        is_dry = flag_of(request, "dry_run")
        with change_lock(cluster, "topics", topic):
            found = known_topic(cluster, topic)
            if found.kind.value == "system":
                raise Conflict(f"{topic!r} belongs to the brokers; it cannot be changed.")
            etags.check(request, queues_on(found))
            changes = _changes_of(request, found)
            plan = QueueChanges(items=planned(found, changes), brokers=[])
            if is_dry:
                return Response(as_json(plan))
            outcomes = operations.change_queues(actor_of(request), cluster, found, changes)
            return with_outcomes(Response(as_json(plan)), outcomes)


def _changes_of(request: Request, topic: Topic) -> dict[str, TopicChange]:
    form = QueueChangeSerializer(data=request.data)
    form.is_valid(raise_exception=True)
    entries = form.validated_data["brokers"]
    for entry in entries:
        if entry["broker"] not in topic.configs:
            raise serializers.ValidationError(
                {"brokers": f"{entry['broker']!r} does not have {topic.name!r}; it is on {', '.join(topic.brokers)}."}
            )
    return {
        entry["broker"]: TopicChange(
            entry.get("read_queues"), entry.get("write_queues"), PERMISSION_BITS.get(entry.get("permission", ""))
        )
        for entry in entries
    }


def _missing(cluster: str, topic: str) -> Sequence[MissingBroker]:
    figures = current.topics(cluster).get(topic)
    return figures.missing if figures else ()


def _queue(queue: MessageQueue, end: TopicOffset) -> TopicQueue:
    return TopicQueue(
        broker=queue.broker_name,
        queue_id=queue.queue_id,
        min_offset=end.min_offset,
        max_offset=end.max_offset,
        count=end.max_offset - end.min_offset,
        last_stored_at=rfc3339(end.last_update_timestamp) if end.last_update_timestamp else None,
    )
