"""Says in a sentence why a caller may do something or not: in every 403, and as the answer to a question."""

from __future__ import annotations

from console.accounts.deciding import Decision, Rights, is_of_all_topics, of_groups
from console.accounts.rights import Resource, Unnamed, Verb

_SHOWN = 5


def refusal_of(rights: Rights, verb: Verb, resource: Resource | Unnamed, *, group: str | None = None) -> str:
    """Return the detail of a 403: the right, the resource and the rule that decided."""
    if isinstance(resource, Resource) and isinstance(resource.name, str):
        if is_of_all_topics(resource) and rights.roles_allow(verb, resource):
            return _of_all_topics(rights, verb, resource)
        verb, resource = _what_lacks(rights, verb, resource)
        # The type of a job may be a member of its enumeration, whose repr is no name.
        on = f"{resource.kind} {str(resource.name)!r}" + ("" if group is None else f" with group {group!r}")
        return f"This needs the right {verb!r} on {on}. {reason_of(rights, rights.decide(verb, resource, group=group))}"
    return f"This needs the right {verb!r} {_on_many(resource)}. {_of_many(rights, verb, resource)}"


def _of_all_topics(rights: Rights, verb: Verb, resource: Resource) -> str:
    reason = reason_of(rights, rights.decide(verb, resource))
    return f"{str(resource.name)!r} has messages of every topic: this needs the right {verb!r} on all of them. {reason}"


def _what_lacks(rights: Rights, verb: Verb, resource: Resource) -> tuple[Verb, Resource]:
    """Return the right on the group whose retries or dead letters a topic holds, if it is that one that is missing."""
    for demand in of_groups(verb, resource):
        if rights.roles_allow(verb, resource) and not rights.roles_allow(*demand):
            return demand
    return verb, resource


def reason_of(rights: Rights, decision: Decision) -> str:
    """Return which rule decided, and that none allows it if there is none."""
    by = decision.by
    if by is None:
        return f"No rule of {_roles(rights)} allows it, and what no rule allows is refused."
    if by.rule is None:
        return f"The scopes of the token do not cover it: {_scopes(rights)}."
    rule = f"Rule {by.number} of the role {by.role!r} ({by.rule})"
    if by.effect == "refuse":
        return f"{rule} refuses it; a refusal wins over every permission."
    return f"{rule} allows it."


def _on_many(resource: Resource | Unnamed) -> str:
    if isinstance(resource, Resource):
        return f"on {'some' if resource.name is Unnamed.ANYTHING else 'every'} {resource.kind}"
    return "on anything" if resource is Unnamed.ANYTHING else "on everything"


def _of_many(rights: Rights, verb: Verb, resource: Resource | Unnamed) -> str:
    if rights.scopes is not None and Rights(rights.roles, None).may(verb, resource):
        return f"The scopes of the token do not cover it: {_scopes(rights)}."
    return f"The rules of {_roles(rights)} do not allow it."


def _roles(rights: Rights) -> str:
    names = [repr(role.name) for role in rights.roles]
    return f"the role{'s' if len(names) > 1 else ''} {', '.join(names)}" if names else "no role"


def _scopes(rights: Rights) -> str:
    scopes = rights.scopes or ()
    return ", ".join(scopes[:_SHOWN]) + (f" and {len(scopes) - _SHOWN} more" if len(scopes) > _SHOWN else "")
