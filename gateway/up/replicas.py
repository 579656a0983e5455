"""Several replicas of one broker name: the settings of each, those of their controller, and who is master."""

from __future__ import annotations

import asyncio
from typing import Final

from broker_core.client.admin import Admin
from broker_core.client.config import ClientConfig
from broker_core.client.session import Session
from broker_core.errors import GantryError
from console.clusters.own_brokers import broker_names
from gateway.own_tls import own_tls
from gateway.up.config import UpConfig

BROKER: Final = broker_names(1)[0]
"""The name of the broker that they are."""
HA_PORT_ABOVE: Final = 1
"""A master has a port for its slaves, this far above its own."""

_CLUSTER: Final = "local"
_FEWEST_FOR_TWO: Final = 3
_ANSWER_SECONDS: Final = 2.0


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
    """Return the settings of each replica; none for one broker.

    With three or more a message is answered when two have it, so that it survives the loss of one. Two could not go on
    after the loss of one then.
    """
    if config.replicas == 1:
        return {}
    return {
        "enableControllerMode": "true",
        "controllerAddr": f"{config.reachable_host}:{config.namesrv_port}",
        "minInSyncReplicas": "2" if config.replicas >= _FEWEST_FOR_TWO else "1",
    }


async def master_of(config: UpConfig) -> str | None:
    """Return the name of the replica that is master; None if there is none, or nobody tells within two seconds."""
    if config.replicas == 1:
        return None
    client = ClientConfig([f"{config.reachable_host}:{config.namesrv_port}"], tls=own_tls().client)
    try:
        async with asyncio.timeout(_ANSWER_SECONDS), Session(client) as session:
            state = (await Admin(session).replication.state(BROKER)).state
    except (GantryError, TimeoutError):
        return None
    address = "" if state.master is None else state.replicas[state.master.id].address
    ports = {str(port): name for name, port in config.broker_ports.items()}
    return ports.get(address.rpartition(":")[2])
