"""TLS of a cluster elsewhere: how it is given, stored, shown and used. The key is stored and never shown."""

from __future__ import annotations

import hashlib
import ssl
from collections.abc import Mapping
from typing import Annotated, Any, Final

from msgspec import Meta, Struct
from rest_framework import serializers

from broker_core.remoting import ClientTls, TlsRefused

_MOST_PEM: Final = 256 * 1024
_MARK: Final = 16
_KEY_MARK: Final = "PRIVATE KEY"
# How OpenSSL's reasons begin for a certificate, or one above it, that is too weak for its security level.
_WEAK: Final = ("EE_", "CA_")


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
        faults = _faults(attrs["authorities"], attrs["certificate"], attrs.get("key"))
        if faults:
            raise serializers.ValidationError(faults)
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
    faults = _faults("", new.get("certificate", ""), new["key"])
    if faults:
        raise serializers.ValidationError({"tls": faults})
    return new


def _faults(authorities: str, certificate: str, key: str | None) -> dict[str, str]:
    """Return what is wrong, by field. The key is None while it is not known whether one is stored."""
    certificates = {"authorities": authorities, "certificate": certificate}
    faults = {name: fault for name, text in certificates.items() if text and (fault := _fault_of_certificates(text))}
    if key and _KEY_MARK not in key:
        faults["key"] = "no private key in PEM form"
    if key is None or "certificate" in faults or "key" in faults:
        return faults
    if certificate and key:
        return faults | _faults_of_pair(certificate, key)
    if certificate:
        return faults | {"key": "there is no key for this certificate"}
    return faults | ({"certificate": "there is no certificate for this key"} if key else {})


def _fault_of_certificates(text: str) -> str | None:
    try:
        ClientTls(authorities=text).context()
    except TlsRefused as error:
        return _reason(error)
    return None


def _faults_of_pair(certificate: str, key: str) -> dict[str, str]:
    """Return what is wrong with a certificate that can be read, or with its key."""
    try:
        ClientTls(certificate=certificate, key=key).context()
    except TlsRefused as error:
        root = _inner(error).__cause__
        is_weak = isinstance(root, ssl.SSLError) and (root.reason or "").startswith(_WEAK)
        return {"certificate" if is_weak else "key": _reason(error)}
    return {}


def _inner(error: TlsRefused) -> TlsRefused:
    return error.__cause__ if isinstance(error.__cause__, TlsRefused) else error


def _reason(error: TlsRefused) -> str:
    """Return why a text was refused, without what kind of text it was: the field says that."""
    reason = str(_inner(error)).partition(": ")[2]
    return f"cannot be read: {reason}" if reason.startswith("[") else reason


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
