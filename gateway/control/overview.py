"""The key figures of a cluster, now and over time."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from console.lag import current
from console.lag.serializers import OverviewHistorySerializer, OverviewSerializer
from gateway.control.cluster_view import RANGE, ClusterScopedView, range_of


class OverviewView(ClusterScopedView):
    """The cluster now."""

    @extend_schema(operation_id="getOverview", tags=["clusters"], responses=OverviewSerializer)
    def get(self, request: Request, cluster: str) -> Response:
        """Return the key figures of a cluster."""
        return Response(current.overview(cluster))


class OverviewHistoryView(ClusterScopedView):
    """The cluster over time."""

    @extend_schema(
        operation_id="getOverviewHistory", tags=["clusters"], parameters=[RANGE], responses=OverviewHistorySerializer
    )
    def get(self, request: Request, cluster: str) -> Response:
        """Return how the key figures of a cluster went."""
        return Response(current.overview_history(cluster, range_of(request)))
