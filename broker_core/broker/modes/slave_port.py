"""Where slaves connect (broker/replication/README.md#port-for-slaves)."""

from __future__ import annotations

from typing import Final

from broker_core.broker.config import HA_PORT_ABOVE, BrokerConfig
from broker_core.broker.housekeeping import Step
from broker_core.broker.modes.mode import Around
from broker_core.broker.processors.parked import SLOT_MS
from broker_core.broker.replication.ha_listener import HaListener, HaPort, MakeSpeaker
from broker_core.protocol.networks import Networks

NO_STEPS: Final[tuple[Step, ...]] = ()


def listener_of(around: Around) -> HaListener:
    """Return a listener that does not listen yet."""
    config = around.settings.config
    return HaListener(
        HaPort(
            host=config.bind,
            port=config.port + HA_PORT_ABOVE,
            networks=_networks(config),
            tls=around.tls,
            limits=config.limits.of_connections(),
            sockets=around.sockets,
        )
    )


async def listen(listener: HaListener, around: Around, make: MakeSpeaker) -> tuple[Step, ...]:
    """Listen; from here on slaves are sent what arrives. Raises AddressRefused."""
    await listener.start(make)
    around.arrivals.watch(listener.wake)
    return (Step("slaves", SLOT_MS, listener.step),)


def _networks(config: BrokerConfig) -> Networks | None:
    """Return where slaves may be; None: anywhere, as in RocketMQ.

    The stream has no signature. Where requests need one, the log does not go to whoever asks.
    """
    named = config.replication.slave_networks
    return named if named.networks or config.access_control else None
