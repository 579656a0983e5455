"""The figures of a broker name that alert rules look at, from what its controllers say. Knows no database."""

from __future__ import annotations

from dataclasses import dataclass

from broker_core.protocol.bodies.replicas import ReplicasInfo


@dataclass(frozen=True, slots=True)
class DecidedFigures:
    """None is unknown: no controller answers."""

    out_of_sync: float | None = None
    """How many replicas are not in the in-sync set."""
    without_master: float | None = None
    """1 if no replica is master, 0 if one is."""


def figures_of(info: ReplicasInfo) -> DecidedFigures:
    """Return the figures of a name that a controller knows."""
    return DecidedFigures(float(len(info.not_in_sync_replicas)), 1.0 if info.master_broker_id is None else 0.0)
