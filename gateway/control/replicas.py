"""The replicas of a broker name, the controllers, and changes by hand."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from console import etags
from console.accounts.permissions import actor_of, needs
from console.clusters.change_lock import change_lock
from console.clusters.memory import remembered
from console.errors import NotKnown
from console.paging import LIMIT, limit_of
from console.query import flag_of, number_of
from console.replicas import adding, changing, history, reading
from console.replicas.adding_shapes import NewReplica
from console.replicas.changing import Command, Target
from console.replicas.changing_shapes import ReplicaChange, ReplicaPolicy
from console.replicas.controllers import controllers
from console.replicas.shapes import Controllers, ReplicaHistory, Replicas
from console.replicas.starting import Place
from console.shapes import as_json, serializer_of
from gateway.control.cluster_view import WholeClusterView

_DRY_RUN: Final = OpenApiParameter("dry_run", bool, description="Only return what the change would do.")
_PLAN: Final = OpenApiParameter(
    "plan", str, description="Of a preview: refused after five minutes, and if something else was decided meanwhile."
)
_LIVING: Final = OpenApiParameter("living", bool, description="Also a replica that is heard.")
_FORCED: Final = OpenApiParameter("force", bool, description="Also the last one with every acknowledged message.")
_CHANGE: Final = serializer_of(ReplicaChange)
# One change may take longer; whoever waits for it may as well ask again.
_WAIT_SECONDS: Final = 5.0
_LAST_ID: Final = 2**31 - 1
# With the port of slaves above it.
_LAST_PORT: Final = 65_534
_HOST: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]{0,253}[A-Za-z0-9])?|[0-9A-Fa-f:]{2,39}")


class ReplicasView(WholeClusterView):
    """All processes of a broker name."""

    permission_classes = (needs("read"),)

    @extend_schema(operation_id="getReplicas", tags=["brokers"], responses=serializer_of(Replicas))
    def get(self, request: Request, cluster: str, broker: str) -> Response:
        """Return who is master, how far the others are behind, and what controllers decided."""
        return Response(as_json(reading.read(cluster, broker)))


class NewReplicaView(WholeClusterView):
    """One more replica of a broker name."""

    permission_classes = (needs("admin"),)

    @extend_schema(
        operation_id="previewNewReplica",
        tags=["brokers"],
        parameters=[
            OpenApiParameter("address", str, description="Host of the new machine, without a port."),
            OpenApiParameter("port", int, description="Where it listens; left out, where the others do."),
        ],
        responses=serializer_of(NewReplica),
    )
    def get(self, request: Request, cluster: str, broker: str) -> Response:
        """Return what one more replica would do and cost, and how it is started on its machine. Nothing changes."""
        host = request.query_params.get("address", "").strip() or None
        if host is not None and _HOST.fullmatch(host) is None:
            raise ValidationError({"address": f"{host[:80]!r} is no name or address of a machine"})
        port = number_of(request, "port", None, low=1, high=_LAST_PORT)
        return Response(as_json(adding.preview(cluster, broker, Place(host, port))))


class HistoryView(WholeClusterView):
    """What controllers decided about a broker name over time."""

    permission_classes = (needs("read"),)

    @extend_schema(
        operation_id="getReplicaHistory",
        tags=["brokers"],
        parameters=[LIMIT],
        responses=serializer_of(ReplicaHistory),
    )
    def get(self, request: Request, cluster: str, broker: str) -> Response:
        """Return the last changes of epoch, master or in-sync set, the newest first, with why and when."""
        found = history.read(cluster, broker, limit_of(request))
        if not found.items and broker not in remembered(cluster).brokers:
            raise NotKnown(f"No broker {broker!r} was ever seen.")
        return Response(as_json(found))


class ControllersView(WholeClusterView):
    """The controllers of a cluster."""

    permission_classes = (needs("read"),)

    @extend_schema(operation_id="getControllers", tags=["brokers"], responses=serializer_of(Controllers))
    def get(self, request: Request, cluster: str) -> Response:
        """Return the controllers, which of them leads, and the state of what keeps their decisions."""
        return Response(as_json(controllers(cluster)))


class AdoptSerializer(serializers.Serializer[Any]):
    """The replicas that have every acknowledged message, as far as an operator knows."""

    in_sync = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=_LAST_ID), min_length=1, max_length=100
    )
    of_cluster = serializers.CharField(max_length=255, help_text="The brokers' own name of their cluster.")


class PolicySerializer(serializers.Serializer[Any]):
    """What operators decide for a name; what is left out stays."""

    min_in_sync = serializers.IntegerField(
        min_value=1, max_value=100, required=False, help_text="So many replicas must be in sync for sends."
    )
    unclean_allowed = serializers.BooleanField(required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse a change of nothing."""
        if not attrs:
            raise serializers.ValidationError("give min_in_sync, unclean_allowed or both")
        return attrs


