"""Which replica became master of a broker name, where controllers choose it."""

from __future__ import annotations

from collections.abc import Mapping

from broker_core.protocol.bodies.controller import NameState
from console.activity.shapes import ActivityEvent, ChangedValue
from console.moments import rfc3339


class MastersSeen:
    """Follows the epochs of one cluster: each has one master."""

    def __init__(self) -> None:
        self._last: dict[str, NameState] = {}

    def step(self, now: int, states: Mapping[str, NameState]) -> list[ActivityEvent]:
        """Return which masters changed until `now` (ms); nothing of a name that is seen for the first time."""
        found = []
        for name, state in states.items():
            last = self._last.get(name)
            if last is not None and (state.master is None or state.epoch <= last.epoch):
                continue
            self._last[name] = state
            if last is not None:
                found.append(_event(now, last, state))
        return found


def _event(now: int, last: NameState, state: NameState) -> ActivityEvent:
    changes = [
        ChangedValue(name="master_id", before=_master(last), after=_master(state)),
        ChangedValue(name="epoch", before=str(last.epoch), after=str(state.epoch)),
    ]
    return ActivityEvent(
        seen_at=rfc3339(now), kind="master_changed", broker=state.name, changes=changes, reason=state.last.why
    )


def _master(state: NameState) -> str | None:
    return None if state.master is None else str(state.master.id)
