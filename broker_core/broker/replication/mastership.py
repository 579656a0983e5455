"""A replica as the master of one epoch: its slaves' streams, its lease, what it may take and confirm.

broker/replication/README.md#a-master.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

from broker_core.broker.replication.in_sync import InSync, SetTimes
from broker_core.broker.replication.lease import Lease
from broker_core.broker.replication.messages import (
    Accepted,
    AlterSet,
    CloseSlave,
    Confirmed,
    Effect,
    Exchange,
    HandedOver,
    Refusal,
    Refused,
    SendToSlave,
    Span,
)
from broker_core.broker.replication.rejoin import ends
from broker_core.broker.replication.replica_store import ReplicaStore
from broker_core.broker.replication.unconfirmed import Unconfirmed
from broker_core.protocol.bodies.controller import MasterLife, NameState, life_number
from broker_core.protocol.errors import MalformedBody
from broker_core.protocol.ha_epochs import MasterHandshake, Report, SlaveHandshake

_TICKETS: Final = 1 << 31


@dataclass(frozen=True, slots=True)
class MasterLimits:
    """Times in seconds, sizes in bytes."""

    set_times: SetTimes = field(default_factory=SetTimes)
    min_in_sync: int = 1
    """No sends are taken with a smaller set (`minInSyncReplicas`), whatever less the policy of the name asks for."""
    batch: int = 32768
    """Most of the log in one frame (`haTransferBatchSize`)."""
    unconfirmed: int = 64 << 20
    """Sends are refused while more than this waits for confirmation (`limitUnconfirmedBytes`)."""
    stream_heartbeat: float = 5.0
    tell_confirm_after: float = 0.1
    """A stream on which nothing else is sent tells a risen confirm offset so soon."""
    silence: float = 20.0
    """A stream that says nothing for so long is closed (`haHousekeepingInterval`)."""
    late_command: float = 12.0
    """A command may take effect so late: the time of a request, and of what the engine still carries out then."""


@dataclass(frozen=True, slots=True)
class Ack:
    """Up to where the slave of a stream has the log, and whether it is in the set."""

    broker_id: int
    log_offset: int
    is_in_sync: bool


@dataclass(slots=True)
class _Stream:
    broker_id: int
    life: str
    heard_at: float
    next_offset: int | None = None  # None: the slave has not reported
    told: int = -1  # the confirm offset that it was told
    sent_at: float = float("-inf")


@dataclass(frozen=True, slots=True)
class _Ticket:
    broker_id: int
    life: str


@dataclass(slots=True)
class _Switch:
    to: int
    until: float
    is_ready: bool = False


class Mastership:
    """Begins when the epoch's entry is written, and ends for good when the epoch does."""

    def __init__(
        self,
        me: MasterLife,
        view: NameState,
        store: ReplicaStore,
        limits: MasterLimits,
        now: float,
        draw: Callable[[int], int] = secrets.randbelow,
    ) -> None:
        """`draw` returns a number below another, for tickets: who has not been given one cannot guess it."""
        self._me = me
        self._draw = draw
        self._view = view = self._at_least(view, limits)
        self._store = store
        self._limits = limits
        self._streams: dict[int, _Stream] = {}
        self._tickets: dict[int, _Ticket] = {}
        self._switch: _Switch | None = None
        self.lease = Lease(view.epoch)
        self.in_sync = InSync(me, view, store.end, store.confirm, limits.set_times)
        self.in_sync.begin(now)
        self.unconfirmed = Unconfirmed()

    @staticmethod
    def _at_least(view: NameState, limits: MasterLimits) -> NameState:
        """Return the state as if its policy asked for what the settings of this replica do, if that is more."""
        least = max(view.policy.min_in_sync, limits.min_in_sync)
        return replace(view, policy=replace(view.policy, min_in_sync=least))

    @property
    def epoch(self) -> int:
        """The epoch that it is the master of."""
        return self._view.epoch

    @property
    def needed_from(self) -> int | None:
        """The lowest log offset that a connected slave still has to get; None without one."""
        return min((each.next_offset for each in self._streams.values() if each.next_offset is not None), default=None)

    @property
    def least_in_sync(self) -> int:
        """So many replicas must be in sync for sends: what the settings ask for, or the policy if that is more."""
        return self._view.policy.min_in_sync

    def acks(self) -> dict[int, Ack]:
        """Return, by stream, what its slave has; none before a report."""
        found = {}
        for link, stream in self._streams.items():
            acked = self.in_sync.peer(stream.broker_id).acked
            if acked is not None:
                found[link] = Ack(stream.broker_id, acked, stream.broker_id in self._view.in_sync)
        return found

    def connected_members(self) -> frozenset[int]:
        """Return the other members of the effective set that have a stream."""
        others = (each for each in self.in_sync.effective if each != self._me.id)
        return frozenset(each for each in others if self.in_sync.peer(each).link is not None)

    # Sends

    def refusal(self, now: float) -> Refusal | None:
        """Return why a send is not to be stored now; None if it is."""
        least = self.least_in_sync
        if self._switch is not None:
            return Refusal.SWITCHING
        if len(self.in_sync.effective) < least or self.in_sync.reachable(now) < least:
            return Refusal.SET_TOO_SMALL
        if must_refuse_without_lease(self.lease.holds(now), self.in_sync.is_member_gone()):
            return Refusal.NO_LEASE
        if self._store.end - self.in_sync.confirm > self._limits.unconfirmed:
            return Refusal.UNCONFIRMED
        return None

    def advance(self) -> list[Effect]:
        """Confirm what every member has by now."""
        if not self.in_sync.advance(self._store.safe_end):
            return []
        self._store.set_confirm(self.in_sync.confirm)
        return [Confirmed(self.in_sync.confirm)]

    # Streams of slaves

    def exchange(self, request: Exchange) -> Accepted | Refused:
        """Answer a slave that wants to connect. Its life counts for the one stream that brings the ticket.

        Raises StoreError when it cannot be told of the queues.
        """
        try:
            reason = self._why_not(request)
        except MalformedBody as error:
            reason = str(error)
        if reason:
            return Refused(reason)
        given = self._ticket()
        for number in [each for each, ticket in self._tickets.items() if ticket.broker_id == request.broker_id]:
            del self._tickets[number]
        self._tickets[given] = _Ticket(request.broker_id, request.life)
        store, begin = self._store, self._store.begin
        if request.is_newest_only:
            # Not behind the confirm offset: what lies between the two is in no queue, and could not be told of.
            begin = max(begin, store.confirm - store.confirm % store.segment_bytes)
        return Accepted(given, begin, store.queue_ends(begin) if request.is_empty else {})

    def _ticket(self) -> int:
        """Return a number that no other ticket has; not 0, which says that there is none."""
        while (number := 1 + self._draw(_TICKETS - 1)) in self._tickets:
            pass
        return number

    def _why_not(self, request: Exchange) -> str:
        known = self._view.replicas.get(request.broker_id)
        if request.epoch != self.epoch:
            return f"this master's epoch is {self.epoch}, not {request.epoch}"
        if known is None or request.broker_id == self._me.id:
            return f"{self._view.name} has no other replica {request.broker_id}"
        if request.segment_bytes != self._store.segment_bytes:
            return f"segments of the log have {self._store.segment_bytes} bytes here, not {request.segment_bytes}"
        if life_number(request.life) < life_number(known.life):
            return f"replica {request.broker_id} runs in a later life"
        return ""

    def greeted(self, link: int, message: SlaveHandshake, now: float) -> list[Effect]:
        """Take a stream whose handshake has come."""
        ticket = self._tickets.pop(message.ticket, None)
        if ticket is None or ticket.broker_id != message.broker_id or link in self._streams:
            return [*self.closed(link, now), CloseSlave(link, "the handshake brings no valid ticket")]
        effects: list[Effect] = []
        for older in [each for each, stream in self._streams.items() if stream.broker_id == message.broker_id]:
            effects += [*self.closed(older, now), CloseSlave(older, "the replica has connected anew")]
        self._streams[link] = _Stream(message.broker_id, ticket.life, now)
        self.in_sync.connected(message.broker_id, link, ticket.life, is_learner=message.is_learner, now=now)
        answer = MasterHandshake(self.epoch, self._store.end, tuple(self._store.epochs))
        return [*effects, SendToSlave(link, answer)]

    def reported(self, link: int, message: Report, now: float) -> list[Effect]:
        """Count what a slave has."""
        stream = self._streams.get(link)
        if stream is None:
            return [CloseSlave(link, "a report before the handshake")]
        end = self._store.end
        first = stream.next_offset is None
        if message.log_offset > end or (first and message.log_offset < self._store.begin):
            where = f"{self._store.begin} to {end}"
            return [*self.closed(link, now), CloseSlave(link, f"a report of {message.log_offset}: the log is {where}")]
        stream.heard_at = now
        if first:
            stream.next_offset = message.log_offset
        self.in_sync.acked(stream.broker_id, message.log_offset, end, now)
        return [*self.advance(), *self._look_at_switch(now)]

    def closed(self, link: int, now: float) -> list[Effect]:
        """Forget a stream."""
        stream = self._streams.pop(link, None)
        if stream is not None and self.in_sync.peer(stream.broker_id).link == link:
            self.in_sync.disconnected(stream.broker_id, now)
        return []

    def close_all(self) -> list[Effect]:
        """Close every stream: this mastership is over."""
        return [CloseSlave(link, "this replica is not the master any more") for link in self._streams]

    def next_span(self, link: int, now: float) -> Span | None:
        """Return what to send next on a stream, and count it as sent; None when there is nothing.

        A span crosses neither an epoch's begin nor the end of a segment.
        """
        stream = self._streams.get(link)
        if stream is None or stream.next_offset is None or stream.next_offset < self._store.begin:
            return None
        begin, end = stream.next_offset, self._store.end
        if begin >= end and not self._is_heartbeat_due(stream, now):
            return None
        epoch, epoch_start, epoch_end = self._epoch_at(begin)
        segment_end = begin - begin % self._store.segment_bytes + self._store.segment_bytes
        size = max(0, min(begin + self._limits.batch, epoch_end, segment_end, end) - begin)
        stream.next_offset, stream.told, stream.sent_at = begin + size, self.in_sync.confirm, now
        return Span(begin, size, epoch, epoch_start, self.in_sync.confirm)

    def _is_heartbeat_due(self, stream: _Stream, now: float) -> bool:
        wait = self._limits.stream_heartbeat
        if stream.told < self.in_sync.confirm:
            wait = self._limits.tell_confirm_after
        return now - stream.sent_at >= wait

    def _epoch_at(self, log_offset: int) -> tuple[int, int, int]:
        epochs = self._store.epochs
        found = max(at for at, each in enumerate(epochs) if each.start <= log_offset)
        return *epochs[found], ends(epochs, max(self._store.end, epochs[-1].start))[found]

    # Time, views, commands

    def viewed(self, view: NameState) -> list[Effect]:
        """Take a newer state of the same epoch."""
        self._view = view = self._at_least(view, self._limits)
        self.in_sync.viewed(view)
        return self.advance()

    def hand_over(self, to: int, seconds: float, now: float) -> str | None:
        """Take no sends for so long, or until `to` has the whole log and is elected; return why it cannot be."""
        why_not = self._why_no_switch(to, now)
        if why_not is None:
            self._switch = _Switch(to, now + seconds)
        return why_not

    def _why_no_switch(self, to: int, now: float) -> str | None:
        if to == self._me.id:
            return f"replica {to} is master"
        if self._switch is not None and self._switch.to != to and now < self._switch.until:
            return f"a hand-over to replica {self._switch.to} is under way"
        if to not in self._view.in_sync:
            return f"replica {to} is not in sync"
        return f"replica {to} is not connected to the master" if self.in_sync.peer(to).link is None else None

    def _look_at_switch(self, now: float) -> list[Effect]:
        switch = self._switch
        if switch is None:
            return []
        if now >= switch.until:
            self._switch = None
        elif not switch.is_ready and self.in_sync.peer(switch.to).acked == self._store.end:
            switch.is_ready = True
            self.lease.rest(now + self._limits.late_command)
            return [HandedOver(switch.to)]
        return []

    def wanted(self, now: float) -> AlterSet | None:
        """Return the change of the set to ask for, if there is one."""
        proposal = self.in_sync.propose(self._store.end, now)
        if proposal is None:
            return None
        return AlterSet(self._me.id, self._me.life, self.epoch, proposal.set_version, proposal.members)

    def tick(self, now: float) -> list[Effect]:
        """Close silent streams and look at what is due."""
        silent = [link for link, each in self._streams.items() if now - each.heard_at > self._limits.silence]
        effects: list[Effect] = []
        for link in silent:
            effects += [*self.closed(link, now), CloseSlave(link, "nothing came for too long")]
        effects += self.advance()
        self.unconfirmed.look(self._store.end, self.in_sync.confirm, now)
        return [*effects, *self._look_at_switch(now)]


def must_refuse_without_lease(has_lease: bool, is_member_gone: bool) -> bool:
    """Tell whether sends must be refused: another master may be elected, and without all members none is confirmed.

    While all are connected the controllers may simply be down; alone in the set nobody else can be elected.
    """
    return not has_lease and is_member_gone
