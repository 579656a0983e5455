"""Where etcd is, and as whom it is asked (controller/README.md#settings-of-etcd)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from broker_core.errors import GantryError
from broker_core.remoting.pem_files import read_file

ENDPOINTS: Final = "controllerEtcdEndpoints"
_PREFIX: Final = "controllerEtcdPrefix"
_USER: Final = "controllerEtcdUser"
_PASSWORD_FILE: Final = "controllerEtcdPasswordFile"  # noqa: S105 - a name
_CA_FILE: Final = "controllerEtcdCaFile"
_CERT_FILE: Final = "controllerEtcdCertFile"
_KEY_FILE: Final = "controllerEtcdKeyFile"
_TIMEOUT: Final = "controllerEtcdTimeout"
_LEADER_TTL: Final = "controllerLeaderTtl"

DEFAULTS: Final = {
    ENDPOINTS: "",
    _PREFIX: "/gantry",
    _USER: "",
    _PASSWORD_FILE: "",
    _CA_FILE: "",
    _CERT_FILE: "",
    _KEY_FILE: "",
    _TIMEOUT: "700",
    _LEADER_TTL: "4",
}
"""Every setting with its default."""

_TIMEOUTS: Final = range(100, 1000)
"""In ms. Etcd elects after a second: an answer in less is of a member that led, or knew who does."""
_TTLS: Final = range(3, 61)


class EtcdRefused(GantryError):
    """A setting of etcd that cannot be used, or an etcd that cannot; the text is one sentence."""


@dataclass(frozen=True, slots=True)
class EtcdConfig:
    """The members of one etcd, and the keys below ``<prefix>/<cluster>/`` of it."""

    endpoints: tuple[str, ...]
    cluster: str
    prefix: str = "/gantry"
    user: str = ""
    password: str = field(default="", repr=False)
    ca_file: Path | None = None
    cert_file: Path | None = None
    key_file: Path | None = None
    attempt_seconds: float = 0.7
    """For the answer of one member; then the next one is asked."""
    leader_ttl: int = 4
    """In seconds: when the lead of a controller that is gone ends."""

    @property
    def folder(self) -> str:
        """What all keys begin with."""
        return f"{self.prefix}/{self.cluster}/"

    @property
    def is_open_beyond_this_machine(self) -> bool:
        """Whether a member elsewhere is reached without TLS."""
        parts = [urlsplit(endpoint) for endpoint in self.endpoints]
        return any(each.scheme == "http" and not _is_loopback(each.hostname or "") for each in parts)

    @classmethod
    def of(cls, texts: Mapping[str, str], cluster: str) -> EtcdConfig:
        """Return what settings say; those that are not given have their defaults. Raises EtcdRefused."""
        if unknown := sorted(texts.keys() - DEFAULTS.keys()):
            raise EtcdRefused(f"there is no setting {unknown[0]}; those of etcd are {', '.join(DEFAULTS)}")
        all_texts = {name: text.strip() for name, text in {**DEFAULTS, **texts}.items()}
        _check_pairs(all_texts)
        return cls(
            endpoints=_endpoints(all_texts[ENDPOINTS]),
            cluster=cluster,
            prefix=_prefix(all_texts[_PREFIX]),
            user=all_texts[_USER],
            password=_password(all_texts[_PASSWORD_FILE]),
            ca_file=_file(all_texts[_CA_FILE]),
            cert_file=_file(all_texts[_CERT_FILE]),
            key_file=_file(all_texts[_KEY_FILE]),
            attempt_seconds=_number(_TIMEOUT, all_texts[_TIMEOUT], _TIMEOUTS, "ms") / 1000,
            leader_ttl=_number(_LEADER_TTL, all_texts[_LEADER_TTL], _TTLS, "s"),
        )


def _check_pairs(texts: Mapping[str, str]) -> None:
    for one, other in ((_USER, _PASSWORD_FILE), (_CERT_FILE, _KEY_FILE)):
        if bool(texts[one]) != bool(texts[other]):
            raise EtcdRefused(f"{one} and {other} are given together or not at all")


def _endpoints(text: str) -> tuple[str, ...]:
    found = tuple(part.strip().rstrip("/") for part in text.split(";") if part.strip())
    if not found:
        raise EtcdRefused(f"{ENDPOINTS} names no member of etcd")
    for endpoint in found:
        _check_endpoint(endpoint)
    if len(set(found)) < len(found):
        raise EtcdRefused(f"{ENDPOINTS} names a member twice")
    return found


def _check_endpoint(text: str) -> None:
    try:
        parts = urlsplit(text)
        is_plain = parts.scheme in ("http", "https") and parts.hostname and parts.port
        is_endpoint = is_plain and text == f"{parts.scheme}://{parts.netloc}" and "@" not in parts.netloc
    except ValueError:
        is_endpoint = False
    if not is_endpoint:
        raise EtcdRefused(f"{ENDPOINTS}: {text[:80]!r} is not like https://etcd1.example:2379")


def _prefix(text: str) -> str:
    prefix = text.rstrip("/")
    if not prefix.startswith("/"):
        raise EtcdRefused(f"{_PREFIX}: {text[:80]!r} does not begin with / and a name")
    return prefix


def _file(text: str) -> Path | None:
    return Path(text).expanduser() if text else None


def _password(file: str) -> str:
    if not file:
        return ""
    try:
        return read_file(Path(file).expanduser()).decode().rstrip("\r\n")
    except OSError as error:
        raise EtcdRefused(f"{_PASSWORD_FILE}: {file} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise EtcdRefused(f"{_PASSWORD_FILE}: {file} is not text in UTF-8") from error


def _number(name: str, text: str, allowed: range, unit: str) -> int:
    if not (text.isascii() and text.isdecimal() and int(text) in allowed):
        raise EtcdRefused(f"{name}: {text[:80]!r} is not from {allowed[0]} to {allowed[-1]} {unit}")
    return int(text)


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
