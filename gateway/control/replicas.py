"""The replicas of a broker name."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from console.accounts.permissions import needs
from console.replicas import reading
from console.replicas.shapes import Replicas
from console.shapes import as_json, serializer_of
from gateway.control.cluster_view import WholeClusterView


class ReplicasView(WholeClusterView):
    """All processes of a broker name."""

    permission_classes = (needs("read"),)

    @extend_schema(operation_id="getReplicas", tags=["brokers"], responses=serializer_of(Replicas))
    def get(self, request: Request, cluster: str, broker: str) -> Response:
        """Return who is master, and how far the others are behind."""
        return Response(as_json(reading.read(cluster, broker)))
