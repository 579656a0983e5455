"""Topics: list, create, change, delete; their groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from drf_spectacular.utils import OpenApiParameter, extend_schema
from msgspec.structs import asdict
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from broker_core.client.admin import Admin
from broker_core.client.admin.topics import Topic
from console import etags
from console.accounts.permissions import actor_of, allows, needs, require
from console.accounts.rights import Resource
from console.clusters import operations
from console.clusters.change_lock import change_lock
from console.clusters.known_topics import known_topic, known_topics
from console.clusters.memory import remembered
from console.clusters.outcomes import PartlyDeleted
from console.errors import Conflict
from console.lag import current
from console.lag.shapes import TopicState
from console.name_patterns import WRITTEN_AS, matcher
from console.paging import PAGE_PARAMETERS, page_sequence
from console.query import flag_of
from console.shapes import as_json, serializer_of
from gateway.control.cluster_view import ClusterListView, ClusterScopedView, deleted, sorted_rows, with_outcomes
from gateway.control.scheduled_reading import waiting_of
from gateway.control.topic_queue_shapes import PERMISSION_BITS
from gateway.control.topic_shapes import (
    KINDS,
    MESSAGE_TYPE_NAMES,
    TopicChanged,
    TopicChangeSerializer,
    TopicCounts,
    TopicCreateSerializer,
    TopicDetail,
    TopicGroups,
    TopicImpact,
    TopicPage,
    TopicSettings,
    settings_of,
    shown_type,
    summary_of,
    wire_type,
)
from gateway.control.transaction_reading import open_of

SORTABLE: Final = ("name", "messages", "size_bytes", "in_rate", "out_rate", "last_stored_at", "groups", "max_lag")
_DRY_RUN: Final = OpenApiParameter(
    "dry_run", bool, description="Only return what the deletion would remove, as `GET …/impact` does."
)
_DELETE_IF_MATCH: Final = OpenApiParameter(
    "If-Match", str, OpenApiParameter.HEADER, description="The ETag of the topic, or `*`; needed except for a dry run."
)
_CHANGED: Final = serializer_of(TopicChanged)


class TopicsView(ClusterListView):
    """All topics of a cluster."""

    listed = "topic"

    @extend_schema(
        operation_id="listTopics",
        tags=["topics"],
        parameters=[
            *PAGE_PARAMETERS,
            OpenApiParameter("search", str, description=f"In any case. {WRITTEN_AS}"),
            OpenApiParameter("kind", str, enum=[*KINDS, "all"], default="normal"),
            OpenApiParameter("message_type", str, enum=MESSAGE_TYPE_NAMES, description="Only topics declared so."),
            OpenApiParameter("sort", str, description=f"{', '.join(SORTABLE)}; - before a name: descending."),
        ],
        responses=serializer_of(TopicPage),
    )
    def get(self, request: Request, cluster: str) -> Response:
        """List topics with their figures."""
        kind = request.query_params.get("kind", "normal")
        if kind not in (*KINDS, "all"):
            raise serializers.ValidationError({"kind": f"must be one of {', '.join(KINDS)}, all"})
        declared = request.query_params.get("message_type")
        if declared not in (None, *MESSAGE_TYPE_NAMES):
            raise serializers.ValidationError({"message_type": f"must be one of {', '.join(MESSAGE_TYPE_NAMES)}"})
        matches = _matcher_of(request)
        figures = _seen(self)
        known = known_topics(cluster)
        visible = self.visible(topic for topic in known.values() if matches(topic.name))
        found = [topic for topic in visible if declared in (None, shown_type(topic))]
        rows = [_figures(figures, topic.name) for topic in found if kind in ("all", topic.kind.value)]
        page = page_sequence(request, sorted_rows(request, rows, SORTABLE, max_lag=_lag_of), key=lambda row: row.name)
        current.note_shown(cluster, topics=[row.name for row in page.items])
        counts = Counter(topic.kind.value for topic in found)
        shown = TopicPage(
            items=[summary_of(known[row.name], row) for row in page.items],
            next_cursor=page.next_cursor,
            prev_cursor=page.prev_cursor,
            total=page.total,
            counts=TopicCounts(**{name: counts[name] for name in KINDS}),
        )
        return Response(as_json(shown))

    @extend_schema(
        operation_id="createTopic",
        tags=["topics"],
        request=TopicCreateSerializer,
        responses={201: _CHANGED, 207: _CHANGED},
    )
    def post(self, request: Request, cluster: str) -> Response:
        """Create a topic on every broker of the cluster that lacks it."""
        form = TopicCreateSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        wanted = dict(form.validated_data)
        name = wanted.pop("name")
        require(request, "manage", Resource("topic", name))
        wanted["perm"] = PERMISSION_BITS[wanted.pop("permission")]
        if "message_type" in wanted:
            wanted["message_type"] = wire_type(wanted["message_type"])
        with change_lock(cluster, "topics", name):
            outcomes = operations.create_topic(actor_of(request), cluster, name, wanted)
            return _changed(self, name, outcomes, status=201)


class TopicView(ClusterScopedView):
    """One topic."""

    resource_argument = "topic"

    @extend_schema(operation_id="getTopic", tags=["topics"], responses=serializer_of(TopicDetail, "Topic"))
    def get(self, request: Request, cluster: str, topic: str) -> Response:
        """Return a topic."""
        current.note_shown(cluster, topics=[topic])
        return _answer(self, known_topic(cluster, topic))

    @extend_schema(
        operation_id="updateTopic",
        parameters=[etags.IF_MATCH],
        tags=["topics"],
        request=TopicChangeSerializer,
        responses={200: _CHANGED, 207: _CHANGED},
    )
    def patch(self, request: Request, cluster: str, topic: str) -> Response:
        """Change queues or permission of a topic."""
        with change_lock(cluster, "topics", topic):
            found = known_topic(cluster, topic)
            if found.kind.value == "system":
                raise Conflict(f"{topic!r} belongs to the brokers; it cannot be changed.")
            etags.check(request, *_tagged(found))
            form = TopicChangeSerializer(data=request.data)
            form.is_valid(raise_exception=True)
            wanted = dict(form.validated_data)
            if "permission" in wanted:
                wanted["perm"] = PERMISSION_BITS[wanted.pop("permission")]
            outcomes = operations.change_topic(actor_of(request), cluster, found, wanted)
            return _changed(self, topic, outcomes)

    @extend_schema(
        operation_id="deleteTopic",
        tags=["topics"],
        parameters=[
            _DRY_RUN,
            _DELETE_IF_MATCH,
        ],
        responses={200: serializer_of(TopicImpact), 204: None, 207: serializer_of(PartlyDeleted)},
    )
    def delete(self, request: Request, cluster: str, topic: str) -> Response:
        """Delete a topic and its messages; with `dry_run=true` only return what would be removed."""
        if flag_of(request, "dry_run"):
            return _impact(self, _deletable(cluster, topic))
        with change_lock(cluster, "topics", topic):
            found = _deletable(cluster, topic)
            etags.check(request, *_tagged(found))
            return deleted(topic, operations.delete_topic(actor_of(request), cluster, found))


class TopicImpactView(ClusterScopedView):
    """What the deletion of a topic would remove."""

    permission_classes = (needs("delete"),)
    resource_argument = "topic"

    @extend_schema(operation_id="getTopicImpact", tags=["topics"], responses=serializer_of(TopicImpact))
    def get(self, request: Request, cluster: str, topic: str) -> Response:
        """Return what the deletion of a topic would remove; the ETag is the one for the deletion."""
        return _impact(self, _deletable(cluster, topic))


class TopicGroupsView(ClusterScopedView):
    """The groups that consume a topic."""

    resource_argument = "topic"

    @extend_schema(operation_id="listTopicGroups", tags=["topics"], responses=serializer_of(TopicGroups))
    def get(self, request: Request, cluster: str, topic: str) -> Response:
        """List the consumer groups of a topic."""
        operations.find_topic(cluster, topic)
        found = [group for group in current.groups(cluster) if topic in group.topics]
        visible = [group for group in found if allows(request, "read", Resource("group", group.name))]
        return Response(as_json(TopicGroups([self.sight.group(group) for group in visible])))


def _matcher_of(request: Request) -> Callable[[str], bool]:
    try:
        return matcher(request.query_params.get("search", ""))
    except ValueError as error:
        raise serializers.ValidationError({"search": str(error)}) from error


def _deletable(cluster: str, name: str) -> Topic:
    """Return a topic; raise Conflict for one of the brokers, TopicNotFound if there is none."""
    found = known_topic(cluster, name)
    if found.kind.value == "system":
        raise Conflict(f"{name!r} belongs to the brokers; it cannot be deleted.")
    return found


def _impact(view: ClusterScopedView, topic: Topic) -> Response:
    async def question(admin: Admin) -> TopicImpact:
        groups, stats = await admin.topics.groups(topic.name), await admin.topics.stats(topic.name)
        names = {name for names in groups.found.values() for name in names}
        seen = sorted(name for name in names if allows(view.request, "read", Resource("group", name)))
        scheduled = (await waiting_of(admin, known, [topic.name]))[topic.name]
        transactions = (await open_of(admin, known, [topic.name]))[topic.name]
        answered = {queue.broker_name for queue in stats.queues}
        holders = {broker for broker, config in topic.configs.items() if config.read_queue_nums}
        is_whole = not stats.failed and answered >= holders
        return TopicImpact(
            groups=seen,
            hidden_groups=len(names) - len(seen),
            messages=stats.messages if is_whole else None,
            scheduled=scheduled,
            transactions=transactions,
        )

    known = remembered(view.cluster)
    return Response(as_json(view.ask(question)), headers={"ETag": etags.etag(settings_of(topic))})


def _tagged(topic: Topic) -> list[TopicSettings]:
    """Return the settings that If-Match may name: after a partial change the brokers differ."""
    single = [replace(topic, configs={broker: config}) for broker, config in topic.configs.items()]
    return [settings_of(each) for each in (topic, *single)]


def _answer(view: ClusterScopedView, topic: Topic) -> Response:
    summary = summary_of(topic, _figures(_seen(view), topic.name))
    shown = TopicDetail(**asdict(summary), order=topic.order, brokers=list(topic.brokers))
    return Response(as_json(shown), headers={"ETag": etags.etag(settings_of(topic))})


def _changed(view: ClusterScopedView, topic: str, outcomes: operations.Outcomes, *, status: int = 200) -> Response:
    return with_outcomes(_answer(view, known_topic(view.cluster, topic)), outcomes, status=status)


def _seen(view: ClusterScopedView) -> Mapping[str, TopicState]:
    """Return the figures of the topics, which tell of no group that the caller may not read."""
    found = current.topics(view.cluster)
    if view.sight.is_whole("group"):
        return found
    return {topic.name: topic for topic in view.sight.topics(found.values(), current.groups(view.cluster))}


def _lag_of(topic: TopicState) -> tuple[bool, int] | None:
    """Return what a topic is sorted by: one without groups has no lag, which is less than a lag of zero."""
    return None if topic.max_lag is None else (topic.groups != 0, topic.max_lag)


def _figures(found: Mapping[str, TopicState], topic: str) -> TopicState:
    return found.get(topic) or TopicState(name=topic)
