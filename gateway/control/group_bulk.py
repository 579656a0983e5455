"""Many groups paused, resumed or deleted by one request."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from drf_spectacular.utils import extend_schema
from msgspec.structs import replace
from rest_framework.request import Request
from rest_framework.response import Response

from broker_core.client.admin.groups import Group
from console.accounts.permissions import actor_of, needs
from console.clusters import operations
from console.clusters.outcomes import BrokerOutcome
from console.lag import current
from console.lag.group_state import config_of, delivery_of
from console.lag.shapes import GroupConfig, GroupSummary
from console.shapes import serializer_of
from gateway.control.bulk import PARAMETERS, BulkView
from gateway.control.group_bulk_shapes import BulkGroup, BulkGroups, GroupNamesSerializer

_ANSWER: Final = serializer_of(BulkGroups)
_RESPONSES: Final = {200: _ANSWER, 207: _ANSWER}


class _BulkView(BulkView[Group, BulkGroup]):
    listed = "group"

    def refused(self, name: str, why: str) -> BulkGroup:
        return BulkGroup(name=name, outcome="refused", reason=why)

    def why_not(self, name: str, known: Group | None) -> str | None:
        if known is None:
            return f"no broker that answers has a group {name!r}"
        return f"{name!r} belongs to the brokers" if known.is_built_in else None

    def version_of(self, known: Group) -> object:
        return _config(known)

    def with_figures(self, items: Sequence[BulkGroup]) -> list[BulkGroup]:
        figures = {summary.name: summary for summary in current.groups(self.cluster)}
        shown = (replace(item, topics=self.sight.topics_of(item.name, item.topics)) for item in items)
        return [_with_figures(item, figures) for item in shown]

    def _apply(self, change: Callable[[Group], Sequence[BrokerOutcome]]) -> Response:
        form = GroupNamesSerializer(data=self.request.data)
        form.is_valid(raise_exception=True)
        return self.apply(form.validated_data["groups"], self._groups, _plan, change)

    def _groups(self) -> Mapping[str, Group]:
        return self.ask(lambda admin: admin.groups.list()).raise_if_none().found


class BulkPauseView(_BulkView):
    """The end of delivery to many groups."""

    permission_classes = (needs("manage"),)
    verb = "manage"

    @extend_schema(
        operation_id="pauseGroups",
        tags=["groups"],
        parameters=PARAMETERS,
        request=GroupNamesSerializer,
        responses=_RESPONSES,
    )
    def post(self, request: Request, cluster: str) -> Response:
        """Stop the delivery to up to 200 groups; 207 if not all were paused."""
        return self._apply(_switch(request, cluster, {"consume_enable": False}))


class BulkResumeView(_BulkView):
    """The start of delivery to many groups."""

    permission_classes = (needs("manage"),)
    verb = "manage"

    @extend_schema(
        operation_id="resumeGroups",
        tags=["groups"],
        parameters=PARAMETERS,
        request=GroupNamesSerializer,
        responses=_RESPONSES,
    )
    def post(self, request: Request, cluster: str) -> Response:
        """Deliver to up to 200 groups again; 207 if not all were resumed."""
        return self._apply(_switch(request, cluster, {"consume_enable": True}))


class BulkDeleteView(_BulkView):
    """The deletion of many groups."""

    permission_classes = (needs("delete"),)
    verb = "delete"

    @extend_schema(
        operation_id="deleteGroups",
        tags=["groups"],
        parameters=PARAMETERS,
        request=GroupNamesSerializer,
        responses=_RESPONSES,
    )
    def post(self, request: Request, cluster: str) -> Response:
        """Delete settings and offsets of up to 200 groups, their dead letters stay; 207 if not all were deleted."""
        actor = actor_of(request)
        return self._apply(lambda group: operations.delete_group(actor, cluster, group))


def _switch(request: Request, cluster: str, settings: Mapping[str, bool]) -> Callable[[Group], Sequence[BrokerOutcome]]:
    actor = actor_of(request)
    return lambda group: operations.change_group(actor, cluster, group, settings)


def _config(group: Group) -> GroupConfig | None:
    return None if group.config is None else config_of(group.config)


def _plan(group: Group) -> BulkGroup:
    enabled = {"on": True, "paused": False}.get(delivery_of(group) or "")
    return BulkGroup(name=group.name, outcome="planned", consume_enabled=enabled, topics=list(group.topics))


def _with_figures(item: BulkGroup, figures: Mapping[str, GroupSummary]) -> BulkGroup:
    known = figures.get(item.name)
    if item.outcome != "planned" or known is None:
        return item
    return replace(
        item,
        clients=known.clients,
        lease_consumers=None if known.lease_consumers is None else len(known.lease_consumers),
        leases=known.leases,
        lag=known.lag,
    )
