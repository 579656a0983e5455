"""The time in which a master knows that no other was elected (broker/replication/README.md#lease)."""

from __future__ import annotations


class Lease:
    """Times are seconds of a clock that counts a machine's sleep and never jumps: `broker_core.clock.boot_seconds`.

    No message's safety rests on it. It guards what is exclusive and not in the log: queue locks, the registration as
    id 0, background work. Asked at the moment of use, never by a timer.
    """

    __slots__ = ("_epoch", "_rests_until", "_until")

    def __init__(self, epoch: int) -> None:
        self._epoch = epoch
        self._until = float("-inf")
        self._rests_until = float("-inf")

    def grant(self, sent_at: float, grant: float, epoch: int) -> None:
        """Count a grant from the moment at which the heartbeat that it answers was **sent**."""
        if epoch == self._epoch and grant > 0:
            self._until = max(self._until, lease_end(sent_at, grant))

    def holds(self, now: float) -> bool:
        """Tell whether no other master can have been elected before `now`."""
        return self._rests_until <= now < self._until

    def rest(self, until: float) -> None:
        """Hold nothing until then: this master itself asked for another one, and may be heard late."""
        self._rests_until = max(self._rests_until, until)

    def left(self, now: float) -> float:
        """Seconds for which it still holds; 0 when it is over."""
        return self._until - now if self.holds(now) else 0.0


def lease_end(sent_at: float, grant: float) -> float:
    """Return when a lease ends: how long the answer took cannot lengthen it."""
    return sent_at + grant
