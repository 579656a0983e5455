"""States of a broker name for tests."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from broker_core.controller.commands import Candidate, Command, Stamp
from broker_core.controller.replicas import decide
from broker_core.protocol.bodies.controller import MasterLife, NameState, ReplicaState, new_state

STAMP: Final = Stamp("c", "n1", 1795298660121)


def replica(number: int, **changed: Any) -> ReplicaState:
    """Return a replica in its life `number`, clean unless said otherwise."""
    kept = ReplicaState(
        address=f"10.0.0.{number}:10911", ha=f"10.0.0.{number}:10912", life=life(number), check=f"check{number}",
        clean=True, last_epoch=5,
    )  # fmt: skip
    return replace(kept, **changed)


def life(number: int, restarts: int = 1) -> str:
    """Return the life of a replica after so many starts."""
    return f"{restarts}-{number:04x}"


def state(in_sync: tuple[int, ...] = (1, 2), master: int | None = 1, **changed: Any) -> NameState:
    """Return a name with the replicas 1 to 3 in epoch 5."""
    kept = replace(
        new_state("b", "C"), version=31, change="6f2c91d0", epoch=5, top_epoch=5, in_sync=list(in_sync),
        set_version=12, replicas={each: replica(each) for each in (1, 2, 3)}, next_id=4, last_clean=1,
        master=MasterLife(master, life(master)) if master else None,
    )  # fmt: skip
    return replace(kept, **changed)


def alive(*numbers: int, **changed: Any) -> tuple[Candidate, ...]:
    """Return these replicas as they are judged alive, with logs of equal length."""
    return tuple(replace(Candidate(each, life(each), last_epoch=5, end=100), **changed) for each in numbers)


def after(before: NameState | None, *commands: Command) -> NameState:
    """Return the state after commands that are not refused."""
    for command in commands:
        before = decide(before, command, STAMP)
    assert before is not None
    return before
