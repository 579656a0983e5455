"""JSON shapes of roles and their rules."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from msgspec import Struct
from rest_framework import serializers

from broker_core.protocol.topics import NAME
from console.accounts.models import Role, User
from console.accounts.rights import ROLES, VERBS, Kind, Verb
from console.accounts.rules import BUILT_IN, KIND_VERBS, KINDS, MAX_PATTERN, MAX_RULES, Rule
from console.etags import etag
from console.shapes import as_json

NAME_FORM: Final = r"^[a-z0-9][a-z0-9_-]{0,63}\Z"
MAX_MEMBERS_SHOWN: Final = 100
_PRINTABLE: Final = re.compile(r"[^\x00-\x1f\x7f]+")


class KindVerbs(Struct, frozen=True):
    """A kind of resources, and the verbs that mean something for it."""

    kind: Kind
    verbs: list[Verb]


class RoleRule(Struct, frozen=True):
    """What a role allows and refuses on the names of a kind that match."""

    kind: Kind
    pattern: str
    allow: list[Verb]
    refuse: list[Verb]


class RoleState(Struct, frozen=True, kw_only=True):
    """A role: its rules, and who has it."""

    name: str
    description: str
    built_in: bool
    """Built-in roles cannot be changed; they can be copied."""
    rules: list[RoleRule]
    members: list[str]
    """User names, at most 100."""
    member_count: int
    etag: str


class RoleList(Struct, frozen=True, kw_only=True):
    """All roles, the built-in ones first."""

    items: list[RoleState]
    kinds: list[KindVerbs]


def all_kinds() -> list[KindVerbs]:
    """Return the kinds in their order."""
    return [KindVerbs(kind, list(KIND_VERBS[kind])) for kind in KINDS]


def built_in_state(name: str) -> RoleState:
    """Return a built-in role."""
    users = User.objects.filter(role=name).order_by("username")
    return RoleState(
        name=name,
        description="",
        built_in=True,
        rules=_shown(BUILT_IN[name].rules),
        members=list(users.values_list("username", flat=True)[:MAX_MEMBERS_SHOWN]),
        member_count=users.count(),
        etag=etag([name]),
    )


def role_state(role: Role) -> RoleState:
    """Return a role of one's own."""
    users = role.users.order_by("username")
    return RoleState(
        name=role.name,
        description=role.description,
        built_in=False,
        rules=_shown(role.compiled().rules),
        members=list(users.values_list("username", flat=True)[:MAX_MEMBERS_SHOWN]),
        member_count=users.count(),
        etag=role_tag(role),
    )


def role_tag(role: Role) -> str:
    """Return the tag of the fields of a role that can be changed."""
    return etag([role.name, role.description, as_json(list(role.compiled().rules))])


class PatternSerializer(serializers.Serializer[Any]):
    """A kind, and a pattern of its names."""

    kind = serializers.ChoiceField(KINDS)
    pattern = serializers.CharField(
        max_length=MAX_PATTERN,
        help_text="A name with `*` for any number of characters and `?` for one; several are separated by commas.",
    )

    def validate(self, values: dict[str, Any]) -> dict[str, Any]:
        """Refuse a pattern that no name can match."""
        for part in values["pattern"].split(","):
            fault = _fault_of(values["kind"], part.strip())
            if fault is not None:
                raise serializers.ValidationError({"pattern": fault})
        return values


class RuleSerializer(PatternSerializer):
    """What a role allows and refuses on the names that match."""

    allow = serializers.ListField(child=serializers.ChoiceField(VERBS), required=False, default=list, max_length=20)
    refuse = serializers.ListField(child=serializers.ChoiceField(VERBS), required=False, default=list, max_length=20)

    def validate(self, values: dict[str, Any]) -> dict[str, Any]:
        """Refuse verbs that mean nothing for the kind, and verbs that are allowed and refused at once."""
        known = KIND_VERBS[values["kind"]]
        for name in ("allow", "refuse"):
            for verb in values[name]:
                if verb not in known:
                    fault = f"{verb!r} means nothing for a {values['kind']}; it has {', '.join(known)}"
                    raise serializers.ValidationError({name: fault})
            values[name] = [verb for verb in known if verb in values[name]]
        both = [verb for verb in values["allow"] if verb in values["refuse"]]
        if both:
            raise serializers.ValidationError({"refuse": f"{both[0]!r} is allowed by the same rule"})
        return super().validate(values)


class RulesField(serializers.ListField):
    """The rules of a role, in their order."""

    def __init__(self, **options: Any) -> None:
        super().__init__(child=RuleSerializer(), max_length=MAX_RULES, **options)


class RoleCreateSerializer(serializers.Serializer[Any]):
    """A role to add."""

    name = serializers.RegexField(NAME_FORM, help_text="Lower-case letters, digits, `_` and `-`.")
    description = serializers.CharField(max_length=200, required=False, allow_blank=True, default="")
    rules = RulesField()

    def validate_name(self, name: str) -> str:
        """Refuse the names of the built-in roles."""
        if name in ROLES:
            raise serializers.ValidationError(f"{name!r} is built in")
        return name


class RoleChangeSerializer(serializers.Serializer[Any]):
    """The fields of a role to change; missing ones stay."""

    description = serializers.CharField(max_length=200, required=False, allow_blank=True)
    rules = RulesField(required=False)


def _shown(rules: Iterable[Rule]) -> list[RoleRule]:
    return [RoleRule(rule.kind, rule.pattern, list(rule.allow), list(rule.refuse)) for rule in rules]


def _fault_of(kind: str, part: str) -> str | None:
    rest = part.replace("*", "").replace("?", "")
    if not part:
        return "has an empty pattern between its commas"
    if not rest:
        return None
    if kind == "schedule":
        return None if _PRINTABLE.fullmatch(rest) else "contains a control character"
    if NAME.fullmatch(rest) is None:
        return f"{part[:60]!r} matches no name: names have letters, digits, '_', '-', '%' and '|'"
    return None
