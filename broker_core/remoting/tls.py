"""TLS contexts from files (protocol/README.md#connections)."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final, Literal

FIRST_BYTE: Final = 0x16  # of a TLS handshake; a frame that begins so would announce 369 MB


class TlsMode(StrEnum):
    """What a server does with a connection, judged by the first byte the client sends."""

    DISABLED = "disabled"
    PERMISSIVE = "permissive"
    ENFORCING = "enforcing"


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """PEM files of one side. `trusted` holds the authorities a peer's certificate must come from."""

    certificate: Path | None = None
    key: Path | None = None
    key_password: str | None = None
    trusted: Path | None = None


def server_context(
    files: TlsFiles, *, client_certificate: Literal["none", "optional", "require"] = "none"
) -> ssl.SSLContext:
    """Return what a server needs; raises OSError or ssl.SSLError for files that cannot be used."""
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
    """Return what a client needs.

    Without `trusted` any certificate is taken, as RocketMQ's clients do by default; `checks_host` also compares the
    certificate's name with the host dialled.
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
