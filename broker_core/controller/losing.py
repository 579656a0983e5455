"""How much an accepted loss loses at most, by what a replica told while it had every acknowledged record."""

from __future__ import annotations

from broker_core.controller.electing import LOSS_ACCEPTED
from broker_core.controller.hearing import Heartbeat
from broker_core.protocol.bodies.controller import NameState


def most_lost(state: NameState, chosen: Heartbeat, whole: Heartbeat) -> int | None:
    """Return how many bytes of the log of `whole`, which had everything, `chosen` lacks at most; None if not known."""
    common = _common_end(state, chosen, whole)
    return None if common is None else max(0, whole.end - common)


def _common_end(state: NameState, one: Heartbeat, other: Heartbeat) -> int | None:
    """Return up to where two logs are surely equal: an epoch has the same bytes on all, so the shorter one's end."""
    if one.id == other.id or one.last_epoch == other.last_epoch:
        return min(one.end, other.end)
    low, high = sorted((one.last_epoch, other.last_epoch))
    why = {each.epoch: each.why for each in state.elected}
    # What was confirmed is equal on all, unless a loss was accepted, or a state adopted, between the two epochs.
    if high - low > len(why) or not all(_keeps_all(why.get(epoch)) for epoch in range(low + 1, high + 1)):
        return None
    return min(one.confirm, other.confirm, one.end, other.end)


def _keeps_all(why: str | None) -> bool:
    return why is not None and not why.startswith(LOSS_ACCEPTED)
