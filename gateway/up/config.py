"""What `make up` reads from the environment; every name stands in the help text with its default."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gateway import env

SETTINGS: Final = (
    ("GANTRY_DATA_DIR", "./data", "where messages, database, keys and job results are kept"),
    ("GANTRY_BIND", "127.0.0.1", "address that broker, name server and gateway listen on"),
    ("GANTRY_HTTP_PORT", "8000", "console and HTTP API"),
    ("GANTRY_NAMESRV_PORT", "9876", "name server, for RocketMQ clients"),
    ("GANTRY_BROKER_PORT", "10911", "broker, for RocketMQ clients"),
    ("GANTRY_ADMIN_PASSWORD", "(made, printed once)", "password of the first admin"),
    ("GANTRY_FLUSH", "async", "async, or sync: answer a send only after fdatasync"),
    ("GANTRY_REDIS_URL", "(own redis-server)", "redis://… of a Redis to use instead"),
    ("GANTRY_DATABASE_URL", "sqlite in the data folder", "postgres://… of a PostgreSQL to use instead"),
    ("GANTRY_SPARK_MASTER", "local[*]", "local[N] or spark://host:7077"),
    ("GANTRY_SPARK_PYTHON", "", "the Python of a Spark cluster's executors; the same path as here if not set"),
    ("GANTRY_JOBS_AT_ONCE", "2", "Spark programs that run at the same time"),
    ("GANTRY_JOBS_KEEP_DAYS", "30", "days after its end for which log, report and files of a job are kept"),
    ("GANTRY_PUBLIC_URL", "(none)", "https://… that people type; makes cookies secure and the origin trusted"),
    ("GANTRY_ALLOWED_HOSTS", "(loopback, or all)", "host names that are answered, comma separated"),
    ("GANTRY_PROXIES", "(none; loopback with https)", "proxies whose X-Forwarded-For is believed, comma separated"),
    ("GANTRY_RATE_PRODUCE", "50000", "messages a second that one caller may send"),
    ("GANTRY_RATE_CONSUME", "10000", "requests a second to receive and settle of one caller"),
    ("GANTRY_LEASES_PER_GROUP", "100000", "messages that a group may have out on lease"),
    ("GANTRY_LEASES_PER_CALLER", "20000", "messages that one caller may have out on lease"),
    ("GANTRY_CONNECTIONS", "8192", "connections that the gateway keeps; above it the longest idle ones are closed"),
    ("GANTRY_IDLE_SECONDS", "30", "how long a connection may stay without a request"),
    ("GANTRY_BODY_PAUSE_SECONDS", "10", "how long the body of a request may pause"),
    ("GANTRY_NATIVE", "on", "off: the broker goes on without its compiled functions, at less speed"),
    ("GANTRY_LOG_LEVEL", "INFO", "DEBUG, INFO, WARNING or ERROR"),
)


@dataclass(frozen=True)
class UpConfig:
    """One instance on one machine: its folder, addresses and what it brings along or is given."""

    data: Path
    bind: str
    http_port: int
    namesrv_port: int
    broker_port: int
    flush: str
    redis_url: str | None

    @classmethod
    def read(cls, environ: Mapping[str, str] = os.environ) -> UpConfig:
        """Return the configuration of `environ`; raises gateway.env.BadSetting naming variable and value."""
        return cls(
            data=Path(env.text("GANTRY_DATA_DIR", "data", environ=environ)).expanduser().absolute(),
            bind=env.text("GANTRY_BIND", "127.0.0.1", environ=environ),
            http_port=env.number("GANTRY_HTTP_PORT", 8000, low=1, high=65535, environ=environ),
            namesrv_port=env.number("GANTRY_NAMESRV_PORT", 9876, low=1, high=65535, environ=environ),
            broker_port=env.number("GANTRY_BROKER_PORT", 10911, low=1, high=65535, environ=environ),
            flush=env.choice("GANTRY_FLUSH", "async", ("async", "sync"), environ=environ),
            redis_url=env.redis_url("GANTRY_REDIS_URL", "", environ=environ)
            if environ.get("GANTRY_REDIS_URL")
            else None,
        )

    @property
    def reachable_host(self) -> str:
        """Return the address a program of this machine connects to; the wildcard is no address to connect to."""
        return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.bind, self.bind)  # noqa: S104 - compared, not bound

    @property
    def console_url(self) -> str:
        """Return the console's address as a browser of this machine opens it."""
        host = self.reachable_host
        return f"http://{f'[{host}]' if ':' in host else host}:{self.http_port}"


def help_text() -> str:
    """Return the settings as `make help` prints them."""
    width = max(len(name) for name, _, _ in SETTINGS)
    return "\n".join(f"  {name:<{width}}  {meaning} [{default}]" for name, default, meaning in SETTINGS)
