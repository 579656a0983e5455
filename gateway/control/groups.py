"""Consumer groups: list, create, change, delete; lag now and over time, members, subscriptions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NoReturn

from drf_spectacular.utils import OpenApiParameter, extend_schema
from msgspec.structs import replace
from rest_framework.request import Request
from rest_framework.response import Response

from broker_core.client.admin.groups import Group
from broker_core.client.errors import GroupNotFound, Unreachable
from broker_core.clock import now_ms
from broker_core.protocol.bodies.groups import Connection
from broker_core.protocol.codes import ResponseCode
from broker_core.protocol.versions import version_name
from console import etags
from console.accounts.permissions import actor_of, require
from console.accounts.rights import Resource
from console.clusters import operations
from console.clusters.change_lock import change_lock
from console.clusters.outcomes import PartlyDeleted
from console.errors import Conflict
from console.lag import current
from console.lag.group_state import config_of, delivery_of
from console.lag.shapes import GroupConfig, GroupState, GroupSummary, LagHistory, LeaseConsumerState
from console.moments import rfc3339
from console.paging import PAGE_PARAMETERS, page_of, page_sequence
from console.shapes import as_json, serializer_of
from gateway.control.cluster_view import (
    RANGE,
    ClusterListView,
    ClusterScopedView,
    deleted,
    range_of,
    sorted_rows,
    with_outcomes,
)
from gateway.control.group_members import asked_members
from gateway.control.group_shapes import (
    GroupChanged,
    GroupChangeSerializer,
    GroupClient,
    GroupClients,
    GroupCreateSerializer,
)
from gateway.control.messages import missing_of

_CHANGED: Final = serializer_of(GroupChanged)
GroupPage = page_of(serializer_of(GroupSummary))
SORTABLE: Final = (
    "name", "state", "clients", "lag", "lag_per_second", "time_lag_ms", "in_rate", "out_rate", "drain_eta_ms", "leases",
    "dead_letters", "delivery",
)  # fmt: skip
_BROKER_NAMES: Final = {"consume_enabled": "consume_enable", "consume_broadcast_enabled": "consume_broadcast_enable"}


class GroupsView(ClusterListView):
    """All consumer groups of a cluster."""

    listed = "group"

    @extend_schema(
        operation_id="listGroups",
        tags=["groups"],
        parameters=[
            *PAGE_PARAMETERS,
            OpenApiParameter("search", str, description="A part of the name, in any case."),
            OpenApiParameter("sort", str, description=f"{', '.join(SORTABLE)}; - before a name: descending."),
        ],
        responses=GroupPage,
    )
    def get(self, request: Request, cluster: str) -> Response:
        """List consumer groups with their lag."""
        part = request.query_params.get("search", "").lower()
        rows = [group for group in self.sight.groups(current.groups(cluster)) if part in group.name.lower()]
        page = page_sequence(request, sorted_rows(request, rows, SORTABLE), key=lambda row: row.name)
        current.note_shown(cluster, groups=[row.name for row in page.items])
        return Response(as_json(page))

    @extend_schema(
        operation_id="createGroup",
        tags=["groups"],
        request=GroupCreateSerializer,
        responses={201: _CHANGED, 207: _CHANGED},
    )
    def post(self, request: Request, cluster: str) -> Response:
        """Create a consumer group on every broker of the cluster that lacks it."""
        form = GroupCreateSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        wanted = dict(form.validated_data)
        name = wanted.pop("name")
        require(request, "manage", Resource("group", name))
        with change_lock(cluster, "groups", name):
            outcomes = operations.create_group(actor_of(request), cluster, name, _for_brokers(wanted))
        return with_outcomes(Response(as_json(self.sight.group(current.group(cluster, name)))), outcomes, status=201)


class GroupView(ClusterScopedView):
    """One consumer group."""

    resource_argument = "group"

    @extend_schema(operation_id="getGroup", tags=["groups"], responses=serializer_of(GroupState))
    def get(self, request: Request, cluster: str, group: str) -> Response:
        """Return a consumer group, queue by queue."""
        current.note_shown(cluster, groups=[group])
        sampled = current.find_group(cluster, group)
        if sampled is not None and sampled.missing:
            # Asking a silent broker again would only make the reader wait.
            return _shown(self.sight.group(sampled))
        try:
            found = self._found(group)
        except (GroupNotFound, Unreachable):
            # The group may be remembered for a broker that does not answer.
            remembered = current.group(cluster, group)
            if not remembered.missing:
                raise
            return _shown(self.sight.group(remembered))
        return self._answer(found)

    @extend_schema(
        operation_id="updateGroup",
        parameters=[etags.IF_MATCH],
        tags=["groups"],
        request=GroupChangeSerializer,
        responses={200: _CHANGED, 207: _CHANGED},
    )
    def patch(self, request: Request, cluster: str, group: str) -> Response:
        """Change settings of a consumer group."""
        with change_lock(cluster, "groups", group):
            found = self._found(group)
            etags.check(request, *_configs(found))
            form = GroupChangeSerializer(data=request.data)
            form.is_valid(raise_exception=True)
            wanted = _for_brokers(form.validated_data)
            outcomes = operations.change_group(actor_of(request), cluster, found, wanted)
            return with_outcomes(self._answer(self._found(group)), outcomes)

    @extend_schema(
        operation_id="deleteGroup",
        parameters=[etags.IF_MATCH],
        tags=["groups"],
        responses={204: None, 207: serializer_of(PartlyDeleted)},
    )
    def delete(self, request: Request, cluster: str, group: str) -> Response:
        """Delete the settings and offsets of a consumer group; its dead letters stay."""
        with change_lock(cluster, "groups", group):
            found = operations.find_group(cluster, group) or self._raise_not_found(group)
            if found.is_built_in:
                raise Conflict(f"{group!r} belongs to the brokers; it cannot be deleted.")
            if found.configs:
                etags.check(request, *_configs(found))
            else:
                etags.require(request)  # its settings are unknown now
            return deleted(group, operations.delete_group(actor_of(request), cluster, found))

    def _answer(self, found: Group) -> Response:
        """Return the group as sampled, with its current settings, on which the ETag is based."""
        shown = self.sight.group(_with_settings(current.group(self.cluster, found.name), found))
        return Response(as_json(shown), headers={"ETag": etags.etag(shown.config)})

    def _found(self, name: str) -> Group:
        return self.ask(lambda admin: admin.groups.find(name)) or self._raise_not_found(name)

    def _raise_not_found(self, name: str) -> NoReturn:
        code = ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST
        raise GroupNotFound(code, f"no consumer group is named {name!r}", self.cluster)


class _GroupSwitchView(ClusterScopedView):
    """Stops or starts the delivery to a group; repeating it changes nothing."""

    resource_argument = "group"

    def _switch(self, request: Request, *, enabled: bool) -> Response:
        name = str(self.kwargs["group"])
        with change_lock(self.cluster, "groups", name):
            found = self.ask(lambda admin: admin.groups.find(name))
            if found is None:
                code = ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST
                raise GroupNotFound(code, f"no consumer group is named {name!r}", self.cluster)
            if found.is_built_in:
                raise Conflict(f"{name!r} belongs to the brokers; it cannot be changed.")
            outcomes = operations.change_group(actor_of(request), self.cluster, found, {"consume_enable": enabled})
            after = self.ask(lambda admin: admin.groups.find(name))
        # A group whose last broker fell silent meanwhile has no settings to show.
        shown = _with_settings(current.group(self.cluster, name), after or Group(name))
        return with_outcomes(Response(as_json(self.sight.group(shown))), outcomes)


class GroupPauseView(_GroupSwitchView):
    """The end of delivery to a group."""

    @extend_schema(operation_id="pauseGroup", tags=["groups"], request=None, responses={200: _CHANGED, 207: _CHANGED})
    def post(self, request: Request, cluster: str, group: str) -> Response:
        """Stop the delivery to a group on every broker; what was delivered can still be settled."""
        return self._switch(request, enabled=False)


class GroupResumeView(_GroupSwitchView):
    """The start of delivery to a group."""

    @extend_schema(operation_id="resumeGroup", tags=["groups"], request=None, responses={200: _CHANGED, 207: _CHANGED})
    def post(self, request: Request, cluster: str, group: str) -> Response:
        """Deliver to a group again on every broker, from where it stopped."""
        return self._switch(request, enabled=True)


class LagHistoryView(ClusterScopedView):
    """Lag over time."""

    resource_argument = "group"

    @extend_schema(
        operation_id="getGroupHistory", tags=["groups"], parameters=[RANGE], responses=serializer_of(LagHistory)
    )
    def get(self, request: Request, cluster: str, group: str) -> Response:
        """Return the history of a group's lag."""
        return Response(as_json(current.group_history(cluster, group, range_of(request))))


