"""Who may do what: verbs, the verbs of each role, and the scopes of a token. Pure; knows no Django.

A scope is a verb, ``"produce"``, or a verb and a pattern of names, ``"produce:orders-*"``: the pattern is matched
against the topic, group or other resource that the act touches. A token never exceeds the role of its user.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Final, Literal, get_args

Verb = Literal["produce", "consume", "read", "manage", "jobs", "admin"]
Role = Literal["admin", "operator", "developer", "viewer"]

VERBS: Final[tuple[Verb, ...]] = get_args(Verb)
ROLES: Final[tuple[Role, ...]] = get_args(Role)

ROLE_VERBS: Final[Mapping[str, frozenset[str]]] = {
    "admin": frozenset(VERBS),
    "operator": frozenset({"produce", "consume", "read", "manage", "jobs"}),
    "developer": frozenset({"produce", "consume", "read"}),
    "viewer": frozenset({"read"}),
}


def may(role: str, scopes: Iterable[str] | None, verb: str, resource: str = "") -> bool:
    """Return whether the role, narrowed by a token's scopes (None: no token), allows `verb` on `resource`.

    With `resource` empty the question is whether the verb is allowed on anything at all.
    """
    if verb not in ROLE_VERBS.get(role, frozenset()):
        return False
    return scopes is None or any(_covers(scope, verb, resource) for scope in scopes)


def rights(role: str, scopes: Iterable[str] | None = None) -> list[str]:
    """Return the verbs, in their fixed order, that the role and the scopes allow on at least some resource."""
    kept = None if scopes is None else tuple(scopes)
    return [verb for verb in VERBS if may(role, kept, verb)]


def is_scope(text: str) -> bool:
    """Return whether `text` is a verb, or a verb and a pattern that is not empty."""
    verb, colon, pattern = text.partition(":")
    return verb in VERBS and (not colon or bool(pattern))


def _covers(scope: str, verb: str, resource: str) -> bool:
    allowed, colon, pattern = scope.partition(":")
    if allowed != verb:
        return False
    return not colon or not resource or fnmatchcase(resource, pattern)
