"""Questions about rights over HTTP: may this user do that, by which rule, and what does a pattern cover now?"""

from __future__ import annotations

from typing import Any, Final

import msgspec
from drf_spectacular.utils import extend_schema
from msgspec import Struct
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from console.accounts.coverage import Covered, covered
from console.accounts.deciding import Outcome, Rights, Weighed
from console.accounts.explaining import reason_of
from console.accounts.models import Token, User
from console.accounts.permissions import SignedIn, allows, require, rights_of_request
from console.accounts.rights import EVERYTHING, VERBS, Resource
from console.accounts.role_shapes import NAME_FORM, PatternSerializer, RulesField
from console.accounts.rules import BUILT_IN, KIND_VERBS, KINDS, RoleRules, Rule
from console.api_view import ApiView
from console.rows import row_of
from console.shapes import as_json, serializer_of

_TAGS = ["access"]
_MOST_PATTERNS: Final = 100
_WHY: Final[dict[Outcome, str]] = {
    "decides": "decides",
    "agrees": "says the same",
    "overruled": "a refusal wins over it",
    "other_verb": "says nothing about this right",
    "other_name": "does not match",
}


class WeighedRule(Struct, frozen=True, kw_only=True):
    """A rule, and what it meant for the answer."""

    role: str | None
    """Null: the scopes of the token."""
    number: int | None
    text: str
    allow: list[str]
    refuse: list[str]
    outcome: Outcome
    why: str


class AccessAnswer(Struct, frozen=True, kw_only=True):
    """Whether somebody may do something, and why."""

    allowed: bool
    reason: str
    user: str
    token: str | None
    roles: list[str]
    decided_by: WeighedRule | None
    """Null: no rule allows it, and what no rule allows is refused."""
    weighed: list[WeighedRule]
    """In the order in which they were weighed: refusals, permissions, then those that did not matter."""


class UnsavedSerializer(serializers.Serializer[Any]):
    """A role with rules that are not saved."""

    role = serializers.RegexField(NAME_FORM)
    rules = RulesField()


class AccessQuestionSerializer(serializers.Serializer[Any]):
    """Somebody, a right, and what it is for; without `user` and `token` it is about the caller."""

    user = serializers.CharField(max_length=150, required=False)
    token = serializers.IntegerField(min_value=1, required=False, help_text="The id of a token.")
    verb = serializers.ChoiceField(VERBS)
    kind = serializers.ChoiceField(KINDS)
    resource = serializers.CharField(max_length=255, help_text="A name; for a job its type.")
    group = serializers.CharField(
        max_length=255, required=False, help_text="For consuming a topic: the group to consume it with."
    )
    unsaved = UnsavedSerializer(required=False, help_text="Answer as if the role had these rules.")

    def validate(self, values: dict[str, Any]) -> dict[str, Any]:
        """Refuse two subjects, and a right that means nothing for the kind."""
        if "user" in values and "token" in values:
            raise serializers.ValidationError({"token": "cannot be combined with user"})
        known = KIND_VERBS[values["kind"]]
        if values["verb"] not in known:
            raise serializers.ValidationError(
                {"verb": f"means nothing for a {values['kind']}; it has {', '.join(known)}"}
            )
        if "group" in values and (values["verb"], values["kind"]) != ("consume", "topic"):
            raise serializers.ValidationError({"group": "belongs to the question whether a topic may be consumed"})
        return values


class CoverageSerializer(serializers.Serializer[Any]):
    """Patterns."""

    patterns = serializers.ListField(child=PatternSerializer(), min_length=1, max_length=_MOST_PATTERNS)


class Coverage(Struct, frozen=True, kw_only=True):
    """What patterns cover now, in their order."""

    items: list[Covered]


class AccessCheckView(ApiView):
    """A question about rights."""

    permission_classes = (SignedIn,)
    answer_ms = 0

    @extend_schema(
        operation_id="checkAccess",
        tags=_TAGS,
        request=AccessQuestionSerializer,
        responses=serializer_of(AccessAnswer),
    )
    def post(self, request: Request) -> Response:
        """Say whether somebody may do something, and which rule decides; `admin` may ask about others."""
        form = AccessQuestionSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        asked = form.validated_data
        user, token = _subject(request, asked)
        rights = _rights(request, asked, user, token)
        decision = rights.decide(asked["verb"], Resource(asked["kind"], asked["resource"]), group=asked.get("group"))
        answer = AccessAnswer(
            allowed=decision.allowed,
            reason=reason_of(rights, decision),
            user=user.get_username(),
            token=None if token is None else token.name,
            roles=[role.name for role in rights.roles],
            decided_by=None if decision.by is None else _shown(decision.by, rights),
            weighed=[_shown(each, rights) for each in decision.weighed],
        )
        return Response(as_json(answer))


class CoverageView(ApiView):
    """What patterns cover."""

    permission_classes = (SignedIn,)
    answer_ms = 0

    @extend_schema(
        operation_id="coverPatterns", tags=_TAGS, request=CoverageSerializer, responses=serializer_of(Coverage)
    )
    def post(self, request: Request) -> Response:
        """Say how many names that the caller may read a pattern covers now, over all clusters, with the first ten."""
        form = CoverageSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        patterns = [Rule(each["kind"], each["pattern"]) for each in form.validated_data["patterns"]]
        return Response(as_json(Coverage(items=covered(patterns, rights_of_request(request)))))


def _subject(request: Request, asked: dict[str, Any]) -> tuple[User, Token | None]:
    """Return whom the question is about; raise PermissionDenied unless that is the caller, or the caller may admin."""
    caller = request.user
    assert isinstance(caller, User)
    if "token" in asked:
        mine = Token.objects.select_related("user")
        token = row_of(mine if allows(request, "admin", EVERYTHING) else mine.filter(user=caller), asked["token"])
        return token.user, token
    if asked.get("user", caller.get_username()) == caller.get_username():
        return caller, request.auth if isinstance(request.auth, Token) and "user" not in asked else None
    require(request, "admin", Resource("cluster", EVERYTHING))
    return row_of(User.objects.filter(username=asked["user"])), None


def _rights(request: Request, asked: dict[str, Any], user: User, token: Token | None) -> Rights:
    own = user.rules_of_own_roles
    if "unsaved" in asked:
        require(request, "admin", Resource("cluster", EVERYTHING))
        changed = RoleRules(asked["unsaved"]["role"], tuple(msgspec.convert(asked["unsaved"]["rules"], list[Rule])))
        own = tuple(changed if role.name == changed.name else role for role in own)
    built_in = BUILT_IN.get(user.role)
    roles = (*([] if built_in is None else [built_in]), *own)
    # Not kept like those of callers: unsaved rules are asked about only once.
    return Rights(roles, None if token is None else tuple(token.scopes))


def _shown(each: Weighed, rights: Rights) -> WeighedRule:
    rule = each.rule
    return WeighedRule(
        role=each.role or None,
        number=each.number or None,
        text=", ".join(rights.scopes or ()) if rule is None else str(rule),
        allow=[] if rule is None else list(rule.allow),
        refuse=[] if rule is None else list(rule.refuse),
        outcome=each.outcome,
        why=_WHY[each.outcome],
    )
