"""A new group with the settings and offsets of another one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Final

from drf_spectacular.utils import extend_schema
from msgspec import Meta
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from console.accounts.permissions import actor_of, needs, require
from console.accounts.rights import ANYTHING, Resource
from console.clusters.change_lock import change_lock
from console.lag import current
from console.offsets.cloning import ClonedTopic, clone
from console.offsets.shapes import UnknownQueues
from console.shapes import as_json, serializer_of
from gateway.control.cluster_view import ClusterScopedView
from gateway.control.group_shapes import GROUP_NAME, GroupChanged, refuse_reserved


class GroupCloned(GroupChanged, kw_only=True):
    """A group that was made like another one, with the outcome on each broker and in each topic."""

    offsets: Annotated[Sequence[ClonedTopic], Meta(description="By topic; empty if none were to be copied.")]
    unknown: Annotated[Sequence[UnknownQueues], Meta(description="Brokers that did not tell the offsets to copy.")]


class GroupCloneSerializer(serializers.Serializer[Any]):
    """The group to make."""

    name = serializers.RegexField(GROUP_NAME)
    offsets = serializers.BooleanField(default=True, help_text="Let it begin where the other group is.")

    def validate_name(self, name: str) -> str:
        """Refuse names that brokers reserve."""
        return refuse_reserved(name)


_CLONED: Final = serializer_of(GroupCloned)


class GroupCloneView(ClusterScopedView):
    """A group like the one in the path, which the caller must be able to read."""

    permission_classes = (needs("read"),)
    resource_argument = "group"

    def check_permissions(self, request: Request) -> None:
        """Check also that the caller may make a group; which one is known when the request is read."""
        super().check_permissions(request)
        require(request, "manage", Resource("group", ANYTHING))

    @extend_schema(
        operation_id="cloneGroup",
        tags=["groups"],
        request=GroupCloneSerializer,
        responses={201: _CLONED, 207: _CLONED},
    )
    def post(self, request: Request, cluster: str, group: str) -> Response:
        """Create a group with the settings of another one and at its offsets; retries and dead letters stay."""
        form = GroupCloneSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        name, with_offsets = form.validated_data["name"], form.validated_data["offsets"]
        require(request, "manage", Resource("group", name))
        if with_offsets:
            require(request, "offsets", Resource("group", name))
        with change_lock(cluster, "groups", name), change_lock(cluster, "offsets", name):
            made = clone(
                actor_of(request),
                cluster,
                group,
                name,
                with_offsets=with_offsets,
                seen=lambda topics: self.sight.topics_of(group, topics),
            )
        present = as_json(self.sight.group(current.group(cluster, name)))
        shown = {
            **present,
            "topics_hidden": present["topics_hidden"] or made.topics_hidden,
            "brokers": as_json(made.brokers),
            "offsets": as_json(made.topics),
            "unknown": as_json(made.unknown),
        }
        return Response(shown, status=201 if made.is_whole else 207)
