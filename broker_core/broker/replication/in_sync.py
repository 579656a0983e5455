"""Which replicas have what, and what the in-sync set makes of it (broker/replication/README.md#in-sync-set).

One `InSync` lives as long as one mastership. An acknowledgement belongs to a connection, and the connection to one life
of a replica; what a closed connection told counts no longer.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from broker_core.protocol.bodies.controller import MasterLife, NameState


@dataclass(frozen=True, slots=True)
class SetTimes:
    """Seconds."""

    gone_after: float = 1.0
    """A member that is not connected for so long leaves the set (`replicaGoneAfter`)."""
    behind_after: float = 15.0
    """So does one that was not at the end for so long (`haMaxTimeSlaveNotCatchup`)."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """The set that a master wants, and the version of the one that it is to replace."""

    set_version: int
    members: tuple[MasterLife, ...]

    @property
    def ids(self) -> tuple[int, ...]:
        """The ids of the members, rising."""
        return tuple(each.id for each in self.members)


@dataclass(slots=True)
class Peer:
    """A replica as its master sees it."""

    link: int | None = None
    life: str = ""
    acked: int | None = None  # None: has not reported on this connection
    is_learner: bool = False
    gone_since: float = 0.0
    at_end_at: float = 0.0  # when it had all that was there
    mark: int = 0  # the end at the time of its last report, and that time
    marked_at: float = 0.0
    left_with: int | None = None  # what it had acknowledged when it was to leave: it joins with more, not with that


class InSync:
    """The acknowledgements of one mastership, the set, and the confirm offset."""

    def __init__(self, me: MasterLife, view: NameState, epoch_start: int, confirm: int, times: SetTimes) -> None:
        """Begin a mastership at log offset `epoch_start`; `confirm` is what the master before told, not the own end."""
        self._me = me
        self._view = view
        self._epoch_start = epoch_start
        self._times = times
        self._peers: dict[int, Peer] = {}
        self._began = 0.0
        self.proposal: Proposal | None = None
        self.confirm = confirm
        self.is_waiting_for_view = False
        """A proposal was refused: nothing is confirmed until the state of the name is known anew."""

    def begin(self, now: float) -> None:
        """Count from now on how long a member is gone."""
        self._began = now

    @property
    def effective(self) -> tuple[int, ...]:
        """Who has to have a record before it is acknowledged, rising."""
        return effective_set(self._view.in_sync, self.proposal.ids if self.proposal else None)

    def peer(self, broker_id: int) -> Peer:
        """Return what is known of a replica."""
        return self._peers.setdefault(broker_id, Peer(gone_since=self._began, at_end_at=self._began))

    # What happens

    def connected(self, broker_id: int, link: int, life: str, *, is_learner: bool, now: float) -> None:
        """Bind a connection to a life of a replica; what an earlier one acknowledged is forgotten."""
        peer = self.peer(broker_id)
        peer.link, peer.life, peer.acked, peer.is_learner = link, life, None, is_learner
        peer.marked_at, peer.left_with = now, None

    def disconnected(self, broker_id: int, now: float) -> None:
        """Forget what a replica acknowledged."""
        peer = self.peer(broker_id)
        peer.link, peer.acked, peer.gone_since = None, None, now

    def acked(self, broker_id: int, upto: int, end: int, now: float) -> None:
        """Note a report of the present connection. `end` is where the own log ends.

        Under load a replica is never at the end of the moment: it was at the end when it has what was the end at its
        report before.
        """
        peer = self.peer(broker_id)
        if upto >= end:
            peer.at_end_at = now
        elif peer.acked is not None and upto >= peer.mark:
            peer.at_end_at = max(peer.at_end_at, peer.marked_at)
        if peer.acked is None or upto >= peer.mark:
            peer.mark, peer.marked_at = end, now
        peer.acked = upto

    def viewed(self, view: NameState) -> None:
        """Take a state of the same epoch that is not older than the known one."""
        self._view = view
        self.is_waiting_for_view = False
        if self.proposal and is_over(self.proposal, view):
            self.proposal = None

    def refused(self) -> None:
        """Stop confirming: what this master believes of the set is not what was decided."""
        self.is_waiting_for_view = True

    # What follows from it

    def advance(self, own: int) -> bool:
        """Raise the confirm offset to what every effective member has; return whether it rose. `own` is the own end."""
        if self.is_waiting_for_view:
            return False
        acks = [own if each == self._me.id else acked_end(self._peers.get(each)) for each in self.effective]
        risen = confirm_of(self.confirm, acks)
        if risen == self.confirm:
            return False
        self.confirm = risen
        return True

    def is_member_gone(self) -> bool:
        """Tell whether an effective member is not connected."""
        return any(each != self._me.id and self.peer(each).link is None for each in self.effective)

    def reachable(self, now: float) -> int:
        """Count the effective members that are there, or not gone for long."""
        return sum(each == self._me.id or not self._is_gone(self.peer(each), now) for each in self.effective)

    def propose(self, end: int, now: float) -> Proposal | None:
        """Return what to ask for: the same as before until a newer set is seen, else what should change; or None."""
        if self.proposal is None and not self.is_waiting_for_view:
            self.proposal = self._wanted(end, now)
        return self.proposal

    def _wanted(self, end: int, now: float) -> Proposal | None:
        committed = sorted(self._view.in_sync)
        joining = [each for each in sorted(self._view.replicas) if each not in committed and self._may_join(each)]
        leaving = [each for each in committed if each != self._me.id and self._should_leave(self.peer(each), end, now)]
        # A set below the policy takes no sends; who left it could not be elected, for nothing.
        spare = max(0, len(committed) + len(joining) - self._view.policy.min_in_sync)
        leaving = leaving[:spare]
        if not joining and not leaving:
            return None
        for each in joining:  # It may be behind the end; the time in which it has to get there begins now.
            self.peer(each).at_end_at = now
        for each in leaving:
            self.peer(each).left_with = self.peer(each).acked
        wanted = sorted({*committed, *joining} - {*leaving})
        return Proposal(self._view.set_version, tuple(MasterLife(each, self._life_of(each)) for each in wanted))

    def _life_of(self, broker_id: int) -> str:
        return self._me.life if broker_id == self._me.id else self._view.replicas[broker_id].life

    def _may_join(self, broker_id: int) -> bool:
        peer = self.peer(broker_id)
        if peer.link is None or peer.is_learner or peer.life != self._view.replicas[broker_id].life:
            return False
        return has_gone_on(peer) and may_join(peer.acked, self.confirm, self._epoch_start)

    def _should_leave(self, peer: Peer, end: int, now: float) -> bool:
        is_behind = (peer.acked is None or peer.acked < end) and now - peer.at_end_at > self._times.behind_after
        return self._is_gone(peer, now) or is_behind

    def _is_gone(self, peer: Peer, now: float) -> bool:
        return peer.link is None and now - peer.gone_since > self._times.gone_after


def effective_set(committed: Iterable[int], proposed: Iterable[int] | None) -> tuple[int, ...]:
    """Return committed and proposed members: one leaves when that is decided, one counts as soon as it is proposed."""
    return tuple(sorted({*committed, *(proposed or ())}))


def acked_end(peer: Peer | None) -> int | None:
    """Return what counts as acknowledged: nothing without a connection, or before its first report."""
    return None if peer is None or peer.link is None else peer.acked


def confirm_of(confirm: int, acks: Iterable[int | None]) -> int:
    """Return the new confirm offset: the least of all; a member that did not tell holds it where it is."""
    known = list(acks)
    least = min((each for each in known if each is not None), default=confirm)
    return confirm if None in known else max(confirm, least)


def may_join(acked: int | None, confirm: int, epoch_start: int) -> bool:
    """Tell whether a replica has everything acknowledged, and the log of all masters before this one."""
    return acked is not None and acked >= confirm and acked >= epoch_start


def has_gone_on(peer: Peer) -> bool:
    """Tell whether a replica acknowledged more than when it was to leave, or connected anew, or never left.

    Where several hang, the confirm offset stays at what they had: comparing with it would let one in after the other.
    """
    return peer.left_with is None or (peer.acked is not None and peer.acked > peer.left_with)


def is_over(proposal: Proposal, view: NameState) -> bool:
    """Tell whether a proposal can have no effect any more, whatever copies of it are still under way.

    The set has moved on, or one that it adds runs in another life now. Any other refusal may not be the last word.
    """
    if view.set_version > proposal.set_version:
        return True
    added = [each for each in proposal.members if each.id not in view.in_sync]
    return any(each.id not in view.replicas or view.replicas[each.id].life != each.life for each in added)
