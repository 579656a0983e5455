"""Typed readers of environment variables: each returns a checked value or raises BadSetting."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Mapping
from ipaddress import ip_network
from pathlib import Path
from typing import Final
from urllib.parse import parse_qsl, unquote, urlsplit

import yaml

from broker_core.protocol.signature import SHORTEST_KEY, Credentials
from broker_core.spark_conf import BadSparkConf, read_conf

_TRUE: Final = frozenset({"1", "true", "yes", "on"})
_PATH: Final = re.compile(r"(/[A-Za-z0-9._~-]+)*/?")
_FALSE: Final = frozenset({"0", "false", "no", "off"})

_SQLITE_OPTIONS: Final[dict[str, object]] = {
    # Several processes write: take the write lock at the start of a transaction, and wait for it.
    "transaction_mode": "IMMEDIATE",
    "timeout": 20,
    "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON;",
}


class BadSetting(ValueError):
    """An environment variable has an invalid value; the text names both."""

    def __init__(self, name: str, value: str, expected: str) -> None:
        super().__init__(f"{name}={value!r}: expected {expected}")
        self.name = name
        self.value = value


def text(name: str, default: str = "", *, environ: Mapping[str, str] = os.environ) -> str:
    """Return the variable without surrounding blanks, or the default if it is empty or not set."""
    return environ.get(name, "").strip() or default


def number(name: str, default: int, *, low: int, high: int, environ: Mapping[str, str] = os.environ) -> int:
    """Return the variable as a whole number between `low` and `high`."""
    value = text(name, str(default), environ=environ)
    try:
        found = int(value)
    except ValueError:
        raise BadSetting(name, value, "a whole number") from None
    if not low <= found <= high:
        raise BadSetting(name, value, f"a number from {low} to {high}")
    return found


def port(name: str, default: int, *, environ: Mapping[str, str] = os.environ) -> int:
    """Return the variable as a TCP port; 0 means any free one."""
    return number(name, default, low=0, high=65535, environ=environ)


def flag(name: str, default: bool, *, environ: Mapping[str, str] = os.environ) -> bool:
    """Return the variable as a boolean: 1/true/yes/on or 0/false/no/off."""
    value = text(name, environ=environ).lower()
    if not value:
        return default
    if value in _TRUE:
        return True
    if value in _FALSE:
        return False
    raise BadSetting(name, value, "true or false")


def choice(name: str, default: str, allowed: tuple[str, ...], *, environ: Mapping[str, str] = os.environ) -> str:
    """Return the variable if it is one of `allowed`."""
    value = text(name, default, environ=environ)
    if value not in allowed:
        raise BadSetting(name, value, "one of " + ", ".join(allowed))
    return value


def public_url(name: str, *, environ: Mapping[str, str] = os.environ) -> str:
    """Return the variable as ``http(s)://host[:port][/path]`` without a slash at its end; empty if it is not set."""
    value = text(name, environ=environ)
    found = urlsplit(value)
    expected = "http(s)://host or http(s)://host/path, the path of letters, digits, '.', '_', '~' and '-'"
    if value and (found.scheme not in ("http", "https") or not found.hostname or found.query or found.fragment):
        raise BadSetting(name, value, expected)
    if not _PATH.fullmatch(found.path):
        raise BadSetting(name, value, expected)
    return value.rstrip("/")


def words(name: str, default: tuple[str, ...] = (), *, environ: Mapping[str, str] = os.environ) -> list[str]:
    """Return the comma-separated parts of the variable."""
    value = text(name, environ=environ)
    return [part.strip() for part in value.split(",") if part.strip()] if value else list(default)


def networks(name: str, default: tuple[str, ...] = (), *, environ: Mapping[str, str] = os.environ) -> list[str]:
    """Return the comma-separated addresses and networks of the variable."""
    found = words(name, default, environ=environ)
    for each in found:
        try:
            ip_network(each, strict=False)
        except ValueError:
            raise BadSetting(name, each, "addresses or networks such as 10.0.0.0/8") from None
    return found


def folder(name: str, default: Path, *, environ: Mapping[str, str] = os.environ) -> Path:
    """Return the variable as an absolute path; create the folder with mode 0700 if it does not exist."""
    path = Path(text(name, str(default), environ=environ)).expanduser().absolute()
    if path.exists() and not path.is_dir():
        raise BadSetting(name, str(path), "a folder")
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path


def path(given: str) -> Path:
    """Return a path as the user wrote it, absolute, so that children in other folders find it."""
    return Path(given).expanduser().absolute()


