"""The commands that change the state of a broker name (controller/README.md#commands).

A life that a command names is the one that its sender knew: a command about an earlier life changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from broker_core.protocol.bodies.controller import MasterLife, NameState, ReplicaState

View: TypeAlias = tuple[int, int]
"""(epoch, version) of a state; the greater one is newer."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """What is written with each change: a random text, and for people which controller wrote it and when (ms)."""

    change: str
    by: str
    at: int


@dataclass(frozen=True, slots=True)
class ApplyId:
    """A new replica takes the next id of its broker name; `check` tells its folder again."""

    name: str
    cluster: str
    id: int
    check: str


@dataclass(frozen=True, slots=True)
class Register:
    """A run of a replica's process begins.

    `is_clean` says that its store lost nothing that was acknowledged, `last_epoch` is the newest in its log, `told`
    the highest epoch that it ever heard.
    """

    name: str
    cluster: str
    id: int
    life: str
    address: str
    ha: str
    check: str
    is_clean: bool
    last_epoch: int
    told: int = 0


@dataclass(frozen=True, slots=True)
class Candidate:
    """A replica that is judged alive, with what its heartbeats told of it."""

    id: int
    life: str
    last_epoch: int
    end: int
    priority: int = 0
    told: int = 0


@dataclass(frozen=True, slots=True)
class Elect:
    """Make one of `among`, those judged alive, the master in the next epoch.

    `deposes` is the master that is judged dead, or that an operator replaces; `chosen` the id that an operator wants.
    """

    name: str
    among: tuple[Candidate, ...]
    deposes: MasterLife | None
    why: str
    chosen: int | None = None


@dataclass(frozen=True, slots=True)
class AlterSet:
    """The master of an epoch changes the in-sync set; `members` are ids with their lives, itself included."""

    name: str
    id: int
    life: str
    epoch: int
    set_version: int
    members: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class Remove:
    """Forget replicas; `is_forced` even the last that has every acknowledged record."""

    name: str
    ids: tuple[int, ...]
    is_forced: bool = False


@dataclass(frozen=True, slots=True)
class SetPolicy:
    """Change what operators decide; None stays as it is."""

    name: str
    min_in_sync: int | None = None
    unclean_allowed: bool | None = None


@dataclass(frozen=True, slots=True)
class AcceptLoss:
    """Make a replica master that may lack acknowledged records, alone in the in-sync set."""

    name: str
    id: int
    among: tuple[Candidate, ...]
    deposes: MasterLife | None


@dataclass(frozen=True, slots=True)
class Heal:
    """Write what the living master of its epoch tells over a state that was set back."""

    told: NameState

    @property
    def name(self) -> str:
        """The broker name."""
        return self.told.name


@dataclass(frozen=True, slots=True)
class Adopt:
    """Go on from a state that was set back, with `members` as the in-sync set and without a master.

    `views` are those that anybody told, `replicas` those that are heard, in the life that is heard.
    """

    name: str
    cluster: str
    members: tuple[int, ...]
    views: tuple[View, ...]
    replicas: tuple[tuple[int, ReplicaState], ...] = ()


Command: TypeAlias = ApplyId | Register | Elect | AlterSet | Remove | SetPolicy | AcceptLoss | Heal | Adopt
