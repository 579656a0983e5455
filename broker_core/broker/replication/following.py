"""A replica as the slave of one master in one epoch (broker/replication/README.md#a-slave)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from broker_core.broker.replication.messages import (
    Accepted,
    AskMaster,
    BeginAnew,
    Confirmed,
    Effect,
    Exchange,
    Halt,
    Held,
    Hold,
    LeaveMaster,
    OpenStream,
    Refused,
    SendToMaster,
)
from broker_core.broker.replication.rejoin import Anew, CopyAll, Cut, MasterLog, OwnLog, Stop, plan
from broker_core.broker.replication.replica_store import ReplicaStore
from broker_core.broker.replication.retrying import Retrying
from broker_core.protocol.bodies.controller import MasterLife, NameState
from broker_core.protocol.ha_epochs import Data, MasterHandshake, Report, SlaveHandshake
from broker_core.store.errors import StoreError, StoreFull


@dataclass(frozen=True, slots=True)
class SlaveLimits:
    """Times in seconds."""

    retry: float = 0.2
    """Between two attempts to reach the master, the first time; doubled up to `retry_most`."""
    retry_most: float = 2.0
    answer: float = 2.0
    """For an answer to the request, and to the handshake."""
    silence: float = 20.0
    """A stream on which nothing comes for so long is closed (`haHousekeepingInterval`)."""
    is_learner: bool = False
    is_newest_only: bool = False


@dataclass(frozen=True, slots=True)
class Target:
    """Whom to follow, and as whom."""

    epoch: int
    address: str
    ha: str
    broker_id: int
    life: str


def target_of(view: NameState, me: MasterLife) -> Target | None:
    """Return whom a replica follows; None without a master, and for the master."""
    if view.master is None or view.master.id == me.id:
        return None
    master = view.replicas[view.master.id]
    return Target(view.epoch, master.address, master.ha, me.id, me.life)


class _Phase(Enum):
    IDLE = 0
    ASKING = 1
    GREETING = 2
    FOLLOWING = 3


class Following:
    """Connects, cuts, follows, and begins anew when the stream breaks, until it is left."""

    def __init__(self, target: Target, store: ReplicaStore, limits: SlaveLimits, first_link: int) -> None:
        self.target = target
        self.is_in_sync = False
        self.is_clean = True
        self.link = first_link
        """The number of the present attempt; what is told of another one is late."""
        self._store = store
        self._limits = limits
        self._phase = _Phase.IDLE
        self._master_begin = 0
        self._next = 0
        self._is_placed = False  # the first report is out
        self._heard_at = 0.0
        self._since = 0.0  # when it began to follow
        self._retrying = Retrying(limits.retry, limits.retry_most)
        self.trouble = ""
        """Why it does not follow, for people; empty once it has for a while.

        A stream that ends as soon as something comes, on a full disk for instance, is no reason to hurry either.
        """

    @property
    def is_following(self) -> bool:
        """Whether the stream is open and the own log is the master's, up to its end."""
        return self._phase is _Phase.FOLLOWING

    def tick(self, now: float) -> list[Effect]:
        """Connect when it is time; give up what does not answer."""
        if self._phase is _Phase.IDLE:
            return self._ask(now) if self._retrying.is_due(now) else []
        patience = self._limits.silence if self._phase is _Phase.FOLLOWING else self._limits.answer
        return self._leave("the master does not answer", now) if now - self._heard_at > patience else []

    def _ask(self, now: float) -> list[Effect]:
        self.link += 1
        self._phase, self._heard_at = _Phase.ASKING, now
        target, store = self.target, self._store
        newest, is_empty = self._limits.is_newest_only, store.end == 0
        request = Exchange(target.broker_id, target.life, target.epoch, store.segment_bytes, newest, is_empty)
        return [AskMaster(self.link, target.address, request)]

    def exchanging(self, link: int, now: float) -> None:
        """Note that the master's answer has come, and takes long to be carried out: nobody is silent."""
        if link == self.link and self._phase is _Phase.ASKING:
            self._heard_at = now

    def exchanged(self, link: int, answer: Accepted | Refused, now: float) -> list[Effect]:
        """Take the master's answer to the request."""
        if link != self.link or self._phase is not _Phase.ASKING:
            return []
        if isinstance(answer, Refused):
            return self._leave(answer.reason, now)
        try:
            if self._store.end == 0:
                self._store.begin_behind(answer.queue_ends)
        except (StoreError, OSError) as error:
            return self._leave(f"no copy can begin here: {error}", now)
        self._phase, self._heard_at, self._master_begin = _Phase.GREETING, now, answer.begin
        handshake = SlaveHandshake(
            self.target.broker_id, answer.ticket, self._limits.is_learner, self._limits.is_newest_only
        )
        return [OpenStream(link, self.target.ha, handshake)]

    def closed(self, link: int, now: float) -> list[Effect]:
        """Note that the stream is closed, or that an attempt failed."""
        return self._leave("the connection to the master is closed", now) if link == self.link else []

    def greeted(self, link: int, message: MasterHandshake, now: float) -> list[Effect]:
        """Cut the own log as the master's epochs say, and report."""
        if link != self.link or self._phase is not _Phase.GREETING:
            return []
        if not is_taken(message.epoch, self.target.epoch):
            return self._leave(f"the master is of epoch {message.epoch}, not {self.target.epoch}", now)
        try:
            return self._rejoin(message, now)
        except StoreFull as error:
            return self._leave(f"the log cannot be cut: {error}", now)
        except StoreError as error:
            held = Held(Hold.DAMAGED, f"the log cannot be cut: {error}")
            return [*self._leave(held.reason, now), Halt(held)]

    def _rejoin(self, message: MasterHandshake, now: float) -> list[Effect]:
        store = self._store
        own = OwnLog(store.begin, store.end, store.confirm, store.epochs, self.is_clean, self.is_in_sync)
        match plan(own, MasterLog(self._master_begin, message.end, message.epochs)):
            case Stop(held):
                return [*self._leave(held.reason, now), Halt(held)]
            case Anew(reason):
                return [*self._leave(reason, now), BeginAnew(reason)]
            case CopyAll(begin):
                self._next = begin
                self._cut(0)
            case Cut(at):
                # A report is an acknowledgement too, and the first one the place to send from: no half record.
                self._next = min(at, store.whole_end)
                self._cut(self._next)
        self._phase, self._heard_at, self._since = _Phase.FOLLOWING, now, now
        self._is_placed = False
        return self.report()

    def _cut(self, at: int) -> None:
        """Cut the log; an epoch in which nothing was written goes too, or the master's next one could not begin."""
        store = self._store
        if at < store.end or (store.epochs and store.epochs[-1].start >= at):
            store.cut(at)

    def received(self, link: int, message: Data, now: float) -> list[Effect]:
        """Append what comes, in its place; raise the confirm offset to what the master tells; report."""
        if link != self.link or self._phase is not _Phase.FOLLOWING:
            return []
        self._heard_at = now
        if message.log_offset != self._next:
            return self._leave(f"the master sends from {message.log_offset}, the log ends at {self._next}", now)
        try:
            trouble = self._append(message)
        except StoreError as error:
            return self._leave(str(error), now)
        if trouble:
            return self._leave(trouble, now)
        if now - self._since >= self._limits.retry_most:
            self._retrying.worked()
            self.trouble = ""
        return [*self._confirm(message.confirm), *self.report()]

    def _append(self, message: Data) -> str:
        """Return why the frame cannot be right; empty if it was appended."""
        epochs = self._store.epochs
        last = epochs[-1] if epochs else None
        if last is None or message.epoch > last.number:
            if last is not None and message.epoch_start != self._next:
                return f"epoch {message.epoch} begins at {message.epoch_start}, the log ends at {self._next}"
            self._store.roll_epoch(message.epoch, message.epoch_start)
        elif (message.epoch, message.epoch_start) != last:
            return f"epoch {message.epoch} from {message.epoch_start} comes behind {last.number} from {last.start}"
        if message.data:
            self._store.append_raw(message.log_offset, message.data)
            self._next += len(message.data)
        return ""

    def _confirm(self, told: int) -> list[Effect]:
        confirm = min(told, self._store.whole_end)
        if confirm <= self._store.confirm:
            return []
        self._store.set_confirm(confirm)
        return [Confirmed(confirm)]

    def report(self) -> list[Effect]:
        """Report what may be acknowledged by now. The first report is also where the master begins to send: the end."""
        if self._phase is not _Phase.FOLLOWING:
            return []
        safe = self._store.safe_end if self._store.end else self._next
        if not self._is_placed and safe < self._next:
            return []
        self._is_placed = True
        return [SendToMaster(self.link, Report(min(self._next, safe)))]

    def leave(self) -> list[Effect]:
        """End it for good."""
        phase, self._phase = self._phase, _Phase.IDLE
        return [LeaveMaster(self.link)] if phase is not _Phase.IDLE else []

    def _leave(self, reason: str, now: float) -> list[Effect]:
        self.trouble = reason
        self._retrying.failed(now)
        return self.leave()


def is_taken(master_epoch: int, known_epoch: int) -> bool:
    """Tell whether a master's handshake is taken: one of an older epoch is over, of a newer one the view will come."""
    return master_epoch == known_epoch
