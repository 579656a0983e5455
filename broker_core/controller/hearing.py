"""What a controller hears of replicas, and who of them is alive (controller/README.md#judging).

Nothing of this is kept anywhere: every controller hears every replica, so a new leading one judges at once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from broker_core.controller.commands import Candidate, View
from broker_core.protocol.bodies.controller import life_number

REFUSALS: Final = 2
"""How many refused connects, after its connection closed, show that a process is gone."""
REFUSED_SECONDS: Final = 1.0
"""Within what time they must follow each other."""
PROBE_SECONDS: Final = 0.2
"""How long after a connect the next one is tried."""
STRANGERS: Final = 10_000
"""How many replicas are remembered at most; a replica of a known name is never crowded out by others."""


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """What a replica tells: the epoch it is in, its log's newest one and its end, and the newest view it was told."""

    name: str
    id: int
    life: str
    address: str
    epoch: int
    end: int
    confirm: int
    last_epoch: int
    view: View
    priority: int = 0


@dataclass(slots=True)
class _Heard:
    beat: Heartbeat
    at: float
    closed_at: float | None = None
    refused: list[float] = field(default_factory=list)
    probed_at: float = float("-inf")


class Hearing:
    """Heartbeats, closed connections and refused connects of all replicas. Times are seconds of one rising clock."""

    def __init__(self, started: float, timeout: float = 3.0) -> None:
        """Nobody counts as dead before `timeout` seconds have passed since `started`."""
        self._started = started
        self._timeout = timeout
        self._heard: dict[str, dict[int, _Heard]] = {}
        self._newest: dict[str, tuple[View, float]] = {}  # and when it was first told
        self._whole: dict[str, tuple[Heartbeat, float]] = {}  # and until when its log had everything
        self._count = 0

    def woke(self, now: float) -> None:
        """Begin anew to count silence: this process did not run, and what was sent to it meanwhile is not read yet."""
        self._started = now

    def heartbeat(self, beat: Heartbeat, now: float, *, whole_at: float | None = None) -> None:
        """Note a heartbeat; one of an earlier life than was heard tells only which view it knew.

        At `whole_at`, if it is known, everything that was acknowledged was in the replica's log.
        """
        self.told(beat.name, beat.view, now)
        of_name = self._heard.setdefault(beat.name, {})
        known = of_name.get(beat.id)
        if known is None:
            self._count += 1
        elif life_number(beat.life) < life_number(known.beat.life):
            return
        of_name[beat.id] = _Heard(beat, now)
        if whole_at is not None:
            self._whole[beat.name] = beat, whole_at

    def told(self, name: str, view: View, now: float) -> None:
        """Note that somebody knows a view of a name."""
        if view > self.newest(name):
            self._newest[name] = view, now

    def has_room(self, name: str, replica: int | None = None) -> bool:
        """Return whether a name, or a replica, that no state knows may be noted; one that is noted stays so."""
        of_name = self._heard.get(name)
        is_noted = of_name is not None and (replica is None or replica in of_name)
        return is_noted or self._count < STRANGERS

    def closed(self, name: str, replica: int, life: str, now: float) -> None:
        """Note that the connection closed over which a life was heard."""
        heard = self._in_life(name, replica, life)
        if heard is not None:
            heard.closed_at = now
            heard.refused.clear()

    def refused(self, name: str, replica: int, life: str, now: float) -> None:
        """Note that the machine of a replica refused a connect to its main port."""
        heard = self._in_life(name, replica, life)
        if heard is not None and heard.closed_at is not None:
            heard.refused = [at for at in heard.refused if now - at <= REFUSED_SECONDS]
            heard.refused.append(now)

    def probes(self, now: float) -> list[Heartbeat]:
        """Return the replicas whose main port is to be tried now: their connection closed, and they may be gone."""
        due = []
        for heard in self._all():
            if heard.closed_at is None or self._is_gone(heard) or now - heard.at > self._timeout:
                continue
            if now - heard.probed_at >= PROBE_SECONDS:
                heard.probed_at = now
                due.append(heard.beat)
        return due

    def why_dead(self, name: str, replica: int, life: str, now: float) -> str | None:
        """Return why a life is judged dead: `killed`, `silent`, `restarted`; None while it counts as alive."""
        heard = self._heard.get(name, {}).get(replica)
        if heard is not None and heard.beat.life != life and life_number(heard.beat.life) > life_number(life):
            return "restarted"
        if heard is not None and heard.beat.life == life and self._is_gone(heard):
            return "killed"
        last = heard.at if heard is not None and heard.beat.life == life else self._started
        return "silent" if now - max(last, self._started) > self._timeout else None

    def alive(self, name: str, now: float) -> tuple[Candidate, ...]:
        """Return the replicas of a name that are heard."""
        return tuple(
            Candidate(beat.id, beat.life, beat.last_epoch, beat.end, beat.priority, max(beat.epoch, beat.view[0]))
            for beat in self.heard(name, now)
        )

    def heard(self, name: str, now: float) -> tuple[Heartbeat, ...]:
        """Return the last heartbeats of the replicas of a name that count as alive, by id."""
        of_name = self._heard.get(name, {})
        return tuple(of_name[each].beat for each in sorted(of_name) if self._is_heard(of_name[each], now))

    def newest(self, name: str) -> View:
        """Return the newest view that any replica of a name told."""
        return self._newest[name][0] if name in self._newest else (0, 0)

    def newest_told_at(self, name: str) -> float:
        """Return when the newest view of a name was first told here."""
        return self._newest[name][1] if name in self._newest else self._started

    def last_whole(self, name: str) -> tuple[Heartbeat, float] | None:
        """Return the last heartbeat of a replica that had every acknowledged record, and when it surely did."""
        return self._whole.get(name)

    def names(self) -> list[str]:
        """Return the names of which a replica was heard."""
        return sorted(self._heard)

    def hears_anybody(self, now: float) -> bool:
        """Return whether any replica counts as alive; True before this could be known."""
        return now - self._started <= self._timeout or any(self._is_heard(each, now) for each in self._all())

    def prune(self, known: Mapping[str, Collection[int]], now: float) -> None:
        """Forget the replicas that are in no state and silent; `known` are the ids of each name."""
        for name in self.names():
            of_name, kept = self._heard[name], known.get(name, ())
            for replica in [each for each in of_name if each not in kept and not self._is_heard(of_name[each], now)]:
                del of_name[replica]
                self._count -= 1
            if not of_name and name not in known:
                del self._heard[name]
        for name in self._newest.keys() - self._heard.keys() - known.keys():
            del self._newest[name]
        for name in self._whole.keys() - known.keys():
            del self._whole[name]

    def _all(self) -> Iterator[_Heard]:
        return (heard for of_name in self._heard.values() for heard in of_name.values())

    def _in_life(self, name: str, replica: int, life: str) -> _Heard | None:
        heard = self._heard.get(name, {}).get(replica)
        return heard if heard is not None and heard.beat.life == life else None

    def _is_heard(self, heard: _Heard, now: float) -> bool:
        return now - heard.at <= self._timeout and not self._is_gone(heard)

    def _is_gone(self, heard: _Heard) -> bool:
        return len(heard.refused) >= REFUSALS
