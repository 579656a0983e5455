"""Which names are set back: by what replicas know, or by the engine's revision (controller/README.md#set-back)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Final

from broker_core.controller.commands import View
from broker_core.controller.errors import Refused
from broker_core.controller.hearing import Hearing
from broker_core.controller.seen import Seen
from broker_core.controller.set_back import ADOPTED_EPOCHS, is_confirmed, is_set_back
from broker_core.controller.states import States
from broker_core.logs import get_logger
from broker_core.protocol.bodies.controller import NameState
from broker_core.protocol.codes import ResponseCode
from broker_core.remoting.rare_warnings import RareWarnings

_UNKNOWN: Final[View] = (1 << 62, 0)
"""Newer than every view: what may have been told is not known."""

_log: Final = get_logger(__name__)


class Trust:
    """Compares what the engine keeps with what was told. Times are those of the hearing."""

    def __init__(self, seen: Seen, hearing: Hearing, states: States) -> None:
        self._seen = seen
        self._hearing = hearing
        self._states = states
        self._suspects: dict[str, int] = {}  # with the epoch that is suspected
        states.watch(self._look)
        self._is_suspecting = False
        self._warnings = RareWarnings()

    async def took(self, now: float) -> None:
        """Look at the revision that was just read."""
        revision = self._states.revision
        if self._is_suspecting:
            return
        if self._seen.shows_set_back(revision):
            self._is_suspecting = True
            self._suspects = {name: _epoch(self._states.find(name)) for name in self._states.names()}
            _log.error(
                "decisions: revision %d, after %d was seen: nothing is decided about a name until its replicas show "
                "that they know nothing newer, or an operator adopts its state",
                revision,
                self._seen.revision,
            )
            return
        await self._write(self._seen.note, revision, now)

    def newest(self, name: str) -> View:
        """Return the newest view of a name that may have been told; raises Refused before the first read.

        Only that shows whether the engine was set back.
        """
        if self._states.read_at is None:
            raise Refused(ResponseCode.CONTROLLER_NOT_LEADER, "this controller has not read its decisions yet")
        return _UNKNOWN if name in self._suspects else self._hearing.newest(name)

    def is_set_back(self, name: str) -> bool:
        """Return whether what is known of a name is older than what was told, and a read that began later says so too.

        Until there was one, another controller may have told what this one has not read yet.
        """
        if name in self._suspects:
            return True
        read_at = self._states.read_at
        is_read = read_at is not None and read_at > self._hearing.newest_told_at(name)
        return is_read and is_set_back(self._states.find(name), self.newest(name))

    def set_back(self) -> list[str]:
        """Return the names that are set back."""
        return [name for name in self._names() if self.is_set_back(name)]

    def trust(self, name: str) -> None:
        """Suspect a name no longer: it was healed or adopted."""
        self._suspects.pop(name, None)

    def _look(self, state: NameState) -> None:
        suspected = self._suspects.get(state.name)
        if suspected is not None and state.epoch >= suspected + ADOPTED_EPOCHS:
            self.trust(state.name)  # adopted at another controller

    async def review(self, now: float) -> None:
        """Trust the names whose replicas all know nothing newer, and the engine when all are trusted."""
        if not self._is_suspecting:
            return
        for name in sorted(self._suspects):
            state = self._states.find(name)
            heard = {each.id for each in self._hearing.heard(name, now)}
            if state is not None and is_confirmed(state, heard, self._hearing.newest(name)):
                self.trust(name)
        if not self._suspects:
            self._is_suspecting = not await self._write(self._seen.confirm, self._states.revision)

    async def _write(self, write: Callable[..., None], *values: object) -> bool:
        try:
            await asyncio.to_thread(write, *values)
        except OSError as error:
            self._warnings.warn(_log, "the revision that was seen cannot be noted: %s", error)
            return False
        return True

    def _names(self) -> Iterable[str]:
        return sorted({*self._states.names(), *self._hearing.names()})


def _epoch(state: NameState | None) -> int:
    return 0 if state is None else state.epoch
