"""The state of a broker name, as controllers keep it and tell it (protocol/README.md#state-of-a-broker-name).

One text is the whole state: the engine keeps it, 9001 and 904 carry it. A *view* is the state as somebody knows it,
ordered by `NameState.view`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from broker_core.protocol.bodies.coder import decode, encode_strict
from broker_core.protocol.errors import MalformedBody

STATE_BYTES: Final = 64 << 10
"""The longest text of a state."""
HIGHEST_EPOCH: Final = (1 << 31) - 1
"""Headers and the stream of the log have epochs in 32 bits, signed."""
MOST_ELECTIONS: Final = 8
"""How many of the last elections a state keeps."""
_COUNTER_DIGITS: Final = 18


@dataclass(frozen=True, slots=True)
class MasterLife:
    """Who is master, and in which run of its process: a mastership never outlives the process."""

    id: int
    life: str


@dataclass(frozen=True, slots=True)
class ReplicaState:
    """One replica: its main and replication address, the life that registered last, and what it told with it.

    One without a replication address has not registered: it took an id, or its life was adopted.
    """

    address: str
    ha: str
    life: str
    check: str
    clean: bool
    last_epoch: int = field(metadata={"wire": "last_epoch"})


@dataclass(frozen=True, slots=True)
class NamePolicy:
    """What operators decide for a name."""

    min_in_sync: int = field(default=1, metadata={"wire": "min_in_sync"})
    unclean_allowed: bool = field(default=False, metadata={"wire": "unclean_allowed"})


@dataclass(frozen=True, slots=True)
class LastChange:
    """Why and by which controller the state was written last, for people; `at` in ms since 1970."""

    why: str
    by: str
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Election:
    """Who was made master of an epoch, with the version and the in-sync set from then, and why, by whom and when."""

    epoch: int
    version: int
    master: MasterLife
    in_sync: list[int] = field(metadata={"wire": "set"})
    why: str
    by: str
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NameState:
    """All that is decided about a broker name.

    `top_epoch` is the highest epoch that a replica ever told, `last_clean` the replica that surely held every
    acknowledged record when that was last known. `elected` are the last elections, the newest last: `last` is soon
    that of another change.
    """

    name: str
    cluster: str
    version: int
    change: str
    epoch: int
    top_epoch: int = field(metadata={"wire": "top_epoch"})
    master: MasterLife | None = None
    in_sync: list[int] = field(metadata={"wire": "set"})
    set_version: int = field(metadata={"wire": "set_version"})
    replicas: dict[int, ReplicaState]
    next_id: int = field(metadata={"wire": "next_id"})
    last_clean: int = field(metadata={"wire": "last_clean"})
    policy: NamePolicy
    last: LastChange
    elected: list[Election] = field(default_factory=list)

    @property
    def view(self) -> tuple[int, int]:
        """What orders the states of a name: the greater one is newer."""
        return self.epoch, self.version

    def is_registered(self, replica: int, life: str) -> bool:
        """Return whether this life of a replica has registered."""
        known = self.replicas.get(replica)
        return known is not None and known.life == life and known.ha != ""


def new_state(name: str, cluster: str) -> NameState:
    """Return the state of a name about which nothing was decided yet."""
    return NameState(
        name=name, cluster=cluster, version=0, change="", epoch=0, top_epoch=0, in_sync=[], set_version=0,
        replicas={}, next_id=1, last_clean=0, policy=NamePolicy(), last=LastChange("", "", 0),
    )  # fmt: skip


def has_room_for_another(state: NameState) -> bool:
    """Return whether a further replica may come: half of a state is for what happens to those that are there."""
    return len(encode_state(state)) <= STATE_BYTES // 2


def encode_state(state: NameState) -> bytes:
    """Return the text of a state: strict JSON."""
    return encode_strict(state)


def decode_state(data: bytes | str) -> NameState:
    """Return the state whose text `data` is; raises MalformedBody, also for one that contradicts itself."""
    text = data.encode() if isinstance(data, str) else data
    if len(text) > STATE_BYTES:
        raise MalformedBody(f"a state of {len(text)} bytes, of at most {STATE_BYTES}")
    state = decode(NameState, text, len(text))
    _check(state)
    return state


def _check(state: NameState) -> None:
    unknown = set(state.in_sync) - state.replicas.keys()
    if unknown:
        raise MalformedBody(f"{state.name}: {min(unknown)} is in the in-sync set, but is no replica")
    if state.master is not None and state.master.id not in state.in_sync:
        raise MalformedBody(f"{state.name}: the master {state.master.id} is not in the in-sync set")
    if max(state.epoch, state.top_epoch) > HIGHEST_EPOCH:
        raise MalformedBody(f"{state.name}: epoch {max(state.epoch, state.top_epoch)} is above {HIGHEST_EPOCH}")
    for replica in state.replicas.values():
        life_number(replica.life)


def life_number(life: str) -> int:
    """Return the counter of a life, which rises with each start: 17 of `17-9f3a`; 0 if there is no life.

    Raises MalformedBody.
    """
    if not life:
        return 0
    counter, dash, random_part = life.partition("-")
    if not (counter.isascii() and counter.isdecimal() and len(counter) <= _COUNTER_DIGITS and dash and random_part):
        raise MalformedBody(f"{life[:40]!r} is not a life: a counter, a dash and a random part")
    return int(counter)
