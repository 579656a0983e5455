"""What `make up` reads from the environment; the help text lists every name with its default."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from console.clusters.own_brokers import MOST_BROKERS, MOST_REPLICAS, broker_names, replica_names
from gateway import env
from gateway.own_tls import own_tls
from gateway.siblings import MOST_WORKERS

PORTS_APART: Final = 10
"""How far the ports of two brokers are apart: each has further ones beside it."""

_MOST_PORT: Final = 65_535

SETTINGS: Final = (
    ("GANTRY_DATA_DIR", "./data", "where messages, database, keys and job results are kept"),
    ("GANTRY_BIND", "127.0.0.1", "address that broker, name server and gateway listen on"),
    ("GANTRY_HTTP_PORT", "8000", "console and HTTP API"),
    ("GANTRY_NAMESRV_PORT", "9876", "name server, for RocketMQ clients"),
    ("GANTRY_BROKER_PORT", "10911", "broker, for RocketMQ clients; each further one 10 higher"),
    ("GANTRY_BROKERS", "1", "brokers, each a process with its folder; more than one have a name server of their own"),
    (
        "GANTRY_REPLICAS",
        "1",
        "processes of one broker name with equal logs, one of them master; a controller elects it",
    ),
    ("GANTRY_BROKERS_LEFT_OUT", "", "brokers and replicas with messages that may be left out, by name"),
    ("GANTRY_TLS_MODE", "permissive with a certificate, else disabled", "TLS of name server and brokers; or enforcing"),
    ("GANTRY_TLS_CERT", "", "file with their certificate, PEM; a changed file needs no restart"),
    ("GANTRY_TLS_KEY", "", "file with its key, PEM"),
    ("GANTRY_TLS_KEY_PASSWORD", "", "password of an encrypted key"),
    ("GANTRY_TLS_CLIENT_AUTH", "none", "certificates of RocketMQ clients: none, optional or require"),
    ("GANTRY_TLS_CA", "", "file with the authorities of clients' certificates"),
    ("GANTRY_TLS_CLIENT_CERT", "(that of GANTRY_TLS_CERT)", "certificate of Gantry's own clients"),
    ("GANTRY_TLS_CLIENT_KEY", "", "its key"),
    ("GANTRY_TLS_CLIENT_KEY_PASSWORD", "", "password of that key"),
    ("GANTRY_WORKERS", "2, or 1 on one core", "gateway processes behind the HTTP port"),
    ("GANTRY_ADMIN_PASSWORD", "(generated, printed once)", "password of the first admin"),
    (
        "GANTRY_ACL",
        "off",
        "on: brokers serve only what an account of their plain_acl.yml signed; Gantry gets one",
    ),
    ("GANTRY_ACL_ACCOUNT", "(made by GANTRY_ACL)", "file with accessKey and secretKey with which Gantry signs"),
    (
        "GANTRY_NAMESRV_NETWORKS",
        "(this machine with GANTRY_ACL, else any)",
        "networks from which the name server takes changes too: brokers elsewhere",
    ),
    ("GANTRY_ACL_NETWORKS", "(this machine)", "networks from which the account made by GANTRY_ACL is served too"),
    ("GANTRY_FLUSH", "async", "async, or sync (answer a send only after fdatasync)"),
    ("GANTRY_REDIS_URL", "(own redis-server)", "redis://… of another Redis, whose database no other Gantry uses"),
    ("GANTRY_DATABASE_URL", "(sqlite in the data folder)", "postgres://… of a PostgreSQL"),
    ("GANTRY_NAME_SERVERS", "(own name server)", "host:port,… for processes that are started without make up"),
    ("GANTRY_SPARK_MASTER", "local[*]", "local[N], spark://host:7077, sc://host:15002, k8s://… or yarn"),
    ("GANTRY_SPARK_PYTHON", "", "path of Python on the executors of a Spark cluster; by default that of this Python"),
    ("GANTRY_SPARK_CONF", "", "file with settings of Spark for jobs, like Spark's own spark-defaults.conf"),
    ("GANTRY_SPARK_WARM", "600", "seconds for which a local Spark is kept for the next job; 0: not at all"),
    ("GANTRY_SPARK_WARM_MIB", "1536", "MiB of memory above which it is not kept"),
    ("GANTRY_JOBS_AT_ONCE", "2", "Spark programs that run at the same time"),
    ("GANTRY_JOBS_AT_ONCE_PER_USER", "0", "of these, jobs of one user; 0: all but one where several users start jobs"),
    ("GANTRY_JOBS_FILES", "", "folder whose Parquet and CSV files and lists of keys jobs may read"),
    ("GANTRY_JOBS_DATABASES", "", "service file of libpq with the databases that reconciliations may read"),
    ("GANTRY_WEBHOOK_NETWORKS", "", "private networks that webhooks of alerts may reach, e.g. 10.0.0.0/8"),
    ("GANTRY_SMTP_HOST", "", "mail server for alerts; without it no mail is sent"),
    ("GANTRY_SMTP_PORT", "587", "its port"),
    ("GANTRY_SMTP_TLS", "starttls", "none, starttls or tls"),
    ("GANTRY_SMTP_USER", "", "user at the mail server; empty for none"),
    ("GANTRY_SMTP_PASSWORD", "", "password of that user"),
    ("GANTRY_MAIL_FROM", "gantry@localhost", "sender of the mail"),
    ("GANTRY_JOBS_KEEP_DAYS", "30", "days for which log, report and files of a job are kept after its end"),
    (
        "GANTRY_JOBS_KEEP_MIB",
        "20480",
        "MiB for the files of all ended jobs; above that those of the oldest are removed",
    ),
    ("GANTRY_JOBS_QUEUED", "200", "jobs that may wait for a place; more are refused"),
    ("GANTRY_JOBS_MINUTES", "0", "minutes that a job may work; 0 for no limit"),
    ("GANTRY_JOBS_FREE_MIB", "1024", "MiB that must stay free for jobs to work; below that they are ended"),
    ("GANTRY_JOBS_QUEUED_PER_USER", "100", "of these, jobs of one user"),
    ("GANTRY_ACTIVITY_KEPT", "200", "how many events of each cluster's activity are kept"),
    ("GANTRY_SECRET_KEY", "(generated, kept in the data folder)", "key that signs sessions, cursors and receipts"),
    (
        "GANTRY_PUBLIC_URL",
        "(none)",
        "https://…[/path] of the console behind a proxy; https makes cookies secure",
    ),
    ("GANTRY_ALLOWED_HOSTS", "(loopback, or all)", "host names that are served, separated by commas"),
    ("GANTRY_PROXIES", "(none; loopback with https)", "proxies whose X-Forwarded-For is trusted, separated by commas"),
    ("GANTRY_RATE_PRODUCE", "50000", "messages per second that one caller may send"),
    ("GANTRY_RATE_CONSUME", "10000", "requests per second by which one caller may receive and settle"),
    ("GANTRY_RATE_READ", "300", "requests per second by which one caller may read in the control plane"),
    ("GANTRY_RATE_CHANGE", "100", "requests per second by which one caller may change something there"),
    ("GANTRY_LEASES_PER_GROUP", "100000", "messages that a group may hold on lease"),
    ("GANTRY_LEASES_PER_CALLER", "20000", "messages that one caller may hold on lease"),
    ("GANTRY_CONNECTIONS", "8192", "connections that the gateway keeps; above that it closes those idle longest"),
    ("GANTRY_IDLE_SECONDS", "30", "seconds after which a connection without a request is closed"),
    ("GANTRY_BODY_PAUSE_SECONDS", "10", "seconds for which the body of a request may pause"),
    ("GANTRY_NATIVE", "on", "off: run the broker without its compiled functions, more slowly"),
    ("GANTRY_DEBUG", "off", "on: Django's debug mode, only for work on Gantry itself"),
    ("GANTRY_LOG_LEVEL", "INFO", "DEBUG, INFO, WARNING or ERROR"),
)


@dataclass(frozen=True)
class UpConfig:
    """The settings of one instance: its folder, its addresses, and an external Redis if there is one."""

    data: Path
    bind: str
    http_port: int
    namesrv_port: int
    broker_port: int
    flush: str
    redis_url: str | None
    workers: int
    brokers: int = 1
    replicas: int = 1
    """Processes of the one broker; more than one only beside a single broker."""
    left_out: tuple[str, ...] = ()
    """Further brokers and replicas that need not be started although they have messages."""
    has_access_control: bool = False
    account_networks: tuple[str, ...] = ()
    """Where the gateway's own account is served beside this machine."""
    namesrv_networks: tuple[str, ...] | None = None
    """Where the name server takes changes from beside this machine; None for anywhere."""
    base_path: str = ""
    """The path before all others, such as ``/gantry``; empty for none."""
    tls: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The settings of name server and brokers by RocketMQ's names, passwords among them."""

    @classmethod
    def read(cls, environ: Mapping[str, str] = os.environ) -> UpConfig:
        """Return the configuration in `environ`; raise gateway.env.BadSetting with the variable and its value."""
        # Read where jobs start; what is wrong with it is said now.
        env.spark_conf("GANTRY_SPARK_CONF", env.text("GANTRY_SPARK_MASTER", "local", environ=environ), environ=environ)
        brokers = env.number("GANTRY_BROKERS", 1, low=1, high=MOST_BROKERS, environ=environ)
        replicas = _replicas(brokers, environ)
        highest = _MOST_PORT - (max(brokers, replicas) - 1) * PORTS_APART - (replicas > 1)
        return cls(
            data=Path(env.text("GANTRY_DATA_DIR", "data", environ=environ)).expanduser().absolute(),
            bind=env.text("GANTRY_BIND", "127.0.0.1", environ=environ),
            http_port=env.number("GANTRY_HTTP_PORT", 8000, low=1, high=65535, environ=environ),
            namesrv_port=env.number("GANTRY_NAMESRV_PORT", 9876, low=1, high=65535, environ=environ),
            broker_port=env.number("GANTRY_BROKER_PORT", 10911, low=1, high=highest, environ=environ),
            flush=env.choice("GANTRY_FLUSH", "async", ("async", "sync"), environ=environ),
            redis_url=env.redis_url("GANTRY_REDIS_URL", "", environ=environ)
            if environ.get("GANTRY_REDIS_URL")
            else None,
            workers=env.number("GANTRY_WORKERS", usual_workers(), low=1, high=MOST_WORKERS, environ=environ),
            brokers=brokers,
            replicas=replicas,
            left_out=_left_out(started_names(brokers, replicas), environ),
            has_access_control=env.flag("GANTRY_ACL", False, environ=environ),
            namesrv_networks=_namesrv_networks(environ),
            account_networks=tuple(env.networks("GANTRY_ACL_NETWORKS", environ=environ)),
            tls=own_tls(environ).texts,
            base_path=urlsplit(env.public_url("GANTRY_PUBLIC_URL", environ=environ)).path,
        )

    @property
    def broker_ports(self) -> dict[str, int]:
        """The port of each broker or replica, by its name."""
        names = started_names(self.brokers, self.replicas)
        return {name: self.broker_port + number * PORTS_APART for number, name in enumerate(names)}

    @property
    def reachable_host(self) -> str:
        """The address for programs on this machine: loopback if all addresses are bound."""
        return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.bind, self.bind)  # noqa: S104 - compared, not bound

    @property
    def console_url(self) -> str:
        """The URL of the console for browsers on this machine."""
        host = self.reachable_host
        return f"http://{f'[{host}]' if ':' in host else host}:{self.http_port}{self.base_path}"


