"""The key figures of a cluster, now and over time."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from console.lag import current
from console.lag.shapes import OverviewHistory, OverviewState
from console.shapes import as_json, serializer_of
from gateway.control.cluster_view import RANGE, ClusterScopedView, range_of


class OverviewView(ClusterScopedView):
    """The cluster now."""

    @extend_schema(operation_id="getOverview", tags=["clusters"], responses=serializer_of(OverviewState))
    def get(self, request: Request, cluster: str) -> Response:
        """Return the key figures of a cluster."""
        return Response(as_json(current.overview(cluster)))


class OverviewHistoryView(ClusterScopedView):
    """The cluster over time."""

    @extend_schema(
        operation_id="getOverviewHistory",
        tags=["clusters"],
        parameters=[RANGE],
        responses=serializer_of(OverviewHistory),
    )
    def get(self, request: Request, cluster: str) -> Response:
        """Return the history of a cluster's key figures."""
        return Response(as_json(current.overview_history(cluster, range_of(request))))
