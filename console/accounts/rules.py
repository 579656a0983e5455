"""The rules of roles: what a role allows and refuses, by kind and pattern of names. Pure; knows no Django.

A refusal wins over every permission, of whatever role, and what no rule allows is refused. A pattern is a name in which
`*` stands for any number of characters and `?` for one; several are separated by commas.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fnmatch import translate
from typing import Final, NamedTuple, get_args

from msgspec import Struct

from broker_core.structs import decoded
from console.accounts.rights import ROLE_VERBS, ROLES, Kind, Verb

KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
KIND_VERBS: Final[Mapping[Kind, tuple[Verb, ...]]] = {
    "topic": ("read", "bodies", "produce", "consume", "manage", "delete"),
    "group": ("read", "bodies", "consume", "offsets", "redrive", "manage", "delete"),
    "job": ("read", "jobs"),
    "schedule": ("read", "jobs"),
    "cluster": ("read", "manage", "admin"),
}
"""The verbs that mean something for a kind. To consume needs the verb on the topic and on the group."""

MAX_RULES: Final = 100
MAX_PATTERN: Final = 400


@decoded
class Rule(Struct, frozen=True):
    """What a role allows and refuses on the names of one kind that match a pattern."""

    kind: Kind
    pattern: str
    allow: tuple[Verb, ...] = ()
    refuse: tuple[Verb, ...] = ()

    def matches(self, name: str) -> bool:
        """Return whether the pattern covers a name; upper and lower case differ."""
        return re.fullmatch(expression([self]), name) is not None

    @property
    def parts(self) -> tuple[str, ...]:
        """The patterns, one by one."""
        return tuple(part.strip() for part in self.pattern.split(","))

    @property
    def is_whole(self) -> bool:
        """Whether the pattern covers every name."""
        return any(part and not part.strip("*") for part in self.parts)

    def __str__(self) -> str:
        return f"{self.kind} {self.pattern}"


def expression(rules: Iterable[Rule]) -> str:
    """Return a regular expression for the names that one of the rules covers; without a rule, for none."""
    # Only `*` and `?` have a meaning: a name of a schedule may contain a bracket.
    parts = [translate(part.replace("[", "[[]")) for rule in rules for part in rule.parts]
    return "|".join(parts) or r"(?!)"


class RoleRules(NamedTuple):
    """A role by its name, with its rules in their order."""

    name: str
    rules: tuple[Rule, ...]


def _built_in(name: str) -> RoleRules:
    allowed = ROLE_VERBS[name]
    verbs = {kind: tuple(verb for verb in KIND_VERBS[kind] if verb in allowed) for kind in KINDS}
    return RoleRules(name, tuple(Rule(kind, "*", verbs[kind]) for kind in KINDS if verbs[kind]))


BUILT_IN: Final[Mapping[str, RoleRules]] = {name: _built_in(name) for name in ROLES}