def started_names(brokers: int, replicas: int) -> list[str]:
    """Return the names of the brokers, or of the replicas where one broker has several."""
    return replica_names(replicas) if replicas > 1 else broker_names(brokers)


def _replicas(brokers: int, environ: Mapping[str, str]) -> int:
    replicas = env.number("GANTRY_REPLICAS", 1, low=1, high=MOST_REPLICAS, environ=environ)
    if replicas > 1 and brokers > 1:
        raise env.BadSetting("GANTRY_REPLICAS", str(replicas), f"1 with GANTRY_BROKERS={brokers}: one broker has them")
    return replicas


def _left_out(started: list[str], environ: Mapping[str, str]) -> tuple[str, ...]:
    names = env.words("GANTRY_BROKERS_LEFT_OUT", environ=environ)
    others = [name for name in broker_names(MOST_BROKERS) + replica_names(MOST_REPLICAS) if name not in started]
    for name in names:
        if name not in others:
            raise env.BadSetting("GANTRY_BROKERS_LEFT_OUT", name, f"brokers that are not started: {', '.join(others)}")
    return tuple(names)


def _namesrv_networks(environ: Mapping[str, str]) -> tuple[str, ...] | None:
    found = tuple(env.networks("GANTRY_NAMESRV_NETWORKS", environ=environ))
    return found if found or env.flag("GANTRY_ACL", False, environ=environ) else None


def usual_workers() -> int:
    """Return how many gateway processes run by default: more than two have no core left beside broker and clients."""
    return min(2, len(os.sched_getaffinity(0)))


def help_text() -> str:
    """Return the settings with their defaults, one per line, as `make help` prints them."""
    width = max(len(name) for name, _, _ in SETTINGS)
    return "\n".join(f"  {name:<{width}}  {meaning} [{default}]" for name, default, meaning in SETTINGS)
