"""Decides what a caller may: by the rules of the caller's roles, narrowed by the scopes of a token. Pure; no Django."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Final, Literal, NamedTuple, get_args

from broker_core.protocol.topics import DEAD_LETTER_PREFIX, RETRY_PREFIX, WITH_ALL_TOPICS
from console.accounts.rights import ANYTHING, EVERYTHING, VERBS, Kind, Resource, Unnamed, Verb, covers
from console.accounts.rules import BUILT_IN, KIND_VERBS, KINDS, RoleRules, Rule, expression

Outcome = Literal["decides", "agrees", "overruled", "other_verb", "other_name"]
OUTCOMES: Final = get_args(Outcome)
_KEPT: Final = 4096
_OF_GROUPS: Final = (RETRY_PREFIX, DEAD_LETTER_PREFIX)
# What a group could not get rid of is the group's, whatever may be done to topics by their names. A message that is
# stored there goes to the group alone.
_ON_THE_GROUP: Final[Mapping[Verb, Verb]] = {
    "read": "read",
    "bodies": "bodies",
    "produce": "redrive",
    "consume": "consume",
    "manage": "manage",
    "delete": "delete",
}


class Weighed(NamedTuple):
    """A rule of a role, or the scopes of a token (`rule` is None), and what it meant for a question."""

    role: str
    number: int
    """The place of the rule in its role, from 1; 0 for the scopes of a token."""
    rule: Rule | None
    effect: Literal["allow", "refuse", "none"]
    outcome: Outcome


class Decision(NamedTuple):
    """An answer, the rule that decided (None: no rule allows it), and all rules of the kind as they were weighed."""

    allowed: bool
    by: Weighed | None
    weighed: tuple[Weighed, ...]


class _Sides:
    """The rules for one verb on one kind: those that refuse it, and those that allow it."""

    def __init__(self, roles: Iterable[RoleRules], kind: Kind, verb: Verb) -> None:
        rules = [rule for role in roles for rule in role.rules if rule.kind == kind]
        refusing = [rule for rule in rules if verb in rule.refuse]
        allowing = [rule for rule in rules if verb in rule.allow]
        self._refused = re.compile(expression(refusing)) if refusing else None
        self._allowed = re.compile(expression(allowing))
        self.allows_all = not refusing and any(rule.is_whole for rule in allowing)
        refused = {part for rule in refusing for part in rule.parts}
        is_none_left = any(rule.is_whole for rule in refusing)
        self.allows_some = not is_none_left and any(part not in refused for rule in allowing for part in rule.parts)
        """Whether some name may be left: a rule that refuses some names does not refuse all."""

    def allows(self, name: str) -> bool:
        """Return whether a rule allows the name and none refuses it."""
        if self.allows_all:
            return True
        if self._refused is not None and self._refused.fullmatch(name):
            return False
        return self._allowed.fullmatch(name) is not None


class Rights:
    """The roles of a caller with their rules, and the scopes of the token (None: no token).

    Immutable; make it with `rights_of`, which compiles equal ones once.
    """

    def __init__(self, roles: tuple[RoleRules, ...], scopes: tuple[str, ...] | None) -> None:
        self.roles = roles
        self.scopes = scopes
        self._sides = {(kind, verb): _Sides(roles, kind, verb) for kind in KINDS for verb in KIND_VERBS[kind]}

    def may(self, verb: Verb, resource: Resource | Unnamed = ANYTHING, *, group: str | None = None) -> bool:
        """Return whether `verb` is allowed on `resource`; for consuming that is the topic, and `group` the group."""
        if not self.roles_allow(verb, resource):
            return False
        if is_of_all_topics(resource) and not self._all("topic", verb):
            return False
        if not all(self.roles_allow(*each) for each in of_groups(verb, resource, group=group)):
            return False
        return self.scopes is None or _cover(self.scopes, verb, resource, group)

    def verbs(self) -> list[Verb]:
        """Return the verbs, in their fixed order, that are allowed on at least some resource."""
        return [verb for verb in VERBS if self.may(verb)]

    def decide(self, verb: Verb, resource: Resource, *, group: str | None = None) -> Decision:
        """Return the answer for a named resource, with the rules in the order in which they are weighed."""
        decision = self._decide_by_roles(verb, resource)
        for also, concerned in of_groups(verb, resource, group=group):
            if decision.allowed:
                of_group = self._decide_by_roles(also, concerned)
                decision = Decision(of_group.allowed, of_group.by, (*decision.weighed, *of_group.weighed))
        if decision.allowed and is_of_all_topics(resource) and not self._all("topic", verb):
            decision = self._refused_by_another(verb, decision)
        if self.scopes is None:
            return decision
        is_covered = _cover(self.scopes, verb, resource, group)
        outcome: Outcome = "agrees" if is_covered else "decides" if decision.allowed else "other_name"
        token = Weighed("", 0, None, "allow" if is_covered else "none", outcome)
        allowed = decision.allowed and is_covered
        by = token if decision.allowed and not is_covered else decision.by
        return Decision(allowed, by, (*decision.weighed, token))

    def roles_allow(self, verb: Verb, resource: Resource | Unnamed) -> bool:
        """Return whether the roles allow `verb` on this resource, whatever it demands of groups besides."""
        if resource is ANYTHING:
            return any(self._some(kind, verb) for kind in KINDS)
        if resource is EVERYTHING:
            return all(self._all(kind, verb) for kind in _kinds_of_everything(verb))
        assert isinstance(resource, Resource)
        kind, name = resource
        if name is ANYTHING:
            return self._some(kind, verb)
        if name is EVERYTHING:
            return self._all(kind, verb)
        assert isinstance(name, str)
        sides = self._sides.get((kind, verb))
        return sides is not None and sides.allows(name)

    def _some(self, kind: Kind, verb: Verb) -> bool:
        sides = self._sides.get((kind, verb))
        return sides is not None and sides.allows_some

    def _all(self, kind: Kind, verb: Verb) -> bool:
        sides = self._sides.get((kind, verb))
        if sides is None or not sides.allows_all:
            return False
        return kind != "topic" or verb not in _ON_THE_GROUP or self._all("group", _ON_THE_GROUP[verb])

    def _refused_by_another(self, verb: Verb, decision: Decision) -> Decision:
        """Return the refusal of what is allowed by its own name only; a rule that refuses another name decides."""
        kinds: list[tuple[Kind, Verb]] = [("topic", verb), ("group", _ON_THE_GROUP.get(verb, verb))]
        refusing = (
            Weighed(role, number, rule, "refuse", "decides")
            for kind, also in kinds
            for role, number, rule in self._numbered(kind)
            if also in rule.refuse
        )
        by = next(refusing, None)
        others = [
            each._replace(outcome="overruled") if each.outcome in ("decides", "agrees") else each
            for each in decision.weighed
            if by is None or each.rule is not by.rule
        ]
        return Decision(False, by, (*([] if by is None else [by]), *others))

    def _decide_by_roles(self, verb: Verb, resource: Resource) -> Decision:
        name = resource.name
        assert isinstance(name, str)
        matching, others = [], []
        for role, number, rule in self._numbered(resource.kind):
            effect: Literal["allow", "refuse", "none"] = (
                "refuse" if verb in rule.refuse else "allow" if verb in rule.allow else "none"
            )
            if not rule.matches(name):
                others.append(Weighed(role, number, rule, effect, "other_name"))
            elif effect == "none":
                others.append(Weighed(role, number, rule, effect, "other_verb"))
            else:
                matching.append(Weighed(role, number, rule, effect, "agrees"))
        matching.sort(key=lambda each: each.effect != "refuse")
        if not matching:
            return Decision(False, None, tuple(others))
        wins = matching[0].effect
        rest = [each._replace(outcome="agrees" if each.effect == wins else "overruled") for each in matching[1:]]
        by = matching[0]._replace(outcome="decides")
        return Decision(wins == "allow", by, (by, *rest, *others))

    def _numbered(self, kind: Kind) -> Iterator[tuple[str, int, Rule]]:
        for role in self.roles:
            for number, rule in enumerate(role.rules, start=1):
                if rule.kind == kind:
                    yield role.name, number, rule


@lru_cache(maxsize=_KEPT)
def _compiled(roles: tuple[RoleRules, ...], scopes: tuple[str, ...] | None) -> Rights:
    return Rights(roles, scopes)


def rights_of(role: str, own: Iterable[RoleRules] = (), scopes: Iterable[str] | None = None) -> Rights:
    """Return the rights of a user with a built-in role (empty: none) and roles of one's own, narrowed by scopes."""
    built_in = BUILT_IN.get(role)
    roles = (*([] if built_in is None else [built_in]), *own)
    return _compiled(roles, None if scopes is None else tuple(scopes))


