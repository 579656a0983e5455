"""One replica of a broker name, from its start to its end (broker/replication/README.md#automatic-failover).

Sans-io and deterministic: time is an argument (seconds of `broker_core.clock.boot_seconds`), the store a protocol, and
what is to be done comes back as effects (`messages.py`), to be carried out in their order. The rim

- calls `tick` every 100 ms, and carries `SendHeartbeat` to **all** controllers;
- tells `heard` for each answer to a heartbeat and each pushed state, `answered` for each answer to an `Ask`;
- as a slave: sends `AskMaster` (906) and tells `exchanged`; for `OpenStream` connects, sends the handshake, and tells
  `from_master` for each message, `master_closed` when it fails or ends; tells `flushed` after each flush;
- as a master: answers 906 with `exchange`, tells `from_slave` and `slave_closed` for accepted streams (numbered by the
  rim, never twice), calls `next_span` whenever a stream takes bytes, until it is None; asks `refusal` before a send is
  stored and calls `appended` behind it; lets senders wait for `Confirmed` or `RefuseWaiting`; begins `hand_over` when a
  controller asks for it (9003), and answers when `HandedOver` comes;
- asks `has_lease` at the moment of use, and keeps the log from `mastership.needed_from` on;
- ends the process after `Halt`, and after `BeginAnew` with the store's folder put aside: `halted` says why.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from broker_core.broker.replication.asking import Asking
from broker_core.broker.replication.following import Following, SlaveLimits, target_of
from broker_core.broker.replication.identity import remembering
from broker_core.broker.replication.introducing import Introducing
from broker_core.broker.replication.mastership import MasterLimits, Mastership
from broker_core.broker.replication.messages import (
    Accepted,
    AlterSet,
    Answered,
    ApplyId,
    Become,
    BeginAnew,
    CloseSlave,
    Effect,
    Exchange,
    Halt,
    Heard,
    Held,
    Hold,
    Identity,
    NextId,
    Outcome,
    Refusal,
    Refused,
    RefuseWaiting,
    SaveIdentity,
    SendHeartbeat,
    Span,
)
from broker_core.broker.replication.replica_store import ReplicaStore
from broker_core.broker.replication.retrying import Retrying
from broker_core.broker.replication.taking_over import TakingOver
from broker_core.broker.replication.views import last_epoch, names_me, role_in
from broker_core.broker.role import Role, RoleKind
from broker_core.protocol.bodies.controller import MasterLife, NameState, life_number
from broker_core.protocol.ha_epochs import FromMaster, FromSlave, MasterHandshake, SlaveHandshake
from broker_core.store.errors import StoreError


@dataclass(frozen=True, slots=True)
class ReplicaSettings:
    """Where this replica is reached, who controls it, and its limits. Times are seconds."""

    address: str
    ha: str
    controllers: int = 1
    """How many controllers there are."""
    heartbeat: float = 0.5
    ask_again: float = 1.0
    ask_again_most: float = 30.0
    """Who is refused waits longer and longer, up to this."""
    master: MasterLimits = field(default_factory=MasterLimits)
    slave: SlaveLimits = field(default_factory=SlaveLimits)


class Replica:
    """What this process is in its broker name, and what follows from it."""

    def __init__(self, identity: Identity, store: ReplicaStore, settings: ReplicaSettings) -> None:
        """Begin as FENCED. `identity` is written and synced, with the present life, before this is called."""
        self.identity = identity
        self.kind = RoleKind.FENCED
        self.view: NameState | None = None
        self.mastership: Mastership | None = None
        self.following: Following | None = None
        self.halted = ""
        """Why it stopped for good; empty while it runs."""
        self._held: Held | None = None
        self._is_clean = not identity.is_unclean
        self._store = store
        self._settings = settings
        self.taking_over = TakingOver(store)
        self._asking = Asking(settings.controllers, settings.ask_again)
        refused = Retrying(settings.ask_again, settings.ask_again_most)
        self._introducing = Introducing(self._asking, store, settings.address, settings.ha, refused)
        self._heartbeat_at = float("-inf")
        self._refused_at: float | None = None  # the set is not what this master believed, until it is known anew
        self._links = 0

    @property
    def me(self) -> MasterLife:
        """Id and life of this process."""
        return MasterLife(self.identity.broker_id, self.identity.life)

    @property
    def epoch(self) -> int:
        """The newest epoch known; 0 before the first view."""
        return self.view.epoch if self.view is not None else 0

    @property
    def held(self) -> Held | None:
        """Why it takes no part until somebody does something; None while it does, or will by itself."""
        return self._held or self._introducing.held

    @property
    def trouble(self) -> str:
        """Why it neither leads nor follows as it should, for people; empty while it does."""
        if self.following is not None and self.held is None:
            return self.following.trouble
        return self.halted or self.taking_over.trouble or (self.held.reason if self.held is not None else "")

    # Time

    def tick(self, now: float) -> list[Effect]:
        """Do what is due."""
        if self.halted:
            return []
        if self.taking_over.trouble and self.view is not None:
            # No heartbeat: another one may be elected.
            return self._watch_halt(self._take_over(self.view, now)) if self.taking_over.is_due(now) else []
        effects: list[Effect] = []
        if now - self._heartbeat_at >= self._settings.heartbeat and self.identity.broker_id:
            # Also while it is refused: without hearing it, controllers neither heal nor adopt what was set back.
            effects.append(self.heartbeat(now))
        if self._introducing.is_due(now):
            effects += self._introducing.ask(self.identity, self.view, now)
        if self.mastership is not None:
            effects += [*self.mastership.tick(now), *self._ask_as_master(self.mastership, now)]
        if self.following is not None:
            effects += self._watch_halt(self.following.tick(now))
        return effects

    def heartbeat(self, now: float) -> SendHeartbeat:
        """Return what to tell the controllers now, which is due when anything is to be learned of them."""
        self._heartbeat_at = now
        store = self._store
        me = self.identity.broker_id, self.identity.life
        wants_state = self._refused_at is not None or self.view is None
        log = store.whole_end, store.confirm, last_epoch(store)
        return SendHeartbeat(*me, self.epoch, *log, self.identity.known, wants_state)

    def _ask_as_master(self, mastership: Mastership, now: float) -> list[Effect]:
        return list(self._asking.want(AlterSet, mastership.wanted(now), now))

    # What controllers tell

    def heard(self, message: Heard, now: float) -> list[Effect]:
        """Take an answer to a heartbeat, or a pushed state."""
        if self.halted:
            return []
        if message.is_leading:
            self._asking.leads(message.controller)
        self._introducing.heard(self.identity.broker_id, message.state)
        effects = self._see(message.state, message.sent_at, now) if message.state is not None else []
        if self.mastership is not None:
            self.mastership.lease.grant(message.sent_at, message.grant, message.granted_epoch)
        return effects

    def answered(self, message: Answered, now: float) -> list[Effect]:
        """Take the answer to a command."""
        if self.halted:
            return []
        if message.outcome is Outcome.ASK_ANOTHER:
            self._asking.unsettled(message.number, now)
            return []
        command = self._asking.settled(message.number)
        self._introducing.answered(command, message, now)
        effects: list[Effect] = []
        is_done = message.outcome is Outcome.DONE
        if isinstance(command, NextId) and is_done:
            effects += self._keep(replace(self.identity, applied_id=message.broker_id))
        if isinstance(command, ApplyId) and not self.identity.broker_id:
            effects += self._keep(replace(self.identity, broker_id=command.broker_id if is_done else 0, applied_id=0))
        if isinstance(command, AlterSet) and not is_done and self.mastership is not None:
            self.mastership.in_sync.refused()
            self._refused_at = now
        if message.state is not None:
            effects += self._see(message.state, now, now)
        return effects

    def _see(self, state: NameState, asked_at: float, now: float) -> list[Effect]:
        """Take a state of the name unless a newer one is known. `asked_at`: the controller knew it later than that."""
        if (state.name, state.cluster) != (self.identity.name, self.identity.cluster):
            return []
        if (self.view is not None and state.view < self.view.view) or state.view < self.identity.known:
            return []
        if self._refused_at is not None and asked_at >= self._refused_at:
            self._refused_at = None
        elif self.view is not None and state.view == self.view.view:
            return []
        self.view = state
        return [*self._keep(remembering(self.identity, state)), *self._watch_halt(self._act(state, now))]

    def _keep(self, identity: Identity) -> list[Effect]:
        is_new, self.identity = identity != self.identity, identity
        return [SaveIdentity(identity)] if is_new else []

    # Roles

    def _act(self, view: NameState, now: float) -> list[Effect]:
        self.taking_over.forget()
        known = view.replicas.get(self.identity.broker_id)
        if known is not None and life_number(known.life) > life_number(self.identity.life):
            later = f"replica {self.identity.broker_id} runs in a later life: {known.life}"
            return [Halt(Held(Hold.REPLACED, later))]
        if names_me(view, self.me):
            if self.mastership is None or self.mastership.epoch != view.epoch:
                return self._take_over(view, now)
            return self.mastership.viewed(view)
        if not view.is_registered(self.me.id, self.me.life):
            left = self._stop_leading(view) if self.mastership is not None else self._drop_following()
            # Who was removed is no slave either: clients are not to find it in the routes.
            return left if known is not None else [*left, *self._fence(Refusal.FENCED)]
        return [*self._stop_leading(view), *self._follow(view)]

    def _take_over(self, view: NameState, now: float) -> list[Effect]:
        """Become the master of an epoch: every step before the first send is taken, in this order."""
        effects = [*self._drop_following(), *self._end_mastership()]
        try:
            if not self.taking_over.begin(view.epoch, now):
                return [*effects, *self._fence(Refusal.NO_ROOM)]
        except StoreError as error:
            return [*effects, Halt(Held(Hold.DAMAGED, f"epoch {view.epoch} cannot begin here: {error}"))]
        self.mastership = Mastership(self.me, view, self._store, self._settings.master, now)
        return [*effects, self._become(RoleKind.MASTER, view), *self.mastership.advance()]

    def _become(self, kind: RoleKind, view: NameState) -> Become:
        self.kind = kind
        return Become(role_in(view, kind, self.identity.broker_id))

    def _fence(self, reason: Refusal) -> list[Effect]:
        if self.kind is RoleKind.FENCED:
            return []
        self.kind = RoleKind.FENCED
        return [Become(Role(self.kind, self.identity.broker_id)), RefuseWaiting(reason)]

    def _stop_leading(self, view: NameState) -> list[Effect]:
        """Step down: the role first, then those who wait, then the streams."""
        if self.mastership is None:
            return []
        role = self._become(RoleKind.SLAVE, view)
        return [role, RefuseWaiting(Refusal.DEPOSED), *self._end_mastership()]

    def _end_mastership(self) -> list[Effect]:
        mastership, self.mastership, self._refused_at = self.mastership, None, None
        self._asking.want(AlterSet, None, 0.0)
        return mastership.close_all() if mastership is not None else []

    def _follow(self, view: NameState) -> list[Effect]:
        """Follow the view's master; become a slave if this was fenced, or tell a new master."""
        target = target_of(view, self.me)
        effects: list[Effect] = []
        is_new = self.following.target != target if self.following is not None else target is not None
        if is_new:
            effects += self._drop_following()
        if is_new or self.kind is RoleKind.FENCED:
            effects.append(self._become(RoleKind.SLAVE, view))
        if target is not None and self.following is None:
            self.following = Following(target, self._store, self._settings.slave, self._links)
            self.following.is_clean = self._is_clean
        if self.following is not None:
            self.following.is_in_sync = self.identity.broker_id in view.in_sync
        return effects

    def _drop_following(self) -> list[Effect]:
        following, self.following = self.following, None
        if following is None:
            return []
        effects = following.leave()
        self._links = following.link
        return effects

    def _watch_halt(self, effects: list[Effect]) -> list[Effect]:
        for effect in effects:
            if isinstance(effect, Halt):
                self._held, self.halted = effect.held, effect.held.reason
            elif isinstance(effect, BeginAnew):
                self.halted = effect.reason
        return effects

    # As a master

    def refusal(self, now: float) -> Refusal | None:
        """Return why a send is not to be stored now; None if it is."""
        if self.taking_over.trouble:
            return Refusal.NO_ROOM
        if self.mastership is None:
            return Refusal.FENCED if self.kind is RoleKind.FENCED else Refusal.NOT_MASTER
        return self.mastership.refusal(now)

    def appended(self) -> list[Effect]:
        """Note that the log has grown by a send, or by what the broker itself writes."""
        return self.mastership.advance() if self.mastership is not None else []

    def has_lease(self, now: float) -> bool:
        """Tell whether this is the only master: for queue locks, the registration as id 0, background work."""
        return self.mastership is not None and self.mastership.lease.holds(now)

    def exchange(self, request: Exchange) -> Accepted | Refused:
        """Answer a slave that wants to connect (906). Raises StoreError when the disk does not do what it should."""
        if self.mastership is None:
            return Refused("this replica is not the master")
        return self.mastership.exchange(request)

    def from_slave(self, link: int, message: FromSlave, now: float) -> list[Effect]:
        """Take a message of an accepted stream."""
        if self.mastership is None:
            return [CloseSlave(link, "this replica is not the master")]
        if isinstance(message, SlaveHandshake):
            return self.mastership.greeted(link, message, now)
        return self.mastership.reported(link, message, now)

    def slave_closed(self, link: int, now: float) -> list[Effect]:
        """Note that an accepted stream is closed."""
        return self.mastership.closed(link, now) if self.mastership is not None else []

    def next_span(self, link: int, now: float) -> Span | None:
        """Return what to send next on an accepted stream; None when there is nothing."""
        return self.mastership.next_span(link, now) if self.mastership is not None else None

    def hand_over(self, to: int, seconds: float, now: float) -> str | None:
        """Begin a switch by hand (9003), which ends with HandedOver or when time is over; return why it cannot be."""
        if self.mastership is None:
            return "this replica is not master"
        return self.mastership.hand_over(to, seconds, now)

    # As a slave

    def exchanged(self, link: int, answer: Accepted | Refused, now: float) -> list[Effect]:
        """Take the master's answer to an AskMaster."""
        return self.following.exchanged(link, answer, now) if self.following is not None else []

    def from_master(self, link: int, message: FromMaster, now: float) -> list[Effect]:
        """Take a message of the stream from the master."""
        if self.following is None or self.halted:
            return []
        if isinstance(message, MasterHandshake):
            return self._watch_halt(self.following.greeted(link, message, now))
        return self.following.received(link, message, now)

    def master_closed(self, link: int, now: float) -> list[Effect]:
        """Note that the stream to the master, or an attempt to open it, is over."""
        return self.following.closed(link, now) if self.following is not None else []

    def flushed(self) -> list[Effect]:
        """Note that the store has flushed: with synchronous flush only that is acknowledged."""
        if self.mastership is not None:
            return self.mastership.advance()
        return self.following.report() if self.following is not None else []
