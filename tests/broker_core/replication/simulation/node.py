"""A replica's process: the real sans-io replica, and a rim that carries its effects out in the simulation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, get_args

from broker_core.broker.replication.effects import Effects, WaitsForRoom
from broker_core.broker.replication.identity import next_life
from broker_core.broker.replication.messages import (
    Accepted,
    AlterSet,
    Answered,
    ApplyId,
    Ask,
    AskMaster,
    Become,
    BeginAnew,
    CloseSlave,
    Confirmed,
    Effect,
    Halt,
    HandedOver,
    Held,
    Identity,
    LeaveMaster,
    OpenStream,
    Outcome,
    Refusal,
    Refused,
    RefuseWaiting,
    Register,
    SaveIdentity,
    SendHeartbeat,
    SendToMaster,
    SendToSlave,
)
from broker_core.broker.replication.replica import Replica, ReplicaSettings
from broker_core.broker.role import RoleKind
from broker_core.controller import commands
from broker_core.protocol.bodies.controller import NameState
from broker_core.protocol.ha_epochs import Data
from broker_core.store.errors import StoreError, StoreFull
from tests.broker_core.replication.simulation.clock import Clock
from tests.broker_core.replication.simulation.disk import Disk, DiskStore
from tests.broker_core.replication.simulation.engine import NAME
from tests.broker_core.replication.simulation.network import Stream
from tests.broker_core.replication.simulation.real import RealDisk, RealStore

if TYPE_CHECKING:
    from tests.broker_core.replication.simulation.world import World

CLUSTER = "C"
_EFFECTS: Final = get_args(Effect)


@dataclass(slots=True)
class Waiting:
    """A send that is stored and not answered."""

    end: int
    answer: Callable[[int], None]


class Node:
    """One machine with one replica. `number` is the machine's; the replica's id is what the controllers gave."""

    def __init__(self, world: World, number: int, settings: ReplicaSettings, *, is_sync: bool) -> None:
        self.world = world
        self.number = number
        self.name = f"n{number}"
        self.disk: Disk | RealDisk = Disk(number, world.checks)
        if world.folder is not None:
            self.disk = RealDisk(number, world.checks, world.folder / self.name)
        self.clock = Clock(world.agenda)
        self.settings = settings
        self.is_sync = is_sync
        self.is_paused = False
        self.wall_ahead = 0.0  # how far its wall clock is ahead
        self.replica: Replica | None = None
        self.store: DiskStore | RealStore | None = None
        self.kind = RoleKind.FENCED
        self.waiting: list[Waiting] = []
        self.accepted: dict[int, Stream] = {}
        self.upstream: dict[int, Stream] = {}
        self.dies_after: int | None = None  # so many effects more
        self._backlog: list[Callable[[], None]] = []
        self._run = 0

    # The process

    @property
    def is_up(self) -> bool:
        return self.replica is not None

    def get(self, event: Callable[[], None]) -> None:
        if self.is_paused:
            self._backlog.append(event)
        elif self.replica is not None:
            event()

    def start(self) -> None:
        """Start a life: the identity is written before the store's mark of this boot."""
        if self.replica is not None:
            return
        disk = self.disk
        if disk.is_full:  # as the process does, which is alive and waits
            self.later(0.2, self.start)
            return
        kept = disk.identity or Identity(CLUSTER, NAME, 0, f"check-{self.number}-{self.world.next_stream()}", "0-0")
        store = RealStore(disk, is_sync=self.is_sync) if isinstance(disk, RealDisk) else None
        disk.identity = next_life(
            kept, f"{self.world.agenda.random.randrange(1 << 16):x}", was_power_lost=disk.was_power_lost
        )
        if self.world.agenda.random.random() < 0.03 * self.world.trouble:
            self.world.log(f"{self.name} dies between identity and mark")
            disk.kill()
            self.later(0.5, self.start)
            return
        if isinstance(disk, Disk):
            disk.mark = disk.boot
            self.store = DiskStore(disk, is_sync=self.is_sync)
        elif disk.store is not None:
            disk.store.note_loss_told()
            self.store = store
        assert self.store is not None
        self.replica = Replica(disk.identity, self.store, self.settings)
        self.kind = RoleKind.FENCED
        self._run += 1
        action = partial(self._carry_out, self._run)
        self.effects = Effects(dict.fromkeys(_EFFECTS, action), on_wait=self._rest, on_failure=_fail)
        self.world.log(f"{self.name} starts as {disk.identity}, end {self.store.end}, confirm {self.store.confirm}")
        run = self._run
        self._tick(run)
        self.later(0.5, lambda: self._flush(run))

    def lives_in(self, life: str) -> bool:
        """Tell whether this life of the replica runs."""
        return self.replica is not None and self.replica.me.life == life

    def die(self, *, power: bool = False, fails: bool = False) -> None:
        """End at once. Without power the tail of the disk may go, and nobody is told."""
        if self.replica is None:
            return
        self.world.log(f"{self.name} {'loses power' if power else 'is killed'}")
        self.replica, self.store, self.is_paused, self._backlog, self.dies_after = None, None, False, [], None
        for waiting in self.waiting:
            waiting.answer(-1)
        for stream in [*self.accepted.values(), *self.upstream.values()]:
            if power:
                stream.vanish()
            else:
                stream.end(self)
        self.waiting, self.accepted, self.upstream = [], {}, {}
        if power:
            self.disk.lose_power(self.world.agenda.random)
            return
        if fails:
            self.disk.fail(self.world.agenda.random)
        else:
            self.disk.kill()
        self.world.killed(self)

    def pause(self) -> None:
        self.is_paused = True

    def go_on(self) -> None:
        self.is_paused = False
        backlog, self._backlog = self._backlog, []
        for event in backlog:
            self.get(event)

    def later(self, seconds: float, event: Callable[[], None]) -> None:
        self.world.agenda.after(self.clock.real(seconds), event)

    def _tick(self, run: int) -> None:
        if run != self._run or self.replica is None:
            return
        self.later(0.1, lambda: self._tick(run))
        if not self.is_paused:
            self.effects.retry(self.clock.now)
            self.tell(lambda replica: replica.tick(self.clock.now))

    def _flush(self, run: int) -> None:
        if run != self._run or self.replica is None or self.store is None:
            return
        random = self.world.agenda.random
        pause = random.uniform(0.005, 0.07) * (1 if isinstance(self.disk, Disk) else 4) if self.is_sync else 0.5
        self.later(pause, lambda: self._flush(run))
        if self.is_paused:
            return
        end_flush = self.store.begin_flush()
        slow = random.uniform(0, self.disk.slow)
        if slow:
            self.later(slow, lambda: self.get(lambda: self._flushed(run, end_flush)))
        else:
            self._flushed(run, end_flush)

    def _flushed(self, run: int, end_flush: Callable[[], None]) -> None:
        if run != self._run or self.replica is None:
            return
        try:
            end_flush()
        except StoreError as error:
            self.world.log(f"{self.name}: {error}")
            self._store_failed()
            return
        if self.is_sync:
            self.tell(lambda replica: replica.flushed())

    def expire(self) -> None:
        """Let retention remove a segment that no slave still needs."""
        if self.replica is not None and self.store is not None:
            mastership = self.replica.mastership
            self.store.expire(mastership.needed_from if mastership is not None else None)

    def restart(self) -> None:
        self.die()
        self.later(0.5, self.start)

    def _store_failed(self) -> None:
        """A store that could not flush ends its process; what was not flushed may be gone."""
        self.die(fails=True)
        self.later(0.7, self.start)

    # Effects

    @property
    def rests(self) -> bool:
        """Whether what was decided last has no room on the disk: nothing may follow from it."""
        return bool(self.effects.waits_for_room)

    def has_lease(self) -> bool:
        return self.replica is not None and not self.rests and self.replica.has_lease(self.clock.now)

    def tell(self, event: Callable[[Replica], list[Effect]]) -> None:
        """Tell the replica something, which hears nothing while it rests."""
        if self.replica is not None and not self.rests:
            self.do(event(self.replica))

    def do(self, effects: list[Effect]) -> None:
        self.effects.do(effects, self.clock.now)
        if self.replica is not None and self.replica.mastership is not None:
            self.pump()

    def _carry_out(self, run: int, effect: Effect) -> None:
        if self.replica is None or run != self._run:
            return
        if self.dies_after is not None:
            self.dies_after -= 1
            if self.dies_after < 0:
                self.die(power=self.world.agenda.random.random() < 0.3)
                self.later(self.world.agenda.random.choice((0.02, 1.0)), self.start)
                return
        self._do_one(effect)

    def _rest(self, reason: str) -> None:
        """Leave master and slaves, as the rim of a broker does."""
        self.world.log(f"{self.name} rests: {reason}" if reason else f"{self.name} has room again")
        if not reason or self.replica is None:
            return
        self._refuse_waiting()
        for link in sorted(self.upstream):
            self._end(self.upstream.pop(link))
        if self.replica.following is not None:
            self.do(self.replica.master_closed(self.replica.following.link, self.clock.now))
        for link in sorted(self.accepted):
            self._end(self.accepted.pop(link))
            self.do(self.replica.slave_closed(link, self.clock.now))

    def _refuse_waiting(self) -> None:
        waiting, self.waiting = self.waiting, []
        for each in waiting:
            each.answer(14)

    def _do_one(self, effect: Effect) -> None:
        match effect:
            case Become():
                self._become(effect)
            case Confirmed(upto):
                self._answer(upto)
            case RefuseWaiting():
                self._refuse_waiting()
            case HandedOver(to):
                self.world.handed_over(self, to)
            case SaveIdentity(identity):
                if self.disk.is_full:
                    raise WaitsForRoom(StoreFull(Path("brokerIdentity"), 1))
                self.disk.identity = identity
                if self.replica is not None and self.replica.view is not None:
                    self.world.checks.seen(self.replica.view)
            case BeginAnew(reason) | Halt(Held(_, reason)):
                self._halt(reason, anew=isinstance(effect, BeginAnew))
            case _:
                self._talk(effect)

    def _talk(self, effect: Effect) -> None:
        match effect:
            case SendHeartbeat():
                self._beat(effect)
            case Ask():
                self._ask(effect)
            case AskMaster():
                self._ask_master(effect)
            case OpenStream():
                self._open(effect)
            case SendToMaster(link, message) if link in self.upstream:
                self.upstream[link].to_master(message)
            case LeaveMaster(link):
                self._end(self.upstream.pop(link, None))
            case SendToSlave(link, message) if link in self.accepted:
                self.accepted[link].to_slave(message)
            case CloseSlave(link):
                self._end(self.accepted.pop(link, None))

    def _end(self, stream: Stream | None) -> None:
        if stream is not None:
            stream.end(self)

    def _halt(self, reason: str, *, anew: bool) -> None:
        self.world.halted(self, reason, anew=anew)
        self.die()
        if anew:
            self.disk.wipe()
        self.later(0.5, self.start)

    def _become(self, effect: Become) -> None:
        self.kind = effect.role.kind
        self.world.log(f"{self.name} becomes {effect.role.kind} in {effect.role.epoch}")
        if effect.role.is_master:
            self.world.took_over(self)

    # As a master

    def send(self, message: int, answer: Callable[[int], None]) -> None:
        """Take a send; `answer` gets a response code, or -1 when the connection is lost."""
        if self.replica is None or self.store is None:
            answer(-1)
            return
        refusal = Refusal.NO_ROOM if self.rests else self.replica.refusal(self.clock.now)
        if refusal is not None or self.kind is not RoleKind.MASTER or self.replica.mastership is None:
            answer(int(refusal.code) if refusal else 14)
            return
        try:
            end = self.store.put(self.replica.mastership.epoch, message, self.world.agenda.now + self.wall_ahead)
        except StoreError:
            answer(14)
            return
        waiting = Waiting(end, answer)
        self.waiting.append(waiting)
        self.later(3.0, lambda: self._give_up(waiting))
        self.tell(lambda replica: replica.appended())
        self.pump()

    def _give_up(self, waiting: Waiting) -> None:
        if waiting in self.waiting:
            self.waiting.remove(waiting)
            waiting.answer(1)

    def _answer(self, upto: int) -> None:
        if self.replica is None or self.replica.mastership is None:
            return
        epoch = self.replica.mastership.epoch
        while self.waiting and self.waiting[0].end <= upto:
            waiting = self.waiting.pop(0)
            at = waiting.end // self.disk.unit - 2
            self.world.checks.answered(self.number, epoch, at, self.disk.log[at])
            self.world.acked += 1
            self.world.acked_at = self.world.agenda.now
            waiting.answer(0)

    def pump(self) -> None:
        replica = self.replica
        if replica is None or replica.mastership is None or self.store is None:
            return
        for link in sorted(self.accepted):
            while (span := replica.next_span(link, self.clock.now)) is not None:
                units: Any = self.store.read(span.log_offset, span.size)
                data = Data(span.log_offset, span.epoch, span.epoch_start, span.confirm, units)
                self.accepted[link].to_slave(data)
                if not span.size:
                    break

    # As a slave

    def _ask_master(self, effect: AskMaster) -> None:
        master = self.world.node_at(effect.address)

        def at_master() -> None:
            assert master.replica is not None
            answer = Refused(Refusal.NO_ROOM.value) if master.rests else master.replica.exchange(effect.request)
            self.world.network.send(master, self, lambda: self._exchanged(effect.link, answer))

        self.world.network.send(self, master, at_master)

    def _exchanged(self, link: int, answer: Accepted | Refused) -> None:
        self.tell(lambda replica: replica.exchanged(link, answer, self.clock.now))

    def _open(self, effect: OpenStream) -> None:
        master = self.world.node_at(effect.ha)
        stream = Stream(self.world.network, self, master, self.world.next_stream())
        run, master_run, link = self._run, master._run, effect.link

        def mine(event: Callable[[Replica], list[Effect]]) -> None:
            if self._run == run:
                self.tell(event)

        def theirs(event: Callable[[Replica], list[Effect]]) -> None:
            if master._run == master_run and master.replica is not None:
                if not master.rests:
                    master.accepted.setdefault(stream.number, stream)
                master.tell(event)

        def slave_closed() -> None:
            if self._run == run and self.replica is not None:
                self.do(self.replica.master_closed(link, self.clock.now))

        def master_closed() -> None:
            if master._run == master_run and master.replica is not None:
                master.do(master.replica.slave_closed(stream.number, master.clock.now))
            master.accepted.pop(stream.number, None)

        stream.on_slave = lambda message: mine(lambda replica: replica.from_master(link, message, self.clock.now))
        stream.on_master = lambda message: theirs(
            lambda replica: replica.from_slave(stream.number, message, master.clock.now)
        )
        stream.on_slave_closed = slave_closed
        stream.on_master_closed = master_closed
        self.upstream[link] = stream
        if master.is_up:
            stream.to_master(effect.handshake)
        else:
            stream.end(master)

    # Controllers

    def _beat(self, effect: SendHeartbeat) -> None:
        for controller in self.world.controllers:
            self.world.beat(self, controller, effect, self.clock.now)

    def heard(self, event: Callable[[Replica], list[Effect]], run: int) -> None:
        if run == self._run:
            self.tell(event)

    @property
    def run(self) -> int:
        return self._run

    def _ask(self, effect: Ask) -> None:
        run = self._run

        def answer(outcome: Outcome, state: NameState | None, broker_id: int = 0) -> None:
            message = Answered(effect.number, outcome, state, broker_id)
            self.heard(lambda replica: replica.answered(message, self.clock.now), run)

        self.world.ask(self, effect, answer)


def _fail(error: Exception) -> None:
    raise error


def on_the_wire(command: Any) -> commands.Command:
    """Turn a replica's command into the controllers'."""
    match command:
        case ApplyId(broker_id, check):
            return commands.ApplyId(NAME, CLUSTER, broker_id, check)
        case Register():
            return commands.Register(
                NAME,
                CLUSTER,
                command.broker_id,
                command.life,
                command.address,
                command.ha,
                command.check,
                command.is_clean,
                command.last_epoch,
                command.known_epoch,
            )
        case AlterSet():
            members = tuple((each.id, each.life) for each in command.members)
            return commands.AlterSet(NAME, command.broker_id, command.life, command.epoch, command.set_version, members)
    raise AssertionError(command)
