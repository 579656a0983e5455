"""How a further replica is started: the file and the command, with the values of those that there are."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final

from broker_core.protocol.bodies.controller import NameState
from console.replicas.adding_shapes import Missing

_PORT: Final = "10911"
_UNSAFE_IN_A_UNIT: Final = re.compile(r"[^A-Za-z0-9_.-]")
# Segments must have one size on all; a replica that differs in the others keeps less than its siblings promise.
_LIKE_OTHERS: Final = ("minInSyncReplicas", "flushDiskType", "mappedFileSizeCommitLog")


@dataclass(frozen=True, slots=True)
class Place:
    """Where the process will listen, as far as it is known."""

    host: str | None = None
    port: int | None = None


@dataclass(frozen=True, slots=True)
class Start:
    """What starts a replica, and what its configuration lacks."""

    command: str
    file: str | None = None
    configuration: str | None = None
    missing: Sequence[Missing] = ()


def on_a_machine(
    state: NameState, settings: Mapping[str, str], name_servers: Sequence[str], place: Place, *, has_tls: bool
) -> Start:
    """Return the unit of docs/systemd and its file.

    `settings` are another replica's, empty if none told them: then `name_servers`, which the console asks, stand there.
    """
    unit = _UNSAFE_IN_A_UNIT.sub("-", state.name.removeprefix("broker-")) or "new"
    known = ";".join(name_servers)
    lines = {
        "brokerClusterName": state.cluster,
        "brokerName": state.name,
        "brokerIP1": place.host,
        "listenPort": str(place.port) if place.port is not None else _port_of(state),
        "storePathRootDir": f"/var/lib/gantry/{unit}/store",
        "namesrvAddr": settings.get("namesrvAddr") or known,
        "enableControllerMode": "true",
        "controllerAddr": settings.get("controllerAddr") or known,
        **{name: settings.get(name) for name in _LIKE_OTHERS},
        **_access(settings),
    }
    lacks: dict[Missing, bool] = {
        "address": place.host is None,
        "settings": not settings,
        "accounts": "aclEnable" in lines,
        "tls": has_tls,
        "reachable_names": _names_this_machine(f"{lines['namesrvAddr']};{lines['controllerAddr']}"),
    }
    return Start(
        f"systemctl enable --now gantry-broker@{unit}",
        f"/etc/gantry/broker-{unit}.conf",
        "".join(f"{name}={value}\n" for name, value in lines.items() if value is not None),
        [name for name, is_so in lacks.items() if is_so],
    )


def _access(settings: Mapping[str, str]) -> dict[str, str | None]:
    if settings.get("aclEnable") != "true":
        return {}
    return {"aclEnable": "true", "aclReplicaAccount": settings.get("aclReplicaAccount") or None}


def _port_of(state: NameState) -> str:
    """Return the port of another replica: on machines of their own all have the same."""
    ports = [each.address.rpartition(":")[2] for _, each in sorted(state.replicas.items()) if each.address]
    return ports[0] if ports else _PORT


def _names_this_machine(servers: str) -> bool:
    hosts = [each.strip().rpartition(":")[0].strip("[]") for each in servers.split(";") if each.strip()]
    return any(map(_is_loopback, hosts))


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