class GroupClientsView(ClusterScopedView):
    """The members of a group."""

    resource_argument = "group"

    @extend_schema(operation_id="listGroupClients", tags=["groups"], responses=serializer_of(GroupClients))
    def get(self, request: Request, cluster: str, group: str) -> Response:
        """List the connected native clients of a group, and the callers that receive by lease."""
        state = current.group(cluster, group)
        asked, members = self.ask(lambda admin: asked_members(admin, group))
        owned = [queue.client for queue in state.queues]
        native = [_native_client(each, owned) for each in members.members.values()]
        shown = GroupClients(
            items=native + [_lease_client(each) for each in state.lease_consumers or ()],
            missing=missing_of(cluster, None, asked, members.failed),
            callers_known=state.lease_consumers is not None,
        )
        return Response(as_json(shown))


def _configs(group: Group) -> list[GroupConfig | None]:
    """Return the settings that If-Match may name: after a partial change the brokers differ."""
    return [config_of(config) for config in group.configs.values()] or [None]


def _native_client(member: Connection, owned: list[str | None]) -> GroupClient:
    return GroupClient(
        client_id=member.client_id,
        address=member.client_addr,
        language=member.language,
        version=version_name(member.version),
        protocol="native",
        queues=owned.count(member.client_id) if member.client_id in owned else None,
    )


def _lease_client(consumer: LeaseConsumerState) -> GroupClient:
    return GroupClient(
        client_id=consumer.caller,
        address=consumer.address,
        protocol="http_lease",
        user=consumer.user,
        since=consumer.since,
        in_flight=consumer.in_flight,
        last_receive_at=consumer.last_receive_at,
    )


def _shown(sampled: GroupState) -> Response:
    """Return a group as it is known, with an ETag if its settings are known."""
    headers = {} if sampled.config is None else {"ETag": etags.etag(sampled.config)}
    return Response(as_json(sampled), headers=headers)


def _with_settings(sampled: GroupState, found: Group) -> GroupState:
    """Return a group as sampled, with the settings that its brokers have now."""
    return replace(
        sampled,
        # Later than any sample that does not know these settings; the figures have a moment of their own.
        at=rfc3339(now_ms()),
        config=None if found.config is None else config_of(found.config),
        delivery=None if sampled.missing else delivery_of(found),
    )


def _for_brokers(settings: Mapping[str, Any]) -> dict[str, int]:
    """Return the settings under the names that the client gives them."""
    return {_BROKER_NAMES.get(name, name): value for name, value in settings.items()}
