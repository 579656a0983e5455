"""Changing a group's offsets: preview, apply, undo, and the changes that were made."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from broker_core.client.errors import GroupNotFound
from broker_core.protocol.codes import ResponseCode
from console.accounts.permissions import actor_of, needs, require
from console.accounts.rights import Resource
from console.fields import MomentField
from console.offsets import services
from console.offsets.reading import Place, Wish
from console.offsets.shapes import MODES, OffsetPlanState, OffsetsMoved, OffsetSnapshots
from console.shapes import as_json, serializer_of
from gateway.control.cluster_view import ClusterScopedView

_NEEDED = {"time": ("time",), "offset": ("offset", "offsets"), "shift": ("shift",), "copy_from": ("from_group",)}
_VALUES = ("time", "offset", "offsets", "shift", "from_group")
LONGEST = 2**62
_MOST_QUEUES = 10_000
_MOVED = serializer_of(OffsetsMoved)


def check_value(values: dict[str, Any]) -> None:
    """Raise ValidationError for a missing value of the mode, and for values of other modes."""
    mode = values["mode"]
    needed = _NEEDED.get(mode, ())
    given = [name for name in _VALUES if name in values]
    for name in given:
        if name not in needed:
            raise serializers.ValidationError({name: f"does not belong to the mode {mode}"})
    if needed and len(given) != 1:
        raise serializers.ValidationError({needed[0]: f"the mode {mode} needs {' or '.join(needed)}"})


class QueueSerializer(serializers.Serializer[Any]):
    """One queue."""

    broker = serializers.CharField(max_length=255)
    queue_id = serializers.IntegerField(min_value=0, max_value=65_535)


class QueueOffsetSerializer(QueueSerializer):
    """A queue and the offset to go to."""

    offset = serializers.IntegerField(min_value=0, max_value=LONGEST)


class OffsetPreviewSerializer(serializers.Serializer[Any]):
    """A wanted change: a mode, and the value that this mode needs."""

    topic = serializers.CharField(max_length=255)
    mode = serializers.ChoiceField(MODES)
    time = MomentField(required=False, help_text="For the mode time: the first message stored then or later.")
    offset = serializers.IntegerField(min_value=0, max_value=LONGEST, required=False, help_text="For the mode offset.")
    offsets = QueueOffsetSerializer(many=True, required=False, help_text="For the mode offset: one for each queue.")
    shift = serializers.IntegerField(
        min_value=-LONGEST,
        max_value=LONGEST,
        required=False,
        help_text="For the mode shift: messages, forward if positive.",
    )
    from_group = serializers.CharField(max_length=255, required=False, help_text="For the mode copy_from.")
    queues = QueueSerializer(many=True, required=False, help_text="Only these queues; all if it is missing.")

    def validate(self, values: dict[str, Any]) -> dict[str, Any]:
        """Refuse a missing value of the mode, values of other modes, and lists that are too long or repeat a queue."""
        check_value(values)
        for name in ("offsets", "queues"):
            _check_places(name, values.get(name))
        return values


def _check_places(name: str, queues: list[dict[str, Any]] | None) -> None:
    if queues is None:
        return
    places = {(queue["broker"], queue["queue_id"]) for queue in queues}
    if not queues or len(queues) > _MOST_QUEUES or len(places) < len(queues):
        raise serializers.ValidationError({name: f"must name 1 to {_MOST_QUEUES} different queues"})


class OffsetApplySerializer(serializers.Serializer[Any]):
    """A plan to apply."""

    plan_id = serializers.CharField(max_length=16)
    strict = serializers.BooleanField(default=False, help_text="Refuse if the group has moved since the preview.")


class OffsetUndoSerializer(serializers.Serializer[Any]):
    """A change to undo."""

    snapshot_id = serializers.CharField(max_length=16)


class _OffsetView(ClusterScopedView):
    """A change of the group in the path."""

    permission_classes = (needs("read", to_change="offsets"),)
    resource_argument = "group"


class OffsetPreviewView(_OffsetView):
    """What a change would do."""

    @extend_schema(
        operation_id="previewOffsets",
        tags=["groups"],
        request=OffsetPreviewSerializer,
        responses=serializer_of(OffsetPlanState),
    )
    def post(self, request: Request, cluster: str, group: str) -> Response:
        """Return what a change of a group's offsets in a topic would do, queue by queue, and keep it as a plan."""
        form = OffsetPreviewSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        wish = wish_of(group, form.validated_data)
        require(request, "read", Resource("topic", wish.topic))
        if wish.source:
            require(request, "read", Resource("group", wish.source))
        if self.ask(lambda admin: admin.groups.find(group)) is None:
            # The brokers would refuse to apply it: offsets of a name that is no group are nobody's.
            code = ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST
            raise GroupNotFound(code, f"no consumer group is named {group!r}; create it first", cluster)
        return Response(as_json(services.preview(actor_of(request), cluster, wish)))


class OffsetApplyView(_OffsetView):
    """The application of a plan."""

    @extend_schema(
        operation_id="applyOffsets",
        tags=["groups"],
        request=OffsetApplySerializer,
        responses={200: _MOVED, 207: _MOVED},
    )
    def post(self, request: Request, cluster: str, group: str) -> Response:
        """Move the group to the offsets of a plan; 207 if some queues were not moved."""
        form = OffsetApplySerializer(data=request.data)
        form.is_valid(raise_exception=True)
        plan, strict = form.validated_data["plan_id"], form.validated_data["strict"]
        return _answer(services.apply(actor_of(request), cluster, group, plan, self.sight.sees, is_strict=strict))


class OffsetUndoView(_OffsetView):
    """The way back."""

    @extend_schema(
        operation_id="undoOffsets",
        tags=["groups"],
        request=OffsetUndoSerializer,
        responses={200: _MOVED, 207: _MOVED},
    )
    def post(self, request: Request, cluster: str, group: str) -> Response:
        """Move the group back to where it was before a change; 207 if some queues were not moved."""
        form = OffsetUndoSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        snapshot = form.validated_data["snapshot_id"]
        return _answer(services.undo(actor_of(request), cluster, group, snapshot, self.sight.sees))


class OffsetSnapshotsView(_OffsetView):
    """The changes that were made."""

    @extend_schema(operation_id="listOffsetSnapshots", tags=["groups"], responses=serializer_of(OffsetSnapshots))
    def get(self, request: Request, cluster: str, group: str) -> Response:
        """List the last 100 changes of a group's offsets, newest first."""
        made = services.snapshots(cluster, group)
        seen = set(self.sight.topics_of(group, {each.topic for each in made}))
        return Response(as_json(OffsetSnapshots([each for each in made if each.topic in seen])))


def _answer(moved: OffsetsMoved) -> Response:
    return Response(as_json(moved), status=200 if all(queue.done for queue in moved.queues) else 207)


def wish_of(group: str, values: dict[str, Any]) -> Wish:
    """Return the change of a group that a valid request asks for."""
    queues, offsets = values.get("queues"), values.get("offsets")
    time = values.get("time")
    return Wish(
        group=group,
        topic=values["topic"],
        mode=values["mode"],
        time_ms=0 if time is None else max(0, int(time.timestamp() * 1000)),
        offset=values.get("offset", values.get("shift", 0)),
        offsets=None if offsets is None else {_place(each): each["offset"] for each in offsets},
        source=values.get("from_group", ""),
        queues=None if queues is None else frozenset(map(_place, queues)),
    )


def _place(queue: dict[str, Any]) -> Place:
    return queue["broker"], queue["queue_id"]
