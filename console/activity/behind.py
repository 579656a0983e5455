"""Which groups began to fall behind, and which caught up, from the states that the sampler makes."""

from __future__ import annotations

from typing import Final

from console.activity.shapes import ActivityEvent
from console.lag.state import ClusterState
from console.moments import rfc3339

# A group that waits for its next turn to commit is not behind.
BEHIND_AFTER_MS: Final = 10_000
_BEHIND: Final = frozenset({"growing", "stalled"})


class BehindSeen:
    """Follows the words of one cluster's groups."""

    def __init__(self) -> None:
        self._is_first = True
        self._since: dict[str, int] = {}
        self._behind: set[str] = set()
        self._has_missed = False

    def miss(self) -> None:
        """Note that there was a state that `step` was not told."""
        self._has_missed = True

    def step(self, now: int, state: ClusterState) -> list[ActivityEvent]:
        """Return what began and ended since the state before; a group that is behind at the first one is not told."""
        if self._is_first:
            self._behind = {name for name, group in state.groups.items() if group.state in _BEHIND}
            self._is_first = False
            return []
        changed = None if self._has_missed or state.changed is None else state.changed.groups
        self._has_missed = False
        looked = state.groups.keys() if changed is None else changed | self._since.keys()
        found = [each for name in sorted(looked) if (each := self._look(now, state, name))]
        self._behind &= state.groups.keys()
        return found

    def _look(self, now: int, state: ClusterState, name: str) -> ActivityEvent | None:
        group = state.groups.get(name)
        if group is None or group.state not in _BEHIND:
            self._since.pop(name, None)
            if group is None or group.state != "caught_up" or name not in self._behind:
                return None
            self._behind.discard(name)
            return ActivityEvent(seen_at=rfc3339(now), kind="group_caught_up", group=name, lag=group.lag)
        if name in self._behind or now - self._since.setdefault(name, now) < BEHIND_AFTER_MS:
            return None
        del self._since[name]
        self._behind.add(name)
        return ActivityEvent(seen_at=rfc3339(now), kind="group_behind", group=name, lag=group.lag)
