"""What `make up` reads from the environment; `settings.py` lists every name with its default."""

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
