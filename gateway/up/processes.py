"""The processes of one Gantry, in the order in which they start; they stop in reverse order."""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from broker_core.protocol import java_properties
from console.clusters.own_brokers import folder_of
from gateway.siblings import FOLDER_VARIABLE
from gateway.up.access import ACCOUNT_VARIABLE, broker_settings, prepare_accounts
from gateway.up.checks import free_port
from gateway.up.config import UpConfig
from gateway.up.replicas import BROKER, controller_settings, replica_settings
from gateway.up.services import redis_server

Ready = Literal["line", "http", "port", "running"]

ROOT: Final = Path(__file__).resolve().parents[2]
# The broker closes its store and a worker ends its Spark programs: both take some seconds.
STOP_SECONDS: Final = 20.0


@dataclass(frozen=True)
class Child:
    """One process: its command, the sign that it is ready, and how long it may take to stop."""

    name: str
    command: tuple[str, ...]
    ready: Ready = "running"
    port: int = 0
    stop_seconds: float = STOP_SECONDS
    needs_database: bool = True
    kind: str = ""
    """Children of one kind start and stop together."""


@dataclass(frozen=True)
class Plan:
    """All children of an instance, and the environment they share."""

    children: tuple[Child, ...]
    environment: dict[str, str]


def plan(config: UpConfig, run: Path) -> Plan:
    """Return the processes for `config`; writes the configuration file of the embedded Redis, with its password.

    `run` is an empty folder that lives as long as they do.
    """
    python = sys.executable
    environment = {
        **os.environ,
        "PYTHONUNBUFFERED": "1",
        "PYTHONPATH": str(ROOT),
        "GANTRY_DATA_DIR": str(config.data),
        "DJANGO_SETTINGS_MODULE": "gateway.settings",
        FOLDER_VARIABLE: str(run),
        "GANTRY_NAME_SERVERS": f"{config.reachable_host}:{config.namesrv_port}",
    }
    if config.has_access_control:
        # Who names a file has another account for the gateway, and put it into the brokers' files.
        environment.setdefault(ACCOUNT_VARIABLE, str(prepare_accounts(config)))
    children: list[Child] = []
    if config.redis_url is None:
        child, url = _redis(config)
        children.append(child)
        environment["GANTRY_REDIS_URL"] = url
    children += [*_brokers(python, config, _tls_options(config, run)), *_gateways(python, config), *_workers(python)]
    return Plan(tuple(children), environment)


def _redis(config: UpConfig) -> tuple[Child, str]:
    folder = config.data / "redis"
    folder.mkdir(parents=True, exist_ok=True)
    port, password = free_port("127.0.0.1"), secrets.token_urlsafe(24)
    file = folder / "redis.conf"
    file.touch(mode=0o600)
    file.write_text(
        f"bind 127.0.0.1\nport {port}\nrequirepass {password}\ndir {folder}\n"
        # Job hints and lag history must survive a restart; losing one second of them is acceptable.
        'appendonly yes\nappendfsync everysec\nsave ""\n'
        "maxmemory 512mb\nmaxmemory-policy noeviction\nloglevel warning\n",
        encoding="utf-8",
    )
    child = Child("redis", (str(redis_server()), str(file)), ready="port", port=port, needs_database=False)
    return child, f"redis://:{password}@127.0.0.1:{port}/0"


def _tls_options(config: UpConfig, run: Path) -> tuple[str, ...]:
    """Return the options that name the settings of TLS: a file, since everybody sees the arguments of a process."""
    if not config.tls:
        return ()
    file = run / "tls.properties"
    file.touch(mode=0o600)
    file.write_bytes(java_properties.dump(config.tls))
    return ("--tls-config", str(file))


def _brokers(python: str, config: UpConfig, tls: tuple[str, ...]) -> Iterator[Child]:
    """Return the broker with a name server in it, or a name server that outlives each of several brokers.

    That of several replicas hosts their controller.
    """
    servers: tuple[str, ...] = ("--namesrv-port", str(config.namesrv_port), *_change_networks(config))
    is_one = len(config.broker_ports) == 1
    if not is_one:
        yield _name_server(python, config, tls)
        servers = ("--namesrv", f"{config.reachable_host}:{config.namesrv_port}")
    settings = tuple(_settings({**broker_settings(config), **replica_settings(config)}))
    for name, port in config.broker_ports.items():
        command = (
            python, "-m", "broker_core",
            "--data-dir", str(config.data),
            "--store", str(folder_of(config.data, name)),
            "--bind", config.bind,
            *servers,
            "--broker-port", str(port),
            "--broker-name", BROKER if config.replicas > 1 else name,
            "--share", str(len(config.broker_ports)),
            "--flush", config.flush,
            *settings,
            *tls,
        )  # fmt: skip
        child = "broker" if is_one else name
        yield Child(child, command, ready="line", needs_database=False, kind="broker")


def _settings(texts: Mapping[str, str]) -> Iterator[str]:
    """Return the options for settings by their names."""
    for name, text in texts.items():
        yield from ("--setting", f"{name}={text}")


def _name_server(python: str, config: UpConfig, tls: tuple[str, ...]) -> Child:
    command = (
        python, "-m", "broker_core.namesrv",
        "--bind", config.bind,
        "--port", str(config.namesrv_port),
        "--settings-file", str(config.data / "namesrv" / "kvConfig.json"),
        *_change_networks(config),
        *_settings(controller_settings(config)),
        *tls,
    )  # fmt: skip
    return Child("namesrv", command, ready="line", needs_database=False)


def _change_networks(config: UpConfig) -> tuple[str, ...]:
    return () if config.namesrv_networks is None else ("--change-networks", ",".join(config.namesrv_networks))


def _gateways(python: str, config: UpConfig) -> Iterator[Child]:
    command = gateway_command(config.bind, config.http_port, python)
    for number in range(1, config.workers + 1):
        name = "gateway" if config.workers == 1 else f"gateway-{number}"
        yield Child(name, command, ready="http", port=config.http_port)


def gateway_command(bind: str, port: int, python: str = sys.executable) -> tuple[str, ...]:
    """Return the command of one gateway process that listens on `bind`:`port`; others may listen there too."""
    return python, "-m", "gateway.serve", "--host", bind, "--port", str(port)


def _workers(python: str) -> tuple[Child, ...]:
    celery = (python, "-m", "celery", "--quiet", "-A", "gateway.celery")
    return (
        Child("sampler", (python, "manage.py", "sampler")),
        # Threads: a job's task only watches its Spark program. Two of the four stay free for the scheduler's tasks.
        Child("worker", (*celery, "worker", "-Q", "default,spark", "--pool", "threads", "-c", "4", "-l", "warning")),
        Child("beat", (*celery, "beat", "-l", "warning", "--pidfile=")),
    )
