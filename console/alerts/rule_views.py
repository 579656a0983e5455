"""Rules over HTTP."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from console.accounts.permissions import actor_of, allows, needs
from console.accounts.rights import ANYTHING, Resource, Unnamed
from console.alerts import now, rules
from console.alerts.fields import check_cluster
from console.alerts.models import Rule
from console.alerts.preview import RulePreview, preview
from console.alerts.rule_shapes import RuleLimitsSerializer, RuleSerializer, RuleWriteSerializer
from console.alerts.rules import rule_tag
from console.alerts.visibility import OfSomeNames, check_visible, visible_figures, visible_rules
from console.clusters.models import Cluster
from console.etags import IF_MATCH, locked, match, tagged
from console.paging import PAGE_PARAMETERS, page_of, page_queryset
from console.redis_client import store
from console.rows import row_of
from console.shapes import as_json, serializer_of

RulePage = page_of(RuleSerializer)
_TAGS = ["alerts"]


class RulesView(OfSomeNames):
    """All rules."""

    permission_classes = (needs("read", to_change="manage"),)

    @extend_schema(operation_id="listAlertRules", tags=_TAGS, parameters=PAGE_PARAMETERS, responses=RulePage)
    def get(self, request: Request) -> Response:
        """List the alert rules, the newest first."""
        rows = visible_rules(request, Rule.objects.all())
        page = page_queryset(request, rows.prefetch_related("channels"))
        items = list(RuleSerializer(page.items, many=True, context=_figures(request, page.items)).data)
        return Response(as_json(replace(page.of(items), total=rows.count())))

    @extend_schema(
        operation_id="createAlertRule", tags=_TAGS, request=RuleWriteSerializer, responses={201: RuleSerializer}
    )
    def post(self, request: Request) -> Response:
        """Create an alert rule."""
        form = RuleWriteSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        check_cluster(form.validated_data["cluster"])
        return tagged(RuleSerializer(rules.add(actor_of(request), form.validated_data)).data, status=201)


class RuleView(OfSomeNames):
    """One rule."""

    permission_classes = (needs("read", to_change="manage"),)

    @extend_schema(operation_id="getAlertRule", tags=_TAGS, responses=RuleSerializer)
    def get(self, request: Request, rule_id: str) -> Response:
        """Return an alert rule."""
        rule = _visible(request, rule_id)
        return tagged(RuleSerializer(rule, context=_figures(request, [rule])).data)

    @extend_schema(
        operation_id="updateAlertRule",
        tags=_TAGS,
        parameters=[IF_MATCH],
        request=RuleWriteSerializer,
        responses=RuleSerializer,
    )
    def patch(self, request: Request, rule_id: str) -> Response:
        """Change, enable or disable an alert rule."""
        rule = _visible(request, rule_id)
        match(request, RuleSerializer(rule).data)
        form = RuleWriteSerializer(rule, data=request.data, partial=True)
        form.is_valid(raise_exception=True)
        # A rule whose cluster was removed can still be disabled.
        if (cluster := form.validated_data.get("cluster", rule.cluster)) != rule.cluster:
            check_cluster(cluster)
        with locked(request, Rule.objects.filter(pk=rule_id), rule_tag) as present:
            rule = rules.change(actor_of(request), present, form.validated_data)
        return tagged(RuleSerializer(rule).data)

    @extend_schema(operation_id="deleteAlertRule", tags=_TAGS, parameters=[IF_MATCH], responses={204: None})
    def delete(self, request: Request, rule_id: str) -> Response:
        """Remove an alert rule and its alerts."""
        _visible(request, rule_id)
        with locked(request, Rule.objects.filter(pk=rule_id), rule_tag) as rule:
            rules.remove(actor_of(request), rule)
        return Response(status=204)


class PreviewRuleView(OfSomeNames):
    """A rule that is not kept."""

    permission_classes = (needs("read"),)

    def right_resource(self) -> Unnamed:
        """Return anything: the preview has the subjects that the caller may read."""
        return ANYTHING

    @extend_schema(
        operation_id="previewAlertRule",
        tags=_TAGS,
        request=RuleLimitsSerializer,
        responses=serializer_of(RulePreview),
    )
    def post(self, request: Request) -> Response:
        """Return when a rule would have fired within the last day; nothing is kept."""
        form = RuleLimitsSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        may_read = lambda kind, name: allows(request, "read", Resource(kind, name))  # noqa: E731 - its types are those of `preview`
        return Response(as_json(preview(form.validated_data, may_read)))


def _visible(request: Request, rule_id: str) -> Rule:
    return check_visible(request, row_of(Rule.objects.all(), rule_id))


def _figures(request: Request, rules: Iterable[Rule]) -> dict[str, Any]:
    """Return what these rules show now, for the serializer."""
    clusters = list(Cluster.objects.values_list("name", flat=True))
    return {"figures": visible_figures(request, now.read(store(), clusters), rules)}
