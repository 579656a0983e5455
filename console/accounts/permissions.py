"""DRF permissions from the rights of role and token, and the actor of a request in the audit."""

from __future__ import annotations

from functools import cache
from typing import Any

from rest_framework.exceptions import PermissionDenied
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from console.accounts.addresses import address_of
from console.accounts.deciding import Rights, rights_of
from console.accounts.explaining import refusal_of
from console.accounts.models import Token, User
from console.accounts.rights import ANYTHING, EVERYTHING, Resource, Unnamed, Verb
from console.audit.record import Actor


class SignedIn(BasePermission):
    """Anyone who is authenticated."""

    def has_permission(self, request: Request, view: Any) -> bool:
        """Return whether the request is authenticated."""
        return isinstance(request.user, User)


class SignedInInPerson(SignedIn):
    """A session, or a token that may administer: any other token could extend its own rights."""

    message = "This needs a session, or a token with the scope 'admin'."

    def has_permission(self, request: Request, view: Any) -> bool:
        """Return whether the request comes from a session or from a token that may administer."""
        return super().has_permission(request, view) and (request.auth is None or allows(request, "admin", EVERYTHING))


class Right(BasePermission):
    """A verb on the resource that the view's `right_resource()` returns; a view without it touches everything."""

    verb: Verb = "admin"
    verb_to_change: Verb | None = None
    verb_to_delete: Verb | None = None

    def has_permission(self, request: Request, view: Any) -> bool:
        """Return whether role and token allow the verb of this method on the view's resource."""
        verb = self.verb
        if self.verb_to_change is not None and request.method not in ("GET", "HEAD", "OPTIONS"):
            verb = self.verb_to_change
        if self.verb_to_delete is not None and request.method == "DELETE":
            verb = self.verb_to_delete
        name = getattr(view, "right_resource", None)
        resource = name() if callable(name) else EVERYTHING
        if allows(request, verb, resource):
            return True
        if isinstance(request.user, User):
            self.message = refusal_of(rights_of_request(request), verb, resource)
        return False


@cache
def needs(verb: Verb, *, to_change: Verb | None = None, to_delete: Verb | None = None) -> type[Right]:
    """Return a permission that requires `verb`, or for other methods than reading, and for DELETE, the verbs given."""
    name = "Needs" + "Or".join(each.title() for each in (verb, to_change, to_delete) if each)
    verbs = {"verb": verb, "verb_to_change": to_change, "verb_to_delete": to_delete}
    return type(name, (Right,), {**verbs, "__doc__": f"Requires {verb!r}."})


def rights_of_request(request: Request) -> Rights:
    """Return the rights of the request's user and token; those of a stranger allow nothing."""
    known = getattr(request, "rights", None)
    if isinstance(known, Rights):
        return known
    user, token = request.user, request.auth
    if not isinstance(user, User):
        return rights_of("")
    scopes = token.scopes if isinstance(token, Token) else None
    found = rights_of(user.role, user.rules_of_own_roles, scopes)
    # Reading the roles once is enough for one request.
    request.rights = found  # type: ignore[attr-defined]
    return found


def allows(request: Request, verb: Verb, resource: Resource | Unnamed = ANYTHING) -> bool:
    """Return whether the request's user and token allow `verb` on `resource`."""
    return rights_of_request(request).may(verb, resource)


def require(request: Request, verb: Verb, resource: Resource | Unnamed) -> None:
    """Raise PermissionDenied unless the request's user and token allow `verb` on `resource`."""
    if not allows(request, verb, resource):
        raise PermissionDenied(refusal_of(rights_of_request(request), verb, resource))


def actor_of(request: Request) -> Actor:
    """Return the actor that the audit records for the changes of this request."""
    user = request.user
    token = request.auth if isinstance(request.auth, Token) else None
    return Actor(
        name=user.get_username() or "anonymous",
        user_id=user.pk,
        token=None if token is None else token.name,
        request_id=getattr(request, "request_id", ""),
        address=address_of(request),
        token_key="" if token is None else token.key,
    )