def existing(name: str, *, is_folder: bool, environ: Mapping[str, str] = os.environ) -> Path | None:
    """Return the variable as the absolute path of a folder or a file that is there; None if it is not set."""
    given = text(name, environ=environ)
    if not given:
        return None
    path = Path(given).expanduser().absolute()
    if not (path.is_dir() if is_folder else path.is_file()):
        raise BadSetting(name, given, "a folder that is there" if is_folder else "a file that is there")
    return path


def spark_conf(name: str, master: str, *, environ: Mapping[str, str] = os.environ) -> Path | None:
    """Return the variable as the path of a file with settings that a Spark on `master` may have; None if not set."""
    file = existing(name, is_folder=False, environ=environ)
    try:
        read_conf(file, master)
    except BadSparkConf as error:
        raise BadSetting(name, str(file), f"settings that Gantry leaves to the file; {error}") from error
    return file


def secret(name: str, keep_in: Path, *, environ: Mapping[str, str] = os.environ) -> str:
    """Return the variable, or else the secret in the file `keep_in`, which is created once with mode 0600."""
    given = text(name, environ=environ)
    if given:
        return given
    if not keep_in.exists():
        _make_secret(keep_in)
    return keep_in.read_text(encoding="ascii").strip()


def account(name: str, *, environ: Mapping[str, str] = os.environ) -> Credentials | None:
    """Return the account in the file that the variable names, which has the form of `mqadmin`'s ``tools.yml``.

    RocketMQ's brokers know no account whose key or secret is shorter than 7 characters.
    """
    file = existing(name, is_folder=False, environ=environ)
    if file is None:
        return None
    expected = f"a file with accessKey and secretKey, of at least {SHORTEST_KEY} characters each"
    try:
        found = yaml.load(file.read_text(encoding="utf-8"), yaml.BaseLoader)  # noqa: S506 - makes texts only
        credentials = Credentials(found["accessKey"], found["secretKey"], found.get("securityToken"))
        shortest = min(len(credentials.access_key), len(credentials.secret_key))
    except (OSError, yaml.YAMLError, UnicodeDecodeError, LookupError, TypeError, AttributeError) as error:
        raise BadSetting(name, str(file), expected) from error
    if shortest < SHORTEST_KEY:
        raise BadSetting(name, str(file), expected)
    return credentials


def _make_secret(path: Path) -> None:
    # Several processes may start at once: each writes a complete file, the first link wins, and all read that one.
    draft = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(secrets.token_urlsafe(48) + "\n")
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(draft, path)
        except FileExistsError:
            return
    finally:
        draft.unlink(missing_ok=True)


def database(name: str, default: str, *, environ: Mapping[str, str] = os.environ) -> dict[str, object]:
    """Return Django's settings for the database URL in the variable: ``sqlite:///path`` or ``postgres://…``."""
    url = text(name, default, environ=environ)
    parts = urlsplit(url)
    if parts.scheme == "sqlite":
        return {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": unquote(parts.path),
            "CONN_MAX_AGE": None,
            "OPTIONS": dict(_SQLITE_OPTIONS),
        }
    if parts.scheme in ("postgres", "postgresql"):
        return {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": unquote(parts.path.lstrip("/")),
            "USER": unquote(parts.username or ""),
            "PASSWORD": unquote(parts.password or ""),
            "HOST": parts.hostname or "",
            "PORT": str(parts.port or ""),
            "CONN_MAX_AGE": 60,
            "CONN_HEALTH_CHECKS": True,
            "OPTIONS": dict(parse_qsl(parts.query)),
        }
    raise BadSetting(name, parts.scheme or url, "a sqlite:// or postgres:// URL")


def redis_url(name: str, default: str, *, environ: Mapping[str, str] = os.environ) -> str:
    """Return the variable as a Redis URL: ``redis://``, ``rediss://`` or ``unix://``."""
    url = text(name, default, environ=environ)
    if urlsplit(url).scheme not in ("redis", "rediss", "unix"):
        raise BadSetting(name, url, "a redis://, rediss:// or unix:// URL")
    return url


def celery_url(redis: str) -> str:
    """Return the Redis URL in Celery's form: ``redis+socket://`` with ``virtual_host`` for a Unix socket."""
    parts = urlsplit(redis)
    if parts.scheme != "unix":
        return redis
    index = dict(parse_qsl(parts.query)).get("db", "0")
    return f"redis+socket://{parts.path}?virtual_host={index}"
