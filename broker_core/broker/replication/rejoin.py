"""What a replica does with its log when it meets a master (broker/replication/README.md#rejoining)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from broker_core.broker.replication.messages import Held, Hold
from broker_core.protocol.ha_epochs import EpochStart


@dataclass(frozen=True, slots=True)
class OwnLog:
    """What a replica has when it connects."""

    begin: int
    end: int
    confirm: int
    epochs: Sequence[EpochStart]
    is_clean: bool
    """Nothing behind its confirm offset can be missing: its last life ended well, or only its process died."""
    is_in_sync: bool
    """It is in the in-sync set, as far as it knows."""


@dataclass(frozen=True, slots=True)
class MasterLog:
    """What its master has."""

    begin: int
    end: int
    epochs: Sequence[EpochStart]


@dataclass(frozen=True, slots=True)
class Cut:
    """Cut the own log there, if it is longer, and follow from there."""

    at: int


@dataclass(frozen=True, slots=True)
class CopyAll:
    """The own log is empty: follow from the master's begin."""

    begin: int


@dataclass(frozen=True, slots=True)
class Anew:
    """Nothing of the own log can be used; the folder is to be put aside."""

    reason: str


@dataclass(frozen=True, slots=True)
class Stop:
    """Touch nothing: what should be impossible has happened, or a loss was accepted that this log does not have."""

    held: Held


Plan: TypeAlias = Cut | CopyAll | Anew | Stop


def plan(own: OwnLog, master: MasterLog) -> Plan:
    """Decide by the epochs of both; never by comparing ends, which says nothing about what lies before them."""
    if own.end == 0:
        return CopyAll(master.begin)
    at = cut_point(own.epochs, own.end, master.epochs, master.end)
    if at is None and is_all_unconfirmed(own) and master.begin == 0:
        return Cut(0)
    if at is None or at < max(own.begin, master.begin):
        return _hopeless(own, master, at)
    if at < own.confirm and own.is_clean:
        reason = f"the master has this log up to {at} only, but every replica had it up to {own.confirm}"
        return Stop(Held(Hold.AHEAD, reason, at))
    return Cut(at)


def cut_point(own: Sequence[EpochStart], own_end: int, master: Sequence[EpochStart], master_end: int) -> int | None:
    """Return up to where both logs are the same; None if they have no epoch in common.

    The newest own epoch that the master has from the same offset is common up to its smaller end.
    """
    master_ends = dict(zip(master, ends(master, master_end), strict=True))
    for epoch, own_epoch_end in zip(reversed(own), reversed(ends(own, own_end)), strict=True):
        if epoch in master_ends:
            return min(own_epoch_end, master_ends[epoch], own_end)
    return None


def is_all_unconfirmed(own: OwnLog) -> bool:
    """Tell whether masters of this group wrote a log from its first byte on, and nothing of it was ever confirmed."""
    return own.begin == 0 and own.confirm == 0 and bool(own.epochs) and own.epochs[0].start == 0


def ends(epochs: Sequence[EpochStart], log_end: int) -> list[int]:
    """Return where each epoch ends: where the next one begins, the last where the log ends."""
    return [*(each.start for each in epochs[1:]), log_end] if epochs else []


def _hopeless(own: OwnLog, master: MasterLog, at: int | None) -> Plan:
    if at is None:
        reason = f"no epoch of the log ({own.begin} to {own.end}) is one of the master's"
    else:
        reason = (
            f"the log is the master's up to {at}, and the master's begins at {master.begin}, the own at {own.begin}"
        )
    if own.is_in_sync:
        return Stop(Held(Hold.APART, f"{reason}; but this replica is in the in-sync set", at))
    return Anew(reason)
