"""Where Spark runs: the masters that can run the programs, and how their tasks reach this machine."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from typing import Final

from broker_core.spark.errors import BadRequest, Unreachable
from broker_core.spark_conf import LOCAL

DRIVER_HOST: Final = "spark.driver.host"
_CONNECT: Final = "sc://"
_CLUSTERS: Final = ("spark://", "k8s://", "yarn")
_CONNECT_PORT: Final = 15002
# Of those that name no port; any will do, since nothing is sent.
_ANY_PORT: Final = 443


def check_master(master: str) -> None:
    """Raise BadRequest for a master that cannot run these programs."""
    if not is_local(master) and not is_connect(master) and not master.startswith(_CLUSTERS):
        raise BadRequest(
            f"master {shown(master)!r} cannot run these programs; name local[N], spark://host:7077, sc://host:15002, "
            "k8s://https://host:6443 or yarn"
        )


def is_local(master: str) -> bool:
    """Whether tasks run in the JVM on this machine and can see its files."""
    return master.startswith(LOCAL)


def is_connect(master: str) -> bool:
    """Whether the driver is a Spark Connect server."""
    return master.startswith(_CONNECT)


def shown(master: str) -> str:
    """Return a master without what may be a secret: the parameters of Spark Connect, such as a token."""
    return master.partition("/;")[0]


def driver_host(master: str, conf: Mapping[str, str] | None = None) -> str:
    """Return this machine's address at which tasks of `master` can reach it: as `conf` says, or by the route there.

    Raises BadRequest if only `conf` could say it, and Unreachable.
    """
    if conf and DRIVER_HOST in conf:
        return conf[DRIVER_HOST]
    if is_local(master):
        return "127.0.0.1"
    if master == "yarn":
        raise BadRequest(f"with yarn GANTRY_SPARK_CONF has to name {DRIVER_HOST}, where executors reach this machine")
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            # Nothing is sent: the kernel only chooses the route to the master.
            probe.connect(address_of(master))
            return str(probe.getsockname()[0])
    except (OSError, ValueError) as error:
        raise Unreachable(f"Spark master {shown(master)}: {error}") from error


def address_of(master: str) -> tuple[str, int]:
    """Return host and port of a master, of the first one of several; raise ValueError if the port is no number."""
    place = shown(master).rpartition("//")[2].split(",")[0].partition("/")[0]
    host, colon, port = place.rpartition(":")
    return (host, int(port)) if colon else (place, _CONNECT_PORT if is_connect(master) else _ANY_PORT)
