"""Sends that wait until the in-sync set has their message (broker/replication/README.md#the-rim)."""

from __future__ import annotations

from collections.abc import Callable

from broker_core.broker.arrivals import Arrivals
from broker_core.broker.replication.messages import Refusal
from broker_core.broker.waits import ReplicaWaits
from broker_core.protocol.codes import ResponseCode


class Confirmations:
    """The rule by which a replica in failover mode answers: what the whole in-sync set has is confirmed."""

    timeout_code = ResponseCode.SYSTEM_ERROR

    def __init__(self, arrivals: Arrivals, timeout_ms: Callable[[], int], *, upto: int) -> None:
        self.waits = ReplicaWaits(self, timeout_ms, are_for_all=True)
        self._arrivals = arrivals
        self._upto = upto

    def position(self) -> int:
        """Return the confirm offset."""
        return self._upto

    def refusal(self, _: int) -> ResponseCode | None:
        """Return None: who may not wait was refused before."""
        return None

    def confirmed(self, upto: int) -> None:
        """Answer the sends before a log offset, and show their messages."""
        self._upto = upto
        self.waits.advance()
        self._arrivals.expect()

    def refuse(self, reason: Refusal) -> None:
        """Answer all that wait with a reason."""
        self.waits.give_up(reason.code)