class _ChangeView(WholeClusterView):
    permission_classes = (needs("admin"),)

    def _change(
        self,
        request: Request,
        broker: str,
        action: str,
        command: Command,
        check: Callable[[], None] | None = None,
        wanted: Mapping[str, Any] | None = None,
    ) -> Response:
        asked = {name: value for name, value in request.query_params.items() if name not in ("dry_run", "plan")}
        change = etags.etag([request.path, asked, request.data])
        options = {name: value for name, value in asked.items() if name in ("living", "force")}
        replica, plan = self.kwargs.get("replica"), request.query_params.get("plan")
        target = Target(self.cluster, broker, action, change, plan, replica, {**options, **(wanted or {})})
        with change_lock(self.cluster, "brokers", broker, wait_seconds=_WAIT_SECONDS):
            if check is not None:
                check()
            done = changing.change(actor_of(request), target, command, dry_run=flag_of(request, "dry_run"))
        return Response(as_json(done))


class PromoteView(_ChangeView):
    """A replica becomes master."""

    @extend_schema(
        operation_id="promoteReplica", tags=["brokers"], parameters=[_DRY_RUN, _PLAN], request=None, responses=_CHANGE
    )
    def post(self, request: Request, cluster: str, broker: str, replica: int) -> Response:
        """Hand over: the master stops taking sends until the replica has its log, then that one is elected."""
        return self._change(request, broker, "replica.promote", changing.promote(broker, replica))


class RemoveView(_ChangeView):
    """A replica is forgotten."""

    @extend_schema(
        operation_id="removeReplica",
        tags=["brokers"],
        parameters=[_DRY_RUN, _PLAN, _LIVING, _FORCED],
        request=None,
        responses=_CHANGE,
    )
    def post(self, request: Request, cluster: str, broker: str, replica: int) -> Response:
        """Forget a replica: it leaves the in-sync set, and its folder does not start under this id again."""
        command = changing.remove(
            broker, replica, even_living=flag_of(request, "living"), forced=flag_of(request, "force")
        )
        return self._change(request, broker, "replica.remove", command)


class AcceptLossView(_ChangeView):
    """A replica becomes master that may lack acknowledged messages."""

    @extend_schema(
        operation_id="acceptReplicaLoss",
        tags=["brokers"],
        parameters=[_DRY_RUN, _PLAN],
        request=None,
        responses=_CHANGE,
    )
    def post(self, request: Request, cluster: str, broker: str, replica: int) -> Response:
        """Make an unclean replica master: what only others had is lost, and their processes must have stopped."""
        return self._change(request, broker, "replica.accept_loss", changing.accept_loss(broker, replica))


class AdoptView(_ChangeView):
    """A name goes on after the engine was set back."""

    @extend_schema(
        operation_id="adoptReplicas",
        tags=["brokers"],
        parameters=[_DRY_RUN, _PLAN],
        request=AdoptSerializer,
        responses=_CHANGE,
    )
    def post(self, request: Request, cluster: str, broker: str) -> Response:
        """Go on with these replicas as the in-sync set, in an epoch that nobody alive knows."""
        form = AdoptSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        wanted = form.validated_data
        command = changing.adopt(broker, wanted["of_cluster"], wanted["in_sync"])
        return self._change(request, broker, changing.ADOPT, command, wanted=wanted)


class PolicyView(_ChangeView):
    """What operators decide for a name."""

    permission_classes = (needs("read", to_change="admin"),)

    @extend_schema(operation_id="getReplicaPolicy", tags=["brokers"], responses=serializer_of(ReplicaPolicy))
    def get(self, request: Request, cluster: str, broker: str) -> Response:
        """Return how many replicas must be in sync, and whether an unclean one may be elected."""
        shown = changing.policy(self.cluster, broker)
        return Response(as_json(shown), headers={"ETag": etags.etag(shown)})

    @extend_schema(
        operation_id="updateReplicaPolicy",
        tags=["brokers"],
        parameters=[etags.IF_MATCH, _DRY_RUN, _PLAN],
        request=PolicySerializer,
        responses=_CHANGE,
    )
    def patch(self, request: Request, cluster: str, broker: str) -> Response:
        """Change how many replicas must be in sync, and whether an unclean one may be elected."""
        etags.require(request)
        form = PolicySerializer(data=request.data)
        form.is_valid(raise_exception=True)
        wanted = form.validated_data
        command = changing.set_policy(broker, wanted.get("min_in_sync"), wanted.get("unclean_allowed"))

        def check() -> None:
            etags.check(request, changing.policy(self.cluster, broker))

        return self._change(request, broker, "replica.policy", command, check, wanted)
