"""Changes of roles of one's own, each written to the audit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from django.db import transaction

from console.accounts.models import Role
from console.audit.record import Actor, record
from console.errors import AlreadyExists, Conflict
from console.rows import unless_taken

MAX_ROLES: Final = 200


def add_role(by: Actor, *, name: str, description: str, rules: Sequence[Mapping[str, Any]]) -> Role:
    """Add a role; raise AlreadyExists, or Conflict if there are `MAX_ROLES`."""
    if Role.objects.count() >= MAX_ROLES:
        raise Conflict(f"There are {MAX_ROLES} roles, which is the most; remove one that nobody has.")
    with unless_taken(Role.objects.filter(name=name), AlreadyExists(f"A role {name!r} already exists.")):
        role = Role.objects.create(name=name, description=description, rules=list(rules))
        record(by, "role.create", f"roles/{name}", after=_state(role))
    return role


@transaction.atomic
def change_role(by: Actor, role: Role, changes: Mapping[str, Any]) -> Role:
    """Change description or rules; whoever has the role has the new rights within seconds."""
    before = _state(role)
    for name in ("description", "rules"):
        if name in changes:
            setattr(role, name, changes[name])
    role.save()
    record(by, "role.update", f"roles/{role.name}", before=before, after=_state(role))
    return role


@transaction.atomic
def remove_role(by: Actor, role: Role) -> None:
    """Remove a role; raise Conflict while somebody has it."""
    members = role.users.count()
    if members:
        raise Conflict(f"{members} users have the role {role.name!r}; give them another one first.")
    before = _state(role)
    role.delete()
    record(by, "role.delete", f"roles/{role.name}", before=before)


def _state(role: Role) -> dict[str, Any]:
    return {"description": role.description, "rules": role.rules}
