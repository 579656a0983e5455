"""TLS contexts from files (protocol/README.md#connections)."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final, Literal

FIRST_BYTE: Final = 0x16  # of a TLS handshake; read as a frame length it would mean 369 MB


class TlsMode(StrEnum):
    """How a server treats connections that start with or without TLS."""

    DISABLED = "disabled"
    PERMISSIVE = "permissive"
    ENFORCING = "enforcing"


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """PEM files of one side. `trusted` contains the authorities of the peer's certificates."""

    certificate: Path | None = None
    key: Path | None = None
    key_password: str | None = None
    trusted: Path | None = None


def server_context(
    files: TlsFiles, *, client_certificate: Literal["none", "optional", "require"] = "none"
) -> ssl.SSLContext:
    """Return the context of a server; raises OSError or ssl.SSLError for unusable files."""
    if files.certificate is None:
        raise ValueError("a TLS server needs a certificate")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(files.certificate, files.key, files.key_password)
    context.verify_mode = {
        "none": ssl.CERT_NONE,
        "optional": ssl.CERT_OPTIONAL,
        "require": ssl.CERT_REQUIRED,
    }[client_certificate]
    if files.trusted is not None:
        context.load_verify_locations(files.trusted)
    return context


def client_context(files: TlsFiles | None = None, *, checks_host: bool = False) -> ssl.SSLContext:
    """Return the context of a client.

    Without `trusted` any certificate is accepted, as in RocketMQ's clients by default; `checks_host` also compares the
    certificate's name with the host name.
    """
    files = files or TlsFiles()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = checks_host and files.trusted is not None
    context.verify_mode = ssl.CERT_NONE if files.trusted is None else ssl.CERT_REQUIRED
    if files.trusted is not None:
        context.load_verify_locations(files.trusted)
    if files.certificate is not None:
        context.load_cert_chain(files.certificate, files.key, files.key_password)
    return context
