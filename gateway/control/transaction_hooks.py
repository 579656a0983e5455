"""Transaction hooks: where brokers' checks of a producer group are posted (`gateway.transaction_checks` asks them)."""

from __future__ import annotations

from typing import Any, Final

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from console.accounts.permissions import actor_of, needs, require
from console.accounts.rights import EVERYTHING
from console.alerts.channel_views import MAX_OVERLAP_MS
from console.alerts.channels import OVERLAP_MS
from console.alerts.fields import WebhookUrlField
from console.clusters.connections import GATEWAY_GROUP
from console.etags import IF_MATCH, locked, match, tagged
from console.paging import PAGE_PARAMETERS, page_of, page_queryset
from console.rows import row_of
from console.shapes import as_json, serializer_of
from console.transaction_hooks import services
from console.transaction_hooks.models import TransactionHook
from console.transaction_hooks.shapes import TransactionHookState, hook_tag, shape_of
from gateway.control.cluster_view import ClusterScopedView
from gateway.control.group_shapes import GROUP_NAME, refuse_reserved

_TAGS: Final = ["transactions"]
_HOOK: Final = serializer_of(TransactionHookState, "TransactionHook")
_PAGE: Final = page_of(_HOOK)


class _HookFields(serializers.Serializer[Any]):
    url = WebhookUrlField(help_text="http or https.")
    secret = serializers.CharField(
        max_length=200, allow_blank=True, required=False, help_text="Signs the bodies that are posted."
    )
    enabled = serializers.BooleanField(default=True, help_text="If false, the gateway is no member of the group.")


class HookCreateSerializer(_HookFields):
    """A hook to create."""

    group = serializers.RegexField(GROUP_NAME, help_text="The producer group.")

    def validate_group(self, group: str) -> str:
        """Refuse groups of the system: their members answer no checks."""
        if group == GATEWAY_GROUP:
            raise serializers.ValidationError(f"{group!r} is the group of the gateway itself.")
        return refuse_reserved(group)


class HookChangeSerializer(_HookFields):
    """Fields of a hook to change; its group stays."""

    secret_overlap_ms = serializers.IntegerField(
        min_value=0,
        max_value=MAX_OVERLAP_MS,
        required=False,
        help_text=f"How long the former secret goes on signing beside the new one; by default {OVERLAP_MS:,}.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse an overlap of nothing."""
        if "secret_overlap_ms" in attrs and not attrs.get("secret"):
            raise serializers.ValidationError({"secret_overlap_ms": "belongs to a new secret"})
        return attrs


class _HooksView(ClusterScopedView):
    permission_classes = (needs("read", to_change="manage"),)

    def check_may_send(self) -> None:
        """Raise PermissionDenied unless the caller may do what a hook does: it gets bodies, and commits messages."""
        for verb in ("bodies", "produce"):
            require(self.request, verb, EVERYTHING)


class TransactionHooksView(_HooksView):
    """The hooks of a cluster."""

    @extend_schema(operation_id="listTransactionHooks", tags=_TAGS, parameters=PAGE_PARAMETERS, responses=_PAGE)
    def get(self, request: Request, cluster: str) -> Response:
        """List the transaction hooks, the newest first, with what came of their last check."""
        page = page_queryset(request, services.hooks_of(cluster))
        return Response(as_json(page.of([as_json(shape_of(hook)) for hook in page.items])))

    @extend_schema(
        operation_id="createTransactionHook", tags=_TAGS, request=HookCreateSerializer, responses={201: _HOOK}
    )
    def post(self, request: Request, cluster: str) -> Response:
        """Have a producer group's checks posted to a URL, which decides; needs `produce` and `bodies` too."""
        form = HookCreateSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        self.check_may_send()
        hook = services.add(actor_of(request), cluster, form.validated_data)
        return tagged(as_json(shape_of(hook)), status=201)


class TransactionHookView(_HooksView):
    """One hook."""

    @extend_schema(operation_id="getTransactionHook", tags=_TAGS, responses=_HOOK)
    def get(self, request: Request, cluster: str, hook_id: str) -> Response:
        """Return a transaction hook, with what came of its last check."""
        return tagged(as_json(shape_of(row_of(services.hooks_of(cluster), hook_id))))

    @extend_schema(
        operation_id="updateTransactionHook",
        tags=_TAGS,
        parameters=[IF_MATCH],
        request=HookChangeSerializer,
        responses=_HOOK,
    )
    def patch(self, request: Request, cluster: str, hook_id: str) -> Response:
        """Change, enable or disable a transaction hook; needs `produce` and `bodies` too."""
        match(request, as_json(shape_of(row_of(services.hooks_of(cluster), hook_id))))
        form = HookChangeSerializer(data=request.data, partial=True)
        form.is_valid(raise_exception=True)
        self.check_may_send()
        with locked(request, self._row(cluster, hook_id), hook_tag) as present:
            hook = services.change(actor_of(request), cluster, present, form.validated_data)
        return tagged(as_json(shape_of(hook)))

    @extend_schema(operation_id="deleteTransactionHook", tags=_TAGS, parameters=[IF_MATCH], responses={204: None})
    def delete(self, request: Request, cluster: str, hook_id: str) -> Response:
        """Delete a transaction hook; brokers ask the other members of the group, or nobody."""
        with locked(request, self._row(cluster, hook_id), hook_tag) as hook:
            services.remove(actor_of(request), cluster, hook)
        return Response(status=204)

    @staticmethod
    def _row(cluster: str, hook_id: str) -> Any:
        return TransactionHook.objects.filter(cluster__name=cluster, pk=hook_id)
