"""The key figures of a cluster, now and over time."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from console.accounts.permissions import allows
from console.accounts.rights import ANYTHING, EVERYTHING, Unnamed
from console.lag import current
from console.lag.limited import Sight
from console.lag.shapes import OverviewHistory, OverviewState
from console.shapes import as_json, serializer_of
from gateway.control.cluster_view import RANGE, ClusterScopedView, range_of


class _OverviewView(ClusterScopedView):
    """Whoever may read some names gets the figures of these."""

    def right_resource(self) -> Unnamed:
        """Return anything."""
        return ANYTHING

    def limits(self) -> Sight | None:
        """Return what the caller may read, None for everything."""
        return None if allows(self.request, "read", EVERYTHING) else self.sight


class OverviewView(_OverviewView):
    """The cluster now."""

    @extend_schema(operation_id="getOverview", tags=["clusters"], responses=serializer_of(OverviewState))
    def get(self, request: Request, cluster: str) -> Response:
        """Return the key figures of a cluster, or of the topics and groups in it that the caller may read."""
        sight = self.limits()
        return Response(as_json(current.overview(cluster) if sight is None else current.overview_seen(cluster, sight)))


class OverviewHistoryView(_OverviewView):
    """The cluster over time."""

    @extend_schema(
        operation_id="getOverviewHistory",
        tags=["clusters"],
        parameters=[RANGE],
        responses=serializer_of(OverviewHistory),
    )
    def get(self, request: Request, cluster: str) -> Response:
        """Return the history of a cluster's key figures, or of the topics and groups in it that the caller may read."""
        return Response(as_json(current.overview_history(cluster, range_of(request), self.limits())))
