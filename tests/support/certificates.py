"""An authority and its certificates, made with the commands of docs/operations.md."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from broker_core.remoting import ClientAuth, ClientTlsFiles, ServerFiles, ServerTls, TlsMode

PASSWORD: Final = "the password of a key"
DAYS: Final = "30"


def openssl(*arguments: str | Path) -> None:
    """Run openssl; fail with what it says."""
    done = subprocess.run(["openssl", *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@dataclass(frozen=True)
class Issued:
    """A certificate and its key."""

    certificate: Path
    key: Path


@dataclass(frozen=True)
class Authority:
    """An authority of its own in a folder."""

    folder: Path

    @classmethod
    def create(cls, folder: Path, name: str = "Gantry test authority") -> Authority:
        """Make an authority in a new folder."""
        folder.mkdir(parents=True)
        made = cls(folder)
        openssl(
            "req", "-x509", "-newkey", "rsa:2048", "-sha256", "-days", DAYS, "-nodes", "-subj", f"/CN={name}",
            "-keyout", folder / "ca.key", "-out", made.certificate,
        )  # fmt: skip
        return made

    @property
    def certificate(self) -> Path:
        """The certificate that clients and servers trust."""
        return self.folder / "ca.pem"

    def issue(
        self, name: str, *, hosts: str = "DNS:localhost,IP:127.0.0.1", password: str = "", days: str = DAYS
    ) -> Issued:
        """Make a certificate for a server or a client; one of ``-1`` days has expired."""
        issued = Issued(self.folder / f"{name}.pem", self.folder / f"{name}.key")
        request, names = self.folder / f"{name}.csr", self.folder / f"{name}.ext"
        encrypt = ("-passout", f"pass:{password}") if password else ("-nodes",)
        openssl(
            "req", "-newkey", "rsa:2048", "-sha256", "-subj", f"/CN={name}", "-keyout", issued.key, "-out", request,
            *encrypt,
        )  # fmt: skip
        names.write_text(f"subjectAltName={hosts}\n", encoding="ascii")
        openssl(
            "x509", "-req", "-in", request, "-CA", self.certificate, "-CAkey", self.folder / "ca.key",
            "-CAcreateserial", "-days", days, "-sha256", "-extfile", names, "-out", issued.certificate,
        )  # fmt: skip
        return issued

    def server(
        self,
        issued: Issued,
        mode: TlsMode = TlsMode.PERMISSIVE,
        *,
        client_auth: ClientAuth = ClientAuth.NONE,
        password: str = "",
    ) -> ServerTls:
        """Return the TLS of a server with a certificate of this authority, which also issues its clients'."""
        trusted = self.certificate if client_auth is not ClientAuth.NONE else None
        return ServerTls(mode, ServerFiles(issued.certificate, issued.key, password, trusted, client_auth))

    def client(self, issued: Issued | None = None, *, checks_host: bool = True) -> ClientTlsFiles:
        """Return the TLS of a client that trusts this authority."""
        return ClientTlsFiles(
            authorities=self.certificate,
            certificate=issued.certificate if issued is not None else None,
            key=issued.key if issued is not None else None,
            checks_host=checks_host,
        )


def replace_files(issued: Issued, by: Issued) -> None:
    """Put other files in the place of a certificate and its key, as a renewal does."""
    for old, new in ((issued.certificate, by.certificate), (issued.key, by.key)):
        draft = old.with_suffix(".new")
        shutil.copy(new, draft)
        draft.replace(old)
