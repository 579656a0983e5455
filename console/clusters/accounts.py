"""The account with which Gantry signs its requests to a cluster."""

from __future__ import annotations

from typing import Any, ClassVar, Final

from rest_framework import serializers

from broker_core.protocol.signature import Credentials
from console.clusters.models import Cluster

ACCESS_KEY: Final = r"^[A-Za-z0-9_.@-]{7,200}$"
"""What an account is called; brokers take more, but nobody can type or tell it apart."""

_SHORTEST: Final = 7
"""Brokers accept no shorter names and secrets of accounts."""
_LONGEST: Final = 200


class AccessKeyField(serializers.RegexField):
    """The name of an account, of the form in which accounts are made; empty for none."""

    default_error_messages: ClassVar[dict[str, Any]] = {
        "invalid": "An access key has 7 to 200 letters, digits and characters of _.@-"
    }

    def __init__(self, **options: Any) -> None:
        super().__init__(rf"^({ACCESS_KEY[1:-1]})?$", allow_blank=True, **options)


class SecretKeyField(serializers.CharField):
    """The secret of an account, which is never shown again."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            allow_blank=True,
            min_length=_SHORTEST,
            max_length=_LONGEST,
            trim_whitespace=False,
            write_only=True,
            style={"input_type": "password"},
            **options,
        )


def credentials_of(access_key: str, secret_key: str) -> Credentials | None:
    """Return an account; None without a name."""
    return Credentials(access_key, secret_key) if access_key else None


def changed_account(cluster: Cluster, access_key: str | None, secret_key: str | None) -> tuple[str, str]:
    """Return name and secret after a change; what is None stays, and without a name there is no secret.

    Raises ValidationError for a name without its secret: that of one account says nothing about another.
    """
    name = cluster.access_key if access_key is None else access_key
    if not name:
        if secret_key:
            raise serializers.ValidationError({"access_key": ["A secret key belongs to an access key."]})
        return "", ""
    kept = cluster.secret_key if name == cluster.access_key else ""
    secret = kept if secret_key is None else secret_key
    if not secret:
        raise serializers.ValidationError({"secret_key": ["Give the secret key of this access key."]})
    return name, secret
