"""Several replicas of one broker name: the settings of each, those of their controller, and who is master."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Final

from broker_core.client.admin import Admin
from broker_core.client.config import ClientConfig
from broker_core.client.session import Session
from broker_core.errors import GantryError
from broker_core.protocol.bodies.controller import NameState
from console.clusters.own_brokers import broker_names, least_in_sync
from gateway.own_tls import own_tls
from gateway.up.config import UpConfig

BROKER: Final = broker_names(1)[0]
"""The name of the broker that they are."""
HA_PORT_ABOVE: Final = 1
"""A master has a port for its slaves, this far above its own."""

_CLUSTER: Final = "local"
_ANSWER_SECONDS: Final = 2.0
_LOOK_SECONDS: Final = 0.1


@dataclass(frozen=True, slots=True)
class Known:
    """What the controller knows of the replicas, by their names here."""

    ids: dict[str, int] = field(default_factory=dict)
    """Given by the controller in the order in which they first came; a replica that has none yet is absent."""
    master: str | None = None


def controller_settings(config: UpConfig) -> dict[str, str]:
    """Return the settings of the name server's controller, which keeps its decisions in a file; none for one broker."""
    if config.replicas == 1:
        return {}
    return {
        "enableControllerInNamesrv": "true",
        "controllerClusterName": _CLUSTER,
        "controllerStorePath": str(config.data / "controller"),
    }


def replica_settings(config: UpConfig) -> dict[str, str]:
    """Return the settings of each replica; none for one broker."""
    if config.replicas == 1:
        return {}
    return {
        "enableControllerMode": "true",
        "controllerAddr": f"{config.reachable_host}:{config.namesrv_port}",
        "minInSyncReplicas": str(least_in_sync(config.replicas)),
    }


async def master_of(config: UpConfig) -> str | None:
    """Return the name of the replica that is master; None if there is none, or nobody tells within two seconds."""
    return (await _ask(config, count=0)).master


async def known_of(config: UpConfig) -> Known:
    """Return what the controller knows, at the latest after two seconds, and as soon as each replica has its id."""
    return await _ask(config, count=config.replicas)


async def _ask(config: UpConfig, count: int) -> Known:
    """Return what is known of the replicas as soon as so many of them have an id."""
    known = Known()
    if config.replicas == 1:
        return known
    client = ClientConfig([f"{config.reachable_host}:{config.namesrv_port}"], tls=own_tls().client)
    try:
        async with asyncio.timeout(_ANSWER_SECONDS), Session(client) as session:
            while True:
                known = _in(config, (await Admin(session).replication.state(BROKER)).state)
                if len(known.ids) >= count:
                    return known
                await asyncio.sleep(_LOOK_SECONDS)
    except (GantryError, TimeoutError):
        return known


def _in(config: UpConfig, state: NameState) -> Known:
    names = {str(port): name for name, port in config.broker_ports.items()}
    of_ids = {number: names.get(each.address.rpartition(":")[2]) for number, each in state.replicas.items()}
    ids = {name: number for number, name in of_ids.items() if name is not None}
    return Known(ids, None if state.master is None else of_ids.get(state.master.id))
