"""Which replica became master of a broker name, where controllers choose it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from broker_core.protocol.bodies.controller import NameState
from console.activity.shapes import ActivityEvent, ChangedValue
from console.moments import rfc3339


class MastersSeen:
    """Follows the epochs of one cluster: each has one master."""

    def __init__(self) -> None:
        self._last: dict[str, tuple[int, int | None]] = {}

    def step(self, now: int, states: Mapping[str, NameState]) -> list[ActivityEvent]:
        """Return which masters changed until `now` (ms); nothing of a name that is seen for the first time."""
        return [event for name, state in states.items() for event in self._changes(now, name, state)]

    def _changes(self, now: int, name: str, state: NameState) -> Iterator[ActivityEvent]:
        if name not in self._last:
            self._last[name] = state.epoch, None if state.master is None else state.master.id
            return
        for epoch, master, why in _led(state):
            last = self._last[name]
            if epoch > last[0]:
                self._last[name] = epoch, master
                yield _event(now, name, last, (epoch, master), why)


def _led(state: NameState) -> Iterator[tuple[int, int, str | None]]:
    """Yield epochs, their masters and why, in order; why only as the election says: what came later hides it."""
    for each in state.elected:
        if each.epoch <= state.epoch:
            yield each.epoch, each.master.id, each.why
    if state.master is not None:
        yield state.epoch, state.master.id, None


def _event(now: int, name: str, last: tuple[int, int | None], new: tuple[int, int], why: str | None) -> ActivityEvent:
    changes = [
        ChangedValue(name="master_id", before=None if last[1] is None else str(last[1]), after=str(new[1])),
        ChangedValue(name="epoch", before=str(last[0]), after=str(new[0])),
    ]
    return ActivityEvent(seen_at=rfc3339(now), kind="master_changed", broker=name, changes=changes, reason=why)
