"""JSON shapes of users, tokens and the caller."""

from __future__ import annotations

from typing import Any, Final, Literal, get_args

from django.utils import timezone
from msgspec import Struct
from rest_framework import serializers

from console.accounts.models import Role, RoleChoice, Token, User
from console.accounts.rights import SCOPE_FORM, Verb, is_scope
from console.accounts.usernames import fault_of
from console.etags import etag
from console.fields import EachOnceField, MomentField, NameField

Language = Literal["en", "zh"]
LANGUAGES = list(get_args(Language))
MAX_OWN_ROLES: Final = 20


class LoginSerializer(serializers.Serializer[Any]):
    """Name and password."""

    username = serializers.CharField(max_length=150)
    password = serializers.CharField(max_length=1000, trim_whitespace=False, style={"input_type": "password"})


class Me(Struct, frozen=True, kw_only=True):
    """The caller and the caller's rights."""

    id: int
    username: str
    role: RoleChoice | None
    """The built-in role."""
    own_roles: list[str]
    rights: list[Verb]
    language: Language | None
    token_auth: bool


class MeChangeSerializer(serializers.Serializer[Any]):
    """The fields that users may change about themselves."""

    language = serializers.ChoiceField(LANGUAGES, allow_null=True)


class PasswordSerializer(serializers.Serializer[Any]):
    """The current password and the new one."""

    current = serializers.CharField(max_length=1000, trim_whitespace=False)
    new = serializers.CharField(max_length=1000, trim_whitespace=False)


def user_tag(user: User) -> str:
    """Return the tag of the fields of a user that can be changed."""
    return etag([user.pk, user.role, user.is_active, user.names_of_own_roles])


class UserSerializer(serializers.ModelSerializer[User]):
    """A user, as admins see it."""

    id = serializers.IntegerField()
    etag = serializers.SerializerMethodField(help_text="For If-Match.")
    role = serializers.ChoiceField(
        RoleChoice.choices,
        source="built_in_role",
        allow_null=True,
        help_text="The built-in role; null if the user has only others.",
    )
    own_roles = serializers.ListField(
        child=serializers.CharField(),
        source="names_of_own_roles",
        help_text="Names of the roles that are not built in.",
    )
    created_at = MomentField(source="date_joined")
    last_login_at = MomentField(source="last_login", allow_null=True)

    class Meta:
        model = User
        fields = ("id", "username", "role", "own_roles", "is_active", "created_at", "last_login_at", "etag")
        read_only_fields = fields

    def get_etag(self, user: User) -> str:
        """Return the tag of the fields that can be changed."""
        return user_tag(user)


class OwnRolesField(EachOnceField):
    """Names of roles that are not built in."""

    def __init__(self, **options: Any) -> None:
        super().__init__(child=serializers.CharField(max_length=64), max_length=MAX_OWN_ROLES, **options)

    def to_internal_value(self, data: Any) -> list[Role]:
        """Return the roles; refuse a name that no role has, or that is given twice."""
        names = super().to_internal_value(data)
        found = {role.name: role for role in Role.objects.filter(name__in=names)}
        for index, name in enumerate(names):
            if name not in found:
                raise serializers.ValidationError({str(index): f"there is no role {name!r} of one's own"})
        return list(found.values())


class UserCreateSerializer(serializers.Serializer[Any]):
    """A user to add."""

    username = serializers.RegexField(r"^[\w.@+-]+\Z", max_length=150)
    password = serializers.CharField(max_length=1000, trim_whitespace=False)
    role = serializers.ChoiceField(
        RoleChoice.choices, required=False, allow_null=True, default=None, help_text="A built-in role."
    )
    own_roles = OwnRolesField(required=False, default=list)

    def validate(self, values: dict[str, Any]) -> dict[str, Any]:
        """Refuse a user without a role."""
        if not values["role"] and not values["own_roles"]:
            raise serializers.ValidationError({"role": "is required, unless own_roles names a role"})
        return values

    def validate_username(self, username: str) -> str:
        """Refuse a name that looks like another one."""
        fault = fault_of(username)
        if fault is not None:
            raise serializers.ValidationError(fault)
        return username


class UserChangeSerializer(serializers.Serializer[Any]):
    """The fields of a user to change; missing ones stay."""

    role = serializers.ChoiceField(RoleChoice.choices, required=False, allow_null=True)
    own_roles = OwnRolesField(required=False)
    is_active = serializers.BooleanField(required=False)
    password = serializers.CharField(max_length=1000, trim_whitespace=False, required=False)
    end_sessions = serializers.BooleanField(
        default=False, help_text="Sign the user out everywhere; a new password always does this."
    )
    revoke_tokens = serializers.BooleanField(default=False, help_text="Revoke all tokens of the user.")


class TokenSerializer(serializers.ModelSerializer[Token]):
    """A token, without its text, which only its holder has."""

    id = serializers.IntegerField()
    user = serializers.CharField(source="user.username")
    scopes = serializers.ListField(child=serializers.CharField())
    prefix = serializers.CharField()
    expires_at = MomentField(allow_null=True)
    last_used_at = MomentField(allow_null=True)
    last_used_address = serializers.CharField(help_text="From where; empty if it is not known.")
    created_at = MomentField()

    class Meta:
        model = Token
        fields: tuple[str, ...] = (
            "id", "name", "user", "scopes", "prefix", "expires_at", "last_used_at", "last_used_address", "created_at"
        )  # fmt: skip
        read_only_fields: tuple[str, ...] = fields


class NewTokenSerializer(TokenSerializer):
    """A new token with its text, which is shown only once."""

    token = serializers.CharField()

    class Meta(TokenSerializer.Meta):
        fields: tuple[str, ...] = (*TokenSerializer.Meta.fields, "token")
        read_only_fields: tuple[str, ...] = fields


class TokenCreateSerializer(serializers.Serializer[Any]):
    """A token to create; without scopes it has all rights of its user."""

    name = NameField(max_length=100)
    scopes = EachOnceField(
        child=serializers.CharField(max_length=200), required=False, allow_empty=False, max_length=100
    )
    expires_at = MomentField(required=False, allow_null=True)

    def validate_scopes(self, scopes: list[str]) -> list[str]:
        """Refuse malformed scopes, and scopes beyond the role of the user."""
        allowed = self.context["rights"]
        for index, scope in enumerate(scopes):
            if not is_scope(scope):
                raise serializers.ValidationError({str(index): f"{scope!r} is not a scope; {SCOPE_FORM}"})
            if scope.partition(":")[0] not in allowed:
                raise serializers.ValidationError({str(index): f"{scope!r} exceeds your own rights"})
        return scopes

    def validate_expires_at(self, expires_at: Any) -> Any:
        """Refuse a moment that has passed."""
        if expires_at is not None and expires_at <= timezone.now():
            raise serializers.ValidationError("is in the past")
        return expires_at


class TicketSerializer(serializers.Serializer[Any]):
    """A ticket that opens one WebSocket within a minute."""

    ticket = serializers.CharField()
    expires_at = MomentField()
