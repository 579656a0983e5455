"""Roles over HTTP."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from console.accounts import roles
from console.accounts.models import Role
from console.accounts.permissions import actor_of, needs
from console.accounts.rights import ROLES
from console.accounts.role_shapes import (
    RoleChangeSerializer,
    RoleCreateSerializer,
    RoleList,
    RoleState,
    all_kinds,
    built_in_state,
    role_state,
    role_tag,
)
from console.api_view import ApiView
from console.errors import Conflict, NotKnown
from console.etags import IF_MATCH, locked, tagged
from console.shapes import as_json, serializer_of

_TAGS = ["access"]
_ROLE = serializer_of(RoleState)


class RolesView(ApiView):
    """All roles."""

    permission_classes = (needs("admin"),)

    @extend_schema(operation_id="listRoles", tags=_TAGS, responses=serializer_of(RoleList))
    def get(self, request: Request) -> Response:
        """List the roles with their rules and members: the built-in ones, then the others by name."""
        items = [*map(built_in_state, ROLES), *map(role_state, Role.objects.all())]
        return Response(as_json(RoleList(items=items, kinds=all_kinds())))

    @extend_schema(operation_id="createRole", tags=_TAGS, request=RoleCreateSerializer, responses={201: _ROLE})
    def post(self, request: Request) -> Response:
        """Add a role; give it to users by `own_roles` of the user."""
        form = RoleCreateSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        return tagged(as_json(role_state(roles.add_role(actor_of(request), **form.validated_data))), status=201)


class RoleView(ApiView):
    """One role."""

    permission_classes = (needs("admin"),)

    @extend_schema(operation_id="getRole", tags=_TAGS, responses=_ROLE)
    def get(self, request: Request, role: str) -> Response:
        """Return a role."""
        if role in ROLES:
            return tagged(as_json(built_in_state(role)))
        found = Role.objects.filter(name=role).first()
        if found is None:
            raise NotKnown(f"There is no role {role[:60]!r}.")
        return tagged(as_json(role_state(found)))

    @extend_schema(
        operation_id="updateRole", parameters=[IF_MATCH], tags=_TAGS, request=RoleChangeSerializer, responses=_ROLE
    )
    def patch(self, request: Request, role: str) -> Response:
        """Change description or rules of a role; whoever has it has the new rights within five seconds."""
        _refuse_built_in(role)
        form = RoleChangeSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        with locked(request, Role.objects.filter(name=role), role_tag) as present:
            changed = roles.change_role(actor_of(request), present, form.validated_data)
        return tagged(as_json(role_state(changed)))

    @extend_schema(operation_id="deleteRole", parameters=[IF_MATCH], tags=_TAGS, responses={204: None})
    def delete(self, request: Request, role: str) -> Response:
        """Remove a role that nobody has."""
        _refuse_built_in(role)
        with locked(request, Role.objects.filter(name=role), role_tag) as present:
            roles.remove_role(actor_of(request), present)
        return Response(status=204)


def _refuse_built_in(role: str) -> None:
    if role in ROLES:
        raise Conflict(f"The role {role!r} is built in and cannot be changed; make a copy of it.")
