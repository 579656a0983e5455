"""Moves decisions from one engine into another, empty one (controller/README.md#moving)."""

from __future__ import annotations

from broker_core.controller.decisions import Decisions
from broker_core.controller.states import state_of
from broker_core.errors import GantryError


class NotMoved(GantryError):
    """Nothing, or not everything, was moved; the text is one sentence."""


async def move(source: Decisions, target: Decisions) -> int:
    """Write every name of `source` into `target`, and return how many; raises NotMoved, Refused and Unsettled.

    The target must be empty: a name that is there may have been told to replicas. Every text is a state, or nothing is
    written.
    """
    _, names = await source.read()
    _, there = await target.read()
    if there:
        raise NotMoved(f"{sorted(there)[0]} is already there, and decisions are moved only to where none are")
    for name, kept in names.items():
        state_of(name, kept)
    for name, kept in sorted(names.items()):
        await target.put(name, None, kept.text)
    _, there = await target.read()
    if {name: kept.text for name, kept in there.items()} != {name: kept.text for name, kept in names.items()}:
        raise NotMoved("what was moved is not what is there: another controller writes meanwhile")
    return len(names)
