"""Which broker is one of Gantry: only these know how a transaction ended, and check it by its one record."""

from __future__ import annotations

from broker_core.client.admin import Admin
from broker_core.client.errors import NoRoute
from broker_core.protocol.topics import HALF_TOPIC
from console.brokers.catalogue import product_of


async def is_gantry(admin: Admin, broker: str) -> bool:
    """Return whether the master of a broker is one of Gantry; raise NoRoute, BrokerRefused or Unreachable.

    It is asked each time: a store, with the name of its broker, may pass from one product to the other.
    """
    address = next((addr for addr, name in (await admin.clusters.masters()).items() if name == broker), None)
    if address is None:
        raise NoRoute(HALF_TOPIC, f"no master of broker {broker!r} is known")
    return product_of(await admin.maintenance.settings_of(address)) == "gantry"
