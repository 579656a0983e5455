"""What requests about the accounts of brokers take."""

from __future__ import annotations

import re
from typing import Any, Final

from rest_framework import serializers

from broker_core.protocol.addresses import AddressPattern
from broker_core.protocol.topics import TOPIC_NAME
from console.clusters.accounts import ACCESS_KEY, SecretKeyField

PERMISSIONS: Final = ["DENY", "PUB", "SUB", "PUB|SUB"]
MOST_LISTED: Final = 1_000
MOST_ADDRESSES: Final = 200
_NO_COMMA_OUTSIDE_BRACES: Final = re.compile(r"[^,{]*(\{[^}]*\})?")


def check_address(text: str) -> None:
    """Raise ValidationError for what is no pattern of addresses."""
    try:
        AddressPattern.parse(text)
    except ValueError as error:
        raise serializers.ValidationError(str(error)) from None


def check_single(text: str) -> None:
    """Raise ValidationError for a list of patterns where one belongs."""
    if not _NO_COMMA_OUTSIDE_BRACES.fullmatch(text):
        raise serializers.ValidationError(f"{text!r} has several addresses; give each as an item of its own")


class PermissionsField(serializers.DictField):
    """Rights by the name of a topic or group."""

    def __init__(self, **options: Any) -> None:
        super().__init__(child=serializers.ChoiceField(PERMISSIONS), **options)

    def to_internal_value(self, data: Any) -> Any:
        """Return the rights; refuse too many, and names that no topic or group has."""
        if len(data) > MOST_LISTED:
            raise serializers.ValidationError(f"at most {MOST_LISTED} rights; {len(data)} are given")
        wrong = {name: [f"{name[:200]!r} is not a name of a topic or group"] for name in data if not _is_name(name)}
        if wrong:
            raise serializers.ValidationError(wrong)
        return super().to_internal_value(data)


def _is_name(name: str) -> bool:
    return TOPIC_NAME.fullmatch(name) is not None


class _RightsSerializer(serializers.Serializer[Any]):
    """What an account may do."""

    admin = serializers.BooleanField(required=False)
    white_address = serializers.CharField(
        required=False,
        allow_blank=True,
        max_length=1_000,
        validators=[check_address],
        help_text="From here the account needs no signature: 10.0.0.7, 10.0.0.{7,9}, 10.0.1-5.*; blank for nowhere.",
    )
    default_topic_permission = serializers.ChoiceField(PERMISSIONS, required=False)
    default_group_permission = serializers.ChoiceField(PERMISSIONS, required=False)
    topic_permissions = PermissionsField(required=False)
    group_permissions = PermissionsField(required=False)


class AccountCreateSerializer(_RightsSerializer):
    """An account to create; what is left out is not allowed."""

    access_key = serializers.RegexField(ACCESS_KEY)
    secret_key = SecretKeyField(required=False, help_text="Without it one is made, and shown in the answer.")

    def validate_secret_key(self, secret: str) -> str:
        """Refuse a blank secret."""
        return refuse_blank(secret)


class AccountChangeSerializer(_RightsSerializer):
    """What to change of an account; what is left out stays."""

    secret_key = SecretKeyField(required=False)
    new_secret = serializers.BooleanField(default=False, help_text="Make a secret, and show it in the answer.")

    def validate_secret_key(self, secret: str) -> str:
        """Refuse a blank secret."""
        return refuse_blank(secret)

    def validate(self, attrs: Any) -> Any:
        """Refuse a given secret beside one that is to be made."""
        if attrs.get("new_secret") and "secret_key" in attrs:
            raise serializers.ValidationError({"new_secret": ["Give either secret_key or new_secret."]})
        return attrs


class AddressesSerializer(serializers.Serializer[Any]):
    """The addresses that need no account."""

    global_white_addresses = serializers.ListField(
        child=serializers.CharField(max_length=200, validators=[check_address, check_single]), max_length=MOST_ADDRESSES
    )


def refuse_blank(secret: str) -> str:
    """Return a secret; raise ValidationError for a blank one."""
    if not secret.strip():
        raise serializers.ValidationError("a secret has at least 7 characters")
    return secret
