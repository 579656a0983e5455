"""Pause and resume of a topic: its permission on every broker, without the bits that stop sends or delivery."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from broker_core.client.admin.topics import TopicChange
from broker_core.protocol.codes import PERM_READ, PERM_WRITE
from console.accounts.permissions import actor_of
from console.clusters import operations
from console.clusters.change_lock import change_lock
from console.clusters.known_topics import known_topic
from console.errors import Conflict
from console.query import flag_of
from console.shapes import as_json, serializer_of
from gateway.control.cluster_view import ClusterScopedView, with_outcomes
from gateway.control.topic_queue_shapes import QueueChanges, planned

_CHANGES: Final = serializer_of(QueueChanges)
_DRY_RUN: Final = OpenApiParameter("dry_run", bool, description="Only return what the change would do.")
_BITS: Final = {"delivery": PERM_READ, "sends": PERM_WRITE, "both": PERM_READ | PERM_WRITE}


class PauseSerializer(serializers.Serializer[Any]):
    """What a pause stops."""

    stop = serializers.ChoiceField(
        list(_BITS),
        default="delivery",
        help_text="delivery: consumers get nothing, messages are still stored. sends: producers are refused.",
    )


class _TopicSwitchView(ClusterScopedView):
    """Takes permissions away or gives them back; repeating it changes nothing."""

    resource_argument = "topic"

    def _switch(self, request: Request, action: str, permission: Callable[[int], int]) -> Response:
        name = str(self.kwargs["topic"])
        with change_lock(self.cluster, "topics", name):
            found = known_topic(self.cluster, name)
            if found.kind.value == "system":
                raise Conflict(f"{name!r} belongs to the brokers; it cannot be changed.")
            changes = {broker: TopicChange(perm=permission(config.perm)) for broker, config in found.configs.items()}
            plan = QueueChanges(items=planned(found, changes), brokers=[])
            if flag_of(request, "dry_run"):
                return Response(as_json(plan))
            outcomes = operations.change_queues(actor_of(request), self.cluster, found, changes, action=action)
            return with_outcomes(Response(as_json(plan)), outcomes)


class TopicPauseView(_TopicSwitchView):
    """The end of delivery, of sends, or of both."""

    @extend_schema(
        operation_id="pauseTopic",
        tags=["topics"],
        parameters=[_DRY_RUN],
        request=PauseSerializer,
        responses={200: _CHANGES, 207: _CHANGES},
    )
    def post(self, request: Request, cluster: str, topic: str) -> Response:
        """Stop the delivery of a topic's messages, its sends, or both, on every broker."""
        form = PauseSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        stopped = _BITS[form.validated_data["stop"]]
        return self._switch(request, "topic.pause", lambda bits: bits & ~stopped)


class TopicResumeView(_TopicSwitchView):
    """The start of both."""

    @extend_schema(
        operation_id="resumeTopic",
        tags=["topics"],
        parameters=[_DRY_RUN],
        request=None,
        responses={200: _CHANGES, 207: _CHANGES},
    )
    def post(self, request: Request, cluster: str, topic: str) -> Response:
        """Allow sends and delivery again on every broker; consumers go on where they stopped."""
        return self._switch(request, "topic.resume", lambda bits: bits | PERM_READ | PERM_WRITE)
