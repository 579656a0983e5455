"""What a controller knows of all names, as it was last read (controller/README.md#commands-in-the-engine).

It answers heartbeats and proposes from here. Whatever is written or refused is decided from the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from broker_core.controller.decisions import Kept
from broker_core.controller.errors import Refused
from broker_core.logs import get_logger
from broker_core.protocol.bodies.controller import NameState, decode_state
from broker_core.protocol.codes import ResponseCode
from broker_core.protocol.errors import MalformedBody

Watcher = Callable[[NameState], None]

_log = get_logger(__name__)


def state_of(name: str, kept: Kept | None) -> NameState | None:
    """Return the state that is kept for a name; raises Refused if the text is none."""
    if kept is None:
        return None
    try:
        state = decode_state(kept.text)
    except MalformedBody as error:
        raise Refused(ResponseCode.SYSTEM_ERROR, f"what is kept for {name} is no state: {error}") from error
    if state.name != name:
        raise Refused(ResponseCode.SYSTEM_ERROR, f"what is kept for {name} is the state of {state.name}")
    return state


@dataclass(frozen=True, slots=True)
class _Known:
    kept: Kept
    state: NameState | None  # None if the text is no state


class States:
    """All names with their states, and who wants to hear of changes."""

    def __init__(self) -> None:
        self.revision = 0
        self.read_at: float | None = None
        self._known: dict[str, _Known] = {}
        self._taken: set[str] = set()
        self._watchers: list[Watcher] = []

    def watch(self, watcher: Watcher) -> None:
        """Call `watcher` with each state that is new here."""
        self._watchers.append(watcher)

    def find(self, name: str) -> NameState | None:
        """Return the state of a name, if one is known."""
        known = self._known.get(name)
        return None if known is None else known.state

    def kept(self, name: str) -> Kept | None:
        """Return what the engine kept for a name when it was last looked at."""
        known = self._known.get(name)
        return None if known is None else known.kept

    def all(self) -> dict[str, NameState]:
        """Return the states by name."""
        return {name: known.state for name, known in self._known.items() if known.state is not None}

    def names(self) -> list[str]:
        """Return all names, also those whose text is no state."""
        return sorted(self._known)

    def begin_read(self) -> None:
        """Note that a read begins: what is written meanwhile is newer than what it will tell."""
        self._taken.clear()

    def take_all(self, revision: int, names: Mapping[str, Kept], now: float) -> None:
        """Take what a read told of all names, at `now`, when it began."""
        self.revision = revision
        self.read_at = now
        for name in self._known.keys() - names.keys() - self._taken:
            del self._known[name]
        for name, kept in names.items():
            if name not in self._taken:
                self._take(name, kept)

    def take(self, name: str, kept: Kept) -> None:
        """Take what was written, or found by a comparison that failed."""
        self._taken.add(name)
        self._take(name, kept)

    def age_ms(self, now: float) -> int | None:
        """Return how old the last read is; None before the first."""
        return None if self.read_at is None else max(0, int((now - self.read_at) * 1000))

    def _take(self, name: str, kept: Kept) -> None:
        known = self._known.get(name)
        if known is not None and known.kept == kept:
            return
        try:
            state = state_of(name, kept)
        except Refused as error:
            _log.error("%s", error)
            state = None
        self._known[name] = _Known(kept, state)
        if state is not None:
            for watcher in self._watchers:
                watcher(state)
