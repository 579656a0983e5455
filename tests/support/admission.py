"""An in-sync set that lets messages in, or not, as a test says."""

from __future__ import annotations

from dataclasses import dataclass

from broker_core.broker.replication.messages import Refusal


@dataclass
class Admitting:
    """Stands in for a replica in front of an intake."""

    reason: Refusal | None = None
    told: int = 0

    def refusal(self) -> Refusal | None:
        return self.reason

    def appended(self) -> None:
        self.told += 1
