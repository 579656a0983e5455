"""A broker whose role controllers decide (broker/replication/README.md#the-rim)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from broker_core.broker.housekeeping import Step
from broker_core.broker.modes.mode import Around, Rest
from broker_core.broker.modes.slave_port import listen, listener_of
from broker_core.broker.processors.handlers import Handlers
from broker_core.broker.processors.replicas import ReplicaProcessor
from broker_core.broker.processors.runtime_info import Figures
from broker_core.broker.processors.state import StateProcessor
from broker_core.broker.registration import MasterPlace
from broker_core.broker.replication.confirmations import Confirmations
from broker_core.broker.replication.standing import Standing
from broker_core.broker.replication.starting import Surroundings, start_life
from broker_core.broker.replication.state_following import Around as StateAround
from broker_core.broker.replication.state_following import StateFollowing


class FailoverReplica:
    """Master, slave or fenced by turns; a send is answered when the whole in-sync set has it."""

    on_stored: Final = None

    def __init__(self, around: Around) -> None:
        """Begin a life of the replica; raises WrongIdentity, UsedElsewhere, Corrupt, StoreFull, OSError."""
        self._around = around
        config, settings, commit = around.settings.config, around.settings, around.durability
        timeout_ms = lambda: settings.config.replication.slave_timeout_ms  # noqa: E731
        self.confirmations = Confirmations(around.arrivals, timeout_ms, upto=around.store.confirmed_log_offset)
        self._listener = listener_of(around)
        self.failover = self.admission = start_life(
            config,
            Surroundings(
                store=around.store,
                address=around.address,
                roles=around.roles,
                waiting=self.confirmations,
                remoting=around.peers,
                wake=self._listener.wake,
                want_flush=commit.want if config.flushes_before_answer else None,
            ),
        )
        if config.flushes_before_answer:
            commit.watch(self.failover.flushed)
        self.standing = Standing(self.failover)
        self.waits = self.confirmations.waits

    def figures(self) -> Figures:
        return self.failover.figures()

    def master_told(self, place: MasterPlace) -> None:
        """Do nothing: the controllers tell."""

    def handlers(self, rest: Rest) -> Handlers:
        state = StateProcessor(rest.state_book, self.failover, lambda: rest.master_work.has_begun())
        replica = ReplicaProcessor(self.failover, self._around.settings.config.identity)
        return {**replica.handlers(), **state.handlers()}

    def state_of_master(self, rest: Rest) -> StateFollowing:
        around = self._around
        return StateFollowing(
            rest.registers,
            StateAround(
                store=around.store,
                roles=around.roles,
                passed_on=rest.passed_on,
                registration=rest.registration,
                remoting=around.peers,
                clock=around.clock,
                period_ms=lambda: around.settings.config.replication.sync_metadata_ms,
            ),
            self.failover,
        )

    async def listen(self) -> Sequence[Step]:
        return await listen(self._listener, self._around, self.failover.slaves.connect)

    async def run(self) -> None:
        await self.failover.run()

    async def close(self) -> None:
        await self._listener.close()
        self.failover.close()
