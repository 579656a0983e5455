"""Many topics deleted or changed by one request."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from drf_spectacular.utils import extend_schema
from msgspec.structs import replace
from rest_framework.request import Request
from rest_framework.response import Response

from broker_core.client.admin.topics import Topic, TopicChange
from broker_core.errors import GantryError
from console.accounts.permissions import actor_of, allows, needs
from console.accounts.rights import Resource
from console.clusters import operations
from console.clusters.known_topics import known_topics
from console.clusters.memory import remembered
from console.clusters.outcomes import BrokerOutcome
from console.lag import current
from console.shapes import serializer_of
from gateway.control.bulk import PARAMETERS, BulkView
from gateway.control.scheduled_reading import waiting_of
from gateway.control.topic_bulk_shapes import BulkChangeSerializer, BulkTopic, BulkTopics, TopicNamesSerializer
from gateway.control.topic_queue_shapes import PERMISSION_BITS, planned, queues_on
from gateway.control.transaction_reading import open_of

_ANSWER: Final = serializer_of(BulkTopics)


class _BulkView(BulkView[Topic, BulkTopic]):
    listed = "topic"

    def refused(self, name: str, why: str) -> BulkTopic:
        return BulkTopic(name=name, outcome="refused", reason=why)

    def why_not(self, name: str, known: Topic | None) -> str | None:
        if known is None:
            return f"no topic is named {name!r}"
        return f"{name!r} belongs to the brokers" if known.kind.value == "system" else None

    def version_of(self, known: Topic) -> object:
        return queues_on(known)

    def with_figures(self, items: Sequence[BulkTopic]) -> list[BulkTopic]:
        figures, readers = current.topics(self.cluster), self._readers()
        return [
            self._with_readers(replace(item, messages=known.messages), readers.get(item.name, ()))
            if item.outcome == "planned" and (known := figures.get(item.name))
            else item
            for item in items
        ]

    def _with_readers(self, item: BulkTopic, readers: Sequence[str]) -> BulkTopic:
        seen = sorted(name for name in readers if allows(self.request, "read", Resource("group", name)))
        return replace(item, groups=seen, hidden_groups=len(readers) - len(seen))

    def _readers(self) -> Mapping[str, list[str]]:
        found: dict[str, list[str]] = {}
        for group in current.groups(self.cluster):
            for topic in group.topics:
                found.setdefault(topic, []).append(group.name)
        return found

    def _apply(
        self,
        names: Sequence[str],
        plan: Callable[[Topic], BulkTopic],
        change: Callable[[Topic], Sequence[BrokerOutcome]],
    ) -> Response:
        return self.apply(names, lambda: known_topics(self.cluster, fresh=True), plan, change)


class BulkDeleteView(_BulkView):
    """The deletion of many topics."""

    permission_classes = (needs("delete"),)
    verb = "delete"

    def with_figures(self, items: Sequence[BulkTopic]) -> list[BulkTopic]:
        known, names = remembered(self.cluster), [item.name for item in items]
        try:
            waiting = self.ask(lambda admin: waiting_of(admin, known, names))
            still_open = self.ask(lambda admin: open_of(admin, known, names))
        except GantryError:  # the rest is known without the brokers
            waiting, still_open = {}, {}
        found = super().with_figures(items)
        return [
            replace(item, scheduled=waiting.get(item.name), transactions=still_open.get(item.name))
            if item.outcome == "planned"
            else item
            for item in found
        ]

    @extend_schema(
        operation_id="deleteTopics",
        tags=["topics"],
        parameters=PARAMETERS,
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
        parameters=PARAMETERS,
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
