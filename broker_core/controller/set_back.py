"""A state that is older than what was told: found, healed, adopted (controller/README.md#set-back)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Final

from broker_core.controller.commands import Adopt, Heal, View
from broker_core.controller.errors import Refused
from broker_core.protocol.bodies.controller import NameState, ReplicaState, life_number, new_state
from broker_core.protocol.codes import ResponseCode

ADOPTED_EPOCHS: Final = 1000
"""How far an adopted state jumps: an epoch that nobody alive knows may have been used."""


def is_set_back(state: NameState | None, newest: View) -> bool:
    """Return whether somebody was told a newer state than the one that is kept."""
    return newest > (state.view if state else (0, 0))


def healing(
    state: NameState | None, told: Mapping[int, NameState], heard: Mapping[int, str], newest: View
) -> Heal | None:
    """Return how a name that was set back heals without an operator; None if it does not, or not yet.

    `told` are the states that its replicas told when they were asked, `heard` the lives of those that are alive. All
    replicas of the kept and of every told in-sync set must be heard, and the newest view must be told by the living
    master of its epoch in its life.
    """
    found = max(told.values(), key=lambda each: each.view, default=None)
    if found is None or found.master is None or found.view < newest or not is_set_back(state, found.view):
        return None
    master = found.master
    is_told_by_it = master.id in told and told[master.id].view == found.view
    needed = {each for kept in (*told.values(), *([state] if state else [])) for each in kept.in_sync}
    if heard.get(master.id) != master.life or not is_told_by_it or not needed <= heard.keys():
        return None
    return Heal(found)


def is_confirmed(state: NameState, heard: Collection[int], newest: View) -> bool:
    """Return whether every replica of a name is heard, and none knows a newer state."""
    return state.replicas.keys() <= set(heard) and not is_set_back(state, newest)


def heal(state: NameState | None, command: Heal) -> tuple[NameState, str]:
    """Return the state that a living master told, as the newest; raises Refused."""
    told = command.told
    if state is not None and told.view < state.view:
        raise Refused(
            ResponseCode.CONTROLLER_INVALID_REQUEST, f"the state of {told.name} is not older than what is told"
        )
    if state is not None and told.view == state.view:
        return state, ""
    return replace(told, next_id=max(told.next_id, state.next_id if state else 1)), "healed after it was set back"


def adopt(state: NameState | None, command: Adopt) -> tuple[NameState, str]:
    """Return a state to go on from, with an epoch and a version above all that were told; raises Refused."""
    state = state or new_state(command.name, command.cluster)
    heard, members = dict(command.replicas), sorted(set(command.members))
    if not members:
        raise Refused(ResponseCode.CONTROLLER_INVALID_REPLICAS, "no replica is named to go on from")
    _check_heard(state, members, heard)
    replicas = {each: replace(told, life="") for each, told in heard.items()} | state.replicas
    accepted = {each: _accepted(state.replicas.get(each), heard[each]) for each in members}
    after = replace(
        state,
        version=_highest(state.version, (version for _, version in command.views)),
        epoch=_highest(max(state.epoch, state.top_epoch), (epoch for epoch, _ in command.views)) + ADOPTED_EPOCHS,
        master=None,
        in_sync=members,
        set_version=state.set_version + 1,
        replicas=replicas | accepted,
        next_id=max(state.next_id, max(replicas) + 1),
        last_clean=members[0],
    )
    return after, f"adopted with {', '.join(map(str, members))}"


def _check_heard(state: NameState, members: Iterable[int], heard: Mapping[int, ReplicaState]) -> None:
    """Raise Refused for a member whose log nobody can compare with the others'."""
    for each in members:
        known = state.replicas.get(each)
        if each not in heard and known is None:
            raise Refused(ResponseCode.CONTROLLER_INVALID_REPLICAS, f"{state.name} has no replica {each}")
        if each not in heard or (known is not None and life_number(heard[each].life) < life_number(known.life)):
            raise Refused(
                ResponseCode.CONTROLLER_BROKER_NOT_ALIVE,
                f"replica {each} of {state.name} is not heard: start it, or go on without it",
            )


def _accepted(known: ReplicaState | None, heard: ReplicaState) -> ReplicaState:
    """Return a replica whose present life counts as clean, whether that life registers now or has done so before."""
    if known is None or known.life != heard.life:
        return replace(heard, check=known.check if known else "", clean=True)
    return replace(known, clean=True)


def _highest(kept: int, told: Iterable[int]) -> int:
    return max(kept, *told, 0)
