"""Definitions over HTTP."""

from __future__ import annotations

from typing import Final

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from console import etags
from console.accounts.permissions import needs
from console.accounts.rights import ANYTHING, Unnamed
from console.api_view import ApiView
from console.clusters.change_lock import change_lock
from console.clusters.connections import ClusterNotFound
from console.clusters.models import Cluster
from console.moments import rfc3339
from console.shapes import as_json, serializer_of
from gateway.control.definitions import of_cluster, of_console
from gateway.control.definitions.given import GivenSerializer, sections_of
from gateway.control.definitions.plan import Plan
from gateway.control.definitions.plan_shapes import DefinitionsApplied, DefinitionsPlan
from gateway.control.definitions.present import D, Present
from gateway.control.definitions.shapes import (
    FORMAT,
    SECTIONS,
    ClusterDefinitions,
    DefinitionsFile,
    Remark,
)

_TAGS: Final = ["definitions"]
_APPLIED: Final = serializer_of(DefinitionsApplied)
_FILTERS: Final = [
    OpenApiParameter("cluster", str, description="Only topics and groups of this cluster; without it, of all."),
    OpenApiParameter("sections", str, description=f"Only these, separated by commas: {', '.join(SECTIONS)}."),
]


class DefinitionsView(ApiView):
    """All definitions as one file."""

    permission_classes = (needs("read"),)

    def right_resource(self) -> Unnamed:
        """Return any resource: the file has what the caller may read."""
        return ANYTHING

    @extend_schema(
        operation_id="getDefinitions",
        tags=_TAGS,
        parameters=_FILTERS,
        responses=serializer_of(DefinitionsFile),
    )
    def get(self, request: Request) -> Response:
        """Return topics, groups, roles, schedules and alert rules as one file."""
        return Response(as_json(_Export(request).file()))


class _AboutFile(ApiView):
    """A request with a file; which rights its items need is decided one by one."""

    def right_resource(self) -> Unnamed:
        """Return any resource."""
        return ANYTHING

    def plan(self, request: Request) -> Plan:
        """Return the comparison of the file with what there is; raise ValidationError."""
        form = GivenSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        return Plan(request, sections_of(form))


class DefinitionsDiffView(_AboutFile):
    """What a file would change."""

    permission_classes = (needs("read"),)

    @extend_schema(
        operation_id="diffDefinitions",
        tags=_TAGS,
        request=GivenSerializer,
        responses=serializer_of(DefinitionsPlan),
    )
    def post(self, request: Request) -> Response:
        """Compare a file with what there is and return what it would change; the ETag is the one for applying it."""
        plan = self.plan(request).shown()
        return Response(as_json(plan), headers={"ETag": etags.etag(plan)})


class DefinitionsApplyView(_AboutFile):
    """The changes that a file describes."""

    permission_classes = (needs("manage"),)

    @extend_schema(
        operation_id="applyDefinitions",
        tags=_TAGS,
        parameters=[etags.IF_MATCH],
        request=GivenSerializer,
        responses={200: _APPLIED, 207: _APPLIED},
    )
    def post(self, request: Request) -> Response:
        """Create and change what a file describes, and remove nothing; 207 unless all of it was done."""
        etags.require(request)
        # Of several applications at once each sees what the earlier ones did.
        with change_lock("", "definitions", "definitions"):
            plan = self.plan(request)
            etags.check(request, plan.shown())
            applied = plan.apply()
        return Response(as_json(applied), status=200 if applied.counts.done == len(applied.items) else 207)


class _Export:
    """Collects the sections that the request asks for, and their remarks."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._sections = _sections_of(request)
        self._remarks: list[Remark] = []

    def file(self) -> DefinitionsFile:
        """Return the file."""
        clusters = [self._of_cluster(name) for name in _clusters_of(self._request)]
        wants = self._sections
        return DefinitionsFile(
            format=FORMAT,
            exported_at=rfc3339(int(timezone.now().timestamp() * 1000)),
            clusters=clusters if {"topics", "groups"} & wants else [],
            roles=self._said(of_console.roles(self._request)) if "roles" in wants else None,
            schedules=self._said(of_console.schedules(self._request)) if "schedules" in wants else None,
            alert_rules=self._said(of_console.alert_rules(self._request)) if "alert_rules" in wants else None,
            remarks=self._remarks,
        )

    def _of_cluster(self, name: str) -> ClusterDefinitions:
        wants = self._sections
        return ClusterDefinitions(
            name=name,
            topics=self._said(of_cluster.topics(self._request, name)) if "topics" in wants else None,
            groups=self._said(of_cluster.groups(self._request, name)) if "groups" in wants else None,
        )

    def _said(self, present: Present[D]) -> list[D] | None:
        self._remarks += present.remarks
        return present.in_order()


def _sections_of(request: Request) -> frozenset[str]:
    text = request.query_params.get("sections")
    wanted = frozenset(SECTIONS if text is None else text.split(","))
    if unknown := sorted(wanted - set(SECTIONS)):
        fault = f"{unknown[0][:60]!r} is not a section; there are {', '.join(SECTIONS)}"
        raise serializers.ValidationError({"sections": fault})
    return wanted


def _clusters_of(request: Request) -> list[str]:
    names = list(Cluster.objects.order_by("name").values_list("name", flat=True))
    wanted = request.query_params.get("cluster")
    if wanted is None:
        return names
    if wanted not in names:
        raise ClusterNotFound(wanted)
    return [wanted]
