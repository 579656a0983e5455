"""The figures of broker names and controllers that alert rules look at. Knows no database; None is unknown."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from broker_core.client.admin.replication import ControllerStatus, KnownState
from broker_core.protocol.bodies.replicas import ReplicasInfo
from console.replicas import engine


@dataclass(frozen=True, slots=True)
class DecidedFigures:
    """Of one broker name. Yes is 1, no is 0."""

    out_of_sync: float | None = None
    """How many replicas are not in the in-sync set."""
    without_master: float | None = None
    """Whether no replica is master, or the one that is was not heard."""
    stuck: float | None = None
    """Whether it has no living master, and gets none by itself."""
    set_back: float | None = None
    """Whether the engine is older than what replicas know, so that nothing is decided."""
    unclean: float | None = None
    """How many replicas may have lost what they had acknowledged."""
    elections: float | None = None
    """How often another epoch began within the last hour."""


@dataclass(frozen=True, slots=True)
class ControllerFigures:
    """Of all controllers of a cluster together."""

    silent: float | None = None
    """How many do not answer."""
    leaderless: float | None = None
    """Whether none says that it leads."""
    engine_down: float | None = None
    """Whether what keeps the decisions cannot be read, as without its majority, or raised an alarm."""
    engine_used: float | None = None
    """The used share of the size that the engine allows."""


def figures_of(info: ReplicasInfo, known: KnownState | None, *, elections: int, is_set_back: bool) -> DecidedFigures:
    """Return the figures of a name; `known` is None if no controller told its whole state."""
    return DecidedFigures(
        out_of_sync=float(len(info.not_in_sync_replicas)),
        without_master=float(not _has_master(info)),
        stuck=None if known is None else float(known.stuck is not None),
        set_back=float(is_set_back),
        unclean=None if known is None else float(sum(not each.clean for each in known.state.replicas.values())),
        elections=float(elections),
    )


def is_troubled(info: ReplicasInfo, known: KnownState | None) -> bool:
    """Return whether the state of a name may become another one without another decision."""
    return not _has_master(info) or known is None or known.stuck is not None


def _has_master(info: ReplicasInfo) -> bool:
    return any(each.alive and each.broker_id == info.master_broker_id for each in info.in_sync_replicas)


def of_controllers(found: Mapping[str, ControllerStatus], silent: Collection[str]) -> ControllerFigures:
    """Return the figures of the controllers that answered, and of those that did not."""
    if not found:
        return ControllerFigures(silent=float(len(silent)))
    infos = [each.info for each in found.values()]
    used = [each.size_bytes / each.quota_bytes for each in infos if each.size_bytes is not None and each.quota_bytes]
    return ControllerFigures(
        silent=float(len(silent)),
        leaderless=float(not any(each.is_leading for each in found.values())),
        engine_down=float(not any(engine.is_up(each.age_ms, each.alarms) for each in infos)),
        engine_used=max(used, default=None),
    )


def best(found: Mapping[str, ControllerStatus]) -> str | None:
    """Return the address of the controller that knows best what is decided now: the leading one; None if none does."""
    fresh = {addr: each for addr, each in found.items() if engine.is_fresh(each.info.age_ms)}
    return min(fresh, key=lambda addr: (not fresh[addr].is_leading, fresh[addr].info.age_ms), default=None)
