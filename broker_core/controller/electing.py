"""Whom to make master (controller/README.md#elections). An election never touches the in-sync set."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from broker_core.controller.commands import AcceptLoss, Candidate, Elect
from broker_core.controller.errors import Refused
from broker_core.protocol.bodies.controller import MasterLife, NameState
from broker_core.protocol.codes import ResponseCode

LOSS_ACCEPTED: Final = "loss accepted"
"""How the reason of an election begins in which acknowledged records may have been lost."""


def electable(state: NameState, among: Iterable[Candidate]) -> list[Candidate]:
    """Return those that have every acknowledged record: clean members of the set, in the life that registered."""
    return [each for each in among if each.id in state.in_sync and _is_in_life(state, each) and _is_clean(state, each)]


def awaited(state: NameState, among: Iterable[Candidate]) -> list[int]:
    """Return those that were adopted and have not registered yet: any of them may have the longest log."""
    return [
        each.id
        for each in among
        if each.id in state.in_sync and state.replicas[each.id].life == each.life and not _is_in_life(state, each)
    ]


def best(state: NameState, among: Iterable[Candidate]) -> Candidate:
    """Return the one whose log is longest, then whom the operators prefer, then the old master."""
    return max(
        among, key=lambda each: (each.last_epoch, each.end, -each.priority, each.id == state.last_clean, -each.id)
    )


def elect(state: NameState, command: Elect) -> tuple[NameState, str]:
    """Return the state with a new master in the next epoch; raises Refused."""
    _check_deposed(state, command.deposes)
    able = electable(state, command.among)
    if command.chosen is None and (late := awaited(state, command.among)):
        raise Refused(ResponseCode.CONTROLLER_ELECT_MASTER_FAILED, _why_awaited(state, late))
    if command.chosen is not None:
        able = [each for each in able if each.id == command.chosen]
    if not able:
        raise _nobody(state, command)
    return _with_master(state, best(state, able), command.among), command.why


def accept_loss(state: NameState, command: AcceptLoss) -> tuple[NameState, str]:
    """Return the state with a master that may lack acknowledged records, alone in the set; raises Refused."""
    if command.id not in state.replicas:
        raise Refused(ResponseCode.CONTROLLER_INVALID_REPLICAS, f"{state.name} has no replica {command.id}")
    _check_deposed(state, command.deposes)
    able = electable(state, command.among)
    if able:
        raise Refused(
            ResponseCode.CONTROLLER_INVALID_REQUEST,
            f"nothing need be lost: replica {best(state, able).id} of {state.name} has every acknowledged message",
        )
    chosen = next((each for each in command.among if each.id == command.id and _is_in_life(state, each)), None)
    if chosen is None:
        raise _not_alive(state, command.id)
    accepted = replace(state.replicas[chosen.id], clean=True)
    after = replace(
        _with_master(state, chosen, command.among),
        replicas=state.replicas | {chosen.id: accepted},
        in_sync=[chosen.id],
        set_version=state.set_version + 1,
    )
    return after, f"{LOSS_ACCEPTED}, replica {chosen.id} is master"


def _with_master(state: NameState, chosen: Candidate, among: Iterable[Candidate]) -> NameState:
    top = max(state.top_epoch, *(max(each.last_epoch, each.told) for each in among))
    return replace(
        state,
        epoch=max(state.epoch, top) + 1,
        top_epoch=top,
        master=MasterLife(chosen.id, chosen.life),
        last_clean=chosen.id,
    )


def _check_deposed(state: NameState, deposes: MasterLife | None) -> None:
    if state.master is not None and state.master != deposes:
        raise Refused(
            ResponseCode.CONTROLLER_MASTER_STILL_EXIST,
            f"replica {state.master.id} is the master of {state.name} in epoch {state.epoch}",
        )


def _nobody(state: NameState, command: Elect) -> Refused:
    if command.chosen is None:
        return Refused(ResponseCode.CONTROLLER_ELECT_MASTER_FAILED, why_nobody(state, command.among))
    if command.chosen not in state.replicas:
        return Refused(ResponseCode.CONTROLLER_INVALID_REPLICAS, f"{state.name} has no replica {command.chosen}")
    if not any(each.id == command.chosen and _is_in_life(state, each) for each in command.among):
        return _not_alive(state, command.chosen)
    return Refused(
        ResponseCode.CONTROLLER_ELECT_MASTER_FAILED,
        f"replica {command.chosen} of {state.name} may lack acknowledged messages: it is not in sync",
    )


def why_nobody(state: NameState, among: Iterable[Candidate]) -> str:
    """Return why none of the replicas that are alive can be elected."""
    among = tuple(among)
    if late := awaited(state, among):
        return _why_awaited(state, late)
    if not state.in_sync:
        return f"no replica of {state.name} is known to have every acknowledged message"
    members = ", ".join(map(str, state.in_sync))
    alive = [each for each in among if each.id in state.in_sync]
    if not alive:
        return f"none of those that have every acknowledged message of {state.name} is heard: {members}"
    if not any(_is_in_life(state, each) for each in alive):
        return f"{members} of {state.name} has not registered since it started"
    return f"{members} of {state.name} may have lost acknowledged messages when its machine stopped"


def _why_awaited(state: NameState, late: list[int]) -> str:
    return f"replica {late[0]} of {state.name} was adopted and has not registered yet"


def _not_alive(state: NameState, replica: int) -> Refused:
    return Refused(
        ResponseCode.CONTROLLER_BROKER_NOT_ALIVE,
        f"replica {replica} of {state.name} is not heard in the life that it registered",
    )


def _is_in_life(state: NameState, each: Candidate) -> bool:
    return state.is_registered(each.id, each.life)


def _is_clean(state: NameState, each: Candidate) -> bool:
    return state.replicas[each.id].clean
