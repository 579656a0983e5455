"""The commands on the state of a broker name, as pure functions (controller/README.md#commands)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any, Final, TypeAlias

from broker_core.controller.commands import (
    AcceptLoss,
    Adopt,
    AlterSet,
    ApplyId,
    Command,
    Elect,
    Heal,
    Register,
    Remove,
    SetPolicy,
    Stamp,
    View,
)
from broker_core.controller.electing import accept_loss, elect
from broker_core.controller.errors import Refused
from broker_core.controller.set_back import adopt, heal, is_set_back
from broker_core.protocol.bodies.controller import (
    HIGHEST_EPOCH,
    MOST_ELECTIONS,
    STATE_BYTES,
    Election,
    LastChange,
    MasterLife,
    NameState,
    ReplicaState,
    encode_state,
    has_room_for_another,
    life_number,
    new_state,
)
from broker_core.protocol.codes import ResponseCode

Decided: TypeAlias = tuple[NameState, str]
"""The state after a command, and why it changed, for people."""


def decide(state: NameState | None, command: Command, stamp: Stamp, newest: View = (0, 0)) -> NameState:
    """Return the state after `command`: `state` itself if there is nothing to write. Raises Refused.

    `state` is what the engine keeps for the name now, None if nothing; `newest` the newest view that anybody told.
    """
    if not isinstance(command, Heal | Adopt):
        if is_set_back(state, newest):
            raise Refused(ResponseCode.CONTROLLER_NOT_LEADER, f"{command.name}: {_SET_BACK}")
        if state is None and not isinstance(command, ApplyId):
            raise Refused(
                ResponseCode.CONTROLLER_BROKER_METADATA_NOT_EXIST, f"no replica of {command.name} ever took an id"
            )
    after, why = _RULES[type(command)](state, command)
    if after is state:
        return after
    written = _numbered(state, after, LastChange(why, stamp.by, stamp.at), stamp.change)
    return _checked(_with_election(written) if isinstance(command, Elect | AcceptLoss) else written)


_SET_BACK: Final = (
    "the controllers' state was set back, since a replica knows a newer one; it heals once the replicas are heard, "
    "or an operator adopts a state"
)


def _numbered(before: NameState | None, after: NameState, last: LastChange, change: str) -> NameState:
    version = max(after.version, before.version if before else 0) + 1
    return replace(after, version=version, change=change, last=last)


def _with_election(state: NameState) -> NameState:
    """Return a state that was elected in, with why: the next change overwrites `last`, soon and for good."""
    if state.master is None:
        return state
    last = state.last
    election = Election(
        epoch=state.epoch, version=state.version, master=state.master, in_sync=state.in_sync,
        why=last.why, by=last.by, at=last.at,
    )  # fmt: skip
    return replace(state, elected=[*state.elected, election][-MOST_ELECTIONS:])


def _checked(state: NameState) -> NameState:
    """Return a state that can be kept; raises Refused."""
    if max(state.epoch, state.top_epoch) > HIGHEST_EPOCH:
        raise Refused(
            ResponseCode.CONTROLLER_INVALID_REQUEST,
            f"{state.name} has used its epochs up: none follows {HIGHEST_EPOCH}",
        )
    if len(encode_state(state)) > STATE_BYTES:
        raise Refused(
            ResponseCode.CONTROLLER_INVALID_REQUEST,
            f"the state of {state.name} would take more than {STATE_BYTES} bytes: remove replicas that are gone",
        )
    return state


def next_id(state: NameState | None) -> int:
    """Return the id that the next new replica of a name gets; none is given twice."""
    return 1 if state is None else state.next_id


def _apply_id(state: NameState | None, command: ApplyId) -> Decided:
    if not command.check:
        raise Refused(ResponseCode.CONTROLLER_INVALID_REQUEST, "a replica applies for an id with its check code")
    if state is None:
        state = new_state(command.name, command.cluster)
    else:
        _check_cluster(state, command.cluster)
    known = state.replicas.get(command.id)
    if known is not None and known.check == command.check:
        return state, ""
    if command.id != state.next_id:
        raise Refused(
            ResponseCode.CONTROLLER_BROKER_ID_INVALID,
            f"the next replica of {state.name} gets id {state.next_id}, not {command.id}",
        )
    replica = ReplicaState(address="", ha="", life="", check=command.check, clean=True, last_epoch=0)
    _check_room_for_another(state)
    after = replace(state, replicas=state.replicas | {command.id: replica}, next_id=command.id + 1)
    return after, f"replica {command.id} is new"


def _check_room_for_another(state: NameState) -> None:
    if not has_room_for_another(state):
        raise Refused(
            ResponseCode.CONTROLLER_INVALID_REQUEST,
            f"{state.name} has {len(state.replicas)} replicas, and there is no room for another: remove those that "
            "are gone",
        )


def _register(state: NameState, command: Register) -> Decided:
    _check_cluster(state, command.cluster)
    known = state.replicas.get(command.id)
    if known is None:
        raise Refused(
            ResponseCode.CONTROLLER_BROKER_NEED_TO_BE_REGISTERED,
            f"{state.name} has no replica {command.id}: it never took that id, or was removed",
        )
    if known.check not in ("", command.check):  # none is known of a replica that was adopted
        raise Refused(
            ResponseCode.CONTROLLER_BROKER_ID_INVALID, f"id {command.id} of {state.name} belongs to another folder"
        )
    if state.is_registered(command.id, command.life):
        return state, ""
    if not known.life:
        _check_room_for_another(state)
    if command.life != known.life and life_number(command.life) <= life_number(known.life):
        raise Refused(
            ResponseCode.CONTROLLER_BROKER_ID_INVALID,
            f"replica {command.id} of {state.name} already registered life {known.life}, which is not before "
            f"{command.life}: its folder was copied or is an old copy",
        )
    return _begin_life(state, known, command)


def _begin_life(state: NameState, known: ReplicaState, command: Register) -> Decided:
    # Who is unclean in the set stays so through all its lives, until a master counts it or an operator accepts.
    is_adopted = command.life == known.life
    is_clean = known.clean if is_adopted else command.is_clean and (known.clean or command.id not in state.in_sync)
    replica = ReplicaState(
        command.address, command.ha, command.life, command.check, clean=is_clean, last_epoch=command.last_epoch
    )
    was_master = state.master is not None and state.master.id == command.id
    after = replace(
        state,
        replicas=state.replicas | {command.id: replica},
        top_epoch=max(state.top_epoch, command.told, command.last_epoch),
        master=None if was_master else state.master,
    )
    if not state.in_sync and state.epoch == 0:  # nobody was ever master, so nothing was acknowledged
        return _with_set(after, [command.id], command.id), f"replica {command.id} is the first"
    if is_clean or command.id not in state.in_sync:
        return after, f"replica {command.id} started"
    if len(state.in_sync) == 1:
        return after, f"replica {command.id} started unclean, alone in the in-sync set"
    rest = [each for each in state.in_sync if each != command.id]
    last_clean = state.last_clean if state.last_clean in rest else min(rest)
    return _with_set(after, rest, last_clean), f"replica {command.id} started unclean"


def _with_set(state: NameState, members: Collection[int], last_clean: int) -> NameState:
    return replace(state, in_sync=sorted(members), set_version=state.set_version + 1, last_clean=last_clean)


def _alter_set(state: NameState, command: AlterSet) -> Decided:
    _check_proposer(state, command)
    members = dict(command.members)
    unknown = members.keys() - state.replicas.keys()
    if unknown:
        raise Refused(ResponseCode.CONTROLLER_INVALID_REPLICAS, f"{state.name} has no replica {min(unknown)}")
    if command.id not in members:
        raise Refused(
            ResponseCode.CONTROLLER_ALTER_SYNC_STATE_SET_FAILED, f"the master {command.id} cannot leave the in-sync set"
        )
    added = members.keys() - set(state.in_sync)
    for each in sorted(added):
        if members[each] != state.replicas[each].life:
            raise Refused(
                ResponseCode.CONTROLLER_ALTER_SYNC_STATE_SET_FAILED,
                f"replica {each} is in life {state.replicas[each].life}, not {members[each]}",
            )
    if members.keys() == set(state.in_sync):
        return state, ""
    counted = {each: replace(state.replicas[each], clean=True) for each in added}
    after = replace(state, replicas=state.replicas | counted)
    return _with_set(after, members, state.last_clean), _altered(state, members.keys())


def _altered(state: NameState, members: Collection[int]) -> str:
    joined, left = sorted(set(members) - set(state.in_sync)), sorted(set(state.in_sync) - set(members))
    told = [f"{_replicas(each)} {what}" for each, what in ((joined, "joined"), (left, "left")) if each]
    return f"{' and '.join(told)} the in-sync set"


def _replicas(ids: Sequence[int]) -> str:
    return f"replica{'s' if len(ids) > 1 else ''} {', '.join(map(str, ids))}"


def _check_proposer(state: NameState, command: AlterSet) -> None:
    if command.epoch != state.epoch:
        raise Refused(
            ResponseCode.CONTROLLER_FENCED_MASTER_EPOCH,
            f"{state.name} is in epoch {state.epoch}, not {command.epoch}",
        )
    if state.master != MasterLife(command.id, command.life):
        raise Refused(
            ResponseCode.CONTROLLER_INVALID_MASTER,
            f"replica {command.id} in life {command.life} is not the master of {state.name}",
        )
    if command.set_version != state.set_version:
        raise Refused(
            ResponseCode.CONTROLLER_FENCED_SYNC_STATE_SET_EPOCH,
            f"the in-sync set of {state.name} has version {state.set_version}, not {command.set_version}",
        )


def _remove(state: NameState, command: Remove) -> Decided:
    unknown = set(command.ids) - state.replicas.keys()
    if unknown or not command.ids:
        wrong = f"{state.name} has no replica {min(unknown)}" if unknown else "no replica is named"
        raise Refused(ResponseCode.CONTROLLER_INVALID_REPLICAS, wrong)
    if state.master is not None and state.master.id in command.ids:
        raise _not_removed(f"replica {state.master.id} is the master of {state.name}")
    rest = {each: replica for each, replica in state.replicas.items() if each not in command.ids}
    members = [each for each in state.in_sync if each in rest]
    if not command.is_forced:
        if state.in_sync and not members:
            raise _not_removed(f"no other replica of {state.name} is known to have every acknowledged message")
        if len(rest) < state.policy.min_in_sync:
            raise _not_removed(
                f"{state.name} would have {len(rest)} replicas, but takes messages only with "
                f"{state.policy.min_in_sync} in sync"
            )
    after = replace(state, replicas=rest)
    why = f"{_replicas(sorted(command.ids))} removed"
    if members == state.in_sync:
        return after, why
    return _with_set(after, members, state.last_clean if state.last_clean in members else min(members, default=0)), why


def removable(state: NameState) -> set[int]:
    """Return the replicas that can be removed without force: neither master nor of the in-sync set."""
    return state.replicas.keys() - set(state.in_sync)


def _not_removed(sentence: str) -> Refused:
    return Refused(ResponseCode.CONTROLLER_INVALID_CLEAN_BROKER_METADATA, sentence)


def _set_policy(state: NameState, command: SetPolicy) -> Decided:
    policy = state.policy
    if command.min_in_sync is not None:
        policy = replace(policy, min_in_sync=command.min_in_sync)
    if command.unclean_allowed is not None:
        policy = replace(policy, unclean_allowed=command.unclean_allowed)
    if not 1 <= policy.min_in_sync <= max(len(state.replicas), 1):
        raise Refused(
            ResponseCode.CONTROLLER_INVALID_REQUEST,
            f"{state.name} has {len(state.replicas)} replicas, so min_in_sync is 1 to {max(len(state.replicas), 1)}, "
            f"not {policy.min_in_sync}",
        )
    return (state, "") if policy == state.policy else (replace(state, policy=policy), "policy")


def _check_cluster(state: NameState, cluster: str) -> None:
    if cluster != state.cluster:
        raise Refused(
            ResponseCode.CONTROLLER_BROKER_ID_INVALID, f"{state.name} belongs to cluster {state.cluster}, not {cluster}"
        )


_RULES: Final[dict[type, Callable[[Any, Any], Decided]]] = {
    ApplyId: _apply_id,
    Register: _register,
    Elect: elect,
    AlterSet: _alter_set,
    Remove: _remove,
    SetPolicy: _set_policy,
    AcceptLoss: accept_loss,
    Heal: heal,
    Adopt: adopt,
}
