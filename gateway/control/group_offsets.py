"""Many groups moved to other offsets: one preview, an outcome for each plan, and the way back of all or some."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import APIException
from rest_framework.request import Request
from rest_framework.response import Response

from broker_core.client.admin.groups import Group
from broker_core.errors import GantryError
from broker_core.protocol.topics import dead_letter_topic, retry_topic
from console.accounts.explaining import refusal_of
from console.accounts.permissions import actor_of, allows, needs, rights_of_request
from console.accounts.rights import Resource
from console.clusters.reasons import reason_of
from console.offsets import services
from console.offsets.shapes import OffsetsMoved
from console.shapes import as_json, serializer_of
from gateway.control.cluster_view import ClusterListView
from gateway.control.group_offsets_shapes import (
    MOST_PLANS,
    GroupMove,
    GroupMoves,
    GroupPlan,
    GroupPlans,
    GroupsApplySerializer,
    GroupsPreviewSerializer,
    GroupsUndoSerializer,
    planned,
)
from gateway.control.offset_views import wish_of

_MOVES: Final = serializer_of(GroupMoves)
_RESPONSES: Final = {200: _MOVES, 207: _MOVES}


class _GroupsView(ClusterListView):
    """A move of many groups; those that the caller may not move are refused one by one."""

    permission_classes = (needs("offsets"),)
    listed = "group"

    def refusal(self, group: str) -> str | None:
        """Return why the caller may not move a group, in the same words whether it exists or not; None if it may."""
        resource = Resource("group", group)
        if allows(self.request, "offsets", resource):
            return None
        return refusal_of(rights_of_request(self.request), "offsets", resource)

    def each(self, wanted: list[dict[str, Any]], move: Callable[[dict[str, Any]], OffsetsMoved]) -> Response:
        """Make every move, whatever becomes of the others; 207 unless all are done."""
        items = [self._outcome(each, move) for each in wanted]
        whole = all(item.outcome == "done" for item in items)
        return Response(as_json(GroupMoves(items)), status=200 if whole else 207)

    def _outcome(self, wanted: dict[str, Any], move: Callable[[dict[str, Any]], OffsetsMoved]) -> GroupMove:
        group = wanted["group"]
        refusal = self.refusal(group)
        if refusal is not None:
            return GroupMove(group=group, outcome="refused", reason=refusal)
        try:
            moved = move(wanted)
        except (GantryError, APIException) as error:
            return GroupMove(group=group, outcome="failed", reason=_why(error))
        reasons = [f"{row.broker}/{row.queue_id}: {row.reason}" for row in moved.queues if not row.done]
        return GroupMove(
            group=group,
            topic=moved.topic,
            outcome="partial" if reasons else "done",
            reason="; ".join(reasons[:3]) or None,
            snapshot_id=moved.snapshot_id,
        )


class GroupsPreviewView(_GroupsView):
    """What a move of many groups would do."""

    @extend_schema(
        operation_id="previewOffsetsOfGroups",
        tags=["groups"],
        request=GroupsPreviewSerializer,
        responses=serializer_of(GroupPlans),
    )
    def post(self, request: Request, cluster: str) -> Response:
        """Return what a move of up to 50 groups would do, topic by topic, and keep a plan for each; 200 at most."""
        form = GroupsPreviewSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        values = form.validated_data
        found = self.ask(lambda admin: admin.groups.list()).raise_if_none().found
        rows = [row for name in values["groups"] for row in self._rows(name, found.get(name), values.get("topics"))]
        wanted = sum(row.outcome == "planned" for row in rows)
        if wanted > MOST_PLANS:
            why = f"are {wanted} plans, one for each topic of each group; one request makes up to {MOST_PLANS}"
            raise serializers.ValidationError({"groups": why})
        return Response(as_json(GroupPlans([self._planned(row, values) for row in rows])))

    def _rows(self, name: str, known: Group | None, topics: list[str] | None) -> Iterator[GroupPlan]:
        """Yield a row for each topic to plan, and for what is refused."""
        refusal = self.refusal(name)
        if refusal is None and known is None:
            refusal = f"no broker that answers has a group {name!r}"
        if refusal is None and known is not None and known.is_built_in:
            refusal = f"{name!r} belongs to the brokers"
        if refusal is not None or known is None:
            yield GroupPlan(group=name, outcome="refused", reason=refusal)
            return
        own = (retry_topic(name), dead_letter_topic(name))
        seen = sorted(topic for topic in self.sight.topics_of(name, known.topics) if topic not in own)
        for topic in seen if topics is None else topics:
            if topic in seen:
                yield GroupPlan(group=name, topic=topic, outcome="planned")
            else:
                reason = f"the group has no offset in a topic {topic!r}"
                yield GroupPlan(group=name, topic=topic, outcome="refused", reason=reason)
        if not seen and topics is None:
            yield GroupPlan(group=name, outcome="refused", reason="the group has no offset in any topic")

    def _planned(self, row: GroupPlan, values: dict[str, Any]) -> GroupPlan:
        if row.outcome != "planned":
            return row
        wish = wish_of(row.group, {"topic": row.topic, **_where_to(values)})
        try:
            return planned(services.preview(actor_of(self.request), self.cluster, wish))
        except services.NoEffect as error:
            return GroupPlan(group=row.group, topic=row.topic, outcome="unchanged", reason=_why(error))
        except (GantryError, APIException) as error:
            return GroupPlan(group=row.group, topic=row.topic, outcome="failed", reason=_why(error))


class GroupsApplyView(_GroupsView):
    """The application of many plans."""

    @extend_schema(
        operation_id="applyOffsetsOfGroups",
        tags=["groups"],
        request=GroupsApplySerializer,
        responses=_RESPONSES,
    )
    def post(self, request: Request, cluster: str) -> Response:
        """Move groups to the offsets of up to 200 plans; 207 unless all are done."""
        form = GroupsApplySerializer(data=request.data)
        form.is_valid(raise_exception=True)
        actor, sees, strict = actor_of(request), self.sight.sees, form.validated_data["strict"]
        return self.each(
            form.validated_data["plans"],
            lambda plan: services.apply(actor, cluster, plan["group"], plan["plan_id"], sees, is_strict=strict),
        )


class GroupsUndoView(_GroupsView):
    """The way back."""

    @extend_schema(
        operation_id="undoOffsetsOfGroups",
        tags=["groups"],
        request=GroupsUndoSerializer,
        responses=_RESPONSES,
    )
    def post(self, request: Request, cluster: str) -> Response:
        """Move groups back to where they were before up to 200 changes; 207 unless all are done."""
        form = GroupsUndoSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        actor, sees = actor_of(request), self.sight.sees
        return self.each(
            form.validated_data["snapshots"],
            lambda made: services.undo(actor, cluster, made["group"], made["snapshot_id"], sees),
        )


def _where_to(values: dict[str, Any]) -> dict[str, Any]:
    return {name: values[name] for name in ("mode", "time", "shift") if name in values}


def _why(error: GantryError | APIException) -> str:
    return str(error.detail) if isinstance(error, APIException) else reason_of(error)
