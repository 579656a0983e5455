"""A broker that is the master for good, with or without slaves (broker/replication/README.md#static-master)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from broker_core.broker.config import BrokerRole
from broker_core.broker.housekeeping import Step
from broker_core.broker.modes.mode import Around, Rest
from broker_core.broker.modes.slave_port import NO_STEPS, listen, listener_of
from broker_core.broker.processors.ha_status import HaStatusProcessor
from broker_core.broker.processors.handlers import Handlers
from broker_core.broker.processors.runtime_info import Figures
from broker_core.broker.registration import MasterPlace
from broker_core.broker.replication.ha_listener import loop_ms
from broker_core.broker.replication.slaves import Slaves
from broker_core.broker.replication.standing import Standing
from broker_core.broker.waits import ReplicaWaits
from broker_core.logs import get_logger
from broker_core.remoting import AddressRefused

_log = get_logger(__name__)


class StaticMaster:
    """Sends its log to whatever slave connects; as SYNC_MASTER a send waits for one."""

    admission: Final = None
    failover: Final = None

    def __init__(self, around: Around) -> None:
        self._around = around
        settings = around.settings
        self.standing = Standing()
        self.slaves = Slaves(around.store, lambda: settings.config.replication, loop_ms)
        self.waits: ReplicaWaits | None = None
        self.on_stored: Callable[[], None] | None = None
        self._listener = listener_of(around)
        self._is_waited_for = settings.config.replication.role is BrokerRole.SYNC_MASTER
        if self._is_waited_for:
            self.waits = ReplicaWaits(self.slaves, lambda: settings.config.replication.slave_timeout_ms)
            self.slaves.watch(self.waits.advance)
            self.on_stored = self._listener.wake

    def figures(self) -> Figures:
        return {"slaveConnections": lambda: len(self.slaves), "replicationLagBytes": self.slaves.lag}

    def master_told(self, place: MasterPlace) -> None:
        """Do nothing: it is this one."""

    def handlers(self, _: Rest) -> Handlers:
        around = self._around
        status = HaStatusProcessor(
            store=around.store, slaves=self.slaves.states, roles=around.roles, settings=around.settings
        )
        return status.handlers()

    def state_of_master(self, _: Rest) -> None:
        return None

    async def listen(self) -> Sequence[Step]:
        """Listen for slaves; one whose sends wait for them needs that port."""
        config = self._around.settings.config
        if config.port == 0:
            return NO_STEPS
        try:
            return await listen(self._listener, self._around, self.slaves.connect)
        except AddressRefused as error:
            if self._is_waited_for:
                raise
            _log.warning("broker=%s: the port for slaves is not available: %s", config.identity.name, error)
            return NO_STEPS

    async def run(self) -> None:
        """Return: there is nobody to follow."""

    async def close(self) -> None:
        await self._listener.close()
