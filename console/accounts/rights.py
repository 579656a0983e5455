"""The rights: verbs, kinds of resources, the verbs of the built-in roles, and the scopes of a token. Pure; no Django.

A scope is a verb, ``"produce"``, or a verb and a pattern of names, ``"produce:orders-*"``: the pattern is matched
against the topic or group of the action. An action on anything else, such as a job, the audit or a list of everything
(`EVERYTHING`), needs the bare verb. Consuming touches two names, so ``"consume:orders@billing-*"`` says with which
groups a topic may be consumed; without ``@`` any group is allowed. A token never exceeds the role of its user.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from fnmatch import fnmatchcase
from typing import Final, Literal, NamedTuple, get_args

from broker_core.protocol.topics import NAME

Verb = Literal["produce", "consume", "read", "bodies", "manage", "offsets", "redrive", "delete", "jobs", "admin"]
"""`read` shows what there is and the attributes of messages; `bodies` bodies and properties of stored messages. A
consumer sees what it receives without it."""
Role = Literal["admin", "operator", "developer", "viewer"]


Kind = Literal["topic", "group", "job", "schedule", "cluster"]


class Unnamed(Enum):
    """Resources without a name; a separate type, so that no name or pattern can be confused with them."""

    EVERYTHING = "everything"
    ANYTHING = "anything"


EVERYTHING: Final = Unnamed.EVERYTHING
"""The resource of an action that touches all names at once, or none."""
ANYTHING: Final = Unnamed.ANYTHING
"""Asks whether a verb is allowed on any name, before the name is known."""


class Resource(NamedTuple):
    """What a verb is done to: a topic, group, schedule or cluster by its name, a job by its type."""

    kind: Kind
    name: str | Unnamed


VERBS: Final[tuple[Verb, ...]] = get_args(Verb)
ROLES: Final[tuple[Role, ...]] = get_args(Role)

ROLE_VERBS: Final[Mapping[str, frozenset[str]]] = {
    "admin": frozenset(VERBS),
    "operator": frozenset(VERBS) - {"admin"},
    "developer": frozenset({"produce", "consume", "read", "bodies"}),
    "viewer": frozenset({"read"}),
}


SCOPE_FORM: Final = (
    f"expected a verb ({', '.join(VERBS)}), verb:pattern (characters of names, '*' and '?') or consume:topic@group; "
    "admin takes no pattern"
)
# In a pattern `*` stands for any number of the characters of names, `?` for one.
_WILDCARDS: Final = str.maketrans("", "", "*?")


def is_scope(text: str) -> bool:
    """Return whether `text` is a verb, or a verb and a pattern of names; `admin` takes no pattern."""
    verb, colon, pattern = text.partition(":")
    if verb not in VERBS:
        return False
    if not colon:
        return True
    name, at, group = pattern.partition("@")
    if verb == "admin" or (at and (verb != "consume" or not _is_pattern(group))):
        return False
    return _is_pattern(name)


def _is_pattern(text: str) -> bool:
    rest = text.translate(_WILDCARDS)
    return NAME.fullmatch(rest) is not None if rest else bool(text)


def covers(scope: str, verb: str, resource: Resource | Unnamed, group: str | None) -> bool:
    """Return whether a scope of a token allows `verb` on `resource`; for consuming with the group `group`."""
    allowed, colon, pattern = scope.partition(":")
    if allowed != verb:
        return False
    if not colon:
        return True
    if verb == "admin":
        return False
    if isinstance(resource, Unnamed):
        return resource is ANYTHING
    if resource.kind not in ("topic", "group") or isinstance(resource.name, Unnamed):
        return resource.kind in ("topic", "group") and resource.name is ANYTHING
    name, at, groups = pattern.partition("@")
    if at and (verb != "consume" or group is None or not fnmatchcase(group, groups)):
        return False
    return fnmatchcase(resource.name, name)