def of_groups(verb: Verb, resource: Resource | Unnamed, *, group: str | None = None) -> list[tuple[Verb, Resource]]:
    """Return what must be allowed on groups too: on the one that consumes, and on the one whose topic it is."""
    found: list[tuple[Verb, Resource]] = [] if group is None else [(verb, Resource("group", group))]
    owner = _owner_of(resource)
    if owner is not None and verb in _ON_THE_GROUP:
        found.append((_ON_THE_GROUP[verb], Resource("group", owner)))
    return found


def is_of_all_topics(resource: Resource | Unnamed) -> bool:
    """Return whether a topic of the broker is meant in which messages of every topic and group lie.

    Whoever may do something to it could do that to all of them, so it takes the right on all of them.
    """
    return isinstance(resource, Resource) and resource.kind == "topic" and resource.name in WITH_ALL_TOPICS


def _cover(scopes: Iterable[str], verb: Verb, resource: Resource | Unnamed, group: str | None) -> bool:
    """Return whether one of a token's scopes allows a verb; on what is of all topics only one that names none."""
    if is_of_all_topics(resource):
        resource = Resource("topic", EVERYTHING)
    return any(covers(scope, verb, resource, group) for scope in scopes)


def _owner_of(resource: Resource | Unnamed) -> str | None:
    """Return the group whose retries or dead letters a topic holds; None for any other resource."""
    if not isinstance(resource, Resource) or resource.kind != "topic":
        return None
    name = resource.name
    if not isinstance(name, str) or not name.startswith(_OF_GROUPS):
        return None
    return name.split("%", 2)[2] or None


def _kinds_of_everything(verb: Verb) -> list[Kind]:
    """Return the kinds of what a view of everything shows; jobs and schedules have views of their own."""
    every = [kind for kind in KINDS if verb in KIND_VERBS[kind]]
    return [kind for kind in every if kind not in ("job", "schedule")] or every
