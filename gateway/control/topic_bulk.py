"""Many topics deleted or changed by one request: one preview for all, then an outcome for each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from drf_spectacular.utils import OpenApiParameter, extend_schema
from msgspec.structs import replace
from rest_framework.request import Request
from rest_framework.response import Response

from broker_core.client.admin.topics import Topic, TopicChange
from broker_core.errors import GantryError
from console import etags
from console.accounts.explaining import refusal_of
from console.accounts.permissions import actor_of, allows, needs, rights_of_request
from console.accounts.rights import Resource, Verb
from console.clusters import operations
from console.clusters.change_lock import change_lock
from console.clusters.known_topics import known_topics
from console.clusters.outcomes import BrokerOutcome
from console.clusters.reasons import reason_of
from console.errors import Conflict
from console.lag import current
from console.query import flag_of
from console.shapes import as_json, serializer_of
from gateway.control.cluster_view import ClusterListView
from gateway.control.topic_bulk_shapes import BulkChangeSerializer, BulkTopic, BulkTopics, TopicNamesSerializer
from gateway.control.topic_queue_shapes import PERMISSION_BITS, planned, queues_on

_ANSWER: Final = serializer_of(BulkTopics)
_PARAMETERS: Final = [
    OpenApiParameter("dry_run", bool, description="Only return what the change would do."),
    OpenApiParameter(
        "If-Match", str, OpenApiParameter.HEADER, description="The ETag of the dry run, or `*`; needed for the change."
    ),
]

Change = Callable[[Topic], tuple[BrokerOutcome, ...]]


class _BulkView(ClusterListView):
    """A change of many topics; those that the caller may not change are refused one by one."""

    listed = "topic"
    verb: Verb

    def _apply(self, names: list[str], plan: Callable[[Topic], BulkTopic], change: Change) -> Response:
        found = {topic.name: topic for topic in known_topics(self.cluster)}
        plans = {name: self._planned(name, found.get(name), plan) for name in names}
        wanted = [found[name] for name in names if plans[name].outcome == "planned"]
        tag = [(topic.name, queues_on(topic)) for topic in wanted]
        if flag_of(self.request, "dry_run"):
            answer = BulkTopics(self._with_figures(list(plans.values())))
            return Response(as_json(answer), headers={"ETag": etags.etag(tag)})
        etags.check(self.request, tag)
        made = {topic.name: self._made(plans[topic.name], topic, change) for topic in wanted}
        items = [made.get(name, plans[name]) for name in names]
        return Response(
            as_json(BulkTopics(items)), status=200 if all(each.outcome == "done" for each in items) else 207
        )

    def _planned(self, name: str, topic: Topic | None, plan: Callable[[Topic], BulkTopic]) -> BulkTopic:
        resource = Resource("topic", name)
        if not allows(self.request, self.verb, resource):
            why = refusal_of(rights_of_request(self.request), self.verb, resource)
            return BulkTopic(name=name, outcome="refused", reason=why)
        if topic is None:
            return BulkTopic(name=name, outcome="refused", reason=f"no topic is named {name!r}")
        if topic.kind.value == "system":
            return BulkTopic(name=name, outcome="refused", reason=f"{name!r} belongs to the brokers")
        return plan(topic)

    def _made(self, plan: BulkTopic, topic: Topic, change: Change) -> BulkTopic:
        try:
            with change_lock(self.cluster, "topics", topic.name):
                outcomes = change(topic)
        except GantryError as error:
            return replace(plan, outcome="failed", reason=reason_of(error))
        except Conflict as error:
            return replace(plan, outcome="failed", reason=str(error.detail))
        whole = all(outcome.done for outcome in outcomes)
        return replace(plan, outcome="done" if whole else "partial", brokers=outcomes)

    def _with_figures(self, items: list[BulkTopic]) -> list[BulkTopic]:
        figures, groups = current.topics(self.cluster), self._groups()
        return [
            replace(item, messages=known.messages, groups=sorted(groups.get(item.name, ())))
            if item.outcome == "planned" and (known := figures.get(item.name))
            else item
            for item in items
        ]

    def _groups(self) -> Mapping[str, list[str]]:
        found: dict[str, list[str]] = {}
        for topic, group in self._readers():
            found.setdefault(topic, []).append(group)
        return found

    def _readers(self) -> Iterator[tuple[str, str]]:
        for group in current.groups(self.cluster):
            if allows(self.request, "read", Resource("group", group.name)):
                yield from ((topic, group.name) for topic in group.topics)


class BulkDeleteView(_BulkView):
    """The deletion of many topics."""

    permission_classes = (needs("delete"),)
    verb = "delete"

    @extend_schema(
        operation_id="deleteTopics",
        tags=["topics"],
        parameters=_PARAMETERS,
        request=TopicNamesSerializer,
        responses={200: _ANSWER, 207: _ANSWER},
    )
    def post(self, request: Request, cluster: str) -> Response:
        """Delete up to 200 topics and their messages; 207 if not all were deleted."""
        form = TopicNamesSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        actor = actor_of(request)
        return self._apply(
            form.validated_data["topics"],
            lambda topic: BulkTopic(name=topic.name, outcome="planned"),
            lambda topic: operations.delete_topic(actor, cluster, topic),
        )


class BulkChangeView(_BulkView):
    """The same settings for many topics."""

    permission_classes = (needs("manage"),)
    verb = "manage"

    @extend_schema(
        operation_id="updateTopics",
        tags=["topics"],
        parameters=_PARAMETERS,
        request=BulkChangeSerializer,
        responses={200: _ANSWER, 207: _ANSWER},
    )
    def post(self, request: Request, cluster: str) -> Response:
        """Change queue counts or permission of up to 200 topics on each of their brokers; 207 if not all were."""
        form = BulkChangeSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        wanted = dict(form.validated_data)
        names, change, actor = wanted.pop("topics"), _change_of(wanted), actor_of(request)

        def plan(topic: Topic) -> BulkTopic:
            changes = planned(topic, dict.fromkeys(topic.configs, change))
            return BulkTopic(name=topic.name, outcome="planned", changes=changes)

        return self._apply(
            names,
            plan,
            lambda topic: operations.change_queues(actor, cluster, topic, dict.fromkeys(topic.configs, change)),
        )


def _change_of(wanted: Mapping[str, Any]) -> TopicChange:
    return TopicChange(
        wanted.get("read_queues"), wanted.get("write_queues"), PERMISSION_BITS.get(wanted.get("permission", ""))
    )
