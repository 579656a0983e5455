"""The settings of TLS by their RocketMQ names, from a properties file or the command line (remoting/README.md#tls)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from pathlib import Path
from typing import Final, TypeVar

from broker_core.properties_file import read_pairs
from broker_core.remoting.client_tls import ClientTlsFiles
from broker_core.remoting.tls import ClientAuth, ServerFiles, ServerTls, TlsMode, TlsRefused

PREFIX: Final = "tls."

_MODE: Final = "tls.server.mode"
_CERTIFICATE: Final = "tls.server.certPath"
_KEY: Final = "tls.server.keyPath"
_TRUSTED: Final = "tls.server.trustCertPath"
_NEED: Final = "tls.server.need.client.auth"
_AUTH_CLIENT: Final = "tls.server.authClient"
_ENABLE: Final = "tls.enable"
_TEST_MODE: Final = "tls.test.mode.enable"
_CHECKS: Final = "tls.client.authServer"
_SECRET: Final = frozenset({"tls.server.keyPassword", "tls.client.keyPassword"})
_SWITCH: Final = {"true": True, "false": False}

_Word = TypeVar("_Word", bound=StrEnum)


def _named(name: str) -> str:
    return field(default="", metadata={"name": name})


@dataclass(frozen=True, slots=True)
class TlsSettings:
    """The texts of one process, for its listeners and for its own connections; empty where not given."""

    mode: str = _named(_MODE)
    certificate: str = _named(_CERTIFICATE)
    key: str = _named(_KEY)
    key_password: str = field(default="", repr=False, metadata={"name": "tls.server.keyPassword"})
    trusted: str = _named(_TRUSTED)
    need_client_auth: str = _named(_NEED)
    auth_client: str = _named(_AUTH_CLIENT)
    test_mode: str = _named(_TEST_MODE)
    enable: str = _named(_ENABLE)
    client_certificate: str = _named("tls.client.certPath")
    client_key: str = _named("tls.client.keyPath")
    client_key_password: str = field(default="", repr=False, metadata={"name": "tls.client.keyPassword"})
    client_trusted: str = _named("tls.client.trustCertPath")
    client_checks: str = _named(_CHECKS)

    @classmethod
    def of(cls, texts: Mapping[str, str]) -> TlsSettings:
        """Return the settings of names and texts; raises TlsRefused for an unknown name or a wrong combination."""
        places = {each.metadata["name"]: each.name for each in fields(cls)}
        for name in texts:
            if name not in places:
                raise TlsRefused(f"there is no setting {name}; those of TLS are {', '.join(sorted(places))}")
        settings = cls(**{places[name]: text.strip() for name, text in texts.items()})
        settings._check()
        return settings

    def texts(self) -> Iterator[tuple[str, str]]:
        """Return names and texts as they hold, without passwords."""
        for each in fields(self):
            name: str = each.metadata["name"]
            if name not in _SECRET:
                yield name, getattr(self, each.name)

    @property
    def server_mode(self) -> TlsMode:
        """How the listeners treat TLS: without a certificate not at all, with one both unless the mode says else."""
        usual = TlsMode.PERMISSIVE if self.certificate else TlsMode.DISABLED
        return _word(_MODE, self.mode, TlsMode) if self.mode else usual

    @property
    def client_auth(self) -> ClientAuth:
        """Whether clients are asked for certificates."""
        return _word(_NEED, self.need_client_auth, ClientAuth) if self.need_client_auth else ClientAuth.NONE

    @property
    def connects_with_tls(self) -> bool:
        """Whether this process connects to others with TLS: where it is told to, or serves nothing else itself."""
        told = _switch(_ENABLE, self.enable)
        return self.server_mode is TlsMode.ENFORCING if told is None else told

    def server(self) -> ServerTls | None:
        """Return the TLS of the listeners, or None; raises TlsRefused for files that cannot be used."""
        if self.server_mode is TlsMode.DISABLED:
            return None
        trusted = Path(self.trusted) if self.trusted else None
        files = ServerFiles(
            Path(self.certificate), Path(self.key), self.key_password, trusted, client_auth=self.client_auth
        )
        return ServerTls(self.server_mode, files)

    def client(self) -> ClientTlsFiles | None:
        """Return the TLS of own connections, or None; raises TlsRefused for files that cannot be used.

        As in RocketMQ, the peer's certificate is checked only with tls.client.authServer or trustCertPath, and never
        its host name. Without a certificate of its own, a client presents that of the server.
        """
        if not self.connects_with_tls:
            return None
        tls = ClientTlsFiles(
            authorities=_path(self.client_trusted),
            certificate=_path(self.client_certificate or self.certificate),
            key=_path(self.client_key or self.key),
            key_password=self.client_key_password if self.client_certificate else self.key_password,
            checks_host=False,
            checks_certificate=_switch(_CHECKS, self.client_checks) or bool(self.client_trusted),
        )
        tls.context()
        return tls

    def _check(self) -> None:
        if _switch(_TEST_MODE, self.test_mode):
            raise TlsRefused(f"{_TEST_MODE}=true: Gantry makes no certificates; give {_CERTIFICATE} and {_KEY}")
        if bool(self.certificate) != bool(self.key):
            given, missing = (_CERTIFICATE, _KEY) if self.certificate else (_KEY, _CERTIFICATE)
            raise TlsRefused(f"{given} is given without {missing}")
        if self.server_mode is not TlsMode.DISABLED and not self.certificate:
            raise TlsRefused(f"{_MODE}={self.server_mode} needs {_CERTIFICATE} and {_KEY}")
        if bool(self.client_certificate) != bool(self.client_key):
            raise TlsRefused("tls.client.certPath and tls.client.keyPath are given together or not at all")
        if _switch(_CHECKS, self.client_checks) is False and self.client_trusted:
            raise TlsRefused(f"tls.client.trustCertPath has no use with {_CHECKS}=false")
        self._check_client_auth()
        _switch(_ENABLE, self.enable)

    def _check_client_auth(self) -> None:
        auth_client, need = _switch(_AUTH_CLIENT, self.auth_client), self.client_auth
        if need is ClientAuth.NONE:
            if auth_client:
                raise TlsRefused(f"{_AUTH_CLIENT}=true needs {_NEED}=optional or require")
        elif auth_client is False:
            raise TlsRefused(f"{_NEED}={need}: a client certificate is always checked, but {_AUTH_CLIENT} is false")
        elif not self.trusted:
            raise TlsRefused(f"{_NEED}={need} needs {_TRUSTED}, the authorities of the clients' certificates")
        elif not self.certificate:
            raise TlsRefused(
                f"{_NEED}={need} needs {_CERTIFICATE} and {_KEY}: without TLS no client shows a certificate"
            )


NAMES: Final = tuple(each.metadata["name"] for each in fields(TlsSettings))
"""All names."""


def read_settings(file: Path | None, *, below: Mapping[str, str], above: Mapping[str, str]) -> TlsSettings:
    """Return the settings of a properties file that goes before `below`, and after `above`.

    Raises BadPropertiesFile, TlsRefused.
    """
    return TlsSettings.of({**below, **(read_pairs(file) if file is not None else {}), **above})


def _path(text: str) -> Path | None:
    return Path(text) if text else None


def _word(name: str, text: str, kind: type[_Word]) -> _Word:
    try:
        return kind(text.lower())
    except ValueError:
        raise TlsRefused(f"{name}={text[:80]} is not {' or '.join(kind)}") from None


def _switch(name: str, text: str) -> bool | None:
    if not text:
        return None
    if text.lower() not in _SWITCH:
        raise TlsRefused(f"{name}={text[:80]} is not true or false")
    return _SWITCH[text.lower()]
