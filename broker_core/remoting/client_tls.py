"""TLS of a client: whom it trusts, and the certificate with which it identifies itself (remoting/README.md#tls)."""

from __future__ import annotations

import asyncio
import ssl
import tempfile
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Final, TypeAlias

from broker_core.remoting.pem_files import in_thread, read_file
from broker_core.remoting.tls import TlsRefused, load_authorities, load_certificate

_CONTEXTS_KEPT: Final = 64


@dataclass(frozen=True, slots=True)
class ClientTls:
    """How a client connects with TLS. Certificates and keys are texts in PEM form."""

    authorities: str = ""
    """Certificates of the authorities that it trusts, or the server's certificate itself; empty: the system's."""
    certificate: str = ""
    """Its own certificate for servers that ask for one, followed by those between it and its authority."""
    key: str = field(default="", repr=False)
    key_password: str = field(default="", repr=False)
    checks_host: bool = True
    """Whether the server's certificate must name the host that was connected to."""
    checks_certificate: bool = True
    """Without this any certificate is accepted, as by RocketMQ's Java clients by default: the connection is encrypted,
    but whoever redirects it can read it."""

    def context(self) -> ssl.SSLContext:
        """Return the context for a connection; raises TlsRefused for texts that cannot be used."""
        return _context(self)


@dataclass(frozen=True, slots=True)
class ClientTlsFiles:
    """The same from files, which are read for each connection: a changed file is used by the next one."""

    authorities: Path | None = None
    certificate: Path | None = None
    key: Path | None = None
    key_password: str = field(default="", repr=False)
    checks_host: bool = True
    checks_certificate: bool = True

    def context(self) -> ssl.SSLContext:
        """Return the context for a connection; raises TlsRefused for files that cannot be used."""
        return self.read().context()

    def read(self) -> ClientTls:
        """Return the content of the files; raises TlsRefused for a file that cannot be read."""
        return ClientTls(
            authorities=_text(self.authorities),
            certificate=_text(self.certificate),
            key=_text(self.key),
            key_password=self.key_password,
            checks_host=self.checks_host,
            checks_certificate=self.checks_certificate,
        )


TlsOfClient: TypeAlias = ClientTls | ClientTlsFiles | ssl.SSLContext


async def context_of(tls: TlsOfClient, seconds: float) -> ssl.SSLContext:
    """Return the context for the next connection; raises TlsRefused, also for files that are not read in time."""
    if isinstance(tls, ssl.SSLContext):
        return tls
    if isinstance(tls, ClientTls):
        return tls.context()
    try:
        return await asyncio.wait_for(asyncio.wrap_future(in_thread(tls.context)), seconds)
    except TimeoutError:
        raise TlsRefused(f"certificates and keys were not read within {seconds:g} s") from None


@lru_cache(_CONTEXTS_KEPT)
def _context(tls: ClientTls) -> ssl.SSLContext:
    if bool(tls.certificate) != bool(tls.key):
        missing = "key" if tls.certificate else "certificate"
        raise TlsRefused(f"a client certificate needs its key: there is no {missing}")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.options |= ssl.OP_NO_RENEGOTIATION
    context.check_hostname = tls.checks_host and tls.checks_certificate
    context.verify_mode = ssl.CERT_REQUIRED if tls.checks_certificate else ssl.CERT_NONE
    # A certificate in the file is trusted whoever signed it: that of the server itself may stand there.
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    if not tls.checks_certificate:
        pass
    elif tls.authorities:
        _load_authorities(context, tls.authorities)
    else:
        context.load_default_certs()
    if tls.certificate:
        _load_certificate(context, tls)
    return context


def _load_authorities(context: ssl.SSLContext, text: str) -> None:
    with tempfile.TemporaryDirectory(prefix="gantry-tls-") as folder:
        file = Path(folder) / "authorities"
        file.write_text(text, encoding="utf-8")
        try:
            load_authorities(context, file)
        except TlsRefused as error:
            raise TlsRefused(f"certificates of authorities: {_without(error, folder)}") from error


def _load_certificate(context: ssl.SSLContext, tls: ClientTls) -> None:
    """Load a certificate and its key from files, since OpenSSL reads nothing else; only this user can read them."""
    with tempfile.TemporaryDirectory(prefix="gantry-tls-") as folder:
        certificate, key = Path(folder) / "certificate", Path(folder) / "key"
        certificate.write_text(tls.certificate, encoding="utf-8")
        key.write_text(tls.key, encoding="utf-8")
        try:
            load_certificate(context, certificate, key, tls.key_password)
        except TlsRefused as error:
            raise TlsRefused(f"client certificate: {_without(error, folder)}") from error


def _without(error: TlsRefused, folder: str) -> str:
    return str(error).replace(f"{folder}/", "")


def _text(file: Path | None) -> str:
    if file is None:
        return ""
    try:
        return read_file(file).decode()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "no certificate or key in PEM form"
        raise TlsRefused(f"{file}: {reason}") from error
