"""Many groups paused, resumed or deleted by one request: one preview for all, then an outcome for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from drf_spectacular.utils import OpenApiParameter, extend_schema
from msgspec.structs import replace
from rest_framework.request import Request
from rest_framework.response import Response

from broker_core.client.admin.groups import Group
from broker_core.errors import GantryError
from console import etags
from console.accounts.explaining import refusal_of
from console.accounts.permissions import actor_of, allows, needs, rights_of_request
from console.accounts.rights import Resource, Verb
from console.clusters import operations
from console.clusters.change_lock import change_lock
from console.clusters.outcomes import BrokerOutcome
from console.clusters.reasons import reason_of
from console.errors import Conflict
from console.lag import current
from console.lag.group_state import config_of
from console.lag.shapes import GroupConfig, GroupSummary
from console.query import flag_of
from console.shapes import as_json, serializer_of
from gateway.control.cluster_view import ClusterListView
from gateway.control.group_bulk_shapes import BulkGroup, BulkGroups, GroupNamesSerializer

_ANSWER: Final = serializer_of(BulkGroups)
_RESPONSES: Final = {200: _ANSWER, 207: _ANSWER}
_PARAMETERS: Final = [
    OpenApiParameter("dry_run", bool, description="Only return what the change would hit."),
    OpenApiParameter(
        "If-Match", str, OpenApiParameter.HEADER, description="The ETag of the dry run, or `*`; needed for the change."
    ),
]

Change = Callable[[Group], tuple[BrokerOutcome, ...]]


class _BulkView(ClusterListView):
    """A change of many groups; those that the caller may not change are refused one by one."""

    listed = "group"
    verb: Verb

    def _apply(self, change: Change) -> Response:
        form = GroupNamesSerializer(data=self.request.data)
        form.is_valid(raise_exception=True)
        names = form.validated_data["groups"]
        found = self.ask(lambda admin: admin.groups.list()).raise_if_none().found
        plans = {name: self._planned(name, found.get(name)) for name in names}
        wanted = [found[name] for name in names if plans[name].outcome == "planned"]
        tag = [(group.name, _config(group)) for group in wanted]
        if flag_of(self.request, "dry_run"):
            figures = {summary.name: summary for summary in current.groups(self.cluster)}
            items = [_with_figures(plan, figures) for plan in plans.values()]
            return Response(as_json(BulkGroups(items)), headers={"ETag": etags.etag(tag)})
        etags.check(self.request, tag)
        made = {group.name: self._made(plans[group.name], group, change) for group in wanted}
        items = [made.get(name, plans[name]) for name in names]
        return Response(
            as_json(BulkGroups(items)), status=200 if all(each.outcome == "done" for each in items) else 207
        )

    def _planned(self, name: str, group: Group | None) -> BulkGroup:
        resource = Resource("group", name)
        if not allows(self.request, self.verb, resource):
            why = refusal_of(rights_of_request(self.request), self.verb, resource)
            return BulkGroup(name=name, outcome="refused", reason=why)
        if group is None:
            return BulkGroup(name=name, outcome="refused", reason=f"no broker that answers has a group {name!r}")
        if group.is_built_in:
            return BulkGroup(name=name, outcome="refused", reason=f"{name!r} belongs to the brokers")
        config = _config(group)
        enabled = None if config is None else config.consume_enabled
        return BulkGroup(name=name, outcome="planned", consume_enabled=enabled, topics=list(group.topics))

    def _made(self, plan: BulkGroup, group: Group, change: Change) -> BulkGroup:
        try:
            with change_lock(self.cluster, "groups", group.name):
                outcomes = change(group)
        except GantryError as error:
            return replace(plan, outcome="failed", reason=reason_of(error))
        except Conflict as error:
            return replace(plan, outcome="failed", reason=str(error.detail))
        whole = all(outcome.done for outcome in outcomes)
        return replace(plan, outcome="done" if whole else "partial", brokers=outcomes)


class BulkPauseView(_BulkView):
    """The end of delivery to many groups."""

    permission_classes = (needs("manage"),)
    verb = "manage"

    @extend_schema(
        operation_id="pauseGroups",
        tags=["groups"],
        parameters=_PARAMETERS,
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
        parameters=_PARAMETERS,
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
        parameters=_PARAMETERS,
        request=GroupNamesSerializer,
        responses=_RESPONSES,
    )
    def post(self, request: Request, cluster: str) -> Response:
        """Delete settings and offsets of up to 200 groups, their dead letters stay; 207 if not all were deleted."""
        actor = actor_of(request)
        return self._apply(lambda group: operations.delete_group(actor, cluster, group))


def _switch(request: Request, cluster: str, settings: Mapping[str, bool]) -> Change:
    actor = actor_of(request)
    return lambda group: operations.change_group(actor, cluster, group, settings)


def _config(group: Group) -> GroupConfig | None:
    return None if group.config is None else config_of(group.config)


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
