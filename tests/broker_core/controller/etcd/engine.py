"""An etcd in memory that answers as the JSON gateway does, and calls of it that fail in every way a network can."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any

from broker_core.controller.etcd import messages
from broker_core.controller.etcd.errors import Code, Declined, NotSent, Unanswered
from broker_core.controller.etcd.messages import Json, packed, unpacked


@dataclass(frozen=True, slots=True)
class _Stored:
    text: str
    created: int
    modified: int
    lease: int = 0


@dataclass
class Engine:
    """One linearizable object: each request takes effect at one moment."""

    revision: int = 1
    keys: dict[str, _Stored] = field(default_factory=dict)
    leases: set[int] = field(default_factory=set)
    writings: list[tuple[str, str | None, str]] = field(default_factory=list)
    """Each writing: key, the text before, the text after."""

    def do(self, path: str, asked: Json) -> Json:
        """Do a request now."""
        done: dict[str, Callable[[Json], dict[str, Any]]] = {
            messages.RANGE: self._range,
            messages.TXN: self._transaction,
            messages.GRANT: self._grant,
            messages.KEEP_ALIVE: self._keep_alive,
            messages.REVOKE: self._revoke,
        }
        answer = done[path](asked)
        return answer | {"header": {"cluster_id": "1", "revision": str(self.revision)}}

    def end_lease(self, lease: int) -> None:
        """Let a lease end, and with it its keys."""
        self.leases.discard(lease)
        self.keys = {key: stored for key, stored in self.keys.items() if stored.lease != lease}

    def copy(self) -> Engine:
        """Return a copy from which it can be restored."""
        return Engine(self.revision, dict(self.keys), set(self.leases))

    def restore(self, copy: Engine) -> None:
        """Become what it was when it was copied."""
        self.revision, self.keys, self.leases = copy.revision, dict(copy.keys), set(copy.leases)

    def _range(self, asked: Json) -> dict[str, Any]:
        start, end = unpacked(asked["key"]), unpacked(asked.get("range_end", ""))
        found = {key: each for key, each in self.keys.items() if (start <= key < end if end else key == start)}
        least = messages.number(asked, "min_mod_revision")
        shown = [_pair(key, each) for key, each in sorted(found.items()) if each.modified >= least]
        return ({"kvs": shown} if shown else {}) | ({"count": str(len(found))} if found else {})

    def _transaction(self, asked: Json) -> dict[str, Any]:
        holds = all(self._holds(each) for each in asked["compare"])
        steps = asked["success" if holds else "failure"]
        self.revision += any("request_put" in step for step in steps)
        responses = [self._step(step) for step in steps]
        return ({"succeeded": True} if holds else {}) | {"responses": responses}

    def _holds(self, condition: Json) -> bool:
        stored = self.keys.get(unpacked(condition["key"]))
        match condition["target"]:
            case "MOD":
                return int(condition["mod_revision"]) == (stored.modified if stored else 0)
            case "CREATE":
                return int(condition["create_revision"]) == (stored.created if stored else 0)
        return stored is not None and packed(stored.text) == condition["value"]

    def _step(self, step: Json) -> dict[str, Any]:
        if "request_range" in step:
            return {"response_range": self._range(step["request_range"])}
        put = step["request_put"]
        key, text, before = unpacked(put["key"]), unpacked(put["value"]), self.keys.get(unpacked(put["key"]))
        self.writings.append((key, before.text if before else None, text))
        created = before.created if before else self.revision
        self.keys[key] = _Stored(text, created, self.revision, messages.number(put, "lease"))
        return {"response_put": {}}

    def _grant(self, asked: Json) -> dict[str, Any]:
        lease = len(self.leases) + self.revision * 1000
        self.leases.add(lease)
        return {"ID": str(lease), "TTL": asked["TTL"]}

    def _keep_alive(self, asked: Json) -> dict[str, Any]:
        return {"ID": asked["ID"]} | ({"TTL": "4"} if int(asked["ID"]) in self.leases else {})

    def _revoke(self, asked: Json) -> dict[str, Any]:
        if int(asked["ID"]) not in self.leases:
            raise Declined("requested lease not found", Code.NOT_FOUND)
        self.end_lease(int(asked["ID"]))
        return {}


def _pair(key: str, stored: _Stored) -> dict[str, str]:
    pair = {"key": packed(key), "value": packed(stored.text), "lease": str(stored.lease)}
    return pair | {"mod_revision": str(stored.modified), "create_revision": str(stored.created)}


class Fault(Enum):
    """What becomes of a call."""

    NONE = auto()
    NOT_SENT = auto()
    NEVER = auto()
    """Never done, and not answered."""
    LOST = auto()
    """Done, and not answered."""
    LATE = auto()
    """Not answered, and done some calls later, or never."""
    FULL = auto()
    """Answered as of a full engine, and not done."""
    FILLS = auto()
    """The same, and done."""


_CHOICES = list(Fault)


class FaultyCalls:
    """Calls of an engine by one of its users; what is random comes from `rng`."""

    def __init__(self, engine: Engine, rng: random.Random, faults: float, late: list[tuple[str, Json]]) -> None:
        self._engine = engine
        self._rng = rng
        self._faults = faults
        self._late = late

    async def call(self, path: str, asked: Json) -> Json:
        """Ask; now and then something that is late is done before."""
        await self._others_turn()
        do_late(self._engine, self._late, self._rng)
        is_write = path == messages.TXN
        fault = self._rng.choice(_CHOICES) if self._rng.random() < self._faults else Fault.NONE
        if fault in (Fault.FULL, Fault.FILLS) and not is_write:
            fault = Fault.NONE
        answer = self._engine.do(path, asked) if fault in (Fault.NONE, Fault.LOST, Fault.FILLS) else {}
        if fault is Fault.LATE:
            self._late.append((path, asked))
        await self._others_turn()
        if fault is Fault.NOT_SENT:
            raise NotSent("no connection")
        if fault in (Fault.NEVER, Fault.LOST, Fault.LATE):
            raise Unanswered("no answer")
        if fault in (Fault.FULL, Fault.FILLS):
            raise Declined("database space exceeded", Code.EXHAUSTED)
        return answer

    def move_on(self) -> None:
        """Ask another member: there is one only."""

    async def _others_turn(self) -> None:
        for _ in range(self._rng.randrange(4)):
            await asyncio.sleep(0)


def do_late(engine: Engine, late: list[tuple[str, Json]], rng: random.Random, chance: float = 0.1) -> None:
    """Do some of the requests that are late, in any order."""
    for each in [each for each in late if rng.random() < chance]:
        late.remove(each)
        engine.do(*each)


class Ticks:
    """A clock that goes on by one for each pause."""

    def __init__(self) -> None:
        self.now = 0.0

    async def sleep(self, _: float) -> None:
        """Let one pass."""
        self.now += 1
        await asyncio.sleep(0)
