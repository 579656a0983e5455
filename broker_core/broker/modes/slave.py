"""A broker that is a slave for good (broker/README.md#following-a-master)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from broker_core.broker.housekeeping import Step
from broker_core.broker.modes.mode import Around, Rest
from broker_core.broker.modes.slave_port import NO_STEPS
from broker_core.broker.processors.ha_status import HaStatusProcessor
from broker_core.broker.processors.handlers import Handlers
from broker_core.broker.processors.runtime_info import Figures
from broker_core.broker.registration import MasterPlace
from broker_core.broker.replication.metadata import Metadata, Registers
from broker_core.broker.replication.slave_link import SlaveLink
from broker_core.broker.replication.standing import Standing


class StaticSlave:
    """Follows the master that a setting names, or else the name servers."""

    admission: Final = None
    failover: Final = None
    on_stored: Final = None
    waits: Final = None

    def __init__(self, around: Around) -> None:
        self._around = around
        self.standing = Standing()
        self.link = SlaveLink(
            store=around.store,
            arrivals=around.arrivals,
            remoting=around.peers,
            settings=around.settings,
            flush=around.durability.flush,
            clock=around.clock,
        )
        around.roles.watch(self.link.follow_role)
        if (given := self.link.master()) is not None:
            around.roles.follow(given)

    def figures(self) -> Figures:
        return {"slaveConnections": lambda: 0}

    def master_told(self, place: MasterPlace) -> None:
        self.link.follow_master(place)
        self._around.roles.follow(place.address)

    def handlers(self, _: Rest) -> Handlers:
        around = self._around
        status = HaStatusProcessor(store=around.store, slaves=tuple, roles=around.roles, settings=around.settings)
        return status.handlers()

    def state_of_master(self, rest: Rest) -> Metadata:
        own, around = rest.registers, self._around
        return Metadata(
            Registers(topics=own.topics, groups=own.groups, offsets=own.offsets, delay=own.delay),
            master=self.link.master,
            passed_on=rest.passed_on,
            registration=rest.registration,
            remoting=around.peers,
            settings=around.settings,
            clock=around.clock,
        )

    async def listen(self) -> Sequence[Step]:
        """Do nothing: slaves have their log from the master."""
        return NO_STEPS

    async def run(self) -> None:
        await self.link.run()

    async def close(self) -> None:
        """Do nothing: the end of `run` has closed the stream."""
