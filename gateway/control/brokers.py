"""The brokers of a cluster: their settings."""

from __future__ import annotations

from typing import Any, Final

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from console.accounts.permissions import actor_of, needs
from console.brokers import settings
from console.brokers.settings import BrokerName, Read
from console.brokers.shapes import BrokerSettings, SettingsChanged, SettingsPreview
from console.clusters.change_lock import change_lock
from console.etags import IF_MATCH, match, tagged
from console.query import number_of
from console.shapes import as_json, serializer_of
from gateway.control.cluster_view import ClusterScopedView, WholeClusterView

MAX_AT_ONCE: Final = 100
_BROKER_ID: Final = OpenApiParameter(
    "broker_id", int, default=0, description="Which process of this name: 0 is the master."
)


class SettingsField(serializers.DictField):
    """Texts by the name of their setting."""

    def __init__(self) -> None:
        super().__init__(child=serializers.CharField(max_length=4_000), allow_empty=False)

    def to_internal_value(self, data: Any) -> Any:
        """Return the texts; refuse more than `MAX_AT_ONCE`."""
        if len(data) > MAX_AT_ONCE:
            raise serializers.ValidationError(f"at most {MAX_AT_ONCE} settings at once; {len(data)} are given")
        return super().to_internal_value(data)


class SettingsChangeSerializer(serializers.Serializer[Any]):
    """Settings to change."""

    settings = SettingsField()


class BrokerSettingsView(WholeClusterView):
    """The settings of a broker."""

    permission_classes = (needs("read", to_change="admin"),)

    @extend_schema(
        operation_id="getBrokerSettings",
        tags=["brokers"],
        parameters=[_BROKER_ID],
        responses=serializer_of(BrokerSettings),
    )
    def get(self, request: Request, cluster: str, broker: str) -> Response:
        """Return all settings of a broker."""
        return tagged(as_json(settings.shown(self._read(broker))))

    @extend_schema(
        operation_id="updateBrokerSettings",
        tags=["brokers"],
        parameters=[IF_MATCH, _BROKER_ID],
        request=SettingsChangeSerializer,
        responses={200: serializer_of(SettingsChanged), 207: serializer_of(SettingsChanged)},
    )
    def patch(self, request: Request, cluster: str, broker: str) -> Response:
        """Change settings of a broker and read them back; 207 if it kept the value of some."""
        form = SettingsChangeSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        with change_lock(cluster, "brokers", broker):
            found = self._read(broker)
            match(request, {"etag": found.tag})
            changed = settings.change(actor_of(request), found, form.validated_data["settings"])
        is_ignored = any(each.result == "ignored" for each in changed.changes)
        return tagged(as_json(changed), status=207 if is_ignored else 200)

    def _read(self, broker: str) -> Read:
        return read_settings(self, broker)


class BrokerSettingsPreviewView(WholeClusterView):
    """What a change of a broker's settings would do."""

    permission_classes = (needs("admin"),)

    @extend_schema(
        operation_id="previewBrokerSettings",
        tags=["brokers"],
        parameters=[_BROKER_ID],
        request=SettingsChangeSerializer,
        responses=serializer_of(SettingsPreview),
    )
    def post(self, request: Request, cluster: str, broker: str) -> Response:
        """Check a change of settings against a broker without making it."""
        form = SettingsChangeSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        return Response(as_json(settings.preview(read_settings(self, broker), form.validated_data["settings"])))


def read_settings(view: ClusterScopedView, broker: str) -> Read:
    """Ask the broker of the request for its settings."""
    broker_id = number_of(view.request, "broker_id", 0, high=2**31 - 1)
    return settings.read(BrokerName(view.cluster, broker, broker_id or 0))
