"""TLS of a server: its mode, its files, and the context for the next handshake (remoting/README.md#tls)."""

from __future__ import annotations

import asyncio
import ssl
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Final

from broker_core.errors import GantryError
from broker_core.file_modes import open_to_others
from broker_core.logs import get_logger
from broker_core.remoting.pem_files import in_thread, read_file

_log: Final = get_logger(__name__)


class TlsRefused(GantryError):
    """Settings, certificates or keys that cannot be used for TLS; the text names the setting or the file."""


class TlsMode(StrEnum):
    """How a server treats connections that start with or without TLS."""

    DISABLED = "disabled"
    PERMISSIVE = "permissive"
    ENFORCING = "enforcing"


class ClientAuth(StrEnum):
    """Whether a server asks its clients for certificates."""

    NONE = "none"
    OPTIONAL = "optional"
    REQUIRE = "require"


_VERIFY: Final = {
    ClientAuth.NONE: ssl.CERT_NONE,
    ClientAuth.OPTIONAL: ssl.CERT_OPTIONAL,
    ClientAuth.REQUIRE: ssl.CERT_REQUIRED,
}

_OUT_OF_TIME: Final = (9, 10)
"""OpenSSL's codes of a certificate that is not valid yet, and of one that has expired."""

_LOOK_SECONDS: Final = 1.0
"""How long a handshake waits for the files; they are there within a millisecond."""

_CERTIFICATE: Final = b"CERTIFICATE"
_KEY: Final = b"PRIVATE KEY"


@dataclass(frozen=True, slots=True)
class ServerFiles:
    """PEM files of a server. `trusted` holds the authorities of its clients' certificates."""

    certificate: Path
    key: Path
    key_password: str = field(default="", repr=False)
    trusted: Path | None = None
    client_auth: ClientAuth = ClientAuth.NONE


class ServerTls:
    """The TLS of one server or of several: the mode, and a context that follows the files."""

    def __init__(self, mode: TlsMode, files: ServerFiles) -> None:
        """Read the files; raises TlsRefused."""
        self.mode = mode
        self._files = files
        self._stamp = _stamp(files)
        self._context = server_context(files)
        if reason := _out_of_time(self._context, files.certificate):
            _log.warning("tls: %s: clients that check it do not connect", reason)
        if open_to_others([files.key]):
            _log.warning("tls: every user of this machine can read the key in %s: chmod 600", files.key)
        if mode is TlsMode.PERMISSIVE and files.client_auth is ClientAuth.REQUIRE:
            _log.warning(
                "tls: clients without TLS are served too, and show no certificate: tls.server.mode is %s", mode
            )
        self._look: Future[None] | None = None

    async def context(self) -> ssl.SSLContext:
        """Return the context for the next handshake; changed files are read again.

        While they cannot be used, for example between the change of the certificate and that of its key, or because the
        new certificate has expired, the previous context stays; that is logged once for each change. It also stays
        while the disk does not answer.
        """
        if self._look is None or self._look.done():
            self._look = in_thread(self._follow)
        await asyncio.wait({asyncio.wrap_future(self._look)}, timeout=_LOOK_SECONDS)
        return self._context

    def _follow(self) -> None:
        stamp = _stamp(self._files)
        if stamp != self._stamp:
            self._stamp = stamp
            try:
                context = server_context(self._files)
                if reason := _out_of_time(context, self._files.certificate):
                    raise TlsRefused(reason)
                self._context = context
            except TlsRefused as error:
                _log.error("tls: the changed files cannot be used, the previous certificate stays: %s", error)
            else:
                _log.info("tls: the certificate in %s was read again", self._files.certificate)


def server_context(files: ServerFiles) -> ssl.SSLContext:
    """Return the context of a server; raises TlsRefused for files that cannot be used."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.options |= ssl.OP_NO_RENEGOTIATION
    load_certificate(context, files.certificate, files.key, files.key_password)
    context.verify_mode = _VERIFY[files.client_auth]
    if files.trusted is not None:
        load_authorities(context, files.trusted)
    return context


def _out_of_time(context: ssl.SSLContext, certificate: Path) -> str | None:
    """Return the reason if the certificate of a server's context does not hold now.

    Only a client is told the dates of a certificate, so one is connected in memory that trusts nothing else.
    """
    trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    trusting.check_hostname = False
    trusting.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    trusting.load_verify_locations(certificate)
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = trusting.wrap_bio(to_client, to_server)
    server = context.wrap_bio(to_server, to_client, server_side=True)
    try:
        for side in (client, server, client):
            with suppress(ssl.SSLWantReadError):
                side.do_handshake()
    except ssl.SSLCertVerificationError as error:
        if error.verify_code in _OUT_OF_TIME:
            return f"the certificate in {certificate}: {error.verify_message}"
    return None


def load_certificate(context: ssl.SSLContext, certificate: Path, key: Path, password: str) -> None:
    """Load a certificate and its key; raises TlsRefused."""
    _require(certificate, _CERTIFICATE)
    _require(key, _KEY)
    asked: list[None] = []

    def answer() -> str:
        # Without this function, OpenSSL would ask for the password of an encrypted key on the terminal.
        asked.append(None)
        return password

    try:
        context.load_cert_chain(certificate, key, answer)
    except (ssl.SSLError, ValueError) as error:
        if isinstance(error, ssl.SSLError) and error.reason == "KEY_VALUES_MISMATCH":
            reason = "the key does not belong to the certificate"
        elif asked:
            reason = "the key is encrypted, and its password is " + ("wrong" if password else "missing")
        else:
            reason = str(error)
        raise TlsRefused(f"certificate {certificate} with key {key}: {reason}") from error


def load_authorities(context: ssl.SSLContext, trusted: Path) -> None:
    """Trust the certificates of a file; raises TlsRefused."""
    _require(trusted, _CERTIFICATE)
    try:
        context.load_verify_locations(trusted)
    except ssl.SSLError as error:
        raise TlsRefused(f"certificates of authorities in {trusted}: {error}") from error


def _require(file: Path, what: bytes) -> None:
    try:
        content = read_file(file)
    except OSError as error:
        raise TlsRefused(f"the file of a {what.decode().lower()}, {file}: {error.strerror}") from error
    if what not in content:
        raise TlsRefused(f"{file}: no {what.decode().lower()} in PEM form")


def _stamp(files: ServerFiles) -> tuple[object, ...]:
    """Return what changes whenever one of the files is replaced or written."""
    return tuple(_stamp_of(each) for each in (files.certificate, files.key, files.trusted) if each is not None)


def _stamp_of(file: Path) -> tuple[int, int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None  # while it is being replaced; reading it names the error
    return found.st_mtime_ns, found.st_size, found.st_ino
