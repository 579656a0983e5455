"""TLS of a cluster elsewhere: how it is given, stored, shown and used. The key is stored and never shown."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Annotated, Any, Final

from msgspec import Meta, Struct
from rest_framework import serializers

from broker_core.remoting import ClientTls, TlsRefused

_MOST_PEM: Final = 256 * 1024
_MARK: Final = 16


class ShownTls(Struct, frozen=True, kw_only=True):
    """How Gantry connects with TLS, without the key."""

    authorities: Annotated[
        str, Meta(description="Certificates that are trusted, PEM; empty: those of the system that runs Gantry.")
    ]
    certificate: Annotated[str, Meta(description="The client certificate, PEM; empty: none is presented.")]
    has_key: Annotated[bool, Meta(description="Whether the key of the client certificate is stored.")]
    check_host: Annotated[bool, Meta(description="Whether certificates must name the host that is connected to.")]


class PemField(serializers.CharField):
    """A text in PEM form, or an empty one."""

    def __init__(self, **options: Any) -> None:
        super().__init__(required=False, allow_blank=True, default="", max_length=_MOST_PEM, **options)


class TlsSerializer(serializers.Serializer[Any]):
    """How to connect with TLS; null is in plaintext."""

    authorities = PemField(help_text="Certificates to trust, PEM; empty: those of the system that runs Gantry.")
    certificate = PemField(help_text="A client certificate, PEM, for clusters that require one.")
    key = serializers.CharField(
        required=False,
        allow_blank=True,
        max_length=_MOST_PEM,
        write_only=True,
        help_text="Its key, PEM, without a password. Left out with the stored certificate, the stored key stays.",
    )
    check_host = serializers.BooleanField(
        required=False, default=True, help_text="Whether certificates must name the host that is connected to."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse texts that cannot be used; a certificate whose key may be stored is checked with it."""
        tls = client_tls(attrs if "key" in attrs else {**attrs, "certificate": ""})
        try:
            if tls is not None:
                tls.context()
        except TlsRefused as error:
            raise serializers.ValidationError(str(error)) from error
        return attrs


def client_tls(stored: Mapping[str, Any] | None) -> ClientTls | None:
    """Return the TLS of a client, None for plaintext."""
    if stored is None:
        return None
    return ClientTls(
        authorities=stored.get("authorities", ""),
        certificate=stored.get("certificate", ""),
        key=stored.get("key", ""),
        checks_host=stored.get("check_host", True),
    )


def with_stored_key(given: Mapping[str, Any] | None, stored: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return what to store: a certificate without its key keeps the stored key.

    Raises ValidationError if they do not belong together.
    """
    if given is None:
        return None
    new = dict(given)
    if "key" not in new:
        new["key"] = (stored or {}).get("key", "") if new.get("certificate") else ""
    try:
        ClientTls(certificate=new.get("certificate", ""), key=new["key"]).context()
    except TlsRefused as error:
        raise serializers.ValidationError({"tls": [str(error)]}) from error
    return new


def shown(stored: Mapping[str, Any] | None) -> ShownTls | None:
    """Return what users may see."""
    if stored is None:
        return None
    return ShownTls(
        authorities=stored.get("authorities", ""),
        certificate=stored.get("certificate", ""),
        has_key=bool(stored.get("key")),
        check_host=stored.get("check_host", True),
    )


def audited(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the audit keeps: which certificates, not their texts."""
    return {
        "authorities": _mark(stored.get("authorities", "")),
        "certificate": _mark(stored.get("certificate", "")),
        "has_key": bool(stored.get("key")),
        "check_host": stored.get("check_host", True),
    }


def _mark(pem: str) -> str:
    return f"sha256:{hashlib.sha256(pem.encode()).hexdigest()[:_MARK]}" if pem else ""
