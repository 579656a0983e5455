"""The rim of a replica in failover mode: carries out what `replica.py` wants, and tells it what happens.

broker/replication/README.md#the-rim.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, Protocol

from broker_core.broker.processors.runtime_info import Figures
from broker_core.broker.replication import messages as say
from broker_core.broker.replication.controllers import Controllers
from broker_core.broker.replication.effects import Effects, WaitsForRoom
from broker_core.broker.replication.exchange import ask_master
from broker_core.broker.replication.figures import figures_of
from broker_core.broker.replication.handing_over import HandingOver
from broker_core.broker.replication.identity_file import save_identity
from broker_core.broker.replication.master_stream import MasterStreams
from broker_core.broker.replication.messages import Accepted, Effect, Exchange, Refusal, Refused, Span
from broker_core.broker.replication.rejoin import ends
from broker_core.broker.replication.replica import Replica
from broker_core.broker.replication.replica_log import ReplicaLog
from broker_core.broker.replication.slave_streams import SlaveStreams
from broker_core.broker.replication.trouble import TroubleLog
from broker_core.broker.role import Role, RoleKind, Roles
from broker_core.logs import get_logger
from broker_core.protocol.codes import SEND_REFUSAL_KEY, TROUBLE_KEY
from broker_core.protocol.ha_epochs import FromMaster, FromSlave
from broker_core.remoting.client import RemotingClient
from broker_core.store.errors import StoreFull

TICK_SECONDS: Final = 0.1

_log: Final = get_logger(__name__)


class Waiting(Protocol):
    """The sends that wait for a confirmation, and the readers that wait for messages."""

    def confirmed(self, upto: int) -> None:
        """Answer and show what is confirmed."""

    def refuse(self, reason: Refusal) -> None:
        """Answer all that wait with a reason."""


class Failover:
    """Drives one replica. Belongs to one loop; nothing here waits, but tasks that tell what came of it."""

    def __init__(
        self,
        replica: Replica,
        log: ReplicaLog,
        *,
        roles: Roles,
        remoting: RemotingClient,
        folder: Path,
        waiting: Waiting,
        want_flush: Callable[[], None] | None,
        clock: Callable[[], float],
    ) -> None:
        """`want_flush` asks for a flush of what a master sent, where only that may be reported (`flushed`)."""
        self.replica = replica
        self.log = log
        self.anew: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        """Gets a reason when this process has to begin anew with an empty log."""
        self._want_flush = want_flush
        self._lease_watchers: list[Callable[[], None]] = []
        self._roles = roles
        self._remoting = remoting
        self._folder = folder
        self._waiting = waiting
        self._clock = clock
        self._effects = Effects(
            {kind: partial(action, self) for kind, action in self._actions.items()},
            on_wait=self._rest,
            on_failure=self._fail,
        )
        self._failure: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._asking: asyncio.Task[None] | None = None
        self._handing_over = HandingOver()
        self._is_append_told = True
        self._trouble = TroubleLog(replica)

    def attach(self, *, controllers: Controllers, masters: MasterStreams, slaves: SlaveStreams) -> None:
        """Give the connections, which tell this replica what comes over them; once, before anything else is called."""
        self.controllers = controllers
        self.masters = masters
        self.slaves = slaves

    async def run(self) -> None:
        """Tick, and talk to controllers, until cancelled. Raises what an effect raised, in a group."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self.controllers.run(), name="controllers")
            tasks.create_task(self._tick(), name="replica")
            tasks.create_task(self._wait_for_failure(), name="effects of the replica")

    async def _wait_for_failure(self) -> None:
        await self._failure

    async def _tick(self) -> None:
        while True:
            self._effects.retry(self._clock())
            if not self._waits_for_room:
                self._do(self.replica.tick(self._clock()))
                self._trouble.look(self.log.end)
            self._tidy()
            self.slaves.wake()
            await asyncio.sleep(TICK_SECONDS)

    def _tidy(self) -> None:
        mastership = self.replica.mastership
        try:
            self.log.tidy(mastership.needed_from if mastership is not None else None)
        except StoreFull as error:
            _log.debug("replica: epochs that nobody needs stay: %s", error)

    def close(self) -> None:
        """Leave the master; the streams of slaves close with their port."""
        if self._asking is not None:
            self._asking.cancel()
        self.masters.close()

    # What the broker asks and tells

    def refusal(self) -> Refusal | None:
        """Return why a message is not to be stored now; None if it is."""
        return Refusal.NO_ROOM if self._waits_for_room else self.replica.refusal(self._clock())

    def has_lease(self) -> bool:
        """Return whether this is surely the only master at this moment."""
        return not self._waits_for_room and self.replica.has_lease(self._clock())

    def watch_lease(self, watcher: Callable[[], None]) -> None:
        """Call `watcher` whenever this master knows, for the first time or again, that it is the only one."""
        self._lease_watchers.append(watcher)

    @property
    def epoch(self) -> int:
        """The newest epoch known; 0 before the first state."""
        return self.replica.epoch

    @property
    def begin(self) -> int:
        """The log offset at which the newest epoch of the log began; its end without one."""
        epochs = self.log.epochs
        return epochs[-1].start if epochs else self.log.end

    def is_settled(self) -> bool:
        """Return whether this is the master, and all that earlier masters left in its log is confirmed."""
        return self.replica.mastership is not None and self.log.confirm >= self.begin

    def members(self) -> frozenset[int]:
        """Return the connected members of the in-sync set without this replica, while it is the master."""
        mastership = self.replica.mastership
        return frozenset() if mastership is None else mastership.connected_members()

    def has_kept(self, epoch: int, log_offset: int) -> bool:
        """Return whether the log still has what was written in an epoch, up to a log offset; 0: before the first."""
        epochs = self.log.epochs
        if epoch == 0:
            return not epochs or log_offset <= epochs[0].start
        return any(
            each.number == epoch and log_offset <= end
            for each, end in zip(epochs, ends(epochs, self.log.end), strict=True)
        )

    def appended(self) -> None:
        """Note that messages were stored; told once for all of one turn of the loop."""
        if self._is_append_told:
            self._is_append_told = False
            asyncio.get_running_loop().call_soon(self._tell_appended)
            self.slaves.wake()

    def _tell_appended(self) -> None:
        self._is_append_told = True
        self._tell(self.replica.appended)

    def flushed(self) -> None:
        """Note that a flush has ended."""
        self._tell(self.replica.flushed)

    def figures(self) -> Figures:
        """Return what the runtime information shows of a replica."""
        return {
            **figures_of(self.replica, self.log, self._roles),
            "leaseRemainingMs": self._lease_ms,
            "slaveConnections": lambda: len(self.slaves.peers()) if self.replica.mastership is not None else None,
            SEND_REFUSAL_KEY: self._refusal_words,
            TROUBLE_KEY: lambda: self._effects.waits_for_room or self.replica.trouble,
            "waitsForRoom": lambda: int(bool(self._effects.waits_for_room or self.replica.taking_over.trouble)),
        }

    def _refusal_words(self) -> str:
        refusal = self.refusal()
        return "" if refusal is None else refusal.value

    def _lease_ms(self) -> int | None:
        mastership = self.replica.mastership
        return int(mastership.lease.left(self._clock()) * 1000) if mastership is not None else None

    def look(self) -> None:
        """Tell controllers a heartbeat now: its answer brings the newest state."""
        self._tell(lambda: [self.replica.heartbeat(self._clock())])

    async def hand_over(self, to: int, timeout_ms: int) -> str | None:
        """Take no more messages until replica `to` has the whole log; return why it has not, None if it has."""
        if self._waits_for_room:
            return Refusal.NO_ROOM.value
        why_not = self.replica.hand_over(to, timeout_ms / 1000, self._clock())
        return await self._handing_over.wait(to, timeout_ms) if why_not is None else why_not

    def exchange(self, request: Exchange) -> Accepted | Refused:
        """Answer a slave that wants to connect (906). Raises StoreError when the disk does not do what it should."""
        return Refused(Refusal.NO_ROOM.value) if self._waits_for_room else self.replica.exchange(request)

    # What controllers, the master and slaves tell

    def heard(self, message: say.Heard) -> None:
        had_lease = self.has_lease()
        self._tell(lambda: self.replica.heard(message, self._clock()))
        if not had_lease and self.has_lease():
            for watcher in self._lease_watchers:
                watcher()

    def answered(self, message: say.Answered) -> None:
        self._tell(lambda: self.replica.answered(message, self._clock()))

    def from_master(self, link: int, message: FromMaster) -> None:
        self._tell(lambda: self.replica.from_master(link, message, self._clock()))
        if self._want_flush is not None:
            self._want_flush()

    def master_closed(self, link: int) -> None:
        self._do(self.replica.master_closed(link, self._clock()))

    def from_slave(self, link: int, message: FromSlave) -> None:
        self._tell(lambda: self.replica.from_slave(link, message, self._clock()))

    def slave_closed(self, link: int) -> None:
        self._do(self.replica.slave_closed(link, self._clock()))

    def next_span(self, link: int) -> Span | None:
        return self.replica.next_span(link, self._clock())

    # Effects

    @property
    def _waits_for_room(self) -> bool:
        return bool(self._effects.waits_for_room)

    def _tell(self, tell: Callable[[], Sequence[Effect]]) -> None:
        """Tell the replica something and do what it wants; one that waits for room hears nothing, as if it was stopped.

        What it decided last is not on its disk, and nothing may follow from it.
        """
        if not self._waits_for_room:
            self._do(tell())

    def _do(self, effects: Sequence[Effect]) -> None:
        self._effects.do(effects, self._clock())

    def _rest(self, reason: str) -> None:
        """Leave master and slaves, so that they go on without this replica, until its disk has room."""
        if not reason:
            _log.info("replica: the disk has room again")
            return
        _log.error("replica: rests until its disk has room: %s", reason)
        self._waiting.refuse(Refusal.NO_ROOM)
        if self._asking is not None:
            self._asking.cancel()
        self.masters.close()
        if self.replica.following is not None:
            self.master_closed(self.replica.following.link)
        for link in self.slaves.peers():
            self.slaves.close(link, Refusal.NO_ROOM.value)
            self.slave_closed(link)

    def _fail(self, error: Exception) -> None:
        """Serve nothing any more; `run` ends with the error."""
        self._failure.set_exception(error)
        self.replica.halted = f"an effect could not be carried out: {error}"
        _log.critical("replica: stopped, %s", self.replica.halted)
        self._end()

    def _save_identity(self, effect: say.SaveIdentity) -> None:
        try:
            save_identity(self._folder, effect.identity)
        except StoreFull as error:
            raise WaitsForRoom(error) from error

    def _ask_master(self, effect: say.AskMaster) -> None:
        self._asking = asyncio.get_running_loop().create_task(self._exchange(effect), name="exchange with the master")

    async def _exchange(self, effect: say.AskMaster) -> None:
        answer = await ask_master(self._remoting, effect)
        await self.log.make_queues(answer, lambda: self._exchanging(effect.link))
        self._tell(lambda: self.replica.exchanged(effect.link, answer, self._clock()))

    def _exchanging(self, link: int) -> None:
        if self.replica.following is not None:
            self.replica.following.exchanging(link, self._clock())

    def _leave_master(self, effect: say.LeaveMaster) -> None:
        if self._asking is not None:
            self._asking.cancel()
        self.masters.leave(effect.link)

    def _become(self, effect: say.Become) -> None:
        self._roles.become(effect.role)
        if effect.role.is_master:
            self.look()  # for the lease: without it no client is told where the master is

    def _begin_anew(self, effect: say.BeginAnew) -> None:
        _log.warning("replica: begins anew with an empty log: %s", effect.reason)
        self._end()
        if not self.anew.done():
            self.anew.set_result(effect.reason)

    def _halt(self, effect: say.Halt) -> None:
        _log.critical("replica: stopped for good, nothing was changed: %s", effect.held.reason)
        self._end()

    def _end(self) -> None:
        self._waiting.refuse(Refusal.FENCED)
        self._roles.become(Role(RoleKind.FENCED, self.replica.identity.broker_id))

    _actions: Final[Mapping[type[Any], Callable[[Failover, Any], None]]] = {
        say.SendHeartbeat: lambda self, effect: self.controllers.send(effect),
        say.Ask: lambda self, effect: self.controllers.ask(effect),
        say.HandedOver: lambda self, _: self._handing_over.ready(),
        say.AskMaster: _ask_master,
        say.OpenStream: lambda self, effect: self.masters.open(effect.link, effect.ha, effect.handshake),
        say.SendToMaster: lambda self, effect: self.masters.report(effect.link, effect.message),
        say.LeaveMaster: _leave_master,
        say.SendToSlave: lambda self, effect: self.slaves.greet(effect.link, effect.message),
        say.CloseSlave: lambda self, effect: self.slaves.close(effect.link, effect.reason),
        say.Become: _become,
        say.Confirmed: lambda self, effect: self._waiting.confirmed(effect.upto),
        say.RefuseWaiting: lambda self, effect: self._waiting.refuse(effect.reason),
        say.SaveIdentity: _save_identity,
        say.BeginAnew: _begin_anew,
        say.Halt: _halt,
    }
